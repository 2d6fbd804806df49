//! A server in a folder of its own, and clients of it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use meed_replay::{Recording, VerifiedRun, verified};
use meed_sim::Unwatched;
use serde_json::Value;

/// Long enough for a loaded machine; nothing waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(40);

/// The program that `meed serve` and the other commands of a server run.
pub(crate) const MEED: &str = env!("CARGO_BIN_EXE_meed-server");

/// `meed`, where cargo has built it beside the server's program; where it has not, it is said that
/// something is left out.
pub(crate) fn meed(what: &str) -> Option<PathBuf> {
    let program = Path::new(MEED).with_file_name("meed");
    let is_there = program.is_file();
    if !is_there {
        say(&format!("skipped: {what} needs the program meed (cargo build -p meed-cli)"));
    }
    is_there.then_some(program)
}

/// This Meed decides as the journal has it.
pub(crate) fn verify(journal: &Path) {
    let recording = Recording::open(journal, None).unwrap();
    let found = verified(&recording, &mut Unwatched).unwrap();
    assert!(matches!(found, VerifiedRun::AsRecorded), "{}: {found:?}", journal.display());
}

/// Whether this runs as root; where not, it is said that something is left out.
pub(crate) fn is_root(what: &str) -> bool {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        say(&format!("skipped: {what} needs root"));
    }
    is_root
}

/// Told even where the test passes.
pub(crate) fn say(words: &str) {
    // Written past the capture of the test's output.
    let mut told = std::io::stderr();
    writeln!(told, "{words}").unwrap();
}

