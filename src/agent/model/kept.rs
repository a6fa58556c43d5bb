//! What a server gave with its thinking and must be shown again, word for word, to go on from it:
//! a signature, a block in cipher, an item of reasoning.
//!
//! It is stored as the signature of a part of thinking, under the name of the provider: another
//! one would refuse it, and is not sent it.

use crate::domain::Part;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A block of a server's own, and whose it is.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    from: String,
    block: Value,
}

/// Makes a part of thinking that keeps a server's block.
pub(super) fn thinking(text: String, from: &str, block: Value) -> Part {
    let kept = Kept { from: from.to_owned(), block };
    Part::Thinking { text, signature: serde_json::to_string(&kept).ok() }
}

/// The block kept in a part of thinking, if it is of that provider.
pub(super) fn block(signature: Option<&str>, from: &str) -> Option<Value> {
    let kept: Kept = serde_json::from_str(signature?).ok()?;
    (kept.from == from).then_some(kept.block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_block_comes_back_to_the_provider_it_is_of_and_to_no_other() {
        let Part::Thinking { text, signature } = thinking("hm".into(), "claude", json!({"signature": "EqQ="})) else {
            panic!("thinking");
        };
        assert_eq!(text, "hm");
        assert_eq!(block(signature.as_deref(), "claude"), Some(json!({"signature": "EqQ="})));
        assert_eq!(block(signature.as_deref(), "other"), None);
        assert_eq!((block(None, "claude"), block(Some("no JSON"), "claude")), (None, None));
    }
}
