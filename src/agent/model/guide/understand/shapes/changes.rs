//! How people ask for changes of files.

use super::super::super::wish::Wish;
use super::super::{Before, words};
use super::commands::{command, quoted};
use super::{Add, Found, Sees};

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::{Content, Sentence};
    const NAMED: &str = r"(?:called |named |at |in |to |into )?";
    let with = r"(?:\s*:\s*|\s+(?:with|containing|saying|that says|that contains|which says|
        holding)\s*(?:the\s+)?(?:contents?|text|words?|lines?)?\s*:?\s+)";
    // replace X with Y in FILE
    let scope = r"(?P<all>all|every|each|everywhere|any)?\s*(?:occurrences?\s+of|instances?\s+of|the\s+(?:text|
        word|words|line|string)\s+|the\s+)?\s*";
    add(
        Content,
        &format!(
            r"(?:replace|substitute|swap|exchange)\s+{scope}(?P<old>SAID)\s+(?:with|by|for)\s+(?P<new>SAID)\s+
                (?P<every>everywhere\s+)?(?:in|inside|within)\s+(?P<path>(?:the file\s+)?PATH)(?P<over>\s+
                everywhere|\s+throughout)?[.!]?"
        ),
        replacement,
    );
    add(
        Content,
        &format!(
            r"(?:change|rename|turn|correct|fix)\s+{scope}(?P<old>SAID)\s+(?:to|into)\s+(?P<new>SAID)\s+
                (?P<every>everywhere\s+)?(?:in|inside|within)\s+(?P<path>(?:the file\s+)?PATH)(?P<over>\s+
                everywhere|\s+throughout)?[.!]?"
        ),
        replacement,
    );
    add(
        Content,
        &format!(
            r"in\s+(?P<path>PATH)[,:]?\s+(?:replace|substitute|change|rename|swap)\s+{scope}(?P<old>SAID)\s+
                (?:with|by|to|into|for)\s+(?P<new>SAID)(?P<over>\s+everywhere)?"
        ),
        replacement,
    );
    add(
        Content,
        r"(?:edit|change|fix)\s+(?P<path>PATH)\s*[:,]\s*(?:replace\s+|change\s+)?(?P<old>SAID)\s*(?:->|=>|→|
            \bwith\b|\bto\b|\bby\b)\s*(?P<new>SAID)(?P<over>\s+everywhere)?",
        replacement,
    );
    add(
        Content,
        r"(?:delete|remove)\s+(?:the\s+(?:text|words?|line)\s+)?(?P<old>(?:\x22[^\x22]+\x22|'[^']+'|`[^`]+`))\s+
            (?P<every>everywhere\s+)?from\s+(?P<path>PATH)(?P<over>\s+everywhere)?[.!]?",
        |found, before| {
            let all = found.raw("every").or(found.raw("over")).is_some();
            Some(Wish::Replace { path: found.path("path", before)?, old: found.said("old")?, new: String::new(), all })
        },
    );
    // append
    add(Content, r"(?:append|add)\s+(?:to|at the end of)\s+(?P<path>PATH)\s*[:,]\s*(?P<content>.+)", append);
    add(
        Content,
        r"(?:append|add)\s+(?:a |the |this |another )?(?:new )?(?:line|text|words?|note|sentence|entry)?
            \s*:?\s*(?P<content>(?:\x22.*\x22|'[^']*'|`[^`]*`))\s+(?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+
            of\s+)?(?:the file\s+)?(?P<path>PATH)[.!]?",
        append,
    );
    add(
        Content,
        r"append\s+(?:a |the |this )?(?:new )?(?:(?:line|text|words?|note|sentence)\s*:?\s+)?(?P<content>.+?)\s+
            (?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+of\s+)?(?:the file\s+)?(?P<path>PATH)[.!]?",
        append,
    );
    add(
        Content,
        r"add\s+(?:a |the |this |another )?(?:new )?(?:(?:line|text|words?|note|sentence|entry)\s*:?\s+)?
            (?P<content>.+?)\s+(?:to|at|into)\s+(?:the\s+(?:end|bottom)\s+of\s+)?(?:the file\s+)?
            (?P<path>PATH)[.!]?",
        append,
    );
    // write
    add(
        Content,
        &format!(
            r"(?:write|take|make|create|leave|save)\s+(?:me\s+)?(?:a |the |this )?(?:new |short |quick )?
                note{with}(?P<content>.+)"
        ),
        |found, _| Some(Wish::Create { path: "note.md".into(), content: found.content("content") }),
    );
    add(
        Content,
        r"(?:write|save|put|store)\s+(?P<content>(?:\x22.*\x22|'[^']*'|`[^`]*`))\s+(?:to|into|in|as|under)\s+
            (?:a |the )?(?:new )?(?:file\s+)?(?:called |named )?(?P<path>PATH)[.!]?",
        |found, before| Some(Wish::Write { path: found.path("path", before)?, content: found.content("content") }),
    );
    add(
        Content,
        &format!(
            r"(?:write|overwrite|save|put)\s+(?:a |the |to |into )?(?:new )?(?:text )?(?:file |note )?
                {NAMED}(?P<path>PATH?){with}(?P<content>.+)"
        ),
        |found, before| Some(Wish::Write { path: found.path("path", before)?, content: found.content("content") }),
    );
    add(
        Content,
        &format!(
            r"(?:create|make|new|start)\s+(?:me\s+)?(?:a |an |the )?(?:new )?(?:text |markdown )?(?:file |note |
                document )?{NAMED}(?P<path>PATH?){with}(?P<content>.+)"
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
        r"(?:create|make|write|touch)\s+(?:an? |the )?(?:new )?empty\s+file\s+(?:called |named |at )?
            (?P<path>PATH)",
        |found, before| Some(Wish::Create { path: found.path("path", before)?, content: String::new() }),
    );
    // with the tools of the system
    add(
        Sentence,
        r"(?:create|make|new)\s+(?:a |the )?(?:new )?(?:folder|directory|dir)\s+(?:called |named |at )?
            (?P<path>PATH)",
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
