//! The peers: how each is started, and what its clients are told. One row of [`KINDS`] each.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::fetch::{Programs, from_crates, from_debian, version};

/// A program and its arguments.
type Words = Vec<String>;

/// See the module.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Its programs: of `cache`, or the given one.
    pub(super) find: fn(cache: &Path, meed: &Path) -> Result<Programs, String>,
    /// Its daemons, in the order in which they are started: program and arguments, from the folder
    /// that is its own.
    pub(super) daemons: fn(&Programs, &Path) -> Result<Vec<Words>, String>,
    /// What its programs are told by their environment.
    pub(super) environment: fn(&Path) -> Vec<(&'static str, String)>,
    /// Says that it is there.
    pub(super) hello: &'static [&'static str],
    /// Submits what follows.
    pub(super) submit: &'static [&'static str],
    /// Submits what follows so many times in one request.
    pub(super) request: Option<fn(usize) -> Vec<String>>,
    /// Whether the job is one word for a shell.
    pub(super) by_shell: bool,
    /// More jobs than that have no room at once.
    pub(super) room: Option<usize>,
    /// Ends when the job of this number, the last one, is over.
    pub(super) wait: fn(&str) -> Vec<String>,
    /// Lists all that waits.
    pub(super) list: &'static [&'static str],
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// All of them.
pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "Meed",
        find: |_, meed| {
            let folder = meed.parent().ok_or("--meed: no path of a program")?.to_owned();
            let version = version(Command::new(meed).arg("--version"));
            Ok(Programs { folder, libraries: Vec::new(), version })
        },
        daemons: |_, folder| {
            let config = "[server]\nmax_jobs = 1000000\n[cluster]\nresources = [\"cpu\"]\nnode = \
                          [{ capacity = { cpu = 2 } }]\n";
            let path = folder.join("meed.toml");
            std::fs::write(&path, config).map_err(|why| why.to_string())?;
            let (state, socket) = (folder.join("state"), folder.join("meed.sock"));
            let paths = [&path, &state, &socket].map(|path| path.display().to_string());
            Ok(vec![words(&[
                "meed", "serve", &paths[0], "--state", &paths[1], "--socket", &paths[2],
            ])])
        },
        environment: |folder| vec![("MEED_SOCKET", folder.join("meed.sock").display().to_string())],
        hello: &["meed", "queues"],
        submit: &["meed", "submit", "--"],
        request: Some(|tasks| words(&["meed", "submit", "--tasks", &tasks.to_string(), "--"])),
        room: None,
        by_shell: false,
        wait: |job| words(&["meed", "wait", job]),
        list: &["meed", "jobs", "--limit", "1000000"],
    },
    Kind {
        name: "task-spooler",
        find: |cache, _| {
            let root = from_debian(cache, "task-spooler", &["task-spooler"])?;
            let folder = root.join("usr/bin");
            let version = version(Command::new(folder.join("tsp")).arg("-V").args(["v"]));
            Ok(Programs { folder, libraries: Vec::new(), version })
        },
        // The first client starts the server.
        daemons: |_, _| Ok(Vec::new()),
        environment: |folder| {
            let socket = folder.join("socket").display().to_string();
            vec![
                ("TS_SOCKET", socket),
                ("TS_SLOTS", "2".to_owned()),
                ("TMPDIR", folder.display().to_string()),
            ]
        },
        hello: &["tsp", "-S", "2"],
        submit: &["tsp", "-n"],
        request: None,
        room: Some(900),
        by_shell: false,
        wait: |job| words(&["tsp", "-w", job]),
        list: &["tsp", "-l"],
    },
    Kind {
        name: "pueue",
        find: |cache, _| {
            let folder = from_crates(cache, "pueue")?;
            let version = version(Command::new(folder.join("pueue")).arg("--version"));
            Ok(Programs { folder, libraries: Vec::new(), version })
        },
        daemons: |_, _| Ok(vec![words(&["pueued"])]),
        environment: |folder| {
            let path = folder.display().to_string();
            ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "HOME"]
                .map(|name| (name, path.clone()))
                .to_vec()
        },
        hello: &["pueue", "parallel", "2"],
        submit: &["pueue", "add", "--print-task-id", "--"],
        request: None,
        room: None,
        by_shell: true,
        wait: |job| words(&["pueue", "wait", "--quiet", job]),
        list: &["pueue", "status"],
    },
    Kind {
        name: "Slurm",
        find: |cache, _| {
            let packages = ["slurmctld", "slurmd", "slurm-client", "munge"];
            let root = from_debian(cache, "slurm", &packages)?;
            let libraries = slurm_libraries(&root);
            let folder = root.join("usr/bin");
            // The clients want a configuration to say who they are.
            let mut command = Command::new(root.join("usr/sbin/slurmd-wlm"));
            let version = version(command.arg("-V").env("LD_LIBRARY_PATH", path(&libraries)));
            Ok(Programs { folder, libraries, version })
        },
        daemons: slurm_daemons,
        environment: |folder| vec![("SLURM_CONF", folder.join("slurm.conf").display().to_string())],
        hello: &["sinfo", "--noheader", "--states=idle", "--format=%D"],
        submit: &["sbatch", "--parsable", "--output=/dev/null", "--wrap"],
        request: Some(|tasks| {
            let array = format!("--array=0-{}", tasks - 1);
            words(&["sbatch", "--parsable", "--output=/dev/null", &array, "--wrap"])
        }),
        room: None,
        by_shell: true,
        wait: |job| {
            // Slurm has no command for it.
            let script = format!(
                "while test -n \"$(squeue --noheader --states=all --format=%T --jobs={job} \
                 2>/dev/null | grep -v -e COMPLETED -e FAILED)\"; do sleep 0.2; done"
            );
            words(&["sh", "-c", &script])
        },
        list: &["squeue"],
    },
];

