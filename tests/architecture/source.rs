//! Reads a Rust source as far as a wall needs it: the paths it names, where each leads, and which
//! of its lines are tests.

/// One source file.
pub struct Source {
    /// Its modules from the root of the crate, such as `["agent", "tools", "read"]`.
    modules: Vec<String>,
    tokens: Vec<Token>,
    lines: usize,
}

/// A path as it was named: `crate`, `self` and `super` resolved, so that it starts with a room or
/// with another library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// From the root of the crate, or a path that starts elsewhere.
    pub origin: Origin,
    /// Its names.
    pub names: Vec<String>,
    /// The line it stands in, from 1.
    pub line: usize,
    /// Whether it stands in a test.
    pub in_test: bool,
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// At the root of our crate.
    Crate,
    /// At a name in scope: another library, or something that was imported.
    Scope,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    line: usize,
    in_test: bool,
}

impl Source {
    /// Reads `text`, the file `path` under `src/`, such as `agent/tools/read.rs`.
    pub fn read(path: &str, text: &str) -> Self {
        let mut modules: Vec<String> = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(modules.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            modules.pop();
        }
        let mut tokens = tokens(text);
        let is_test_file = modules.last().is_some_and(|last| last == "tests");
        mark_tests(&mut tokens, is_test_file);
        Self { modules, tokens, lines: text.lines().count() }
    }

    /// The room the file is in; the root of the crate is none.
    pub fn room(&self) -> Option<&str> {
        self.modules.first().map(String::as_str)
    }

    /// How many lines the file has that are not tests.
    pub fn production_lines(&self) -> usize {
        let mut tests = std::collections::BTreeSet::new();
        for pair in self.tokens.windows(2) {
            if pair[0].in_test && pair[1].in_test {
                tests.extend(pair[0].line..=pair[1].line);
            }
        }
        self.lines - tests.len()
    }

    /// The lines in which production code calls this method.
    pub fn calls_of(&self, method: &str) -> Vec<usize> {
        self.tokens
            .windows(3)
            .filter(|window| {
                window[0].text == "." && window[1].text == method && window[2].text == "(" && !window[0].in_test
            })
            .map(|window| window[1].line)
            .collect()
    }

