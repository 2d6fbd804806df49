//! `meed submit`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use meed::Unit;
use meed_cli::exit::Failure;
use meed_cli::output::{print, remark};
use meed_config::units::{parse_amount, parse_span};

use super::{AskArgs, print_json};
use crate::here;
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
    /// The queue. Default: yours.
    #[arg(long, short, value_name = "QUEUE", add = super::complete::queues())]
    queue: Option<String>,
    /// Processors of each task, as in 4 or 0.5. Default: the server's, usually 1.
    #[arg(long, short, value_name = "N")]
    cpu: Option<String>,
    /// Memory of each task, as in 4GiB.
    #[arg(long, short, value_name = "AMOUNT")]
    memory: Option<String>,
    /// GPUs of each task; they are named to it in CUDA_VISIBLE_DEVICES.
    #[arg(long, short, value_name = "N")]
    gpu: Option<u32>,
    /// Any other resource of the machine, as in licence=1.
    #[arg(long, value_name = "NAME=AMOUNT")]
    resource: Vec<String>,
    /// Longest run time of each task, as in 2h; then it is stopped.
    #[arg(long, short, value_name = "TIME")]
    time: Option<String>,
    /// From SIGTERM to SIGKILL, where a task is stopped. Default: the server's.
    #[arg(long, value_name = "TIME")]
    grace: Option<String>,
    /// So many equal tasks.
    #[arg(long, value_name = "N", conflicts_with = "array")]
    tasks: Option<u32>,
    /// Tasks with these indices, told to each in MEED_TASK: FIRST-LAST, FIRST-LAST:STEP, and %N
    /// for at most N at once.
    #[arg(long, short, value_name = "RANGE")]
    array: Option<String>,
    /// All its tasks start at one instant, or none of them does.
    #[arg(long)]
    gang: bool,
    /// Starts when this job has ended well; fails when it fails. May be given several times.
    #[arg(long, value_name = "JOB", add = super::complete::all_jobs())]
    after: Vec<String>,
    /// Starts when this job has ended, however. May be given several times.
    #[arg(long, value_name = "JOB", add = super::complete::all_jobs())]
    after_any: Vec<String>,
    /// What people call it: none of your other jobs that have not ended. Default: the command's
    /// name.
    #[arg(long, short, value_name = "NAME")]
    name: Option<String>,
    /// How often a task that fails is tried again.
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u16,
    /// It waits until `meed release`.
    #[arg(long)]
    hold: bool,
    /// The folder in which it runs. Default: this one.
    #[arg(long, short = 'D', value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Appends standard output to this file; the server keeps it otherwise (`meed logs`).
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Appends standard error to this file; it goes with standard output otherwise.
    #[arg(long, short, value_name = "FILE")]
    error: Option<PathBuf>,
    /// Its memory bounds its address space as well (RLIMIT_AS).
    #[arg(long)]
    bound_address_space: bool,
    /// Waits until it has ended; the exit code says whether it ended well.
    #[arg(long, short)]
    wait: bool,
    #[command(flatten)]
    ask: AskArgs,
    /// The command and its arguments, behind `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: SubmitArgs) -> Result<(), Failure> {
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
    match args.wait {
        true => super::jobs::wait_for(&mut client, &taken.job.to_string(), false),
        false => Ok(()),
    }
}

fn spec(args: &SubmitArgs) -> Result<Submission, String> {
    let command = args.command.iter().cloned().map(Into::into).collect();
    let mut spec = here::job(command).map_err(|why| format!("this folder: {why}"))?;
    let gpus = args.gpu.map(|count| count.to_string());
    let own = [("cpu", &args.cpu), ("memory", &args.memory), ("gpu", &gpus)];
    for (name, amount) in own.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
        is_amount(name, amount).map_err(|why| format!("--{name}: {why}"))?;
        spec.demand.insert(name.to_owned(), amount.clone());
    }
    for text in &args.resource {
        let wrong = || format!("--resource {text}: write NAME=AMOUNT");
        let (name, amount) = text.split_once('=').ok_or_else(wrong)?;
        is_amount(name, amount).map_err(|why| format!("--resource {name}: {why}"))?;
        spec.demand.insert(name.to_owned(), amount.to_owned());
    }
    spec.tasks = match (&args.array, args.tasks) {
        (Some(array), _) => TaskRange::parse(array).map_err(|why| format!("--array: {why}"))?,
        (None, Some(count)) => TaskRange { count, ..TaskRange::default() },
        (None, None) => TaskRange::default(),
    };
    spec.time_ms = millis("--time", &args.time)?;
    spec.grace_ms = millis("--grace", &args.grace)?;
    let after = |even_if_failed| move |job: &String| After { job: job.clone(), even_if_failed };
    spec.after = args.after.iter().map(after(false)).collect();
    spec.after.extend(args.after_any.iter().map(after(true)));
    if let Some(folder) = &args.folder {
        let whole = std::path::absolute(folder).map_err(|why| format!("--folder: {why}"))?;
        spec.folder = whole.into();
    }
    spec.queue.clone_from(&args.queue);
    spec.name.clone_from(&args.name);
    spec.gang = args.gang;
    spec.retries = args.retries;
    spec.hold = args.hold;
    spec.stdout = args.output.clone().map(Into::into);
    spec.stderr = args.error.clone().map(Into::into);
    spec.bound_address_space = args.bound_address_space;
    spec.check()?;
    Ok(spec)
}

/// Whether it is an amount of anything. In which unit a resource is counted only the server knows.
fn is_amount(name: &str, text: &str) -> Result<(), String> {
    let (usual, other) = match name {
        "memory" => (Unit::Bytes, Unit::Milli),
        _ => (Unit::Milli, Unit::Bytes),
    };
    let usual = parse_amount(text, usual);
    usual.or_else(|why| parse_amount(text, other).map_err(|_| why.to_string())).map(drop)
}

fn millis(option: &str, text: &Option<String>) -> Result<Option<u64>, String> {
    let Some(text) = text else { return Ok(None) };
    let span = parse_span(text).map_err(|why| format!("{option}: {why}"))?;
    Ok(Some(span.as_micros() / 1000))
}
