//! Acceptance: the commands that judge whether a Task is done are run, and what they gave is
//! recorded as evidence.

use super::drive::{Drive, Going};
use super::tools;
use crate::domain::*;
use serde_json::json;

/// Judges each check by running its command, as the user wrote it.
pub(super) async fn run(drive: &mut Drive, checks: Vec<Check>) -> Going {
    let limits = drive.port.settings().limits;
    for check in checks {
        let cancel = drive.stop.child_token();
        let ran = tools::run_command(&check.text, &drive.place.cwd, &limits, &cancel).await;
        if drive.stop.is_cancelled() || drive.leaving.is_cancelled() {
            return Going::On;
        }
        let (outcome, evidence) = match ran {
            Ok(ran) => {
                let passed = ran.exit_code == Some(0);
                let outcome = if passed { CheckState::Passed } else { CheckState::Failed };
                (outcome, json!({"command": check.text, "exit_code": ran.exit_code, "output": ran.tail}))
            }
            Err(why) => (CheckState::Failed, json!({"command": check.text, "error": why})),
        };
        let run = drive.run.clone();
        if let Err(rejection) = drive.tell(RunCommand::GiveVerdict { run, check: check.id, outcome, evidence }).await {
            return Going::Wrong(rejection);
        }
    }
    Going::On
}
