//! From Markdown to blocks. Nothing of the text is lost: what is not understood is shown as it stands.

use super::super::text;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// How deep quotes and lists are nested; what is deeper stands in the deepest one.
const DEEPEST: usize = 8;

/// How a stretch of words is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ink {
    /// Bold.
    pub strong: bool,
    /// Italic.
    pub emphasis: bool,
    /// Struck through.
    pub struck: bool,
    /// A piece of code.
    pub code: bool,
    /// The words of a link.
    pub link: bool,
    /// The address behind a link.
    pub address: bool,
}

/// Words with the ink of each stretch; stretches that nothing is said of are plain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// The words.
    pub text: String,
    /// Stretches in their order, without overlap.
    pub inks: Vec<(Range<usize>, Ink)>,
}

impl Words {
    fn push(&mut self, words: &str, ink: Ink) {
        let start = self.text.len();
        self.text.push_str(words);
        if ink != Ink::default() && start < self.text.len() {
            self.inks.push((start..self.text.len(), ink));
        }
    }
}

/// One block.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words.
    Paragraph(Words),
    /// A heading and its level, 1 to 6.
    Heading(u8, Words),
    /// Code with the name of its language, which may be empty.
    Code {
        /// The language.
        language: String,
        /// The code, without a line end at its end.
        text: String,
    },
    /// A quote.
    Quote(Vec<Block>),
    /// A list, numbered from a number on, or with bullets.
    List {
        /// The number of the first item.
        first: Option<u64>,
        /// Whether blank lines stood between the items.
        loose: bool,
        /// The items.
        items: Vec<Item>,
    },
    /// A table.
    Table {
        /// How each column is aligned.
        columns: Vec<Alignment>,
        /// The head and the rows.
        rows: Vec<Vec<Words>>,
    },
    /// A rule.
    Rule,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    /// Whether it is ticked, if it can be.
    pub ticked: Option<bool>,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// Parses Markdown.
pub fn parse(clean: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder::default();
    for event in Parser::new_ext(clean, options) {
        builder.take(event);
    }
    builder.finish()
}

/// The code blocks of a text, in their order.
pub fn codes(clean: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(&parse(clean), &mut found);
    found
}

fn collect(blocks: &[Block], found: &mut Vec<String>) {
    for block in blocks {
        match block {
            Block::Code { text, .. } => found.push(text.clone()),
            Block::Quote(inner) => collect(inner, found),
            Block::List { items, .. } => items.iter().for_each(|item| collect(&item.blocks, found)),
            Block::Paragraph(_) | Block::Heading(..) | Block::Table { .. } | Block::Rule => {}
        }
    }
}

/// What is being built; blocks go into the innermost.
enum Open {
    Quote(Vec<Block>),
    List { first: Option<u64>, loose: bool, items: Vec<Item> },
    Item(Item),
}

#[derive(Default)]
struct Builder {
    blocks: Vec<Block>,
    open: Vec<Open>,
    /// Of each container that began: whether it is on `open`, or was too deep.
    entered: Vec<bool>,
    words: Option<Words>,
    ink: Ink,
    /// Where the words of a link begin, and its address.
    links: Vec<(usize, String)>,
    code: Option<(String, String)>,
    table: Option<(Vec<Alignment>, Vec<Vec<Words>>)>,
}

