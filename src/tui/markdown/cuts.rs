//! Where a long text can be cut so that its parts, parsed one by one, read as the whole does.
//!
//! A cut lies after a blank line outside of code, where something begins at the margin that can't
//! belong to what came before. So what is streamed is parsed once, and a long answer is laid out
//! where it is looked at. A line that is too long for any eye is cut where it stands.

/// A line longer than this is cut in itself.
const LONG_LINE: usize = 16 * 1024;

/// Adds the cuts that lie after the last one, no closer than `apart` to one another.
pub fn extend(cuts: &mut Vec<usize>, text: &str, apart: usize) {
    let mut start = cuts.last().copied().unwrap_or(0);
    let mut at = start;
    let mut fence: Option<(u8, usize)> = None;
    let mut after_blank = false;
    let mut in_list = false;
    while at < text.len() {
        let (end, is_whole) = text[at..].find('\n').map_or((text.len(), false), |end| (at + end, true));
        let line = &text[at..end];
        if fence.is_none() && after_blank && at - start >= apart && begins_anew(line, in_list) && is_whole {
            cuts.push(at);
            start = at;
            in_list = false;
        }
        if fence.is_none() && line.len() > LONG_LINE {
            let mut from = at;
            while text.len() - from > LONG_LINE && end - from > LONG_LINE {
                from = text.ceil_char_boundary(from + LONG_LINE);
                if let Some(space) = text[..from].rfind(' ').filter(|space| from - space < 256) {
                    from = space + 1;
                }
                cuts.push(from);
            }
            start = from;
        }
        fence = after(fence, line);
        in_list |= is_item(line);
        after_blank = line.trim().is_empty();
        at = end + 1;
    }
}

/// Whether a line at the margin begins something new, whatever came before it.
fn begins_anew(line: &str, in_list: bool) -> bool {
    match line.as_bytes().first() {
        None | Some(b' ' | b'\t') => false,
        Some(_) => !(in_list && is_item(line)),
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match line.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => true,
        bytes => (1..=9).contains(&digits) && matches!(bytes.get(digits), Some(b'.' | b')')),
    }
}

/// The fence that is open after a line: its character and how many of them.
fn after(fence: Option<(u8, usize)>, line: &str) -> Option<(u8, usize)> {
    let line = line.trim_start_matches([' ', '>', '\t']);
    let Some(sign) = line.bytes().next().filter(|sign| matches!(sign, b'`' | b'~')) else { return fence };
    let many = line.bytes().take_while(|byte| *byte == sign).count();
    match fence {
        None if many >= 3 && !(sign == b'`' && line[many..].contains('`')) => Some((sign, many)),
        Some((open, least)) if open == sign && many >= least && line[many..].trim().is_empty() => None,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str, apart: usize) -> Vec<&str> {
        let mut cuts = Vec::new();
        extend(&mut cuts, text, apart);
        let ends = cuts.iter().copied().chain([text.len()]);
        std::iter::once(0).chain(cuts.iter().copied()).zip(ends).map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn code_and_lists_stay_whole() {
        let text = "one\n\n```\na\n\nb\n```\n\n- x\n\n- y\n\ntwo\n";
        assert_eq!(parts(text, 1), ["one\n\n", "```\na\n\nb\n```\n\n", "- x\n\n- y\n\n", "two\n"]);
    }

    #[test]
    fn a_line_of_a_megabyte_is_cut_in_itself() {
        let text = "word ".repeat(200_000);
        let parts = parts(&text, 1);
        assert!(parts.len() > 50 && parts.iter().all(|part| part.len() <= LONG_LINE + 4));
        assert_eq!(parts.concat(), text);
    }

    proptest! {
        #[test]
        fn the_parts_say_what_the_whole_says(pieces in prop::collection::vec(piece(), 0..12)) {
            let text = pieces.concat();
            let whole = parse(&text);
            let cut: Vec<_> = parts(&text, 1).into_iter().flat_map(parse).collect();
            prop_assert_eq!(whole, cut);
        }

        #[test]
        fn what_is_streamed_is_cut_as_the_whole_is(pieces in prop::collection::vec(piece(), 0..12)) {
            let text = pieces.concat();
            let (mut streamed, mut whole) = (Vec::new(), Vec::new());
            for end in 0..=text.len() {
                extend(&mut streamed, &text[..text.floor_char_boundary(end)], 1);
            }
            extend(&mut whole, &text, 1);
            prop_assert_eq!(streamed, whole);
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "words\n",
            "\n",
            "\n\n",
            "# head\n",
            "- a\n",
            "1. b\n",
            "  more\n",
            "```rust\ncode\n\ncode\n```\n",
            "> quote\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n",
            "***\n",
            "日本\n",
        ])
        .prop_map(str::to_owned)
    }
}
