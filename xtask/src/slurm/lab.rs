//! A Slurm of one machine, for one story.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use super::daemon::Daemon;
use crate::tools::{printed, until};

/// See the module. Everything ends when it is dropped.
pub(super) struct Lab {
    folder: PathBuf,
    programs: PathBuf,
    daemons: std::cell::RefCell<Vec<Daemon>>,
}

/// Clusters start one after the other: mariadb-install-db fails beside another.
static STARTS: Mutex<()> = Mutex::new(());

/// How long a daemon may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

impl Lab {
    /// Two nodes of 8 cores; accounts and users of the story's own.
    pub(super) fn start(story: &str, programs: &Path) -> Result<Lab, String> {
        let _turn = STARTS.lock().map_err(|_| "another cluster did not start".to_owned())?;
        let name = format!("meed-slurm-{story}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // One of a run before, of the same number.
        let _ = fs::remove_dir_all(&folder);
        for part in ["run", "log", "state", "spool/n1", "spool/n2", "db"] {
            fs::create_dir_all(folder.join(part)).map_err(|why| why.to_string())?;
        }
        let (folder, programs) = (folder, programs.to_owned());
        let lab = Lab { folder, programs, daemons: Vec::new().into() };
        lab.write_settings()?;
        lab.accounting()?;
        lab.controller()?;
        lab.nodes()?;
        Ok(lab)
    }

    /// Another cluster, for a part of the story.
    pub(super) fn another(&self, part: &str) -> Result<Lab, String> {
        Lab::start(part, &self.programs)
    }

    /// The nodes, again after [`Lab::end`].
    pub(super) fn nodes(&self) -> Result<(), String> {
        for node in ["n1", "n2"] {
            self.daemon("slurmd", &["-D", "-N", node])?;
        }
        self.until("the nodes", || {
            self.said("sinfo --noheader --format=%T").is_ok_and(|state| state.trim() == "idle")
        })
    }

    /// Keeps a daemon until the cluster ends.
    pub(super) fn keep(&self, daemon: Daemon) {
        self.daemons.borrow_mut().push(daemon);
    }

    fn accounting(&self) -> Result<(), String> {
        let at = |part: &str| self.folder.join(part).display().to_string();
        let random = fs::read("/proc/sys/kernel/random/uuid").map_err(|why| why.to_string())?;
        fs::write(self.folder.join("munge.key"), random).map_err(|why| why.to_string())?;
        self.sh("chmod 400 munge.key")?;
        let option = |name: &str, part: &str| format!("--{name}={}", at(part));
        let key = option("key-file", "munge.key");
        let (socket, pid) = (option("socket", "run/munge"), option("pid-file", "run/munge.pid"));
        let seed = option("seed-file", "run/munge.seed");
        self.daemon("munged", &["--force", "--foreground", &key, &socket, &pid, &seed])?;
        self.sh("mariadb-install-db --no-defaults --datadir=$PWD/db --user=root --skip-test-db \
             --auth-root-authentication-method=normal >log/install-db 2>&1")?;
        let port = self.setting("StoragePort");
        let (data, socket) = (option("datadir", "db"), option("socket", "run/db"));
        let (port, pid) = (format!("--port={port}"), option("pid-file", "run/db.pid"));
        let here = "--bind-address=127.0.0.1";
        let fast = "--innodb-flush-log-at-trx-commit=0";
        let arguments = ["--no-defaults", "--user=root", &data, &socket, &port, &pid, here, fast];
        self.daemon("mariadbd", &arguments)?;
        self.until("mariadbd", || self.sh("mariadb-admin --no-defaults -S run/db ping").is_ok())?;
        self.sh("mariadb --no-defaults -S run/db -u root -e \"create database acct; \
             create user slurm@'127.0.0.1' identified by 'x'; \
             create user slurm@localhost identified by 'x'; \
             grant all on acct.* to slurm@'127.0.0.1'; grant all on acct.* to slurm@localhost\"")?;
        self.daemon("slurmdbd", &["-D"])?;
        self.until("slurmdbd", || self.sh("timeout 5 sacctmgr -n show cluster").is_ok())?;
        self.sh("sacctmgr -i -Q add cluster lab").map(drop)
    }

    /// The controller, again after [`Lab::end`].
    pub(super) fn controller(&self) -> Result<(), String> {
        self.daemon("slurmctld", &["-D"])?;
        self.until("slurmctld", || self.sh("timeout 5 scontrol ping | grep -q UP").is_ok())
    }

    fn write_settings(&self) -> Result<(), String> {
        // All are bound at once, so that they differ.
        let bound: Result<Vec<TcpListener>, _> =
            (0..5).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
        let bound = bound.map_err(|why| format!("a port of the loopback interface: {why}"))?;
        let ports: Result<Vec<u16>, _> =
            bound.iter().map(|bound| bound.local_addr().map(|at| at.port())).collect();
        let ports = ports.map_err(|why| format!("a port of the loopback interface: {why}"))?;
        let host = fs::read_to_string("/proc/sys/kernel/hostname");
        let host = host.map_err(|why| why.to_string())?;
        let fill = |text: &str| {
            let mut text = text.replace("FOLDER", &self.folder.display().to_string());
            text = text.replace("HOST", host.trim());
            let numbered = ports.iter().enumerate();
            numbered.fold(text, |text, (which, port)| {
                text.replace(&format!("PORT{which}"), &port.to_string())
            })
        };
        for (name, text) in [("slurm.conf", SLURM), ("slurmdbd.conf", SLURMDBD)] {
            let path = self.folder.join(name);
            fs::write(&path, fill(text)).map_err(|why| why.to_string())?;
        }
        if self.knows_no_groups()? {
            let path = self.folder.join("cgroup.conf");
            fs::write(path, "CgroupPlugin=disabled\n").map_err(|why| why.to_string())?;
        }
        self.sh("chmod 600 slurmdbd.conf").map(drop)
    }

    /// slurmd may be told to do without control groups: it ends where there are none, and knows
    /// the word from 23.11 on.
    fn knows_no_groups(&self) -> Result<bool, String> {
        let said = self.said("slurmctld -V | sed 's/.* //'")?;
        let mut parts = said.trim().split('.').map_while(|part| part.parse::<u32>().ok());
        Ok((parts.next(), parts.next()) >= (Some(23), Some(11)))
    }

    fn setting(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.join("slurmdbd.conf")).unwrap_or_default();
        let find = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        text.lines().find_map(find).unwrap_or_default()
    }