    /// Every path the file names.
    pub fn paths(&self) -> Vec<Named> {
        let mut found = Vec::new();
        let mut inner: Vec<(String, usize)> = Vec::new();
        let mut depth = 0;
        let mut at = 0;
        while at < self.tokens.len() {
            match self.text(at) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inner.last().is_some_and(|(_, opened)| *opened == depth) {
                        inner.pop();
                    }
                }
                "mod" if self.text(at + 2) == "{" => {
                    inner.push((self.text(at + 1).to_owned(), depth));
                    depth += 1;
                    at += 2;
                }
                _ if self.starts_path(at) => {
                    let modules: Vec<&str> =
                        self.modules.iter().chain(inner.iter().map(|(name, _)| name)).map(String::as_str).collect();
                    let is_use = at > 0 && self.text(at - 1) == "use";
                    at = self.path(at, Vec::new(), &mut |names: &[String], token: &Token| {
                        if names.len() > 1 || is_use {
                            found.push(resolve(&modules, names, token));
                        }
                    });
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// Whether a path starts at this token, rather than going on or being no path at all.
    fn starts_path(&self, at: usize) -> bool {
        let goes_on =
            at > 0 && self.text(at - 1) == "::" && at > 1 && (is_name(self.text(at - 2)) || self.text(at - 2) == ">");
        is_name(self.text(at)) && !goes_on
    }

    /// Follows the path or tree of paths at a token, gives each to `take`, and says where it ends.
    fn path(&self, mut at: usize, mut names: Vec<String>, take: &mut impl FnMut(&[String], &Token)) -> usize {
        let start = at;
        loop {
            match self.text(at) {
                "{" => {
                    at += 1;
                    while !matches!(self.text(at), "}" | "") {
                        at = if self.text(at) == "," { at + 1 } else { self.path(at, names.clone(), take) };
                    }
                    return at + 1;
                }
                "*" => {
                    take(&names, &self.tokens[start]);
                    return at + 1;
                }
                // `store::{self, Store}`: the tree itself.
                "self" if !names.is_empty() => {}
                name if is_name(name) => names.push(name.to_owned()),
                _ => {
                    take(&names, &self.tokens[start]);
                    return at.max(start + 1);
                }
            }
            at += 1;
            let goes_on =
                self.text(at) == "::" && (is_name(self.text(at + 1)) || matches!(self.text(at + 1), "{" | "*"));
            if !goes_on {
                take(&names, &self.tokens[start]);
                if self.text(at) == "as" && is_name(self.text(at + 1)) {
                    at += 2;
                }
                return at;
            }
            at += 1;
        }
    }
}

/// Leads a path that starts with `crate`, `self` or `super` back to the root of the crate.
fn resolve(modules: &[&str], names: &[String], token: &Token) -> Named {
    let mut here: Vec<&str> = Vec::new();
    let mut origin = Origin::Scope;
    let mut rest = names;
    while let Some((first, after)) = rest.split_first() {
        match (first.as_str(), origin) {
            ("crate", Origin::Scope) => origin = Origin::Crate,
            ("coworkos", Origin::Scope) => origin = Origin::Crate,
            ("self", Origin::Scope) => {
                here = modules.to_vec();
                origin = Origin::Crate;
            }
            ("super", Origin::Scope) => {
                here = modules.to_vec();
                here.pop();
                origin = Origin::Crate;
            }
            ("super", Origin::Crate) => {
                here.pop();
            }
            _ => break,
        }
        rest = after;
    }
    let names = here.into_iter().map(str::to_owned).chain(rest.iter().cloned()).collect();
    Named { origin, names, line: token.line, in_test: token.in_test }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !matches!(text, "as" | "mod" | "use" | "in")
}

/// Marks every token that belongs to an item under `#[cfg(test)]`.
fn mark_tests(tokens: &mut [Token], whole_file: bool) {
    let is = |tokens: &[Token], at: usize, words: &[&str]| {
        words.iter().enumerate().all(|(offset, word)| tokens.get(at + offset).is_some_and(|token| token.text == *word))
    };
    let mut at = 0;
    while at < tokens.len() {
        let start = at;
        let is_test = is(tokens, at, &["#", "[", "cfg", "(", "test", ")", "]"])
            || is(tokens, at, &["#", "[", "cfg", "(", "any", "(", "test"]);
        if whole_file || is_test {
            let mut depth = 0;
            while at < tokens.len() {
                match tokens[at].text.as_str() {
                    "{" | "(" | "[" => depth += 1,
                    "}" | ")" | "]" => depth -= 1,
                    _ => {}
                }
                let ends = matches!(tokens[at].text.as_str(), "}" | ";") && depth == 0;
                at += 1;
                if ends && !whole_file {
                    break;
                }
            }
            for token in &mut tokens[start..at] {
                token.in_test = true;
            }
        } else {
            at += 1;
        }
    }
}

/// Cuts a source into names, `::` and single characters; comments, text and numbers are left out.
fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut at = 0;
    let peek = |at: usize| characters.get(at).copied().unwrap_or('\0');
    while at < characters.len() {
        let start = at;
        match characters[at] {
            '/' if peek(at + 1) == '/' => {
                while at < characters.len() && characters[at] != '\n' {
                    at += 1;
                }
            }
            '/' if peek(at + 1) == '*' => {
                let mut depth = 0;
                while at < characters.len() {
                    match (characters[at], peek(at + 1)) {
                        ('/', '*') => (depth, at) = (depth + 1, at + 2),
                        ('*', '/') => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            '"' => at = end_of_text(&characters, at + 1),
            '\'' => {
                // A lifetime has no second quote: 'a and not 'a'.
                let is_lifetime = (peek(at + 1).is_alphabetic() || peek(at + 1) == '_') && peek(at + 2) != '\'';
                at += 1;
                if !is_lifetime {
                    while at < characters.len() && characters[at] != '\'' {
                        at += if characters[at] == '\\' { 2 } else { 1 };
                    }
                    at += 1;
                }
            }
            first if first.is_alphabetic() || first == '_' => {
                while peek(at).is_alphanumeric() || peek(at) == '_' {
                    at += 1;
                }
                let name: String = characters[start..at].iter().collect();
                let is_raw = matches!(name.as_str(), "r" | "br" | "cr");
                if is_raw && (peek(at) == '"' || (peek(at) == '#' && matches!(peek(at + 1), '#' | '"'))) {
                    at = end_of_raw_text(&characters, at);
                } else if matches!(name.as_str(), "b" | "c") && peek(at) == '"' {
                    at = end_of_text(&characters, at + 1);
                } else {
                    tokens.push(Token { text: name, line, in_test: false });
                }
            }
            first if first.is_ascii_digit() => {
                while peek(at).is_alphanumeric() || peek(at) == '_' {
                    at += 1;
                }
            }
            ':' if peek(at + 1) == ':' => {
                at += 2;
                tokens.push(Token { text: "::".into(), line, in_test: false });
            }
            blank if blank.is_whitespace() => at += 1,
            other => {
                at += 1;
                tokens.push(Token { text: other.to_string(), line, in_test: false });
            }
        }
        line += characters[start..at.min(characters.len())].iter().filter(|character| **character == '\n').count();
    }
    tokens
}

fn end_of_text(characters: &[char], mut at: usize) -> usize {
    while at < characters.len() && characters[at] != '"' {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_raw_text(characters: &[char], mut at: usize) -> usize {
    let mut hashes = 0;
    while characters.get(at) == Some(&'#') {
        (hashes, at) = (hashes + 1, at + 1);
    }
    at += 1;
    while at < characters.len() {
        let closes =
            characters[at] == '"' && characters[at + 1..].iter().take_while(|next| **next == '#').count() >= hashes;
        at += 1;
        if closes {
            break;
        }
    }
    at + hashes
}
