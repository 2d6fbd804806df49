//! The program `meed-kubernetes`; `meed kubernetes` runs it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use meed_kubernetes::{KubernetesSettings, people, run};

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
    Run(Box<KubernetesSettings>),
    /// Show all queues: what each is entitled to, has, and is owed.
    Queues {
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Say why a pod waits, or what became of it.
    Why {
        /// `NAMESPACE/NAME`, or `NAME` in the namespace of the kubeconfig.
        pod: String,
        /// For programs.
        #[arg(long)]
        json: bool,
    },
    /// Print queues and pods as JSON, as `meed top --kubernetes` shows them.
    Top,
    /// Print the definition of the kind Queue, for `kubectl apply -f -`.
    Crd,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's own output")]
fn main() -> ExitCode {
    let done = match Line::parse().what {
        What::Run(settings) => run(&settings),
        What::Queues { json } => people::queues(json).map(|text| print!("{text}")),
        What::Why { pod, json } => people::why(&pod, json).map(|text| print!("{text}")),
        What::Top => people::top().map(|text| print!("{text}")),
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