fn slurm_libraries(root: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root.join("usr/lib")).into_iter().flatten().flatten();
    let of_machine = folders.map(|entry| entry.path());
    let both = of_machine.map(|path| [path.join("slurm-wlm"), path]);
    both.filter(|[plugins, _]| plugins.join("auth_munge.so").exists()).flatten().collect()
}

/// As `LD_LIBRARY_PATH` has it.
pub(super) fn path(folders: &[PathBuf]) -> String {
    let texts: Vec<String> = folders.iter().map(|path| path.display().to_string()).collect();
    texts.join(":")
}

/// One host, for this machine alone; limits that are too low for the measurement are raised, all
/// else is Slurm's default.
fn slurm_daemons(programs: &Programs, folder: &Path) -> Result<Vec<Vec<String>>, String> {
    let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
    let host = std::fs::read_to_string("/etc/hostname").map_err(failed)?;
    let host = host.trim().split('.').next().unwrap_or("localhost").to_owned();
    let plugins = programs.libraries.iter().find(|path| path.ends_with("slurm-wlm"));
    let plugins = plugins.ok_or("Slurm's plugins are not where they were")?.display();
    let at = folder.display();
    for name in ["state", "spool"] {
        std::fs::create_dir_all(folder.join(name)).map_err(failed)?;
    }
    let config = format!(
        "ClusterName=bench\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.sock\nCryptoType=crypto/munge\n\
         SlurmctldPort=16817\nSlurmdPort=16818\n\
         CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nStateSaveLocation={at}/state\n\
         SlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/ctld.pid\nSlurmdPidFile={at}/d.pid\n\
         SlurmctldLogFile={at}/ctld.log\nSlurmdLogFile={at}/d.log\nPluginDir={plugins}\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU\nSchedulerType=sched/backfill\nMaxJobCount=1000000\n\
         MaxArraySize=1000001\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\n\
         ReturnToService=2\nSlurmdParameters=config_overrides\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
    );
    std::fs::write(folder.join("slurm.conf"), config).map_err(failed)?;
    let key = folder.join("munge.key");
    let mut bytes = [0; 1024];
    let mut random = std::fs::File::open("/dev/urandom").map_err(failed)?;
    std::io::Read::read_exact(&mut random, &mut bytes).map_err(failed)?;
    std::fs::write(&key, bytes).map_err(failed)?;
    let only_ours = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&key, only_ours).map_err(failed)?;
    let system = programs.folder.with_file_name("sbin");
    let program = |name: &str| system.join(name).display().to_string();
    let option = |name: &str, file: &str| format!("--{name}={at}/{file}");
    Ok(vec![
        vec![
            program("munged"),
            "-F".into(),
            "--force".into(),
            option("key-file", "munge.key"),
            option("socket", "munge.sock"),
            option("pid-file", "munge.pid"),
            option("log-file", "munge.log"),
            option("seed-file", "munge.seed"),
        ],
        vec![program("slurmctld-wlm"), "-D".into()],
        vec![
            program("slurmd-wlm"),
            "-D".into(),
            "-N".into(),
            host,
            "-d".into(),
            program("slurmstepd-wlm"),
        ],
    ])
}

