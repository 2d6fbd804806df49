//! What a job asks for, as `meed submit` and `meed run` are told it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use meed::Unit;
use meed_config::units::{parse_amount, parse_span};

use crate::here;
use crate::spec::Submission;

#[derive(Args, Default)]
pub(crate) struct WorkArgs {
    /// The queue. Default: yours.
    #[arg(long, short, value_name = "QUEUE", add = super::complete::queues())]
    pub(super) queue: Option<String>,
    /// Processors of each task, as in 4 or 0.5. Default: the server's, usually 1.
    #[arg(long, short, value_name = "N")]
    pub(super) cpu: Option<String>,
    /// Memory of each task, as in 4GiB.
    #[arg(long, short, value_name = "AMOUNT")]
    pub(super) memory: Option<String>,
    /// GPUs of each task; they are named to it in CUDA_VISIBLE_DEVICES.
    #[arg(long, short, value_name = "N")]
    pub(super) gpu: Option<u32>,
    /// Any other resource of the machine, as in licence=1.
    #[arg(long, value_name = "NAME=AMOUNT")]
    pub(super) resource: Vec<String>,
    /// Longest run time of each task, as in 2h; then it is stopped.
    #[arg(long, short, value_name = "TIME")]
    pub(super) time: Option<String>,
    /// From SIGTERM to SIGKILL, where a task is stopped. Default: the server's.
    #[arg(long, value_name = "TIME")]
    pub(super) grace: Option<String>,
    /// What people call it: none of your other jobs that have not ended. Default: the command's
    /// name.
    #[arg(long, short, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// The folder in which it runs. Default: this one.
    #[arg(long, short = 'D', value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
    /// Its memory bounds its address space as well (RLIMIT_AS).
    #[arg(long)]
    pub(super) bound_address_space: bool,
}

impl WorkArgs {
    /// A job of the command, as it would run here and now.
    pub(super) fn spec(&self, command: &[OsString]) -> Result<Submission, String> {
        let command = command.iter().cloned().map(Into::into).collect();
        let mut spec = here::job(command).map_err(|why| format!("this folder: {why}"))?;
        let gpus = self.gpu.map(|count| count.to_string());
        let own = [("cpu", &self.cpu), ("memory", &self.memory), ("gpu", &gpus)];
        for (name, amount) in
            own.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)))
        {
            is_amount(name, amount).map_err(|why| format!("--{name}: {why}"))?;
            spec.demand.insert(name.to_owned(), amount.clone());
        }
        for text in &self.resource {
            let wrong = || format!("--resource {text}: write NAME=AMOUNT");
            let (name, amount) = text.split_once('=').ok_or_else(wrong)?;
            is_amount(name, amount).map_err(|why| format!("--resource {name}: {why}"))?;
            spec.demand.insert(name.to_owned(), amount.to_owned());
        }
        spec.time_ms = millis("--time", &self.time)?;
        spec.grace_ms = millis("--grace", &self.grace)?;
        if let Some(folder) = &self.folder {
            let whole = std::path::absolute(folder).map_err(|why| format!("--folder: {why}"))?;
            spec.folder = whole.into();
        }
        spec.queue.clone_from(&self.queue);
        spec.name.clone_from(&self.name);
        spec.bound_address_space = self.bound_address_space;
        Ok(spec)
    }
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
