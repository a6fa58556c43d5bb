//! A request as the scripted model got it, and the rules a strict provider holds it to.

use serde_json::Value;

/// One request to the scripted model.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its place among the requests of this server, from 1.
    pub number: usize,
    /// Such as `POST`.
    pub method: String,
    /// Such as `/v1/chat/completions`.
    pub path: String,
    /// In the order they came, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, or null where it is no JSON.
    pub body: Value,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a model is asked something, in whatever wire format.
    pub fn is_ask(&self) -> bool {
        ["/chat/completions", "/messages", "/responses"].iter().any(|path| self.path.ends_with(path))
    }

    /// The messages of a chat, oldest first; the items of a request to Responses.
    pub fn messages(&self) -> &[Value] {
        let messages = self.body.get("messages").or(self.body.get("input"));
        messages.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The words of the system messages.
    pub fn system(&self) -> String {
        self.said_by("system").join("\n")
    }

    /// The words of every message of one role.
    pub fn said_by(&self, role: &str) -> Vec<String> {
        self.messages().iter().filter(|message| message["role"] == role).map(words).collect()
    }

    /// The words of the newest message.
    pub fn last(&self) -> String {
        self.messages().last().map(words).unwrap_or_default()
    }

    /// The role of the newest message.
    pub fn last_role(&self) -> &str {
        self.messages().last().and_then(|message| message["role"].as_str()).unwrap_or_default()
    }

    /// What the user said, message by message: those that came together are one message of the
    /// provider, with a blank line between them.
    pub fn heard(&self) -> Vec<String> {
        self.said_by("user").iter().flat_map(|words| words.split("\n\n")).map(str::to_owned).collect()
    }

    /// The newest words of the user.
    pub fn user(&self) -> String {
        self.heard().pop().unwrap_or_default()
    }

    /// The names of the tools it offers.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// What a strict provider would refuse in it, if anything: unanswered calls, answers to
    /// nothing, empty turns, unknown roles.
    pub fn broken_rule(&self) -> Option<String> {
        let messages = self.messages();
        if messages.is_empty() {
            return Some("there are no messages".into());
        }
        if self.path.ends_with("/messages") {
            return broken_rule_of_messages(messages);
        }
        if self.path.ends_with("/responses") {
            return broken_rule_of_responses(messages);
        }
        let mut waiting: Vec<&str> = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            if role == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(found) = waiting.iter().position(|call| *call == id) else {
                    return Some(format!(
                        "message {at} answers the call `{id}`, which nobody made or which has its answer"
                    ));
                };
                waiting.remove(found);
                continue;
            }
            if !waiting.is_empty() {
                return Some(format!("message {at} ({role}) comes before the calls {waiting:?} have their answers"));
            }
            match role {
                "assistant" => {
                    let calls = message["tool_calls"].as_array().map_or(&[] as &[Value], Vec::as_slice);
                    if calls.is_empty() && words(message).is_empty() {
                        return Some(format!("message {at} is an assistant's and says nothing"));
                    }
                    for call in calls {
                        let id = call["id"].as_str().unwrap_or_default();
                        if id.is_empty() || waiting.contains(&id) {
                            return Some(format!(
                                "message {at} makes a call with the id `{id}`, which is empty or taken"
                            ));
                        }
                        if !call["function"]["arguments"].is_string() {
                            return Some(format!("the arguments of the call `{id}` are not text"));
                        }
                        waiting.push(id);
                    }
                }
                "system" | "developer" | "user" => {
                    if words(message).is_empty() && !message["content"].is_array() {
                        return Some(format!("message {at} ({role}) says nothing"));
                    }
                }
                other => return Some(format!("message {at} has the role `{other}`")),
            }
        }
        (!waiting.is_empty()).then(|| format!("the calls {waiting:?} have no answer"))
    }

    /// What a server that reads the arguments of old calls would refuse.
    pub fn unreadable_arguments(&self) -> Option<String> {
        let calls = self.messages().iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        calls
            .filter_map(|call| call["function"]["arguments"].as_str())
            .find(|arguments| !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()))
            .map(|arguments| format!("the arguments of an old call are no JSON object: {arguments}"))
    }
}

/// What Anthropic would refuse: sides that do not alternate, a call without its result in the very
/// next message, results that are not first in it, empty words.
fn broken_rule_of_messages(messages: &[Value]) -> Option<String> {
    let mut waiting: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Some(format!("message {at} is not the {expected}'s"));
        }
        let content = message["content"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        if content.is_empty() {
            return Some(format!("message {at} is empty"));
        }
        let mut words_came = false;
        for block in content {
            match block["type"].as_str().unwrap_or_default() {
                "text" if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                    return Some(format!("message {at} holds empty words"));
                }
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let Some(found) = waiting.iter().position(|call| *call == id) else {
                        return Some(format!("message {at} answers the call `{id}`, which nobody made"));
                    };
                    if words_came {
                        return Some(format!("message {at} has a result after words"));
                    }
                    waiting.remove(found);
                }
                "tool_use" => {
                    if !block["input"].is_object() {
                        return Some(format!("message {at} makes a call whose input is no object"));
                    }
                    waiting.push(block["id"].as_str().unwrap_or_default());
                }
                "thinking" if block["signature"].as_str().is_none_or(str::is_empty) => {
                    return Some(format!("message {at} holds a thought that nobody signed"));
                }
                _ => words_came = true,
            }
        }
        if message["role"] == "user" && !waiting.is_empty() {
            return Some(format!("the calls {waiting:?} have no result in message {at}"));
        }
    }
    messages.len().is_multiple_of(2).then(|| "the last message is the assistant's".to_owned())
}

/// What Responses would refuse: calls without an output, outputs of nothing.
fn broken_rule_of_responses(items: &[Value]) -> Option<String> {
    let ids = |kind: &str| -> Vec<&str> {
        items.iter().filter(|item| item["type"] == kind).filter_map(|item| item["call_id"].as_str()).collect()
    };
    let (calls, outputs) = (ids("function_call"), ids("function_call_output"));
    let same = calls.len() == outputs.len() && calls.iter().all(|call| outputs.contains(call));
    (!same).then(|| format!("the calls {calls:?} and the outputs {outputs:?} are not the same"))
}

/// The words of a message, whether its content is text or parts.
fn words(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
