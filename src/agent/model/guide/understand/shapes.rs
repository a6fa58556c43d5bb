//! The table of shapes: how each wish can be said.
//!
//! Order matters: the first shape that fits is meant, so the particular ones stand before the
//! general ones. A shape fits the whole of a piece, without politeness and, unless it carries
//! content, without the marks at its end.

use super::super::wish::{Chore, Count, Lines, Place, Wish};
use super::Before;
use super::words::{self, PATH, SAID};
use regex::{Captures, Regex, RegexBuilder};
use std::sync::LazyLock;

/// What a shape is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// The piece without the marks at its end.
    Sentence,
    /// The piece with all that stands at its end: it is content, or a command.
    Content,
}

/// Makes a wish of what a shape found; `None` if it does not fit after all.
type Make = fn(&Found, &Before) -> Option<Wish>;

struct Shape {
    pattern: Regex,
    sees: Sees,
    make: Make,
}

/// What a shape found, by name.
struct Found<'a>(Captures<'a>);

impl Found<'_> {
    fn raw(&self, name: &str) -> Option<&str> {
        self.0.name(name).map(|found| found.as_str()).filter(|text| !text.trim().is_empty())
    }
    fn said(&self, name: &str) -> Option<String> {
        self.raw(name).map(|text| words::unquoted(text).to_owned()).filter(|text| !text.is_empty())
    }
    fn number(&self, name: &str) -> Option<u64> {
        self.raw(name)?.parse().ok()
    }
    /// A path, where "it" means the one named before.
    fn path(&self, name: &str, before: &Before) -> Option<String> {
        let text = self.raw(name)?;
        match text.trim().to_ascii_lowercase().as_str() {
            "it" | "that" | "this" | "them" | "both" => before.path.clone(),
            _ => Some(words::path(text)).filter(|path| !path.is_empty()),
        }
    }
    /// A place, where nothing said means here.
    fn place(&self, name: &str) -> Option<Place> {
        self.raw(name).map_or(Some(Place::here()), words::place)
    }
    fn content(&self, name: &str) -> String {
        self.0.name(name).map(|found| words::content(found.as_str())).unwrap_or_default()
    }
}

/// Reads one wish, and remembers the path it names.
pub(super) fn read(text: &str, before: &mut Before) -> Option<Wish> {
    let wish = read_once(text, before).or_else(|| read_once(&respelled(text)?, before))?;
    if let Some(path) = path_of(&wish) {
        before.path = Some(path.to_owned());
    }
    Some(wish)
}

fn read_once(text: &str, before: &Before) -> Option<Wish> {
    let content = words::bare(text);
    let sentence = words::without_end(content);
    SHAPES.iter().find_map(|shape| {
        let text = match shape.sees {
            Sees::Sentence => sentence,
            Sees::Content => content,
        };
        shape.pattern.captures(text).and_then(|found| (shape.make)(&Found(found), before))
    })
}

/// The wish behind words that fit no shape.
pub(super) fn unknown(text: &str) -> Wish {
    let lower = text.to_ascii_lowercase();
    let like =
        LIKENESSES.iter().find(|(words, _)| words.iter().any(|word| lower.contains(word))).map(|(_, like)| *like);
    Wish::Unknown { text: text.to_owned(), like }
}

/// What a word speaks of, and how that could be said.
const LIKENESSES: &[(&[&str], &str)] = &[
    (&["summar", "explain", "understand", "describe"], "describe README.md"),
    (&["replace", "rename", "change", "edit", "fix", "refactor"], "replace \"old words\" with \"new words\" in FILE"),
    (&["append", "add "], "append \"a line\" to FILE"),
    (&["write", "create", "make", "generate", "note"], "write FILE: what it should hold"),
    (&["count", "how many", "number of"], "count the lines in FILE"),
    (&["search", "find", "where", "grep"], "search for SOMETHING in FOLDER"),
    (&["compare", "diff"], "compare FILE and OTHER"),
    (&["read", "show", "open", "look"], "read FILE lines 1-20"),
    (&["run", "execute", "command", "install", "test", "build"], "run COMMAND"),
    (&["model", "llm", "api", "key", "ollama", "gpt"], "how do I connect a model?"),
    (&["http", "web", "page", "download"], "fetch https://example.com"),
];

/// The path that "it" means after a wish.
fn path_of(wish: &Wish) -> Option<&str> {
    match wish {
        Wish::List { path }
        | Wish::Read { path, .. }
        | Wish::Outline { path }
        | Wish::Describe { path }
        | Wish::Create { path, .. }
        | Wish::Write { path, .. }
        | Wish::Append { path, .. }
        | Wish::Replace { path, .. }
        | Wish::Count(Count::Text { path })
        | Wish::Compare { new: path, .. } => Some(path),
        Wish::Search { place, .. } | Wish::Count(Count::Matches { place, .. }) if place.path != "." => {
            Some(&place.path)
        }
        Wish::Search { .. } | Wish::Count(_) => None,
        Wish::Overview
        | Wish::Find { .. }
        | Wish::Todos { .. }
        | Wish::Largest { .. }
        | Wish::Run { .. }
        | Wish::Project(_)
        | Wish::Fetch { .. }
        | Wish::Ask { .. }
        | Wish::Help
        | Wish::Connect
        | Wish::Who
        | Wish::Where
        | Wish::Greeting
        | Wish::Thanks
        | Wish::Stop
        | Wish::Notice { .. }
        | Wish::Nothing
        | Wish::TooLong
        | Wish::Unknown { .. } => None,
    }
}

/// Words that begin wishes; a slip of the finger in one of them is put right.
const VERBS: &[&str] = &[
    "search",
    "find",
    "grep",
    "count",
    "read",
    "show",
    "print",
    "list",
    "outline",
    "compare",
    "describe",
    "summarise",
    "summarize",
    "write",
    "create",
    "append",
    "replace",
    "fetch",
    "download",
    "explain",
    "display",
    "execute",
    "locate",
    "change",
    "what",
];

/// Puts right one slip in the first word.
fn respelled(text: &str) -> Option<String> {
    let text = words::bare(text);
    let first = text.split_whitespace().next()?.trim_end_matches([',', ':']);
    let lower = first.to_ascii_lowercase();
    if lower.len() < 4 || VERBS.contains(&lower.as_str()) {
        return None;
    }
    let verb = VERBS.iter().find(|verb| one_slip(&lower, verb))?;
    Some(format!("{verb}{}", &text[first.len()..]))
}

