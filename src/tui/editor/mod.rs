//! The Editor pane on this terminal: which Resources there are, and the document that is open.
//!
//! The text, its carets and what others commit to it are the [buffer](crate::resources::editor)'s;
//! here is what one terminal adds: where it looks, what it asks the host for and what is due. It
//! decides nothing about a Resource: a save is a commit like anybody's, and one that comes too late is
//! kept as a Candidate.

pub mod conflict;
pub mod doc;
pub mod review;
pub mod rows;

use super::action::Step;
use super::colours::Colours;
use super::model::Refresh;
use crate::domain::{
    Actor, ActorKind, Blame, Candidate, CandidateId, ClientId, ContentOf, Resource, ResourceId, Revision,
};
use crate::resources::delta::Patch;
use crate::resources::editor::{Delete, Draft, Motion, Reach};
use crate::resources::merge::Choice;
use doc::Doc;
use ratatui::layout::Rect;

/// Something done in the Editor pane.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorAct {
    /// Chooses in the list of Resources, or of Candidates.
    Choose(Step),
    /// Opens the chosen Resource.
    Open,
    /// Goes back to the list of Resources.
    Close,
    /// Goes back to the text.
    Leave,

    /// Types a character.
    Type(char),
    /// Puts text in.
    Paste(String),
    /// Begins a new line.
    Newline,
    /// Indents what is selected, or types an indentation.
    Indent,
    /// Takes an indentation away.
    Outdent,
    /// Deletes.
    Delete(Delete),
    /// Moves the caret.
    Go(Motion, Reach),
    /// Moves the caret by rows as they are drawn, or by pages.
    Rows(Step, Reach),
    /// Takes the last step of one's own back.
    Undo,
    /// Does it again.
    Redo,
    /// Selects everything.
    SelectAll,
    /// Copies what is selected.
    Copy,
    /// Copies and deletes what is selected.
    Cut,
    /// Commits the text.
    Save,
    /// Goes to the next match.
    FindNext,
    /// Goes to the match before.
    FindPrevious,
    /// Replaces the match and goes to the next one.
    Replace,
    /// Replaces every match.
    ReplaceAll,
    /// Goes to the next change of others, which counts as seen then.
    NextChange,
    /// Shows who wrote each line, or not.
    ToggleAuthors,
    /// Shows the text as it is read beside it, or not.
    TogglePreview,
    /// Hands the text to the person's own editor.
    Outside,
    /// Scrolls what is shown.
    Scroll(Step),

    /// Shows the revisions.
    History,
    /// Goes to an older or a newer revision.
    Slide(Step),
    /// Makes the revision that is shown the newest one.
    BringBack,
    /// Shows the Candidates.
    Candidates,
    /// Makes the chosen Candidate a revision.
    Accept,
    /// Decides against the chosen Candidate.
    Reject,
    /// Brings the chosen Candidate up to the revision that stands.
    Merge,

    /// Goes to another piece of the conflict.
    Piece(Step),
    /// Decides the piece.
    Take(Choice),
    /// Has the piece written by hand, in the person's own editor.
    ByHand,
    /// Makes what was decided the next revision.
    Settle,
    /// Hands the conflict to Main.
    ToMain,
}

/// Something the Editor wants to know from the host.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorAsk {
    /// Which Resources there are, and which Candidates wait.
    List,
    /// A text, with what was not saved of it.
    Open {
        /// Of which Resource.
        resource: ResourceId,
        /// Whose drafts.
        client: ClientId,
    },
    /// What leads from the text that is here to a later revision.
    Catch {
        /// Of which Resource.
        resource: ResourceId,
        /// The text that is here.
        from: String,
        /// What that is.
        ground: Ground,
        /// The revision.
        to: u64,
    },
    /// Who wrote the lines of a revision.
    Blame {
        /// Of which Resource.
        resource: ResourceId,
        /// Of which revision.
        revision: u64,
    },
    /// The revisions, and the Candidates that can still become something.
    History(ResourceId),
    /// The difference of two contents.
    Compare {
        /// The older one; absent where there is none.
        from: Option<ContentOf>,
        /// The newer one.
        to: ContentOf,
    },
    /// The three texts of a Candidate that came too late.
    Sides(CandidateId),
}

