//! `job` and `jobs`: commands that go on by themselves. The first does something with them and is
//! judged like `shell`; the second looks, and never needs a yes.

mod act;
mod look;

pub(super) use act::JobTool;
pub(super) use look::JobsTool;

use super::{BadCall, ToolContext, ToolSpec, arguments, now};
use crate::domain::{JobId, JobView, sanitise};

/// The tool that does something with Jobs.
pub const JOB: &str = "job";
/// The tool that looks at Jobs.
pub const JOBS: &str = "jobs";

/// Reads the id of a Job.
fn id(given: Option<&str>, spec: &ToolSpec) -> Result<JobId, BadCall> {
    match given.map(str::trim).filter(|id| !id.is_empty()) {
        Some(id) if id.starts_with(JobId::PREFIX) => Ok(JobId(id.to_owned())),
        Some(id) => Err(arguments::bad(spec, &format!("`{id}` is not the id of a Job: they begin with j_"))),
        None => Err(arguments::bad(spec, "`id` is missing")),
    }
}

/// Tells how a Job stands, in a line or two.
fn told(view: &JobView) -> String {
    let JobView { job, seen } = view;
    let mut parts = vec![job.told()];
    if let Some(process) = &job.process {
        let until = job.end.as_ref().map_or_else(now, |end| end.ended_at);
        let seconds = until.saturating_sub(process.started_at).max(0) as f64 / 1000.0;
        parts.push(if job.state.is_ended() { format!("after {seconds:.1} s") } else { format!("for {seconds:.1} s") });
        if !job.state.is_ended() {
            parts.push(format!("pid {}", process.pid));
        }
    }
    if let (Some(cpu), Some(rss)) = (seen.cpu_percent, seen.rss_bytes) {
        parts.push(format!("cpu {cpu:.0} %, {:.1} MB in {} processes", rss as f64 / 1e6, seen.processes.unwrap_or(0)));
    }
    parts.push(match seen.last_output_at {
        Some(at) => {
            let ago = now().saturating_sub(at).max(0) / 1000;
            format!("{} bytes printed, the last {ago} s ago", seen.log_bytes)
        }
        None => "nothing printed".to_owned(),
    });
    if let Some(done) = seen.progress {
        let rest = seen.eta_s.map(|rest| format!(", {rest} s left")).unwrap_or_default();
        parts.push(format!("{:.1} % done{rest}", done * 100.0));
    }
    if seen.typed > 0 && !job.state.is_ended() {
        parts.push(format!("a person typed in it {} times", seen.typed));
    }
    let mut text = format!("{} ({}): {}", job.id, sanitise::line(&job.definition.name), parts.join("; "));
    if let Some(why) = job.end.as_ref().and_then(|end| end.reason.as_ref()).or(job.note.as_ref()) {
        text.push_str(&format!("\n  why: {}", sanitise::line(why)));
    }
    if let Some(line) = &seen.last_line {
        text.push_str(&format!("\n  last line: {}", super::output::short(line, 200)));
    }
    text
}

/// Where a Job would be looked for; tools that look at nothing outside have no place of their own.
fn cwd(ctx: &ToolContext) -> String {
    ctx.cwd.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
