//! Reads what tools answer, and shows parts of it.

/// How the line begins that stands where the middle of a long answer was left out.
const LEFT_OUT: &str = "[… ";

/// Whether the middle of an answer was left out.
pub(super) fn is_cut(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(LEFT_OUT))
}

/// Lines of a file as `read` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// The number of the first line.
    pub(super) first: u64,
    pub(super) lines: Vec<String>,
    /// Where to read on, if the file goes on.
    pub(super) next: Option<u64>,
    /// What else was said, such as of line ends.
    pub(super) notes: Vec<String>,
}

impl Page {
    /// Reads the answer of `read`; `None` if it is no text of a file.
    pub(super) fn parse(text: &str) -> Option<Page> {
        let mut page = Page { first: 0, lines: Vec::new(), next: None, notes: Vec::new() };
        for line in text.lines() {
            match line.split_once('\t').and_then(|(number, line)| Some((number.parse::<u64>().ok()?, line))) {
                Some((number, line)) => {
                    if page.lines.is_empty() {
                        page.first = number;
                    }
                    page.lines.push(line.to_owned());
                }
                None => {
                    let notes = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))?;
                    for note in notes.split("; ") {
                        match note.strip_prefix("more follows: offset ") {
                            Some(next) => page.next = next.parse().ok(),
                            None => page.notes.push(note.to_owned()),
                        }
                    }
                }
            }
        }
        (!page.lines.is_empty()).then_some(page)
    }
}

/// One entry of a folder as `list` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder(String),
    File(String, u64),
    Link(String),
}

/// Reads the answer of `list`: the entries, and what else was said.
pub(super) fn entries(text: &str) -> (Vec<Entry>, Vec<&str>) {
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if line.starts_with('[') && line.ends_with(']') {
            notes.push(line.trim_matches(['[', ']']));
        } else if let Some((name, _)) = line.split_once(" -> ") {
            entries.push(Entry::Link(name.to_owned()));
        } else if let Some(name) = line.strip_suffix('/') {
            entries.push(Entry::Folder(name.to_owned()));
        } else if let Some((name, size)) = line.rsplit_once(' ')
            && let Ok(size) = size.parse()
        {
            entries.push(Entry::File(name.to_owned(), size));
        }
    }
    (entries, notes)
}

/// Reads the answer of `glob`: the files, and whether there are more.
pub(super) fn files(text: &str) -> (Vec<&str>, bool) {
    let more = text.lines().any(|line| line.starts_with("[more than ") || line.starts_with(LEFT_OUT));
    let none = text.starts_with("no file below ");
    (text.lines().filter(|line| !none && !line.starts_with('[') && !line.is_empty()).collect(), more)
}

/// What `grep` found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hits<'a> {
    /// File, line number and line.
    pub(super) lines: Vec<(&'a str, u64, &'a str)>,
    pub(super) files: usize,
    /// There are more than these.
    pub(super) more: bool,
}

/// Reads the answer of `grep`; `None` if it is none.
pub(super) fn hits(text: &str) -> Option<Hits<'_>> {
    let mut hits = Hits::default();
    if text.starts_with("nothing matches ") {
        return Some(hits);
    }
    let mut file = "";
    for line in text.lines() {
        let numbered = line.split_once(':').and_then(|(number, line)| Some((number.parse::<u64>().ok()?, line)));
        match numbered {
            Some((number, line)) if !file.is_empty() => hits.lines.push((file, number, line)),
            _ if line.starts_with("[stopped after ") || line.starts_with(LEFT_OUT) => hits.more = true,
            _ if line.starts_with('[') || line.is_empty() => {}
            _ => {
                file = line;
                hits.files += 1;
            }
        }
    }
    (!hits.lines.is_empty()).then_some(hits)
}

/// Text in a fence that it can't close.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// A name or a word in the midst of a sentence.
pub(super) fn code(text: &str) -> String {
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

/// The first lines of a text, with a word on what is left out.
pub(super) fn first_lines(text: &str, most: usize) -> String {
    let count = text.lines().count();
    if count <= most {
        return text.to_owned();
    }
    let shown: Vec<&str> = text.lines().take(most).collect();
    format!("{}\n… {} more lines, in the tool's result", shown.join("\n"), count - most)
}

/// A number with its noun: "1 file", "2 files", "1 match", "3 matches".
pub(super) fn counted(count: usize, noun: &str) -> String {
    let end = match (count, noun.ends_with(['h', 's']), noun.ends_with("ry")) {
        (1, _, _) => return format!("1 {noun}"),
        (_, true, _) => return format!("{count} {noun}es"),
        (_, _, true) => return format!("{count} {}ies", noun.trim_end_matches('y')),
        (_, false, false) => "s",
    };
    format!("{count} {noun}{end}")
}

/// A size for people.
pub(super) fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} B"),
        1_000..1_000_000 => format!("{:.1} kB", size as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size as f64 / 1e6),
        _ => format!("{:.1} GB", size as f64 / 1e9),
    }
}

/// The language of a file, for a fence.
pub(super) fn language(path: &str) -> &str {
    match path.rsplit('/').next().and_then(|name| name.rsplit_once('.')) {
        Some((_, end)) if end.len() <= 5 && end.chars().all(|c| c.is_ascii_alphanumeric()) => end,
        _ => "",
    }
}
