//! Takes a picture of the real program: runs it in a real terminal, plays keys, and draws the
//! screen as SVG, and as PNG beside it where `rsvg-convert` is installed.
//!
//! ```text
//! cargo run --example picture -- --size 120x40 --out docs/images/chat.svg --keys "wait:'hello' 'words' enter" -- target/debug/cowork
//! ```
//!
//! `--title WORDS` names the window, `--light` draws a light terminal, `--dir DIR` is where the program starts.

#![allow(dead_code)]

mod shapes;
mod svg;

/// The terminal that the tests drive the program in.
#[path = "../promises/support"]
mod support {
    pub mod keys;
    pub mod process;
    pub mod terminal;
    pub mod watch;
}

use portable_pty::CommandBuilder;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use support::terminal::Terminal;

struct Wanted {
    size: (u16, u16),
    out: PathBuf,
    keys: String,
    title: String,
    dir: PathBuf,
    light: bool,
    program: Vec<String>,
}

fn main() -> ExitCode {
    let wanted = match read(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(mistake) => {
            eprintln!(
                "{mistake}\nusage: picture --size 120x40 --out FILE.svg --keys KEYS [--title WORDS] [--light] [--dir DIR] -- PROGRAM…"
            );
            return ExitCode::from(2);
        }
    };
    let mut command = CommandBuilder::new(
        std::fs::canonicalize(&wanted.program[0]).unwrap_or_else(|_| wanted.program[0].clone().into()),
    );
    command.args(&wanted.program[1..]);
    command.cwd(&wanted.dir);
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    let (columns, rows) = wanted.size;
    let background = wanted.light.then_some("rgb:ffff/ffff/ffff");
    let mut terminal = Terminal::open_on(background, command, columns, rows);
    terminal.keys(&wanted.keys);
    let theme = if wanted.light { &svg::LIGHT } else { &svg::DARK };
    let drawing = terminal.screen(|screen| svg::draw(screen, theme, &wanted.title));
    if let Err(error) = std::fs::write(&wanted.out, drawing) {
        eprintln!("{}: {error}", wanted.out.display());
        return ExitCode::FAILURE;
    }
    eprintln!("{}", wanted.out.display());
    to_png(&wanted.out);
    ExitCode::SUCCESS
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        size: (120, 40),
        out: PathBuf::new(),
        keys: String::new(),
        title: "cowork".into(),
        dir: ".".into(),
        light: false,
        program: Vec::new(),
    };
    while let Some(name) = arguments.next() {
        if name == "--" {
            wanted.program = arguments.by_ref().collect();
            break;
        }
        if name == "--light" {
            wanted.light = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} wants a value"))?;
        match name.as_str() {
            "--size" => {
                let (columns, rows) = value.split_once('x').ok_or("a size looks like 120x40")?;
                let number = |text: &str| text.parse::<u16>().map_err(|error| format!("{text}: {error}"));
                wanted.size = (number(columns)?, number(rows)?);
            }
            "--out" => wanted.out = value.into(),
            "--keys" => wanted.keys = value,
            "--title" => wanted.title = value,
            "--dir" => wanted.dir = value.into(),
            _ => return Err(format!("{name} is not known")),
        }
    }
    if wanted.out.as_os_str().is_empty() || wanted.program.is_empty() {
        return Err("--out and a program are needed".into());
    }
    Ok(wanted)
}

/// Draws the SVG as PNG beside it, twice as large; without the program for that, the SVG is all there is.
fn to_png(svg: &Path) {
    let png = svg.with_extension("png");
    match Command::new("rsvg-convert").args(["--zoom", "2", "--output"]).arg(&png).arg(svg).status() {
        Ok(status) if status.success() => eprintln!("{}", png.display()),
        Ok(status) => eprintln!("no PNG: rsvg-convert ended with {status}"),
        Err(_) => eprintln!("no PNG: rsvg-convert is not installed"),
    }
}
