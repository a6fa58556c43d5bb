//! Blocks as rows of a width.

use super::super::colours::{Coloured, PartOfSpeech};
use super::super::theme::Theme;
use super::super::{styled, text};
use super::parse::{Block, Ink, Item, Words, parse};
use super::table;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::ops::Range;
use std::sync::Arc;

/// The longest line of prose that is good to read.
pub const LINE: usize = 100;

/// Below this a frame would take more than it gives.
const NARROW: usize = 8;

/// What is drawn on: the width, the colours, and whoever knows the colours of code.
pub struct Paper<'a> {
    /// How many columns there are.
    pub room: usize,
    /// Colours.
    pub theme: &'a Theme,
    /// Gives the parts of speech of code in a language, if they are known by now.
    pub colours: &'a dyn Fn(&str, &str) -> Option<Arc<Coloured>>,
}

/// Draws Markdown that has passed the sanitiser.
pub fn draw(paper: &Paper, clean: &str) -> Vec<Line<'static>> {
    paper.blocks(&parse(clean), paper.room)
}

impl Paper<'_> {
    /// Blocks one below the other, a blank line between them.
    fn blocks(&self, blocks: &[Block], room: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        for (ix, block) in blocks.iter().enumerate() {
            if ix > 0 {
                lines.push(Line::default());
            }
            lines.extend(self.block(block, room));
        }
        lines
    }

    fn block(&self, block: &Block, room: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        match block {
            Block::Paragraph(words) => self.flow(words, room.min(LINE), theme.text.into()),
            Block::Heading(level, words) => {
                let strong = Style::from(theme.strong);
                let style = if *level == 1 { strong.add_modifier(Modifier::UNDERLINED) } else { strong };
                self.flow(words, room.min(LINE), style)
            }
            Block::Code { language, text } => self.code(language, text, room),
            Block::Quote(blocks) => {
                let bar = Span::styled("▌ ", Style::from(theme.border));
                let inner = if room < NARROW { room } else { room - 2 };
                let lines = self.blocks(blocks, inner);
                if room < NARROW { lines } else { lines.into_iter().map(|line| before(bar.clone(), line)).collect() }
            }
            Block::List { first, loose, items } => self.list(*first, *loose, items, room),
            Block::Table { columns, rows } => table::draw(self, columns, rows, room),
            Block::Rule => vec![Line::styled("─".repeat(room.min(LINE)), theme.border)],
        }
    }

    fn list(&self, first: Option<u64>, loose: bool, items: &[Item], room: usize) -> Vec<Line<'static>> {
        let signs: Vec<String> = (0_u64..)
            .zip(items)
            .map(|(ix, item)| {
                let number = first.map(|first| format!("{}. ", first.saturating_add(ix)));
                match item.ticked {
                    Some(is_ticked) => number.unwrap_or_default() + if is_ticked { "☑ " } else { "☐ " },
                    None => number.unwrap_or_else(|| "• ".to_owned()),
                }
            })
            .collect();
        let margin = signs.iter().map(|sign| text::width(sign)).max().unwrap_or(0);
        let inner = room.saturating_sub(margin).max(1);
        let mut lines = Vec::new();
        for (ix, (sign, item)) in signs.iter().zip(items).enumerate() {
            if loose && ix > 0 {
                lines.push(Line::default());
            }
            let mut rows = Vec::new();
            for (ix, block) in item.blocks.iter().enumerate() {
                if ix > 0 && (loose || !matches!(block, Block::List { .. })) {
                    rows.push(Line::default());
                }
                rows.extend(self.block(block, inner));
            }
            if rows.is_empty() {
                rows.push(Line::default());
            }
            let dim = Style::from(self.theme.dim);
            for (row, line) in rows.into_iter().enumerate() {
                let sign = if row == 0 { format!("{sign:>margin$}") } else { " ".repeat(margin) };
                lines.push(if room <= margin { line } else { before(Span::styled(sign, dim), line) });
            }
        }
        lines
    }

    /// Code beside a bar, under the name of its language.
    fn code(&self, language: &str, code: &str, room: usize) -> Vec<Line<'static>> {
        let theme = self.theme;
        let border = Style::from(theme.border);
        let framed = room >= NARROW;
        let bar = if framed { "│ " } else { "" };
        let inner = room.saturating_sub(text::width(bar)).max(1);
        let coloured = (self.colours)(language, code);
        let mut lines = Vec::new();
        if framed && !language.is_empty() {
            let name = text::cut(&text::line(language), inner.saturating_sub(1));
            lines.push(Line::from(vec![Span::styled("╭ ", border), Span::styled(name, Style::from(theme.dim))]));
        }
        for (ix, line) in code.split('\n').enumerate() {
            let stretches: Vec<_> = coloured
                .as_ref()
                .and_then(|coloured| coloured.get(ix))
                .into_iter()
                .flatten()
                .filter(|(range, _)| line.is_char_boundary(range.start) && line.is_char_boundary(range.end))
                .map(|(range, part)| (range.clone(), self.of_speech(*part)))
                .collect();
            for row in styled::wrapped(line, &stretches, inner, theme.text.into()) {
                lines.push(before(Span::styled(bar, border), Line::from(row)));
            }
        }
        lines
    }

    /// Words that wrap.
    pub(super) fn flow(&self, words: &Words, room: usize, style: Style) -> Vec<Line<'static>> {
        let stretches: Vec<(Range<usize>, Style)> =
            words.inks.iter().map(|(range, ink)| (range.clone(), self.inked(*ink, style))).collect();
        styled::wrapped(&words.text, &stretches, room, style).into_iter().map(Line::from).collect()
    }

    fn of_speech(&self, part: PartOfSpeech) -> Style {
        let theme = self.theme;
        match part {
            PartOfSpeech::Comment => theme.dim.into(),
            PartOfSpeech::Text => theme.ok.into(),
            PartOfSpeech::Word => theme.accent.into(),
            PartOfSpeech::Value => theme.warn.into(),
            PartOfSpeech::Name => theme.strong.into(),
        }
    }

    fn inked(&self, ink: Ink, style: Style) -> Style {
        let theme = self.theme;
        let mut inked = style;
        if ink.code || ink.link {
            inked = inked.patch(Style::from(theme.accent));
        }
        if ink.address {
            inked = inked.patch(Style::from(theme.dim));
        }
        for (wanted, modifier) in [
            (ink.strong, Modifier::BOLD),
            (ink.emphasis, Modifier::ITALIC),
            (ink.struck, Modifier::CROSSED_OUT),
            (ink.link, Modifier::UNDERLINED),
        ] {
            if wanted {
                inked = inked.add_modifier(modifier);
            }
        }
        inked
    }
}

