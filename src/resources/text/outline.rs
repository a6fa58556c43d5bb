//! The structure of a text: sections under headings, items of source code.

use super::decode::BOM;
use super::syntax::Syntax;
use super::{code, markdown};
use crate::resources::adapter::Node;
use std::ops::Range;

/// A section of a text; lines are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Titles from the outermost to its own.
    pub path: Vec<String>,
    /// What it is: `heading`, `function`, `type` …
    pub kind: &'static str,
    /// How deep it is: the level of a heading, or how many items it lies in plus one.
    pub level: usize,
    /// The lines of its heading, or of the comments and the first line of an item.
    pub head: Range<usize>,
    /// Its own lines up to its first subsection.
    pub own: Range<usize>,
    /// All of its lines, head and subsections too.
    pub lines: Range<usize>,
}

impl Section {
    /// As others see it.
    pub fn node(&self) -> Node {
        Node {
            path: self.path.clone(),
            kind: self.kind.into(),
            level: self.path.len(),
            lines: Some((self.lines.start + 1, self.lines.end)),
        }
    }

    /// Its path as words.
    pub fn title(&self) -> String {
        self.path.join(" › ")
    }
}

/// Finds the sections of a text, in order.
pub fn outline(text: &str, syntax: Syntax) -> Vec<Section> {
    match syntax {
        Syntax::Markdown => markdown::sections(text),
        Syntax::Code(language) => code::sections(text.strip_prefix(BOM).unwrap_or(text), language),
        Syntax::Plain | Syntax::Other => Vec::new(),
    }
}

/// The innermost section a line is in.
pub fn section_at(sections: &[Section], line: usize) -> Option<&Section> {
    sections.iter().rev().find(|section| section.lines.contains(&line))
}

/// The title of the innermost section a line is in; empty where there is none.
pub fn title_at(sections: &[Section], line: usize) -> String {
    section_at(sections, line).map(Section::title).unwrap_or_default()
}
