//! `cargo xtask kubernetes`: Meed against a real control plane, built from the Go module proxy.
//!
//! etcd, kube-apiserver, kube-scheduler, kwok and Helm are built once, into a cache outside the
//! checkout (`crates/meed-kubernetes/control-plane/control-plane.sh`). Without Go or openssl it
//! says what it leaves out, and that is no failure.

use std::process::Command;

use crate::tools::{cargo, root, runs, succeed};

/// With this variable a missing control plane fails the tests.
const REQUIRED: &str = "MEED_CONTROL_PLANE";

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let tests: Vec<String> = args.collect();
    let script = root().join("crates/meed-kubernetes/control-plane/control-plane.sh");
    let is_built = runs(&script, "bin");
    if let Some(missing) = missing(is_built) {
        crate::say(&format!(
            "LEFT OUT: Meed on Kubernetes is not tested against a real control plane, for there \
             is no {missing} here; install Go 1.26 or newer, openssl and bash"
        ));
        return Ok(());
    }
    if !is_built {
        crate::say("The control plane is built: 10 to 25 minutes on two cores, once.");
        succeed(Command::new(&script).arg("build"), "the build of the control plane")?;
    }
    if tests.iter().any(|test| test == "build") {
        return Ok(());
    }
    let mut cargo = cargo();
    cargo.env(REQUIRED, "1");
    // Of the whole workspace, as its tests are built: one package alone has other features.
    cargo.args(["test", "--locked", "--workspace", "--test", "cluster", "--"]);
    // They wait for clusters more than they compute.
    cargo.arg("--test-threads=3").args(tests);
    succeed(&mut cargo, "a test against the control plane")
}

/// What is not installed.
fn missing(is_built: bool) -> Option<&'static str> {
    match (is_built || runs("go", "version"), runs("openssl", "version")) {
        (false, _) => Some("Go"),
        (_, false) => Some("openssl"),
        _ => None,
    }
}