/// What the text of the Editor is based on: a revision, or a Candidate that stands apart from it.
pub type Ground = (u64, Option<CandidateId>);

/// What the Editor asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum EditorNews {
    /// Which Resources there are, and which Candidates wait.
    Listed(Vec<Resource>, Vec<Candidate>),
    /// A text is there.
    Opened(Box<Opened>),
    /// It can't be edited here.
    Unopened(String),
    /// What leads to a later revision.
    Caught {
        /// Of which Resource.
        resource: ResourceId,
        /// From what.
        ground: Ground,
        /// To which revision.
        to: u64,
        /// Who wrote that one.
        by: Actor,
        /// The change.
        patch: Patch,
    },
    /// Who wrote the lines of a revision.
    Blamed(ResourceId, u64, Vec<Blame>),
    /// The revisions, newest first, and the open Candidates.
    History(ResourceId, Vec<Revision>, Vec<Candidate>),
    /// A difference as lines with signs.
    Compared(ContentOf, String),
    /// The three texts of a Candidate.
    Sides(Box<Sides>),
    /// The host did not answer that.
    Unanswered(String),
}

/// A text that is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Of which Resource.
    pub resource: Resource,
    /// The revision of the text.
    pub revision: u64,
    /// The part that is edited.
    pub part: String,
    /// What it is.
    pub media_type: String,
    /// The text.
    pub text: String,
    /// What was not saved of it.
    pub draft: Option<Draft>,
}

/// The three texts of a Candidate that came too late.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// The Candidate.
    pub candidate: Candidate,
    /// Who wrote the revision that stands.
    pub by: Actor,
    /// The revision that stands.
    pub onto: u64,
    /// What the edit was made on.
    pub base: String,
    /// The revision that stands.
    pub theirs: String,
    /// The Candidate.
    pub mine: String,
    /// What they are written in.
    pub media_type: String,
}

/// Whose text is with the person's own editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// The document.
    Text,
    /// A piece of a conflict.
    Piece,
}

/// The Editor pane.
#[derive(Debug, Default)]
pub struct Editor {
    /// The Resources, the newest change first.
    pub list: Vec<Resource>,
    /// The Candidates that can still become something, of all of them.
    pub waiting: Vec<Candidate>,
    /// The chosen Resource.
    pub chosen: usize,
    /// The question which there are.
    pub refresh: Refresh,
    /// The Resource that is being opened.
    pub opening: Option<ResourceId>,
    /// The document that is open.
    pub doc: Option<Box<Doc>>,
    /// What is looked for.
    pub find: Option<String>,
    /// What takes its place.
    pub with: Option<String>,
    /// What is with the person's own editor.
    pub outside: Option<Outside>,
}

impl Editor {
    /// The chosen Resource of the list.
    pub fn chosen(&self) -> Option<&Resource> {
        self.list.get(self.chosen)
    }

    /// Whether characters are typed into a document.
    pub fn types(&self) -> bool {
        self.doc.as_ref().is_some_and(|doc| doc.show == doc::Show::Text)
    }

    /// Fits the document to its pane.
    pub fn lay_out(&mut self, area: Rect, colours: &Colours) {
        if let Some(doc) = &mut self.doc {
            doc.lay_out(area, colours);
        }
    }
}

/// The name under which the host keeps what is not saved of a Resource.
pub fn kept_as(resource: &ResourceId) -> String {
    format!("editor/{resource}")
}

/// What a person calls an actor; `main` is the Main of the open Task.
pub fn who(actor: &Actor, main: Option<&str>) -> String {
    match actor.kind {
        ActorKind::Person if actor.id == "person" => "you".to_owned(),
        ActorKind::Person => actor.id.clone(),
        ActorKind::Agent if main == Some(actor.id.as_str()) => "Main".to_owned(),
        ActorKind::Agent => "agent".to_owned(),
        ActorKind::Job => "Job".to_owned(),
        ActorKind::Source => "Source".to_owned(),
        ActorKind::File => "file".to_owned(),
        ActorKind::System => "Cowork".to_owned(),
    }
}
