//! Splits a command as a shell would, as far as that can be done without running it.

/// A piece of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, quotes taken off.
    Word(Word),
    /// A command within: `$(…)`, `` `…` ``, `<(…)`.
    Inner(String),
    /// The end of a simple command.
    Separator,
    /// What follows is written to.
    Write,
    /// What follows is read.
    Read,
}

/// A word. `$HOME` at its beginning is written as `~`, other expansions stay as they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
}

/// Splits a command into its pieces. Never fails: what is not closed ends at the end.
pub(super) fn lex(command: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: command, tokens: Vec::new(), word: None, here: Vec::new() };
    while let Some(c) = lexer.next() {
        lexer.step(c);
    }
    lexer.end_word();
    lexer.tokens
}

struct Lexer<'a> {
    rest: &'a str,
    tokens: Vec<Token>,
    word: Option<String>,
    /// The words that end the here-documents of this line.
    here: Vec<String>,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest.strip_prefix(text);
        if let Some(rest) = found {
            self.rest = rest;
        }
        found.is_some()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        if let Some(text) = self.word.take() {
            self.tokens.push(Token::Word(Word { text }));
        }
    }

    fn end(&mut self, token: Token) {
        self.end_word();
        self.tokens.push(token);
    }

    fn step(&mut self, c: char) {
        match c {
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(escaped) => self.push(escaped),
            },
            '\'' => {
                self.word.get_or_insert_default();
                while let Some(c) = self.next().filter(|c| *c != '\'') {
                    self.push(c);
                }
            }
            '"' => self.double_quoted(),
            '$' => self.dollar(),
            '`' => self.backquoted(),
            '#' if self.word.is_none() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            '\n' => {
                self.end(Token::Separator);
                self.skip_here_documents();
            }
            ';' | '|' | '(' | ')' => self.end(Token::Separator),
            '&' if self.eat(">") => {
                self.eat(">");
                self.end(Token::Write);
            }
            '&' => self.end(Token::Separator),
            '>' => self.redirect_out(),
            '<' => self.redirect_in(),
            c if c.is_whitespace() => self.end_word(),
            c => self.push(c),
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => {
                    if let Some(escaped) = self.next() {
                        self.push(escaped);
                    }
                }
                '$' => self.dollar(),
                '`' => self.backquoted(),
                c => self.push(c),
            }
        }
    }

    fn dollar(&mut self) {
        if self.eat("((") {
            // Arithmetic; its parentheses must not look like those of a command.
            let end = self.rest.find("))").map_or(self.rest.len(), |end| end + 2);
            self.rest = &self.rest[end..];
            self.push('0');
        } else if self.eat("(") {
            self.inner();
            self.push('$');
        } else if self.word.as_deref().is_none_or(str::is_empty) && (self.eat("{HOME}") || self.eats_home()) {
            self.push('~');
        } else {
            self.push('$');
        }
    }

    fn eats_home(&mut self) -> bool {
        let whole = self
            .rest
            .strip_prefix("HOME")
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        whole && self.eat("HOME")
    }

    fn backquoted(&mut self) {
        let end = self.rest.find('`').unwrap_or(self.rest.len());
        let inner = self.rest[..end].to_owned();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.tokens.push(Token::Inner(inner));
        self.push('$');
    }

    /// Takes everything up to the parenthesis that closes, past those in quotes.
    fn inner(&mut self) {
        let (mut depth, mut quote, mut end) = (1, None, self.rest.len());
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    chars.next();
                }
                (None, '\'' | '"') => quote = Some(c),
                (_, '(') => depth += 1,
                (_, ')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = at;
                break;
            }
        }
        let inner = self.rest[..end].to_owned();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.tokens.push(Token::Inner(inner));
    }

    fn redirect_out(&mut self) {
        // In `2>file` the number is the descriptor, no word.
        if self.word.as_deref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.eat("(") {
            return self.inner();
        }
        if self.eat("&") {
            // `>&2` and `>&-` only join descriptors.
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
            if digits > 0 {
                self.rest = &self.rest[digits..];
                return;
            }
        } else if !self.eat(">") {
            self.eat("|");
        }
        self.tokens.push(Token::Write);
    }

    fn redirect_in(&mut self) {
        self.end_word();
        if self.eat("(") {
            self.inner();
        } else if self.eat("<<") {
            // A here-string: the word that follows is text and is passed as if it were an argument.
        } else if self.eat("<") {
            self.eat("-");
            let line = self.rest.split('\n').next().unwrap_or_default().trim_start();
            let word = line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '>' | ')')).next();
            let word = word.unwrap_or_default();
            self.here.push(word.replace(['\'', '"', '\\'], ""));
            let skip = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len() + word.len();
            self.rest = &self.rest[skip..];
        } else if self.eat(">") {
            self.tokens.push(Token::Write);
        } else if self.eat("&") {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
            self.rest = &self.rest[digits..];
        } else {
            self.tokens.push(Token::Read);
        }
    }

    /// What stands in a here-document is data.
    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here) {
            while !self.rest.is_empty() {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                self.rest = rest;
                if line.trim_start_matches('\t') == end {
                    break;
                }
            }
        }
    }
}
