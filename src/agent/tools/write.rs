//! `write`: a whole file.

use super::{BadCall, Plan, Tool, ToolContext, ToolSpec, arguments, change, output, planning};
use crate::domain::Effect;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Writes a whole file.
pub(super) struct Write;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// The whole content
    content: String,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Create or replace a whole file. To change a part, use edit.";
    arguments::spec::<Arguments>("write", description, Effect::Reconcilable)
});

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let arguments = arguments::typed(arguments, &SPEC)?;
            planning(ctx, move |ctx| plan(ctx, arguments)).await
        })
    }
}

fn plan(ctx: &ToolContext, Arguments { path, content }: Arguments) -> Result<Plan, BadCall> {
    let before = change::look(ctx, &path)?;
    change::still_as_seen(ctx, &before)?;
    let lines = |bytes: &[u8]| output::counted(output::count_text_lines(bytes), "line");
    let size = format!("{}, {}", lines(content.as_bytes()), output::counted(content.len() as u64, "byte"));
    let done = match &before.bytes {
        None => format!("created, {size}"),
        Some(old) => format!("replaced {} by {size}", lines(old)),
    };
    Ok(change::plan(ctx, SPEC.name, before, content.into_bytes(), done))
}

#[cfg(test)]
mod tests {
    use super::super::change::{Probe, probe};
    use super::*;
    use crate::agent::tools::testing::{Bench, told};
    use crate::domain::ToolCallState;
    use crate::domain::permission::Access;
    use serde_json::json;

    #[tokio::test]
    async fn a_new_file_is_written_with_its_folders_and_the_plan_touches_nothing() {
        let bench = Bench::new();
        let plan = bench.plan(&Write, json!({"path": "a/b.txt", "content": "one\ntwo"})).await.expect("planned");
        assert!(!bench.cwd().join("a").exists());
        assert_eq!((plan.action.access, plan.action.inside), (Access::Write, true));
        assert!(plan.action.detail.contains("+one\n+two\n"), "{}", plan.action.detail);
        assert_eq!(plan.pre_hash.as_deref(), Some("-"));
        let (state, text) = told(&(plan.run)(bench.ctx.clone()).await);
        assert_eq!(state, ToolCallState::Done);
        assert!(text.starts_with("a/b.txt: created, 2 lines, 7 bytes\n"), "{text}");
        assert_eq!(bench.bytes("a/b.txt"), b"one\ntwo");
    }

    #[tokio::test]
    async fn what_a_person_changed_since_the_agent_saw_it_is_not_replaced_but_shown() {
        let mut bench = Bench::new();
        bench.put("f", "as the agent saw it\n");
        let seen = change::hash(b"as the agent saw it\n");
        bench.ctx.seen = std::sync::Arc::new([(bench.cwd().join("f"), seen)].into());
        bench.put("f", "as the person left it\n");
        let call = json!({"path": "f", "content": "x\n"});
        let refused = bench.plan(&Write, call).await.err().expect("refused");
        assert!(refused.0.contains("as the person left it"), "{}", refused.0);
        assert_eq!(bench.bytes("f"), b"as the person left it\n");
    }

    #[tokio::test]
    async fn replacing_says_how_much_was_replaced_and_writing_the_same_changes_nothing() {
        let bench = Bench::new();
        bench.put("f", "1\n2\n3\n");
        let call = json!({"path": "f", "content": "x\n"});
        assert!(bench.done(&Write, call.clone()).await.starts_with("f: replaced 3 lines by 1 line, 2 bytes\n"));
        let modified = || std::fs::metadata(bench.cwd().join("f")).expect("there").modified().expect("known");
        let before = modified();
        assert!(bench.done(&Write, call).await.contains("nothing was changed"));
        assert_eq!(modified(), before);
    }

    #[tokio::test]
    async fn a_link_is_written_through_and_stays_also_where_it_leads_nowhere_yet() {
        let bench = Bench::new();
        std::os::unix::fs::symlink("real", bench.cwd().join("link")).expect("linked");
        bench.done(&Write, json!({"path": "link", "content": "x"})).await;
        assert!(bench.cwd().join("link").is_symlink());
        assert_eq!(bench.bytes("real"), b"x");
        std::os::unix::fs::symlink("/etc/cowork-test", bench.cwd().join("out")).expect("linked");
        let action = bench.plan(&Write, json!({"path": "out", "content": "x"})).await.expect("planned").action;
        assert!(!action.inside && action.beyond.starts_with("it writes /etc/cowork-test"), "{}", action.beyond);
    }

