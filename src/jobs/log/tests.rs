//! Logs as they are read.

use super::*;
use crate::jobs::spec::LogLimits;
use proptest::prelude::*;

fn write(folder: &Path, keep_bytes: u64, pieces: &[(&[u8], i64)]) {
    let mut log = Writer::create(folder, Stream::Output, LogLimits { keep_bytes }, 1_000).expect("begun");
    for (bytes, at) in pieces {
        log.append(bytes, *at);
    }
    log.finish(i64::MAX);
}

fn open(folder: &Path) -> Log {
    Log::open(folder, Stream::Output).expect("opened")
}

fn whole(folder: &Path) -> Vec<u8> {
    let log = open(folder);
    let mut bytes = vec![0; (log.end() - log.start()) as usize];
    assert_eq!(log.read_all(log.start(), &mut bytes).expect("read"), bytes.len());
    bytes
}

fn lines(log: Log, from: u64) -> Vec<String> {
    let text = |line: io::Result<Line>| match line.expect("read") {
        Line::Text { bytes, .. } => String::from_utf8_lossy(&bytes).into_owned(),
        Line::Gap(gap) => format!("[{gap}]"),
    };
    Lines::new(log, from).map(text).collect()
}

use std::io;

#[test]
fn every_byte_is_kept_as_it_came() {
    let scratch = tempfile::tempdir().expect("a folder");
    let all: Vec<u8> = (0..=255).collect();
    write(scratch.path(), 1 << 20, &[(&all, 2_000), (b"\xc3", 3_000), (b"\xa9\x1b[31mno end", 4_000)]);
    let mut expected = all.clone();
    expected.extend_from_slice("é\x1b[31mno end".as_bytes());
    assert_eq!(whole(scratch.path()), expected);
}

#[test]
fn the_last_lines_are_found_across_files_and_without_a_break_at_the_end() {
    let scratch = tempfile::tempdir().expect("a folder");
    let text: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    let pieces: Vec<(&[u8], i64)> =
        text.as_bytes().chunks(777).enumerate().map(|(at, piece)| (piece, 1_000 + at as i64 * 300)).collect();
    write(scratch.path(), 160 * 1024, &pieces);
    let log = open(scratch.path());
    for count in [1, 3, 1_000, 4_999] {
        let from = log.tail(count, u64::MAX).expect("found");
        let expected: Vec<String> = (5_000 - count..5_000).map(|number| format!("line {number}")).collect();
        assert_eq!(lines(open(scratch.path()), from), expected, "{count}");
    }
    assert_eq!(log.tail(1, 3).expect("found"), log.end() - 3, "bounded by bytes");
    assert_eq!(log.tail(0, u64::MAX).expect("found"), log.end());
    let scratch = tempfile::tempdir().expect("a folder");
    write(scratch.path(), 1 << 20, &[(b"a\nb\nc", 2_000)]);
    let log = open(scratch.path());
    assert_eq!([log.tail(1, 99), log.tail(2, 99), log.tail(9, 99)].map(|at| at.expect("found")), [4, 2, 0]);
}

#[test]
fn a_time_leads_to_its_place_and_a_place_to_its_time() {
    let scratch = tempfile::tempdir().expect("a folder");
    write(scratch.path(), 1 << 20, &[(b"one\n", 10_000), (b"two\n", 20_000), (b"2.1\n", 20_100), (b"three\n", 30_000)]);
    let log = open(scratch.path());
    assert_eq!([log.offset_at(500), log.offset_at(5_000), log.offset_at(10_000)], [0, 0, 0]);
    assert_eq!([log.offset_at(10_001), log.offset_at(20_000), log.offset_at(20_001)], [0, 4, 4]);
    assert_eq!([log.offset_at(20_250), log.offset_at(30_000), log.offset_at(40_000)], [12, 12, 18]);
    let times: Vec<_> = Lines::new(open(scratch.path()), 0)
        .map(|line| match line.expect("read") {
            Line::Text { at, .. } => at,
            Line::Gap(gap) => panic!("{gap}"),
        })
        .collect();
    assert_eq!(times, [Some(10_000), Some(20_000), Some(20_000), Some(30_000)]);
}

#[test]
fn a_clock_that_is_set_back_does_not_disturb_the_index() {
    let scratch = tempfile::tempdir().expect("a folder");
    write(scratch.path(), 1 << 20, &[(b"one\n", 10_000), (b"two\n", 5_000), (b"three\n", 20_000)]);
    let log = open(scratch.path());
    assert_eq!([log.time_of(0), log.time_of(4), log.time_of(8)], [Some(10_000), Some(10_000), Some(20_000)]);
}

