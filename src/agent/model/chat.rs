//! Chat completions as OpenAI made them and most servers speak them: hosted ones, Ollama, vLLM,
//! llama.cpp, LM Studio.

mod again;
mod answer;
mod request;

pub(super) use answer::Answer;
pub(super) use request::body;
