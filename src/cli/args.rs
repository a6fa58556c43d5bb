//! The command line as it is written: global flags and one variant for each command. What a
//! command does stands in the file of its group under `commands`.

use super::commands::{
    agents, approvals, checks, completions, config, doctor, events, exec, host, inbox, jobs, kept, queue, resources,
    screen, task_edit, tasks, trust,
};
use super::output::ColorWhen;
use clap::{ArgAction, Parser, Subcommand};
use std::path::PathBuf;

/// A terminal workstation in which people and AI agents work on the same things.
#[derive(Debug, Parser)]
#[command(
    name = "cowork",
    bin_name = "cowork",
    version,
    max_term_width = 100,
    after_help = "Ids may be shortened to any unambiguous prefix. Exit codes: 0 done · 1 failed · 2 wrong use · \
                  3 a person is needed · 4 waits for background work (--no-wait) · 5 the model failed · \
                  6 a budget ran out · 7 cancelled or interrupted"
)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(flatten)]
    pub screen: screen::ScreenArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// The project: the folder to work in
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// Where all state is kept [default: $COWORK_HOME, else $XDG_STATE_HOME/cowork]
    #[arg(long, value_name = "DIR", global = true)]
    pub home: Option<PathBuf>,
    /// The configuration file [default: $COWORK_CONFIG, else $XDG_CONFIG_HOME/cowork/config.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Print JSON lines on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub color: ColorWhen,
    /// Run without a host process: the runtime lives and ends with this command
    #[arg(long, global = true)]
    pub in_process: bool,
    /// Say no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more; twice for everything
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do something without a screen: a new Task, or one more message in one
    Exec(exec::ExecArgs),
    /// Open the screen on a Task
    Attach(tasks::One),

    /// List the Tasks
    Ls(tasks::LsArgs),
    /// Show a Task with its objective, acceptance and what it waits for
    Show(tasks::One),
    /// Make an idle Task; nothing is sent to a model
    New(tasks::NewArgs),
    /// Send a message to a Task
    Send(tasks::SendArgs),
    /// List, change or take back the messages that wait in a Task
    Queue(queue::QueueArgs),
    /// Stop a Task's current step; what was produced is kept
    Interrupt(tasks::One),
    /// Stop a Task at its next boundary until it is resumed
    Pause(tasks::One),
    /// Let a Task go on after a pause, a failure or a raised budget
    Resume(tasks::One),
    /// End a Task and everything that runs for it
    Cancel(tasks::One),
    /// Put a Task away
    Archive(tasks::ArchiveArgs),
    /// Remove a Task and everything kept for it
    Rm(tasks::One),
    /// Give a Task another name
    Rename(task_edit::RenameArgs),
    /// Change a Task's model, policy or budget
    Set(task_edit::SetArgs),
    /// Show a Task's objective, or give it a new wording
    Objective(task_edit::ObjectiveArgs),
    /// A Task's points of acceptance
    Checks(checks::ChecksArgs),
    /// Print what happened in a Task
    Events(events::EventsArgs),
    /// Print the whole of an output that was shown in part
    Output(kept::OutputArgs),

    /// Allow or deny what agents want to do
    Approvals(approvals::ApprovalsArgs),
    /// Read messages, and answer questions
    Inbox(inbox::InboxArgs),
    /// Commands that go on by themselves, with their logs and terminals
    Jobs(jobs::JobsArgs),
    /// Documents that people and agents edit together
    Resources(resources::ResourcesArgs),
    /// Look at agents and what they did
    Agents(agents::AgentsArgs),

    /// Trust a folder's configuration and instructions, or no longer
    Trust(trust::TrustArgs),
    /// List what models are configured and reachable
    Models,
    /// Show, find or check the configuration
    Config(config::ConfigArgs),
    /// List the keys of the screen
    Keys,
    /// Check every invariant of the state, and the machine
    Doctor(doctor::DoctorArgs),
    /// The process that owns the runtime
    Host(host::HostArgs),
    /// Print a shell's completion script
    Completions(completions::CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_before_or_after_the_command() {
        for line in [["cowork", "--json", "-C", "/x", "ls"], ["cowork", "ls", "--json", "-C", "/x"]] {
            let args = Args::try_parse_from(line).expect("fine");
            assert!(args.global.json);
            assert_eq!(args.global.dir.as_deref(), Some(std::path::Path::new("/x")));
        }
    }

    #[test]
    fn a_task_alone_opens_the_screen() {
        let args = Args::try_parse_from(["cowork", "t_7k3"]).expect("fine");
        assert!(args.command.is_none());
        assert_eq!(args.screen.task.as_deref(), Some("t_7k3"));
    }
}
