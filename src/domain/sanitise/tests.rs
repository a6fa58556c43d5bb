//! Tests of sanitising: case T12, and text that must stay as it is.

use super::*;
use proptest::prelude::*;

/// The hostile pieces of case T12.
const HOSTILE: &[&str] = &[
    "before\x1b[2J\x1b[Hafter",
    "\r",
    "\x07",
    "\u{9b}31m",
    "\x1b]0;owned\x07",
    "\x1b]52;c;cGF3bmVk\x07",
    "\x1b]8;;http://x\x07link",
    "\x1bPq#0\x1b\\",
    "\u{202e}",
    "\u{200d}",
    "\t",
    "\x1b",
    "\x1b]never closed",
    "\x1b[12;",
    "\u{9d}0;x\u{9c}",
    "\u{90}",
    "\u{9f}G\u{1b}",
    "\x08",
    "\x1b[K",
    "\x1b[2K",
    "\x1b[1K",
    "\x1b[1G",
    "\x1b[60000C",
    "\x1b[3D",
    "\x1b(B",
    "\u{feff}",
    "\u{ad}",
    "\u{200b}",
    "\u{2066}",
    "\u{61c}",
    "\u{2028}",
    "\u{85}",
    "\0",
    "\x7f",
    "\n",
    "\r\n",
    "👩",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{1f3fb}",
    "\u{1f3f4}",
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0041}",
    "1",
    "\u{20e3}",
    "e\u{301}",
    "\u{301}",
    "北京",
    "اختبار",
    "a",
    "; ",
];

fn holds_no_control(shown: &str, allowed: &[char]) -> bool {
    shown.chars().all(|c| !c.is_control() || allowed.contains(&c))
}

#[test]
fn nothing_hostile_reaches_the_screen_in_any_form() {
    for raw in HOSTILE {
        for shown in [text(raw), output(raw), approval(raw)] {
            assert!(holds_no_control(&shown, &['\n', '\t']), "{raw:?} became {shown:?}");
        }
        assert!(holds_no_control(&line(raw), &[]), "{raw:?}");
    }
}

#[test]
fn escape_sequences_go_whole_and_what_stands_around_them_stays() {
    assert_eq!(text("before\x1b[2J\x1b[Hafter"), "beforeafter");
    assert_eq!(output("before\x1b[2J\x1b[Hafter"), "beforeafter");
    assert_eq!(output("a\u{9b}31mb"), "ab");
    assert_eq!(output("a\x1b]0;owned\x07b"), "ab");
    assert_eq!(output("a\x1b]52;c;cGF3bmVk\x1b\\b"), "ab");
    assert_eq!(output("a\x1b]8;;http://x\x07link\x1b]8;;\x07b"), "alinkb");
    assert_eq!(output("a\x1bPq#0;1\x1b\\b"), "ab");
    assert_eq!(output("a\u{9d}0;t\u{9c}b"), "ab");
    assert_eq!(output("a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d"), "abcd");
    assert_eq!(output("a\x1b(Bb\x1b=c\x1b7d"), "abcd");
    assert_eq!(output("\x1b[38;2;1;2;3mred\x1b[0m"), "red");
    assert_eq!(output("a\x1b[1 qb"), "ab");
}

#[test]
fn a_sequence_that_never_ends_hides_no_more_than_its_line() {
    assert_eq!(output("a\x1b]0;owned\nrm -rf /"), "a\nrm -rf /");
    assert_eq!(output("a\x1b]0;owned"), "a");
    assert_eq!(output("a\x1b[12;"), "a");
    assert_eq!(output("a\x1b[12;é"), "aé");
    assert_eq!(output("a\x1b"), "a");
    assert_eq!(output("a\x1b]0;x\x1b[31mred"), "ared");
}

#[test]
fn progress_shows_where_it_ended() {
    assert_eq!(output("10%\r20%\r100%\n"), "100%\n");
    assert_eq!(output("downloading 99%\rdone\n"), "doneloading 99%\n");
    assert_eq!(output("downloading 99%\r\x1b[Kdone\n"), "done\n");
    assert_eq!(output("\x1b[2K\x1b[1Gone\x1b[2K\x1b[1Gtwo"), "two");
    assert_eq!(output("abc\x08\x08X"), "aXc");
    assert_eq!(output("N\x08NA\x08AM\x08ME\x08E"), "NAME");
    assert_eq!(output("abc\x1b[1K!"), "   !");
    assert_eq!(output("a\r\nb\r\n"), "a\nb\n");
    assert_eq!(output("a\r\r\nb"), "a\nb");
    assert_eq!(output("12\t34\rX"), "X2      34");
    assert_eq!(output("kept\r"), "kept");
}

#[test]
fn overwriting_half_of_a_wide_character_leaves_no_half() {
    assert_eq!(output("北京\rx"), "x 京");
    assert_eq!(output("北京\x1b[2Gx"), " x京");
    assert_eq!(output("ab北\rxyz"), "xyz ");
    assert_eq!(output("e\u{301}x\rE"), "Ex");
}

#[test]
fn a_move_far_to_the_right_makes_no_huge_line() {
    assert!(output("\x1b[60000Cx").len() < 300);
    assert_eq!(output("a\x1b[3Cb"), "a   b");
}

#[test]
fn what_cannot_be_seen_goes_from_text() {
    assert_eq!(text("a\u{202e}b\u{2066}c\u{200e}d\u{61c}e"), "abcde");
    assert_eq!(text("\u{feff}x\u{ad}y\u{200b}z\u{200d}"), "xyz");
    assert_eq!(text("a\u{2028}b\u{2029}c\u{85}d"), "a\nb\nc\nd");
    assert_eq!(text("a\u{e0041}\u{e0042}b"), "ab");
    assert_eq!(text("a\rb\r\nc"), "a\nb\nc");
}