fn before(sign: Span<'static>, mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, sign);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::BuiltIn;
    use proptest::prelude::*;

    fn rows(markdown: &str, room: usize) -> Vec<String> {
        let theme = BuiltIn::Dark.load();
        let paper = Paper { room, theme: &theme, colours: &|_, _| None };
        draw(&paper, markdown).iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_page_of_everything() {
        let page = "# Plan\n\nTrim **the line end** in `parse`, see [the guide](https://e.org/g).\n\n\
            1. Keep the newline.\n   - nested, with words that wrap around\n   - 日本語テキスト\n2. [ ] Test 👩‍👩‍👧‍👦\n\n\
            > wise words that go on and on for a while\n\n```rust\nfn parse(text: &str) -> Ast {\n    Ast\n}\n```\n\n***\n\
            | name | what it does |\n|---|--:|\n| read | reads a file, whole or in part |\n| 写 | ✍️ |\n";
        insta::assert_snapshot!("page_40", rows(page, 40).join("\n"));
        insta::assert_snapshot!("page_20", rows(page, 20).join("\n"));
    }

    #[test]
    fn a_code_block_keeps_its_spaces_and_takes_its_colours() {
        let theme = BuiltIn::Dark.load();
        let keyword = Style::from(theme.accent);
        let colours = |language: &str, _: &str| {
            (language == "rust").then(|| Arc::new(vec![vec![], vec![(2..5, PartOfSpeech::Word)]]))
        };
        let paper = Paper { room: 40, theme: &theme, colours: &colours };
        let lines = draw(&paper, "```rust\nfn f() {\n  let x\n```");
        assert_eq!(lines[2].to_string(), "│   let x");
        assert_eq!((lines[2].spans[2].content.as_ref(), lines[2].spans[2].style), ("let", keyword));
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_room(pieces in prop::collection::vec(piece(), 0..12), room in 2usize..60) {
            for row in rows(&pieces.concat(), room) {
                prop_assert!(text::width(&row) <= room, "{row:?} in {room}");
            }
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "words and `code` ",
            "\n",
            "\n\n",
            "# head\n",
            "- item\n",
            "1. numbered\n",
            "  ",
            "```rust\n",
            "> ",
            "| a | b |\n|---|---|\n| 日本語テキスト | 👩‍👩‍👧‍👦 🏳️‍🌈 |\n",
            "| x ",
            "***\n",
            "日本",
            "[l](http://e.org)",
            "👩‍👩‍👧‍👦",
            "1000000000. ",
            "- [x] ",
            "<br>",
            "\\",
            "*",
            "_",
        ])
        .prop_map(str::to_owned)
    }
}
