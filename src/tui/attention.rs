//! Telling a person who looks elsewhere: what the terminal is told of how it stands. Pure: it gives
//! the bytes, and only when something changed.
//!
//! The title of the window and the program's status follow the state; the bell and a notification
//! come once when a person is needed or Main has answered, and not while somebody is looking.

use super::asks;
use super::look::Calls;
use super::model::Model;
use super::projection::Host;
use super::text;
use super::view::strip;
use super::words;
use crate::domain::{Millis, TaskStatus};
use base64::Engine;

/// Whether the person looks at this terminal, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Looking {
    /// It does not say.
    #[default]
    Unknown,
    /// The keys go here.
    Here,
    /// The keys go elsewhere.
    Away,
}

/// How long after a key a person is taken to be there, where the terminal does not say.
const JUST_NOW: Millis = 10_000;

/// How it stands, in the terms that a terminal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Working,
    Permission,
    Question,
    Done,
    Failed,
}

/// How a notification is written: terminals know the one or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notice {
    /// `OSC 9`.
    #[default]
    Nine,
    /// `OSC 777`.
    Named,
}

impl Notice {
    /// The one for the terminal that the environment names.
    pub fn from_environment(read: impl Fn(&str) -> Option<String>) -> Self {
        let term = read("TERM").unwrap_or_default();
        let named = read("VTE_VERSION").is_some() || term.starts_with("rxvt") || term.starts_with("foot");
        if named { Self::Named } else { Self::Nine }
    }
}

/// What the terminal was told last.
#[derive(Debug)]
pub struct Attention {
    calls: Calls,
    notice: Notice,
    /// Whether the terminal takes reports of the program's status.
    pub takes_status: bool,
    state: State,
    asks: usize,
    title: String,
    /// The state and how many Subagents were at work.
    reported: Option<(State, usize)>,
}

impl Attention {
    /// Begins with nothing told.
    pub fn new(calls: Calls, notice: Notice) -> Self {
        Self { calls, notice, takes_status: false, state: State::Idle, asks: 0, title: String::new(), reported: None }
    }

    /// What the terminal is to be told now; nothing where nothing changed.
    pub fn tell(&mut self, model: &Model) -> Vec<u8> {
        let mut out = Vec::new();
        if model.told.host != Host::Connected {
            return out;
        }
        let (state, asks) = (state(model), asks::list(&model.told).len());
        let needed = asks > self.asks;
        let answered = self.state == State::Working && matches!(state, State::Idle | State::Done | State::Failed);
        if (needed || answered) && !is_looking(model) {
            let words = match (needed, state) {
                (true, _) => gist(model),
                (false, State::Failed) => "it failed".to_owned(),
                (false, _) => "Main has answered".to_owned(),
            };
            self.call(&words, &mut out);
        }
        (self.state, self.asks) = (state, asks);
        if self.calls.title {
            let team = match model.told.at_work() {
                0 => String::new(),
                several => format!("{} · ", words::many(several, "Subagent", "Subagents")),
            };
            let title = format!("{}{team}{}", sign(state), text::cut(&strip::title(model), 60));
            if title != self.title {
                out.extend_from_slice(format!("\x1b]2;{title}\x07").as_bytes());
                self.title = title;
            }
        }
        let told = (state, model.told.at_work());
        if self.takes_status && self.reported != Some(told) {
            self.reported = Some(told);
            out.extend_from_slice(report(state, model).as_bytes());
        }
        out
    }

    /// What takes everything back that the terminal was told.
    pub fn leave(&self) -> &'static str {
        if self.reported.is_some() { "\x1b]7501;state=clear\x1b\\" } else { "" }
    }

    fn call(&self, words: &str, out: &mut Vec<u8>) {
        if self.calls.bell {
            out.push(0x07);
        }
        if self.calls.notify {
            let words = text::cut(words, 100).replace(';', ",");
            let notice = match self.notice {
                Notice::Nine => format!("\x1b]9;Cowork: {words}\x07"),
                Notice::Named => format!("\x1b]777;notify;Cowork;{words}\x07"),
            };
            out.extend_from_slice(notice.as_bytes());
        }
    }
}

fn is_looking(model: &Model) -> bool {
    match model.looking {
        Looking::Here => true,
        Looking::Away => false,
        Looking::Unknown => model.last_key.is_some_and(|at| model.now - at < JUST_NOW),
    }
}

fn state(model: &Model) -> State {
    if !model.told.approvals().is_empty() {
        return State::Permission;
    }
    if !asks::list(&model.told).is_empty() {
        return State::Question;
    }
    if model.told.is_running() || model.told.at_work() > 0 {
        return State::Working;
    }
    match model.told.task().map(|task| task.status) {
        Some(TaskStatus::Completed) => State::Done,
        Some(TaskStatus::Failed) => State::Failed,
        Some(TaskStatus::AwaitingHuman) => State::Question,
        Some(TaskStatus::Active | TaskStatus::Parked | TaskStatus::Paused | TaskStatus::Cancelled) | None => {
            State::Idle
        }
    }
}

