//! Lines on a connection: one JSON value, one newline, never longer than agreed.
//!
//! Both ends use it. It refuses a line that is too long before that line is in memory, a line
//! that is not the JSON expected, and a connection that ends inside a line; each with a reason
//! that can be shown.

use serde::{Serialize, de::DeserializeOwned};
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What a buffer may keep between lines; one huge line must not cost its size for ever.
const KEPT: usize = 64 * 1024;

/// Why a connection can't be read on.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The other end does not keep to the limit.
    #[error("a line is longer than {0} bytes")]
    TooLong(usize),
    /// The other end does not speak this protocol.
    #[error("a line is not what this protocol expects: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The other end went away in the middle of a line.
    #[error("the connection ended in the middle of a line")]
    Cut,
    /// The connection itself failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Reads lines of at most `longest` bytes, without their newline.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines from `from`.
    pub fn new(from: R, longest: usize) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), longest }
    }

    /// Reads the next line as it stands; `None` when the connection ended between two lines.
    ///
    /// Dropping the future loses nothing: what was read of a line is kept for the next call.
    pub async fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        loop {
            let chunk = self.from.fill_buf().await?;
            if chunk.is_empty() {
                return if self.line.is_empty() { Ok(None) } else { Err(LineError::Cut) };
            }
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let wanted = newline.unwrap_or(chunk.len());
            if self.line.len() + wanted > self.longest {
                return Err(LineError::TooLong(self.longest));
            }
            self.line.extend_from_slice(&chunk[..wanted]);
            let used = wanted + usize::from(newline.is_some());
            self.from.consume(used);
            if newline.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }

    /// Reads the next line as a `T`; `None` when the connection ended between two lines.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, LineError> {
        let Some(line) = self.next_line().await? else { return Ok(None) };
        let value = serde_json::from_slice(&line)?;
        if line.capacity() <= KEPT {
            self.line = line;
            self.line.clear();
        }
        Ok(Some(value))
    }
}

/// Appends `value` as a line to `to`; on an error `to` is as it was.
pub fn append<T: Serialize>(to: &mut Vec<u8>, value: &T, longest: usize) -> Result<(), LineError> {
    let start = to.len();
    let written = serde_json::to_writer(&mut *to, value)
        .map_err(LineError::from)
        .and_then(|()| if to.len() - start > longest { Err(LineError::TooLong(longest)) } else { Ok(()) });
    match written {
        Ok(()) => to.push(b'\n'),
        Err(_) => to.truncate(start),
    }
    written
}

/// Forgets what is in `buffer`, and its memory when a huge line passed through.
pub fn reuse(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT {
        buffer.shrink_to(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn lines_arrive_whole_however_they_are_cut() {
        let values = [json!({"a": "é北🌍"}), json!([1, 2]), json!("x\ny")];
        let mut bytes = Vec::new();
        for value in &values {
            append(&mut bytes, value, 100).expect("short enough");
        }
        for cut in 0..=bytes.len() {
            let (ours, mut theirs) = tokio::io::duplex(1024);
            let (first, second) = (bytes[..cut].to_vec(), bytes[cut..].to_vec());
            let writer = tokio::spawn(async move {
                theirs.write_all(&first).await.expect("write");
                tokio::task::yield_now().await;
                theirs.write_all(&second).await.expect("write");
            });
            let mut lines = Lines::new(ours, 100);
            for value in &values {
                assert_eq!(lines.next::<Value>().await.expect("a line").as_ref(), Some(value), "cut at {cut}");
            }
            assert!(lines.next::<Value>().await.expect("the end").is_none());
            writer.await.expect("written");
        }
    }

    #[tokio::test]
    async fn a_line_of_exactly_the_limit_passes_and_one_byte_more_does_not() {
        let mut fits = Lines::new(&b"\"12345678\"\n"[..], 10);
        assert_eq!(fits.next::<String>().await.expect("fits").as_deref(), Some("12345678"));
        let mut long = Lines::new(&b"\"123456789\"\n"[..], 10);
        assert!(matches!(long.next::<String>().await, Err(LineError::TooLong(10))));

        let mut out = b"before".to_vec();
        assert!(append(&mut out, &"123456789", 10).is_err());
        assert_eq!(out, b"before");
        append(&mut out, &"12345678", 10).expect("fits");
        assert_eq!(out, b"before\"12345678\"\n");
    }

    #[tokio::test]
    async fn an_endless_line_is_refused_without_being_kept() {
        let mut lines = Lines::new(tokio::io::repeat(b'x'), 1 << 20);
        assert!(matches!(lines.next::<Value>().await, Err(LineError::TooLong(_))));
        assert!(lines.line.len() <= 1 << 20);
    }

    #[tokio::test]
    async fn what_is_not_json_and_what_is_cut_short_is_said() {
        let mut text = Lines::new(&b"GET / HTTP/1.1\n"[..], 100);
        assert!(matches!(text.next::<Value>().await, Err(LineError::NotJson(_))));
        let mut cut = Lines::new(&b"{\"a\":1"[..], 100);
        assert!(matches!(cut.next::<Value>().await, Err(LineError::Cut)));
    }

    #[tokio::test]
    async fn a_dropped_read_loses_nothing() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut lines = Lines::new(ours, 100);
        theirs.write_all(b"[1,").await.expect("write");
        tokio::select! {
            biased;
            line = lines.next::<Value>() => panic!("half a line was taken for one: {line:?}"),
            () = tokio::task::yield_now() => {}
        }
        theirs.write_all(b"2]\n").await.expect("write");
        assert_eq!(lines.next::<Value>().await.expect("a line"), Some(json!([1, 2])));
    }
}