/// Whether two words differ by one letter too many, too few, wrong, or by two that changed places.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    match (a, b) {
        ([], [_]) | ([_], []) => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) if a1 == b2 && a2 == b1 && a == b => true,
        ([_, rest @ ..], other) | (other, [_, rest @ ..]) if rest == other => true,
        ([_, ..], [_, rest @ ..]) => a == rest,
        _ => false,
    }
}

/// Programs that are no English word and so begin nothing but a command.
const PROGRAMS: &str = "git|cargo|rustc|npm|npx|pnpm|node|python3?|pip3?|uv|pytest|cmake|docker|podman|kubectl|rg|wc|sed|awk|jq|xargs\
    |printf|seq|uname|whoami|hostname|uptime|mkdir|rmdir|chmod|chown|curl|wget|rsync|gcc|clang|ls|du|df|ps|cd|cp|mv|rm|ln|echo|touch|tail\
    |bash|sh|sha256sum|md5sum|nproc|systemctl|journalctl|brew|apt|mvn|gradle|javac|grep|printenv|pwd|lscpu|lsblk|cowork\
    |go (?:build|test|run|vet|mod|fmt|get|install|version)|make (?:all|install|clean|test|build|check|lint|docs)|\\./\\S+";

/// Programs that are English words too: they begin a command only where options follow.
const WORDS: &str = "cat|head|sort|uniq|cut|tr|find|fd|date|id|cd|env|which|stat|file|free|top|kill|sleep|test|tar|zip|unzip|make|go|just\
    |diff|patch|tree|java|ruby|perl|php|lua|host|mount|ip|ping|yarn|deno|bun|tee|time";

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let mut shapes = Vec::new();
    let mut add = |sees: Sees, pattern: &str, make: Make| {
        let pattern = pattern.replace("PATH", PATH).replace("SAID", SAID);
        let pattern =
            RegexBuilder::new(&format!("^(?:{pattern})$")).case_insensitive(true).dot_matches_new_line(true).build();
        shapes.push(Shape { pattern: pattern.expect("BUG: a shape is no valid pattern"), sees, make });
    };
    talk(&mut add);
    commands(&mut add);
    changes(&mut add);
    counts(&mut add);
    finds(&mut add);
    looks(&mut add);
    last(&mut add);
    shapes
});

type Add<'a> = &'a mut dyn FnMut(Sees, &str, Make);

/// What is said to the guide itself.
fn talk(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:stop|cancel|abort|never ?mind|forget (?:it|that)|quit|enough)(?: (?:it|that|this|everything|all))?",
        |_, _| Some(Wish::Stop),
    );
    add(
        Sentence,
        r"(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day)|yo)(?:\s+(?:there|guide|cowork|again))?",
        |_, _| Some(Wish::Greeting),
    );
    add(
        Sentence,
        r"(?:thanks?|thank you|thx|ty|great|nice|perfect|cool|good|ok(?:ay)?|got it|well done|bye|goodbye|see you)(?:\s.{0,30})?",
        |found, _| {
            let rest = found.0[0].split_whitespace().skip(1).collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            let polite = [
                "",
                "you",
                "a lot",
                "so much",
                "very much",
                "guide",
                "job",
                "work",
                "again",
                "for that",
                "you very much",
                "you so much",
            ];
            polite.contains(&rest.as_str()).then_some(Wish::Thanks)
        },
    );
    add(
        Sentence,
        r"/?help|\?+|what can (?:you|i|it|this|cowork) do.*|what do you (?:do|know|understand).*|what (?:commands|requests|things) .*|(?:show|list|give)(?: me)? (?:the |some )?(?:help|commands|examples)|how (?:do|can) i use (?:this|you|it|cowork)|how does (?:this|it) work|(?:what|where) (?:now|do i start|should i do)|examples?|commands|getting started|usage",
        |_, _| Some(Wish::Help),
    );
    add(
        Sentence,
        r"(?:how (?:do|can|would|could|to|should)(?: i| we| you)?\s+)?(?:connect|use|configure|set ?up|setup|add|attach|switch to|change|choose|select|get|enable|plug in)(?: to| with)?\s+(?:(?:a|an|my|the|another|other|different|real|own|some|your|local)\s+)*(?:ai |language |local |openai |ollama |claude |anthropic )*(?:models?|llms?|ai|ollama|openai|chat ?gpt|gpt\S*|claude|anthropic|vllm|llama\S*|lm studio|openrouter|api[ -]?keys?|providers?)(?:\s.*)?",
        |_, _| Some(Wish::Connect),
    );
    add(
        Sentence,
        r"(?:(?:where|how) .*(?:api[ -]?key|openai_\w+|cowork_model).*|connect(?: a)? model|models?(?: setup| set-up)?|.*without (?:an )?ai.*)",
        |_, _| Some(Wish::Connect),
    );
    add(
        Sentence,
        r"(?:who|what) (?:are|r) (?:you|u)\b.*|(?:what|which) (?:model|ai|llm) (?:are you|is this|do you use|am i (?:talking|speaking) (?:to|with)).*|are you (?:an? |really |the |actually )*(?:ai|bot|robot|human|real|person|llm|model|chatgpt|gpt|claude|intelligent|machine).*|what(?:'s| is) your name|tell me about yourself|introduce yourself|what(?:'s| is) (?:the )?guide|what(?:'s| is) cowork",
        |_, _| Some(Wish::Who),
    );
    add(
        Sentence,
        r"where am i|where are we|what(?:'s| is) (?:the |my |this )?(?:current |working )*(?:folder|directory|dir|path)|(?:which|what) (?:folder|directory|dir)(?: is this| am i in| are we in)?|pwd",
        |_, _| Some(Wish::Where),
    );
    add(
        Sentence,
        r"ask me(?:\s+(?:something|anything|a question|one|back))?|(?:give|show) me (?:a|an example of a) question|(?:can you )?ask (?:me )?(?:a |some )?questions?",
        |_, _| {
            let options = ["Show what is here", "Say what you can do", "Nothing"].map(str::to_owned).to_vec();
            Some(Wish::Ask { question: "What should I do next?".into(), options })
        },
    );
    add(Sentence, r"ask me (?:if|whether|what|which|who|when|where|how|why)?\s*(?P<question>.+)", |found, _| {
        let all = found.0[0].trim();
        let question = all.get("ask me ".len()..)?.trim();
        let question = words::unquoted(
            question.strip_prefix("whether ").or_else(|| question.strip_prefix("if ")).unwrap_or(question),
        );
        let (stem, options) = options(question);
        let mut question = stem.trim().trim_end_matches(':').to_owned();
        question.push('?');
        Some(Wish::Ask { question: capitalised(&question), options })
    });
}

