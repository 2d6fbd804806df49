//! The program `meed-kubernetes`; `meed kubernetes` runs it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use meed_kubernetes::people::{self, PlaceArgs};
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
    Run(Box<KubernetesSettings>),
    /// Show all queues: what each is entitled to, has, and is owed.
    Queues {
        /// For programs.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Say why a pod waits, or what became of it.
    Why {
        /// `NAMESPACE/NAME`, or `NAME` in the namespace of the kubeconfig.
        pod: String,
        /// For programs.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Print queues and pods as JSON, as `meed top` shows them.
    Top {
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Print the definition of the kind Queue, for `kubectl apply -f -`.
    Crd,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's own output")]
fn main() -> ExitCode {
    let done = match Line::parse().what {
        What::Run(settings) => run(&settings),
        What::Queues { json, place } => people::queues(&place, json).map(|text| print!("{text}")),
        What::Why { pod, json, place } => {
            people::why(&place, &pod, json).map(|text| print!("{text}"))
        }
        What::Top { place } => people::top(&place).map(|text| print!("{text}")),
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
