//! A text as a model or a terminal without an editor reads it: numbered lines within a budget.

use super::Ground;
use super::anchor::line_hash;
use super::outline::title_at;
use crate::resources::adapter::{Rendering, Selected, View};
use crate::resources::diff::cut;
use crate::resources::lines;
use crate::resources::refusal::Refusal;
use std::fmt::Write;

/// A line longer than this is cut.
const LINE_LIMIT: usize = 2000;

/// Shows the lines of a view, numbered, within `budget` bytes; the first row names the range that
/// is shown and its hash, with which those lines can be named in an operation.
pub fn render(ground: &Ground<'_>, view: &View, budget: usize) -> Result<Rendering, Refusal> {
    let count = ground.index.count();
    let wanted = match view {
        View::Whole => 0..count,
        View::Lines { from, count: n } => {
            let from = from.max(&1) - 1;
            if from >= count && count > 0 {
                return Err(Refusal::Invalid { what: format!("the text has {count} lines") });
            }
            from..from.saturating_add(*n).min(count)
        }
        View::Unit { path } => ground.sections()[ground.section(path)?].lines.clone(),
    };
    let mut body = String::new();
    let mut shown = wanted.start;
    for number in wanted.clone() {
        let line = lines::body(&ground.text[ground.index.bytes(number..number + 1)]);
        let short = cut(line, LINE_LIMIT);
        let mark = if short.len() < line.len() {
            format!(" … {} more bytes", line.len() - short.len())
        } else {
            String::new()
        };
        if body.len() + short.len() + mark.len() + 80 > budget && shown > wanted.start {
            break;
        }
        let _ = writeln!(body, "{:>5}  {}{mark}", number + 1, cut(short, budget));
        shown = number + 1;
    }
    let hash = line_hash(&ground.text[ground.index.bytes(wanted.start..shown)]);
    let head = if shown > wanted.start {
        format!("lines {}-{shown} of {count} (hash {hash})\n", wanted.start + 1)
    } else {
        "no lines\n".to_owned()
    };
    let left_out =
        if shown < wanted.end { format!("lines {}-{} are not shown", shown + 1, wanted.end) } else { String::new() };
    Ok(Rendering::Text { text: head + &body, left_out })
}

/// Tells what is selected: where, and the words, within `budget` bytes.
pub fn describe(ground: &Ground<'_>, selected: &Selected, budget: usize) -> Result<String, Refusal> {
    let bytes = selected.bytes.clone().unwrap_or(0..0);
    let words = ground.text.get(bytes.clone()).ok_or_else(|| Refusal::Invalid {
        what: format!("bytes {} to {} are not a piece of the text", bytes.start, bytes.end),
    })?;
    let first = ground.index.line_of(bytes.start);
    let last = ground.index.line_of(bytes.end.saturating_sub(1).max(bytes.start));
    let unit = title_at(ground.sections(), first);
    let within = if unit.is_empty() { String::new() } else { format!(" in {unit}") };
    let place = match (words.is_empty(), first == last) {
        (true, _) => format!("the caret is on line {}{within}", first + 1),
        (false, true) => format!("on line {}{within}: ", first + 1),
        (false, false) => format!("lines {}-{}{within}: ", first + 1, last + 1),
    };
    let room = budget.saturating_sub(place.len());
    let mark = format!(" … {} bytes in all", words.len());
    let quoted = if words.len() <= room {
        words.to_owned()
    } else {
        cut(words, room.saturating_sub(mark.len())).to_owned() + &mark
    };
    Ok(cut(&(place + &quoted), budget).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::text::ground;
    use crate::resources::text::syntax::Syntax;

    #[test]
    fn a_selection_is_told_with_its_place_and_follows_its_text() {
        let text = "# A\n\none two\n";
        let ground = ground(text, Syntax::Markdown);
        let mut selected = Selected { part: "text".into(), bytes: Some(9..12), elements: vec![] };
        let told = |selected: &Selected, budget| describe(&ground, selected, budget).expect("told");
        assert_eq!(told(&selected, 100), "on line 3 in A: two");
        assert!(told(&selected, 30).len() <= 30);
        selected.follow(&crate::resources::Patch::replace(5..9, String::new()));
        assert_eq!(selected.bytes, Some(5..8));
        selected.bytes = Some(0..0);
        assert_eq!(told(&selected, 100), "the caret is on line 1 in A");
        selected.bytes = Some(9..99);
        assert!(describe(&ground, &selected, 100).is_err());
    }

    #[test]
    fn lines_are_numbered_and_what_is_left_out_is_said() {
        let text: String = (1..=100).map(|n| format!("line {n}\r\n")).collect();
        let ground = ground(&text, Syntax::Plain);
        let Rendering::Text { text: shown, left_out } =
            render(&ground, &View::Lines { from: 3, count: 2 }, 1000).expect("shown")
        else {
            panic!("text")
        };
        let hash = line_hash("line 3\nline 4\n");
        assert_eq!(shown, format!("lines 3-4 of 100 (hash {hash})\n    3  line 3\n    4  line 4\n"));
        assert_eq!(left_out, "");
        let Rendering::Text { text: shown, left_out } = render(&ground, &View::Whole, 300).expect("shown") else {
            panic!("text")
        };
        assert!(shown.len() <= 300 && left_out.starts_with("lines "), "{left_out}");
        assert!(render(&ground, &View::Lines { from: 101, count: 1 }, 300).is_err());
    }
}