/// The alternatives of a question: "tea or coffee", "…: red, green or blue".
fn options(question: &str) -> (&str, Vec<String>) {
    let (stem, list) = match question.split_once(": ") {
        Some((stem, list)) => (stem, list),
        None => (question, question),
    };
    let Some((firsts, last)) = list.rsplit_once(" or ") else { return (question, Vec::new()) };
    let firsts: Vec<&str> = firsts.split(", ").collect();
    let short = |text: &&str| text.split_whitespace().count() <= 4;
    if list == question {
        // Without a colon only the words next to "or" can be meant.
        let first = firsts.last().and_then(|first| first.split_whitespace().next_back()).unwrap_or_default();
        let last = last.split_whitespace().next().unwrap_or_default();
        return (question, [first, last].iter().map(|word| word.trim_matches([',', '.', '?']).to_owned()).collect());
    }
    let all: Vec<&str> = firsts.into_iter().chain([last]).map(str::trim).collect();
    match all.iter().all(short) {
        true => (stem, all.into_iter().map(str::to_owned).collect()),
        false => (question, Vec::new()),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What is run.
fn commands(add: Add) {
    use Sees::{Content, Sentence};
    add(Content, r"!\s*(?P<command>.+)", |found, _| command(found.raw("command")?));
    add(Content, r"(?P<command>`[^`]+`)[.!?]?", |found, _| command(found.raw("command")?));
    add(
        Sentence,
        r"what (?:does|is the output of|do you get from)\s+(?P<command>`[^`]+`)(?:\s+(?:print|say|show|output|do|give|return)s?)?",
        |found, _| command(found.raw("command")?),
    );
    add(
        Sentence,
        r"(?:run|execute|start|do)?\s*(?:all\s+)?(?:the\s+|my\s+|our\s+)?(?:unit |whole |full )?tests?(?: suite)?(?: again)?|test (?:it|this|everything|the (?:project|code|program))|do the tests (?:pass|work)|are the tests (?:green|passing)",
        |_, _| Some(Wish::Project(Chore::Test)),
    );
    add(
        Sentence,
        r"(?:build|compile)(?:\s+(?:it|this|everything|the (?:project|code|program)|this project))?|run the build|does (?:it|this|the project) (?:build|compile)",
        |_, _| Some(Wish::Project(Chore::Build)),
    );
    add(
        Content,
        r"(?:run|execute|exec|invoke|launch)\s+(?:the\s+|this\s+|a\s+)?(?:(?:shell\s+|terminal\s+)?commands?\s*:?\s*)?(?P<command>.+)",
        |found, _| command(found.raw("command")?),
    );
    // What has options, pipes or redirections is no English.
    let flags =
        format!(r"(?P<command>(?:{PROGRAMS}|{WORDS})\s+(?:.*\s)?(?:-{{1,2}}[a-z][\w-]*\b.*|\|.*|>.*|&&.*|2>.*))");
    add(Content, &flags, |found, _| command(found.raw("command")?));
    add(
        Sentence,
        r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:git\s+)?(?:recent\s+|last\s+|latest\s+)*(?:commits?|history|git log)|what (?:was|were)(?: the)? (?:last|recent|latest)? ?commits?(?: about)?",
        |_, _| command("git log --oneline -15"),
    );
    add(
        Sentence,
        r"(?:what(?:'s| has| is| have)? (?:changed|modified|new|uncommitted|i changed)|(?:show\s+(?:me\s+)?)?(?:the\s+|my\s+)?(?:uncommitted\s+|local\s+)?changes)",
        |_, _| command("git status --short --branch"),
    );
    add(
        Sentence,
        r"what (?:time|day|date) is (?:it|today)|what(?:'s| is) (?:the (?:time|date)|today(?:'s date)?)|(?:the )?(?:time|date)",
        |_, _| command("date"),
    );
}

fn command(text: &str) -> Option<Wish> {
    let text = text.trim();
    let inner = text.trim_end_matches(['.', '!', '?']).strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let text = inner.filter(|inner| !inner.contains('`')).unwrap_or(text).trim();
    (!text.is_empty()).then(|| Wish::Run { command: text.to_owned() })
}

/// What changes files.
fn changes(add: Add) {
    use Sees::{Content, Sentence};
    const NAMED: &str = r"(?:called |named |at |in |to |into )?";
    let with = r"(?:\s*:\s*|\s+(?:with|containing|saying|that says|that contains|which says|holding)\s*(?:the\s+)?(?:contents?|text|words?|lines?)?\s*:?\s+)";
    // replace X with Y in FILE
    let scope = r"(?P<all>all|every|each|everywhere|any)?\s*(?:occurrences?\s+of|instances?\s+of|the\s+(?:text|word|words|line|string)\s+|the\s+)?\s*";
    add(
        Content,
        &format!(
            r"(?:replace|substitute|swap|exchange)\s+{scope}(?P<old>SAID)\s+(?:with|by|for)\s+(?P<new>SAID)\s+(?P<every>everywhere\s+)?(?:in|inside|within)\s+(?P<path>(?:the file\s+)?PATH)(?P<over>\s+everywhere|\s+throughout)?[.!]?"
        ),
        replacement,
    );
    add(
        Content,
        &format!(
            r"(?:change|rename|turn|correct|fix)\s+{scope}(?P<old>SAID)\s+(?:to|into)\s+(?P<new>SAID)\s+(?P<every>everywhere\s+)?(?:in|inside|within)\s+(?P<path>(?:the file\s+)?PATH)(?P<over>\s+everywhere|\s+throughout)?[.!]?"
        ),
        replacement,
    );
    add(
        Content,
        &format!(
            r"in\s+(?P<path>PATH)[,:]?\s+(?:replace|substitute|change|rename|swap)\s+{scope}(?P<old>SAID)\s+(?:with|by|to|into|for)\s+(?P<new>SAID)(?P<over>\s+everywhere)?"
        ),
        replacement,
    );
    add(
        Content,
        r"(?:edit|change|fix)\s+(?P<path>PATH)\s*[:,]\s*(?:replace\s+|change\s+)?(?P<old>SAID)\s*(?:->|=>|→|\bwith\b|\bto\b|\bby\b)\s*(?P<new>SAID)(?P<over>\s+everywhere)?",
        replacement,
    );
    add(
        Content,
        r"(?:delete|remove)\s+(?:the\s+(?:text|words?|line)\s+)?(?P<old>(?:\x22[^\x22]+\x22|'[^']+'|`[^`]+`))\s+(?P<every>everywhere\s+)?from\s+(?P<path>PATH)(?P<over>\s+everywhere)?[.!]?",
        |found, before| {
            let all = found.raw("every").or(found.raw("over")).is_some();
            Some(Wish::Replace { path: found.path("path", before)?, old: found.said("old")?, new: String::new(), all })
        },
    );
    // append
    add(Content, r"(?:append|add)\s+(?:to|at the end of)\s+(?P<path>PATH)\s*[:,]\s*(?P<content>.+)", append);
    add(
        Content,
        r"(?:append|add)\s+(?:a |the |this |another )?(?:new )?(?:line|text|words?|note|sentence|entry)?\s*:?\s*(?P<content>(?:\x22.*\x22|'[^']*'|`[^`]*`))\s+(?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+of\s+)?(?:the file\s+)?(?P<path>PATH)[.!]?",
        append,
    );
    add(
        Content,
        r"append\s+(?:a |the |this )?(?:new )?(?:(?:line|text|words?|note|sentence)\s*:?\s+)?(?P<content>.+?)\s+(?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+of\s+)?(?:the file\s+)?(?P<path>PATH)[.!]?",
        append,
    );
    add(
        Content,
        r"add\s+(?:a |the |this |another )?(?:new )?(?:(?:line|text|words?|note|sentence|entry)\s*:?\s+)?(?P<content>.+?)\s+(?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+of\s+)?(?:the file\s+)?(?P<path>PATH)[.!]?",
        append,
    );
    // write
    add(
        Content,
        &format!(
            r"(?:write|take|make|create|leave|save)\s+(?:me\s+)?(?:a |the |this )?(?:new |short |quick )?note{with}(?P<content>.+)"
        ),
        |found, _| Some(Wish::Create { path: "note.md".into(), content: found.content("content") }),
    );
    add(
        Content,
        r"(?:write|save|put|store)\s+(?P<content>(?:\x22.*\x22|'[^']*'|`[^`]*`))\s+(?:to|into|in|as|under)\s+(?:a |the )?(?:new )?(?:file\s+)?(?:called |named )?(?P<path>PATH)[.!]?",
        |found, before| Some(Wish::Write { path: found.path("path", before)?, content: found.content("content") }),
    );
    add(
        Content,
        &format!(
            r"(?:write|overwrite|save|put)\s+(?:a |the |to |into )?(?:new )?(?:text )?(?:file |note )?{NAMED}(?P<path>PATH?){with}(?P<content>.+)"
        ),
        |found, before| Some(Wish::Write { path: found.path("path", before)?, content: found.content("content") }),
    );
    add(
        Content,
        &format!(
            r"(?:create|make|new|start)\s+(?:me\s+)?(?:a |an |the )?(?:new )?(?:text |markdown )?(?:file |note |document )?{NAMED}(?P<path>PATH?){with}(?P<content>.+)"
        ),
        |found, before| {
            let path = found.path("path", before)?;
            // "create a note: …" names no file.
            let nameless = matches!(path.as_str(), "note" | "file" | "a" | "document");
            Some(Wish::Create {
                path: if nameless { "note.md".into() } else { path },
                content: found.content("content"),
            })
        },
    );
    add(Content, r"(?:note|remember)(?:\s*:|\s+that)\s+(?P<content>.+)", |found, _| {
        Some(Wish::Append { path: "note.md".into(), content: found.content("content") })
    });
    add(
        Sentence,
        r"(?:create|make|write|touch)\s+(?:an? |the )?(?:new )?empty\s+file\s+(?:called |named |at )?(?P<path>PATH)",
        |found, before| Some(Wish::Create { path: found.path("path", before)?, content: String::new() }),
    );
    // with the tools of the system
    add(
        Sentence,
        r"(?:create|make|new)\s+(?:a |the )?(?:new )?(?:folder|directory|dir)\s+(?:called |named |at )?(?P<path>PATH)",
        |found, before| command(&format!("mkdir -p -- {}", quoted(&found.path("path", before)?))),
    );
    add(
        Sentence,
        r"(?:move|rename)\s+(?:the file\s+)?(?P<path>PATH)\s+(?:to|into|as)\s+(?P<to>PATH)",
        |found, before| {
            command(&format!(
                "mv -n -- {} {}",
                quoted(&found.path("path", before)?),
                quoted(&found.path("to", before)?)
            ))
        },
    );
    add(
        Sentence,
        r"(?:copy|duplicate)\s+(?:the file\s+)?(?P<path>PATH)\s+(?:to|into|as)\s+(?P<to>PATH)",
        |found, before| {
            command(&format!(
                "cp -n -- {} {}",
                quoted(&found.path("path", before)?),
                quoted(&found.path("to", before)?)
            ))
        },
    );
    add(Sentence, r"(?:delete|remove|erase)\s+(?:the\s+)?(?:file\s+)?(?P<path>PATH)", |found, before| {
        command(&format!("rm -- {}", quoted(&found.path("path", before)?)))
    });
}

fn replacement(found: &Found, before: &Before) -> Option<Wish> {
    let all = ["all", "every", "over"].iter().any(|name| found.raw(name).is_some());
    let path = words::strip_words(found.raw("path")?, &["the", "file"]);
    let path = match path.to_ascii_lowercase().as_str() {
        "it" | "that" | "this" => before.path.clone()?,
        _ => words::path(path),
    };
    let part = |name| found.0.name(name).map(|part| words::unquoted(part.as_str()).replace("\\n", "\n"));
    Some(Wish::Replace { path, old: part("old").filter(|old| !old.is_empty())?, new: part("new")?, all })
}

fn append(found: &Found, before: &Before) -> Option<Wish> {
    Some(Wish::Append { path: found.path("path", before)?, content: found.content("content") })
}

/// A word for the shell.
pub(in super::super) fn quoted(word: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '=' | ':' | ',' | '@' | '%');
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What is counted.
fn counts(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:how (?:often|many times)|count how (?:often|many times))\s+(?:does|do|is|are|has|have)?\s*(?P<text>SAID)\s+(?:(?:is|are)\s+)?(?:occurs?|appears?|shows? up|used|mentioned|there|found|come up)(?:\s+(?:in|inside|within|across)\s+(?P<place>.+))?",
        matches,
    );
    add(
        Sentence,
        r"(?:count|how many|number of)\s+(?:the\s+|all\s+)*(?:occurrences?|mentions?|uses?|matches|instances?)\s+(?:of|for)\s+(?P<text>SAID)(?:\s+(?:are (?:there )?)?(?:in|inside|within|across)\s+(?P<place>.+))?",
        matches,
    );
    add(
        Sentence,
        r"(?:count|how many)\s+(?:the\s+)?(?:todos?|fixmes?)(?:\s+(?:are (?:there|left))?)?(?:\s*(?:in|inside)\s+(?P<place>.+))?",
        |found, _| Some(Wish::Todos { place: found.place("place")? }),
    );
    add(
        Sentence,
        r"(?:count|how many|number of|what kinds? of|which kinds? of|what types? of)\s+(?:the\s+|all\s+)*(?:kinds?\s+of\s+|types?\s+of\s+)?files?(?:\s+(?:are (?:there|here)|do we have|do i have|exist|is there))?(?:\s+(?:by|per|of each|for each)\s+(?:kind|type|extension|suffix|language)s?)?(?:\s+(?:are\s+)?(?:in|inside|under|within)\s+(?P<place>.+))?",
        |found, _| Some(Wish::Count(Count::Files { place: found.place("place")? })),
    );
    add(
        Sentence,
        r"(?:count|how many|number of)\s+(?:the\s+|all\s+)*(?P<kind>\S+(?:\s+(?:source|code))?\s+(?:files?|scripts?|documents?)|pictures|images)(?:\s+(?:are (?:there|here)|do we have|do i have|exist))?(?:\s+(?:are\s+)?(?:in|inside|under|within)\s+(?P<place>.+))?",
        |found, _| {
            let glob = words::kind_of_files(found.raw("kind")?)?;
            let place = found.place("place")?;
            Some(Wish::Count(Count::Files { place: Place { glob: Some(glob), ..place } }))
        },
    );
    add(
        Sentence,
        r"(?:(?:count|how many|number of)\s+(?:the\s+|all\s+|total\s+)*(?:lines?|loc)(?:\s+of\s+(?P<kind>code|source|\S+(?:\s+code)?))?(?:\s+(?:are (?:there|here)|do we have|do i have|is (?:there|it)))?|lines of code|loc)(?:\s+(?:are\s+|is\s+|there\s+)*(?:in|inside|under|within|of|does)\s+(?P<place>.+?)(?:\s+(?:have|has|contain)s?)?)?",
        |found, before| {
            let kind = found.raw("kind").and_then(words::kind_of_files);
            lines(found, before, kind)
        },
    );
    add(
        Sentence,
        r"(?:how many|count (?:the )?|what is the number of)\s*(?:lines|words|characters|letters)\s+(?:does|do|are|has)\s+(?P<place>.+?)(?:\s+(?:have|has|contain|got|in it))?",
        |found, before| lines(found, before, None),
    );
    add(
        Sentence,
        r"(?:count|how many|number of|give me)\s+(?:the\s+)?(?:number of\s+)?(?:lines|words|characters|chars|letters|bytes)(?:\s*(?:,|and)\s*(?:lines|words|characters|chars|letters|bytes))*\s+(?:are\s+|is\s+|there\s+)*(?:in|of|inside|within)\s+(?P<place>.+)",
        |found, before| lines(found, before, None),
    );
    add(
        Sentence,
        r"(?:count|line count(?: of| for)?|word count(?: of| for)?|length of|size of|how (?:long|big|large) is|measure)\s+(?P<place>(?:the file\s+)?PATH)",
        |found, before| lines(found, before, None),
    );
}

