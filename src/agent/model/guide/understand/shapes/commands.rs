//! How people ask for commands, and for what commands do best.

use super::super::super::wish::{Chore, Wish};
use super::{Add, Sees};

/// Programs that are no English word and so begin nothing but a command.
const PROGRAMS: &str = r"git|cargo|rustc|npm|npx|pnpm|node|python3?|pip3?|uv|pytest|cmake|docker|podman|kubectl
    |rg|wc|sed|awk|jq|xargs|printf|seq|uname|whoami|hostname|uptime|mkdir|rmdir|chmod|chown|curl|wget|rsync
    |gcc|clang|ls|du|df|ps|cd|cp|mv|rm|ln|echo|touch|tail|bash|sh|sha256sum|md5sum|nproc|systemctl|journalctl
    |brew|apt|mvn|gradle|javac|grep|printenv|pwd|lscpu|lsblk|cowork|\./\S+
    |go (?:build|test|run|vet|mod|fmt|get|install|version)|make (?:all|install|clean|test|build|check|lint|docs)";

/// Programs that are English words too: they begin a command only where options follow.
const WORDS: &str = "cat|head|sort|uniq|cut|tr|find|fd|date|id|cd|env|which|stat|file|free|top|kill|sleep|test
    |tar|zip|unzip|make|go|just|diff|patch|tree|java|ruby|perl|php|lua|host|mount|ip|ping|yarn|deno|bun|tee|time";

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::{Content, Sentence};
    add(Content, r"!\s*(?P<command>.+)", |found, _| command(found.raw("command")?));
    add(Content, r"(?P<command>`[^`]+`)[.!?]?", |found, _| command(found.raw("command")?));
    add(
        Sentence,
        r"what (?:does|is the output of|do you get from)\s+(?P<command>`[^`]+`)(?:\s+(?:print|say|show|output|
            do|give|return)s?)?",
        |found, _| command(found.raw("command")?),
    );
    add(
        Sentence,
        r"(?:run|execute|start|do)?\s*(?:all\s+)?(?:the\s+|my\s+|our\s+)?(?:unit |whole |full )?
            tests?(?: suite)?(?: again)?|test (?:it|this|everything|the (?:project|code|program))|
            do the tests (?:pass|work)|are the tests (?:green|passing)",
        |_, _| Some(Wish::Project(Chore::Test)),
    );
    add(
        Sentence,
        r"(?:build|compile)(?:\s+(?:it|this|everything|the (?:project|code|program)|this project))?|
            run the build|does (?:it|this|the project) (?:build|compile)",
        |_, _| Some(Wish::Project(Chore::Build)),
    );
    add(
        Content,
        r"(?:run|execute|exec|invoke|launch)\s+(?:the\s+|this\s+|a\s+)?(?:(?:shell\s+|terminal\s+)?
            commands?\s*:?\s*)?(?P<command>.+)",
        |found, _| command(found.raw("command")?),
    );
    // What has options, pipes or redirections is no English.
    let flags =
        format!(r"(?P<command>(?:{PROGRAMS}|{WORDS})\s+(?:.*\s)?(?:-{{1,2}}[a-z][\w-]*\b.*|\|.*|>.*|&&.*|2>.*))");
    add(Content, &flags, |found, _| command(found.raw("command")?));
    add(
        Sentence,
        r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:git\s+)?(?:recent\s+|last\s+|latest\s+)*(?:commits?|history|
            git log)|what (?:was|were)(?: the)? (?:last|recent|latest)? ?commits?(?: about)?",
        |_, _| command("git log --oneline -15"),
    );
    add(
        Sentence,
        r"(?:what(?:'s| has| is| have)? (?:changed|modified|new|uncommitted|i changed)|(?:show\s+(?:me\s+)?)?
            (?:the\s+|my\s+)?(?:uncommitted\s+|local\s+)?changes)",
        |_, _| command("git status --short --branch"),
    );
    add(
        Sentence,
        r"what (?:time|day|date) is (?:it|today)|what(?:'s| is) (?:the (?:time|date)|today(?:'s date)?)|
            (?:the )?(?:time|date)",
        |_, _| command("date"),
    );
}

/// A command, out of its backticks.
pub(super) fn command(text: &str) -> Option<Wish> {
    let text = text.trim();
    let inner = text.trim_end_matches(['.', '!', '?']).strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let text = inner.filter(|inner| !inner.contains('`')).unwrap_or(text).trim();
    // "Run it": what, can't be known here.
    let vague =
        ["", "it", "this", "that", "them", "something", "anything"].contains(&text.to_ascii_lowercase().as_str());
    (!vague).then(|| Wish::Run { command: text.to_owned() })
}

/// Adds commands that are nothing but a program and its words: whatever else a piece could be comes first.
pub(super) fn add_bare_programs(add: Add) {
    add(Sees::Content, &format!(r"(?P<command>(?:{PROGRAMS})(?:\s+[^?]*)?|date|env|make|id|free|tree)"), |found, _| {
        command(found.raw("command")?)
    });
}

/// A word for the shell.
pub(in super::super::super) fn quoted(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '=' | ':' | ',' | '@' | '%');
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
