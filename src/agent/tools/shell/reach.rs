//! A hint whether a command plainly reaches beyond the Task's folder, for whoever is asked about it.
//!
//! This is **not confinement**. It reads the command as a person would at a glance: who is called,
//! where output is redirected to, which paths stand there in plain sight. What a program does once
//! it runs, what a variable holds, what a script contains: none of that is known here. It errs
//! towards asking. What a command *can* do is limited where processes are started, or not at all.

mod lexer;

use super::super::paths;
use lexer::{Token, Word};
use std::path::{Path, PathBuf};

/// Run what follows as another user.
const OTHER_USERS: [&str; 5] = ["sudo", "su", "doas", "pkexec", "run0"];

/// Reach the network by what they are.
const NETWORK: [&str; 9] = ["curl", "wget", "ssh", "scp", "sftp", "nc", "ncat", "telnet", "ftp"];

/// Reach the network when git is asked for them.
const GIT_NETWORK: [&str; 4] = ["push", "pull", "fetch", "clone"];

/// Act on the machine rather than on a folder.
const SYSTEM: [&str; 27] = [
    "systemctl",
    "service",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "mount",
    "umount",
    "crontab",
    "useradd",
    "userdel",
    "usermod",
    "passwd",
    "iptables",
    "nft",
    "apt",
    "apt-get",
    "dpkg",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "brew",
    "snap",
    "docker",
    "pkill",
    "killall",
];

/// Change what their arguments name.
const WRITERS: [&str; 16] = [
    "rm", "rmdir", "unlink", "shred", "mv", "cp", "dd", "tee", "touch", "mkdir", "chmod", "chown", "chgrp", "ln",
    "install", "truncate",
];

/// Stand before a command and run it.
const WRAPPERS: [&str; 20] = [
    "env", "time", "nohup", "exec", "command", "builtin", "nice", "ionice", "timeout", "stdbuf", "setsid", "xargs",
    "then", "do", "else", "if", "while", "until", "!", "{",
];

/// Run their `-c` argument.
const SHELLS: [&str; 5] = ["bash", "sh", "dash", "zsh", "ksh"];

/// May be written to wherever the Task works.
const SHARED: [&str; 2] = ["/tmp", "/var/tmp"];

/// Devices that keep nothing.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];

/// Hold what belongs to the system; naming them is usual and harmless, changing them is neither.
const COMMON: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys", "/nix", "/dev"];

/// How deep commands within commands are looked into.
const MOST_DEEP: usize = 8;

/// Where a command may reach without that being said.
pub(super) struct Scope<'a> {
    /// The Task's folder.
    pub(super) cwd: &'a Path,
    /// The agent's own working area.
    pub(super) own: &'a Path,
    /// The person's home.
    pub(super) home: Option<&'a Path>,
}

/// Says in words what of a command reaches beyond the scope; empty when nothing plainly does.
pub(super) fn beyond(command: &str, scope: &Scope<'_>) -> String {
    let mut found = Found { scope, reasons: Vec::new() };
    found.look(command, scope.cwd.to_path_buf(), 0);
    found.reasons.join("; ")
}

/// What the next word is.
enum Next {
    Argument,
    Written,
    Read,
}

struct Found<'a> {
    scope: &'a Scope<'a>,
    reasons: Vec<String>,
}