fn matches(found: &Found, _: &Before) -> Option<Wish> {
    Some(Wish::Count(Count::Matches { text: found.said("text")?, place: found.place("place")? }))
}

fn lines(found: &Found, before: &Before, kind: Option<String>) -> Option<Wish> {
    let said = found.raw("place").unwrap_or(".").trim();
    if matches!(said.to_ascii_lowercase().as_str(), "it" | "that" | "this" | "that file" | "this file" | "the file") {
        return Some(Wish::Count(Count::Text { path: before.path.clone()? }));
    }
    let place = words::place(said)?;
    Some(Wish::Count(match (place.path.as_str(), &place.glob, kind) {
        (_, None, Some(kind)) => Count::Lines { place: Place { glob: Some(kind), ..place } },
        (".", _, _) | (_, Some(_), _) => Count::Lines { place },
        (_, None, None) if said.ends_with('/') => Count::Lines { place },
        (path, None, None) => Count::Text { path: path.to_owned() },
    }))
}

/// What is looked for.
fn finds(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:(?:show|list|find|search for|search|grep|get|give|display|what are|are there|where are|any|see|look for)\s+)?(?:me\s+)?(?:all\s+|the\s+|any\s+|my\s+|open\s+)*(?:todos?|fixmes?|to-dos?)(?:\s*(?:/|,|and|or)\s*(?:todos?|fixmes?|hacks?))*(?:\s+(?:list|comments?|items?|marks?|notes?|entries))?(?:\s+(?:are (?:there|left)|left))?(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?|what(?:'s| is) (?:left|still|there)(?: left)? to (?:do|be done)",
        |found, _| Some(Wish::Todos { place: found.place("place")? }),
    );
    add(
        Sentence,
        r"(?:(?:show|list|find|what are|which are|give|see|get)\s+)?(?:me\s+)?(?:the\s+)?(?:top\s+)?(?P<count>\d+)?\s*(?:largest|biggest|heaviest|longest)\s+(?P<other>\d+)?\s*files?(?:\s+(?:here|there are))?(?:\s+(?:in|inside|under|within|of)\s+(?P<place>.+))?|what (?:takes|uses|eats|needs)(?: up)? (?:the |so )?(?:most |much )?(?:disk )?space(?:\s+(?:in|under)\s+(?P<where>.+))?",
        |found, _| {
            let place = found.raw("place").or(found.raw("where")).map_or(Some(Place::here()), words::place)?;
            let count = found.number("count").or(found.number("other")).unwrap_or(10).clamp(1, 100);
            Some(Wish::Largest { count: count as usize, path: place.path })
        },
    );
    // files by name
    add(
        Sentence,
        r"(?:find|list|show|search for|search|look for|locate|get|give)\s+(?:me\s+)?(?:all\s+|the\s+|any\s+|every\s+)*(?:files?|documents?)\s+(?:that are\s+|which are\s+)?(?:named|called|matching|like|with (?:the )?names?|whose names? (?:is|are|contains?|matches))\s+(?P<name>PATH)(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?",
        by_name,
    );
    add(
        Sentence,
        r"(?:which|what) files?\s+(?:are\s+|is\s+)?(?:named|called|matching|match|like)\s+(?P<name>PATH)(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?",
        by_name,
    );
    add(
        Sentence,
        r"(?:find|list|show|which|what)\s+(?:me\s+)?(?:all\s+|the\s+)*files?\s+(?:that\s+)?(?:end(?:ing)?s?|finish(?:ing)?)\s+(?:in|with|on)\s+(?P<name>PATH)(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?",
        |found, _| {
            let end = words::path(found.raw("name")?);
            Some(Wish::Find { pattern: within(&format!("*{}", end.trim_start_matches('*')), found.place("place")?) })
        },
    );
    add(
        Sentence,
        r"(?:find|list|show|locate|get|give|search for|what|which|are there(?: any)?|do we have(?: any)?|is there(?: a| any)?|any)\s+(?:me\s+)?(?P<kind>(?:(?:all|the|any|every|my)\s+)*\S+(?:\s+(?:source|code))?(?:\s+(?:files?|scripts?|documents?))?)(?:\s+(?:are (?:there|here)|do we have|exist|there|here))?(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?",
        |found, _| {
            let glob = words::kind_of_files(found.raw("kind")?)?;
            Some(Wish::Find { pattern: within(&glob, found.place("place")?) })
        },
    );
    add(
        Sentence,
        r"(?:find|locate|where is|where's|search for|look for|is there)\s+(?:a |the |my )?(?:file\s+)?(?:called |named )?(?P<name>[^\s\x22'`]*(?:\*[^\s\x22'`]*|\.[a-z0-9]{1,5}|\?[^\s\x22'`]+))(?:\s+(?:in|inside|under|within)\s+(?P<place>.+))?",
        by_name,
    );
    add(Sentence, r"(?P<name>\S*\*\S*)", by_name);
    // definitions
    add(
        Sentence,
        r"(?:where is|where's|find|show me|find me)\s+(?:the\s+)?(?:definition of|function|fn|struct|class|method|type|trait|enum|module|constant)\s+(?P<name>`?\w+`?)(?:\(\))?(?:\s+defined)?(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        definition,
    );
    add(
        Sentence,
        r"where (?:is|are|do we|does it)\s+(?P<name>`?\w+`?)(?:\(\))?\s+(?:defined|declared|implemented|define[ds]?)(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        definition,
    );
    // text
    add(
        Sentence,
        r"(?:search|grep|look|scan|find|check)\s+(?:for\s+)?(?:the\s+)?(?:regex|regexp|regular expression|pattern)\s+(?P<text>SAID)(?:\s+(?:in|inside|within|under|across|through)\s+(?P<place>.+))?",
        |found, _| search(found.said("text")?, true, found.place("place")?),
    );
    add(
        Sentence,
        r"(?:search|look|grep|scan|go)\s+(?:in|inside|through|within|under|across)\s+(?P<place>.+?)\s+for\s+(?:the\s+(?:words?|text|string|phrase)\s+)?(?P<text>.+)",
        text_search,
    );
    add(
        Sentence,
        r"(?:search|grep|scan)\s+(?P<place>\S+|(?:the|this|all|every|\S+)\s+.+?)\s+for\s+(?:the\s+(?:words?|text|string|phrase)\s+)?(?P<text>.+)",
        text_search,
    );
    add(
        Sentence,
        r"(?:(?:search|grep|scan)(?:\s+for)?|look\s+for|find)\s+(?:(?:all|any|every)\s+)?(?:(?:the\s+)?(?:words?|text|string|phrase|occurrences? of|mentions? of|uses? of|usages? of|references? to|lines? with)\s+)?(?P<text>SAID)(?:\s+(?:in|inside|within|under|across|through)\s+(?P<place>.+))?",
        text_search,
    );
    add(
        Sentence,
        r"(?:which|what)\s+(?:of (?:the )?)?(?P<kind>(?:\S+\s+)?files?|documents?)\s+(?:(?:in|inside|under|within)\s+(?P<where>\S+)\s+)?(?:that\s+)?(?:contains?|mentions?|uses?|has|have|includes?|refers? to|says?|speaks? of|imports?)\s+(?:the\s+(?:words?|text|string)\s+)?(?P<text>SAID)(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        |found, _| {
            let place = found.raw("where").map_or_else(|| found.place("place"), words::place)?;
            let glob = found.raw("kind").and_then(words::kind_of_files).or(place.glob);
            search(found.said("text")?, false, Place { path: place.path, glob })
        },
    );
    add(
        Sentence,
        r"(?:who|what)\s+(?:calls|uses|mentions|imports|references)\s+(?P<text>SAID)(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        text_search,
    );
    add(
        Sentence,
        r"where (?:is|are|do we|does it|did we|can i find)\s+(?:the\s+(?:words?|text|string)\s+)?(?P<text>SAID)(?:\s+(?:used|mentioned|called|referenced|spoken of|written|said|use|call|mention))?(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        text_search,
    );
    add(
        Sentence,
        r"(?:find|show me|list|get)\s+(?:all\s+|the\s+|every\s+|any\s+)*(?:places?|lines?|occurrences?|mentions?|uses?|usages?|references?)\s+(?:of|with|where|that (?:contain|mention|use|say)|containing|mentioning|to)\s+(?P<text>SAID)(?:\s+(?:in|inside|within|under)\s+(?P<place>.+))?",
        text_search,
    );
    add(Sentence, r"does\s+(?P<place>PATH)\s+(?:contain|mention|use|have|say|include)\s+(?P<text>.+)", text_search);
}

