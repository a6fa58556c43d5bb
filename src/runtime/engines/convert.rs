//! The converter of documents: pandoc between Markdown and other formats, LibreOffice for PDF.

use super::Engine;
use super::program::{self, failed};
use crate::resources::text::convert::{CONVERTER, IMPORT, OUTPUT};
use crate::resources::text::html;
use crate::resources::{Content, EngineFailure, EngineRequest, Evaluated};
use futures_util::future::BoxFuture;
use serde_json::Value;

/// How pandoc comes to a machine.
const PANDOC: &str = "install it, for example with `apt install pandoc`, or export as html, md or txt";
/// How LibreOffice comes to a machine.
const OFFICE: &str =
    "install LibreOffice, for example with `apt install libreoffice-writer-nogui`, or export as html and print that";

/// Pandoc and LibreOffice, whichever a conversion needs.
pub(super) struct Converter;

impl Engine for Converter {
    fn name(&self) -> &'static str {
        CONVERTER
    }

    fn evaluate<'a>(
        &'a self,
        request: &'a EngineRequest,
        parts: &'a Content,
    ) -> BoxFuture<'a, Result<Evaluated, EngineFailure>> {
        Box::pin(convert(request, parts))
    }
}

async fn convert(request: &EngineRequest, parts: &Content) -> Result<Evaluated, EngineFailure> {
    let word = |name: &str| request.input[name].as_str().unwrap_or_default();
    let (from, to) = (word("from"), word("to"));
    let source = parts.iter().next().map(|(_, part)| part.bytes.clone()).unwrap_or_default();
    let folder = tempfile::Builder::new()
        .prefix("convert-")
        .tempdir()
        .map_err(|error| failed("no folder could be made for the converter", &error))?;
    let keep = |name: &str, bytes: &[u8]| {
        let written = std::fs::write(folder.path().join(name), bytes);
        written.map_err(|error| failed("what is to be converted could not be written", &error))
    };
    let made = if to == "pdf" {
        let text = String::from_utf8_lossy(&source);
        keep("source.html", html::page(word("title"), &text).as_bytes())?;
        let profile = format!("-env:UserInstallation=file://{}", folder.path().join("profile").display());
        let args = ["--headless", "--norestore", &profile, "--convert-to", "pdf", "source.html"];
        program::run("soffice", &args, folder.path(), OFFICE).await?;
        "source.pdf"
    } else {
        keep("source", &source)?;
        let mut args = vec!["--from", from, "--to", to, "--wrap", "none", "--output", "made"];
        // What comes from somebody else reads and fetches nothing beside itself.
        if request.action == IMPORT {
            args.push("--sandbox");
        }
        args.push("source");
        program::run("pandoc", &args, folder.path(), PANDOC).await?;
        "made"
    };
    let made = std::fs::read(folder.path().join(made))
        .map_err(|error| failed("the converter made nothing that can be read", &error))?;
    Ok(Evaluated { output: Value::Null, parts: Content::single(OUTPUT, "application/octet-stream", made) })
}