    fn daemon(&self, name: &'static str, arguments: &[&str]) -> Result<(), String> {
        let log = self.folder.join("log").join(name);
        let log = fs::File::options().create(true).append(true).open(&log);
        let log = log.map_err(|why| why.to_string())?;
        let mut command = self.command(name);
        let errors = log.try_clone().map_err(|why| why.to_string())?;
        command.args(arguments).stdout(log).stderr(errors);
        self.daemons.borrow_mut().push(Daemon::start(name, &mut command)?);
        Ok(())
    }

    /// Ends a daemon.
    pub(super) fn end(&self, name: &str) {
        self.daemons.borrow_mut().retain(|daemon| daemon.name() != name);
    }

    /// A program in the folder, which finds this Slurm, and Meed.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(&self.folder)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .env("PATH", format!("{}:/usr/sbin:{path}", self.programs.display()))
            .stdin(Stdio::null());
        command
    }

    /// What a line of the shell prints.
    pub(super) fn said(&self, line: &str) -> Result<String, String> {
        let mut command = self.command("bash");
        let told = printed(command.arg("-c").arg(line), &format!("`{line}`"))?;
        Ok(String::from_utf8_lossy(&told).into_owned())
    }

    /// Runs a line of the shell.
    pub(super) fn sh(&self, line: &str) -> Result<String, String> {
        self.said(line)
    }

    /// Makes accounts and users by these lines of the shell, and waits until slurmctld knows them.
    pub(super) fn accounts(&self, lines: &str) -> Result<(), String> {
        self.sh(lines)?;
        // Associations reach it a moment later.
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    }

    /// An account with users who have equal shares.
    pub(super) fn equal_users(&self, account: &str, users: &[&str]) -> Result<(), String> {
        let user =
            |user: &&str| format!("\nsacctmgr -i -Q add user {user} account={account} fairshare=1");
        let users: String = users.iter().map(user).collect();
        self.accounts(&format!("set -e\nsacctmgr -i -Q add account {account} fairshare=1{users}"))
    }

    /// Submits a job of a user; its number.
    pub(super) fn submit(&self, user: &str, arguments: &str) -> Result<String, String> {
        let line = format!("sbatch --uid={user} --parsable -D /tmp -o /dev/null {arguments}");
        Ok(self.said(&line)?.trim().to_owned())
    }

    /// Starts Meed for real, with what it says in `log/meed`.
    pub(super) fn meed(&self, more: &[&str]) -> Result<Daemon, String> {
        self.meed_in("meed", more)
    }

    /// The same with another state folder.
    pub(super) fn meed_in(&self, state: &str, more: &[&str]) -> Result<Daemon, String> {
        let log = fs::File::options().create(true).append(true).open(self.path("log/meed"));
        let log = log.map_err(|why| why.to_string())?;
        let errors = log.try_clone().map_err(|why| why.to_string())?;
        let mut command = self.command("meed-slurm");
        command.args(["run", "--apply", "--state", state]).args(more);
        Daemon::start("meed-slurm", command.stdout(log).stderr(errors))
    }

    /// A file of the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until it is so.
    pub(super) fn until(&self, what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
        self.until_within(PATIENCE, what, is_so)
    }

    /// The same of what takes long.
    pub(super) fn until_within(
        &self,
        patience: Duration,
        what: &str,
        is_so: impl Fn() -> bool,
    ) -> Result<(), String> {
        let step = Duration::from_millis(200);
        if until(patience, step, || is_so().then_some(())).is_some() {
            return Ok(());
        }
        let (patience, kept) = (patience.as_secs(), self.keep_evidence());
        Err(format!(
            "{what}: not so within {patience} s; logs, ledger and jobs are in {}",
            kept.display()
        ))
    }

    /// Copies logs, the ledger, and the jobs as Slurm tells them, beside the folder that goes.
    fn keep_evidence(&self) -> PathBuf {
        let kept = self.folder.with_extension("failed");
        // Where a part of it cannot be had, the rest is kept.
        let _ = self.sh(&EVIDENCE.replace("KEPT", &kept.display().to_string()));
        kept
    }

    /// Waits until no job waits or runs.
    pub(super) fn until_empty(&self) -> Result<(), String> {
        // Slurm starts heterogeneous jobs in passes of backfill alone: under load one waited for a
        // minute beside an empty cluster.
        self.until_within(2 * PATIENCE, "the end of all jobs", || {
            self.said("squeue --noheader").is_ok_and(|jobs| jobs.trim().is_empty())
        })
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.sh("squeue --noheader --format=%A | sort -u | xargs -r timeout 20 scancel");
        let _ = self.until_empty();
        // Those that stand on others end first.
        while let Some(daemon) = self.daemons.borrow_mut().pop() {
            drop(daemon);
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What is kept of a story that failed.
const EVIDENCE: &str = "\
cp -rT log KEPT
cp -rT meed KEPT/ledger
timeout 20 sacct --duplicates --allocations --allusers --parsable2 --starttime=now-1hour \
    --format=JobIDRaw,JobID,User,State,Submit,Start,End,Elapsed,Suspended,AllocCPUS,NodeList \
    >KEPT/sacct
timeout 20 squeue --all --states=all >KEPT/squeue";

const SLURMDBD: &str = "\
AuthType=auth/munge
AuthInfo=socket=FOLDER/run/munge
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=PORT0
SlurmUser=root
PidFile=FOLDER/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=PORT1
StorageUser=slurm
StoragePass=x
StorageLoc=acct
CommitDelay=1
";

// Clients of slurmdbd take munge's socket from AccountingStoragePass, not from AuthInfo.
const SLURM: &str = "\
ClusterName=lab
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=FOLDER/run/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPidFile=FOLDER/run/slurmctld.pid
SlurmdPidFile=FOLDER/run/slurmd.%n.pid
SlurmctldPort=PORT2
SlurmdSpoolDir=FOLDER/spool/%n
StateSaveLocation=FOLDER/state
SlurmdParameters=config_overrides
SwitchType=switch/none
KillWait=5
MinJobAge=300
MaxJobCount=30000
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=10
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityCalcPeriod=1
PriorityWeightFairshare=100000
PriorityWeightAge=1000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=PORT0
AccountingStoragePass=FOLDER/run/munge
AccountingStorageEnforce=associations,limits,qos
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT3 CPUs=8 RealMemory=8000
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT4 CPUs=8 RealMemory=8000
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
";
