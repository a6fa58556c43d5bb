//! Markdown as far as documents need it: headings, links, footnotes, and where they stand.

use super::decode::BOM;
use super::outline::Section;
use crate::resources::lines::LineIndex;
use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::cell::RefCell;
use std::ops::Range;

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its words without marks.
    pub title: String,
    /// From 1 to 6.
    pub level: usize,
    /// Its lines, from 0.
    pub lines: Range<usize>,
}

/// A link or a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub target: String,
    /// The line it begins on, from 0.
    pub line: usize,
}

/// What was found in a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Headings that are not inside lists or quotes, in order.
    pub headings: Vec<Heading>,
    /// Links and pictures.
    pub links: Vec<Link>,
    /// Labels that footnotes and references ask for and nobody defines, with their lines.
    pub undefined: Vec<(String, usize)>,
    /// Footnotes that are defined, with their lines.
    pub footnotes: Vec<(String, usize)>,
    /// Footnotes that are referred to.
    pub referred: Vec<String>,
}

/// Looks through a document.
pub fn scan(text: &str) -> Scan {
    let skipped = text.len() - text.strip_prefix(BOM).unwrap_or(text).len();
    let index = LineIndex::new(text);
    let line_of = |byte: usize| index.line_of(byte + skipped);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let undefined = RefCell::new(Vec::new());
    let broken = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
        // `[text]` alone is most often just text in brackets, and `[ ]` a box to tick.
        if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
            undefined.borrow_mut().push((link.reference.to_string(), line_of(link.span.start)));
        }
        None
    };
    let parser = Parser::new_with_broken_link_callback(&text[skipped..], options, Some(broken));
    let mut scan = Scan::default();
    let mut depth = 0usize;
    let mut heading: Option<Heading> = None;
    let mut code = 0usize;
    let mut plain = 0..0;
    let mut dangling = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        // The reader of footnotes leaves those that nobody defines in the text, in pieces.
        if matches!(event, Event::Text(_)) && code == 0 {
            if range.start != plain.end {
                notes(&text[skipped..], &plain, &mut dangling);
                plain.start = range.start;
            }
            plain.end = range.end;
        }
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::MetadataBlock(_)) => code += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::MetadataBlock(_)) => code = code.saturating_sub(1),
            Event::Start(Tag::Heading { level, .. }) => {
                let lines = line_of(range.start)..line_of(range.end.saturating_sub(1).max(range.start)) + 1;
                heading = Some(Heading { title: String::new(), level: level as usize, lines });
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(heading) = heading.take().filter(|_| depth == 0) {
                    let title = heading.title.split_whitespace().collect::<Vec<_>>().join(" ");
                    scan.headings.push(Heading { title, ..heading });
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                scan.links.push(Link { target: dest_url.to_string(), line: line_of(range.start) });
            }
            Event::Start(Tag::FootnoteDefinition(label)) => {
                scan.footnotes.push((label.to_string(), line_of(range.start)));
                depth += 1;
            }
            Event::FootnoteReference(label) => scan.referred.push(label.to_string()),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => {
                depth = depth.saturating_sub(1);
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.title.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut heading {
                    heading.title.push(' ');
                }
            }
            _ => {}
        }
    }
    notes(&text[skipped..], &plain, &mut dangling);
    scan.undefined = undefined.into_inner();
    scan.undefined.extend(dangling.into_iter().map(|(label, byte)| (label, line_of(byte))));
    scan
}

/// Finds footnotes like `[^1]` in a piece of text.
fn notes(text: &str, piece: &Range<usize>, found: &mut Vec<(String, usize)>) {
    let mut at = piece.start;
    while let Some(start) = text.get(at..piece.end).and_then(|rest| rest.find("[^")).map(|start| at + start) {
        at = start + 2;
        let Some(label) = text[at..piece.end].split_once(']').map(|(label, _)| label) else { return };
        if !label.is_empty() && !label.contains(|c: char| c.is_whitespace() || c == '[') {
            found.push((format!("^{label}"), start));
        }
    }
}

/// The sections under the headings of a document.
pub fn sections(text: &str) -> Vec<Section> {
    let headings = scan(text).headings;
    let end = crate::resources::lines::count(text);
    let mut path: Vec<(usize, String)> = Vec::new();
    headings
        .iter()
        .enumerate()
        .map(|(number, heading)| {
            let after = &headings[number + 1..];
            let next = after.first().map_or(end, |next| next.lines.start);
            let over = after.iter().find(|next| next.level <= heading.level).map_or(end, |next| next.lines.start);
            path.retain(|(level, _)| *level < heading.level);
            path.push((heading.level, heading.title.clone()));
            Section {
                path: path.iter().map(|(_, title)| title.clone()).collect(),
                kind: "heading",
                level: heading.level,
                head: heading.lines.clone(),
                own: heading.lines.end..next,
                lines: heading.lines.start..over,
            }
        })
        .collect()
}

/// The anchor that a heading of this title gets on the web.
pub fn slug(title: &str) -> String {
    let mut out = String::new();
    for character in title.to_lowercase().chars() {
        match character {
            ' ' | '-' => out.push('-'),
            '_' => out.push('_'),
            other if other.is_alphanumeric() => out.push(other),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: &str = "\u{feff}---\ntitle: x\n---\n\n# One `code` *two*\n\nintro\n\n## Sub\n\ntext\n\n```\n# no heading\n```\n\n> # quoted\n\nTwo\n===\n\nend [a](b.md) ![p](p.png) [x][nowhere] [^1] [^2] [ ]\n\n[^1]: note\n";

    #[test]
    fn headings_are_found_where_they_are_and_nowhere_else() {
        let found: Vec<_> = sections(DOC).into_iter().map(|s| (s.title(), s.head, s.own, s.lines)).collect();
        assert_eq!(
            found,
            [
                ("One code two".into(), 4..5, 5..8, 4..18),
                ("One code two › Sub".into(), 8..9, 9..18, 8..18),
                ("Two".into(), 18..20, 20..24, 18..24),
            ]
        );
    }

    #[test]
    fn links_and_footnotes_are_found_with_their_lines() {
        let scan = scan(DOC);
        let links: Vec<_> = scan.links.iter().map(|link| (link.target.as_str(), link.line)).collect();
        assert_eq!(links, [("b.md", 21), ("p.png", 21)]);
        assert_eq!(scan.footnotes, [("1".to_owned(), 23)]);
        assert!(scan.undefined.contains(&("nowhere".to_owned(), 21)), "{:?}", scan.undefined);
        assert!(scan.referred.contains(&"1".to_owned()), "{:?}", scan.referred);
    }

    #[test]
    fn a_slug_is_what_the_web_makes_of_a_heading() {
        assert_eq!(slug("Getting started: `init` & more"), "getting-started-init--more");
        assert_eq!(slug("北京 2"), "北京-2");
    }
}
