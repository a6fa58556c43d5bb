//! The operations on a text document, as models and people write them.

use super::anchor::Anchor;
use crate::resources::delta::Edit;
use crate::resources::refusal::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One edit of a text document.
///
/// Line ends in given text are made those of the document. At a section, an item or lines, given
/// text is whole lines; at a quote it is put exactly there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Puts text before a place.
    InsertBefore {
        /// The place.
        at: Anchor,
        /// The text.
        text: String,
    },
    /// Puts text after a place.
    InsertAfter {
        /// The place.
        at: Anchor,
        /// The text.
        text: String,
    },
    /// Replaces a place by text.
    Replace {
        /// The place.
        at: Anchor,
        /// The text.
        text: String,
    },
    /// Deletes a place.
    Delete {
        /// The place.
        at: Anchor,
    },
    /// Replaces every occurrence of a text.
    ReplaceEach {
        /// The text to look for.
        find: String,
        /// What comes instead.
        text: String,
        /// How many there are: a guard; refused where there are more or fewer.
        count: usize,
    },
    /// Adds lines at the end of the document, or of a section's own text.
    Append {
        /// The text.
        text: String,
        /// The section; empty means the document.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        path: Vec<String>,
    },
    /// Replaces what stands under a heading; the heading stays.
    SetBody {
        /// The heading.
        path: Vec<String>,
        /// The new text.
        text: String,
        /// How far the body reaches.
        #[serde(default)]
        extent: Extent,
    },
    /// Moves a section with its subsections; the levels of its headings follow its new place.
    MoveSection {
        /// The section.
        path: Vec<String>,
        /// Where to.
        to: Destination,
    },
    /// Replaces the whole text.
    SetText {
        /// The new text, kept exactly as it is.
        text: String,
    },
    /// Replaces ranges of bytes, in order and apart, kept exactly as they are: what an editor saves.
    Patch {
        /// The ranges.
        edits: Vec<ByteEdit>,
    },
}

/// How far the body of a heading reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Up to its first subheading.
    #[default]
    Own,
    /// With all of its subsections.
    Whole,
}

/// Where a section is moved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "place", rename_all = "snake_case", deny_unknown_fields)]
pub enum Destination {
    /// Before another section, as its sibling.
    Before {
        /// The other section.
        path: Vec<String>,
    },
    /// After another section, as its sibling.
    After {
        /// The other section.
        path: Vec<String>,
    },
    /// As the last subsection of another one.
    Into {
        /// The other section.
        path: Vec<String>,
    },
}

/// A replaced range of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteEdit {
    /// Where it starts.
    pub at: usize,
    /// How many bytes go.
    pub delete: usize,
    /// What comes instead.
    pub insert: String,
}

impl From<ByteEdit> for Edit {
    fn from(edit: ByteEdit) -> Self {
        Self { at: edit.at, delete: edit.delete, insert: edit.insert }
    }
}

impl From<Edit> for ByteEdit {
    fn from(edit: Edit) -> Self {
        Self { at: edit.at, delete: edit.delete, insert: edit.insert }
    }
}

impl Operation {
    /// Reads an operation from JSON.
    pub fn read(value: &Value) -> Result<Self, Refusal> {
        Self::deserialize(value)
            .map_err(|error| Refusal::Invalid { what: format!("the operation can't be read: {error}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_operation_is_read_as_it_is_written_and_a_mistake_is_named() {
        let value = json!({"op": "replace", "at": {"by": "section", "path": ["A"]}, "text": "x"});
        let operation = Operation::read(&value).expect("reads");
        assert_eq!(serde_json::to_value(&operation).expect("json"), value);
        let wrong = json!({"op": "replace", "at": {"by": "section", "path": ["A"]}, "txt": "x"});
        assert!(Operation::read(&wrong).expect_err("refused").to_string().contains("txt"));
        let unknown = json!({"op": "explode"});
        assert!(Operation::read(&unknown).expect_err("refused").to_string().contains("insert_before"));
    }
}