impl Builder {
    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(words) => match &mut self.code {
                Some((_, code)) => code.push_str(&words),
                None => self.say(&words, self.ink),
            },
            Event::Code(words) => self.say(&words, Ink { code: true, ..self.ink }),
            Event::InlineHtml(html) if is_break(&html) => self.say("\n", Ink::default()),
            Event::Html(words) | Event::InlineHtml(words) | Event::InlineMath(words) | Event::DisplayMath(words) => {
                self.say(&words, self.ink);
            }
            Event::FootnoteReference(name) => self.say(&format!("[^{name}]"), self.ink),
            Event::SoftBreak | Event::HardBreak => self.say("\n", Ink::default()),
            Event::Rule => self.put(Block::Rule),
            Event::TaskListMarker(is_ticked) => {
                if let Some(Open::Item(item)) = self.open.last_mut() {
                    item.ticked = Some(is_ticked);
                }
            }
        }
    }

    fn say(&mut self, words: &str, ink: Ink) {
        self.words.get_or_insert_default().push(words, ink);
    }

    fn start(&mut self, tag: Tag) {
        match tag {
            Tag::Paragraph => {
                self.flush();
                if let [.., Open::List { loose, .. }, Open::Item(_)] = &mut self.open[..] {
                    *loose = true;
                }
            }
            Tag::Heading { .. } | Tag::HtmlBlock => self.flush(),
            Tag::BlockQuote(_) => self.enter(Open::Quote(Vec::new())),
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => self.enter(Open::List { first, loose: false, items: Vec::new() }),
            Tag::Item => self.enter(Open::Item(Item::default())),
            Tag::Table(columns) => {
                self.flush();
                self.table = Some((columns, Vec::new()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some((_, rows)) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            Tag::TableCell => self.words = Some(Words::default()),
            Tag::Emphasis => self.ink.emphasis = true,
            Tag::Strong => self.ink.strong = true,
            Tag::Strikethrough => self.ink.struck = true,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let at = self.words.get_or_insert_default().text.len();
                self.links.push((at, text::line(&dest_url)));
                self.ink.link = true;
            }
            // Not asked for from the parser.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let words = self.words.take().unwrap_or_default();
                self.put(Block::Heading(level as u8, words));
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.leave(),
            TagEnd::CodeBlock => {
                if let Some((language, mut text)) = self.code.take() {
                    text.truncate(text.trim_end_matches('\n').len());
                    self.put(Block::Code { language, text });
                }
            }
            TagEnd::Table => {
                if let Some((columns, rows)) = self.table.take() {
                    self.put(Block::Table { columns, rows });
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {}
            TagEnd::TableCell => {
                let words = self.words.take().unwrap_or_default();
                if let Some(row) = self.table.as_mut().and_then(|(_, rows)| rows.last_mut()) {
                    row.push(words);
                }
            }
            TagEnd::Emphasis => self.ink.emphasis = false,
            TagEnd::Strong => self.ink.strong = false,
            TagEnd::Strikethrough => self.ink.struck = false,
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => self.flush(),
        }
    }

    /// Where a link leads stands beside its words, unless they say it themselves.
    fn end_link(&mut self) {
        let Some((at, address)) = self.links.pop() else { return };
        self.ink.link = !self.links.is_empty();
        let said = self.words.as_ref().and_then(|words| words.text.get(at..)).unwrap_or_default();
        if said != address && format!("mailto:{said}") != address && !address.is_empty() {
            let gap = if said.is_empty() { "" } else { " " };
            let words = format!("{gap}({address})");
            self.say(&words, Ink { address: true, ..Ink::default() });
        }
    }

    /// What was said outside of any paragraph, as in the items of a tight list, is one.
    fn flush(&mut self) {
        if self.table.is_some() {
            return;
        }
        if let Some(mut words) = self.words.take() {
            words.text.truncate(words.text.trim_end_matches('\n').len());
            if !words.text.is_empty() {
                self.put_there(Block::Paragraph(words));
            }
        }
    }

    fn put(&mut self, block: Block) {
        self.flush();
        self.put_there(block);
    }

    fn put_there(&mut self, block: Block) {
        match self.open.last_mut() {
            Some(Open::Quote(blocks)) => blocks.push(block),
            Some(Open::Item(item)) => item.blocks.push(block),
            Some(Open::List { items, .. }) => items.push(Item { ticked: None, blocks: vec![block] }),
            None => self.blocks.push(block),
        }
    }

    fn enter(&mut self, container: Open) {
        self.flush();
        let fits = self.open.len() < DEEPEST * 2;
        if fits {
            self.open.push(container);
        }
        self.entered.push(fits);
    }

    fn leave(&mut self) {
        self.flush();
        if self.entered.pop() != Some(true) {
            return;
        }
        match self.open.pop() {
            Some(Open::Quote(blocks)) => self.put_there(Block::Quote(blocks)),
            Some(Open::List { first, loose, items }) => self.put_there(Block::List { first, loose, items }),
            Some(Open::Item(item)) => match self.open.last_mut() {
                Some(Open::List { items, .. }) => items.push(item),
                Some(Open::Quote(_) | Open::Item(_)) | None => {
                    item.blocks.into_iter().for_each(|block| self.put_there(block));
                }
            },
            None => {}
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.flush();
        while !self.entered.is_empty() {
            self.leave();
        }
        self.blocks
    }
}

fn is_break(html: &str) -> bool {
    matches!(html.trim_end_matches(['>', '/', ' ']), "<br" | "<BR")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Block {
        Block::Paragraph(Words { text: text.into(), inks: Vec::new() })
    }

    #[test]
    fn a_link_says_where_it_leads_unless_its_words_do() {
        let [Block::Paragraph(words)] = &parse("see [this](https://a.b/c) and <https://d.e>")[..] else { panic!() };
        assert_eq!(words.text, "see this (https://a.b/c) and https://d.e");
        let inked: Vec<_> = words.inks.iter().map(|(range, ink)| (&words.text[range.clone()], ink.link)).collect();
        assert_eq!(inked, [("this", true), (" (https://a.b/c)", false), ("https://d.e", true)]);
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(parse("roses\nviolets"), [plain("roses\nviolets")]);
    }

    #[test]
    fn items_of_a_tight_list_are_paragraphs_of_their_own() {
        let list = Block::List {
            first: Some(3),
            loose: false,
            items: vec![
                Item { ticked: Some(true), blocks: vec![plain("one")] },
                Item { ticked: None, blocks: vec![plain("two")] },
            ],
        };
        assert_eq!(parse("3. [x] one\n4. two"), [list]);
    }

    #[test]
    fn html_is_shown_and_not_swallowed() {
        assert_eq!(parse("<div>\nhi\n</div>"), [plain("<div>\nhi\n</div>")]);
        let [Block::Paragraph(words)] = &parse("a <b>c</b><br>d")[..] else { panic!() };
        assert_eq!(words.text, "a <b>c</b>\nd");
    }

    #[test]
    fn nesting_without_end_neither_overflows_nor_loses_words() {
        let deep = format!("{} bottom", ">".repeat(20_000));
        assert!(format!("{:?}", parse(&deep)).contains("bottom"));
        let lists: String = (0..300).map(|depth| format!("{}- item {depth}\n", "  ".repeat(depth))).collect();
        let parsed = format!("{:?}", parse(&lists));
        assert!(parsed.contains("item 299") || parsed.contains("- item 299"));
    }
}
