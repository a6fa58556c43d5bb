//! How the screen looks and behaves on this terminal: what the person chose, already read.

use super::keymap::Keymap;
use super::theme::{BuiltIn, Theme};

/// Which theme is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Choice {
    /// Dark or light, as the terminal says.
    #[default]
    Auto,
    /// One that comes with the program.
    BuiltIn(BuiltIn),
    /// One of the person's own.
    Own {
        /// What its file is called.
        name: String,
        /// What it says.
        theme: Box<Theme>,
    },
}

impl Choice {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::BuiltIn(theme) => theme.name(),
            Self::Own { name, .. } => name,
        }
    }
}

/// How much moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Motion {
    /// What works turns.
    #[default]
    Full,
    /// Nothing moves by itself but the seconds.
    Reduced,
}

impl Motion {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reduced => "reduced",
        }
    }
}

/// How the screen is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Panes with frames.
    #[default]
    Panes,
    /// Plain lines, one pane at a time, no frames, nothing that turns: for screen readers.
    Plain,
}

impl Form {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panes => "panes",
            Self::Plain => "plain",
        }
    }
}

/// How a person is called who looks elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// The bell rings.
    pub bell: bool,
    /// The terminal shows a notification.
    pub notify: bool,
    /// The title of the window says how it stands.
    pub title: bool,
}

impl Default for Calls {
    fn default() -> Self {
        Self { bell: true, notify: true, title: true }
    }
}

/// Everything a person chose about the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {
    /// Which theme.
    pub theme: Choice,
    /// Which keys.
    pub keymap: Keymap,
    /// How much moves.
    pub motion: Motion,
    /// How it is put.
    pub form: Form,
    /// How a person is called.
    pub calls: Calls,
}

impl Look {
    /// The theme to begin with, and whether the terminal is to be asked for a better one.
    pub fn begin(&self, read: impl Fn(&str) -> Option<String>) -> (Theme, Option<BuiltIn>) {
        if BuiltIn::wants_none(&read) {
            return (BuiltIn::None.load(), None);
        }
        match &self.theme {
            Choice::Own { theme, .. } => ((**theme).clone(), None),
            Choice::BuiltIn(theme) => (theme.load(), None),
            Choice::Auto => {
                let guess = BuiltIn::from_environment(read);
                (guess.load(), Some(guess))
            }
        }
    }
}
