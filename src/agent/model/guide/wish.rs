//! What a person can wish for, in words of the guide.

/// One wish.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// What is in this folder, and what the project is.
    Overview,
    /// What is in a folder.
    List { path: String },
    /// A file, or some lines of it.
    Read { path: String, lines: Lines },
    /// How much there is of something.
    Count(Count),
    /// Text in files.
    Search { text: String, regex: bool, place: Place },
    /// Files by their name.
    Find { pattern: String },
    /// The headings or definitions of a file.
    Outline { path: String },
    /// How two files differ.
    Compare { old: String, new: String },
    /// Facts of a file.
    Describe { path: String },
    /// Marks of unfinished work.
    Todos { place: Place },
    /// The largest files.
    Largest { count: usize, path: String },
    /// A command.
    Run { command: String },
    /// Something with what runs in the background.
    Job(JobWish),
    /// Tests, build, or other things each kind of project has its command for.
    Project(Chore),
    /// A new file; not over one that is there.
    Create { path: String, content: String },
    /// A file, whether it is there or not.
    Write { path: String, content: String },
    /// More at the end of a file.
    Append { path: String, content: String },
    /// Other words in a file.
    Replace { path: String, old: String, new: String, all: bool },
    /// A page.
    Fetch { url: String },
    /// A question to the person.
    Ask { question: String, options: Vec<String> },
    /// What the guide can do.
    Help,
    /// How to connect a model.
    Connect,
    /// What the guide is.
    Who,
    /// Where we are.
    Where,
    /// Good day.
    Greeting,
    /// Thank you.
    Thanks,
    /// Stop what was asked for before.
    Stop,
    /// A message of the runtime, not of a person.
    Notice { text: String },
    /// News of a Job.
    JobNews { text: String },
    /// Nothing was said.
    Nothing,
    /// More steps than any wish takes.
    TooLong,
    /// None of these; a likeness to one, if there is any.
    Unknown { text: String, like: Option<&'static str> },
}

impl Wish {
    /// The path that "it" means after this wish.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::List { path }
            | Self::Read { path, .. }
            | Self::Outline { path }
            | Self::Describe { path }
            | Self::Create { path, .. }
            | Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Replace { path, .. }
            | Self::Count(Count::Text { path })
            | Self::Compare { new: path, .. } => Some(path),
            Self::Search { place, .. } | Self::Count(Count::Matches { place, .. }) if place.path != "." => {
                Some(&place.path)
            }
            Self::Search { .. } | Self::Count(_) => None,
            Self::Overview
            | Self::Find { .. }
            | Self::Todos { .. }
            | Self::Largest { .. }
            | Self::Run { .. }
            | Self::Project(_)
            | Self::Job(_)
            | Self::JobNews { .. }
            | Self::Fetch { .. }
            | Self::Ask { .. }
            | Self::Help
            | Self::Connect
            | Self::Who
            | Self::Where
            | Self::Greeting
            | Self::Thanks
            | Self::Stop
            | Self::Notice { .. }
            | Self::Nothing
            | Self::TooLong
            | Self::Unknown { .. } => None,
        }
    }
}

/// Something with a Job; where none is named, the only one that runs is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JobWish {
    /// Run a command in the background, and tell what it prints.
    Start { command: String, watch: Option<String> },
    /// Which there are.
    List,
    /// What one printed last.
    Log { job: Option<String> },
    /// End one.
    Stop { job: Option<String> },
}

/// Which lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// All.
    All,
    /// From one to another, both included.
    Range(u64, u64),
    /// From one on.
    From(u64),
    /// The last so many.
    Last(u64),
}

/// Where to look: a folder or file, and which files in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) glob: Option<String>,
}

impl Place {
    /// The folder we are in.
    pub(super) fn here() -> Self {
        Self { path: ".".into(), glob: None }
    }
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Count {
    /// Lines, words and characters of a file.
    Text { path: String },
    /// Lines of all files of a kind.
    Lines { place: Place },
    /// Files.
    Files { place: Place },
    /// How often a text occurs.
    Matches { text: String, place: Place },
}

/// What every kind of project has its own command for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chore {
    Test,
    Build,
}
