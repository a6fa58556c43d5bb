//! Responses as OpenAI made them, kept by nobody but us: every request holds the whole context.

mod answer;
mod request;

pub(super) use answer::Answer;
pub(super) use request::body;
