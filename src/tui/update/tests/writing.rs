//! What the composer reaches: files, commands, what was sent, the shell, the editor, the queue.

use super::*;

fn typed(model: &mut Model, words: &str) -> Vec<Wanted> {
    act(model, Action::Type(words.to_owned()))
}

fn files(model: &mut Model, paths: &[&str]) {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    told(model, News::Files { search: model.searches, paths, last: true });
}

#[test]
fn an_at_sign_picks_a_file_into_the_text() {
    let mut model = fixtures::model(80, 24);
    let effects = typed(&mut model, "look at @");
    let folder = "/home/me/parser".to_owned();
    assert!(effects.contains(&Wanted::FindFiles { search: 1, folder: folder.clone() }), "{effects:?}");
    files(&mut model, &["src/main.rs", "src/parse.rs", "two words.txt"]);
    let effects = typed(&mut model, "pars");
    assert_eq!(effects, [Wanted::Preview { folder, path: "src/parse.rs".into() }]);
    press(&mut model, "enter");
    assert_eq!(model.composer.text(), "look at @src/parse.rs ");
    typed(&mut model, "and @");
    files(&mut model, &["two words.txt"]);
    press(&mut model, "tab");
    assert_eq!(model.composer.text(), "look at @src/parse.rs and @\"two words.txt\" ");
}

#[test]
fn words_with_an_at_sign_that_are_typed_on_stay_as_they_were_typed() {
    let mut model = fixtures::model(80, 24);
    typed(&mut model, "read @src/main.rs and write to me@example.org");
    assert_eq!(
        (model.composer.text().as_str(), model.overlay),
        ("read @src/main.rs and write to me@example.org", None)
    );
    press(&mut model, "@ esc");
    assert_eq!(model.composer.text(), "read @src/main.rs and write to me@example.org@");
}

#[test]
fn files_of_an_older_search_are_not_shown() {
    let mut model = fixtures::model(80, 24);
    press(&mut model, "@ esc space @");
    told(&mut model, News::Files { search: 1, paths: vec!["old".into()], last: true });
    assert_eq!(model.picker.as_ref().expect("open").counts(), (0, 0));
    files(&mut model, &["new"]);
    assert_eq!(model.picker.as_ref().expect("open").counts(), (1, 1));
}

#[test]
fn a_slash_finds_the_command_and_enter_gives_it() {
    let mut model = working();
    typed(&mut model, "/pause");
    let effects = press(&mut model, "enter");
    assert!(matches!(submitted(&effects)[..], [UserCommand::Pause { .. }]), "{effects:?}");
    assert_eq!((model.overlay, model.composer.text().as_str()), (None, ""));
}

#[test]
fn a_command_takes_its_word_from_the_same_line_or_asks_for_it() {
    let mut model = working();
    typed(&mut model, "/rename Mend the parser");
    let effects = press(&mut model, "enter");
    let [UserCommand::Rename { title, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(title, "Mend the parser");
    typed(&mut model, "/policy");
    press(&mut model, "enter");
    typed(&mut model, "read");
    let effects = press(&mut model, "enter");
    assert!(matches!(submitted(&effects)[..], [UserCommand::SetPolicy { .. }]), "{effects:?}");
}

#[test]
fn what_begins_with_a_slash_and_is_no_command_is_a_message() {
    let mut model = working();
    typed(&mut model, "/etc/hosts is wrong, what now?");
    assert_eq!((model.composer.text().as_str(), model.overlay), ("/etc/hosts is wrong, what now?", None));
    press(&mut model, "ctrl+c");
    typed(&mut model, "/qqqq");
    assert_eq!(press(&mut model, "enter"), []);
    assert_eq!(model.composer.text(), "/qqqq");
    press(&mut model, "ctrl+c / backspace");
    assert_eq!((model.composer.text().as_str(), model.overlay), ("", None));
}

#[test]
fn every_command_that_can_be_given_here_is_in_the_palette_and_answers_to_approvals_are_not() {
    let names = |model: &mut Model| -> Vec<String> {
        press(model, "ctrl+p");
        let picker = model.picker.as_ref().expect("open");
        picker.shown(0, 200).into_iter().map(|(item, _)| item.detail.clone()).collect()
    };
    assert!(names(&mut working()).iter().any(|name| name == "interrupt"));
    let mut model = working();
    fixtures::approval(&mut model);
    let names = names(&mut model);
    for name in ["tasks", "help", "model", "send", "asks", "quit"] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with("allow")), "{names:?}");
}

