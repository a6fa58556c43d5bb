//! `doctor`: every invariant of the store and every condition of the machine; exit code 0 only
//! when nothing is wrong.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::session::failed;
use crate::cli::{machine, role};
use crate::domain::sanitise::{line, text};
use crate::domain::{Answer, DoctorReport, Finding, Query};
use crate::host::client::Hello;
use crate::host::start::connect_if_running;
use crate::store::Store;

#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Mend what can be mended without asking: what stands open to others is closed
    #[arg(long)]
    pub repair: bool,
    /// Also read everything there is: hashes, files, references
    #[arg(long)]
    pub deep: bool,
}

/// Looks, and mends if wanted.
pub async fn run(app: &App, args: DoctorArgs) -> Result<Exit, Fault> {
    if args.repair {
        for done in machine::mend(&app.paths.home)? {
            app.out.note(&line(&done));
        }
    }
    let machine = machine::look(app);
    let mut report = match store(app, args.deep).await {
        Ok(report) => report,
        Err(fault) => {
            let broken = machine::finding("M06", app.paths.home.display().to_string(), fault.message, fault.hint);
            DoctorReport { faults: vec![broken], ..DoctorReport::default() }
        }
    };
    report.faults.splice(0..0, machine.faults);
    report.warnings.extend(machine.warnings);
    if app.out.json {
        app.out.json(&report)?;
    } else {
        print(app, &report)?;
    }
    Ok(if report.faults.is_empty() { Exit::Done } else { Exit::Failed })
}

/// What the store finds: asked of the host, or, where none runs, looked at here.
async fn store(app: &App, deep: bool) -> Result<DoctorReport, Fault> {
    if !app.paths.home.exists() {
        return Ok(DoctorReport::default());
    }
    let query = Query::Doctor { deep };
    let hello = Hello::new(None).map_err(failed)?;
    let answer = match connect_if_running(&app.paths.home, hello).await? {
        Some((client, _pushes)) => client.ask(query).await.map_err(failed)?,
        None => {
            let (home, _lock) = role::own(app)?;
            let store = Store::open(home.path(), Box::new(|_| {}))
                .map_err(|error| Fault::new("storage", error.to_string(), error.hint()))?;
            tokio::task::spawn_blocking(move || store.ask(&query))
                .await
                .map_err(|error| Fault::bug(format!("the examination failed: {error}")))??
        }
    };
    match answer {
        Answer::Doctor(report) => Ok(report),
        other => Err(Fault::bug(format!("doctor was answered with {other:.80?}"))),
    }
}

fn print(app: &App, report: &DoctorReport) -> Result<(), Fault> {
    for (style, word, findings) in [(Style::Bad, "fault", &report.faults), (Style::Warn, "warning", &report.warnings)] {
        for Finding { code, entity, id, detail, hint } in findings {
            let head = app.out.out.paint(style, &format!("{word} {code}"));
            app.out.line(&format!("{head}  {} {}: {}", line(entity), line(id), text(detail)))?;
            if !hint.is_empty() {
                app.out.line(&format!("    {}", text(hint)))?;
            }
        }
    }
    let looked = format!("{} Tasks, {} rows, {} events", report.tasks, report.rows, report.events);
    let verdict = match (report.faults.len(), report.warnings.len()) {
        (0, 0) => app.out.out.paint(Style::Good, "clean"),
        (0, warnings) => format!("{}, {warnings} to look at", app.out.out.paint(Style::Good, "clean")),
        (faults, _) => app.out.out.paint(Style::Bad, &format!("{faults} wrong")),
    };
    app.out.line(&format!("{verdict}: {looked}"))
}
