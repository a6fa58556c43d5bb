//! Looking through a text for what is broken or odd: links, footnotes, headings, line ends.

use super::decode::BOM;
use super::markdown::{self, Scan};
use super::outline::title_at;
use super::syntax::Syntax;
use super::{Ground, PART};
use crate::resources::adapter::{Existence, Finding, Lookup, Place, Severity};
use crate::resources::diff::cut;
use crate::resources::lines;
use std::collections::{HashMap, HashSet};

/// How many findings are told; the rest is counted.
const LIMIT: usize = 200;

/// Looks through a text; `lookup` tells whether a relative file is there.
pub fn inspect(ground: &Ground<'_>, syntax: Syntax, lookup: Lookup<'_>) -> Vec<Finding> {
    let mut found = Found { ground, findings: Vec::new() };
    if syntax == Syntax::Markdown {
        let scan = markdown::scan(ground.text);
        found.headings(&scan);
        found.links(&scan, lookup);
        found.footnotes(&scan);
    }
    found.leftovers();
    found.line_ends();
    let mut findings = found.findings;
    findings.sort_by_key(|finding| finding.place.lines.map_or(0, |(line, _)| line));
    if findings.len() > LIMIT {
        let more = findings.len() - LIMIT;
        findings.truncate(LIMIT);
        findings.push(Finding {
            severity: Severity::Note,
            code: "more".into(),
            message: format!("{more} more findings"),
            place: Place { part: PART.into(), unit: String::new(), lines: None, hash: String::new() },
        });
    }
    findings
}

struct Found<'a> {
    ground: &'a Ground<'a>,
    findings: Vec<Finding>,
}

impl Found<'_> {
    fn push(&mut self, severity: Severity, code: &str, line: usize, message: String) {
        let unit = title_at(self.ground.sections(), line);
        let place = Place { part: PART.into(), unit, lines: Some((line + 1, line + 1)), hash: String::new() };
        self.findings.push(Finding { severity, code: code.into(), message, place });
    }

    fn headings(&mut self, scan: &Scan) {
        let mut last = 0;
        for heading in &scan.headings {
            if last > 0 && heading.level > last + 1 {
                let message = format!("{:?} jumps from level {last} to {}", heading.title, heading.level);
                self.push(Severity::Warning, "heading_jump", heading.lines.start, message);
            }
            if heading.title.is_empty() {
                self.push(Severity::Warning, "empty_heading", heading.lines.start, "a heading without words".into());
            }
            last = heading.level;
        }
        let mut seen: HashMap<&[String], usize> = HashMap::new();
        let sections = self.ground.sections();
        let mut twice = Vec::new();
        for section in sections {
            match seen.get(section.path.as_slice()) {
                Some(first) => twice.push((section.lines.start, section.title(), *first)),
                None => {
                    seen.insert(&section.path, section.lines.start);
                }
            }
        }
        for (line, title, first) in twice {
            let message = format!("the heading {title:?} is also at line {}", first + 1);
            self.push(Severity::Warning, "duplicate_heading", line, message);
        }
    }

    fn links(&mut self, scan: &Scan, lookup: Lookup<'_>) {
        let mut anchors: HashSet<String> = HashSet::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for heading in &scan.headings {
            let slug = markdown::slug(&heading.title);
            let count = counts.entry(slug.clone()).or_default();
            anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
            *count += 1;
        }
        let mut known: HashMap<String, Existence> = HashMap::new();
        for link in &scan.links {
            let target = link.target.as_str();
            if let Some(anchor) = target.strip_prefix('#') {
                let anchor = unescape(anchor).to_lowercase();
                let written = self.ground.text.contains(&format!("id=\"{anchor}\""))
                    || self.ground.text.contains(&format!("name=\"{anchor}\""));
                if !anchor.is_empty() && !anchors.contains(&anchor) && !written {
                    let message = format!("no heading has the anchor `#{anchor}`");
                    self.push(Severity::Error, "dead_anchor", link.line, message);
                }
                continue;
            }
            if target.is_empty() {
                self.push(Severity::Warning, "empty_link", link.line, "a link that leads nowhere".into());
                continue;
            }
            if target.starts_with('/') || target.starts_with('<') || has_scheme(target) {
                continue;
            }
            let path = unescape(target.split(['#', '?']).next().unwrap_or(target));
            let existence = *known.entry(path.clone()).or_insert_with(|| lookup(&path));
            if existence == Existence::Absent {
                self.push(Severity::Error, "dead_link", link.line, format!("there is no file `{path}`"));
            }
        }
        for (label, line) in &scan.undefined {
            let message = match label.strip_prefix('^') {
                Some(note) => format!("the footnote [^{note}] is nowhere defined"),
                None => format!("the reference [{label}] is nowhere defined"),
            };
            self.push(Severity::Error, "undefined_reference", *line, message);
        }
    }

    fn footnotes(&mut self, scan: &Scan) {
        let mut seen: HashSet<&str> = HashSet::new();
        let referred: HashSet<&str> = scan.referred.iter().map(String::as_str).collect();
        for (label, line) in &scan.footnotes {
            if !seen.insert(label) {
                self.push(
                    Severity::Warning,
                    "duplicate_footnote",
                    *line,
                    format!("the footnote [^{label}] is defined twice"),
                );
            } else if !referred.contains(label.as_str()) {
                self.push(
                    Severity::Warning,
                    "unused_footnote",
                    *line,
                    format!("nothing refers to the footnote [^{label}]"),
                );
            }
        }
    }

    /// Marks of an unfinished merge.
    fn leftovers(&mut self) {
        for number in 0..self.ground.index.count() {
            let line = &self.ground.text[self.ground.index.bytes(number..number + 1)];
            if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
                let message = format!("a mark of an unfinished merge: {}", cut(lines::body(line), 60));
                self.push(Severity::Error, "merge_mark", number, message);
            }
        }
    }

    fn line_ends(&mut self) {
        let text = self.ground.text;
        if text.starts_with(BOM) {
            self.push(Severity::Note, "byte_order_mark", 0, "the text begins with a byte order mark".into());
        }
        let crlf = text.matches("\r\n").count();
        let all = text.bytes().filter(|byte| *byte == b'\n').count();
        if crlf > 0 && crlf < all {
            let message = format!("{crlf} lines end with CRLF and {} with LF", all - crlf);
            self.push(Severity::Note, "mixed_line_ends", 0, message);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            let last = self.ground.index.count().saturating_sub(1);
            self.push(Severity::Note, "no_final_newline", last, "the last line has no end".into());
        }
    }
}

fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A reference with `%20` and the like written out.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |digit: Option<&u8>| digit.and_then(|digit| (*digit as char).to_digit(16));
        match (bytes[at], hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::text::ground;

    fn codes(text: &str, syntax: Syntax) -> Vec<(String, usize)> {
        let lookup =
            |path: &str| if path == "there.md" || path == "a b.png" { Existence::Present } else { Existence::Absent };
        let ground = ground(text, syntax);
        let line = |finding: &Finding| finding.place.lines.map_or(0, |(line, _)| line);
        inspect(&ground, syntax, &lookup).into_iter().map(|finding| (finding.code.clone(), line(&finding))).collect()
    }

    #[test]
    fn what_is_broken_is_found_with_its_line_and_what_is_sound_is_not() {
        let text = "# A\n\n### Jump\n\n[x](#a) [y](#nowhere) [z](there.md#q) [w](gone.md) ![p](a%20b.png)\n\n[m](mailto:a@b.c) [h](https://x.y) [r][none] [^1] [^9]\n\n# A\n\n[^1]: note\n[^2]: alone\n\n- [ ] task [brackets]\n";
        let found = codes(text, Syntax::Markdown);
        let expected = [
            ("heading_jump", 3),
            ("dead_anchor", 5),
            ("dead_link", 5),
            ("undefined_reference", 7),
            ("undefined_reference", 7),
            ("duplicate_heading", 9),
            ("unused_footnote", 12),
        ];
        assert_eq!(found, expected.map(|(code, line)| (code.to_owned(), line)));
    }

    #[test]
    fn odd_line_ends_and_merge_marks_are_found_in_any_text() {
        let text = "\u{feff}a\r\n<<<<<<< mine\nb";
        let found: Vec<_> = codes(text, Syntax::Plain).into_iter().map(|(code, _)| code).collect();
        assert_eq!(found, ["byte_order_mark", "mixed_line_ends", "merge_mark", "no_final_newline"]);
    }
}
