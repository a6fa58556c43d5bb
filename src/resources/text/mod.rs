//! The kind `document`: Markdown, source code, plain text.
//!
//! The content has one part, `text`, whose media type tells what it is written in. Operations name
//! places by what stands there ([`anchor`]) and become replaced ranges of bytes ([`apply`]), so
//! that a byte order mark, mixed line ends and a missing final line end stay as they are.

pub mod anchor;
pub mod apply;
pub mod code;
pub mod convert;
pub mod decode;
pub mod html;
pub mod inspect;
pub mod markdown;
pub mod operation;
pub mod outline;
pub mod syntax;
pub mod view;
pub mod words;

#[cfg(test)]
mod tests;

pub use anchor::{Anchor, Ground, line_hash};
pub use operation::{ByteEdit, Destination, Extent, Operation};
pub use syntax::Syntax;

use super::adapter::{Adapter, Applied, Finding, Foreign, Format, Lookup, Node, Rendering, Selected, Step, Unit, View};
use super::content::Content;
use super::diff::{self, Diff, PartDiff, Sign};
use super::engine::Evaluated;
use super::lines;
use super::merge::{self, Choice, Merge, TextMerge};
use super::refusal::Refusal;
use super::summary::{Digest, UnitChange};
use serde_json::{Map, Value};

/// The part that holds the text.
pub const PART: &str = "text";

/// The adapter of text documents.
pub struct Document;

/// Cuts a text up for finding places in it.
pub fn ground(text: &str, syntax: Syntax) -> Ground<'_> {
    Ground::new(text, syntax)
}

/// A content of this text.
pub fn content_of(text: &str, syntax: Syntax) -> Content {
    Content::single(PART, &syntax.media_type(), text.as_bytes())
}

/// The text of a document.
pub fn text_of(content: &Content) -> Result<&str, Refusal> {
    decode::text_of(content, PART)
}

/// What a document is written in.
pub fn syntax_of(content: &Content) -> Syntax {
    content.get(PART).map_or(Syntax::Plain, |part| Syntax::of_media_type(&part.media_type))
}

fn ground_of(content: &Content) -> Result<(Ground<'_>, Syntax), Refusal> {
    let syntax = syntax_of(content);
    Ok((ground(text_of(content)?, syntax), syntax))
}

/// The merge of three documents, before anybody has decided anything.
fn text_merge(base: &Content, theirs: &Content, mine: &Content) -> Result<(TextMerge, String), Refusal> {
    let media_type = match merge::part(base.get(PART), theirs.get(PART), mine.get(PART)) {
        merge::PartMerge::Settled(Some(part)) => part.media_type,
        // Both edited the text: who also changed what it is written in is followed.
        _ if syntax_of(mine) == syntax_of(base) => syntax_of(theirs).media_type(),
        _ => syntax_of(mine).media_type(),
    };
    let grain = syntax_of(base).grain();
    Ok((merge::texts(text_of(base)?, text_of(theirs)?, text_of(mine)?, grain), media_type))
}

