//! `meed slurm run`: look, tell the ledger, put in order, set what changed; again and again.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use meed_config::units::parse_span;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::clock;
use crate::error::ProgramError;
use crate::looker::Looker;
use crate::out::Out;
use crate::place::StateArgs;
use crate::slurm::ReadAs;
use crate::suspended::SuspendedTime;
use crate::tree::ShareMeaning;

/// What `run` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub place: StateArgs,
    /// Sets site factors. Without it the program says what it would set, and sets nothing.
    #[arg(long)]
    pub apply: bool,
    /// The order among tenants, as everywhere in Meed: `long-term,half_life=7d`,
    /// `long-term,resource=billing`.
    #[arg(long, value_name = "POLICY", default_value = "long-term")]
    pub policy: String,
    /// What `fairshare=parent` of a user and 0 shares mean: first and last in the account, as in
    /// Slurm, or weights 1 and 0.001.
    #[arg(long, value_name = "MEANING", value_enum, default_value_t)]
    pub shares: ShareMeaning,
    /// Whether suspended time is charged: not, as in `sacct`, or as in Slurm's fair tree.
    #[arg(long, value_name = "COST", value_enum, default_value_t)]
    pub suspended: SuspendedTime,
    /// How often to look at the cluster, at least 1s.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    every: String,
    /// So many of the first jobs get a place in the order; all others have factor 0.
    #[arg(long, value_name = "JOBS", default_value = "100", value_parser = one_or_more)]
    pub first: NonZeroUsize,
    /// At most so many changes in one round, those of the first jobs first.
    #[arg(long, value_name = "CHANGES", default_value = "400", value_parser = one_or_more)]
    pub changes: NonZeroUsize,
    /// A new ledger begins with what accounting knows of so long before.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub history: String,
    /// How long the journal is kept.
    #[arg(long, value_name = "TIME", default_value = "90d")]
    pub keep: String,
    /// How long one command of Slurm's may take, at least 1s.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub limit: String,
    /// How jobs, runs and nodes are read from Slurm's commands.
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub read: ReadAs,
    /// Leaves metrics in this file after each round, in the text format of Prometheus; its name
    /// ends in `.prom`.
    #[arg(long, value_name = "FILE", value_parser = metrics_file)]
    pub metrics: Option<PathBuf>,
    /// Ends after so many rounds.
    #[arg(long, value_name = "ROUNDS")]
    rounds: Option<u64>,
}

/// The longest pause while Slurm does not answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a signal is looked for during a pause.
const LISTENS: Duration = Duration::from_millis(200);

/// Runs until a signal.
///
/// # Errors
///
/// A site that lacks something, a folder that another instance holds, a journal that cannot be
/// written. Slurm that does not answer is waited for.
pub(crate) fn run(args: &RunArgs, out: &mut Out) -> Result<(), ProgramError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|why| ProgramError::Run(format!("signal {signal}: {why}")))?;
    }
    let every = a_second_or_more("--every", &args.every)?;
    let mut looker = Looker::open(args, out)?;
    let mut pause = every;
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        let began = clock::monotonic();
        match looker.round(out) {
            Ok(()) => pause = every,
            Err(ProgramError::Slurm(why)) => {
                looker.slurm_is_away(&why, out)?;
                pause = (pause * 2).min(PATIENCE);
            }
            Err(other) => return Err(other),
        }
        rounds += 1;
        if args.rounds.is_some_and(|most| rounds >= most) {
            break;
        }
        while !stop.load(Ordering::Relaxed)
            && let Some(left) = pause.checked_sub(began.elapsed())
        {
            std::thread::sleep(left.min(LISTENS));
        }
    }
    looker.end(out);
    Ok(())
}

/// A whole number from 1 on.
fn one_or_more(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it must be a whole number from 1 on".to_owned())
}

/// The name of a file of metrics: the node exporter reads no others.
fn metrics_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match path.extension().is_some_and(|ending| ending == "prom") {
        true => Ok(path),
        false => Err("its name must end in .prom, or Prometheus' node exporter skips it".into()),
    }
}

/// A time that an option gives, of a second or more.
pub(crate) fn a_second_or_more(option: &str, text: &str) -> Result<Duration, ProgramError> {
    let given = time(option, text)?;
    match given >= Duration::from_secs(1) {
        true => Ok(given),
        false => Err(ProgramError::Input(format!("{option} {text}: it must be at least 1s"))),
    }
}

/// A time that an option gives.
pub(crate) fn time(option: &str, text: &str) -> Result<Duration, ProgramError> {
    let span = parse_span(text);
    let span = span.map_err(|why| ProgramError::Input(format!("{option} {text}: {why}")))?;
    Ok(Duration::from_micros(span.as_micros()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: RunArgs,
    }

    #[test]
    fn options_that_would_have_nothing_done_are_refused() {
        let parse = |words: &[&str]| Line::try_parse_from([&["run"], words].concat());
        let args = parse(&["--first", "1", "--changes", "1", "--metrics", "a/m.prom"]);
        assert_eq!(args.map(|line| line.args.first.get()).ok(), Some(1));
        for (words, says) in [
            (["--first", "0"], "--first <JOBS>': it must be a whole number from 1 on"),
            (["--changes", "0"], "--changes <CHANGES>': it must be a whole number from 1 on"),
            (["--metrics", "m.txt"], "must end in .prom"),
        ] {
            let why = parse(&words).err().map(|why| why.to_string()).unwrap_or_default();
            assert!(why.contains(says), "{words:?}: {why}");
        }
        for text in ["0s", "0.5s", "900ms"] {
            let why = a_second_or_more("--every", text).unwrap_err().to_string();
            assert_eq!(why, format!("--every {text}: it must be at least 1s"));
        }
        assert_eq!(a_second_or_more("--every", "1.5s").unwrap(), Duration::from_millis(1500));
    }
}
