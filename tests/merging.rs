//! Merges of texts held beside `git merge-file`, on made histories and on the real ones of this
//! repository: how many merge alone, and whether any merges wrongly (none may).
//!
//! Run with `--nocapture` to see the figures. Where git is not installed the comparison is skipped
//! aloud.

use coworkos::resources::lines::{self, Hunk};
use coworkos::resources::merge::{self, Grain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What git makes of a merge: the text where it fits, nothing where it conflicts.
fn git_merge(base: &str, theirs: &str, mine: &str) -> Option<String> {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("written");
    write("base", base);
    write("theirs", theirs);
    write("mine", mine);
    let output = Command::new("git")
        .args(["merge-file", "-p", "-q", "mine", "base", "theirs"])
        .current_dir(dir.path())
        .output()
        .expect("git runs");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("text"))
}

fn git(args: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[derive(Debug, Default)]
struct Tally {
    merges: usize,
    ours: usize,
    gits: usize,
    words: usize,
    wrong: usize,
    git_wrong: usize,
    differ: usize,
}

impl Tally {
    /// Merges both ways; `truth` is what must come out, where it is known.
    fn add(&mut self, base: &str, theirs: &str, mine: &str, truth: Option<&str>) {
        self.merges += 1;
        let ours = merge::texts(base, theirs, mine, Grain::Lines).merged();
        let words = merge::texts(base, theirs, mine, Grain::Words).merged();
        let gits = git_merge(base, theirs, mine);
        self.ours += usize::from(ours.is_some());
        self.words += usize::from(words.is_some());
        self.gits += usize::from(gits.is_some());
        if let Some(truth) = truth {
            let wrong = [&ours, &words].into_iter().flatten().any(|merged| merged != truth);
            if wrong {
                eprintln!("--- wrong\n{base}\n--- theirs\n{theirs}\n--- mine\n{mine}\n--- ours\n{ours:?}");
            }
            self.wrong += usize::from(wrong);
            self.git_wrong += usize::from(gits.as_deref().is_some_and(|merged| merged != truth));
        }
        if let (Some(ours), Some(gits)) = (&ours, &gits) {
            self.differ += usize::from(ours != gits);
        }
    }

    fn print(&self, name: &str) {
        let share = |n: usize| 100.0 * n as f64 / self.merges.max(1) as f64;
        println!(
            "{name}: {} merges; alone: lines {:.1} %, words {:.1} %, git {:.1} %; wrong: ours {}, git {}; clean in both but different: {}",
            self.merges,
            share(self.ours),
            share(self.words),
            share(self.gits),
            self.wrong,
            self.git_wrong,
            self.differ
        );
    }
}

/// Random numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// A file of functions with blank lines and braces that repeat, as code has.
fn code(dice: &mut Dice, functions: usize) -> Vec<String> {
    let mut out = Vec::new();
    for number in 0..functions {
        out.push(format!("fn item_{number}() {{"));
        for step in 0..2 + dice.roll(5) {
            out.push(if dice.roll(5) == 0 { String::new() } else { format!("    let v{step} = {};", dice.roll(9)) });
        }
        out.push("}".into());
        out.push(String::new());
    }
    out
}

/// Edits of a list of lines: replaced, deleted, inserted, apart from each other and from `taken`.
fn edits(dice: &mut Dice, len: usize, taken: &[(usize, usize)], side: &str) -> Vec<(usize, usize, Vec<String>)> {
    let mut out: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for number in 0..1 + dice.roll(4) {
        let start = dice.roll(len);
        let end = (start + dice.roll(4)).min(len);
        let near = |from: usize, to: usize| start <= to + 1 && from <= end + 1;
        if taken.iter().any(|(from, to)| near(*from, *to)) || out.iter().any(|(from, to, _)| near(*from, *to)) {
            continue;
        }
        let new = (0..dice.roll(4)).map(|n| match dice.roll(4) {
            0 => String::new(),
            1 => "}".into(),
            _ => format!("    {side}_{number}_{n}();"),
        });
        out.push((start, end, new.collect()));
    }
    out.sort();
    out
}

fn applied(lines: &[String], edits: &[(usize, usize, Vec<String>)]) -> String {
    let mut out = Vec::new();
    let mut at = 0;
    for (start, end, new) in edits {
        out.extend_from_slice(&lines[at..*start]);
        out.extend_from_slice(new);
        at = *end;
    }
    out.extend_from_slice(&lines[at..]);
    out.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn made_histories_merge_as_git_merges_them_and_never_wrongly() {
    if git(&["--version"]).is_none() {
        println!("skipped: git is not installed");
        return;
    }
    let mut dice = Dice(7);
    let (mut apart, mut any) = (Tally::default(), Tally::default());
    for round in 0..300 {
        let functions = 3 + dice.roll(12);
        let lines = code(&mut dice, functions);
        let base = applied(&lines, &[]);
        let theirs = edits(&mut dice, lines.len(), &[], "theirs");
        let taken: Vec<(usize, usize)> = theirs.iter().map(|(start, end, _)| (*start, *end)).collect();
        if round % 2 == 0 {
            let mine = edits(&mut dice, lines.len(), &taken, "mine");
            let mut both: Vec<_> = theirs.iter().chain(&mine).cloned().collect();
            both.sort();
            let truth = applied(&lines, &both);
            apart.add(&base, &applied(&lines, &theirs), &applied(&lines, &mine), Some(&truth));
        } else {
            let mine = edits(&mut dice, lines.len(), &[], "mine");
            any.add(&base, &applied(&lines, &theirs), &applied(&lines, &mine), None);
        }
    }
    apart.print("made, edits apart");
    any.print("made, edits anywhere");
    assert_eq!(apart.wrong, 0);
}

/// The texts of each file of the repository, oldest first.
fn histories(limit: usize) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let log = git(&[
        "log",
        "--reverse",
        "--no-merges",
        "--format=%x00%H",
        "--name-only",
        "--diff-filter=AM",
        "--",
        "*.rs",
        "*.md",
        "*.toml",
    ]);
    let mut seen = 0;
    for commit in log.unwrap_or_default().split('\0').skip(1) {
        let mut lines = commit.lines().filter(|line| !line.is_empty());
        let Some(hash) = lines.next() else { continue };
        for file in lines {
            if seen == limit {
                return out;
            }
            if let Some(text) = git(&["show", &format!("{hash}:{file}")]) {
                let texts = out.entry(file.to_owned()).or_default();
                if texts.last() != Some(&text) {
                    texts.push(text);
                    seen += 1;
                }
            }
        }
    }
    out
}

/// The base with the second of two changes alone, where the two are apart: the hunks from `middle`
/// to `end` carried back over those from `base` to `middle`.
fn second_alone(base: &str, middle: &str, end: &str) -> Option<String> {
    let (first, second) = (lines::hunks(base, middle), lines::hunks(middle, end));
    let (base, end) = (lines::lines(base), lines::lines(end));
    let mut out: Vec<&str> = Vec::new();
    let mut at = 0;
    for hunk in &second {
        let mut shift = 0isize;
        for Hunk { old, new } in &first {
            if new.end < hunk.old.start {
                shift += old.len() as isize - new.len() as isize;
            } else if new.start <= hunk.old.end {
                return None;
            }
        }
        let start = hunk.old.start.checked_add_signed(shift)?;
        out.extend(base.get(at..start)?);
        out.extend(&end[hunk.new.clone()]);
        at = start + hunk.old.len();
    }
    out.extend(base.get(at..)?);
    Some(out.concat())
}

#[test]
fn real_histories_merge_as_git_merges_them_and_never_wrongly() {
    if git(&["log", "-1"]).is_none() {
        println!("skipped: no history of git here");
        return;
    }
    let (mut apart, mut reverted) = (Tally::default(), Tally::default());
    for texts in histories(600).values() {
        for three in texts.windows(3) {
            let [first, second, third] = three else { continue };
            // Two changes that followed one another, as if they had been made side by side.
            if let Some(mine) = second_alone(first, second, third) {
                apart.add(first, second, &mine, Some(third));
            }
            // The first change taken back while the second goes on.
            reverted.add(second, third, first, None);
        }
    }
    apart.print("real, one change beside the next");
    reverted.print("real, one taken back beside the next");
    // Two changes that can be read as touching are a person's to decide, as they are for git.
    assert_eq!(apart.wrong, 0, "changes apart from each other merge rightly");
    assert!(apart.ours >= apart.gits, "and no fewer than with git");
}

/// A merge that somebody made: both sides of a file that both changed, and what was committed.
struct Made {
    base: String,
    theirs: String,
    mine: String,
    committed: String,
}

/// The merges of a repository: this one's, or that at `COWORK_HISTORY`.
fn made_merges(repository: &Path, limit: usize) -> Vec<Made> {
    let git = |args: &[&str]| -> Option<String> {
        let output = Command::new("git").args(args).current_dir(repository).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).ok())?
    };
    let mut out = Vec::new();
    for line in git(&["log", "--merges", "--format=%H %P"]).unwrap_or_default().lines() {
        let [merge, mine, theirs] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let Some(base) = git(&["merge-base", mine, theirs]) else { continue };
        let base = base.trim();
        let changed = |side: &str| -> BTreeSet<String> {
            let names = git(&["diff", "--name-only", "--diff-filter=M", base, side]).unwrap_or_default();
            names.lines().map(str::to_owned).collect()
        };
        for file in changed(mine).intersection(&changed(theirs)) {
            let at = |commit: &str| git(&["show", &format!("{commit}:{file}")]);
            let (Some(base), Some(theirs), Some(mine), Some(committed)) = (at(base), at(theirs), at(mine), at(merge))
            else {
                continue;
            };
            if theirs != mine {
                out.push(Made { base, theirs, mine, committed });
            }
            if out.len() == limit {
                return out;
            }
        }
    }
    out
}

#[test]
fn merges_that_were_made_come_out_as_they_were_committed_or_are_left_to_a_person() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
    let repository = std::env::var_os("COWORK_HISTORY").map_or(own, Into::into);
    let merges = made_merges(&repository, 400);
    let (mut alone, mut gits, mut differ, mut keys, mut open) = (0, 0, 0, 0, 0);
    for Made { base, theirs, mine, committed } in &merges {
        let merge = merge::texts(base, theirs, mine, Grain::Lines);
        let git = git_merge(base, theirs, mine);
        gits += usize::from(git.is_some());
        match merge.merged() {
            Some(ours) => {
                alone += 1;
                // Where git is sure too, both must say the same; else what was committed judges.
                differ += usize::from(git.as_ref().unwrap_or(committed) != &ours);
            }
            None => {
                open += 1;
                keys += merge.pieces("text", |_| String::new()).len();
            }
        }
    }
    println!(
        "made merges: {} files that both sides changed; alone: ours {alone}, git {gits}; other than git or than what was \
         committed: {differ}; left to a person: {open}, {keys} keys",
        merges.len()
    );
    assert_eq!(differ, 0, "none merges wrongly");
}