impl Adapter for Document {
    fn kind(&self) -> &'static str {
        "document"
    }

    fn about(&self) -> &'static str {
        "A text document: Markdown, source code or plain text."
    }

    fn operations(&self) -> Value {
        schemars::schema_for!(Operation).to_value()
    }

    fn blank(&self, name: &str) -> Content {
        content_of("", Syntax::of_name(name))
    }

    fn validate(&self, content: &Content) -> Result<(), Refusal> {
        text_of(content)?;
        match content.iter().find(|(name, _)| *name != PART) {
            Some((name, _)) => Err(Refusal::BadContent { why: format!("a document has no part `{name}`") }),
            None => Ok(()),
        }
    }

    fn apply(&self, content: &Content, operation: &Value) -> Result<Step<Applied>, Refusal> {
        let (old, syntax) = ground_of(content)?;
        let operation = Operation::read(operation)?;
        let change = apply::change(&old, syntax, &operation)?;
        let text =
            change.patch.apply(old.text).ok_or_else(|| Refusal::Invalid { what: "the ranges do not fit".into() })?;
        let new = ground(&text, syntax);
        let feedback = apply::feedback(&old, &new, &operation, &change);
        Ok(Step::Ready(Applied { content: content_of(&text, syntax), summary: change.summary, feedback }))
    }

    fn diff(&self, before: &Content, after: &Content) -> Result<Diff, Refusal> {
        let (old, (new, _)) = (text_of(before)?, ground_of(after)?);
        let hunks = diff::text_hunks(old, new.text, |line| outline::title_at(new.sections(), line));
        let count = |sign| hunks.iter().flat_map(|hunk| &hunk.rows).filter(|row| row.sign == sign).count();
        let (added, removed) = (count(Sign::Add), count(Sign::Remove));
        let part = PartDiff::Text { part: PART.into(), hunks, added, removed };
        Ok(Diff { parts: if added + removed > 0 { vec![part] } else { Vec::new() } })
    }

    fn digest(&self, before: &Content, after: &Content) -> Result<Digest, Refusal> {
        let ((old, _), (new, _)) = (ground_of(before)?, ground_of(after)?);
        let mut digest = Digest::default();
        for hunk in lines::hunks(old.text, new.text) {
            let came = &new.text[new.index.bytes(hunk.new.clone())];
            let went = &old.text[old.index.bytes(hunk.old.clone())];
            let excerpt = if came.trim().is_empty() {
                format!("-{}", diff::cut(went.trim(), 400))
            } else {
                diff::cut(came.trim(), 400).to_owned()
            };
            // What only went was in a section of the old text.
            let unit = match hunk.new.is_empty() {
                true => outline::title_at(old.sections(), hunk.old.start),
                false => outline::title_at(new.sections(), hunk.new.start),
            };
            digest.push(UnitChange { unit, added: hunk.new.len(), removed: hunk.old.len(), excerpt });
        }
        Ok(digest)
    }

    fn merge(&self, base: &Content, theirs: &Content, mine: &Content) -> Result<Merge, Refusal> {
        let (merge, media_type) = text_merge(base, theirs, mine)?;
        Ok(match merge.merged() {
            Some(text) => Merge::Merged(Content::single(PART, &media_type, text.into_bytes())),
            None => {
                let (base, _) = ground_of(base)?;
                Merge::Conflicts(merge.pieces(PART, |line| outline::title_at(base.sections(), line)))
            }
        })
    }

    fn resolve(
        &self,
        base: &Content,
        theirs: &Content,
        mine: &Content,
        choices: &[Choice],
    ) -> Result<Content, Refusal> {
        let (merge, media_type) = text_merge(base, theirs, mine)?;
        Ok(Content::single(PART, &media_type, merge.resolve(choices)?.into_bytes()))
    }

    fn unit(&self) -> Unit {
        Unit::Lines(PART)
    }

    fn outline(&self, content: &Content) -> Result<Vec<Node>, Refusal> {
        Ok(ground_of(content)?.0.sections().iter().map(outline::Section::node).collect())
    }

    fn figures(&self, content: &Content) -> Result<Map<String, Value>, Refusal> {
        let text = text_of(content)?;
        let figures = [("words", words::count(text)), ("lines", lines::count(text)), ("bytes", text.len())];
        Ok(figures.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
    }

    fn describe(&self, content: &Content, selected: &Selected, budget: usize) -> Result<String, Refusal> {
        view::describe(&ground_of(content)?.0, selected, budget)
    }

    fn inspect(&self, content: &Content, lookup: Lookup<'_>) -> Result<Vec<Finding>, Refusal> {
        let (ground, syntax) = ground_of(content)?;
        Ok(inspect::inspect(&ground, syntax, lookup))
    }

    fn render(&self, content: &Content, view: &View, budget: usize) -> Result<Step<Rendering>, Refusal> {
        Ok(Step::Ready(view::render(&ground_of(content)?.0, view, budget)?))
    }

    fn formats(&self) -> &'static [&'static str] {
        convert::FORMATS
    }

    fn read(&self, file: &Foreign) -> Result<Content, Refusal> {
        Ok(content_of(decode::decode(&file.bytes)?, Syntax::of_name(&file.name)))
    }

    fn import(&self, file: &Foreign) -> Result<Step<Content>, Refusal> {
        match convert::import(file) {
            Some(request) => Ok(Step::Evaluate(request)),
            None => self.read(file).map(Step::Ready),
        }
    }

    fn import_evaluated(&self, _file: &Foreign, evaluated: Evaluated) -> Result<Content, Refusal> {
        let markdown = convert::output(&evaluated)?;
        Ok(content_of(decode::decode(markdown)?, Syntax::Markdown))
    }

    fn export(&self, name: &str, content: &Content, format: &Format) -> Result<Step<Foreign>, Refusal> {
        convert::export(name, content, format)
    }

    fn export_evaluated(&self, name: &str, format: &Format, evaluated: Evaluated) -> Result<Foreign, Refusal> {
        convert::exported(name, format, &evaluated)
    }
}
