//! Keeps a model that was chosen on screen as the default in the user's file; what else stands
//! there stays as it is.

use std::io;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, value};

/// A server of this machine, by the name of its provider, and its address.
pub type Server<'a> = (&'a str, &'a str);

/// Writes `[model] default`, and the provider of a server that was found.
pub fn keep_model(file: &Path, model: &str, server: Option<Server>) -> io::Result<()> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let mut document: DocumentMut = text.parse().map_err(io::Error::other)?;
    let table = |item: &mut Item| match item.is_table_like() {
        true => Ok(()),
        false if item.is_none() => {
            *item = Item::Table(Table::new());
            Ok(())
        }
        false => Err(io::Error::other("it holds something else there")),
    };
    table(&mut document["model"])?;
    document["model"]["default"] = value(model);
    if let Some((name, base_url)) = server {
        let providers = &mut document["providers"];
        if providers.is_none() {
            let mut empty = Table::new();
            empty.set_implicit(true);
            *providers = Item::Table(empty);
        }
        table(providers)?;
        table(&mut providers[name])?;
        providers[name]["kind"] = value("openai");
        providers[name]["base_url"] = value(base_url);
    }
    let folder = file.parent().ok_or_else(|| io::Error::other("the file is in no folder"))?;
    std::fs::create_dir_all(folder)?;
    // Whole or not at all, and for its owner alone.
    let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut fresh, document.to_string().as_bytes())?;
    fresh.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_model_stands_beside_what_was_written_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cowork/config.toml");
        keep_model(&file, "ollama:small", Some(("ollama", "http://127.0.0.1:11434/v1"))).expect("kept");
        let fresh = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(
            fresh,
            "[model]\ndefault = \"ollama:small\"\n\n[providers.ollama]\nkind = \"openai\"\n\
             base_url = \"http://127.0.0.1:11434/v1\"\n"
        );
        std::fs::write(&file, "# mine\n[screen]\ntheme = \"dark\" # calm\n").expect("written");
        keep_model(&file, "openai:x", None).expect("kept");
        let kept = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(kept, "# mine\n[screen]\ntheme = \"dark\" # calm\n\n[model]\ndefault = \"openai:x\"\n");
        std::fs::write(&file, "model = 3\n").expect("written");
        assert!(keep_model(&file, "openai:x", None).is_err());
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "model = 3\n");
    }
}
