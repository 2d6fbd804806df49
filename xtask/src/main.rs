//! Chores of the project, without any tool to install: `cargo xtask help`.

mod browser;
mod ci;
mod crash;
mod curves;
mod dist;
mod features;
mod fuzz;
mod guest;
mod kubernetes;
mod licences;
mod models;
mod pairs;
mod peers;
mod python;
mod scaling;
mod site;
mod slurm;
mod tools;
mod yarn;

use std::process::ExitCode;

const HELP: &str = "\
Chores of the project.

  cargo xtask ci                               all checks, as CI runs them: .ci/run
  cargo xtask licences                         refuse dependencies that are not permissively \
  licensed
  cargo xtask features                         each program is built from the crates that \
  `cargo build` has built
  cargo xtask fuzz [TARGET...] [--seconds N]   fuzz the named targets, or all, N seconds each \
  (default 20)
  cargo xtask fuzz --list                      names of the targets
  cargo xtask crash [--seconds N]              power losses and kill -9 of the journal's stores, \
  about N seconds of each (default 60)
  cargo xtask models                           models of lease, ledger, pods, watches, server \
  (models/), searched through; needs Spin and a C compiler
  cargo xtask scaling [PROGRAM [TEXT]]         instructions of every command (or those whose name \
  holds TEXT) at n, 2n, 4n; needs valgrind
  cargo xtask pairs OLD NEW [ROUNDS]           two builds of meed beside each other, workload by \
  workload (default 5 rounds)
  cargo xtask peers [--quick]                  the server beside task-spooler, pueue and Slurm, \
  which it brings into a cache; needs root, Debian and cargo
  cargo xtask guest [--tests PROGRAM] [TEST...] tests of the server in a virtual machine: memory \
  bounded by control groups, a clock that steps, systemd's units; needs QEMU and Debian's packages
  cargo xtask yarn [test]                      the plug-in for Hadoop YARN: units, a mini \
  cluster, failovers; needs Maven and a JDK
  cargo xtask yarn units|jar|daemons           without clusters; the jar for this platform; real \
  daemons and kill -9
  cargo xtask yarn bench [assignments|ticks] [--json] what it costs beside stock fair, as a table \
  or as data
  cargo xtask yarn experiment [--scale N]      the papers' workloads on a real ResourceManager, \
  stock fair against ours, beside the simulator
  cargo xtask yarn spark [VERSION] [experiment] real PySpark on real daemons, with and without \
  reclaim; a longer experiment, beside the simulator
  cargo xtask yarn compile VERSION             against another version of Hadoop
  cargo xtask browser                          the dashboard in headless Chromium, and requests \
  made up for the HTTP interface; needs Node, npm, Chromium and Python
  cargo xtask python [wheel]                   the module for Python: wheel, lints, tests against \
  the program, types, notebook; needs Python
  cargo xtask dist                             what is given to others: a static program as an \
  archive and for Debian, the wheel, an SBOM, checksums; all of it tried. Needs musl-gcc; a \
  quarter of an hour
  cargo xtask dist quick|with PROGRAM          the same around the program as released, or that one
  cargo xtask kubernetes [TEST...]             Meed on Kubernetes against a real control plane, \
  which is built first (10 to 25 minutes, once); needs Go and openssl
  cargo xtask kubernetes build                 the control plane alone
  cargo xtask kubernetes tutorial [--write]    docs/kubernetes-tutorial.md, run as it stands; what \
  it prints is written into the page
  cargo xtask kubernetes curves                who holds what under fair and long-term: runs it, \
  and draws docs/images/kubernetes-story.svg
  cargo xtask kubernetes speed [--quick]       Meed beside kube-scheduler on one API server: pods \
  a second, CPU, memory
  cargo xtask kubernetes admits [--quick]      how fast gates are taken from pods, beside Kueue, \
  which is built first (5 minutes, once)
  cargo xtask kubernetes image                 the image of deploy/Containerfile: built by \
  buildah, and run from its own files; as root
  cargo xtask kubernetes takeover [--quick]    how soon a replacement leader decides, and what it \
  holds
  cargo xtask site                             the documentation as a site with a search, in \
  target/site; mdBook is built first, once
  cargo xtask slurm [--debug] [STORY...]       Meed on a real Slurm of this machine, which it \
  installs; needs root and Debian; 6 minutes
  cargo xtask help                             this text

Targets start from fuzz/seeds and their own finds in fuzz/corpus; an input that fails is kept in \
fuzz/artifacts.
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("browser") => browser::run(),
        Some("ci") => ci::run(),
        Some("features") => features::run(),
        Some("fuzz") => fuzz::run(args),
        Some("crash") => crash::run(args),
        Some("licences") => licences::run(),
        Some("models") => models::run(),
        Some("dist") => dist::run(args),
        Some("python") => python::run(args),
        Some("yarn") => yarn::run(args),
        Some("kubernetes") => kubernetes::run(args),
        Some("guest") => guest::run(args),
        Some("pairs") => pairs::run(args),
        Some("peers") => peers::run(args),
        Some("scaling") => scaling::run(args),
        Some("site") => site::run(),
        Some("slurm") => slurm::run(args),
        Some("help" | "--help" | "-h") => {
            say(HELP);
            Ok(())
        }
        Some(other) => Err(format!("unknown chore \"{other}\"; cargo xtask help lists them")),
        None => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}

/// The number behind `--seconds`.
fn seconds(given: Option<String>) -> Result<u32, String> {
    let given = given.unwrap_or_default();
    given
        .parse()
        .ok()
        .filter(|seconds| *seconds > 0)
        .ok_or_else(|| format!("--seconds needs a whole number of at least 1, not \"{given}\""))
}

#[expect(clippy::print_stdout, reason = "a program for developers talks on the terminal")]
fn say(text: &str) {
    println!("{}", text.trim_end());
}

#[expect(clippy::print_stderr, reason = "a program for developers talks on the terminal")]
fn complain(text: &str) {
    eprintln!("{}", text.trim_end());
}
