//! What `exec` shows a person: the answer on standard output, progress on standard error.
//!
//! On a terminal the answer is shown while it comes; elsewhere it is printed once, at the end.

use super::fault::Fault;
use super::lines::Calls;
use super::output::{Output, Style, fit};
use super::units::now;
use crate::domain::sanitise::{line, text};
use crate::domain::*;

/// The state of showing.
pub struct Progress {
    out: Output,
    /// Whether the output of tools is shown too.
    verbose: bool,
    calls: Calls,
    /// Of the answer that is being given: the request, what came of it, and what of that is shown.
    call: Option<ModelCallId>,
    said: String,
    shown: String,
    /// Whether the cursor stands behind something on standard output.
    open: bool,
    /// Why the answer that is awaited failed last, and how often it was asked for again.
    failure: String,
    tries: u32,
    retries: u32,
}

impl Progress {
    /// Begins; `retries` is how often a request that failed is sent again.
    pub fn new(out: Output, verbose: bool, retries: u32) -> Self {
        let (calls, said, shown) = (Calls::default(), String::new(), String::new());
        Self { out, verbose, calls, call: None, said, shown, open: false, failure: String::new(), tries: 0, retries }
    }

    /// Shows what passes.
    pub fn transient(&mut self, transient: &Transient) -> Result<(), Fault> {
        match transient {
            Transient::Text { call, at, text: words, .. } if self.out.live => {
                if self.call.as_ref() != Some(call) {
                    self.call = Some(call.clone());
                    self.said.clear();
                }
                // Pieces may be missing: what follows a gap waits for the whole answer.
                if *at as usize == self.said.len() {
                    self.said += words;
                    let said = text(&self.said).into_owned();
                    self.show(&said)?;
                }
                Ok(())
            }
            Transient::Unsaved { .. }
            | Transient::Text { .. }
            | Transient::Thinking { .. }
            | Transient::CallForming { .. }
            | Transient::ToolOutput { .. } => Ok(()),
        }
    }

    /// Shows an event.
    pub fn event(&mut self, event: &Event) -> Result<(), Fault> {
        if let Event::TurnCommitted { .. } = event {
            self.failure.clear();
            self.tries = 0;
        }
        match event {
            Event::TurnCommitted { row, .. } if self.out.live => {
                let said = text(&row.text()).into_owned();
                if !said.is_empty() {
                    self.show(&said)?;
                }
                self.end_line()?;
                self.shown.clear();
                self.call = None;
                Ok(())
            }
            Event::ToolPlanned { call } => {
                self.calls.planned(call);
                let what = format!("→ {} {}", line(&call.name), line(&call.arguments));
                self.note(Style::Dim, &what)
            }
            Event::ToolSettled { call, state, row, .. } => self.settled(call, *state, row),
            // The message says which; its tries are counted anew.
            Event::TurnFailed { message, retry_at: Some(_), instead: Some(_), .. } => {
                self.tries = 0;
                self.failure.clear();
                self.note(Style::Warn, &line(message))
            }
            // A failure for good is told at the end, with what to do.
            Event::TurnFailed { message, retry_at: Some(retry_at), instead: None, .. } => {
                let seconds = (retry_at - now() + 999).max(0) / 1000;
                self.tries += 1;
                let again = format!("again in {seconds} s ({} of {})", self.tries, self.retries.max(self.tries));
                // The same sentence is said once.
                let what = if self.failure == *message { again } else { format!("{}; {again}", line(message)) };
                message.clone_into(&mut self.failure);
                self.note(Style::Warn, &what)
            }
            Event::AssignmentGiven { assignment, .. } => {
                let Assignment { agent, name, objective, .. } = assignment;
                self.note(Style::Dim, &format!("⇢ {} ({agent}): {}", line(name), line(objective)))
            }
            Event::ContributionMade { contribution, .. } => {
                let Report { outcome, done, .. } = &contribution.report;
                self.note(Style::Dim, &format!("⇠ {} {outcome}: {}", contribution.agent, line(done)))
            }
            Event::DecisionAsked { decision } => {
                let DecisionRequest { id, agent, question, .. } = decision;
                self.note(Style::Warn, &format!("{agent} asks ({id}): {}", line(question)))
            }
            Event::VerdictGiven { verdict } => {
                self.note(Style::Dim, &format!("{} is {}", verdict.check, verdict.outcome))
            }
            _ => Ok(()), // The rest is for `events` and `--json`.
        }
    }

    fn settled(&mut self, call: &ToolCallId, state: ToolCallState, row: &Row) -> Result<(), Fault> {
        let name = self.calls.settled(call).unwrap_or_default();
        let said = sanitise::output(&row.text()).into_owned();
        if state != ToolCallState::Done {
            self.note(Style::Warn, &format!("  {} {state}: {}", line(&name), line(&said)))
        } else if self.verbose {
            self.end_line()?;
            self.out.note(&said);
            Ok(())
        } else {
            Ok(())
        }
    }

    /// Ends: where the answer was not shown while it came, it is printed now.
    pub fn finish(&mut self, answer: Option<&str>) -> Result<(), Fault> {
        self.end_line()?;
        match answer {
            Some(answer) if !self.out.live && !answer.is_empty() => self.out.text(answer),
            Some(_) | None => Ok(()),
        }
    }

    fn note(&mut self, style: Style, what: &str) -> Result<(), Fault> {
        self.end_line()?;
        let what = self.out.width.map_or_else(|| what.to_owned(), |width| fit(what, width));
        self.out.note(&self.out.err.paint(style, &what));
        Ok(())
    }

    /// Prints what of an answer is not there yet. An answer that is given again after a failure
    /// is not printed twice as far as it is the same.
    fn show(&mut self, said: &str) -> Result<(), Fault> {
        let new = match said.strip_prefix(self.shown.as_str()) {
            Some(new) => new.to_owned(),
            None if self.shown.starts_with(said) => return Ok(()),
            None => {
                self.end_line()?;
                said.to_owned()
            }
        };
        self.shown = said.to_owned();
        if !new.is_empty() {
            self.out.piece(&new)?;
            self.open = !new.ends_with('\n');
        }
        Ok(())
    }

    /// Makes sure that what is said next begins a line.
    pub fn end_line(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.open) { self.out.line("") } else { Ok(()) }
    }
}
