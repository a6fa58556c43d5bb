//! What holds for every wire format: a recorded stream reads the same however it is cut, an end in
//! its middle is a cut, and no bytes at all make a decoder panic or say what it did not read.

use super::super::sse::Decoder;
use super::*;
use crate::domain::Part;
use crate::domain::settings::{ModelInfo, Provider};
use proptest::prelude::*;

const RECORDED: [(Wire, ProviderKind, &str); 3] = [
    (Wire::Chat, ProviderKind::Openai, include_str!("recorded/chat.sse")),
    (Wire::Messages, ProviderKind::Anthropic, include_str!("recorded/messages.sse")),
    (Wire::Responses, ProviderKind::Responses, include_str!("recorded/responses.sse")),
];

fn reader(wire: Wire, kind: ProviderKind) -> Box<dyn Answer> {
    let server = Server::new("p", wire, &Provider::new(kind, "http://127.0.0.1:1/v1")).expect("a server");
    let request = Request {
        model: "m".into(),
        system: String::new(),
        rows: Vec::new(),
        tools: Vec::new(),
        info: ModelInfo::default(),
    };
    wire.answer(&request, &server)
}

/// What came of a stream: what was shown, and the end, if it was whole.
#[derive(Debug, PartialEq)]
struct Read {
    shown: Vec<StreamEvent>,
    finished: Option<Finished>,
}

impl Read {
    /// What was shown, joined: text, thinking, calls.
    fn sums(&self) -> (String, String, Vec<(String, String)>) {
        let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
        for event in &self.shown {
            match event {
                StreamEvent::Text(more) => text.push_str(more),
                StreamEvent::Thinking(more) => thinking.push_str(more),
                StreamEvent::CallStarted { ix, name } => {
                    assert_eq!(*ix as usize, calls.len(), "calls are numbered in order");
                    calls.push((name.clone(), String::new()));
                }
                StreamEvent::CallArguments { ix, fragment } => calls[*ix as usize].1.push_str(fragment),
                StreamEvent::Done(_) => {}
            }
        }
        (text, thinking, calls)
    }
}

/// Reads chunks as the exchange does.
fn read(wire: Wire, kind: ProviderKind, chunks: &[&[u8]]) -> Read {
    let (mut decoder, mut answer) = (Decoder::default(), reader(wire, kind));
    let (mut events, mut shown) = (Vec::new(), Vec::new());
    let fed = chunks.iter().try_for_each(|chunk| decoder.feed(chunk, &mut events));
    let _ = fed.and_then(|()| decoder.finish(&mut events));
    for event in events {
        if event.data.trim() == "[DONE]" || answer.is_over() {
            break;
        }
        if let Ok(value) = serde_json::from_str::<Value>(&event.data) {
            answer.take(&value, &mut shown);
        }
    }
    let finished = if answer.is_finished() { answer.finish(1_000, &mut shown) } else { None };
    Read { shown, finished }
}

#[test]
fn the_same_answer_reads_the_same_in_every_wire_format() {
    for (wire, kind, stream) in RECORDED {
        let read = read(wire, kind, &[stream.as_bytes()]);
        let (text, thinking, calls) = read.sums();
        assert_eq!((text.as_str(), thinking.as_str()), ("北京那🌍é", "Ich überlege 🤔"), "{wire:?}");
        let expected = [("read".to_owned(), "{\"path\":\"é\"}".to_owned()), ("list".to_owned(), "{}".to_owned())];
        assert_eq!(calls, expected, "{wire:?}");
        let finished = read.finished.expect("whole");
        let ids: Vec<&str> = finished.calls.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["call_a", "call_b"]);
        let usage = &finished.usage;
        assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens), (100, 60, 7), "{wire:?}");
        assert!(!usage.estimated && !finished.cut);
        let parts = finished.parts.expect("thoughts and words");
        let Part::Thinking { text, signature } = &parts[0] else { panic!("{:?}", parts[0]) };
        // Plain chat completions give nothing to be shown again.
        assert_eq!((text.as_str(), signature.is_some()), ("Ich überlege 🤔", wire != Wire::Chat));
        assert_eq!(parts[1], Part::text("北京那🌍é"));
    }
}

