//! Why this room refuses: what is wrong and what to do, in the same words for people and models.

use crate::domain::{Rejection, rejection::RejectionKind};

/// Why an operation, an import, a merge or a revision was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No adapter has this kind.
    #[error("there is no kind `{kind}`")]
    UnknownKind {
        /// What was asked for.
        kind: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The bytes are not text as we keep it.
    #[error("not text: {why}")]
    NotText {
        /// What was found, and where.
        why: String,
    },
    /// The request is malformed or can't be carried out as it stands.
    #[error("{what}")]
    Invalid {
        /// What is wrong.
        what: String,
    },
    /// An anchor matches nothing.
    #[error("{anchor} is not in the document")]
    NoSuchAnchor {
        /// The anchor in words.
        anchor: String,
        /// What comes nearest.
        nearest: Vec<String>,
    },
    /// An anchor matches in several places.
    #[error("{anchor} is in {count} places")]
    Ambiguous {
        /// The anchor in words.
        anchor: String,
        /// In how many places.
        count: usize,
        /// The first of them, each with an anchor that is unique.
        places: Vec<String>,
    },
    /// Lines are not what they were when the anchor was made.
    #[error("lines {from} to {to} are not what they were: their hash is {now}, not {expected}")]
    StaleLines {
        /// The first line.
        from: usize,
        /// The last line.
        to: usize,
        /// The hash that was given.
        expected: String,
        /// The hash of what stands there now.
        now: String,
        /// Where the meant lines stand now, if they do.
        moved_to: Option<(usize, usize)>,
        /// The start of what stands there now.
        excerpt: String,
    },
    /// The operation would leave the content as it is.
    #[error("nothing would change: {why}")]
    Unchanged {
        /// Why.
        why: String,
    },
    /// The kind or the operation needs no engine, yet an outcome of one came.
    #[error("{what} was not asked of an engine")]
    NotAsked {
        /// What came.
        what: String,
    },
    /// An engine is needed, and nothing here runs one.
    #[error("{engine} is needed for this, and nothing here runs it")]
    NoEngine {
        /// Which.
        engine: String,
    },
    /// The engine's answer can't be used.
    #[error("the engine's answer can't be used: {why}")]
    BadOutcome {
        /// What is wrong with it.
        why: String,
    },
    /// The content breaks a law of its kind.
    #[error("the content is not valid: {why}")]
    BadContent {
        /// Which.
        why: String,
    },
    /// What is kept does not fit together.
    #[error("the kept content is damaged: {why}")]
    Damaged {
        /// What was found.
        why: String,
    },
    /// The format is not known to the kind.
    #[error("a {kind} can't be exported as {format}")]
    NoFormat {
        /// The kind.
        kind: String,
        /// What was asked for.
        format: String,
        /// What there is.
        known: Vec<String>,
    },
}

impl Refusal {
    /// What to do about it; empty when nothing can be done.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownKind { known, .. } => format!("kinds: {}", known.join(", ")),
            Self::NotText { .. } => "convert it to UTF-8 first, or keep it as a plain file".into(),
            Self::NoSuchAnchor { nearest, .. } if nearest.is_empty() => {
                "look at the outline or read the document, then name what is there".into()
            }
            Self::NoSuchAnchor { nearest, .. } => format!("nearest: {}", nearest.join(" · ")),
            Self::Ambiguous { places, .. } => {
                format!("say more (a longer path or quote, before, after), or use one of: {}", places.join(" · "))
            }
            Self::StaleLines { moved_to: Some((from, to)), .. } => format!("the lines you mean are now {from} to {to}"),
            Self::StaleLines { from, now, excerpt, .. } => {
                format!("read them again; line {from} is now: {excerpt} (hash {now})")
            }
            Self::NoEngine { engine } => {
                format!("run {engine} by hand on the document's own file: `cowork resources export NAME --to FILE`")
            }
            Self::Damaged { .. } => "run `cowork doctor`".into(),
            Self::NoFormat { known, .. } => format!("formats: {}", known.join(", ")),
            Self::Invalid { .. }
            | Self::Unchanged { .. }
            | Self::NotAsked { .. }
            | Self::BadOutcome { .. }
            | Self::BadContent { .. } => String::new(),
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let kind = match &refusal {
            Refusal::UnknownKind { .. } | Refusal::NoSuchAnchor { .. } | Refusal::NoFormat { .. } => {
                RejectionKind::NotFound
            }
            Refusal::StaleLines { .. } | Refusal::Unchanged { .. } | Refusal::NotAsked { .. } => {
                RejectionKind::WrongState
            }
            Refusal::NotText { .. }
            | Refusal::Invalid { .. }
            | Refusal::Ambiguous { .. }
            | Refusal::BadOutcome { .. }
            | Refusal::NoEngine { .. }
            | Refusal::BadContent { .. } => RejectionKind::Invalid,
            Refusal::Damaged { .. } => RejectionKind::Storage,
        };
        Rejection::new(kind, refusal.to_string(), refusal.hint())
    }
}
