//! How people look for text, files and unfinished work.

use super::super::super::wish::{Place, Wish};
use super::super::{Before, words};
use super::{Add, Found, Sees};

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:(?:show|list|find|search for|search|grep|get|give|display|what are|are there|where are|any|see|
            look for)\s+)?(?:me\s+)?(?:all\s+|the\s+|any\s+|my\s+|open\s+)*(?:todos?|fixmes?|to-dos?)(?:\s*(?:/|
            ,|and|or)\s*(?:todos?|fixmes?|hacks?))*(?:\s+(?:list|comments?|items?|marks?|notes?|entries))?(?:\s+
            (?:are (?:there|left)|left))?WITHIN|what(?:'s| is) (?:left|still|there)(?: left)? to (?:do|be done)",
        |found, _| Some(Wish::Todos { place: found.place("place")? }),
    );
    add(
        Sentence,
        r"(?:(?:show|list|find|what are|which are|give|see|get)\s+)?(?:me\s+)?(?:the\s+)?(?:top\s+)?
            (?P<count>\d+)?\s*(?:largest|biggest|heaviest|longest)\s+(?P<other>\d+)?\s*files?(?:\s+(?:here|
            there are))?WITHIN|what (?:takes|uses|eats|needs)(?: up)? (?:the |so )?(?:most |much )?(?:disk )?
            space(?:\s+(?:in|under)\s+(?P<where>.+))?",
        |found, _| {
            let place = found.raw("place").or(found.raw("where")).map_or(Some(Place::here()), words::place)?;
            let count = found.number("count").or(found.number("other")).unwrap_or(10).clamp(1, 100);
            Some(Wish::Largest { count: count as usize, path: place.path })
        },
    );
    // files by name
    add(
        Sentence,
        r"(?:find|list|show|search for|search|look for|locate|get|give)\s+(?:me\s+)?(?:all\s+|the\s+|any\s+|
            every\s+)*(?:files?|documents?)\s+(?:that are\s+|which are\s+)?(?:named|called|matching|like|
            with (?:the )?names?|whose names? (?:is|are|contains?|matches))\s+(?P<name>PATH)WITHIN",
        by_name,
    );
    add(
        Sentence,
        r"(?:which|what) files?\s+(?:are\s+|is\s+)?(?:named|called|matching|match|like)\s+(?P<name>PATH)WITHIN",
        by_name,
    );
    add(
        Sentence,
        r"(?:find|list|show|which|what)\s+(?:me\s+)?(?:all\s+|the\s+)*files?\s+(?:that\s+)?(?:end(?:ing)?s?|
            finish(?:ing)?)\s+(?:in|with|on)\s+(?P<name>PATH)WITHIN",
        |found, _| {
            let end = words::path(found.raw("name")?);
            Some(Wish::Find { pattern: within(&format!("*{}", end.trim_start_matches('*')), found.place("place")?) })
        },
    );
    add(
        Sentence,
        r"(?:find|list|show|locate|get|give|search for|what|which|are there(?: any)?|do we have(?: any)?|
            is there(?: a| any)?|any)\s+(?:me\s+)?(?P<kind>(?:(?:all|the|any|every|my)\s+)*\S+(?:\s+(?:source|
            code))?(?:\s+(?:files?|scripts?|documents?))?)(?:\s+(?:are (?:there|here)|do we have|exist|there|
            here))?WITHIN",
        |found, _| {
            let glob = words::kind_of_files(found.raw("kind")?)?;
            Some(Wish::Find { pattern: within(&glob, found.place("place")?) })
        },
    );
    add(
        Sentence,
        r"(?:find|locate|where is|where's|is there)\s+(?:a |the |my )?(?:file\s+)?(?:called |named )?
            (?P<name>[^\s\x22'`]*(?:\*[^\s\x22'`]*|\.[a-z0-9]{1,5}|\?[^\s\x22'`]+))WITHIN",
        by_name,
    );
    add(Sentence, r"(?P<name>\S*\*\S*)", by_name);
    // definitions
    add(
        Sentence,
        r"(?:where is|where's|find|show me|find me)\s+(?:the\s+)?(?:definition of|function|fn|struct|class|
            method|type|trait|enum|module|constant)\s+(?P<name>`?\w+`?)(?:\(\))?(?:\s+defined)?WITHIN",
        definition,
    );
    add(
        Sentence,
        r"where (?:is|are|do we|does it)\s+(?P<name>`?\w+`?)(?:\(\))?\s+(?:defined|declared|implemented|
            define[ds]?)WITHIN",
        definition,
    );
    // text
    add(
        Sentence,
        r"(?:search|grep|look|scan|find|check)\s+(?:for\s+)?(?:the\s+)?(?:regex|regexp|regular expression|
            pattern)\s+(?P<text>SAID)WITHIN",
        |found, _| search(found.said("text")?, true, found.place("place")?),
    );
    add(
        Sentence,
        r"(?:search|look|grep|scan|go)\s+(?:in|inside|through|within|under|across)\s+(?P<place>.+?)\s+for\s+
            (?:the\s+(?:words?|text|string|phrase)\s+)?(?P<text>.+)",
        text_search,
    );
    add(
        Sentence,
        r"(?:search|grep|scan)\s+(?P<place>\S+|(?:the|this|all|every|\S+)\s+.+?)\s+for\s+(?:the\s+(?:words?|
            text|string|phrase)\s+)?(?P<text>.+)",
        text_search,
    );
    add(
        Sentence,
        r"(?:(?:search|grep|scan)(?:\s+for)?|look\s+for|find)\s+(?:(?:all|any|every)\s+)?(?:(?:the\s+)?
            (?:words?|text|string|phrase|occurrences? of|mentions? of|uses? of|usages? of|references? to|
            lines? with)\s+)?(?P<text>SAID)WITHIN",
        text_search,
    );
    add(
        Sentence,
        r"(?:which|what)\s+(?:of (?:the )?)?(?P<kind>(?:\S+\s+)?files?|documents?)\s+(?:(?:in|inside|under|
            within)\s+(?P<where>\S+)\s+)?(?:that\s+)?(?:contains?|mentions?|uses?|has|have|includes?|refers? to|
            says?|speaks? of|imports?)\s+(?:the\s+(?:words?|text|string)\s+)?(?P<text>SAID)WITHIN",
        |found, _| {
            let place = found.raw("where").map_or_else(|| found.place("place"), words::place)?;
            let glob = found.raw("kind").and_then(words::kind_of_files).or(place.glob);
            search(found.said("text")?, false, Place { path: place.path, glob })
        },
    );
    add(Sentence, r"(?:who|what)\s+(?:calls|uses|mentions|imports|references)\s+(?P<text>SAID)WITHIN", text_search);
    add(
        Sentence,
        r"where (?:is|are|do we|does it|did we|can i find)\s+(?:the\s+(?:words?|text|string)\s+)?
            (?P<text>SAID)(?:\s+(?:used|mentioned|called|referenced|spoken of|written|said|use|call|mention))?
            WITHIN",
        text_search,
    );
    add(
        Sentence,
        r"(?:find|show me|list|get)\s+(?:all\s+|the\s+|every\s+|any\s+)*(?:places?|lines?|occurrences?|
            mentions?|uses?|usages?|references?)\s+(?:of|with|where|that (?:contain|mention|use|say)|containing|
            mentioning|to)\s+(?P<text>SAID)WITHIN",
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
pub(super) fn within(pattern: &str, place: Place) -> String {
    let pattern = words::anywhere(pattern);
    match place.path.as_str() {
        "." => pattern,
        path => format!("{}/{pattern}", path.trim_end_matches('/')),
    }
}

fn definition(found: &Found, _: &Before) -> Option<Wish> {
    let name = found.said("name")?;
    let keywords = "fn|struct|enum|trait|impl|type|mod|const|static|union|macro_rules!|class|interface|def|function\
                    |func|let|var|val|module|package";
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
