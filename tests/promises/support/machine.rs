//! Another machine, as far as SSH is concerned: a real sshd on a port of its own, with keys and a
//! configuration of its own, over which the program of a home is used.

use super::home::Home;
use super::process::{Running, wait_gone};
use super::terminal::Terminal;
use super::watch::eventually;
use super::wire::Wire;
use portable_pty::CommandBuilder;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;

/// An sshd, for as long as this lives.
pub struct Machine {
    sshd: Running,
    port: u16,
    folder: PathBuf,
    work: PathBuf,
}

impl Machine {
    /// Starts an sshd for the program of a home; says aloud why it can't.
    pub fn of(home: &Home) -> Option<Self> {
        let Some(server) = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|path| exists(path)) else {
            eprintln!("SKIPPED: there is no sshd (openssh-server) on this machine");
            return None;
        };
        if rustix::process::geteuid().is_root() {
            // Where sshd gives up its rights; a package of it makes this at boot.
            let _ = std::fs::create_dir_all("/run/sshd");
        }
        let folder = home.root().join("ssh");
        std::fs::create_dir(&folder).expect("a folder for keys");
        for key in ["host_key", "user_key"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(key));
            let made = keygen.status().expect("ssh-keygen comes with ssh");
            assert!(made.success(), "a key");
        }
        // Taken and given back: nobody else asks for it in the moment between.
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|taken| taken.local_addr()).expect("a port").port();
        let variables: Vec<String> = home
            .environment()
            .filter(|(name, _)| *name != "TERM")
            .map(|(name, value)| format!("{name}={}", value.to_string_lossy()))
            .collect();
        let here = folder.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {here}/host_key\nPidFile none\nStrictModes no\nUsePAM no\n\
             AuthorizedKeysFile {here}/user_key.pub\nPermitRootLogin yes\nPasswordAuthentication no\nPrintMotd no\n\
             PrintLastLog no\nSubsystem sftp internal-sftp\nSetEnv {}\n",
            variables.join(" ")
        );
        std::fs::write(folder.join("sshd_config"), config).expect("a configuration");
        let mut sshd = Command::new(server);
        sshd.args(["-D", "-e", "-f"]).arg(folder.join("sshd_config"));
        let machine = Self { sshd: Running::start(sshd, ""), port, folder, work: home.work() };
        eventually("sshd listens, or has given up", || {
            machine.sshd.has_ended() || TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        if machine.sshd.has_ended() {
            eprintln!("SKIPPED: sshd can't run here: {}", machine.sshd.stderr());
            return None;
        }
        Some(machine)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The options by which a client gets in, over the given port.
    pub fn options(&self, port: u16) -> Vec<String> {
        let here = self.folder.display();
        let set = |name: &str, value: &str| ["-o".to_owned(), format!("{name}={value}")];
        [
            set("IdentityFile", &format!("{here}/user_key")),
            set("IdentitiesOnly", "yes"),
            set("UserKnownHostsFile", "/dev/null"),
            set("StrictHostKeyChecking", "no"),
            set("LogLevel", "ERROR"),
            set("Port", &port.to_string()),
        ]
        .concat()
    }

    fn ssh(&self, port: u16, script: &str) -> Vec<String> {
        let mut words = vec!["-F".to_owned(), "none".to_owned()];
        words.extend(self.options(port));
        words.extend(["127.0.0.1".to_owned(), format!("cd {} && {script}", self.work.display())]);
        words
    }

    /// Runs a script in the work folder over there, without a terminal.
    pub fn run(&self, script: &str, input: &str) -> Running {
        let mut ssh = Command::new("ssh");
        ssh.args(self.ssh(self.port, script));
        Running::start(ssh, input)
    }

    /// Opens a terminal here that runs a script in the work folder over there.
    pub fn terminal(&self, wire: &Wire, script: &str, columns: u16, rows: u16) -> Terminal {
        let mut ssh = CommandBuilder::new("ssh");
        ssh.arg("-tt");
        ssh.args(self.ssh(wire.port(), script));
        ssh.env("TERM", "xterm-256color");
        Terminal::open(ssh, columns, rows)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.sshd.signal(rustix::process::Signal::TERM);
        wait_gone(self.sshd.pid());
    }
}

fn exists(path: &str) -> bool {
    std::path::Path::new(path).exists()
}
