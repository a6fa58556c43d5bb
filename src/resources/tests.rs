//! Cases that cross the files of this room, and texts for the tests of all.

/// A text of so many lines that depends on a seed alone.
pub(super) fn prose(seed: u64, lines: usize) -> String {
    let mut state = seed | 1;
    let mut out = String::new();
    for _ in 0..lines {
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = ["lorem ", "ipsum ", "dolor ", "北京 ", "sit ", "amet ", "erat ", "no "][(state >> 61) as usize];
            out.push_str(word);
        }
        out.push_str(&format!("{}\n", state >> 40));
    }
    out
}
