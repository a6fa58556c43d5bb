//! From the bytes of a page to text: its encoding, and its HTML as Markdown.

use dom_smoothie::{Config, Readability};
use htmd::HtmlToMarkdown;

/// Pages that nest deeper are not converted: the converters recurse.
const MOST_DEEP: usize = 500;

/// The stack of the thread that converts; enough for that depth in any build.
const STACK: usize = 64 << 20;

/// The most elements that are weighed to find the article of a page.
const MOST_ELEMENTS: usize = 100_000;

/// An article shorter than this, in characters, is no article: the whole page is shown.
const LEAST_ARTICLE: usize = 300;

/// Elements that nobody reads.
const UNREAD: [&str; 7] = ["script", "style", "noscript", "template", "svg", "iframe", "head"];

/// Decodes a page by the encoding it names; the error is that encoding.
pub(super) fn decode(bytes: &[u8], content_type: &str) -> Result<String, String> {
    let label = charset(content_type).or_else(|| charset(&String::from_utf8_lossy(&bytes[..bytes.len().min(1024)])));
    match label.as_deref() {
        None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => {
            let text = String::from_utf8_lossy(bytes);
            Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
        }
        Some("iso-8859-1" | "latin1" | "windows-1252" | "cp1252") => {
            Ok(bytes.iter().map(|byte| western(*byte)).collect())
        }
        // Much is labelled wrongly; what is valid UTF-8 is UTF-8.
        Some(other) => String::from_utf8(bytes.to_vec()).map_err(|_| other.to_owned()),
    }
}

/// Finds `charset=…` in a header or in the beginning of a page.
fn charset(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (_, rest) = lower.split_once("charset=")?;
    let rest = rest.trim_start_matches(['"', '\'']);
    let label: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    (!label.is_empty()).then_some(label)
}

/// A byte of windows-1252, which browsers take for Latin-1 too.
fn western(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}

/// Converts a page to Markdown: its article where there is one, else all of it. The error says why
/// it can't be converted. Blocks.
pub(super) fn markdown(html: String, address: &str) -> Result<String, String> {
    if depth(&html) > MOST_DEEP {
        return Err(format!("its elements nest more than {MOST_DEEP} deep"));
    }
    let address = address.to_owned();
    let thread = std::thread::Builder::new().name("page".into()).stack_size(STACK);
    let converted = thread.spawn(move || convert(&html, &address)).map_err(|error| error.to_string())?.join();
    converted.unwrap_or_else(|_| Err("the converter broke off".into()))
}

fn convert(html: &str, address: &str) -> Result<String, String> {
    let config = Config { max_elements_to_parse: MOST_ELEMENTS, ..Config::default() };
    let article = Readability::new(html, Some(address), Some(config))
        .and_then(|mut page| page.parse())
        .ok()
        .filter(|article| article.length >= LEAST_ARTICLE);
    let converter = HtmlToMarkdown::builder().skip_tags(UNREAD.to_vec()).build();
    let convert = |html: &str| converter.convert(html).map_err(|error| error.to_string());
    match article {
        Some(article) if article.title.is_empty() => convert(&article.content),
        Some(article) => Ok(format!("# {}\n\n{}", article.title.trim(), convert(&article.content)?)),
        None => convert(html),
    }
}

/// How deep elements nest at most, counted generously: an element that is never closed counts as
/// one that holds all that follows.
fn depth(html: &str) -> usize {
    const VOID: [&str; 13] =
        ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
    // Their ends may be left out, and the next one closes them.
    const CLOSED: [&str; 9] = ["p", "li", "dt", "dd", "option", "tr", "td", "th", "rp"];
    let (mut deepest, mut now) = (0_usize, 0_usize);
    for tag in html.split('<').skip(1) {
        let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name: String =
            tag.chars().take_while(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(16).collect();
        if name.is_empty() || VOID.contains(&name.as_str()) || CLOSED.contains(&name.as_str()) {
            continue;
        }
        now = if closes { now.saturating_sub(1) } else { now + 1 };
        deepest = deepest.max(now);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_decoded_by_what_they_name_and_others_are_refused() {
        assert_eq!(decode("é".as_bytes(), "text/html"), Ok("é".into()));
        assert_eq!(decode(b"\xef\xbb\xbfx", "text/html"), Ok("x".into()));
        assert_eq!(decode(b"caf\xe9 \x80", "text/html; charset=ISO-8859-1"), Ok("café €".into()));
        assert_eq!(
            decode(b"<meta charset=\"windows-1252\">\xe9", "text/html"),
            Ok("<meta charset=\"windows-1252\">é".into())
        );
        assert_eq!(decode(b"\xd6\xd0", "text/html; charset=GB2312"), Err("gb2312".into()));
        assert_eq!(decode("中".as_bytes(), "text/html; charset=gb2312"), Ok("中".into()));
    }

    #[test]
    fn a_short_page_is_shown_whole_and_without_what_nobody_reads() {
        let html = "<html><head><title>T</title><style>a{}</style></head><body><h1>Hi</h1><script>x()</script>\
                    <ul><li>one<li><a href='/two'>two</a></ul></body></html>";
        let text = markdown(html.into(), "http://host/").expect("converted");
        assert!(text.starts_with("# Hi") && text.contains("one") && text.contains("[two](/two)"), "{text}");
        assert!(!text.contains("x()") && !text.contains("a{}"), "{text}");
    }

    #[test]
    fn an_article_is_shown_without_what_is_around_it() {
        let words = "This sentence is a part of the article, and the article is long enough to be one. ".repeat(20);
        let html = format!(
            "<html><head><title>The title</title></head><body><nav><a href='/x'>Menu entry</a></nav>\
             <article><h1>The title</h1><p>{words}</p><p>{words}</p></article><footer>Imprint</footer></body></html>"
        );
        let text = markdown(html, "http://host/").expect("converted");
        assert!(text.starts_with("# The title\n\n") && text.contains("a part of the article"), "{text}");
        assert!(!text.contains("Menu entry"), "{text}");
    }

    #[test]
    fn a_page_made_to_break_the_converter_does_not() {
        let html = "<div>".repeat(200_000);
        assert!(markdown(html, "http://host/").expect_err("refused").contains("nest more than"));
        let just = format!("{}x{}", "<div>".repeat(MOST_DEEP), "</div>".repeat(MOST_DEEP));
        assert_eq!(markdown(just, "http://host/").map(|text| text.trim().to_owned()), Ok("x".into()));
        // Elements whose end may be left out do not nest.
        assert!(markdown("<p>x".repeat(5_000), "http://host/").is_ok());
    }
}
