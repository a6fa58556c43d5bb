//! x
use super::{AnswerStream, Model, Request};
pub struct Guide;
impl Model for Guide {
    fn ask(&self, _: Request) -> AnswerStream {
        Box::pin(futures_util::stream::empty())
    }
}
