//! The saved context of an agent: rows and their parts.

use super::{Role, ToolCallState};
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};

/// What deciding needs to know of the last row of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRow {
    /// Whose words.
    pub role: Role,
    /// How many calls it asked for.
    pub calls: u32,
    /// Whether it was cut short.
    pub cut: bool,
}

/// A piece of a row of context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Words the model thought and did not say.
    Thinking {
        /// The words.
        text: String,
        /// What the server needs to see again to accept them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A picture, kept as a blob.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// SHA-256 of the bytes, in hex: its name under `blobs/`.
        blob: String,
        /// What it is called.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
    },
    /// A call the assistant asked for; its record is the tool call of that id.
    Call {
        /// The call.
        id: ToolCallId,
        /// The id the server gave it.
        provider_id: String,
        /// The tool.
        name: String,
        /// The arguments, as text: they may not be valid JSON.
        arguments: String,
    },
}

impl Part {
    /// A part of plain words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// One row of an agent's saved context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number within the agent's context, from 1.
    pub seq: u64,
    /// Whose words.
    pub role: Role,
    /// What it holds.
    pub parts: Vec<Part>,
    /// The message it delivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The call it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCallId>,
    /// What became of that call: its state, which alone says how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolCallState>,
    /// The answer was cut short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How large it is for the model: counted or estimated.
    #[serde(default)]
    pub tokens: u64,
    /// When it was saved.
    pub at: Millis,
}

impl Row {
    /// The words of the row, without thinking, joined.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if let Part::Text { text } = part {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(text);
            }
        }
        out
    }
    /// How many calls the row asks for.
    pub fn calls(&self) -> u32 {
        self.parts.iter().filter(|part| matches!(part, Part::Call { .. })).count() as u32
    }
    /// What deciding needs to know of it.
    pub fn last(&self) -> LastRow {
        LastRow { role: self.role, calls: self.calls(), cut: self.cut }
    }
}
