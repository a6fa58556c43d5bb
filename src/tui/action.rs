//! What can happen to the screen, and what it can want from the world.
//!
//! An [`Action`] means exactly one thing when it arrives: modes end in the [keymap](super::keymap).
//! An [`Effect`] is data; only the [driver](super::run) carries it out, and what comes of it comes
//! back as [`News`].

use super::agents::AgentsAct;
use super::attention::Looking;
use super::colours::{Coloured, Job};
use super::composer::Edit;
use super::editor::{EditorAct, EditorAsk, EditorNews};
use super::inbox::InboxAct;
use super::input::decode::Answer;
use super::jobs::JobsAct;
use super::key::Key;
use super::paper::PaperAct;
use super::picker::{Preview, Wish};
use super::projection::Opening;
use crate::domain::command::{ApprovalAnswer, Move};
use crate::domain::{
    AgentId, CheckState, ClientId, CommandId, Fence, Folder, JobId, JobView, LogPage, LogPlace, Receipt, Recorded,
    Rejection, Seq, Task, TaskId, TranscriptPage, Transient, UserCommand,
};
use serde::{Deserialize, Serialize};

/// A pane of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Pane {
    /// The conversation with Main, and the composer.
    Chat,
    /// Main's Subagents.
    Subagents,
    /// Every message of the Task.
    Inbox,
    /// Background processes.
    Jobs,
    /// The Resource being edited.
    Editor,
}

impl Pane {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Subagents, Self::Inbox, Self::Jobs, Self::Editor];

    /// Its name on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "Chat",
            Self::Subagents => "Subagents",
            Self::Inbox => "Inbox",
            Self::Jobs => "Jobs",
            Self::Editor => "Editor",
        }
    }
}

/// A step in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// One up.
    Up,
    /// One down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Half a page up.
    HalfUp,
    /// Half a page down.
    HalfDown,
    /// To the start.
    Start,
    /// To the end.
    End,
}

impl Step {
    /// Where the step leads from `at`, in a list of `len` of which `page` are shown.
    pub fn apply(self, at: usize, len: usize, page: usize) -> usize {
        let last = len.saturating_sub(1);
        let page = page.max(1);
        match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page),
            Self::HalfUp => at.saturating_sub(page.div_ceil(2)),
            Self::HalfDown => at.saturating_add(page.div_ceil(2)),
            Self::Start => 0,
            Self::End => last,
        }
        .min(last)
    }
}

/// The person's own program that shows a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// `$PAGER`.
    Pager,
    /// `$VISUAL` or `$EDITOR`; what is changed there changes nothing here.
    Editor,
}

