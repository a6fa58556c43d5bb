//! Everything the command line says: text for people, JSON lines for programs.
//!
//! Standard output carries results only; everything else goes to standard error. Nothing printed
//! can drive a terminal: text is sanitised, and JSON escapes what a terminal would obey. A reader
//! that has gone away ends the program quietly.

use super::fault::Fault;
use super::paths::Environment;
use crate::domain::sanitise;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use unicode_width::UnicodeWidthStr;

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal that wants them.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a stretch of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A heading or a name.
    Strong,
    /// Secondary.
    Dim,
    /// Went well.
    Good,
    /// Needs a look.
    Warn,
    /// Went wrong.
    Bad,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(bool);

impl Paint {
    /// Paints a stretch.
    pub fn paint(self, style: Style, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{}m{text}\x1b[0m", style.code()) } else { text.to_owned() }
    }
}

/// The two streams and how to write to them.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Whether results are JSON lines.
    pub json: bool,
    /// Whether progress is left out.
    pub quiet: bool,
    /// Colours on standard output.
    pub out: Paint,
    /// Colours on standard error.
    pub err: Paint,
    /// Whether standard output is a terminal that can be drawn on.
    pub live: bool,
    /// The width to fit into; unknown where nobody looks.
    pub width: Option<usize>,
}

impl Output {
    /// Looks at the streams and the environment.
    pub fn new(json: bool, quiet: bool, color: ColorWhen, env: &dyn Environment) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let dumb = env.get("TERM").is_none_or(|term| term == "dumb");
        let wanted = |terminal: bool| match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !dumb && env.get("NO_COLOR").is_none(),
        };
        let measured = || rustix::termios::tcgetwinsize(out.as_fd()).ok().map(|size| usize::from(size.ws_col));
        let width = env
            .get("COLUMNS")
            .and_then(|columns| columns.parse().ok())
            .or_else(|| if out.is_terminal() { measured() } else { None })
            .filter(|columns| *columns > 0);
        Self {
            json,
            quiet,
            out: Paint(wanted(out.is_terminal())),
            err: Paint(wanted(err.is_terminal())),
            live: out.is_terminal() && !dumb,
            width,
        }
    }

    /// Prints a line that was already made safe.
    pub fn line(&self, text: &str) -> Result<(), Fault> {
        self.piece(&format!("{text}\n"))
    }

    /// Prints text from outside, made safe, and ends the line.
    pub fn text(&self, text: &str) -> Result<(), Fault> {
        let safe = sanitise::text(text);
        self.piece(&safe)?;
        if safe.ends_with('\n') { Ok(()) } else { self.piece("\n") }
    }

    /// Prints without ending the line.
    pub fn piece(&self, text: &str) -> Result<(), Fault> {
        self.bytes(text.as_bytes())
    }

    /// Prints bytes as they are.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Fault> {
        let mut out = io::stdout().lock();
        written(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// Prints a value as one line of JSON.
    pub fn json(&self, value: &impl Serialize) -> Result<(), Fault> {
        let mut line = json_line(value).map_err(|error| Fault::bug(format!("a value that is no JSON: {error}")))?;
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Tells a person something on standard error, unless they want quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            // Nobody may be listening; the work goes on.
            let _ = writeln!(io::stderr().lock(), "{text}");
        }
    }

    /// Tells a person something that is said even to those who want quiet.
    pub fn warn(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", sanitise::text(text));
    }

    /// Tells a failure.
    pub fn fault(&self, fault: &Fault) {
        if fault.is_closed_pipe() {
            return;
        }
        let mut err = io::stderr().lock();
        let told = if self.json {
            let mut line = json_line(&fault.to_json()).unwrap_or_default();
            line.push(b'\n');
            err.write_all(&line)
        } else {
            let message = sanitise::text(&fault.message);
            let hint = sanitise::text(&fault.hint);
            let mut text = format!("{} {message}\n", self.err.paint(Style::Bad, "error:"));
            if !hint.is_empty() {
                let hint = hint.replace('\n', "\n       ");
                text += &format!("{} {hint}\n", self.err.paint(Style::Dim, " hint:"));
            }
            err.write_all(text.as_bytes())
        };
        let _ = told; // There is nowhere left to say it.
    }

    /// Prints rows below a heading, columns aligned; the last column takes what is left.
    pub fn table(&self, heading: &[&str], rows: &[Vec<String>]) -> Result<(), Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let lines = table(heading, rows, self.width);
        for (number, line) in lines.iter().enumerate() {
            let line = line.trim_end();
            if number == 0 { self.line(&self.out.paint(Style::Dim, line))? } else { self.line(line)? }
        }
        Ok(())
    }

    /// Prints names with their values, one below the other.
    pub fn fields(&self, fields: &[(&str, String)]) -> Result<(), Fault> {
        let widest = fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
            let mut lines = value.lines();
            let pad = " ".repeat(widest - name.width());
            self.line(&format!("{}{pad}  {}", self.out.paint(Style::Dim, name), lines.next().unwrap_or_default()))?;
            for line in lines {
                self.line(&format!("{}  {line}", " ".repeat(widest)))?;
            }
        }
        Ok(())
    }
}