fn by_name(found: &Found, _: &Before) -> Option<Wish> {
    let name = words::path(found.raw("name")?);
    let pattern = match name.contains(['*', '?', '.']) {
        true => name,
        false => format!("*{name}*"),
    };
    Some(Wish::Find { pattern: within(&pattern, found.place("place")?) })
}

/// A pattern within a place.
fn within(pattern: &str, place: Place) -> String {
    let pattern = words::anywhere(pattern);
    match place.path.as_str() {
        "." => pattern,
        path => format!("{}/{pattern}", path.trim_end_matches('/')),
    }
}

fn definition(found: &Found, _: &Before) -> Option<Wish> {
    let name = found.said("name")?;
    let keywords = "fn|struct|enum|trait|impl|type|mod|const|static|union|macro_rules!|class|interface|def|function|func|let|var|val|module|package";
    search(format!(r"\b(?:{keywords})\s+(?:\(\w+ \*?\w+\) )?{}\b", regex::escape(&name)), true, found.place("place")?)
}

fn text_search(found: &Found, before: &Before) -> Option<Wish> {
    let place = match found.raw("place").map(|place| place.trim().to_ascii_lowercase()).as_deref() {
        Some("it" | "that" | "that file" | "the file" | "this file") => {
            Place { path: before.path.clone()?, glob: None }
        }
        _ => found.place("place")?,
    };
    search(found.said("text")?, false, place)
}

