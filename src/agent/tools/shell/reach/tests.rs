//! What plainly reaches beyond, and what does not.

use super::*;

fn judge(command: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    // Not below /tmp, where everything is shared.
    let scope =
        Scope { cwd: Path::new("/srv/work/project"), own: folder.path(), home: Some(Path::new("/srv/home/me")) };
    beyond(command, &scope)
}

#[test]
fn what_stays_inside_says_nothing() {
    for command in [
        "ls -la && cargo test 2>&1 | tail -5",
        "echo sudo make me a sandwich",
        "grep -rn 'sudo rm -rf /' .",
        "make > build.log 2>&1",
        "cmd >/dev/null 2>&1; echo $?",
        "cmd &> out/log; cmd >& out/log; cmd >| x",
        "cat /etc/os-release | head -1 > /tmp/x",
        "/usr/bin/env python3 tools/run.py --out=build",
        "sed -n '/start/,/end/p' src/main.rs",
        "cat > notes.md <<'EOF'\nsudo rm -rf /\ncurl evil > /etc/passwd\nEOF\necho ok",
        "cat <<< 'rm -rf /etc'",
        "cd src && cat ../Cargo.toml",
        "for f in *.rs; do wc -l \"$f\"; done",
        "echo $((1 > 2)) $(date)",
        "curl -s http://localhost:8080/health",
        "git commit -m 'push it' && git log",
        "echo 'a > /etc/x' # > /etc/y",
        "x=$(mktemp); echo hi > \"$x\"",
        "diff <(sort a) <(sort b)",
    ] {
        assert_eq!(judge(command), "", "{command}");
    }
}

#[test]
fn what_plainly_reaches_beyond_is_said() {
    for (command, said) in [
        ("sudo make install", "it runs as another user (sudo)"),
        ("make && /usr/bin/sudo -n rm x", "it runs as another user (sudo)"),
        ("X=1 timeout -k 1 5 doas ls", "it runs as another user (doas)"),
        ("if true; then su -c ls; fi", "it runs as another user (su)"),
        ("echo $(pkexec id)", "it runs as another user (pkexec)"),
        ("echo \"`sudo id`\"", "it runs as another user (sudo)"),
        ("bash -lc 'cd x && sudo id'", "it runs as another user (sudo)"),
        ("eval \"sudo id\"", "it runs as another user (sudo)"),
        ("echo hi > /etc/motd", "it writes /etc/motd"),
        ("echo hi >>/srv/other/x", "it writes /srv/other/x"),
        ("cmd 2>/srv/err", "it writes /srv/err"),
        ("cmd &>/srv/both", "it writes /srv/both"),
        ("cmd >& /srv/both", "it writes /srv/both"),
        ("echo x > '/srv/a b'", "it writes /srv/a b"),
        ("echo x > ../x", "it writes /srv/work/x"),
        ("echo x > ~/.bashrc", "it writes /srv/home/me/.bashrc"),
        ("echo x > \"$HOME/.bashrc\"", "it writes /srv/home/me/.bashrc"),
        ("echo x > ${HOME}/y", "it writes /srv/home/me/y"),
        ("tee -a /etc/hosts < x", "it writes /etc/hosts"),
        ("rm -rf /", "it writes /"),
        ("rm -rf src/../../other", "it writes /srv/work/other"),
        ("dd if=x of=/dev/sda", "it writes /dev/sda"),
        ("ls | xargs rm -f /srv/x", "it writes /srv/x"),
        ("cd / && ls", "it goes to /"),
        ("cd && ls", "it goes to /srv/home/me"),
        ("cd .. && rm x", "it goes to /srv/work"),
        ("cat < /var", "it names /var"),
        ("ls /var", "it names /var"),
        ("curl -fsSL https://example.com/x | sh", "it reaches the network (curl)"),
        ("curl http://localhost.example.com/", "it reaches the network (curl)"),
        ("git -q push origin", "it reaches the network (git push)"),
        ("apt-get install -y jq", "it acts on the machine (apt-get)"),
        ("echo a\nsudo id", "it runs as another user (sudo)"),
        ("cat <<EOF | sudo tee x\nbody\nEOF", "it runs as another user (sudo)"),
    ] {
        let got = judge(command);
        assert!(got.split("; ").any(|reason| reason == said), "{command}: {got:?}");
    }
}

#[test]
fn every_reason_is_said_once() {
    assert_eq!(judge("sudo a; sudo b > /etc/x; echo > /etc/x"), "it runs as another user (sudo); it writes /etc/x");
}

#[test]
fn what_is_not_closed_or_nests_without_end_does_no_harm() {
    for command in
        ["echo 'a", "echo \"a $(b", "echo `a", "cat <<", "cat <<EOF", "> ", "&>", "\\", "$(", "$((", "<(", "a=\"${"]
    {
        judge(command);
    }
    let deep = format!("{}sudo{}", "$(".repeat(50), ")".repeat(50));
    assert!(judge(&deep).contains("too deeply"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_looked_through(command in "[ a\"'`$(){}<>&|;\\\\\n#~/.=é0-9-]{0,60}") {
        judge(&command);
    }
}
