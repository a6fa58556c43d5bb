//! How people speak to the guide itself, and ask to be asked.

use super::super::super::wish::Wish;
use super::super::words;
use super::{Add, Sees};

/// Adds the shapes.
pub(super) fn add(add: Add) {
    use Sees::Sentence;
    add(
        Sentence,
        r"(?:stop|cancel|abort|never ?mind|forget (?:it|that)|quit|enough)(?: (?:it|that|this|everything|all))?",
        |_, _| Some(Wish::Stop),
    );
    add(
        Sentence,
        r"(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day)|yo)(?:\s+(?:there|guide|cowork|
            again))?",
        |_, _| Some(Wish::Greeting),
    );
    add(
        Sentence,
        r"(?:thanks?|thank you|thx|ty|great|nice|perfect|cool|good|ok(?:ay)?|got it|well done|bye|goodbye|
            see you)(?:\s.{0,30})?",
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
        r"/?help|\?+|what can (?:you|i|it|this|cowork) do.*|what do you (?:do|know|understand).*|
            what (?:commands|requests|things) .*|(?:show|list|give)(?: me)? (?:the |some )?(?:help|commands|
            examples)|how (?:do|can) i use (?:this|you|it|cowork)|how does (?:this|it) work|(?:what|
            where) (?:now|do i start|should i do)|examples?|commands|getting started|usage",
        |_, _| Some(Wish::Help),
    );
    add(
        Sentence,
        r"(?:how (?:do|can|would|could|to|should)(?: i| we| you)?\s+)?(?:connect|use|configure|set ?up|setup|
            add|attach|switch to|change|choose|select|get|enable|plug in)(?: to| with)?\s+(?:(?:a|an|my|the|
            another|other|different|real|own|some|your|local)\s+)*(?:ai |language |local |openai |ollama |
            claude |anthropic )*(?:models?|llms?|ai|ollama|openai|chat ?gpt|gpt\S*|claude|anthropic|vllm|
            llama\S*|lm studio|openrouter|api[ -]?keys?|providers?)(?:\s.*)?",
        |_, _| Some(Wish::Connect),
    );
    add(
        Sentence,
        r"(?:(?:where|how) .*(?:api[ -]?key|openai_\w+|cowork_model).*|connect(?: a)? model|
            models?(?: setup| set-up)?|.*without (?:an )?ai.*)",
        |_, _| Some(Wish::Connect),
    );
    add(
        Sentence,
        r"(?:who|what) (?:are|r) (?:you|u)\b.*|(?:what|which) (?:model|ai|llm) (?:are you|is this|do you use|
            am i (?:talking|speaking) (?:to|with)).*|are you (?:an? |really |the |actually )*(?:ai|bot|robot|
            human|real|person|llm|model|chatgpt|gpt|claude|intelligent|machine).*|what(?:'s| is) your name|
            tell me about yourself|introduce yourself|what(?:'s| is) (?:the )?guide|what(?:'s| is) cowork",
        |_, _| Some(Wish::Who),
    );
    add(
        Sentence,
        r"where am i|where are we|what(?:'s| is) (?:the |my |this )?(?:current |working )*(?:folder|directory|
            dir|path)|(?:which|what) (?:folder|directory|dir)(?: is this| am i in| are we in)?|pwd",
        |_, _| Some(Wish::Where),
    );
    add(
        Sentence,
        r"ask me(?:\s+(?:something|anything|a question|one|back))?|(?:give|show) me (?:a|
            an example of a) question|(?:can you )?ask (?:me )?(?:a |some )?questions?",
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
