//! Mirrors: a Resource that is tied to a file follows what any program saves there, and the file what
//! is committed elsewhere; of two that write at once neither text is lost.

use crate::support::calls::{call, shell, write};
use crate::support::crash::DoomedHost;
use crate::support::disk::{SmallDisk, fill};
use crate::support::home::{Exec, Home, json_lines};
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Ties a new document to a file.
fn tie(home: &Home, name: &str, file: &Path) {
    home.ok(["resources", "new", "document", name, "--mirror", &file.to_string_lossy()]);
}

fn show(home: &Home, name: &str) -> Value {
    home.json(["resources", "show", name]).remove(0)
}

fn text(home: &Home, name: &str) -> String {
    show(home, name)["text"].as_str().unwrap_or_default().to_owned()
}

/// Saves as most editors do: a new file takes the place of the old one.
fn save(file: &Path, text: impl AsRef<[u8]>) {
    let aside = file.with_extension("swp");
    std::fs::write(&aside, text).expect("written");
    std::fs::rename(&aside, file).expect("renamed");
}

/// Commits a text on a revision; gives what became of it.
fn commit(home: &Home, name: &str, base: u64, text: &str) -> Value {
    let file = home.write(&format!("commit-{base}.txt"), text);
    let base = base.to_string();
    let finished =
        home.run(["resources", "commit", name, "--base", &base, "--from", &file.to_string_lossy(), "--json"]);
    json_lines(&finished.stdout).into_iter().next().unwrap_or_else(|| panic!("nothing became of it: {finished:?}"))
}

fn agree(home: &Home, name: &str, file: &Path) {
    eventually("file and Resource agree", || {
        let now = show(home, name);
        now["in_file"] == now["revision"] && std::fs::read_to_string(file).is_ok_and(|held| now["text"] == json!(held))
    });
}

/// Every text that is kept: of revisions and of Candidates.
fn kept(home: &Home, name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for revision in home.json(["resources", "history", name, "--last", "1000"]) {
        let number = revision["number"].to_string();
        let shown = home.json(["resources", "show", name, "--rev", &number]).remove(0);
        texts.push(shown["text"].as_str().unwrap_or_default().to_owned());
    }
    for candidate in home.json(["resources", "candidates", name, "--all"]) {
        texts.push(home.ok(["resources", "candidate", candidate["id"].as_str().expect("an id")]));
    }
    texts
}

fn trouble(home: &Home, name: &str, words: &str) {
    eventually(words, || show(home, name)["trouble"].as_str().is_some_and(|trouble| trouble.contains(words)));
}

#[test]
fn rs_6_what_is_saved_is_committed_and_what_is_committed_is_written_with_link_mode_and_line_ends_kept() {
    let home = Home::new();
    let real = home.write("real.md", "\u{feff}one\r\ntwo");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).expect("set");
    let link = home.work().join("link.md");
    symlink("real.md", &link).expect("linked");
    tie(&home, "notes.md", &link);
    agree(&home, "notes.md", &link);
    assert_eq!(text(&home, "notes.md"), "\u{feff}one\r\ntwo");

    save(&real, "\u{feff}ONE\r\ntwo");
    eventually("a save by rename is committed", || show(&home, "notes.md")["revision"] == 1);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(&real, "\u{feff}ONE\r\nTWO").expect("written");
    eventually("a save in place is committed", || show(&home, "notes.md")["revision"] == 2);
    let history = home.json(["resources", "history", "notes.md"]);
    assert_eq!(history[0]["actor"]["kind"], "file", "{history:?}");

    commit(&home, "notes.md", 2, "\u{feff}ONE\r\nTWO\r\nthree");
    agree(&home, "notes.md", &link);
    assert_eq!(std::fs::read(&real).expect("there"), "\u{feff}ONE\r\nTWO\r\nthree".as_bytes());
    assert!(link.is_symlink(), "it is written through");
    assert_eq!(std::fs::metadata(&real).expect("there").mode() & 0o777, 0o755);
    assert_eq!(show(&home, "notes.md")["revision"], 3, "what was written is no edit of its own");

    home.ok(["resources", "mirror", "notes.md", "--none"]);
    commit(&home, "notes.md", 3, "elsewhere");
    save(&real, "for itself");
    let other = home.work().join("new/other.md");
    home.ok(["resources", "mirror", "notes.md", &other.to_string_lossy()]);
    agree(&home, "notes.md", &other);
    assert_eq!((text(&home, "notes.md"), home.read("real.md")), ("elsewhere".into(), "for itself".into()));
    home.assert_sound();
}

