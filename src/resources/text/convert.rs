//! Foreign formats of documents: what to ask a converter, and what to make of its answer.

use super::{PART, Syntax, html, syntax_of, text_of};
use crate::resources::adapter::{Foreign, Format, Step};
use crate::resources::content::{Content, Hash};
use crate::resources::engine::{EngineRequest, Evaluated, PartRef};
use crate::resources::refusal::Refusal;
use serde_json::json;
use std::sync::Arc;

/// The engine that converts documents.
pub const CONVERTER: &str = "converter";
/// What it is asked where a file comes in.
pub const IMPORT: &str = "import";
/// The word of HTML.
pub const HTML: &str = "html";
/// What a document can be exported as.
pub const FORMATS: &[&str] = &["md", "txt", "html", "docx", "odt", "pdf"];
/// The part a converter reads.
pub const SOURCE: &str = "source";
/// The part a converter makes.
pub const OUTPUT: &str = "output";
/// How long a conversion may take.
const LIMIT_MS: u64 = 60_000;

/// The converter's words for the extensions it reads.
const READS: &[(&str, &str)] = &[
    ("docx", "docx"),
    ("odt", "odt"),
    ("html", "html"),
    ("htm", "html"),
    ("rtf", "rtf"),
    ("epub", "epub"),
    ("tex", "latex"),
    ("rst", "rst"),
    ("org", "org"),
    ("ipynb", "ipynb"),
];

fn extension(name: &str) -> String {
    name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase())
}

fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The name of a document that is made of a file: one that is converted becomes Markdown.
pub fn name_of(file: &str) -> String {
    let known = extension(file);
    match READS.iter().any(|(read, _)| *read == known) {
        true => format!("{}.md", stem(file)),
        false => file.to_owned(),
    }
}

/// What to ask for a file that is not text of ours; `None` where it is read as it is.
pub fn import(file: &Foreign) -> Option<EngineRequest> {
    let extension = extension(&file.name);
    let (_, from) = READS.iter().find(|(known, _)| *known == extension)?;
    Some(EngineRequest {
        engine: CONVERTER.into(),
        action: IMPORT.into(),
        input: json!({"from": from, "to": "gfm-raw_html"}),
        parts: vec![PartRef {
            name: SOURCE.into(),
            media_type: file.media_type.clone(),
            hash: Hash::of(&file.bytes),
            size: file.bytes.len() as u64,
        }],
        limit_ms: LIMIT_MS,
    })
}

/// The bytes a converter made.
pub fn output(evaluated: &Evaluated) -> Result<&[u8], Refusal> {
    let part = evaluated.parts.get(OUTPUT);
    part.map(|part| &*part.bytes).ok_or_else(|| Refusal::BadOutcome { why: format!("it has no part `{OUTPUT}`") })
}

/// Writes a document for outside.
pub fn export(name: &str, content: &Content, format: &Format) -> Result<Step<Foreign>, Refusal> {
    let part = content.get(PART).ok_or_else(|| Refusal::BadContent { why: "it has no text".into() })?;
    let as_is = |name: String| {
        Step::Ready(Foreign { name, media_type: part.media_type.clone(), bytes: Arc::clone(&part.bytes) })
    };
    let Format::Named(word) = format else { return Ok(as_is(name.to_owned())) };
    let word = word.to_ascii_lowercase();
    let to = match word.as_str() {
        "md" | "txt" => return Ok(as_is(format!("{}.{word}", stem(name)))),
        "html" | "docx" | "odt" | "pdf" => word,
        _ => return Err(no_format(word, FORMATS)),
    };
    if syntax_of(content) != Syntax::Markdown {
        return Err(no_format(to, &["txt"]));
    }
    if to == HTML {
        let page = html::page(stem(name), text_of(content)?);
        let bytes = Arc::from(page.into_bytes());
        return Ok(Step::Ready(Foreign {
            name: format!("{}.html", stem(name)),
            media_type: "text/html".into(),
            bytes,
        }));
    }
    Ok(Step::Evaluate(EngineRequest {
        engine: CONVERTER.into(),
        action: "export".into(),
        input: json!({"from": "gfm", "to": to, "title": stem(name)}),
        parts: PartRef::of(content),
        limit_ms: LIMIT_MS,
    }))
}

/// The file a converter made.
pub fn exported(name: &str, format: &Format, evaluated: &Evaluated) -> Result<Foreign, Refusal> {
    let bytes = Arc::from(output(evaluated)?);
    let Format::Named(word) = format else {
        return Err(Refusal::NotAsked { what: "the file of the document itself".into() });
    };
    let media_type = match word.to_ascii_lowercase().as_str() {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "odt" => "application/vnd.oasis.opendocument.text",
        _ => return Err(no_format(word.clone(), FORMATS)),
    };
    Ok(Foreign { name: format!("{}.{word}", stem(name)), media_type: media_type.into(), bytes })
}

fn no_format(format: String, known: &[&str]) -> Refusal {
    let known = known.iter().map(|word| (*word).to_owned()).collect();
    Refusal::NoFormat { kind: "document".into(), format, known }
}
