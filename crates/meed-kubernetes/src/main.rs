//! The program `meed-kubernetes`; `meed kubernetes` runs it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use meed_kubernetes::{KubernetesSettings, run};

/// Meed on Kubernetes: over time every tenant gets its share of the cluster.
#[derive(Parser)]
#[command(name = "meed kubernetes", version)]
struct Line {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Serve the cluster that KUBECONFIG names, or that this runs in, until a signal.
    Run(KubernetesSettings),
    /// Print the definition of the kind Queue, for `kubectl apply -f -`.
    Crd,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's own output")]
fn main() -> ExitCode {
    let done = match Line::parse().what {
        What::Run(settings) => run(&settings),
        What::Crd => {
            print!("{}", meed_kubernetes::crd::definition());
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("meed kubernetes: {why}");
            ExitCode::FAILURE
        }
    }
}
