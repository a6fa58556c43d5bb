//! Messages as Anthropic made them, and as others speak them too.

mod answer;
mod request;

pub(super) use answer::Answer;
pub(super) use request::body;