#[test]
fn following_goes_on_where_the_log_ended_and_across_files() {
    let scratch = tempfile::tempdir().expect("a folder");
    let limits = LogLimits { keep_bytes: 1 << 20 };
    let mut log = Writer::create(scratch.path(), Stream::Output, limits, 1_000).expect("begun");
    let (tell, told) = std::sync::mpsc::channel();
    let mut watcher = Watcher::new(move |_| tell.send(()).unwrap_or_default()).expect("watches");
    watcher.watch(scratch.path()).expect("watched");
    let mut cursor = Cursor::new(open(scratch.path()), 0);
    let mut buffer = Vec::new();
    let mut followed = Vec::new();
    let piece = [b'x'; 50_000];
    for round in 1..=10_i64 {
        log.append(&piece, round * 1_000);
        while followed.len() < round as usize * piece.len() {
            match cursor.next(&mut buffer).expect("read") {
                Some(Piece::Bytes { .. }) => followed.extend_from_slice(&buffer),
                Some(Piece::Gap(gap)) => panic!("{gap}"),
                None => told.recv_timeout(std::time::Duration::from_secs(10)).expect("told"),
            }
        }
        assert!(cursor.next(&mut buffer).expect("read").is_none());
    }
    assert!(scratch.path().join("output.4.log").exists(), "several files");
}

#[test]
fn a_search_gives_lines_with_place_and_time() {
    let scratch = tempfile::tempdir().expect("a folder");
    let pieces: Vec<(String, i64)> = (0..1_000)
        .map(|number| (format!("step {number} Loss {}\n", number * 7 % 100), 1_000 + number * 1_000))
        .collect();
    let pieces: Vec<(&[u8], i64)> = pieces.iter().map(|(text, at)| (text.as_bytes(), *at)).collect();
    write(scratch.path(), 1 << 20, &pieces);
    let find = |pattern| {
        let log = open(scratch.path());
        let range = 0..log.end();
        Search::new(log, pattern, range).expect("a pattern").map(|hit| hit.expect("read")).collect::<Vec<_>>()
    };
    let hits = find(Pattern::Literal("step 500 "));
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].text.as_slice(), hits[0].at), (&b"step 500 Loss 0"[..], Some(501_000)));
    assert_eq!(&hits[0].text[hits[0].matched.clone()], b"step 500 ");
    assert_eq!(find(Pattern::Regex(r"loss 9\d$")).len(), 100, "small letters match capitals");
    assert_eq!(find(Pattern::Regex(r"LOSS")).len(), 0);
    assert_eq!(find(Pattern::Literal("Loss .*")).len(), 0);
    assert_eq!(find(Pattern::Regex(r"\s\d")).len(), 1_000, "a match stays in its line");
    let log = open(scratch.path());
    assert!(Search::new(log, Pattern::Regex("("), 0..1).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_search_finds_what_a_walk_through_the_lines_finds(
        text in "[ab\n]{0,4000}",
        chunk in 1..5_000_usize,
        from in 0..4_000_u64,
    ) {
        let scratch = tempfile::tempdir().expect("a folder");
        let pieces: Vec<(&[u8], i64)> =
            text.as_bytes().chunks(chunk).enumerate().map(|(at, piece)| (piece, 1_000 + at as i64 * 300)).collect();
        write(scratch.path(), 64 * 1024, &pieces);
        prop_assert_eq!(whole(scratch.path()), text.as_bytes());
        let from = from.min(text.len() as u64);
        let hits: Vec<_> = Search::new(open(scratch.path()), Pattern::Literal("aba"), from..u64::MAX)
            .expect("a pattern")
            .map(|hit| hit.expect("read").text)
            .collect();
        let expected: Vec<_> =
            text[from as usize..].split('\n').filter(|line| line.contains("aba")).map(|l| l.as_bytes().to_vec()).collect();
        prop_assert_eq!(hits, expected);
    }
}

#[test]
fn a_huge_line_is_searched_and_given_in_pieces() {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut text = vec![b'.'; 9 * 1024 * 1024];
    text[7_000_000..7_000_006].copy_from_slice(b"needle");
    write(scratch.path(), 1 << 30, &[(&text, 2_000)]);
    let log = open(scratch.path());
    let range = 0..log.end();
    let hits: Vec<_> =
        Search::new(log, Pattern::Literal("needle"), range).expect("a pattern").map(|hit| hit.expect("read")).collect();
    assert_eq!(hits.iter().map(|hit| hit.offset).collect::<Vec<_>>(), [7_000_000]);
    assert!(hits[0].text.len() <= 4096);
    assert_eq!(&hits[0].text[hits[0].matched.clone()], b"needle");
    let pieces: Vec<usize> = Lines::new(open(scratch.path()), 0)
        .map(|line| match line.expect("read") {
            Line::Text { bytes, .. } => bytes.len(),
            Line::Gap(gap) => panic!("{gap}"),
        })
        .collect();
    assert_eq!(pieces.iter().sum::<usize>(), text.len());
    assert!(pieces.iter().all(|len| *len <= 2 * 1024 * 1024), "{pieces:?}");
}

#[test]
fn what_is_shown_does_not_drive_the_terminal_and_progress_is_as_it_ended() {
    assert_eq!(shown(b"10%\r20%\r100%\n"), "100%\n");
    assert_eq!(shown(b"before\x1b[2J\x1b[Hafter\x1b]52;c;cGF3bmVk\x07\n"), "beforeafter\n");
    assert_eq!(shown(b"caf\xe9\n"), "caf\u{fffd}\n");
}