#[test]
fn what_was_sent_in_any_task_is_found_again() {
    let mut model = working();
    told(&mut model, News::Sent(vec!["water the garden".into(), "paint the fence".into()]));
    press(&mut model, "ctrl+r");
    typed(&mut model, "gard");
    press(&mut model, "enter");
    assert_eq!(model.composer.text(), "water the garden");
    press(&mut model, "ctrl+c up up up");
    assert_eq!(model.composer.text(), "water the garden", "after the message of this Task and the fence");
}

/// Types a command of the person, which becomes a Job; gives its id and what asked for it.
fn run_in_shell(model: &mut Model, line: &str) -> (JobId, JobDefinition) {
    typed(model, line);
    let effects = press(model, "enter");
    let [Wanted::Submit { id, wanted: UserCommand::Job { deed: JobDeed::Start { task: None, definition } } }] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    let job = JobId::from("j_shell000");
    let receipt = Receipt { seq: 900, task: None, message: None, job: Some(job.clone()), edit: None };
    let effects = told(model, News::Accepted(id.clone(), receipt));
    assert_eq!(effects, [Wanted::LookAtShell(job.clone())]);
    (job, (**definition).clone())
}

fn stands(job: &JobId, definition: &JobDefinition, exit: Option<i32>) -> Box<JobView> {
    let end = exit.map(|code| JobEnd {
        exit_code: Some(code),
        signal: None,
        evidence: JobEvidence::ExitRecord,
        reason: None,
        log_bytes: 9,
        last_output_at: None,
        last_line: None,
        ended_at: 2,
    });
    let job = Job {
        id: job.clone(),
        origin: "command:e_1".into(),
        task: None,
        actor: Actor::person(),
        definition: definition.clone(),
        state: if exit.is_some() { JobState::Exited } else { JobState::Running },
        process: None,
        stop: None,
        note: None,
        matched_through: 0,
        breached: Vec::new(),
        end,
        created_at: 1,
    };
    Box::new(JobView { job, seen: JobSeen::default() })
}

fn printed(text: &str) -> LogPage {
    let line = |text: &str| LogLine { offset: 0, at: None, kind: LogLineKind::Whole, text: text.into() };
    LogPage { lines: text.lines().map(line).collect(), ..LogPage::default() }
}