#[test]
fn rs_6_an_editor_that_saves_thirty_times_a_second_makes_few_revisions_and_its_last_text_stands() {
    let home = Home::new();
    let file = home.write("fast.md", "0\n");
    tie(&home, "fast.md", &file);
    agree(&home, "fast.md", &file);
    for number in 1..=60 {
        save(&file, format!("{number}\n"));
        std::thread::park_timeout(Duration::from_millis(33));
    }
    eventually("the last text stands", || text(&home, "fast.md") == "60\n");
    let revisions = show(&home, "fast.md")["revision"].as_u64().expect("a number");
    assert!((1..30).contains(&revisions), "{revisions}");
    assert_eq!(home.json(["resources", "candidates", "--all"]), [Value::Null; 0]);
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "60\n");
    home.assert_sound();
}

#[test]
fn rs_6_a_checkout_that_changes_a_thousand_files_is_taken_over_file_by_file() {
    let home = Home::new();
    let work = home.work();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(&work)
            .output()
            .expect("git is there");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    let fill = |word: &str| {
        for number in 0..1000 {
            home.write(&format!("d{}/f{number}.md", number % 10), format!("{word} {number}\n"));
        }
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", word]);
    };
    fill("old");
    git(&["checkout", "-q", "-b", "next"]);
    fill("new");
    let names: Vec<String> = (0..20).map(|number| format!("d{}/f{number}.md", number % 10)).collect();
    for name in &names {
        tie(&home, name, &work.join(name));
    }
    git(&["checkout", "-q", "main"]);
    for name in &names {
        eventually("the other branch stands", || text(&home, name).starts_with("old"));
        agree(&home, name, &work.join(name));
    }
    assert_eq!(home.json(["resources", "candidates", "--all"]), [Value::Null; 0]);
    home.assert_sound();
}

#[test]
fn rs_6_of_two_sides_that_race_neither_text_is_lost() {
    let home = Home::new();
    let file = home.write("race.md", "start\n");
    tie(&home, "race.md", &file);
    agree(&home, "race.md", &file);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..8 {
                let wrote = format!("from the file {number}\n");
                save(&file, &wrote);
                eventually("what was saved is kept", || {
                    let held = kept(&home, "race.md");
                    held.iter().any(|text| text.contains(wrote.trim()))
                });
            }
        });
        for number in 0..12 {
            let base = show(&home, "race.md")["revision"].as_u64().expect("a number");
            commit(&home, "race.md", base, &format!("from elsewhere {number}\n"));
        }
    });
    agree(&home, "race.md", &file);
    let all = kept(&home, "race.md").concat();
    for number in 0..8 {
        assert!(all.contains(&format!("from the file {number}\n")), "{number}: {all}");
    }
    for number in 0..12 {
        assert!(all.contains(&format!("from elsewhere {number}\n")), "{number}: {all}");
    }
    home.assert_sound();
}

#[test]
fn rs_6_a_host_killed_between_any_two_steps_of_commit_and_file_loses_neither_and_the_next_makes_them_agree() {
    let steps = ["tools.before_rename", "tools.after_rename"];
    for point in coworkos::crash::MIRROR_POINTS.iter().chain(&steps) {
        let home = Home::new();
        let file = home.write("a.md", "start\n");
        tie(&home, "a.md", &file);
        agree(&home, "a.md", &file);
        home.ok(["host", "stop"]);
        let host = DoomedHost::start(&home, point);
        if point.ends_with("take") || point.ends_with("taken") {
            save(&file, "saved\n");
        } else {
            commit(&home, "a.md", 0, "committed\n");
        }
        eventually("it dies there", || host.is_dead());
        assert!(host.died(&home), "{point} was passed");
        agree(&home, "a.md", &file);
        let all = kept(&home, "a.md").concat();
        assert!(all.contains("saved\n") || all.contains("committed\n"), "{point}: {all}");
        let left: Vec<_> = std::fs::read_dir(home.work()).expect("there").flatten().collect();
        assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")), "{point}: {left:?}");
        assert_eq!(home.json(["resources", "candidates", "--all"]), [Value::Null; 0], "{point}");
        home.assert_sound();
    }
}

#[test]
fn rs_6_what_changed_while_no_host_was_there_is_taken_over_at_its_start_also_on_both_sides() {
    let home = Home::new();
    let file = home.write("a.md", "start\n");
    tie(&home, "a.md", &file);
    agree(&home, "a.md", &file);
    home.ok(["host", "stop"]);
    save(&file, "meanwhile\n");
    agree(&home, "a.md", &file);
    assert_eq!((text(&home, "a.md"), &show(&home, "a.md")["revision"]), ("meanwhile\n".into(), &json!(1)));

    // What can't be read is not written over: so both sides go on from revision 1.
    save(&file, b"\xff\xff");
    trouble(&home, "a.md", "not UTF-8");
    commit(&home, "a.md", 1, "committed\n");
    home.ok(["host", "stop"]);
    save(&file, "saved\n");
    agree(&home, "a.md", &file);
    assert_eq!(text(&home, "a.md"), "committed\n");
    let candidates = home.json(["resources", "candidates", "a.md"]);
    assert_eq!((candidates.len(), &candidates[0]["state"]), (1, &json!("conflict")));
    assert!(kept(&home, "a.md").concat().contains("saved"));
    home.assert_sound();
}