impl Found<'_> {
    fn say(&mut self, reason: String) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Looks through a command; `base` is the folder its relative paths start at.
    fn look(&mut self, command: &str, mut base: PathBuf, depth: usize) {
        if depth > MOST_DEEP {
            return self.say("it nests commands too deeply to be looked through".into());
        }
        let mut simple: Vec<Word> = Vec::new();
        let mut next = Next::Argument;
        for token in lexer::lex(command) {
            match token {
                Token::Word(word) => match std::mem::replace(&mut next, Next::Argument) {
                    Next::Argument => simple.push(word),
                    Next::Written => self.writes(&word.text, &base),
                    Next::Read => self.names(&word.text, &base),
                },
                Token::Inner(inner) => self.look(&inner, base.clone(), depth + 1),
                Token::Write => next = Next::Written,
                Token::Read => next = Next::Read,
                Token::Separator => {
                    next = Next::Argument;
                    self.command(&std::mem::take(&mut simple), &mut base, depth);
                }
            }
        }
        self.command(&simple, &mut base, depth);
    }

    /// Looks at one command with its arguments.
    fn command(&mut self, words: &[Word], base: &mut PathBuf, depth: usize) {
        let mut words = words;
        let mut wrapped = false;
        let (name, args) = loop {
            let Some((first, rest)) = words.split_first() else { return };
            let name = first.text.rsplit('/').next().unwrap_or_default();
            // Behind a wrapper stand its own options first, such as `timeout -k 1 5`.
            let option = wrapped && first.text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            if WRAPPERS.contains(&name) {
                wrapped = true;
            } else if !option && !is_assignment(&first.text) {
                break (name, rest);
            }
            words = rest;
        };
        if OTHER_USERS.contains(&name) {
            self.say(format!("it runs as another user ({name})"));
            return self.command(args, base, depth);
        }
        if SYSTEM.contains(&name) || name.starts_with("mkfs") {
            self.say(format!("it acts on the machine ({name})"));
        }
        let subcommand =
            args.iter().map(|word| word.text.as_str()).find(|text| !text.starts_with('-')).unwrap_or_default();
        if NETWORK.contains(&name) && !is_local(args) {
            self.say(format!("it reaches the network ({name})"));
        } else if name == "git" && GIT_NETWORK.contains(&subcommand) {
            self.say(format!("it reaches the network (git {subcommand})"));
        } else if name == "eval" {
            let line: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
            self.look(&line.join(" "), base.clone(), depth + 1);
        } else if SHELLS.contains(&name)
            && let Some(at) = args.iter().position(|word| word.text.starts_with('-') && word.text.ends_with('c'))
            && let Some(line) = args.get(at + 1)
        {
            self.look(&line.text, base.clone(), depth + 1);
        }
        if matches!(name, "cd" | "pushd") {
            let to = self.path(args.first().map_or("~", |word| word.text.as_str()), base);
            if self.is_outside(&to) {
                self.say(format!("it goes to {}", to.display()));
            }
            *base = to;
            return;
        }
        for word in args {
            // Also what an option names: `--prefix=/usr`, `of=/dev/sda`.
            let text = word.text.split_once('=').map_or(word.text.as_str(), |(_, value)| value);
            if WRITERS.contains(&name) {
                self.writes(text, base);
            } else {
                self.names(text, base);
            }
        }
    }

    fn writes(&mut self, text: &str, base: &Path) {
        if !reaches_out(text) {
            return;
        }
        let path = self.path(text, base);
        if self.is_outside(&path) {
            self.say(format!("it writes {}", path.display()));
        }
    }

    /// Only what is there is a path for sure: `/x/` may be a pattern for sed.
    fn names(&mut self, text: &str, base: &Path) {
        if !reaches_out(text) {
            return;
        }
        let path = self.path(text, base);
        let common = COMMON.iter().any(|root| path.starts_with(root));
        if self.is_outside(&path) && !common && path.exists() {
            self.say(format!("it names {}", path.display()));
        }
    }

    fn path(&self, text: &str, base: &Path) -> PathBuf {
        let path = match (text.strip_prefix('~'), self.scope.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => base.join(text),
        };
        paths::resolve(&path).unwrap_or(path)
    }

    fn is_outside(&self, path: &Path) -> bool {
        let temporary = std::env::temp_dir();
        let roots = [self.scope.cwd, self.scope.own].map(|root| paths::resolve(root).unwrap_or(root.into()));
        // A Task that works in a temporary folder has its neighbours there.
        let shared = SHARED.iter().map(Path::new).chain([temporary.as_path()]);
        let shared =
            shared.map(|root| paths::resolve(root).unwrap_or(root.into())).filter(|root| !roots[0].starts_with(root));
        let device = DEVICES.iter().any(|device| path == Path::new(device)) || path.starts_with("/dev/fd");
        let shared: Vec<PathBuf> = shared.collect();
        !device && !roots.into_iter().chain(shared).any(|root| path.starts_with(root))
    }
}

/// Whether a word could name something outside at all.
fn reaches_out(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..")
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether every address among the arguments is this machine.
fn is_local(args: &[Word]) -> bool {
    let hosts: Vec<&str> = args
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !text.starts_with('-'))
        .filter_map(|text| text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).or(Some(text)))
        .filter(|text| text.contains(['.', ':']) || text.starts_with("localhost"))
        .filter_map(|text| text.split(['/', '?']).next())
        .collect();
    let local = |host: &&str| {
        ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .any(|us| host.strip_prefix(us).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))
    };
    !hosts.is_empty() && hosts.iter().all(local)
}

#[cfg(test)]
mod tests;