fn written(result: io::Result<()>) -> Result<(), Fault> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Fault::closed_pipe()),
        Err(error) => Err(Fault::new("io", format!("cannot write the output: {error}"), "")),
    }
}

/// Aligns rows; cells are one line each and already safe.
fn table(heading: &[&str], rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let heading: Vec<String> = heading.iter().map(|name| (*name).to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&heading).chain(rows).collect();
    let columns = heading.len();
    let widths: Vec<usize> = (0..columns)
        .map(|column| all.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0))
        .collect();
    all.iter()
        .map(|row| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                if column + 1 == columns {
                    let room = width.map(|width| width.saturating_sub(line.width()).max(8));
                    line += &room.map_or_else(|| cell.clone(), |room| fit(cell, room));
                } else {
                    line += cell;
                    line += &" ".repeat(widths[column] - cell.width() + 2);
                }
            }
            line
        })
        .collect()
}

/// Shortens a line to a width, with a mark where something was left out.
pub fn fit(text: &str, width: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let wide = cluster.width();
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        out.push_str(cluster);
    }
    out.push('…');
    out
}

/// Writes JSON in which everything a terminal would obey is escaped; the value stays the same.
fn json_line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut line, SafeFormatter))?;
    Ok(line)
}

struct SafeFormatter;

impl serde_json::ser::Formatter for SafeFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(obeyed) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut after = rest[at..].chars();
            if let Some(c) = after.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = after.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Whether a terminal acts on a character that JSON leaves as it is: DEL, C1 controls, and marks
/// that reorder or hide text.
fn obeyed(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_also_with_wide_characters_and_fits_its_width() {
        let rows = vec![
            vec!["t_1".into(), "active".into(), "日本語テキスト and more".into()],
            vec!["t_22222".into(), "completed".into(), "short".into()],
        ];
        insta::assert_snapshot!(table(&["id", "state", "title"], &rows, None).join("\n"), @r"
        id       state      title
        t_1      active     日本語テキスト and more
        t_22222  completed  short
        ");
        let narrow = table(&["id", "state", "title"], &rows, Some(32));
        assert!(narrow.iter().all(|line| line.width() <= 32), "{narrow:?}");
        assert!(narrow[1].ends_with('…'));
    }

    #[test]
    fn json_holds_the_same_value_and_nothing_a_terminal_obeys() {
        let hostile = "a\x1b[2J\u{9b}31m\u{202e}b\u{7f}\u{200d}é日\n";
        let line = json_line(&serde_json::json!({ "text": hostile })).expect("JSON");
        let shown = String::from_utf8(line.clone()).expect("UTF-8");
        assert!(!shown.chars().any(|c| c.is_control() || obeyed(c)), "{shown}");
        assert!(shown.contains("é日"));
        let back: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
        assert_eq!(back["text"], hostile);
    }

    #[test]
    fn a_shortened_line_never_splits_a_cluster() {
        assert_eq!(fit("👩‍👩‍👧‍👦 family", 4), "👩‍👩‍👧‍👦 …");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 3), "abc");
    }

    #[test]
    fn without_a_terminal_there_are_no_colours_unless_they_are_wanted() {
        assert_eq!(Paint(false).paint(Style::Bad, "x"), "x");
        assert_eq!(Paint(true).paint(Style::Bad, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(Paint(true).paint(Style::Bad, ""), "");
    }
}
