//! The tools of an agent: what each is called, what it would do, and doing it.
//!
//! A call goes through two steps. [`Tool::plan`] checks the arguments and says what would happen
//! ([`Plan::action`]), touching nothing: that is what is judged, and what a person is shown. Only
//! then is [`Plan::run`] called.

use super::port::Blobs;
use crate::domain::permission::Action;
use crate::domain::settings::Limits;
use crate::domain::{Effect, Part, ToolCallState};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name, such as `read`.
    pub name: &'static str,
    /// What it does and when to use it; short, tokens cost money.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// What a crash in the middle of it means.
    pub effect: Effect,
    /// Whether it may run beside other calls of its batch.
    pub parallel: bool,
}

/// What a tool works with.
#[derive(Clone)]
pub struct ToolContext {
    /// The Task's folder, links resolved: relative paths start here.
    pub cwd: PathBuf,
    /// The agent's own working area: writing here is always inside.
    pub own: PathBuf,
    /// Whether the person trusts the folder.
    pub trusted: bool,
    /// Limits of output and time.
    pub limits: Limits,
    /// Where whole outputs and pictures are kept.
    pub blobs: Arc<dyn Blobs>,
    /// Cancelled when the call must stop at once.
    pub cancel: CancellationToken,
    /// Takes output while it comes, for the screen only.
    pub live: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A call that was checked and not yet run.
pub struct Plan {
    /// What would happen.
    pub action: Action,
    /// SHA-256 of what is there now, for effects that can be looked up (`-` where nothing is).
    pub pre_hash: Option<String>,
    /// SHA-256 of what will be there after.
    pub post_hash: Option<String>,
    /// The file whose hash those are.
    pub target: Option<PathBuf>,
    /// Does it.
    pub run: Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Outcome> + Send>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// `Done`, `Error` or `Cancelled`.
    pub state: ToolCallState,
    /// What the model sees, already within the limits.
    pub parts: Vec<Part>,
}

/// Arguments that can't be run; the text tells the model what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCall(pub String);

/// A tool.
pub trait Tool: Send + Sync {
    /// What a model is told of it.
    fn spec(&self) -> &ToolSpec;
    /// Checks the arguments and says what would happen. Touches nothing.
    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>>;
}
pub const ASK: &str = "ask";
pub struct Asked {
    pub question: String,
    pub options: Vec<String>,
    pub meanwhile: String,
}
pub fn asked(_v: &Value) -> Result<Asked, BadCall> {
    Err(BadCall(String::new()))
}
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![]
}
pub fn find(_name: &str) -> Option<Arc<dyn Tool>> {
    None
}
pub enum Probe {
    Done,
    NotDone,
    Unknown,
}
pub fn probe(_t: Option<&std::path::Path>, _a: Option<&str>, _b: Option<&str>) -> Probe {
    Probe::Unknown
}
pub struct Ran {
    pub exit_code: Option<i32>,
    pub tail: String,
}
pub async fn run_command(_c: &str, _d: &std::path::Path, _l: &Limits, _x: &CancellationToken) -> Result<Ran, String> {
    Err(String::new())
}
pub mod arguments {
    use super::*;
    pub fn parse(_r: &str, _s: &ToolSpec) -> Result<Value, BadCall> {
        Err(BadCall(String::new()))
    }
}
