//! What a call would do before it does it, and what is no call at all.

use super::super::testing::{Bench, told};
use super::super::{Plan, Tool};
use super::{JobTool, JobsTool};
use crate::domain::ToolCallState;
use crate::domain::permission::Access;
use serde_json::{Value, json};

async fn planned(tool: &dyn Tool, arguments: Value) -> Result<Plan, String> {
    let bench = Bench::new();
    tool.plan(&arguments, &bench.ctx).await.map_err(|bad| bad.0)
}

#[tokio::test]
async fn a_start_is_judged_like_the_same_line_of_shell() {
    let plan = planned(&JobTool, json!({"action": "start", "command": "make"})).await.expect("a plan");
    assert_eq!((plan.action.access, plan.action.subject.as_str(), plan.action.inside), (Access::Execute, "make", true));
    let plan = planned(&JobTool, json!({"action": "start", "command": "rm -r /etc/x"})).await.expect("a plan");
    assert!(!plan.action.inside && !plan.action.beyond.is_empty());
}

#[tokio::test]
async fn what_is_typed_into_a_job_is_judged_like_a_command() {
    let typed = json!({"action": "send", "id": "j_1", "text": "rm -r /etc/x\n"});
    let plan = planned(&JobTool, typed).await.expect("a plan");
    assert!(!plan.action.inside && plan.action.subject.contains("rm -r /etc/x"));
}

#[tokio::test]
async fn looking_changes_nothing_and_needs_no_yes() {
    for arguments in
        [json!({"action": "list"}), json!({"action": "log", "id": "j_1"}), json!({"action": "wait", "id": "j_1"})]
    {
        let plan = planned(&JobsTool, arguments).await.expect("a plan");
        assert!(plan.action.access == Access::Read && plan.action.inside);
    }
    assert!(!JobsTool.spec().effect.changes_something() && JobTool.spec().effect.changes_something());
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_said_and_nothing_runs() {
    for (arguments, wrong) in [
        (json!({"action": "start"}), "`command` is missing"),
        (json!({"action": "start", "command": " "}), "`command` is missing"),
        (json!({"action": "stop"}), "`id` is missing"),
        (json!({"action": "stop", "id": "t_1"}), "they begin with j_"),
        (json!({"action": "signal", "id": "j_1", "signal": "NOPE"}), "no signal `NOPE`"),
        (json!({"action": "send", "id": "j_1"}), "`text` is missing"),
        (json!({"action": "restart", "id": "j_1"}), "that Job"),
        (json!({"action": "explode"}), "no action `explode`"),
    ] {
        let bad = planned(&JobTool, arguments).await.err().expect("no plan");
        assert!(bad.contains(wrong), "{bad}");
    }
    let bad = planned(&JobsTool, json!({"action": "search", "id": "j_1"})).await.err().expect("no plan");
    assert!(bad.contains("`pattern` is missing"), "{bad}");
}

#[tokio::test]
async fn a_task_without_jobs_says_so() {
    let bench = Bench::new();
    let (state, text) = bench.call(&JobsTool, json!({"action": "list"})).await;
    assert_eq!((state, text.as_str()), (ToolCallState::Done, "This Task has no Jobs."));
    let plan =
        JobsTool.plan(&json!({"action": "show", "id": "j_1"}), &bench.ctx).await.map_err(|bad| bad.0).expect("a plan");
    let (state, text) = told(&(plan.run)(bench.ctx.clone()).await);
    assert!(state == ToolCallState::Error && text.contains("that Job"), "{text}");
}
