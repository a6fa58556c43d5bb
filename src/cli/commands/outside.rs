//! What the screen has done outside of it: a text in the person's own editor, a Job's terminal.

use crate::process::foreground;
use crate::tui::action::Viewer;
use crate::tui::{Attach, Editor, Lent, Show};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The largest text that is taken back from an editor.
const MOST_BYTES: u64 = 8 << 20;

/// Edits a text in `$VISUAL` or `$EDITOR`, or vi.
pub fn editor() -> Editor {
    Box::new(|text| Box::pin(edit(text)))
}

async fn edit(text: String) -> Result<String, String> {
    let program = chosen(&["VISUAL", "EDITOR"], "vi");
    let file = kept(&text)?;
    on_terminal(&program, file.path()).await.map_err(|why| format!("{why}; the text is as it was"))?;
    read_back(file.path())
}

/// Shows a text in `$PAGER`, or less, or in the person's editor; what is changed there is thrown away.
pub fn show() -> Show {
    Box::new(|viewer, text| {
        Box::pin(async move {
            let program = match viewer {
                Viewer::Pager => chosen(&["PAGER"], "less"),
                Viewer::Editor => chosen(&["VISUAL", "EDITOR"], "vi"),
            };
            let file = kept(&text)?;
            on_terminal(&program, file.path()).await
        })
    })
}

/// The program that the first of these variables names.
fn chosen(variables: &[&str], usual: &str) -> String {
    let named = variables.iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|program| !program.trim().is_empty()).unwrap_or_else(|| usual.to_owned())
}

/// A text in a file that only its owner can read, and that is gone with this.
fn kept(text: &str) -> Result<NamedTempFile, String> {
    let failed = |what: &str, error: &std::io::Error| format!("can't {what}: {error}");
    let file = Builder::new().prefix("message-").suffix(".md").tempfile().map_err(|e| failed("make a file", &e))?;
    // Programs expect the last line to have an end.
    let end = if text.ends_with('\n') { "" } else { "\n" };
    std::fs::write(file.path(), format!("{text}{end}")).map_err(|e| failed("write a file", &e))?;
    Ok(file)
}

async fn on_terminal(program: &str, file: &Path) -> Result<(), String> {
    let ended = foreground::with_file(program, file).await.map_err(|error| format!("can't start a shell: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("{program} ended with {ended}")) }
}

fn read_back(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("can't read the text back: {error}");
    if std::fs::metadata(path).map_err(failed)?.len() > MOST_BYTES {
        return Err("the text is too long to be a message; name it as a file".to_owned());
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| "the editor left bytes that are no UTF-8; the text is as it was".to_owned())
}

/// Hands the terminal to a Job, or its log to the person's pager: what `jobs attach` and
/// `jobs logs` do, on this terminal.
pub fn attach(home: PathBuf) -> Attach {
    Box::new(move |lent| {
        let home = home.clone();
        Box::pin(async move {
            let failed = |error: std::io::Error| format!("can't attach: {error}");
            let program = std::env::current_exe().map_err(failed)?;
            let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
            let ours = format!("{} --home {} -q jobs", quoted(&program), quoted(&home));
            let (line, job, failure) = match lent {
                Lent::Terminal(job) => (format!("{ours} attach"), job, "could not be taken over"),
                // The line gets the Job as its last word.
                Lent::Log(job) => {
                    let page = r#"page() { "$@" | ${PAGER:-less -R}; }; page"#;
                    (format!("{page} {ours} logs"), job, "could not be shown in the pager")
                }
            };
            let status = foreground::with_file(&line, Path::new(job.as_str())).await.map_err(failed)?;
            if status.success() { Ok(()) } else { Err(format!("{job} {failure} ({status})")) }
        })
    })
}
