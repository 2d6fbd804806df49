//! `meed queues` and `meed why`.

use std::fmt::Write;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::{print, remark};
use meed_cli::programs::KUBERNETES;
use meed_config::text::counted;
use serde_json::Value;

use super::table::columns;
use super::whom::{Whom, WhomArgs, server_line};
use super::yarn::{self, YarnArgs};
use super::{AskArgs, complete, print_json, query};
use crate::protocol::Request;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed queues
  meed queues --json
  meed queues --kubernetes
  meed queues --context production
  meed queues --yarn http://rm:8088
  meed queues --slurm";

pub(crate) const WHY_EXAMPLES: &str = "\
Examples:
  meed why 17
  meed why pod research/train-7
  meed why --yarn http://rm:8088 application_1760000000000_0001
  meed why --slurm 1234";

pub(crate) const WHY_USAGE: &str = "\
meed why [OPTIONS] <JOB>
       meed why [OPTIONS] pod <[NAMESPACE/]NAME>
       meed why [OPTIONS] --yarn <URL> <APPLICATION>";

#[derive(Args)]
pub(crate) struct QueuesArgs {
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    whom: WhomArgs,
    #[command(flatten)]
    cluster: YarnArgs,
}

#[derive(Args)]
pub(crate) struct WhyArgs {
    /// The job: its number, or its name (your newest of that name). `pod` and a name behind it is
    /// a pod of a Kubernetes cluster.
    #[arg(required = true, num_args = 1..=2, value_name = "JOB", add = complete::jobs_and_pods())]
    what: Vec<String>,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    whom: WhomArgs,
    #[command(flatten)]
    cluster: YarnArgs,
}

pub(crate) fn list(args: &QueuesArgs) -> Result<(), Failure> {
    let QueuesArgs { ask, whom, cluster } = args;
    whom.not_beside_yarn(cluster.yarn.as_ref())?;
    if let Some(url) = &cluster.yarn {
        return yarn::queues(url, ask.json);
    }
    let (mut client, or_cluster) = match whom.find(&ask.server)? {
        Whom::Server { client, or_cluster } => (client, or_cluster),
        Whom::Cluster { because } => {
            let words: &[&str] = if ask.json { &["queues", "--json"] } else { &["queues"] };
            return ask_cluster(whom, words, None, (because.as_deref(), ask.json));
        }
    };
    let answer = client.ask(&Request::Queues {})?;
    if ask.json {
        return print_json(&answer);
    }
    let first = if or_cluster { server_line(&client) } else { String::new() };
    let queues = in_turn(&answer);
    let measured = queues.first().and_then(|queue| queue["measured"].as_str()).unwrap_or("");
    let rows = queues.iter().map(|queue| row(queue));
    let table = columns(&HEADS, rows);
    print(&format!("{first}{table}share, held, used and balance in {measured}, and its hours\n"))
}

/// Asks a cluster. Programs are told on standard error why, where nobody has named one.
fn ask_cluster(
    whom: &WhomArgs,
    words: &[&str],
    name: Option<&str>,
    (because, json): (Option<&str>, bool),
) -> Result<(), Failure> {
    if let (Some(why), true) = (because, json) {
        remark(&format!("{why}; the Kubernetes cluster is asked"));
    }
    KUBERNETES.run(&whom.line(words, name, because))
}

/// What the columns of a queue are.
pub(super) const HEADS: [&str; 8] =
    ["QUEUE", "NEXT", "WEIGHT", "SHARE", "HELD", "WAITING", "USED h", "BALANCE h"];

/// The queues of an answer: those that are served next first.
pub(super) fn in_turn(answer: &Value) -> Vec<&Value> {
    let mut queues: Vec<&Value> = answer["queues"].as_array().into_iter().flatten().collect();
    let place = |queue: &Value| queue["next"].as_u64().unwrap_or(u64::MAX);
    queues.sort_by_key(|queue| place(queue));
    queues
}

/// A queue as [`HEADS`] say.
pub(super) fn row(queue: &Value) -> Vec<String> {
    let hours = |queue: &Value, key: &str| match queue["books"][key].as_f64() {
        Some(seconds) => format!("{:.2}", seconds / 3600.0),
        None => String::new(),
    };
    let next = queue["next"].as_u64().map(|place| (place + 1).to_string());
    let number = |key: &str| queue[key].as_f64().map(|number| format!("{number:.1}"));
    vec![
        queue["queue"].as_str().unwrap_or_default().to_owned(),
        next.unwrap_or_default(),
        number("weight").unwrap_or_default(),
        number("share").unwrap_or_default(),
        number("held").unwrap_or_default(),
        queue["waiting_tasks"].to_string(),
        hours(queue, "usage"),
        hours(queue, "balance"),
    ]
}

