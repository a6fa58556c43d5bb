//! How people ask to look at folders, files, pages and differences.

use super::super::super::wish::{Lines, Place, Wish};
use super::super::{Before, words};
use super::{Add, Found, Sees};

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:compare|diff|contrast)\s+(?:the files?\s+)?(?P<old>PATH)\s*(?:,|\s(?:and|with|to|against|versus|
            vs\.?))?\s+(?P<new>PATH)",
        compare,
    );
    add(
        Sentence,
        r"(?:(?:show|tell|give|list)(?: me)?\s+|what (?:is|are|'s)\s+|what's\s+)?(?:the\s+)?(?:diff(?:erences?)?
            |changes?|different)\s+(?:between|of|in)\s+(?P<old>PATH)\s+(?:and|to|with|vs\.?)\s+(?P<new>PATH)",
        compare,
    );
    add(
        Sentence,
        r"how (?:do|does|are)\s+(?P<old>PATH)\s+(?:and|differ from)\s+(?P<new>PATH)(?:\s+(?:differ|different|
            compare))?",
        compare,
    );
    add(
        Sentence,
        r"(?:are|is)\s+(?P<old>PATH)\s+(?:and|the same as|equal to|identical to)\s+(?P<new>PATH)(?:\s+
            (?:the same|equal|identical|different|alike))?",
        compare,
    );
    add(
        Sentence,
        r"(?:(?:show|tell|list|give|explain|describe|summari[sz]e|look at|see|explore|introduce)(?: me)?\s+)?
            (?:about\s+)?(?:what(?:'s| is| do we have|s)?\s+)?(?:this|the|in this|in the|in|here in this)\s+
            (?:project|repo(?:sitory)?|code ?base|workspace)(?:\s+(?:is|does|do)?(?:\s*(?:about|for|doing|
            like))?)?|overview(?: of (?:this|the) .+)?|give me an overview|what(?:'s| is)? here|
            what do we have(?: here)?|what(?:'s| is) (?:all )?(?:in )?(?:this|here|the folder|this folder|
            this directory|the directory)|what (?:does|is) (?:this|the) (?:project|repo|repository|program|
            code)(?: do| about| for)?|what(?:'s| is) (?:going on|this)(?: here)?|where do i (?:begin|
            start) reading|show(?: me)?(?: what(?:'s| is))? (?:is )?here|look around|explore|show (?:me )?
            (?:the )?(?:project|everything)|tell me what is here",
        |_, _| Some(Wish::Overview),
    );
    add(
        Sentence,
        r"(?:outline|structure|skeleton|table of contents|toc|headings?|symbols|definitions|functions|
            sections)\s+(?:of |in |for |from )?(?:the file\s+)?(?P<path>PATH)",
        outline,
    );
    add(
        Sentence,
        r"(?:show|list|give|get|what are|what|which|see|print|tell)\s+(?:me\s+)?(?:are\s+)?(?:all\s+|the\s+|
            an?\s+)*(?:outline|structure|skeleton|table of contents|toc|headings?|sections|chapters|symbols|
            definitions|functions|fns?|methods|classes|structs?|types|items)(?:\s*(?:,|and)\s*(?:functions|fns|
            methods|classes|structs|types|headings|enums|traits))*\s+(?:are\s+|is\s+)?(?:of|in|from|for|
            defined in|does)\s+(?:the file\s+)?(?P<path>PATH)(?:\s+(?:have|has|define|contain)s?)?",
        outline,
    );
    add(
        Sentence,
        r"(?:summari[sz]e|sum up|describe|explain|tell (?:me )?about|what(?:'s| is)|facts (?:of|about)|
            info(?:rmation)? (?:of|about|on)|stat(?:s|istics)? (?:of|about|for))\s+(?:the file\s+)?
            (?P<path>PATH)(?:\s+(?:about|for))?",
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
        r"(?:list|ls|dir|show|what(?:'s| is| are)?|see|display|which|print|give me)?\s*(?:me\s+)?(?:all\s+|
            the\s+)*(?:files|contents?|folders?|directories|entries|things|everything)?(?:\s+(?:and|or)\s+
            (?:folders?|directories|files))?(?:\s+(?:are (?:there )?|there\s+)?)?\s*(?:in|inside|of|under|
            within)\s+(?:the\s+)?(?:folder|directory|dir)\s+(?P<path>PATH)",
        list,
    );
    add(
        Sentence,
        r"(?:list|ls|dir|show|what(?:'s| is| are)?|see|display|which|print|give me)\s+(?:me\s+)?(?:all\s+|the\s+
            |my\s+)*(?:files?|folders?|directories|entries)(?:\s+(?:and|or)\s+(?:folders?|directories|files))?
            (?:\s+(?:are\s+)?(?:there|here|do we have|exist))?(?:\s+(?:are\s+)?(?:in|inside|of|under|within)\s+
            (?P<path>.+))?",
        |found, _| {
            let place = found.place("path")?;
            match place.glob {
                Some(glob) => {
                    Some(Wish::Find { pattern: super::finds::within(&glob, Place { glob: None, path: place.path }) })
                }
                None => Some(Wish::List { path: place.path }),
            }
        },
    );
    add(Sentence, r"(?:ls|dir|list|tree)(?:\s+(?P<path>PATH))?", list);
    add(
        Sentence,
        r"(?:list|show|open|look (?:in|into|inside)|what(?:'s| is) (?:in|inside))\s+(?:me\s+)?(?:the\s+)?
            (?P<path>PATH)\s+(?:folder|directory|dir)",
        list,
    );
    add(
        Sentence,
        r"(?:(?:what(?:'s| is)|what are)\s+(?:in|inside|under)|look (?:in|into|inside)|open|show|list)\s+
            (?:the\s+)?(?:folder\s+|directory\s+)?(?P<path>\S+/|\.|\.\.|here)",
        list,
    );
    // reading
    const READ: &str = r"(?:read|show|print|display|open|view|cat|see|type|look at|let me see|let me read|
        give me|get|dump|quote)\s+(?:me\s+)?";
    const RANGE: &str = r"(?:from\s+|at\s+|only\s+|just\s+)?lines?\s+(?P<first>\d+)(?:\s*(?:-|–|to|through|
        until|till|and|\.\.+)\s*(?:line\s+)?(?P<last>\d+|the end|end))?";
    add(Sentence, &format!(r"(?:{READ})?(?:the\s+)?{RANGE}\s+(?:of|from|in)\s+(?:the file\s+)?(?P<path>PATH)"), range);
    add(
        Sentence,
        &format!(
            r"{READ}(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(?P<path>PATH)[,:]?\s+
            \(?{RANGE}\)?"
        ),
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
            r"(?:{READ})?(?:the\s+)?(?:first|top|head)\s+(?P<last>\d+)\s+lines?\s+(?:of|from|in)\s+
                (?:the file\s+)?(?P<path>PATH)"
        ),
        |found, before| {
            Some(Wish::Read { path: found.path("path", before)?, lines: Lines::Range(1, found.number("last")?.max(1)) })
        },
    );
    add(
        Sentence,
        &format!(
            r"(?:{READ})?(?:the\s+)?(?:last|bottom|final)\s+(?P<last>\d+)\s+lines?\s+(?:of|from|in)\s+
                (?:the file\s+)?(?P<path>PATH)|tail\s+(?P<tail>PATH)"
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
        r"(?:(?:fetch|get|download|open|read|visit|load|show|browse|go to|look at|check|curl)\s+(?:me\s+)?
            (?:the\s+)?(?:(?:web ?)?(?:page|site|url|link|address)\s+)?(?:at\s+)?)?
            [<`\x22']?(?P<url>https?://[^\s<>`\x22']+)[>`\x22']?",
        |found, _| Some(Wish::Fetch { url: found.raw("url")?.trim_end_matches([',', '.', ';', ')']).to_owned() }),
    );
    add(
        Sentence,
        r"(?:fetch|download|visit|browse)\s+(?:the\s+)?(?:(?:web ?)?(?:page|site)\s+)?
            (?P<host>(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/\S*)?)",
        |found, _| Some(Wish::Fetch { url: format!("https://{}", found.raw("host")?) }),
    );
    add(
        Sentence,
        &format!(
            r"{READ}(?:the\s+|my\s+|a\s+)?(?:whole\s+|full\s+)?(?:contents?\s+(?:of|in)\s+)?(?:the\s+)?
                (?:file\s+)?(?P<path>PATH)(?:\s+file)?"
        ),
        whole,
    );
    add(
        Sentence,
        r"what(?:'s| is) (?:in|inside|written in)\s+(?:the\s+)?(?:file\s+)?(?P<path>PATH)|what does\s+
            (?:the\s+)?(?:file\s+)?(?P<other>PATH)\s+(?:contain|say|hold|look like)",
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

/// Adds what is left when nothing else fits: the name of a file alone.
pub(super) fn add_bare_names(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?P<path>(?:@\S+|[\w./-]+/|[\w./-]*\.[a-z][a-z0-9]{0,5}|README|LICENSE|Makefile|Dockerfile))",
        |found, before| {
            let path = found.path("path", before)?;
            let named = path.contains(|c: char| c.is_alphanumeric());
            named.then(|| reading(found.raw("path").unwrap_or_default(), path))
        },
    );
}
