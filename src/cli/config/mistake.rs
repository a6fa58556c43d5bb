//! A mistake in a configuration file, shown at its place: file, line, column, the line itself,
//! and what would be right.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The text of a configuration file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Something in a configuration file that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The line itself.
    pub excerpt: String,
    /// How many characters of it are meant.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub allowed: String,
}

impl Source {
    /// Makes a source.
    pub fn new(path: &Path, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }

    /// The line a byte is on, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.text.as_bytes()[..byte.min(self.text.len())].iter().filter(|b| **b == b'\n').count() + 1
    }

    /// Describes a mistake at some bytes.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        let start = floor(&self.text, span.start);
        let from = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        let end = floor(&self.text, span.end).clamp(start, to);
        Mistake {
            path: self.path.clone(),
            line: self.line(start),
            column: self.text[from..start].chars().count() + 1,
            excerpt: masked(self.text[from..to].trim_end_matches('\r')),
            width: self.text[start..end].chars().count().max(1),
            message: message.into(),
            allowed: allowed.into(),
        }
    }
}

/// Puts dots over every quoted text of a line that may hold a key.
fn masked(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let names = ["key", "token", "secret", "password", "authorization", "cookie", "headers"];
    if !names.iter().any(|name| lower.contains(name)) || lower.contains("key_env") || lower.contains("key_file") {
        return line.to_owned();
    }
    let mut quote = None;
    let mut value = false;
    line.chars()
        .map(|c| match (quote, c) {
            (None, '=') => {
                value = true;
                c
            }
            (None, '"' | '\'') if value => {
                quote = Some(c);
                c
            }
            (None, _) => c,
            (Some(open), _) if open == c => {
                quote = None;
                c
            }
            (Some(_), _) => '•',
        })
        .collect()
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let before: String =
            self.excerpt.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        writeln!(f, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)?;
        writeln!(f, "  {number} | {}", self.excerpt)?;
        write!(f, "  {} | {before}{}", " ".repeat(number.len()), "^".repeat(self.width))
    }
}

/// Finds the word that was probably meant.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters must be added, removed, changed or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = (0..=a.len()).map(|i| (i..=i + b.len()).collect()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_points_at_its_characters_also_after_wide_ones() {
        let source = Source::new(Path::new("/c.toml"), "a = 1\nnäme = \"x\" # é\n");
        let at = source.text.find("\"x\"").expect("there");
        insta::assert_snapshot!(source.mistake(at..at + 3, "wrong", ""), @r#"
        /c.toml:2:8: wrong
          2 | näme = "x" # é
            |        ^^^
        "#);
    }

    #[test]
    fn a_mistake_at_the_end_of_the_text_has_a_place() {
        let source = Source::new(Path::new("/c.toml"), "[a");
        let shown = source.mistake(2..9, "unclosed", "").to_string();
        assert!(shown.starts_with("/c.toml:1:3: unclosed"), "{shown}");
        assert!(Source::new(Path::new("/c"), "").mistake(0..0, "x", "").to_string().contains(":1:1:"));
    }

    #[test]
    fn a_line_that_may_hold_a_key_is_shown_with_dots() {
        assert_eq!(masked(r#"key = "sk-1" # oops"#), r#"key = "••••" # oops"#);
        assert_eq!(masked(r#"headers = { "x-key" = 'abc' }"#), r#"headers = { "•••••" = '•••' }"#);
        assert_eq!(masked(r#"key_env = "A B""#), r#"key_env = "A B""#);
        assert_eq!(masked(r#"policy = "full""#), r#"policy = "full""#);
        assert_eq!(masked(r#"api_token = "unclosed"#), r#"api_token = "••••••••"#);
    }

    #[test]
    fn the_nearest_word_is_one_that_could_have_been_meant() {
        let known = ["model", "models", "providers", "limits", "policy"];
        assert_eq!(nearest("modle", &known), Some("model"));
        assert_eq!(nearest("provider", &known), Some("providers"));
        assert_eq!(nearest("polciy", &known), Some("policy"));
        assert_eq!(nearest("theme", &known), None);
    }
}
