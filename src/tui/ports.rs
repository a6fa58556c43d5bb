//! What the screen is given to begin with: what it shows first, and the doors to what only others can
//! do: connect, run programs on the terminal, keep a choice.

use super::action::Viewer;
use super::look::Look;
use super::model::Offer;
use crate::domain::{ClientId, Folder, JobId, Settings, TaskId};
use crate::host::client::{Client, Failure, Pushes};
use futures_util::future::BoxFuture;

/// Makes a connection to the host, starting one where none runs.
pub type Connect = Box<dyn Fn() -> BoxFuture<'static, Result<(Client, Pushes), Failure>> + Send + Sync>;

/// Has the person edit a text in their own editor, on this terminal; gives it back, or the reason
/// why not.
pub type Editor = Box<dyn Fn(String) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Shows a text in the person's own program, on this terminal; gives the reason why not.
pub type Show = Box<dyn Fn(Viewer, String) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// What this terminal is lent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lent {
    /// A Job's own terminal.
    Terminal(JobId),
    /// The person's pager, with a Job's log.
    Log(JobId),
}

/// Hands this terminal to something until it is left.
pub type Attach = Box<dyn Fn(Lent) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Keeps a model as the default of new Tasks; gives the file it stands in, or the reason why not.
pub type KeepModel = Box<dyn Fn(String) -> Result<String, String> + Send + Sync>;

/// What the screen starts with.
pub struct Start {
    /// Makes a connection; called again whenever one is lost.
    pub connect: Connect,
    /// The person's own editor.
    pub editor: Editor,
    /// The person's own pager and editor, to look.
    pub show: Show,
    /// The terminals of Jobs.
    pub attach: Attach,
    /// How the screen looks and behaves.
    pub look: Look,
    /// Keeps a chosen model.
    pub keep_model: KeepModel,
    /// What else could answer, where nobody chose a model yet, with the names of its models.
    pub offers: Vec<(Offer, Vec<String>)>,
    /// The Task to open; absent begins a new one.
    pub task: Option<TaskId>,
    /// The folder a new Task works in, and whose trust is asked about.
    pub folder: Folder,
    /// The default model and policy.
    pub settings: Settings,
    /// Whose drafts are restored.
    pub client: ClientId,
}
