//! Composition: arguments, configuration, paths, which role this process plays.
//!
//! [`run`] is the whole program. It parses, composes an [`app::App`], hands it to one command of
//! [`commands`], and turns what comes back into an exit code. Nothing below this room knows
//! arguments, exit codes or where things lie.

mod app;
mod args;
mod commands;
mod config;
mod fault;
mod input;
mod lines;
mod machine;
mod outcome;
mod output;
mod paths;
mod progress;
mod role;
mod session;
mod signals;
pub mod survival;
mod units;

use app::App;
use args::{Args, Command};
use clap::Parser;
use clap::error::ErrorKind;
use commands::exec::Form;
use commands::tasks::Verb;
use commands::*;
use fault::{Exit, Fault};
use output::Output;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// How long what is left of a role may take to end.
const CLOSING: Duration = Duration::from_secs(3);

/// Runs the program with these arguments and gives its exit code.
pub fn run(arguments: Vec<OsString>) -> u8 {
    let args = match Args::try_parse_from(&arguments) {
        Ok(args) => args,
        Err(error) => return misused(&arguments, &error).code(),
    };
    let mut app = match App::new(&args.global) {
        Ok(app) => app,
        Err(fault) => {
            let global = &args.global;
            let out = Output::new(global.json, global.quiet, global.color, &paths::ProcessEnvironment);
            out.fault(&fault);
            return fault.exit.code();
        }
    };
    if matches!(&args.command, Some(Command::Exec(exec)) if exec.output == Form::Json) {
        app.out.json = true;
    }
    pass_on_config(&app);
    let app = Arc::new(app);
    match play(&app, args) {
        Ok(exit) => exit.code(),
        Err(fault) => {
            app.out.fault(&fault);
            fault.exit.code()
        }
    }
}

/// Lets a host that we start read the configuration that was named here, wherever it runs.
fn pass_on_config(app: &App) {
    if app.paths.config_named {
        // SAFETY: no other thread runs yet, so nobody reads the environment at the same time.
        unsafe { std::env::set_var("COWORK_CONFIG", &app.paths.config) };
    }
}

/// Plays the role that the arguments ask for; only roles that need it get an async runtime.
fn play(app: &Arc<App>, args: Args) -> Result<Exit, Fault> {
    match args.command {
        Some(Command::Completions(args)) => return completions::run(app, args),
        Some(Command::Keys) => return keys::run(app),
        _ => {}
    }
    tell_log(app, &args);
    // Only a second call can fail, and the first provider then stays in use.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // A connection that always has something to read would keep the system from being asked
        // for anything else, such as a key, for sixty of its turns.
        .event_interval(1)
        .build()
        .map_err(|error| Fault::new("io", format!("cannot start threads: {error}"), ""))?;
    let result = runtime.block_on(async {
        let result = command(app, args).await;
        app.close().await;
        result
    });
    // Whatever still holds the store lets go of it, so that its file is closed in order.
    runtime.shutdown_timeout(CLOSING);
    result
}

async fn command(app: &Arc<App>, args: Args) -> Result<Exit, Fault> {
    let Args { screen, command, .. } = args;
    let Some(command) = command else { return screen::run(app, screen).await };
    if screen != screen::ScreenArgs::default() {
        let message = "a TASK, --model or --approve stands before the command";
        return Err(Fault::usage(message, "write what belongs to a command behind it"));
    }
    match command {
        Command::Exec(args) => exec::run(app, args).await,
        Command::Attach(args) => screen::run(app, screen::ScreenArgs { task: Some(args.task), ..screen }).await,
        Command::Ls(args) => tasks::ls(app, args).await,
        Command::Show(args) => tasks::show(app, args).await,
        Command::New(args) => tasks::new(app, args).await,
        Command::Send(args) => tasks::send(app, args).await,
        Command::Queue(args) => queue::run(app, args).await,
        Command::Interrupt(args) => tasks::verb(app, &args.task, Verb::Interrupt).await,
        Command::Pause(args) => tasks::verb(app, &args.task, Verb::Pause).await,
        Command::Resume(args) => tasks::verb(app, &args.task, Verb::Resume).await,
        Command::Cancel(args) => tasks::verb(app, &args.task, Verb::Cancel).await,
        Command::Archive(args) => {
            tasks::verb(app, &args.task, if args.undo { Verb::Unarchive } else { Verb::Archive }).await
        }
        Command::Rm(args) => tasks::rm(app, args).await,
        Command::Rename(args) => task_edit::rename(app, args).await,
        Command::Set(args) => task_edit::set(app, args).await,
        Command::Objective(args) => task_edit::objective(app, args).await,
        Command::Checks(args) => checks::run(app, args).await,
        Command::Events(args) => events::run(app, args).await,
        Command::Output(args) => kept::run(app, args).await,
        Command::Approvals(args) => approvals::run(app, args).await,
        Command::Inbox(args) => inbox::run(app, args).await,
        Command::Jobs(args) => commands::jobs::run(app, args).await,
        Command::Resources(args) => resources::run(app, args).await,
        Command::Agents(args) => agents::run(app, args).await,
        Command::Trust(args) => trust::run(app, args).await,
        Command::Models => models::run(app).await,
        Command::Config(args) => commands::config::run(app, args).await,
        Command::Doctor(args) => doctor::run(app, args).await,
        Command::Host(args) => host::run(app, args).await,
        Command::Keys => keys::run(app),
        Command::Completions(args) => completions::run(app, args),
    }
}

/// With `-v`, what the program says of itself goes to standard error; the host and the screen,
/// which nobody watches or which own the terminal, write it to the state folder instead.
fn tell_log(app: &App, args: &Args) {
    let level = match app.verbose {
        0 => return,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    if matches!(args.command, None | Some(Command::Attach(_) | Command::Host(_))) {
        return;
    }
    let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).finish();
    // Only a second call can fail, and the first log then stays in use.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Help and version are answers; everything else that does not parse is wrong use.
fn misused(arguments: &[OsString], error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print(); // A closed pipe is no error.
        return Exit::Done;
    }
    let before_words = arguments.iter().take_while(|argument| *argument != "--");
    if before_words.into_iter().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let hint = lines.filter(|line| !line.starts_with("For more")).collect::<Vec<_>>().join(" ");
        let out = Output::new(true, false, output::ColorWhen::Never, &paths::ProcessEnvironment);
        out.fault(&Fault::usage(message, hint));
    } else {
        let _ = error.print();
    }
    Exit::Usage
}
