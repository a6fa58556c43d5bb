//! A Markdown document as a page of HTML that stands alone.

use super::decode::BOM;
use pulldown_cmark::{CowStr, Event, Options, Parser, html};

/// How the page looks: readable on a screen and on paper, with nothing fetched from anywhere.
const STYLE: &str = "body{max-width:44em;margin:2em auto;padding:0 1em;font-family:serif;line-height:1.5}\
pre,code{font-family:monospace}pre{overflow-x:auto}table{border-collapse:collapse}td,th{border:1px solid;padding:.2em .5em}";

/// Writes a page; HTML that stands in the Markdown is shown as text, so that a page holds no program of somebody else.
pub fn page(title: &str, markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let events = Parser::new_ext(markdown.trim_start_matches(BOM), options).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(tag) => Event::Start(harmless(tag)),
        other => other,
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// A link that would run a program leads nowhere.
fn harmless(tag: pulldown_cmark::Tag<'_>) -> pulldown_cmark::Tag<'_> {
    use pulldown_cmark::Tag;
    let runs = |target: &str| {
        let scheme: String = target.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(11).collect();
        ["javascript:", "vbscript:", "data:text"].iter().any(|bad| scheme.to_ascii_lowercase().starts_with(bad))
    };
    match tag {
        Tag::Link { link_type, dest_url, title, id } if runs(&dest_url) => {
            Tag::Link { link_type, dest_url: CowStr::Borrowed("#"), title, id }
        }
        other => other,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_the_document_says_and_no_program() {
        let page =
            page("a<b", "# Plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>x()</script>\n\n[go](javascript:x)\n");
        assert!(page.contains("<h1>Plan</h1>") && page.contains("<td>1</td>"), "{page}");
        assert!(page.contains("<title>a&lt;b</title>") && page.contains("&lt;script&gt;"), "{page}");
        assert!(!page.contains("<script>") && !page.contains("javascript"), "{page}");
    }
}
