//! How people ask for what runs in the background.

use super::super::super::wish::{JobWish, Wish};
use super::{Add, Found, Sees};

/// Adds the shapes; they stand before those of commands, which would take the background for a word.
pub(super) fn add(add: Add) {
    use Sees::{Content, Sentence};
    add(
        Content,
        r"(?:run|start|execute|launch)\s+(?P<command>.+?)\s+(?:in the background|as a (?:background )?job)
            (?:\s*,?\s*and\s+(?:tell|notify|let)\s+me(?:\s+know)?\s+when\s+it(?:'s|\s+is)?\s+(?:ends|done|finished|has ended|over)
            (?:\s+or\s+(?:says|prints)\s+(?P<watch>.+?))?)?[.!]?",
        |found, _| start(found),
    );
    add(Content, r"(?:run|start)\s+(?:in the background|a (?:background )?job)\s*:?\s+(?P<command>.+)", |found, _| {
        start(found)
    });
    add(
        Sentence,
        r"(?:(?:show|list)\s+(?:me\s+)?)?(?:my|the|all(?: the)?)?\s*(?:background |running )?jobs|
            what(?:'s| is) running(?: in the background)?|(?:which|what) jobs (?:are there|are running|run|do i have)",
        |_, _| Some(Wish::Job(JobWish::List)),
    );
    add(
        Sentence,
        r"what (?:does|did|has) (?:the |my )?(?:job )?(?P<job>j_\w+|it|the job) (?:say|said|print|printed)(?: so far)?|
            (?:show|print)\s+(?:me\s+)?(?:the )?(?:log|logs|output) of (?:the |my )?(?:job )?(?P<log>j_\w+|it|the job|job)|
            what does (?:the |my )?job say",
        |found, _| Some(Wish::Job(JobWish::Log { job: id(found, &["job", "log"]) })),
    );
    add(
        Sentence,
        r"(?:stop|kill|end|terminate|cancel) (?:(?:the |my )?(?:background )?job(?:\s+(?P<job>j_\w+))?|(?P<id>j_\w+))",
        |found, _| Some(Wish::Job(JobWish::Stop { job: id(found, &["job", "id"]) })),
    );
}

fn start(found: &Found) -> Option<Wish> {
    let Wish::Run { command } = super::commands::command(found.raw("command")?)? else { return None };
    Some(Wish::Job(JobWish::Start { command, watch: found.said("watch") }))
}

/// The Job that is named; none where it is only pointed at.
fn id(found: &Found, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| found.raw(name)).filter(|word| word.starts_with("j_")).map(str::to_owned)
}