#[test]
fn a_recorded_stream_cut_at_every_byte_reads_the_same() {
    for (wire, kind, stream) in RECORDED {
        for stream in [stream.to_owned(), stream.replace('\n', "\r\n"), format!("\u{feff}{stream}")] {
            let bytes = stream.as_bytes();
            let whole = read(wire, kind, &[bytes]);
            assert!(whole.finished.is_some());
            for cut in 0..=bytes.len() {
                assert_eq!(read(wire, kind, &[&bytes[..cut], &bytes[cut..]]), whole, "{wire:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(wire, kind, &single), whole, "{wire:?} byte by byte");
        }
    }
}

#[test]
fn a_recorded_stream_that_ends_anywhere_is_whole_or_cut_and_never_something_else() {
    for (wire, kind, stream) in RECORDED {
        let whole = read(wire, kind, &[stream.as_bytes()]);
        let (text, thinking, calls) = whole.sums();
        for end in 0..stream.len() {
            let part = read(wire, kind, &[&stream.as_bytes()[..end]]);
            let (said, thought, called) = part.sums();
            assert!(text.starts_with(&said) && thinking.starts_with(&thought), "{wire:?} ends at {end}");
            assert!(called.iter().zip(&calls).all(|(part, whole)| part.0 == whole.0 && whole.1.starts_with(&part.1)));
            if let Some(finished) = part.finished {
                let expected = whole.finished.as_ref().expect("whole");
                assert_eq!(finished.calls, expected.calls, "{wire:?} ends at {end}");
                assert_eq!(finished.parts, expected.parts);
            }
        }
    }
}

/// JSON of the words the formats are made of, in any order and place.
fn soup() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.completed",
        "response.function_call_arguments.delta",
        "response.reasoning_summary_text.delta",
        "message",
        "reasoning",
        "function_call",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "text",
        "thinking",
        "tool_use",
        "redacted_thinking",
        "text_delta",
        "input_json_delta",
        "signature_delta",
        "<thought>",
        "</thought>",
        "reasoning.text",
        "tool_calls",
        "stop",
        "length",
        "é🌍",
        "",
        "{\"a\":",
    ]);
    let keys = prop::sample::select(vec![
        "type",
        "index",
        "output_index",
        "delta",
        "item",
        "content_block",
        "message",
        "usage",
        "choices",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "call_id",
        "text",
        "thinking",
        "partial_json",
        "signature",
        "stop_reason",
        "finish_reason",
        "response",
        "output",
        "status",
        "summary",
        "input",
        "output_tokens",
        "prompt_tokens",
        "reasoning_content",
        "reasoning_details",
        "extra_content",
        "google",
        "thought",
        "thought_signature",
        "delta",
        "object",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0u64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()),
        ]
    })
}

/// How many cases a property is tried with; `COWORK_FUZZ=N` makes it a fuzzing run of N.
fn cases() -> ProptestConfig {
    let asked = std::env::var("COWORK_FUZZ").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(asked.unwrap_or(400)) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn whatever_a_server_sends_no_reader_panics_and_calls_are_those_that_were_shown(
        events in prop::collection::vec(soup(), 0..12),
    ) {
        for (wire, kind, _) in RECORDED {
            let mut answer = reader(wire, kind);
            let mut shown = Vec::new();
            for event in &events {
                answer.take(event, &mut shown);
            }
            let finished = answer.finish(100, &mut shown);
            let (_, _, calls) = Read { shown, finished: None }.sums();
            if let Some(finished) = finished {
                let mut told = calls;
                let mut made: Vec<_> = finished.calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
                told.sort();
                made.sort();
                prop_assert_eq!(told, made);
            }
        }
    }

    #[test]
    fn a_recorded_stream_with_flipped_bytes_never_panics(
        flips in prop::collection::vec((0usize..8_000, any::<u8>()), 1..20), cut in 0usize..8_000,
    ) {
        for (wire, kind, stream) in RECORDED {
            let mut bytes = stream.as_bytes().to_vec();
            for (at, byte) in &flips {
                let at = at % bytes.len();
                bytes[at] = *byte;
            }
            let cut = cut % bytes.len();
            let both = read(wire, kind, &[&bytes[..cut], &bytes[cut..]]);
            prop_assert_eq!(both, read(wire, kind, &[&bytes]));
        }
    }
}