/// What somebody asks about.
#[derive(PartialEq, Debug)]
enum Asked<'a> {
    /// A job; or, where it is a cluster that answers, a pod.
    Job(&'a str),
    Pod(&'a str),
}

fn asked(what: &[String]) -> Result<Asked<'_>, Failure> {
    match what {
        [job] => Ok(Asked::Job(job)),
        [kind, pod] if ["pod", "pods", "po"].contains(&kind.as_str()) => Ok(Asked::Pod(pod)),
        [kind, ..] => Err(Failure::Usage(format!(
            "`{kind}` and a name behind it: wanted is a job, or `pod` and its name"
        ))),
        [] => Err(Failure::Usage("wanted is a job, or `pod` and its name".to_owned())),
    }
}

pub(crate) fn why(args: &WhyArgs) -> Result<(), Failure> {
    let WhyArgs { what, ask, whom, cluster } = args;
    whom.not_beside_yarn(cluster.yarn.as_ref())?;
    let what = asked(what)?;
    let of_pod = |pod: &str, because: Option<String>| {
        let words: &[&str] = if ask.json { &["why", "--json"] } else { &["why"] };
        ask_cluster(whom, words, Some(pod), (because.as_deref(), ask.json))
    };
    let job = match (what, &cluster.yarn, &ask.server.socket) {
        (Asked::Job(application), Some(url), _) => return yarn::why(url, application, ask.json),
        (Asked::Job(job), None, _) => job,
        (Asked::Pod(pod), None, None) => return of_pod(pod, None),
        (Asked::Pod(_), ..) => {
            let what = "a pod is asked for of a Kubernetes cluster: leave --socket and --yarn out";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    let (mut client, or_cluster) = match whom.find(&ask.server)? {
        Whom::Server { client, or_cluster } => (client, or_cluster),
        // Numbers are those of a server's jobs.
        Whom::Cluster { because: Some(why) } if job.bytes().all(|b| b.is_ascii_digit()) => {
            // The server's own error says who starts one.
            let failure = ask.server.connect().map(|_| Failure::NoServer(why));
            return Err(failure.unwrap_or_else(Failure::from));
        }
        Whom::Cluster { because } => return of_pod(job, because),
    };
    let answer = client.ask(&Request::Why(query(job)))?;
    if ask.json {
        return print_json(&answer);
    }
    let first = if or_cluster { server_line(&client) } else { String::new() };
    print(&(first + &words(&answer)))
}

fn words(answer: &Value) -> String {
    let job = &answer["job"];
    let state = job["state"].as_str().unwrap_or_default();
    let mut out = format!("Job {} of queue {}: {state}\n", job["id"], text(&job["queue"]));
    let mut line = |words: String| {
        let _ = writeln!(out, "  {words}");
    };
    if let Some(why) = job["why"].as_str() {
        line(why.to_owned());
    }
    if let Some(times @ 1..) = job["stopped"].as_u64() {
        let lost_us = job["lost_us"].as_u64().unwrap_or(0);
        let words = super::jobs::stopped_words(times, lost_us);
        line(format!("Tasks of it were stopped {words}. They wait again."));
    }
    let before: Vec<String> =
        answer["waits_for"].as_array().into_iter().flatten().map(Value::to_string).collect();
    if !before.is_empty() {
        line(format!("It waits for the end of {}.", before.join(", ")));
    }
    if answer["waits_for_devices"].as_u64().unwrap_or(0) > 0 {
        line("Its turn has come; tasks that are being stopped still hold its devices.".to_owned());
    }
    if let Some(most) = answer["at_most"].as_u64() {
        line(format!("As many of its tasks run as may run at once: {most}."));
    }
    let standing = &answer["standing"];
    for held in standing["reservations"].as_array().into_iter().flatten() {
        line(reservation_words(held));
    }
    for obstacle in standing["obstacles"].as_array().into_iter().flatten() {
        line(obstacle_words(obstacle));
    }
    room_words(&answer["room"]).into_iter().for_each(&mut line);
    for level in standing["levels"].as_array().into_iter().flatten() {
        let children: Vec<String> = level["children"]
            .as_array()
            .into_iter()
            .flatten()
            .take(8)
            .map(|child| match child["key"].as_f64() {
                Some(key) => format!("{} ({key:.3})", text(&child["queue"])),
                // Another's.
                None => text(&child["queue"]).to_owned(),
            })
            .collect();
        if !children.is_empty() {
            let order = text(&level["order"]);
            line(format!("Order by {order}, the smallest first: {}.", children.join(", ")));
        }
    }
    out
}

/// Why a job waits and until when, in a line.
pub(super) fn waiting_words(answer: &Value) -> String {
    let obstacles = answer["standing"]["obstacles"].as_array().into_iter().flatten();
    let mut words: Vec<String> = obstacles.take(2).map(obstacle_words).collect();
    words.extend(room_words(&answer["room"]));
    match words.is_empty() {
        true => "its turn comes.".to_owned(),
        false => words.join(" "),
    }
}

/// Rounded up where a minute more or less says nothing.
fn whole_minutes(micros: u64) -> u64 {
    const MINUTE: u64 = 60_000_000;
    if micros > 5 * MINUTE { micros.div_ceil(MINUTE) * MINUTE } else { micros }
}

/// When there is room, where that is not now.
fn room_words(room: &Value) -> Option<String> {
    let now = crate::clock::wall_us();
    match room["at_us"].as_u64() {
        Some(at) if at > now => Some(format!(
            "By the time limits of what runs there is room in {} at the latest.",
            super::table::length(whole_minutes(at - now))
        )),
        Some(_) => None,
        None if room.is_object() => {
            Some("Nobody knows when there is room: what runs has no time limits.".to_owned())
        }
        None => None,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The server's clock begins with its journal: times are told from now on.
fn reservation_words(held: &Value) -> String {
    let times = held["put_off"].as_u64().unwrap_or(0);
    let put_off = match times {
        0 => String::new(),
        1 => "; it was put off once".to_owned(),
        times => format!("; it was put off {times} times"),
    };
    let until = match held["expected_s"].as_f64() {
        None if held["reclaims"] == true => "until tasks there have stopped that were told to",
        Some(_) => "until what runs there is expected to have ended",
        None => "and nobody knows for how long",
    };
    let whom = match held["tasks"].as_u64() {
        Some(together @ 2..) => format!("the {together} tasks of it that start together"),
        _ => "a task of it".to_owned(),
    };
    let place = |node: &Value| {
        format!("{}, where {} run", text(&node["node"]), node["running"].as_u64().unwrap_or(0))
    };
    let places: Vec<String> = held["nodes"].as_array().into_iter().flatten().map(place).collect();
    let places = match held["spares"].as_u64() {
        None => places.join(", "),
        Some(_) => format!("{}, whichever has room first", places.join(", or on ")),
    };
    format!("Room is held for {whom} on {places}, {until}{put_off}.")
}

/// Which groups of a gang of several lack room: by themselves, or else besides the others.
fn lacking_words(gang: &Value) -> String {
    let groups = gang["groups"].as_array().map_or(&[][..], Vec::as_slice);
    let lacking = |key: &str| -> Vec<String> {
        let missing = |group: &Value| {
            let tasks = group["tasks"].as_u64()?;
            let missing = tasks.checked_sub(group[key].as_u64()?).filter(|&missing| missing > 0)?;
            Some(format!("{missing} of {tasks} of its group {}", group["group"].as_u64()? + 1))
        };
        groups.iter().filter_map(missing).collect()
    };
    match (lacking("alone"), lacking("beside")) {
        (alone, _) if !alone.is_empty() => format!(": {} find no room", alone.join(", ")),
        (_, beside) if !beside.is_empty() => format!(
            ": each group would fit by itself, but besides the others {} find no room",
            beside.join(" or ")
        ),
        _ => String::new(),
    }
}

fn obstacle_words(obstacle: &Value) -> String {
    let bounds = |key: &str| {
        let some = obstacle[key].as_array().into_iter().flatten();
        let words = some.map(|bound| {
            format!("{} {} of {}", text(&bound["resource"]), bound["asks"], bound["has"])
        });
        words.collect::<Vec<_>>().join(", ")
    };
    match text(&obstacle["what"]) {
        "quota" => format!("Queue {} is at its maximum.", text(&obstacle["queue"])),
        "size" => format!("A task asks for more than is free: {}.", bounds("short")),
        "place" => "Enough is free, but not in one place.".to_owned(),
        "gang" => format!(
            "Its {} tasks start together, and {} of them would fit now{}.",
            obstacle["together"],
            obstacle["fit"],
            lacking_words(obstacle)
        ),
        "no_node" => "A task asks for more than this machine has now.".to_owned(),
        "blocked" => "A task that is first in turn does not fit, and the policy waits.".to_owned(),
        "turn" => "Other queues are served first.".to_owned(),
        "order" => {
            let of = |key: &str, one: &str| counted(obstacle[key].as_u64().unwrap_or(0), one);
            let verb = if obstacle["jobs"] == 1 { "comes" } else { "come" };
            format!("{} with {} of its queue {verb} first.", of("jobs", "job"), of("tasks", "task"))
        }
        other => format!("{other}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_said_by_its_kind() {
        let of = |what: &[&str]| what.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(asked(&of(&["17"])).ok(), Some(Asked::Job("17")));
        assert_eq!(asked(&of(&["pod"])).ok(), Some(Asked::Job("pod")), "a job may be called so");
        assert_eq!(asked(&of(&["pod", "a/b"])).ok(), Some(Asked::Pod("a/b")));
        let Err(Failure::Usage(why)) = asked(&of(&["queue", "a"])) else { panic!("it is taken") };
        assert!(why.contains("wanted is a job, or `pod`"), "{why}");
    }
}
