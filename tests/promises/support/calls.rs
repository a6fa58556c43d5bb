//! Tool calls as a model writes them, so that a test says what it wants and not how arguments are called.

use super::reply::Reply;
use serde_json::{Value, json};

/// A tool's name and its arguments.
pub type Call = (&'static str, Value);

/// Runs a command.
pub fn shell(command: &str) -> Call {
    ("shell", json!({"command": command}))
}

/// Reads a file.
pub fn read(path: &str) -> Call {
    ("read", json!({"path": path}))
}

/// Writes a file.
pub fn write(path: &str, content: &str) -> Call {
    ("write", json!({"path": path, "content": content}))
}

/// Replaces one text by another.
pub fn edit(path: &str, old: &str, new: &str) -> Call {
    ("edit", json!({"path": path, "edits": [{"old": old, "new": new}]}))
}

/// Lists a folder.
pub fn list(path: &str) -> Call {
    ("list", json!({"path": path}))
}

/// Fetches a page.
pub fn fetch(url: &str) -> Call {
    ("fetch", json!({"url": url}))
}

/// Asks the person.
pub fn ask(question: &str, options: &[&str]) -> Call {
    ("ask", json!({"question": question, "options": options}))
}

/// An answer that makes these calls and ends.
pub fn calls(calls: impl IntoIterator<Item = Call>) -> Reply {
    calls.into_iter().fold(Reply::stream(), |reply, (tool, arguments)| reply.tool(tool, arguments)).finish()
}

/// An answer that makes this one call and ends.
pub fn call((tool, arguments): Call) -> Reply {
    Reply::call(tool, arguments)
}
