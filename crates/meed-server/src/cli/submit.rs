//! `meed submit`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::{print, remark};

use super::work::WorkArgs;
use super::{AskArgs, print_json};
use crate::protocol::{Request, Submitted};
use crate::spec::{After, Submission, TaskRange};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed submit -- python train.py
  meed submit --cpu 4 --memory 8GiB --gpu 1 --time 2h --name training -- ./train.sh
  meed submit --array 0-99%8 -- sh -c './step.sh $MEED_TASK'
  meed submit --after training -- ./evaluate.sh";

#[derive(Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(super) work: WorkArgs,
    /// So many equal tasks.
    #[arg(long, value_name = "N", conflicts_with = "array")]
    pub(super) tasks: Option<u32>,
    /// Tasks with these indices, told to each in MEED_TASK: FIRST-LAST, FIRST-LAST:STEP, and %N
    /// for at most N at once.
    #[arg(long, short, value_name = "RANGE")]
    pub(super) array: Option<String>,
    /// All its tasks start at one instant, or none of them does.
    #[arg(long)]
    gang: bool,
    /// Starts when this job has ended well; fails when it fails. May be given several times.
    #[arg(long, value_name = "JOB", add = super::complete::all_jobs())]
    pub(super) after: Vec<String>,
    /// Starts when this job has ended, however. May be given several times.
    #[arg(long, value_name = "JOB", add = super::complete::all_jobs())]
    pub(super) after_any: Vec<String>,
    /// How often a task that fails is tried again.
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u16,
    /// It waits until `meed release`.
    #[arg(long)]
    pub(super) hold: bool,
    /// Appends standard output to this file; the server keeps it otherwise (`meed logs`).
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Appends standard error to this file; it goes with standard output otherwise.
    #[arg(long, short, value_name = "FILE")]
    pub(super) error: Option<PathBuf>,
    /// Prints its output, and waits until it has ended; the exit code says whether it ended well.
    #[arg(long, short)]
    pub(super) wait: bool,
    #[command(flatten)]
    ask: AskArgs,
    /// The command and its arguments. What follows it is the command's, options too.
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
    /// What the job is called where the command's name is not what its user wrote.
    #[arg(skip)]
    pub(super) shown: Option<String>,
}

pub(crate) fn run(mut args: SubmitArgs) -> Result<(), Failure> {
    let not_done = super::batch::adopt(&mut args).map_err(Failure::Input)?;
    not_done.iter().for_each(|words| remark(words));
    let spec = spec(&args).map_err(Failure::Usage)?;
    let mut client = args.ask.connect()?;
    let taken: Submitted = client.ask_for(&Request::Submit(spec))?;
    if client.is_own() {
        let path = client.path().display();
        remark(&format!("to a server of your own ({path}), not to that of this machine"));
    }
    match args.ask.json {
        true => print_json(&taken)?,
        false => print(&format!("{}\n", taken.job))?,
    }
    if !args.wait {
        return Ok(());
    }
    let job = taken.job.to_string();
    // Output that the job's own files take, and answers for programs, are not followed.
    if !args.ask.json && args.output.is_none() {
        super::logs::follow(&mut client, &job, false)?;
    }
    super::jobs::wait_for(&mut client, &job, false)
}

fn spec(args: &SubmitArgs) -> Result<Submission, String> {
    let mut spec = args.work.spec(&args.command)?;
    spec.tasks = match (&args.array, args.tasks) {
        (Some(array), _) => TaskRange::parse(array).map_err(|why| format!("--array: {why}"))?,
        (None, Some(count)) => TaskRange { count, ..TaskRange::default() },
        (None, None) => TaskRange::default(),
    };
    let after = |even_if_failed| move |job: &String| After { job: job.clone(), even_if_failed };
    spec.after = args.after.iter().map(after(false)).collect();
    spec.after.extend(args.after_any.iter().map(after(true)));
    spec.shown = args.shown.clone().filter(|_| spec.name.is_none());
    spec.gang = args.gang;
    spec.retries = args.retries;
    spec.hold = args.hold;
    spec.stdout = args.output.clone().map(Into::into);
    spec.stderr = args.error.clone().map(Into::into);
    spec.check()?;
    Ok(spec)
}