/// Until `done` gives something.
#[expect(clippy::disallowed_methods, reason = "a test that waits for processes has a clock")]
pub(crate) fn until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(done) = done() {
            return done;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// See the module.
pub(crate) struct Server {
    pub(crate) base: tempfile::TempDir,
    state: PathBuf,
    config: Option<String>,
    child: Option<Child>,
    /// Where what the one that runs says begins in the log.
    begun: usize,
}

impl Server {
    /// With this configuration; `None`: the machine as it is.
    pub(crate) fn start(config: Option<&str>) -> Server {
        let base = tempfile::tempdir().unwrap();
        let state = base.path().join("state");
        Server::start_in(base, state, config)
    }

    pub(crate) fn start_in(
        base: tempfile::TempDir,
        state: PathBuf,
        config: Option<&str>,
    ) -> Server {
        // Other users come as well.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(base.path(), open).unwrap();
        let config = config.map(str::to_owned);
        let mut server = Server { base, state, config, child: None, begun: 0 };
        server.run();
        server
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("meed.sock")
    }

    /// Starts it, without waiting for it.
    pub(crate) fn spawn(&mut self) -> &mut Child {
        let mut command = Command::new(MEED);
        command.arg("serve");
        if let Some(config) = &self.config {
            let path = self.base.path().join("meed.toml");
            fs::write(&path, config).unwrap();
            command.arg(path);
        }
        command.arg("--state").arg(&self.state).arg("--socket").arg(self.socket());
        let log = fs::OpenOptions::new().append(true).create(true).open(self.path("server.log"));
        self.begun = self.log().len();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.unwrap());
        self.child.insert(command.spawn().unwrap())
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn run(&mut self) {
        self.spawn();
        let (socket, log) = (self.socket(), self.path("server.log"));
        let child = self.child.as_mut().unwrap();
        until("the server answers", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", fs::read_to_string(&log).unwrap());
            // To connect is not enough: the socket may be the last server's, held for a moment by
            // a child that it was just starting.
            let mut stream = UnixStream::connect(&socket).ok()?;
            writeln!(stream, "who is there?").ok()?;
            BufReader::new(stream).read_line(&mut String::new()).ok().filter(|bytes| *bytes > 0)
        });
    }

    /// Starts it, and waits until it answers, or ends with this exit code.
    pub(crate) fn try_run(&mut self) -> Result<(), Option<i32>> {
        self.spawn();
        let socket = self.socket();
        let child = self.child.as_mut().unwrap();
        let ended = until("the server answers or ends", || {
            if let Some(ended) = child.try_wait().unwrap() {
                return Some(Err(ended.code()));
            }
            let mut stream = UnixStream::connect(&socket).ok()?;
            writeln!(stream, "who is there?").ok()?;
            let read = BufReader::new(stream).read_line(&mut String::new()).ok();
            read.filter(|bytes| *bytes > 0).map(|_| Ok(()))
        });
        if ended.is_err() {
            self.child = None;
        }
        ended
    }

    /// Starts it with another configuration, and waits until it answers.
    pub(crate) fn run_with(&mut self, config: &str) {
        self.config = Some(config.to_owned());
        self.run();
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// SIGTERM; its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        signal(child.id(), "TERM");
        until("the server stops", || child.try_wait().unwrap()).code()
    }

    /// Its exit code, once it has ended by itself.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        until("the server ends", || child.try_wait().unwrap()).code()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("server.log")).unwrap()
    }

    /// What the one that runs has said: it answers before it says where it listens.
    pub(crate) fn log_since_start(&self) -> String {
        self.log().split_off(self.begun)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(MEED);
        command.args(args).env("MEED_SOCKET", self.socket()).current_dir(self.base.path());
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a command prints that must be done.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat())).unwrap()
    }

    /// What `meed` itself prints of a command that must be done, where it is there.
    pub(crate) fn meed(&self, args: &[&str]) -> Option<String> {
        let mut command = Command::new(meed(args[0])?);
        let output = command.args(args).current_dir(self.base.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        Some(text(&output.stdout))
    }

    /// The exit code and the message of a command that must be refused.
    pub(crate) fn refused(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.output(args);
        assert!(!output.status.success(), "{args:?} was done");
        (output.status.code(), text(&output.stderr))
    }

    /// The number of a new job.
    pub(crate) fn submit(&self, args: &[&str]) -> String {
        self.ok(&[&["submit"], args].concat()).trim().to_owned()
    }

    /// One line there, one line back.
    pub(crate) fn ask(&self, line: &str) -> Value {
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|why| panic!("{why}: {answer:?}"))
    }

    /// Numbers of the supervisors that live.
    pub(crate) fn supervisors(&self) -> Vec<u32> {
        let folders = fs::read_dir(self.state.join("run")).into_iter().flatten().flatten();
        let claims = folders.filter_map(|folder| {
            let path = folder.path();
            let number = fs::read_to_string(path.join("claim")).ok()?.parse().ok()?;
            let line = fs::read_to_string(format!("/proc/{number}/cmdline")).ok()?;
            line.contains("__supervise").then_some(number)
        });
        claims.collect()
    }

    /// Processes of its tasks.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let base = format!("MEED_TEST={}", self.base.path().display());
        let all = fs::read_dir("/proc").unwrap().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let ours = |number: &u32| {
            let environ = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            text(&environ).split('\0').any(|variable| variable == base)
                && !text(&line).contains("submit")
        };
        numbers.filter(ours).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            say(&format!("the server said:\n{}", self.log()));
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.supervisors().into_iter().for_each(|number| signal(number, "TERM"));
        until("supervisors end", || self.supervisors().is_empty().then_some(()));
        // A server that was killed leaves its control group; an empty one can be removed.
        for line in fs::read_to_string(self.path("server.log")).unwrap_or_default().lines() {
            let group = line.strip_prefix("meed: control groups at ");
            let group = group.and_then(|rest| rest.split([',', ':']).next());
            if let Some(group) = group.map(Path::new) {
                let tasks = fs::read_dir(group).into_iter().flatten().flatten();
                tasks.for_each(|task| drop(fs::remove_dir(task.path())));
                let _ = fs::remove_dir(group);
            }
        }
    }
}

pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).output();
    drop(sent.unwrap());
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
