//! What a change changes, as a unified diff that a person can judge and a model can check.

use similar::TextDiff;
use std::time::Duration;

/// Contents larger than this are not compared, in bytes.
const MOST_COMPARED: usize = 1_000_000;

/// How long comparing may take; what comes of it then is rougher, never wrong.
const PATIENCE: Duration = Duration::from_millis(300);

/// Compares two contents, in at most about `limit` bytes, cut at a line border.
pub(super) fn unified(before: &[u8], after: &[u8], limit: usize) -> String {
    if before.len().max(after.len()) > MOST_COMPARED {
        return format!("(too large to compare: {} bytes before, {} after)\n", before.len(), after.len());
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before.as_ref(), after.as_ref());
    let whole = diff.unified_diff().context_radius(3).to_string();
    if whole.len() <= limit {
        return whole;
    }
    let cut = whole[..whole.floor_char_boundary(limit)].rfind('\n').map_or(0, |end| end + 1);
    let left = whole[cut..].lines().count();
    format!("{}(… {left} more lines of the diff)\n", &whole[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings_and_bounded() {
        let shown = unified(b"a\nb\nc\n", b"a\nB\nc", 1000);
        assert_eq!(shown, "@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n");
        let many = "x\n".repeat(100);
        let shown = unified(b"", many.as_bytes(), 50);
        assert!(shown.len() < 100 && shown.ends_with(" more lines of the diff)\n"), "{shown}");
        assert!(unified(&[b'a'; 2_000_000], b"", 10).contains("too large to compare"));
    }
}
