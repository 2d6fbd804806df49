//! The program `meed-kubernetes`; `meed kubernetes` runs it.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use meed_kubernetes::people::{self, PlaceArgs};
use meed_kubernetes::{KubernetesError, KubernetesSettings, import, run};

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
    /// Print Kueue's ClusterQueues, LocalQueues and Cohorts as Queues, and name what has no
    /// counterpart; or the difference from Queues that are there.
    Import {
        /// Their YAML, as `kubectl get clusterqueues,localqueues,cohorts -A -o yaml` prints it; `-`
        /// is standard input.
        file: PathBuf,
        /// Queues as they are (`kubectl get queues -o yaml`): print what would change.
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
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
        What::Import { file, against } => {
            imported(&file, against.as_deref()).map(|text| print!("{text}"))
        }
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

/// What files of Kueue and of Queues become.
fn imported(kueue: &Path, against: Option<&Path>) -> Result<String, KubernetesError> {
    let against = against.map(text_of).transpose()?;
    import(&text_of(kueue)?, against.as_deref())
}

/// A file, or standard input.
fn text_of(file: &Path) -> Result<String, KubernetesError> {
    let mut text = String::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|read| text = read),
    };
    let wrong = |why| KubernetesError::Settings(format!("{}: {why}", file.display()));
    read.map_err(wrong).map(|()| text)
}