#[test]
fn real_emoji_keep_what_holds_them_together() {
    for emoji in [
        "👩‍👩‍👧‍👦",
        "🏳️‍🌈",
        "⚙️",
        "⏺",
        "1️⃣",
        "👩🏽‍🚀",
        "❤️‍🔥",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "☎\u{fe0e}",
    ] {
        for shown in [text(emoji), output(emoji), approval(emoji), line(emoji)] {
            assert_eq!(shown, emoji);
        }
        assert_eq!(output(&format!("x\r{emoji}")), emoji, "also on a line that was overwritten");
    }
    assert_eq!(output("xyz\r⚙\u{fe0f}"), "⚙\u{fe0f}z", "its own style takes two columns");
    assert_eq!(text("a\u{200d}b"), "ab");
    assert_eq!(text("a\u{fe0f}"), "a");
    assert_eq!(text("👩\u{200d}x"), "👩x");
    assert_eq!(text("⚙\u{fe0f}\u{fe0f}"), "⚙\u{fe0f}");
    assert_eq!(text("🏴\u{e0041}\u{e007f}"), "🏴", "hidden words are no flag");
}

#[test]
fn letters_of_every_script_stay_as_they_are() {
    for words in
        ["สวัสดีครับ ทดสอบภาษาไทย", "اختبار العربية", "日本語テキスト", "שלום", "naïve e\u{301}", "русский", "\u{600}١٢"]
    {
        for shown in [text(words), output(words), approval(words), line(words)] {
            assert!(matches!(shown, Cow::Borrowed(_)), "{words}");
            assert_eq!(shown, words);
        }
    }
}

#[test]
fn an_approval_spells_out_everything_that_could_hide() {
    assert_eq!(approval("rm \u{202e}txt.exe"), "rm \\u{202e}txt.exe");
    assert_eq!(approval("ls\x1b[2K\r\nrm x"), "ls\\u{1b}[2K\\u{d}\nrm x");
    assert_eq!(approval("a\u{a0}b\u{3000}c\u{200d}d"), "a\\u{a0}b\\u{3000}c\\u{200d}d");
    assert_eq!(approval("\u{9b}31m\u{7f}\0"), "\\u{9b}31m\\u{7f}\\u{0}");
    assert_eq!(approval("\tmake"), "\tmake");
    assert!(matches!(approval("cargo test\n"), Cow::Borrowed(_)));
}

#[test]
fn a_line_is_one_line() {
    assert_eq!(line("one\ntwo\r\nthree\n"), "one↵two↵three");
    assert_eq!(line("a\tb"), "a b");
    assert_eq!(line("evil\x1b]0;t\x07name"), "evilname");
}

#[test]
fn long_lines_take_time_in_proportion() {
    // Not timed: 22 000 characters with a return after each would take minutes if it were quadratic
    // in any of the three, and the test would be noticed.
    let overwritten = "x\r".repeat(22_000) + "y";
    assert_eq!(output(&overwritten), "y");
    let long = "語".repeat(22_000);
    assert_eq!(output(&(long.clone() + "\rx")).chars().count(), 22_001);
    assert_eq!(text(&("\x1b[".repeat(22_000) + "m")), "");
    assert_eq!(output(&long), long.as_str());
}

fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(HOSTILE).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => (0u32..0xA0).prop_filter_map("a character", char::from_u32).prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_comes_in_what_goes_out_is_harmless(raw in hostile_text()) {
        let several = text(&raw);
        prop_assert!(holds_no_control(&several, &['\n', '\t']));
        prop_assert_eq!(text(&several), several.as_ref());

        let printed = output(&raw);
        prop_assert!(holds_no_control(&printed, &['\n', '\t']));
        prop_assert_eq!(output(&printed), printed.as_ref());

        let one = line(&raw);
        prop_assert!(holds_no_control(&one, &[]));
        prop_assert_eq!(line(&one), one.as_ref());

        let asked = approval(&raw);
        prop_assert!(holds_no_control(&asked, &['\n', '\t']));
        prop_assert_eq!(approval(&asked), asked.as_ref());
        for hidden in ['\u{202e}', '\u{200b}', '\u{feff}', '\u{a0}', '\u{2028}', '\u{e0041}'] {
            prop_assert!(!asked.contains(hidden));
        }
    }

    #[test]
    fn plain_text_is_only_borrowed(raw in "[ -~\n\t]{0,200}") {
        prop_assert!(matches!(text(&raw), Cow::Borrowed(_)));
        prop_assert!(matches!(output(&raw), Cow::Borrowed(_)));
        prop_assert!(matches!(approval(&raw), Cow::Borrowed(_)));
    }
}

#[test]
fn a_non_joiner_stays_between_the_letters_it_is_made_for_and_nowhere_else() {
    let persian = "می\u{200c}خواهم";
    assert_eq!((text(persian).as_ref(), output(persian).as_ref(), line(persian).as_ref()), (persian, persian, persian));
    let sinhala = "ශ්\u{200d}රී";
    assert_eq!(text(sinhala), sinhala);
    assert_eq!(text("pay\u{200c}pal \u{200d} می\u{200c}"), "paypal  می");
    assert_eq!(text("می\u{200c}\u{200c}خ"), "میخ", "one, not many");
    assert_eq!(approval(persian), "می\\u{200c}خواهم");
}