/// Something that happens to the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// Time passed that something was waiting for.
    Tick,
    /// The screen ends; the host goes on.
    Quit,
    /// Says how to quit.
    AskToQuit,
    /// The program is put to sleep.
    Suspend,

    /// Moves the focus to a pane.
    Focus(Pane),
    /// Moves the focus to the next pane.
    FocusNext,
    /// Moves the focus to the pane before.
    FocusPrevious,
    /// Moves the focus back to the composer.
    FocusComposer,
    /// Shows only the focused pane, or all again.
    ToggleZoom,
    /// Takes the focused pane off the screen.
    HidePane,
    /// Moves the focus to what waits for a person.
    LookAtAsks,
    /// Moves the focus to the queued messages.
    LookAtQueue,

    /// Scrolls the chat.
    ScrollChat(Step),
    /// Chooses an entry of the chat.
    ChooseEntry(Step),
    /// Opens or closes the chosen entry.
    ToggleEntry,
    /// Opens or closes all tool calls and thinking.
    ToggleDetails,
    /// Chooses what a person said before, or after.
    ChooseSaid(Step),
    /// Copies the chosen entry.
    CopyEntry,
    /// Shows the chosen entry in the person's own program.
    ShowEntry(Viewer),
    /// Shows the conversation in the person's own program.
    ShowChat(Viewer),
    /// That program ended.
    Shown(Result<(), String>),
    /// Copies a block of code of the chosen entry, then the one before it.
    CopyCode,
    /// Begins to search the chat.
    OpenSearch,
    /// Adds words to what is searched for.
    TypeSearch(String),
    /// Takes the last character of it back.
    BackspaceSearch,
    /// Keeps what is searched for, to go from match to match.
    KeepSearch,
    /// Ends the search.
    LeaveSearch,
    /// Goes to another match.
    Seek(Step),

    /// Changes the text being written.
    Edit(Edit),
    /// Types characters that came together.
    Type(String),
    /// Adds pasted text.
    Paste(String),
    /// Sends what is written.
    Send,
    /// Sends what is written, for when Main has given its answer.
    SendLater,
    /// Shows a paste in full.
    ExpandPaste,
    /// Hands the text to the person's own editor.
    EditOutside,
    /// The editor gave this text back.
    EditedOutside(Result<String, String>),
    /// Looks for a text that was sent before, in any Task.
    SearchHistory,
    /// Picks a file to name.
    PickFile,
    /// Takes out what is written.
    ClearComposer,
    /// Shows an older text of the history.
    HistoryOlder,
    /// Shows a newer text of the history.
    HistoryNewer,
    /// Leaves the edit or the answer; the message put aside comes back.
    LeavePurpose,

    /// Chooses a queued message.
    ChooseQueued(Step),
    /// Brings the chosen queued message into the composer.
    EditQueued,
    /// Takes the chosen queued message back.
    WithdrawQueued,
    /// Moves the chosen queued message among the others.
    MoveQueued(Move),
    /// Has the chosen queued message enter at the next boundary, or after the answer.
    ToggleDelivery,

    /// Chooses among what waits for a person.
    ChooseAsk(Step),
    /// Scrolls what is asked.
    ScrollAsk(Step),
    /// Answers the approval that is shown.
    AnswerApproval(ApprovalAnswer),
    /// Judges the point of acceptance that is shown.
    JudgeCheck(CheckState),
    /// Chooses among the options of a question.
    ChooseOption(Step),
    /// Answers with the chosen option.
    TakeOption,
    /// Answers a question in words, or says why something must not run.
    WriteAnswer,

    /// Stops the current step of Main.
    Interrupt,
    /// Lets the command that runs go on as a Job.
    Background,
    /// Scrolls the pane that has the focus.
    ScrollPane(Step),

    /// Scrolls what a command of the person printed.
    ScrollShell(Step),
    /// Puts a command of the person and what it printed into the message.
    KeepShell,
    /// Tells a command of the person to end.
    StopShell,
    /// Takes over the terminal of a command of the person.
    AttachShell,

    /// Does something in the pane of Jobs.
    Jobs(JobsAct),
    /// Does something in the pane of Subagents.
    Agents(AgentsAct),
    /// Does something in the Inbox.
    Inbox(InboxAct),
    /// Does something with what is shown whole.
    Paper(PaperAct),
    /// The terminal of a Job was left.
    Attached(Result<(), String>),

    /// Does something in the Editor pane.
    Editor(EditorAct),

    /// Shows the list of all Tasks.
    OpenTasks,
    /// Chooses a Task of the list.
    ChooseTask(Step),
    /// Narrows the list of Tasks to what is typed.
    FilterTasks,
    /// Adds words to what it is narrowed to.
    TypeFilter(String),
    /// Takes the last character of it back.
    BackspaceFilter,
    /// Keeps the list narrowed.
    KeepFilter,
    /// Lists all Tasks again.
    LeaveFilter,
    /// Opens the chosen Task.
    OpenTask,
    /// Starts an empty chat for a new Task.
    NewTask,
    /// Shows archived Tasks too, or not.
    ToggleArchived,
    /// Pauses the chosen Task, or lets it go on.
    PauseTask,
    /// Puts the chosen Task away, or takes it out again.
    ArchiveTask,
    /// Pauses the open Task.
    Pause,
    /// Lets the open Task go on.
    Resume,
    /// Ends the open Task.
    Cancel,
    /// Shows all commands.
    OpenCommands,
    /// Asks for the word that a command needs.
    Ask(Wish),
    /// Chooses in the picker.
    ChoosePick(Step),
    /// Takes what is chosen in the picker.
    Pick,
    /// Shows which key arrives.
    OpenKeys,
    /// Shows that this key arrived.
    ShowKey(Key),
    /// Shows the keys.
    OpenHelp,
    /// Scrolls the keys.
    ScrollHelp(Step),
    /// Closes what covers the panes.
    CloseOverlay,

    /// Trusts the folder.
    TrustFolder,
    /// Leaves the folder untrusted for now.
    TrustLater,

    /// The wheel turned over a place.
    Wheel {
        /// Column.
        column: u16,
        /// Row.
        row: u16,
        /// Which way.
        step: Step,
    },
    /// The border beside the chat moves so many columns to the right, or to the left.
    MoveBorder(i16),
    /// The focused pane gets so many rows more, or fewer; the chat: columns.
    Grow(i16),
    /// The arrangement is as it was in the beginning.
    ResetLayout,
    /// The pointer moved with its button held.
    Drag {
        /// Column.
        column: u16,
        /// Row.
        row: u16,
    },
    /// The button was let go.
    Release,
    /// A place was clicked.
    Click {
        /// Column.
        column: u16,
        /// Row.
        row: u16,
    },

    /// The terminal answered a question of ours.
    Answered(Answer),
    /// The person looks at this terminal, or elsewhere.
    Looks(Looking),

    /// The host, or the way to it, has something to say.
    News(News),
    /// The parts of speech of some code were found out.
    Painted(Job, Coloured),
}