    #[tokio::test]
    async fn that_other_names_of_a_file_keep_the_old_content_is_said() {
        let bench = Bench::new();
        bench.put("f", "old\n");
        std::fs::hard_link(bench.cwd().join("f"), bench.cwd().join("g")).expect("linked");
        let call = json!({"path": "f", "content": "new\n"});
        let detail = bench.plan(&Write, call.clone()).await.expect("planned").action.detail;
        assert!(detail.contains("(other hard links to it keep the old content)"), "{detail}");
        assert!(bench.done(&Write, call).await.contains("keep the old content"));
        assert_eq!(bench.bytes("g"), b"old\n");
    }

    #[tokio::test]
    async fn the_second_writer_is_told_with_the_current_text() {
        let bench = Bench::new();
        bench.put("f", "a\nb\n");
        let plan = bench.plan(&Write, json!({"path": "f", "content": "mine\n"})).await.expect("planned");
        bench.put("f", "a\ntheirs\n");
        let (state, text) = told(&(plan.run)(bench.ctx.clone()).await);
        assert_eq!(state, ToolCallState::Error);
        assert!(text.contains("Nothing was written") && text.contains("+theirs\n"), "{text}");
        assert_eq!(bench.bytes("f"), b"a\ntheirs\n");
        let plan = bench.plan(&Write, json!({"path": "g", "content": "mine"})).await.expect("planned");
        bench.put("g", "theirs\n");
        assert!(told(&(plan.run)(bench.ctx.clone()).await).1.contains("+theirs\n"));
        let plan = bench.plan(&Write, json!({"path": "g", "content": "mine"})).await.expect("planned");
        std::fs::remove_file(bench.cwd().join("g")).expect("removed");
        assert!(told(&(plan.run)(bench.ctx.clone()).await).1.contains("It is gone now."));
        assert!(!bench.cwd().join("g").exists());
    }

    #[tokio::test]
    async fn after_a_crash_it_can_be_told_whether_it_was_written() {
        let bench = Bench::new();
        bench.put("f", "old");
        let call = json!({"path": "f", "content": "new"});
        let plan = bench.plan(&Write, call.clone()).await.expect("planned");
        let (pre, post) = (plan.pre_hash.expect("known"), plan.post_hash.expect("known"));
        let target = plan.target.expect("known");
        assert_eq!(super::change::target(&call, &bench.ctx), Some(target.clone()));
        let looked_up = |pre: &str| probe(Some(&target), Some(pre), Some(&post));
        assert_eq!(looked_up(&pre), Probe::NotDone);
        (plan.run)(bench.ctx.clone()).await;
        assert_eq!(looked_up(&pre), Probe::Done);
        bench.put("f", "third");
        assert_eq!(looked_up(&pre), Probe::Unknown);
        std::fs::remove_file(&target).expect("removed");
        assert_eq!(looked_up(&pre), Probe::Unknown);
        assert_eq!(looked_up("-"), Probe::NotDone);
        assert_eq!(probe(Some(&target), None, Some(&post)), Probe::Unknown);
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_refused_before_anybody_is_asked() {
        let bench = Bench::new();
        bench.put("file", "x");
        for (path, said) in [
            (".", "is a folder"),
            ("new/", "named as a folder"),
            ("file/below", "a part of its path is a file"),
            ("", "the path is empty"),
        ] {
            let text = bench.refused(&Write, json!({"path": path, "content": "x"})).await;
            assert!(text.contains(said), "{text}");
        }
    }

    #[tokio::test]
    async fn an_approval_covers_the_whole_content_even_where_the_diff_is_cut() {
        let bench = Bench::new();
        let long = "x\n".repeat(100_000);
        let one = bench.plan(&Write, json!({"path": "f", "content": format!("{long}a")})).await.expect("planned");
        let two = bench.plan(&Write, json!({"path": "f", "content": format!("{long}b")})).await.expect("planned");
        assert!(one.action.detail.len() < 20_000);
        assert_ne!(one.action.hash(), two.action.hash());
    }
}
