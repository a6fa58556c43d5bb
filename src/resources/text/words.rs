//! Counting words, in any script.

use unicode_segmentation::UnicodeSegmentation;

/// How many words a text has; each ideograph counts as one.
pub fn count(text: &str) -> usize {
    text.unicode_words().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_any_script() {
        assert_eq!(count("It's 3.5 o'clock — really?"), 4);
        assert_eq!(count("北京 hello"), 3);
        assert_eq!(count(" \r\n"), 0);
    }
}
