//! The seam that every kind fills: content, operations, validation, diff, merge, views.
//!
//! An adapter is pure and holds nothing. Where it can answer at once it does ([`Step::Ready`]);
//! where an engine is needed it says what to ask ([`Step::Evaluate`]), and whoever runs engines
//! comes back with the outcome to the method of the same name that ends in `_evaluated`.
//! Operations come in as JSON because models write them; each kind publishes their schema.

use super::attribution::Attribution;
use super::content::{Content, Hash};
use super::delta::{Bias, Patch};
use super::diff::Diff;
use super::engine::{EngineRequest, Evaluated};
use super::merge::{Choice, Merge};
use super::refusal::Refusal;
use super::summary::{Change, Digest};
use super::text::decode::text_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::Arc;

/// An answer, or what to ask an engine for it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Step<T> {
    /// The answer.
    Ready(T),
    /// Ask this of an engine and come back with the outcome.
    Evaluate(EngineRequest),
}

impl<T> Step<T> {
    /// The answer of a kind that asks no engine.
    pub fn ready(self) -> Result<T, Refusal> {
        match self {
            Self::Ready(answer) => Ok(answer),
            Self::Evaluate(request) => {
                Err(Refusal::Invalid { what: format!("{} has to be asked first", request.engine) })
            }
        }
    }
}

/// What an operation made.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The new content.
    pub content: Content,
    /// One line for the history.
    pub summary: String,
    /// What the one who asked is told.
    pub feedback: Feedback,
}

/// The effect of an operation, for the one who asked for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// What changed and where, one line.
    pub what: String,
    /// The places that changed, as they now are.
    pub places: Vec<Place>,
    /// The part of the outline around them.
    pub outline: Vec<Node>,
    /// Figures, such as the change in words or the volume of a solid.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub figures: Map<String, Value>,
    /// What does not look right.
    pub findings: Vec<Finding>,
}

impl Feedback {
    /// The feedback as a model reads it.
    pub fn text(&self) -> String {
        let mut out = self.what.clone();
        for place in &self.places {
            out.push_str(&format!("\n{place}"));
        }
        for (name, value) in &self.figures {
            out.push_str(&format!("\n{name}: {value}"));
        }
        if !self.outline.is_empty() {
            out.push_str("\noutline here:");
            for node in &self.outline {
                out.push_str(&format!("\n  {node}"));
            }
        }
        for finding in &self.findings {
            out.push_str(&format!("\n{finding}"));
        }
        out
    }
}

/// A place of a content in the terms of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which part.
    pub part: String,
    /// The section, element, object or parameter; empty where there is none.
    pub unit: String,
    /// The first line (from 1) and the last, where the part is text; `to` is `from - 1` where
    /// nothing stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// Short hash of those lines: with it they can be named in the next operation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.lines {
            Some((from, to)) if to < from => write!(f, "before line {from}")?,
            Some((from, to)) => write!(f, "lines {from}-{to} (hash {})", self.hash)?,
            None => write!(f, "{}", self.part)?,
        }
        if !self.unit.is_empty() {
            write!(f, " in {}", self.unit)?;
        }
        Ok(())
    }
}

/// One entry of an outline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Names from the outermost to its own: what an anchor by section takes.
    pub path: Vec<String>,
    /// What it is: `heading`, `function`, `slide`, `solid` …
    pub kind: String,
    /// How deep it is, from 1.
    pub level: usize,
    /// The first line (from 1) and the last, where the part is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.path.last().map_or("", String::as_str);
        write!(f, "{}{} {name}", "  ".repeat(self.level.saturating_sub(1)), self.kind)?;
        match self.lines {
            Some((from, to)) => write!(f, " (lines {from}-{to})"),
            None => Ok(()),
        }
    }
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake.
    Warning,
    /// Broken.
    Error,
}

/// Something that inspection found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How grave.
    pub severity: Severity,
    /// A stable word for programs, such as `dead_link`.
    pub code: String,
    /// What was found, one sentence.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        match self.place.lines {
            Some((line, _)) => write!(f, "{word}: line {line}: {}", self.message),
            None => write!(f, "{word}: {}", self.message),
        }
    }
}

/// Whether something outside that a content refers to is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existence {
    /// It is.
    Present,
    /// It is not.
    Absent,
    /// Nobody looked.
    Unknown,
}

/// Looks up a relative reference to a file; the caller knows relative to what.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Existence;

/// What to show of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "show", rename_all = "snake_case", deny_unknown_fields)]
pub enum View {
    /// From the beginning.
    Whole,
    /// From a line on.
    Lines {
        /// The first line, from 1.
        from: usize,
        /// How many.
        count: usize,
    },
    /// One section, slide, part or object by its path in the outline.
    Unit {
        /// Its path; the last names suffice where they are unique.
        path: Vec<String>,
    },
}

/// A content made visible.
#[derive(Debug, Clone, PartialEq)]
pub enum Rendering {
    /// As text, within the budget.
    Text {
        /// The text.
        text: String,
        /// What was left out, in words; empty when nothing was.
        left_out: String,
    },
    /// As pictures.
    Pictures(Content),
}

/// A file that comes in or goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Its name, with extension.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// How to write a content for the outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// As the kind's own file: what a mirror holds.
    Native,
    /// As a format by its extension, such as `docx`.
    Named(String),
}

/// What somebody has selected in a content (s of Eq. 8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// The part.
    pub part: String,
    /// The bytes of it, where the part is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Range<usize>>,
    /// The elements, for kinds that have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
}