/// What came from the host, or of the way to it.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The connection stands.
    Connected {
        /// The last recorded event.
        seq: Seq,
        /// The host's ownership number.
        fence: Fence,
    },
    /// The connection is gone and is being made again; the words say why it can't be made, if so.
    Lost(String),
    /// The host does not take this client.
    Refused(String),
    /// A command was carried out.
    Accepted(CommandId, Receipt),
    /// A command was refused.
    Rejected(CommandId, Rejection),
    /// A question was refused.
    Unanswered(String),
    /// The answers for a Task that is being opened.
    Opened(Box<Opening>),
    /// Older rows.
    Older(AgentId, TranscriptPage),
    /// The newest rows of a Subagent's trajectory.
    Trajectory(AgentId, TranscriptPage),
    /// All Tasks.
    Tasks(Vec<Task>),
    /// What was sent in any Task, oldest first.
    Sent(Vec<String>),
    /// Files of the folder.
    Files {
        /// Which search found them.
        search: u64,
        /// Their paths from the folder on.
        paths: Vec<String>,
        /// Whether these are the last.
        last: bool,
    },
    /// The first lines of a file.
    Preview(Preview),
    /// How a command of the person stands, and the end of what it printed.
    Shell(Box<JobView>, LogPage),
    /// The model was kept as the default, in this file, or could not be.
    ModelKept(Result<String, String>),
    /// The Jobs there are.
    Jobs(Vec<JobView>),
    /// What the Editor asked for.
    Editor(EditorNews),
    /// Lines of a Job's log.
    JobLog(JobId, LogPage),
    /// Lines of a Job's log in which a pattern was found.
    JobFound(JobId, String, LogPage),
    /// In which Tasks something waits for a person: once for each approval and question.
    Waiting(Vec<TaskId>),
    /// What the person said of the folder.
    Trust(Option<bool>),
    /// The text kept for a pane.
    Draft {
        /// The pane.
        pane: String,
        /// The text.
        text: String,
    },
    /// Something was recorded.
    Recorded(Box<Recorded>),
    /// Something is shown and not stored.
    Transient(Transient),
    /// Pushes were left out after this event.
    Lagged(Seq),
}

/// Something the screen wants from the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Have the host carry a command out, once, however often it is sent.
    Submit {
        /// The command's id.
        id: CommandId,
        /// What is wanted.
        wanted: UserCommand,
    },
    /// Ask for everything of a Task, then have its pushes.
    Open(TaskId),
    /// Ask for rows before one.
    Older {
        /// Whose.
        agent: AgentId,
        /// Before this row.
        before: u64,
    },
    /// Ask for the newest rows of a Subagent.
    Trajectory {
        /// Whose.
        agent: AgentId,
    },
    /// Have pushes after an event, of all Tasks: what waits in another one is shown here too.
    Subscribe {
        /// After this event.
        after: Seq,
    },
    /// Ask in which Tasks something waits for a person.
    AskWaiting,
    /// Ask for all Tasks.
    ListTasks {
        /// Archived ones too.
        archived: bool,
    },
    /// Ask for what was sent in any Task.
    ListSent,
    /// Look for the files of a folder; an earlier search ends.
    FindFiles {
        /// Which search this is.
        search: u64,
        /// The folder.
        folder: String,
    },
    /// Look at the first lines of a file.
    Preview {
        /// The folder.
        folder: String,
        /// The path from there.
        path: String,
    },
    /// Ask how a command of the person stands.
    LookAtShell(JobId),
    /// Lend the terminal to the person's pager, for a Job's log.
    Page(JobId),
    /// Keep this model as the default of new Tasks.
    KeepModel(String),
    /// Ask which Jobs there are.
    ListJobs {
        /// Those that have ended too.
        ended: bool,
    },
    /// Ask for lines of a Job's log.
    ReadJob {
        /// Whose.
        job: JobId,
        /// From where.
        place: LogPlace,
    },
    /// Look for a pattern in a Job's log.
    SearchJob {
        /// Whose.
        job: JobId,
        /// What.
        pattern: String,
        /// From this byte on.
        from: u64,
    },
    /// Ask something for the Editor.
    Editor(EditorAsk),
    /// Hand the terminal to a Job until it is left.
    Attach(JobId),
    /// Hand the terminal to the person's editor, with this text.
    EditOutside(String),
    /// Hand the terminal to a program that shows this text.
    Show(Viewer, String),
    /// Ask what the person said of a folder.
    AskTrust(Folder),
    /// Ask for the text kept for a pane.
    LoadDraft {
        /// Whose.
        client: ClientId,
        /// The pane.
        pane: String,
    },
    /// Have the text of a pane kept.
    KeepDraft {
        /// The pane.
        pane: String,
        /// The text.
        text: String,
    },
    /// Put text on the clipboard of the terminal.
    Copy(String),
    /// Put the program to sleep.
    Suspend,
    /// End the screen.
    Quit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_stays_within_its_list() {
        assert_eq!(Step::Up.apply(0, 5, 3), 0);
        assert_eq!(Step::Down.apply(4, 5, 3), 4);
        assert_eq!(Step::HalfDown.apply(0, 9, 3), 2);
        assert_eq!(Step::End.apply(0, 0, 0), 0);
    }
}
