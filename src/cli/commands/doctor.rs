//! `doctor`: every invariant of the store and every condition of the machine; exit code 0 only
//! when nothing is wrong.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::session::failed;
use crate::cli::{machine, role, survival};
use crate::domain::sanitise::{line, text};
use crate::domain::{Answer, DoctorReport, Finding, Query};
use crate::host::client::{Client, Hello};
use crate::host::home::Home;
use crate::host::lock::HostLock;
use crate::host::start::connect_if_running;
use crate::store::{Store, StoreError, repair};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Close what stands open to others, and save a damaged store into a new file (the old one is kept)
    #[arg(long)]
    pub repair: bool,
    /// Also read everything there is: hashes, files, references
    #[arg(long)]
    pub deep: bool,
    /// Only say what survives what: the death of the client, the host or the machine, a full disk
    #[arg(long, conflicts_with_all = ["repair", "deep"])]
    pub survival: bool,
}

/// Looks, and mends if wanted.
pub async fn run(app: &App, args: DoctorArgs) -> Result<Exit, Fault> {
    if args.survival {
        return say_what_survives(app);
    }
    if args.repair {
        for done in machine::mend(&app.paths.home)? {
            app.out.note(&line(&done));
        }
    }
    let machine = machine::look(app);
    let mut report = match store(app, &args).await {
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

fn say_what_survives(app: &App) -> Result<Exit, Fault> {
    if app.out.json {
        for cell in survival::cells() {
            app.out.json(&cell)?;
        }
    } else {
        for line in survival::lines() {
            app.out.line(&line)?;
        }
    }
    Ok(Exit::Done)
}

/// What the store finds: asked of the host, or, where none runs, looked at (and mended) here.
async fn store(app: &App, args: &DoctorArgs) -> Result<DoctorReport, Fault> {
    if !app.paths.home.exists() {
        return Ok(DoctorReport::default());
    }
    let (home, _lock) = match reach(app).await? {
        Reached::Host(client) => {
            return report(client.ask(Query::Doctor { deep: args.deep }).await.map_err(failed)?);
        }
        Reached::Nobody(home, lock) => (home, lock),
    };
    let deep = args.deep;
    let path = home.path().to_owned();
    let examined = blocking(move || examine(&path, deep)).await?;
    if !args.repair || !examined.as_ref().map_or_else(is_damage, has_damage) {
        return examined.map_err(unusable);
    }
    let path = home.path().to_owned();
    let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let repaired = blocking(move || repair(&path, &stamp)).await?.map_err(unusable)?;
    let rows: u64 = repaired.rows.iter().map(|(_, rows)| rows).sum();
    app.out.note(&format!("saved {rows} rows into a new file; the damaged one is {}", repaired.kept.display()));
    if !repaired.lost.is_empty() {
        app.out.note(&format!("parts could not be read of: {}", repaired.lost.join(", ")));
    }
    let path = home.path().to_owned();
    blocking(move || examine(&path, deep)).await?.map_err(unusable)
}

/// Who can look at the store.
enum Reached {
    /// A host runs.
    Host(Client),
    /// None does, and none will while the lock is held here.
    Nobody(Home, HostLock),
}

/// How long a host that is coming or going is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reaches the host, or becomes the owner; a host that is just starting or leaving holds the lock
/// for a moment without answering.
async fn reach(app: &App) -> Result<Reached, Fault> {
    let started = Instant::now();
    loop {
        let hello = Hello::new(None).map_err(failed)?;
        if let Some((client, _pushes)) = connect_if_running(&app.paths.home, hello).await? {
            return Ok(Reached::Host(client));
        }
        match role::own(app) {
            Ok((home, lock)) => return Ok(Reached::Nobody(home, lock)),
            Err(fault) if fault.kind == "busy" && started.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// Opens the store and looks at it. The caller holds the lock.
fn examine(home: &Path, deep: bool) -> Result<DoctorReport, Unexamined> {
    let store = Store::open(home, Box::new(|_| {})).map_err(Unexamined::Store)?;
    report(store.ask(&Query::Doctor { deep }).map_err(|rejection| Unexamined::Other(rejection.into()))?)
        .map_err(Unexamined::Other)
}

/// Why a store could not be looked at.
enum Unexamined {
    Store(StoreError),
    Other(Fault),
}

fn unusable(error: impl Into<Unexamined>) -> Fault {
    match error.into() {
        Unexamined::Store(error) => Fault::new("storage", error.to_string(), error.hint()),
        Unexamined::Other(fault) => fault,
    }
}

impl From<StoreError> for Unexamined {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn is_damage(error: &Unexamined) -> bool {
    matches!(error, Unexamined::Store(StoreError::Damaged { .. }))
}

/// Whether the file itself is broken, not only what stands in it.
fn has_damage(report: &DoctorReport) -> bool {
    report.faults.iter().any(|fault| fault.code == "F51")
}

fn report(answer: Answer) -> Result<DoctorReport, Fault> {
    match answer {
        Answer::Doctor(report) => Ok(report),
        other => Err(Fault::bug(format!("doctor was answered with {other:.80?}"))),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Fault::bug(format!("the examination failed: {error}")))
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
