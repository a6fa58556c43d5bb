//! What kind of content some bytes are: text, a picture, or neither.

/// How many bytes from the beginning are looked at to tell what a file is.
pub(super) const SNIFF: usize = 8192;

/// The mark that some programs put before UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// What some bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, in UTF-8 or in something that shares ASCII with it.
    Text,
    /// A picture of this media type.
    Image(&'static str),
    /// Nothing that can be read as text here; the words complete "it is …".
    Other(&'static str),
}

/// Tells what a file is by its beginning.
pub(super) fn kind(beginning: &[u8]) -> Kind {
    let image = match beginning {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    };
    if let Some(media_type) = image {
        return Kind::Image(media_type);
    }
    match beginning {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Kind::Other("UTF-16 text; convert it with iconv to read or edit it"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Kind::Other("a PDF; extract its text with a command such as pdftotext"),
        _ if beginning.contains(&0) => Kind::Other("binary"),
        _ if mostly_undecodable(beginning) => {
            Kind::Other("not text in UTF-8, nor in anything close to it; convert it with iconv to read or edit it")
        }
        _ => Kind::Text,
    }
}

/// More than a third of the characters can't be decoded: nothing readable would come of it.
fn mostly_undecodable(bytes: &[u8]) -> bool {
    let (mut good, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().count();
        // A character that is merely cut by the end of the sample is not broken.
        broken += usize::from(!chunk.invalid().is_empty());
    }
    broken * 2 > good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_told_by_its_bytes() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n..."), Kind::Image("image/png"));
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), Kind::Image("image/webp"));
        assert_eq!(kind(b"const x = 1;\n// caf\xe9 note\n"), Kind::Text);
        assert_eq!(kind(b""), Kind::Text);
        assert_eq!(kind("北京".as_bytes()), Kind::Text);
        assert!(matches!(kind(b"\xd6\xd0\xce\xc4"), Kind::Other(_)));
        assert!(matches!(kind(b"\xff\xfea\0"), Kind::Other(_)));
        assert!(matches!(kind(b"\x7fELF\x02\x01\x01\0"), Kind::Other("binary")));
        assert_eq!(kind(&"é".as_bytes().repeat(3)[..5]), Kind::Text);
    }
}
