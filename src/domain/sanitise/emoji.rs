//! Which invisible characters are part of an emoji: joiners, style selectors and flag tags are
//! kept there and nowhere else.

/// Code points with the Unicode property `Extended_Pictographic`; a test compares the table with
/// the one of the `regex` crate.
const PICTOGRAPHS: &[(u32, u32)] = &[
    (0xA9, 0xA9),
    (0xAE, 0xAE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x2199),
    (0x21A9, 0x21AA),
    (0x231A, 0x231B),
    (0x2328, 0x2328),
    (0x2388, 0x2388),
    (0x23CF, 0x23CF),
    (0x23E9, 0x23F3),
    (0x23F8, 0x23FA),
    (0x24C2, 0x24C2),
    (0x25AA, 0x25AB),
    (0x25B6, 0x25B6),
    (0x25C0, 0x25C0),
    (0x25FB, 0x25FE),
    (0x2600, 0x2605),
    (0x2607, 0x2612),
    (0x2614, 0x2685),
    (0x2690, 0x2705),
    (0x2708, 0x2712),
    (0x2714, 0x2714),
    (0x2716, 0x2716),
    (0x271D, 0x271D),
    (0x2721, 0x2721),
    (0x2728, 0x2728),
    (0x2733, 0x2734),
    (0x2744, 0x2744),
    (0x2747, 0x2747),
    (0x274C, 0x274C),
    (0x274E, 0x274E),
    (0x2753, 0x2755),
    (0x2757, 0x2757),
    (0x2763, 0x2767),
    (0x2795, 0x2797),
    (0x27A1, 0x27A1),
    (0x27B0, 0x27B0),
    (0x27BF, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1F0FF),
    (0x1F10D, 0x1F10F),
    (0x1F12F, 0x1F12F),
    (0x1F16C, 0x1F171),
    (0x1F17E, 0x1F17F),
    (0x1F18E, 0x1F18E),
    (0x1F191, 0x1F19A),
    (0x1F1AD, 0x1F1E5),
    (0x1F201, 0x1F20F),
    (0x1F21A, 0x1F21A),
    (0x1F22F, 0x1F22F),
    (0x1F232, 0x1F23A),
    (0x1F23C, 0x1F23F),
    (0x1F249, 0x1F3FA),
    (0x1F400, 0x1F53D),
    (0x1F546, 0x1F64F),
    (0x1F680, 0x1F6FF),
    (0x1F774, 0x1F77F),
    (0x1F7D5, 0x1F7FF),
    (0x1F80C, 0x1F80F),
    (0x1F848, 0x1F84F),
    (0x1F85A, 0x1F85F),
    (0x1F888, 0x1F88F),
    (0x1F8AE, 0x1F8FF),
    (0x1F90C, 0x1F93A),
    (0x1F93C, 0x1F945),
    (0x1F947, 0x1FAFF),
    (0x1FC00, 0x1FFFD),
];

/// The subdivision flags there are, as the tags after the black flag.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

const JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const BLACK_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';

/// Whether a character can begin an emoji.
pub(super) fn is_pictograph(c: char) -> bool {
    let code = u32::from(c);
    code >= 0xA9 && {
        let after = PICTOGRAPHS.partition_point(|(first, _)| *first <= code);
        after > 0 && code <= PICTOGRAPHS[after - 1].1
    }
}

/// How far the characters seen so far form an emoji.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Not at all.
    #[default]
    None,
    /// A pictograph.
    Pictograph(char),
    /// A pictograph with its style or skin tone.
    Styled,
    /// A digit, `#` or `*`, which a keycap may follow.
    KeycapBase,
}

impl Sequence {
    /// Takes note of a visible character.
    pub(super) fn saw(&mut self, c: char) {
        *self = match c {
            '0'..='9' | '#' | '*' => Self::KeycapBase,
            '\u{1f3fb}'..='\u{1f3ff}' if *self != Self::None => Self::Styled,
            c if is_pictograph(c) => Self::Pictograph(c),
            _ => Self::None,
        };
    }

    /// Forgets the emoji: the next character stands apart.
    pub(super) fn end(&mut self) {
        *self = Self::None;
    }

    /// Says how many bytes at the start of `rest` are invisible and yet part of the emoji so far.
    pub(super) fn accept(&mut self, rest: &str) -> Option<usize> {
        let mut chars = rest.chars();
        let first = chars.next()?;
        let next = chars.next();
        match (*self, first) {
            (Self::Pictograph(_), TEXT_STYLE | EMOJI_STYLE) => {
                *self = Self::Styled;
                Some(first.len_utf8())
            }
            (Self::KeycapBase, EMOJI_STYLE) if next == Some(KEYCAP) => {
                *self = Self::None;
                Some(first.len_utf8())
            }
            (Self::Pictograph(_) | Self::Styled, JOINER) if next.is_some_and(is_pictograph) => {
                *self = Self::None;
                Some(first.len_utf8())
            }
            (Self::Pictograph(BLACK_FLAG), _) => {
                let tags = flag_tags(rest)?;
                *self = Self::None;
                Some(tags)
            }
            _ => None,
        }
    }
}

/// The length of the tags of one of the [`FLAGS`] at the start of `rest`.
fn flag_tags(rest: &str) -> Option<usize> {
    FLAGS.iter().find_map(|flag| {
        let mut len = 0;
        let mut chars = rest.chars();
        let tags = flag.chars().filter_map(|letter| char::from_u32(0xE0000 + u32::from(letter)));
        for tag in tags.chain([LAST_TAG]) {
            if chars.next() != Some(tag) {
                return None;
            }
            len += tag.len_utf8();
        }
        Some(len)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_pictographs_is_that_of_unicode() {
        let pictograph = regex::Regex::new(r"^\p{Extended_Pictographic}$").expect("a known property");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            if pictograph.is_match(c.encode_utf8(&mut buffer)) {
                let code = u32::from(c);
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == code => *last = code,
                    _ => ranges.push((code, code)),
                }
            }
        }
        assert_eq!(PICTOGRAPHS, ranges, "{ranges:#X?}");
    }
}