#[test]
fn a_line_for_the_shell_is_a_job_and_gets_into_the_message_only_when_told() {
    let mut model = working();
    let (job, definition) = run_in_shell(&mut model, "!cargo test");
    assert_eq!(definition.command, JobCommand::Shell("cargo test".into()));
    assert_eq!(definition.cwd, "/home/me/parser");
    told(&mut model, News::Shell(stands(&job, &definition, None), printed("running 1 test\n")));
    assert_eq!(model.shell.as_ref().map(|shell| shell.output()), Some("running 1 test\n"));
    assert_eq!(press(&mut model, "enter"), [], "it still runs");
    told(&mut model, News::Shell(stands(&job, &definition, Some(1)), printed("1 failed\n")));
    let effects = press(&mut model, "enter");
    assert_eq!(
        submitted(&effects),
        [&UserCommand::Job { deed: JobDeed::Remove { job } }],
        "nothing is left lying about"
    );
    assert_eq!(model.overlay, None);
    typed(&mut model, "why?");
    let effects = press(&mut model, "enter");
    let [UserCommand::SendMessage { text, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(text, "I ran this myself (exit 1):\n```\n$ cargo test\n1 failed\n```\n why?");
}

#[test]
fn a_shell_line_is_left_with_backspace_and_a_running_one_is_stopped_taken_over_or_left_running() {
    let mut model = working();
    press(&mut model, "! backspace");
    assert_eq!((&model.composer.purpose, model.composer.text().as_str()), (&Purpose::Message, ""));
    let (job, _) = run_in_shell(&mut model, "!sleep 9");
    assert_eq!(press(&mut model, "a"), [Wanted::Attach(job.clone())]);
    let effects = press(&mut model, "s");
    assert!(
        matches!(submitted(&effects)[..], [UserCommand::Job { deed: JobDeed::Stop { job: stopped, .. } }] if *stopped == job)
    );
    assert_eq!(press(&mut model, "esc"), [], "it goes on");
    assert_eq!((model.overlay, model.shell), (None, None));
}

#[test]
fn a_picture_that_is_dropped_is_named_and_other_paths_are_text() {
    for (pasted, wanted) in [
        ("/home/me/shot.png", "@/home/me/shot.png "),
        ("'/home/me/my shot.png' ", "@\"/home/me/my shot.png\" "),
        ("/home/me/my\\ shot.PNG", "@\"/home/me/my shot.PNG\" "),
        ("file:///home/me/my%20shot.jpg\n", "@\"/home/me/my shot.jpg\" "),
        ("/home/me/notes.txt", "/home/me/notes.txt"),
        ("see /home/me/shot.png", "see /home/me/shot.png"),
        ("relative.png", "relative.png"),
        ("file:///a%zz.png", "file:///a%zz.png"),
    ] {
        let mut model = fixtures::model(80, 24);
        act(&mut model, Action::Paste(pasted.to_owned()));
        assert_eq!(model.composer.text(), wanted, "{pasted}");
    }
}

#[test]
fn the_editor_gets_the_text_and_what_it_gives_back_is_the_text() {
    let mut model = fixtures::model(80, 24);
    typed(&mut model, "draft");
    assert_eq!(press(&mut model, "ctrl+g"), [Wanted::EditOutside("draft".into())]);
    act(&mut model, Action::EditedOutside(Ok("written at leisure\nin lines\n".into())));
    assert_eq!(model.composer.text(), "written at leisure\nin lines");
    act(&mut model, Action::EditedOutside(Err("vi ended with exit status: 1".into())));
    assert_eq!(model.composer.text(), "written at leisure\nin lines");
    assert!(model.hint.as_ref().is_some_and(|hint| hint.warns));
}

#[test]
fn a_queued_message_is_moved_and_put_off() {
    let mut model = working();
    for (id, text) in [("m_a", "one"), ("m_b", "two")] {
        let message = fixtures::message(id, text, MessageState::Queued);
        fixtures::record(&mut model, Event::MessageQueued { message });
    }
    let effects = press(&mut model, "alt+q j K");
    let [UserCommand::MoveMessage { message, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(message.as_str(), "m_b");
    let effects = press(&mut model, "t");
    assert!(
        matches!(submitted(&effects)[..], [UserCommand::SetDelivery { delivery: Delivery::TurnEnd, .. }]),
        "{effects:?}"
    );
    press(&mut model, "esc");
    typed(&mut model, "when you are done");
    let effects = press(&mut model, "alt+s");
    let [UserCommand::SendMessage { delivery, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(*delivery, Delivery::TurnEnd);
}

#[test]
fn the_view_of_keys_says_what_arrives_and_what_it_means() {
    let mut model = fixtures::model(80, 24);
    typed(&mut model, "/show-keys");
    press(&mut model, "enter");
    press(&mut model, "ctrl+t x f9");
    let seen: Vec<String> = model.keys_seen.iter().map(|(key, meaning)| format!("{key}: {meaning}")).collect();
    assert_eq!(seen, ["ctrl+t: panes.tasks  all Tasks", "x: types itself", "f9: nothing here"]);
    press(&mut model, "esc");
    assert_eq!(model.overlay, None);
}