fn sign(state: State) -> &'static str {
    match state {
        State::Idle | State::Done => "",
        State::Working => "● ",
        State::Permission | State::Question => "◆ ",
        State::Failed => "✗ ",
    }
}

/// What waits for the person, in a line.
fn gist(model: &Model) -> String {
    asks::list(&model.told)
        .first()
        .map_or_else(|| "it waits for you".to_owned(), |ask| text::line(&ask.gist(&model.told)))
}

/// The program's status as `OSC 7501` has it.
fn report(state: State, model: &Model) -> String {
    let what = match state {
        State::Idle => "idle",
        State::Working => "working",
        State::Permission => "blocked:kind=permission",
        State::Question => "blocked:kind=question",
        State::Done => "done",
        State::Failed => "error",
    };
    let message = match state {
        State::Permission | State::Question => text::cut(&gist(model), 80),
        State::Working if model.told.at_work() > 0 => words::many(model.told.at_work(), "Subagent", "Subagents"),
        State::Idle | State::Working | State::Done | State::Failed => String::new(),
    };
    let message = match message.as_str() {
        "" => String::new(),
        words => format!(":msg={}", base64::engine::general_purpose::STANDARD.encode(words)),
    };
    format!("\x1b]7501;state={what}:app=cowork{message}\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunState;
    use crate::tui::fixtures;

    fn told(attention: &mut Attention, model: &Model) -> String {
        String::from_utf8(attention.tell(model)).expect("text").replace('\x1b', "^").replace('\x07', "$")
    }

    #[test]
    fn a_person_who_looks_elsewhere_is_called_once() {
        let mut model = fixtures::model(80, 24);
        let mut attention = Attention::new(Calls::default(), Notice::Nine);
        fixtures::working(&mut model);
        assert_eq!(told(&mut attention, &model), "^]2;● Why does the parser test fail?$");
        fixtures::approval(&mut model);
        let said = told(&mut attention, &model);
        assert!(said.starts_with("$^]9;Cowork: ") && said.contains("cargo test parser"), "{said}");
        assert!(said.ends_with("^]2;◆ Why does the parser test fail?$"), "{said}");
        assert_eq!(told(&mut attention, &model), "");
    }

    #[test]
    fn whoever_looks_is_not_called() {
        for (looking, last_key) in [(Looking::Here, None), (Looking::Unknown, Some(fixtures::NOW - 1_000))] {
            let mut model = fixtures::model(80, 24);
            (model.looking, model.last_key) = (looking, last_key);
            let mut attention = Attention::new(Calls { title: false, ..Calls::default() }, Notice::Nine);
            attention.tell(&model);
            fixtures::approval(&mut model);
            assert_eq!(told(&mut attention, &model), "", "{looking:?}");
        }
    }

    #[test]
    fn what_is_switched_off_is_not_sent() {
        let mut model = fixtures::model(80, 24);
        let mut attention = Attention::new(Calls { bell: false, notify: false, title: false }, Notice::Nine);
        attention.tell(&model);
        fixtures::approval(&mut model);
        assert_eq!(told(&mut attention, &model), "");
        let mut attention = Attention::new(Calls { bell: false, notify: true, title: false }, Notice::Named);
        assert!(told(&mut attention, &model).starts_with("^]777;notify;Cowork;"));
    }

    #[test]
    fn a_terminal_that_takes_it_is_told_the_status_and_has_it_taken_back() {
        let mut model = fixtures::model(80, 24);
        let mut attention = Attention::new(Calls { bell: false, notify: false, title: false }, Notice::Nine);
        assert_eq!((told(&mut attention, &model).as_str(), attention.leave()), ("", ""));
        attention.takes_status = true;
        fixtures::working(&mut model);
        assert_eq!(told(&mut attention, &model), "^]7501;state=working:app=cowork^\\");
        fixtures::approval(&mut model);
        assert!(told(&mut attention, &model).starts_with("^]7501;state=blocked:kind=permission:app=cowork:msg="));
        assert_eq!(attention.leave(), "\x1b]7501;state=clear\x1b\\");
    }

    #[test]
    fn subagents_at_work_are_counted_in_the_title_and_the_status() {
        let mut model = fixtures::model(80, 24);
        let mut attention = Attention::new(Calls { bell: false, notify: false, title: true }, Notice::Nine);
        attention.takes_status = true;
        fixtures::team(&mut model);
        let said = told(&mut attention, &model);
        assert!(said.contains("2;● 2 Subagents · Why does"), "{said}");
        assert!(said.contains("7501;state=working:app=cowork:msg=MiBTdWJhZ2VudHM="), "{said}");
        let run = "r_sub0".into();
        let (state, reason) = (RunState::Completed, crate::domain::EndReason::Finished);
        fixtures::record(&mut model, crate::domain::Event::RunEnded { run, state, reason, detail: None, ran_ms: 1 });
        assert!(told(&mut attention, &model).contains("● 1 Subagent · "), "who is done is not counted");
    }
}
