//! Cuts a byte stream into server-sent events.
//!
//! It works on bytes, so a chunk may end anywhere: within a character, a line end or the byte
//! order mark. It refuses events of absurd size and text that is not UTF-8; it never guesses.

/// The largest event; one token takes some hundred bytes, a whole answer in one event a few megabytes.
const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name, mostly empty.
    pub name: String,
    /// Its data; several `data` lines are joined by line feeds.
    pub data: String,
}

/// Why a stream can't be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// One event is larger than any server has a reason to send.
    #[error("an event of more than {} MB", LARGEST_EVENT / 1024 / 1024)]
    TooLarge,
    /// A line is not UTF-8.
    #[error("text that is not UTF-8")]
    NotText,
}

/// The decoder of one stream.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
    begun: bool,
    after_return: bool,
}

impl Decoder {
    /// Takes the next chunk and adds the events that are now whole to `events`.
    pub fn feed(&mut self, mut chunk: &[u8], events: &mut Vec<Event>) -> Result<(), Broken> {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_return) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.line.len() + self.data.len() + part.len() > LARGEST_EVENT {
                return Err(Broken::TooLarge);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            self.end_line(events)?;
        }
        Ok(())
    }

    /// Ends the stream: what was complete but for its blank line still counts, since some servers
    /// forget that one; whether it makes sense is the reader's to judge.
    pub fn finish(&mut self, events: &mut Vec<Event>) -> Result<(), Broken> {
        if !self.line.is_empty() {
            self.end_line(events)?;
        }
        self.dispatch(events);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), Broken> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = std::str::from_utf8(&bytes).map_err(|_| Broken::NotText)?;
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(events);
        } else {
            // A line that begins with a colon has the empty name: a comment, passed over as any
            // field we do not know.
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => {
                    if self.has_data {
                        self.data.push('\n');
                    }
                    self.has_data = true;
                    self.data.push_str(value);
                }
                "event" => self.name = value.to_owned(),
                _ => {}
            }
        }
        // The buffer is used again for the next line.
        self.line = bytes;
        self.line.clear();
        Ok(())
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        let event = Event { name: std::mem::take(&mut self.name), data: std::mem::take(&mut self.data) };
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "北京那🌍é";

    fn decode(chunks: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk, &mut events).expect("a good stream");
        }
        decoder.finish(&mut events).expect("a good end");
        events
    }

    /// The body of case T1: a byte order mark, comments, an event in several data lines.
    fn body(end: &str) -> String {
        [
            "\u{feff}: hello",
            "data: 北京那🌍é",
            "",
            ": ping",
            "event: note",
            "data: 北京",
            "data:那🌍é",
            "",
            "id: 7",
            "retry: 10",
            "data",
            "",
            "data: [DONE]",
            "",
            "",
        ]
        .join(end)
    }

    fn expected() -> Vec<Event> {
        let event = |name: &str, data: &str| Event { name: name.into(), data: data.into() };
        vec![event("", TEXT), event("note", "北京\n那🌍é"), event("", ""), event("", "[DONE]")]
    }

    #[test]
    fn every_cut_yields_the_same_events_with_every_kind_of_line_end() {
        for end in ["\n", "\r\n", "\r"] {
            let body = body(end);
            let bytes = body.as_bytes();
            for cut in 0..=bytes.len() {
                assert_eq!(decode(&[&bytes[..cut], &bytes[cut..]]), expected(), "{end:?} cut at {cut}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decode(&single), expected(), "{end:?} byte by byte");
        }
    }

    #[test]
    fn an_event_without_its_blank_line_still_counts_at_the_end() {
        assert_eq!(decode(&[b"data: x"]), [Event { name: String::new(), data: "x".into() }]);
        assert_eq!(decode(&[b": ping\n\n", b"event: only a name\n\n"]), []);
    }

    #[test]
    fn text_that_is_not_utf_8_is_refused_not_guessed() {
        let mut events = Vec::new();
        assert_eq!(Decoder::default().feed(b"data: caf\xe9\n", &mut events), Err(Broken::NotText));
        let mut cut = Decoder::default();
        assert_eq!(cut.feed(b"data: caf\xc3", &mut events), Ok(()));
        assert_eq!(cut.finish(&mut events), Err(Broken::NotText), "the stream ended within a character");
    }

    #[test]
    fn an_event_without_end_is_refused_before_it_fills_the_memory() {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        let chunk = vec![b'x'; 1024 * 1024];
        let refused = (0..64).find_map(|_| decoder.feed(&chunk, &mut events).err());
        assert_eq!(refused, Some(Broken::TooLarge));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_chunks_never_panic_and_give_the_same_result(
            bytes in proptest::collection::vec(prop_oneof![
                any::<u8>(), proptest::sample::select(b"data: \r\n:event\xef\xbb\xbf".to_vec())
            ], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let run = |chunks: Vec<&[u8]>| {
                let mut decoder = Decoder::default();
                let mut events = Vec::new();
                let fed = chunks.into_iter().try_for_each(|chunk| decoder.feed(chunk, &mut events));
                let end = fed.and_then(|()| decoder.finish(&mut events));
                (events, end)
            };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(run(chunks), run(vec![&bytes]));
        }
    }
}