#[test]
fn rs_6_what_can_t_be_followed_is_said_plainly_and_nothing_is_lost() {
    let home = Home::new();
    let file = home.write("a.md", "start\n");
    tie(&home, "a.md", &file);
    agree(&home, "a.md", &file);
    save(&file, b"const x = 1;\n// caf\xe9 note\n");
    trouble(&home, "a.md", "byte 19 (line 2) is 0xe9, which is not UTF-8");
    commit(&home, "a.md", 0, "elsewhere\n");
    trouble(&home, "a.md", "not UTF-8");
    assert_eq!(std::fs::read(&file).expect("there"), b"const x = 1;\n// caf\xe9 note\n", "untouched");
    std::fs::remove_file(&file).expect("removed");
    trouble(&home, "a.md", "it was deleted");
    std::fs::create_dir(&file).expect("made");
    trouble(&home, "a.md", "it is a folder now");
    std::fs::remove_dir(&file).expect("removed");
    symlink(&file, &file).expect("linked");
    trouble(&home, "a.md", "leads back to itself");
    let said = home.run(["resources", "show", "a.md"]);
    assert!(said.stderr.contains("do not follow each other"), "{said:?}");
    assert_eq!(said.stdout, "elsewhere\n");
    std::fs::remove_file(&file).expect("removed");
    save(&file, "start\n");
    agree(&home, "a.md", &file);
    assert_eq!(text(&home, "a.md"), "elsewhere\n", "what was agreed on last gives way to what stands");
    assert_eq!(show(&home, "a.md")["trouble"], Value::Null);
    home.assert_sound();
}

#[test]
fn rs_6_a_full_disk_and_a_folder_that_can_t_be_written_are_said_plainly_and_made_up_for() {
    let home = Home::new();
    let place = home.work().join("small");
    let Some(disk) = SmallDisk::mount_at(place.clone(), "size=64k") else { return };
    let file = place.join("a.md");
    std::fs::write(&file, "start\n").expect("written");
    tie(&home, "a.md", &file);
    agree(&home, "a.md", &file);
    let large = "a line of a text that is too long for this disk\n".repeat(2000);
    fill(&place.join("filler"));
    assert_eq!(commit(&home, "a.md", 0, &large)["number"], 1, "the store takes it");
    trouble(&home, "a.md", "No space left");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "start\n", "the file is whole");
    std::fs::remove_file(place.join("filler")).expect("removed");
    disk.remount("size=1m");
    save(&file, "start\n");
    agree(&home, "a.md", &file);
    assert_eq!(text(&home, "a.md"), large);
    disk.remount("ro");
    assert_eq!(commit(&home, "a.md", 1, "after\n")["number"], 2);
    trouble(&home, "a.md", "is read-only, and was not written");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), large);
    disk.remount("rw");
    save(&file, &large);
    agree(&home, "a.md", &file);
    assert_eq!(text(&home, "a.md"), "after\n");
    let left: Vec<_> = std::fs::read_dir(&place).expect("read").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["a.md"], "nothing is left beside the file");
    home.ok(["host", "stop"]);
    home.assert_sound();
}

#[test]
fn rs_6_what_an_agent_writes_is_its_own_and_rs_7_what_a_person_saves_is_told_to_it() {
    let server = ModelServer::with([
        call(write("plan.md", "by the agent\n")),
        call(shell("echo by a command >> plan.md")),
        Reply::say("done"),
        Reply::say("seen"),
    ]);
    let home = Home::with_model(&server);
    let file = home.work().join("plan.md");
    tie(&home, "plan.md", &file);
    agree(&home, "plan.md", &file);
    home.ok(["resources", "history", "plan.md"]);
    std::fs::remove_file(&file).expect("removed");
    let exec = Exec::new(home.run(["exec", "--json", "write the plan"])).expect_code(0);
    let task = exec.task().to_owned();
    eventually("what the command wrote is committed", || text(&home, "plan.md").contains("by a command"));
    let history = home.json(["resources", "history", "plan.md"]);
    assert_eq!(history[0]["actor"]["kind"], "agent", "{history:?}");
    save(&file, "by the person\n");
    eventually("what the person saved is committed", || text(&home, "plan.md") == "by the person\n");
    Exec::new(home.run(["exec", "--json", "--task", &task, "go on"])).expect_code(0);
    let told = server.wait_for_request(4).heard().join("\n");
    assert!(told.contains("by the person") && told.contains("plan.md"), "{told}");
    home.assert_sound();
}
