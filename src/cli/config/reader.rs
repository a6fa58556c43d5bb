//! Walks a parsed TOML file by what is allowed in it, and collects every mistake with its place.

use super::mistake::{Mistake, Source, nearest};
use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
}

/// One file being read.
pub struct Reader<'a> {
    source: &'a Source,
    mistakes: RefCell<Vec<Mistake>>,
}

impl<'a> Reader<'a> {
    /// Begins with a file.
    pub fn new(source: &'a Source) -> Self {
        Self { source, mistakes: RefCell::default() }
    }

    /// Notes a mistake.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>, allowed: impl Into<String>) {
        self.mistakes.borrow_mut().push(self.source.mistake(span, message, allowed));
    }

    /// Parses the file and hands its top to `read`; gives the mistakes of both, in the file's order.
    pub fn read(self, read: impl FnOnce(&Section<'_>)) -> Vec<Mistake> {
        let (top, errors) = DeTable::parse_recoverable(&self.source.text);
        for error in &errors {
            let span = error.span().unwrap_or(0..0);
            self.mistake(span, format!("this is not TOML: {}", error.message()), "see https://toml.io");
        }
        if errors.is_empty() {
            read(&Section { reader: &self, name: String::new(), table: top.get_ref(), span: top.span() });
        }
        let mut mistakes = self.mistakes.into_inner();
        mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        mistakes
    }
}

/// A table of the file.
pub struct Section<'a> {
    reader: &'a Reader<'a>,
    name: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Section<'a> {
    /// Refuses every key that is not known, with the nearest that is.
    pub fn allow(&self, known: &[&str]) {
        self.allow_but(known, &[]);
    }

    /// The same, silent about keys that [`Section::forbid`] speaks of.
    pub fn allow_but(&self, known: &[&str], forbidden: &[&str]) {
        let spoken_of = |key: &str| known.contains(&key) || forbidden.contains(&key);
        for key in self.table.keys().filter(|key| !spoken_of(key.get_ref())) {
            let word = key.get_ref().as_ref();
            let place = if self.name.is_empty() { "here".into() } else { format!("in [{}]", self.name) };
            let meant = nearest(word, known).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let allowed = format!("{meant}known {place}: {}", known.join(", "));
            self.reader.mistake(key.span(), format!("unknown key `{word}`"), allowed);
        }
    }

    /// Refuses a key that is there, with a reason.
    pub fn forbid(&self, key: &str, message: &str, allowed: &str) {
        if let Some((key, _)) = self.entry(key) {
            self.reader.mistake(key.span(), message, allowed);
        }
    }

    /// Notes a mistake about a value of this section.
    pub fn mistake(&self, span: &Range<usize>, message: impl Into<String>, allowed: impl Into<String>) {
        self.reader.mistake(span.clone(), message, allowed);
    }

    /// Notes a mistake that was found in another file that this one names.
    pub fn add(&self, mistake: Mistake) {
        self.reader.mistakes.borrow_mut().push(mistake);
    }

    /// Where the section begins.
    pub fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// The keys of the section, with their places.
    pub fn keys(&self) -> Vec<At<String>> {
        self.table.keys().map(|key| self.at(key.get_ref().to_string(), key.span())).collect()
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<At<String>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(self.at(text.to_string(), value.span())),
            other => self.wrong_type(key, value, "a text in quotes", other),
        }
    }

    /// True or false.
    pub fn truth(&self, key: &str) -> Option<At<bool>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(self.at(*truth, value.span())),
            other => self.wrong_type(key, value, "true or false", other),
        }
    }

    /// Everything in it, whatever it is, as JSON.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        self.table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
    }

    /// The line it begins on.
    pub fn line(&self) -> usize {
        self.reader.source.line(self.span.start)
    }

    /// A whole number within bounds.
    pub fn whole(&self, key: &str, bounds: RangeInclusive<u64>) -> Option<At<u64>> {
        let value = self.value(key)?;
        let DeValue::Integer(number) = value.get_ref() else {
            return self.wrong_type(key, value, "a whole number", value.get_ref());
        };
        match u64::from_str_radix(number.as_str(), number.radix()).ok().filter(|n| bounds.contains(n)) {
            Some(number) => Some(self.at(number, value.span())),
            None => {
                let allowed = format!("a whole number from {} to {}", bounds.start(), bounds.end());
                self.reader.mistake(value.span(), format!("`{}` is out of bounds", self.full(key)), allowed);
                None
            }
        }
    }

    /// A number of 0 or more.
    pub fn amount(&self, key: &str) -> Option<At<f64>> {
        let value = self.value(key)?;
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => return self.wrong_type(key, value, "a number", other),
        };
        match text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0) {
            Some(number) => Some(self.at(number, value.span())),
            None => {
                let message = format!("`{}` is out of bounds", self.full(key));
                self.reader.mistake(value.span(), message, "a number of 0 or more");
                None
            }
        }
    }

    /// A table.
    pub fn section(&self, key: &str) -> Option<Section<'a>> {
        let (name, value) = self.entry(key)?;
        match value.get_ref() {
            DeValue::Table(table) => {
                Some(Section { reader: self.reader, name: self.full(key), table, span: name.span() })
            }
            other => self.wrong_type(key, value, &format!("a table, such as [{}]", self.full(key)), other),
        }
    }

    fn entry(&self, key: &str) -> Option<(&'a Spanned<toml::de::DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        self.table.iter().find(|(name, _)| name.get_ref() == key)
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.entry(key).map(|(_, value)| value)
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn at<T>(&self, value: T, span: Range<usize>) -> At<T> {
        At { value, line: self.reader.source.line(span.start), span }
    }

    fn wrong_type<T>(&self, key: &str, value: &Spanned<DeValue>, wanted: &str, found: &DeValue) -> Option<T> {
        let found = match found {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.reader.mistake(value.span(), format!("`{}` is {found}", self.full(key)), format!("it must be {wanted}"));
        None
    }
}

fn json(value: &DeValue) -> serde_json::Value {
    use serde_json::Value;
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.as_str()),
        },
        DeValue::Float(number) => Value::from(number.as_str().parse::<f64>().unwrap_or_default()),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields = table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
            Value::Object(fields.collect())
        }
    }
}