fn search(text: String, regex: bool, place: Place) -> Option<Wish> {
    Some(Wish::Search { text, regex, place })
}

/// What is looked at.
fn looks(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:compare|diff|contrast)\s+(?:the files?\s+)?(?P<old>PATH)\s*(?:,|\s(?:and|with|to|against|versus|vs\.?))?\s+(?P<new>PATH)",
        compare,
    );
    add(
        Sentence,
        r"(?:(?:show|tell|give|list)(?: me)?\s+|what (?:is|are|'s)\s+|what's\s+)?(?:the\s+)?(?:diff(?:erences?)?|changes?|different)\s+(?:between|of|in)\s+(?P<old>PATH)\s+(?:and|to|with|vs\.?)\s+(?P<new>PATH)",
        compare,
    );
    add(
        Sentence,
        r"how (?:do|does|are)\s+(?P<old>PATH)\s+(?:and|differ from)\s+(?P<new>PATH)(?:\s+(?:differ|different|compare))?",
        compare,
    );
    add(
        Sentence,
        r"(?:are|is)\s+(?P<old>PATH)\s+(?:and|the same as|equal to|identical to)\s+(?P<new>PATH)(?:\s+(?:the same|equal|identical|different|alike))?",
        compare,
    );
    add(
        Sentence,
        r"(?:(?:show|tell|list|give|explain|describe|summari[sz]e|look at|see|explore|introduce)(?: me)?\s+)?(?:about\s+)?(?:what(?:'s| is| do we have|s)?\s+)?(?:this|the|in this|in the|in|here in this)\s+(?:project|repo(?:sitory)?|code ?base|workspace)(?:\s+(?:is|does|do)?(?:\s*(?:about|for|doing|like))?)?|overview(?: of (?:this|the) .+)?|give me an overview|what(?:'s| is)? here|what do we have(?: here)?|what(?:'s| is) (?:all )?(?:in )?(?:this|here|the folder|this folder|this directory|the directory)|what (?:does|is) (?:this|the) (?:project|repo|repository|program|code)(?: do| about| for)?|what(?:'s| is) (?:going on|this)(?: here)?|where do i (?:begin|start) reading|show(?: me)?(?: what(?:'s| is))? (?:is )?here|look around|explore|show (?:me )?(?:the )?(?:project|everything)|tell me what is here",
        |_, _| Some(Wish::Overview),
    );
    add(
        Sentence,
        r"(?:outline|structure|skeleton|table of contents|toc|headings?|symbols|definitions|functions|sections)\s+(?:of |in |for |from )?(?:the file\s+)?(?P<path>PATH)",
        outline,
    );
    add(
        Sentence,
        r"(?:show|list|give|get|what are|what|which|see|print|tell)\s+(?:me\s+)?(?:are\s+)?(?:all\s+|the\s+|an?\s+)*(?:outline|structure|skeleton|table of contents|toc|headings?|sections|chapters|symbols|definitions|functions|fns?|methods|classes|structs?|types|items)(?:\s*(?:,|and)\s*(?:functions|fns|methods|classes|structs|types|headings|enums|traits))*\s+(?:are\s+|is\s+)?(?:of|in|from|for|defined in|does)\s+(?:the file\s+)?(?P<path>PATH)(?:\s+(?:have|has|define|contain)s?)?",
        outline,
    );
    add(
        Sentence,
        r"(?:summari[sz]e|sum up|describe|explain|tell (?:me )?about|what(?:'s| is)|facts (?:of|about)|info(?:rmation)? (?:of|about|on)|stat(?:s|istics)? (?:of|about|for))\s+(?:the file\s+)?(?P<path>PATH)(?:\s+(?:about|for))?",
        |found, before| {
            let path = found.path("path", before)?;
            let file = path.contains(['.', '/'])
                || path.starts_with(char::is_uppercase)
                || found.raw("path").is_some_and(|said| matches!(said, "it" | "that"));
            match words::is_here(&path) {
                true => Some(Wish::Overview),
                false => file.then_some(Wish::Describe { path }),
            }
        },
    );
    // lists
    add(
        Sentence,
        r"(?:list|ls|dir|show|what(?:'s| is| are)?|see|display|which|print|give me)?\s*(?:me\s+)?(?:all\s+|the\s+)*(?:files|contents?|folders?|directories|entries|things|everything)?(?:\s+(?:and|or)\s+(?:folders?|directories|files))?(?:\s+(?:are (?:there )?|there\s+)?)?\s*(?:in|inside|of|under|within)\s+(?:the\s+)?(?:folder|directory|dir)\s+(?P<path>PATH)",
        list,
    );
    add(
        Sentence,
        r"(?:list|ls|dir|show|what(?:'s| is| are)?|see|display|which|print|give me)\s+(?:me\s+)?(?:all\s+|the\s+|my\s+)*(?:files?|folders?|directories|entries)(?:\s+(?:and|or)\s+(?:folders?|directories|files))?(?:\s+(?:are\s+)?(?:there|here|do we have|exist))?(?:\s+(?:are\s+)?(?:in|inside|of|under|within)\s+(?P<path>.+))?",
        |found, _| {
            let place = found.place("path")?;
            match place.glob {
                Some(glob) => Some(Wish::Find { pattern: within(&glob, Place { glob: None, path: place.path }) }),
                None => Some(Wish::List { path: place.path }),
            }
        },
    );
    add(Sentence, r"(?:ls|dir|list|tree)(?:\s+(?P<path>PATH))?", list);
    add(
        Sentence,
        r"(?:list|show|open|look (?:in|into|inside)|what(?:'s| is) (?:in|inside))\s+(?:me\s+)?(?:the\s+)?(?P<path>PATH)\s+(?:folder|directory|dir)",
        list,
    );
    add(
        Sentence,
        r"(?:(?:what(?:'s| is)|what are)\s+(?:in|inside|under)|look (?:in|into|inside)|open|show|list)\s+(?:the\s+)?(?:folder\s+|directory\s+)?(?P<path>\S+/|\.|\.\.|here)",
        list,
    );
    // reading
    const READ: &str = r"(?:read|show|print|display|open|view|cat|see|type|look at|let me see|let me read|give me|get|dump|quote)\s+(?:me\s+)?";
    const RANGE: &str = r"(?:from\s+|at\s+|only\s+|just\s+)?lines?\s+(?P<first>\d+)(?:\s*(?:-|–|to|through|until|till|and|\.\.+)\s*(?:line\s+)?(?P<last>\d+|the end|end))?";
    add(Sentence, &format!(r"(?:{READ})?(?:the\s+)?{RANGE}\s+(?:of|from|in)\s+(?:the file\s+)?(?P<path>PATH)"), range);
    add(
        Sentence,
        &format!(r"{READ}(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(?P<path>PATH)[,:]?\s+\(?{RANGE}\)?"),
        range,
    );
    add(
        Sentence,
        &format!(r"(?:{READ})?(?:the\s+)?(?P<path>[^\s:]+):(?P<first>\d+)(?:(?:-|:|\.\.)(?P<last>\d+))?"),
        |found, before| {
            if found.raw("path").is_some_and(|path| path.contains("//")) { None } else { range(found, before) }
        },
    );
    add(
        Sentence,
        &format!(
            r"(?:{READ})?(?:the\s+)?(?:first|top|head)\s+(?P<last>\d+)\s+lines?\s+(?:of|from|in)\s+(?:the file\s+)?(?P<path>PATH)"
        ),
        |found, before| {
            Some(Wish::Read { path: found.path("path", before)?, lines: Lines::Range(1, found.number("last")?.max(1)) })
        },
    );
    add(
        Sentence,
        &format!(
            r"(?:{READ})?(?:the\s+)?(?:last|bottom|final)\s+(?P<last>\d+)\s+lines?\s+(?:of|from|in)\s+(?:the file\s+)?(?P<path>PATH)|tail\s+(?P<tail>PATH)"
        ),
        |found, before| {
            let path = found.path("path", before).or_else(|| found.path("tail", before))?;
            Some(Wish::Read { path, lines: Lines::Last(found.number("last").unwrap_or(10).max(1)) })
        },
    );
    add(
        Sentence,
        &format!(r"(?:{READ})?(?:the\s+)?(?:(?:beginning|start|top) of|head)\s+(?:the file\s+)?(?P<path>PATH)"),
        |found, before| Some(Wish::Read { path: found.path("path", before)?, lines: Lines::Range(1, 20) }),
    );
    add(Sentence, &format!(r"(?:{READ})?(?:the\s+)?end of\s+(?:the file\s+)?(?P<path>PATH)"), |found, before| {
        Some(Wish::Read { path: found.path("path", before)?, lines: Lines::Last(20) })
    });
    add(
        Sentence,
        r"(?:more|continue|go on|next(?: page)?|read on|show more|the rest|and the rest|keep reading)",
        |_, before| {
            let (path, next) = before.next_lines.clone()?;
            Some(Wish::Read { path, lines: Lines::From(next) })
        },
    );
    add(
        Sentence,
        r"(?:(?:fetch|get|download|open|read|visit|load|show|browse|go to|look at|check|curl)\s+(?:me\s+)?(?:the\s+)?(?:(?:web ?)?(?:page|site|url|link|address)\s+)?(?:at\s+)?)?[<`\x22']?(?P<url>https?://[^\s<>`\x22']+)[>`\x22']?",
        |found, _| Some(Wish::Fetch { url: found.raw("url")?.trim_end_matches([',', '.', ';', ')']).to_owned() }),
    );
    add(
        Sentence,
        r"(?:fetch|download|visit|browse)\s+(?:the\s+)?(?:(?:web ?)?(?:page|site)\s+)?(?P<host>(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/\S*)?)",
        |found, _| Some(Wish::Fetch { url: format!("https://{}", found.raw("host")?) }),
    );
    add(
        Sentence,
        &format!(
            r"{READ}(?:the\s+|my\s+|a\s+)?(?:whole\s+|full\s+)?(?:contents?\s+(?:of|in)\s+)?(?:the\s+)?(?:file\s+)?(?P<path>PATH)(?:\s+file)?"
        ),
        whole,
    );
    add(
        Sentence,
        r"what(?:'s| is) (?:in|inside|written in)\s+(?:the\s+)?(?:file\s+)?(?P<path>PATH)|what does\s+(?:the\s+)?(?:file\s+)?(?P<other>PATH)\s+(?:contain|say|hold|look like)",
        |found, before| {
            let path = found.path("path", before).or_else(|| found.path("other", before))?;
            Some(reading(&path, path.clone()))
        },
    );
}