/// A peer that runs, in a folder of its own.
pub(super) struct Running<'k> {
    pub(super) kind: &'k Kind,
    programs: &'k Programs,
    pub(super) folder: PathBuf,
    daemons: Vec<Child>,
    /// All its processes have it in their environment.
    pub(super) mark: String,
}

/// What all processes of a peer begin with.
const MARK: &str = "MEED_PEERS";

impl<'k> Running<'k> {
    pub(super) fn start(kind: &'k Kind, programs: &'k Programs) -> Result<Running<'k>, String> {
        let number = std::process::id();
        // Short: a socket's path has about a hundred bytes.
        let folder = std::env::temp_dir().join(format!("peers-{number}"));
        let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mark = folder.display().to_string();
        let mut running = Running { kind, programs, folder, daemons: Vec::new(), mark };
        for words in (kind.daemons)(programs, &running.folder)? {
            let mut command = running.command(&words);
            let said = std::fs::File::create(running.folder.join("said"))
                .map_err(|why| why.to_string())?;
            command.stdout(said.try_clone().map_err(|why| why.to_string())?).stderr(said);
            let child = command.spawn().map_err(|why| format!("{}: {why}", words[0]))?;
            running.daemons.push(child);
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        let hello: Vec<String> = kind.hello.iter().map(|word| (*word).to_owned()).collect();
        for _ in 0..300 {
            let mut command = running.command(&hello);
            let output = command.stderr(Stdio::null()).output().map_err(|why| why.to_string())?;
            // Slurm's is idle when it says that a node is.
            if output.status.success() && (kind.name != "Slurm" || output.stdout.starts_with(b"1"))
            {
                return Ok(running);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let said = std::fs::read_to_string(running.folder.join("said")).unwrap_or_default();
        let last: Vec<&str> = said.lines().rev().take(5).collect();
        Err(format!("{} does not answer: {}", kind.name, last.join("; ")))
    }

    pub(super) fn command(&self, words: &[String]) -> Command {
        let program = self.programs.folder.join(&words[0]);
        let mut command = match program.exists() {
            true => Command::new(program),
            false => Command::new(&words[0]),
        };
        command.args(&words[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.envs((self.kind.environment)(&self.folder)).env(MARK, &self.mark);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.programs.folder.display()));
        if !self.programs.libraries.is_empty() {
            command.env("LD_LIBRARY_PATH", self::path(&self.programs.libraries));
        }
        command
    }

    /// Submits a job; its number.
    pub(super) fn submit(&self, job: &[&str], tasks: Option<usize>) -> Result<String, String> {
        let command = self.submission(job, tasks);
        let output = { command }.output().map_err(|why| format!("{}: {why}", self.kind.name))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    pub(super) fn submission(&self, job: &[&str], tasks: Option<usize>) -> Command {
        let plain = || self.kind.submit.iter().map(|word| (*word).to_owned()).collect();
        let mut words: Vec<String> = match (tasks, self.kind.request) {
            (Some(tasks), Some(request)) => request(tasks),
            _ => plain(),
        };
        match self.kind.by_shell {
            true => words.push(job.join(" ")),
            false => words.extend(job.iter().map(|word| (*word).to_owned())),
        }
        self.command(&words)
    }

    /// Its processes: those of daemons, clients and jobs.
    pub(super) fn processes(&self) -> Vec<u32> {
        let wanted = format!("{MARK}={}", self.mark);
        let own = std::process::id();
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_ours = |number: &u32| {
            let environ = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        };
        numbers.filter(|number| *number != own).filter(is_ours).collect()
    }
}

impl Drop for Running<'_> {
    /// All its processes end, by their numbers.
    fn drop(&mut self) {
        for _ in 0..100 {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            let numbers: Vec<String> = left.iter().map(u32::to_string).collect();
            for some in numbers.chunks(500) {
                let mut kill = Command::new("kill");
                kill.arg("-KILL").args(some).stdout(Stdio::null()).stderr(Stdio::null());
                let _ = kill.status();
            }
            self.daemons.iter_mut().for_each(|daemon| drop(daemon.try_wait()));
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        self.daemons.iter_mut().for_each(|daemon| drop(daemon.wait()));
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
