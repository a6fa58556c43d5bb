//! How people ask how much there is.

use super::super::super::wish::{Count, Place, Wish};
use super::super::{Before, words};
use super::{Add, Found, Sees};

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:how (?:often|many times)|count how (?:often|many times))\s+(?:does|do|is|are|has|have)?
            \s*(?P<text>SAID)\s+(?:(?:is|are)\s+)?(?:occurs?|appears?|shows? up|used|mentioned|there|found|
            come up)WITHIN",
        matches,
    );
    add(
        Sentence,
        r"(?:count|how many|number of)\s+(?:the\s+|all\s+)*(?:occurrences?|mentions?|uses?|matches|
            instances?)\s+(?:of|for)\s+(?P<text>SAID)WITHIN",
        matches,
    );
    add(
        Sentence,
        r"(?:count|how many)\s+(?:the\s+)?(?:todos?|fixmes?)(?:\s+(?:are (?:there|left))?)?(?:\s*(?:in|
            inside)\s+(?P<place>.+))?",
        |found, _| Some(Wish::Todos { place: found.place("place")? }),
    );
    add(
        Sentence,
        r"(?:count|how many|number of|what kinds? of|which kinds? of|what types? of)\s+(?:the\s+|
            all\s+)*(?:kinds?\s+of\s+|types?\s+of\s+)?files?(?:\s+(?:are (?:there|here)|do we have|do i have|
            exist|is there))?(?:\s+(?:by|per|of each|for each)\s+(?:kind|type|extension|suffix|language)s?)?
            WITHIN",
        |found, _| Some(Wish::Count(Count::Files { place: found.place("place")? })),
    );
    add(
        Sentence,
        r"(?:count|how many|number of)\s+(?:the\s+|all\s+)*(?P<kind>\S+(?:\s+(?:source|code))?\s+(?:files?|
            scripts?|documents?)|pictures|images)(?:\s+(?:are (?:there|here)|do we have|do i have|exist))?WITHIN",
        |found, _| {
            let glob = words::kind_of_files(found.raw("kind")?)?;
            let place = found.place("place")?;
            Some(Wish::Count(Count::Files { place: Place { glob: Some(glob), ..place } }))
        },
    );
    add(
        Sentence,
        r"(?:(?:count|how many|number of)\s+(?:the\s+|all\s+|total\s+)*(?:lines?|loc)(?:\s+of\s+(?P<kind>code|
            source|\S+(?:\s+code)?))?(?:\s+(?:are (?:there|here)|do we have|do i have|is (?:there|it)))?|
            lines of code|loc)(?:\s+(?:are\s+|is\s+|there\s+)*(?:in|inside|under|within|of|does)\s+
            (?P<place>.+?)(?:\s+(?:have|has|contain)s?)?)?",
        |found, before| {
            let said = found.raw("kind");
            let kind = said.and_then(words::kind_of_files);
            // "the lines of src/plan.txt" names a file, not a kind.
            if kind.is_none() && said.is_some_and(|said| said.contains(['.', '/'])) {
                return None;
            }
            lines(found, before, kind)
        },
    );
    add(
        Sentence,
        r"(?:how many|count (?:the )?|what is the number of)\s*(?:lines|words|characters|letters)\s+(?:does|do|
            are|has)\s+(?P<place>.+?)(?:\s+(?:have|has|contain|got|in it))?",
        |found, before| lines(found, before, None),
    );
    add(
        Sentence,
        r"(?:count|how many|number of|give me)\s+(?:the\s+)?(?:number of\s+)?(?:lines|words|characters|chars|
            letters|bytes)(?:\s*(?:,|and)\s*(?:lines|words|characters|chars|letters|bytes))*\s+(?:are\s+|is\s+|
            there\s+)*(?:in|of|inside|within)\s+(?P<place>.+)",
        |found, before| lines(found, before, None),
    );
    add(
        Sentence,
        r"(?:count|line count(?: of| for)?|word count(?: of| for)?|length of|size of|how (?:long|big|large) is|
            measure)\s+(?P<place>(?:the file\s+)?PATH)",
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