fn compare(found: &Found, before: &Before) -> Option<Wish> {
    let (old, new) = (found.path("old", before)?, words::path(found.raw("new")?));
    Some(Wish::Compare { old, new })
}

fn outline(found: &Found, before: &Before) -> Option<Wish> {
    let path = found.path("path", before)?;
    let here = words::is_here(&path);
    Some(if here { Wish::Overview } else { Wish::Outline { path } })
}

fn list(found: &Found, _: &Before) -> Option<Wish> {
    let place = found.place("path")?;
    Some(Wish::List { path: place.path })
}

fn range(found: &Found, before: &Before) -> Option<Wish> {
    let path = found.path("path", before)?;
    let first = found.number("first")?.max(1);
    let lines = match (found.raw("last"), found.number("last")) {
        (Some(_), None) => Lines::From(first),
        (_, last) => Lines::Range(first, last.unwrap_or(first).max(first)),
    };
    Some(Wish::Read { path, lines })
}

fn whole(found: &Found, before: &Before) -> Option<Wish> {
    Some(reading(found.raw("path")?, found.path("path", before)?))
}

/// Reading a file, or listing what can only be a folder.
fn reading(said: &str, path: String) -> Wish {
    match (words::is_here(&path), said.ends_with('/') || path == "..") {
        (true, _) => Wish::List { path: ".".into() },
        (false, true) => Wish::List { path },
        (false, false) => Wish::Read { path, lines: Lines::All },
    }
}

/// What is left: a name alone, a program alone.
fn last(add: Add) {
    use Sees::{Content, Sentence};
    add(
        Sentence,
        r"(?P<path>(?:@\S+|[\w./-]+/|[\w./-]*\.[a-z][a-z0-9]{0,5}|README|LICENSE|Makefile|Dockerfile))",
        |found, before| {
            let path = found.path("path", before)?;
            let named = path.contains(|c: char| c.is_alphanumeric());
            named.then(|| reading(found.raw("path").unwrap_or_default(), path))
        },
    );
    add(Content, &format!(r"(?P<command>(?:{PROGRAMS})(?:\s+[^?]*)?|date|env|make|id|free|tree)"), |found, _| {
        command(found.raw("command")?)
    });
}