impl Selected {
    /// Carries a selection of text over a change of that text.
    pub fn follow(&mut self, patch: &Patch) {
        if let Some(bytes) = &mut self.bytes {
            let start = patch.map(bytes.start, Bias::After);
            *bytes = start..patch.map(bytes.end, Bias::Before).max(start);
        }
    }
}

/// What authorship is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Lines of the part of this name.
    Lines(&'static str),
    /// Elements by identity.
    Elements,
}

/// What a kind of Resource can do.
pub trait Adapter: Send + Sync {
    /// The word of the kind, such as `document`.
    fn kind(&self) -> &'static str;

    /// One sentence for a model that chooses among kinds.
    fn about(&self) -> &'static str;

    /// The JSON schema of one operation.
    fn operations(&self) -> Value;

    /// A new, empty content for a Resource of this name.
    fn blank(&self, name: &str) -> Content;

    /// Holds the content against the laws of the kind.
    fn validate(&self, content: &Content) -> Result<(), Refusal>;

    /// Applies one operation.
    fn apply(&self, content: &Content, operation: &Value) -> Result<Step<Applied>, Refusal>;

    /// Ends an operation with what the engine answered; `content` and `operation` as before.
    fn apply_evaluated(&self, content: &Content, operation: &Value, evaluated: Evaluated) -> Result<Applied, Refusal> {
        let _ = (content, operation, evaluated);
        Err(Refusal::NotAsked { what: "this operation".into() })
    }

    /// Compares two contents for a reader.
    fn diff(&self, before: &Content, after: &Content) -> Result<Diff, Refusal>;

    /// What is kept of a change for later summaries: small, whatever the size of the change.
    fn digest(&self, before: &Content, after: &Content) -> Result<Digest, Refusal>;

    /// Tells others' changes in at most `budget` bytes (Φ of Eq. 8). The caller leaves out the
    /// reader's own, see [`super::summary::others`].
    fn summarise(&self, changes: &[Change], budget: usize) -> String {
        super::summary::summarise(changes, budget)
    }

    /// Merges two contents that come from the same base.
    fn merge(&self, base: &Content, theirs: &Content, mine: &Content) -> Result<Merge, Refusal>;

    /// Merges with one choice per piece of the conflict that [`Adapter::merge`] found.
    fn resolve(&self, base: &Content, theirs: &Content, mine: &Content, choices: &[Choice])
    -> Result<Content, Refusal>;

    /// What authorship is kept for.
    fn unit(&self) -> Unit;

    /// The elements and a hash of each, for kinds whose unit they are.
    fn elements(&self, content: &Content) -> Result<Vec<(String, Hash)>, Refusal> {
        let _ = content;
        Ok(Vec::new())
    }

    /// Carries authorship from one revision to the next; before the first, `before` is empty.
    fn attribute(
        &self,
        attribution: &mut Attribution,
        before: &Content,
        after: &Content,
        revision: u64,
    ) -> Result<(), Refusal> {
        match self.unit() {
            Unit::Lines(part) => {
                // Before the first revision there is no part yet.
                let before = if before.get(part).is_some() { text_of(before, part)? } else { "" };
                attribution.advance_text(before, text_of(after, part)?, revision);
            }
            Unit::Elements => attribution.advance_elements(self.elements(after)?, revision),
        }
        Ok(())
    }

    /// The structure of the content.
    fn outline(&self, content: &Content) -> Result<Vec<Node>, Refusal>;

    /// Figures about the content, such as its words or the volume of a solid.
    fn figures(&self, content: &Content) -> Result<Map<String, Value>, Refusal>;

    /// Tells a model what is selected, in at most `budget` bytes.
    fn describe(&self, content: &Content, selected: &Selected, budget: usize) -> Result<String, Refusal>;

    /// Looks for what is wrong or odd, without changing anything.
    fn inspect(&self, content: &Content, lookup: Lookup<'_>) -> Result<Vec<Finding>, Refusal>;

    /// Shows a content in at most `budget` bytes where it is text.
    fn render(&self, content: &Content, view: &View, budget: usize) -> Result<Step<Rendering>, Refusal>;

    /// Ends a rendering with what the engine drew.
    fn render_evaluated(&self, evaluated: Evaluated) -> Result<Rendering, Refusal> {
        Ok(Rendering::Pictures(evaluated.parts))
    }

    /// The formats a content can be exported as, by extension.
    fn formats(&self) -> &'static [&'static str];

    /// Reads the kind's own file: what a mirror holds and [`Format::Native`] writes.
    fn read(&self, file: &Foreign) -> Result<Content, Refusal>;

    /// Reads a file from outside, which may be of a foreign format.
    fn import(&self, file: &Foreign) -> Result<Step<Content>, Refusal>;

    /// Ends an import with what the converter made.
    fn import_evaluated(&self, file: &Foreign, evaluated: Evaluated) -> Result<Content, Refusal> {
        let _ = evaluated;
        Err(Refusal::NotAsked { what: format!("the import of {}", file.name) })
    }

    /// Writes a content as a file for outside; `name` is the name of the Resource.
    fn export(&self, name: &str, content: &Content, format: &Format) -> Result<Step<Foreign>, Refusal>;

    /// Ends an export with what the converter made.
    fn export_evaluated(&self, name: &str, format: &Format, evaluated: Evaluated) -> Result<Foreign, Refusal> {
        let _ = (format, evaluated);
        Err(Refusal::NotAsked { what: format!("the export of {name}") })
    }
}
