//! `meed jobs`, `show`, `cancel`, `hold`, `release`, `wait`.

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::{print, remark};

use super::table::{ago, columns, length};
use super::{AskArgs, JobArgs, ManyArgs, print_json, query};
use crate::client::Client;
use crate::clock::wall_us;
use crate::protocol::{JobQuery, JobStanding, JobView, Jobs, JobsQuery, Request, Shown};

#[derive(Args)]
pub(crate) struct JobsArgs {
    /// Jobs of all users; of others is shown what fairness needs.
    #[arg(long, short)]
    all: bool,
    /// Also jobs that have ended.
    #[arg(long, short)]
    ended: bool,
    /// Only jobs of this queue.
    #[arg(long, short, value_name = "QUEUE", add = super::complete::queues())]
    queue: Option<String>,
    /// At most so many.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1000)]
    limit: usize,
    #[command(flatten)]
    ask: AskArgs,
}

pub(crate) fn list(args: &JobsArgs) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let mut jobs: Vec<JobView> = Vec::new();
    let mut below = None;
    loop {
        let query = JobsQuery {
            all: args.all,
            ended: args.ended,
            queue: args.queue.clone(),
            user: None,
            state: None,
            below,
            limit: Some(args.limit - jobs.len()),
        };
        let page: Jobs = client.ask_for(&Request::Jobs(query))?;
        jobs.extend(page.jobs);
        below = page.more;
        if below.is_none() || jobs.len() >= args.limit {
            break;
        }
    }
    if args.ask.json {
        return print_json(&Jobs { jobs, more: below });
    }
    let row = |job: &JobView| {
        let tasks = match job.tasks {
            1 => String::new(),
            all => format!("{}/{all}", job.done + job.failed),
        };
        let name = job.name.clone().unwrap_or_default();
        let since = ago(job.ended_us.unwrap_or(job.submitted_us), wall_us());
        let (user, queue) = (job.user.clone(), job.queue.clone());
        vec![job.id.to_string(), name, user, queue, state_words(job), tasks, since]
    };
    let heads = ["JOB", "NAME", "USER", "QUEUE", "STATE", "OVER", "SINCE"];
    print(&columns(&heads, jobs.iter().map(row)))?;
    if below.is_some() {
        remark("there are more; --limit shows them");
    }
    Ok(())
}

/// How a job stands; one that goes on says how often its tasks were stopped for others.
fn state_words(job: &JobView) -> String {
    match job.stopped {
        times @ 1.. if !job.state.is_over() => format!("{}, stopped {times}x", job.state.word()),
        _ => job.state.word().to_owned(),
    }
}

/// How often tasks were stopped, and what that cost.
pub(super) fn stopped_words(times: u64, lost_us: u64) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("{times} for others, by reclaim; {} of work is lost", length(lost_us))
}

pub(crate) fn show(args: &JobArgs) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let shown: Shown = client.ask_for(&Request::Show(query(&args.job)))?;
    if args.ask.json {
        return print_json(&shown);
    }
    let job = &shown.job;
    let mut lines = vec![
        format!("Job {} {}: {}", job.id, job.name.as_deref().unwrap_or(""), job.state.word()),
        format!("  queue      {} (of {})", job.queue, job.user),
        format!("  submitted  {}", ago(job.submitted_us, wall_us())),
    ];
    if let Some(ended) = job.ended_us {
        lines.push(format!("  ended      {}", ago(ended, wall_us())));
    }
    if let Some(why) = &job.why {
        lines.push(format!("  why        {why}"));
    }
    let words: Vec<String> = shown.spec.command.iter().map(|word| word.shown()).collect();
    lines.push(format!("  command    {}", words.join(" ")));
    lines.push(format!("  folder     {}", shown.spec.folder.shown()));
    let demand = shown.spec.demand.iter().map(|(name, amount)| format!("{name} {amount}"));
    lines.push(format!("  each task  {}", demand.collect::<Vec<_>>().join(", ")));
    if shown.spec.demand.contains_key("memory") {
        let how = match (shown.memory_is_enforced, shown.spec.bound_address_space) {
            (true, _) => "enforced by a control group",
            (false, true) => "counted; address space is bounded (--bound-address-space)",
            (false, false) => "counted, not enforced (see what the server said at its start)",
        };
        lines.push(format!("  memory     {how}"));
    }
    if let Some(time) = shown.spec.time_ms {
        lines.push(format!("  time limit {}", length(time.saturating_mul(1000))));
    }
    if !shown.after.is_empty() {
        let after: Vec<String> = shown.after.iter().map(u64::to_string).collect();
        lines.push(format!("  after      {}", after.join(", ")));
    }
    lines.push(format!(
        "  tasks      {}: {} run, {} done, {} failed",
        job.tasks, job.running, job.done, job.failed
    ));
    if job.stopped > 0 {
        let words = stopped_words(job.stopped.into(), job.lost_us);
        lines.push(format!("  stopped    {words}"));
    }
    let row = |task: &crate::protocol::TaskView| {
        let state = match (&task.words, task.running) {
            _ if task.stopping => match task.stopping_for {
                Some(job) => format!("stops for job {job}"),
                None => "stops for others".to_owned(),
            },
            (_, true) => "runs".to_owned(),
            (words, false) => words.clone().unwrap_or_default(),
        };
        let ended = task.ended.as_ref().filter(|_| !task.running).map(|end| end.at.wall_us);
        let ran =
            task.began_us.map(|began| length(ended.unwrap_or_else(wall_us).saturating_sub(began)));
        let ran = ran.unwrap_or_default();
        vec![task.index.to_string(), task.attempt.to_string(), state, ran, task.log.clone()]
    };
    let text = lines.join("\n") + "\n";
    let heads = ["TASK", "ATTEMPT", "STATE", "RAN", "OUTPUT"];
    print(&format!("{text}{}", columns(&heads, shown.task.values().map(row))))?;
    if shown.more.is_some() {
        remark("there are more tasks; --json and `from` show them");
    }
    Ok(())
}

/// Cancels, holds or releases; goes on with the others where one is refused.
pub(crate) fn change(args: &ManyArgs, ask: fn(JobQuery) -> Request) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let mut failed = None;
    for job in &args.jobs {
        match client.ask_for::<JobView>(&ask(query(job))) {
            Ok(view) if args.ask.json => print_json(&view)?,
            Ok(_) => {}
            Err(error) => {
                if let Some(before) = failed.replace(Failure::from(error)) {
                    before.report();
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

pub(crate) fn wait(args: &ManyArgs) -> Result<(), Failure> {
    let mut client = args.ask.connect()?;
    let mut failed = None;
    for job in &args.jobs {
        match wait_for(&mut client, job, args.ask.json) {
            Err(failure @ Failure::Job(_)) => failed = Some(failure),
            other => other?,
        }
    }
    failed.map_or(Ok(()), Err)
}

pub(crate) fn wait_for(client: &mut Client, job: &str, json: bool) -> Result<(), Failure> {
    let view: JobView = client.ask_for(&Request::Wait(query(job)))?;
    if json {
        print_json(&view)?;
    }
    match view.state {
        JobStanding::Done => Ok(()),
        state => {
            let why = view.why.map(|why| format!(": {why}")).unwrap_or_default();
            Err(Failure::Job(format!("job {} is {}{why}", view.id, state.word())))
        }
    }
}
