//! What a ResourceManager and the ledger in it say, in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use meed_cli::columns::columns;
use serde_json::Value;

use super::OURS;

/// What of an application is told in JSON.
pub(super) const OF_APP: [&str; 11] = [
    "id",
    "name",
    "user",
    "queue",
    "state",
    "finalStatus",
    "runningContainers",
    "allocatedMB",
    "allocatedVCores",
    "startedTime",
    "diagnostics",
];
/// What of the cluster is told in JSON.
pub(super) const OF_CLUSTER: [&str; 6] = [
    "availableMB",
    "availableVirtualCores",
    "reservedMB",
    "totalMB",
    "totalVirtualCores",
    "activeNodes",
];

/// Columns by the resource of which shares and use are told.
const HEADS: [[&str; 8]; 2] = [
    ["QUEUE", "NEXT", "WEIGHT", "SHARE GB", "HELD GB", "WAITING", "USED GB h", "BALANCE GB h"],
    ["QUEUE", "NEXT", "WEIGHT", "SHARE", "HELD", "WAITING", "USED h", "BALANCE h"],
];
const GB: f64 = (1u64 << 30) as f64;
const HOUR: f64 = 3600.0;
/// So many names stand in a sentence.
const NAMED: usize = 8;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// The table of queues: those that are served next come first.
pub(super) fn queues(told: &Value, policies: &BTreeMap<String, String>) -> String {
    let mut queues: Vec<&Value> = told["queues"].as_array().into_iter().flatten().collect();
    queues.sort_by_key(|queue| queue["next"].as_u64().unwrap_or(u64::MAX));
    let measured = queues.first().map_or("memory", |queue| text(&queue["measured"]));
    let is_memory = matches!(measured, "memory" | "");
    let one = if is_memory { GB } else { 1.0 };
    let row = |queue: &&Value| {
        let next = queue["next"].as_u64().map(|place| (place + 1).to_string());
        let amount = |key: &str| format!("{:.1}", number(&queue[key]) / one);
        let hours = |key: &str| format!("{:.2}", number(&queue[key]) / one / HOUR);
        vec![
            text(&queue["queue"]).to_owned(),
            next.unwrap_or_default(),
            format!("{:.1}", number(&queue["weight"])),
            amount("share"),
            amount("held"),
            queue["waiting_tasks"].to_string(),
            hours("usage"),
            hours("balance"),
        ]
    };
    let mut out = columns(&HEADS[usize::from(!is_memory)], queues.iter().map(row));
    if !is_memory {
        let _ = writeln!(out, "share, held, used and balance in {measured}, and its hours");
    }
    out.push_str(
        "waiting: containers; balance: what others used of its share, less what it used \
                  above it\n",
    );
    let others = not_ours(policies.iter().filter(|(name, _)| is_above(name, &queues)));
    if !others.is_empty() {
        let _ = writeln!(out, "{others}: there NEXT is what the ledger would say");
    }
    out
}

fn is_above(name: &str, queues: &[&Value]) -> bool {
    let below = |queue: &&Value| {
        text(&queue["queue"]).strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
    };
    queues.iter().any(below)
}

/// Queues that follow another order than the ledger's, in words.
fn not_ours<'p>(policies: impl Iterator<Item = (&'p String, &'p String)>) -> String {
    let others = policies.filter(|(_, policy)| !policy.eq_ignore_ascii_case(OURS));
    let others: Vec<String> =
        others.take(NAMED).map(|(name, policy)| format!("{name} by `{policy}`")).collect();
    match others.is_empty() {
        true => String::new(),
        false => format!("ordered otherwise: the children of {}", others.join(", ")),
    }
}

pub(super) fn is_over(app: &Value) -> bool {
    ["FINISHED", "FAILED", "KILLED"].contains(&text(&app["state"]))
}

/// Why an application waits, or runs.
pub(super) fn why(
    app: &Value,
    told: &Value,
    cluster: &Value,
    policies: &BTreeMap<String, String>,
) -> String {
    let mut out = format!(
        "Application {} of queue {}, of {}: {}\n",
        text(&app["id"]),
        text(&app["queue"]),
        text(&app["user"]),
        text(&app["state"])
    );
    let mut line = |words: String| {
        let _ = writeln!(out, "  {words}");
    };
    if is_over(app) {
        line(format!("It is over ({}): nothing of it waits.", text(&app["finalStatus"])));
        return out;
    }
    let (running, waiting) = (number(&told["running"]) as u64, number(&told["waiting"]) as u64);
    line(format!(
        "It holds {} ({} MB) and asks for {}.",
        things(running, "container"),
        told["held_mb"],
        match waiting {
            0 => "no more".to_owned(),
            more => format!("{more} more"),
        }
    ));
    master_words(app, running, &mut line);
    if waiting == 0 {
        line("Nothing of it waits: it is not in any order.".to_owned());
    } else {
        order_words(told, policies, &mut line);
    }
    line(free_words(cluster));
    if waiting > 0 {
        holder_words(told, &mut line);
    }
    out
}

/// Who holds what there is, since when, and that nobody knows until when.
fn holder_words(told: &Value, line: &mut impl FnMut(String)) {
    let holders: Vec<&Value> = told["holders"].as_array().into_iter().flatten().collect();
    if holders.is_empty() {
        return;
    }
    let held = holders.iter().take(NAMED).map(|holder| {
        let ran = |key: &str| minutes(number(&holder[key]));
        let containers = number(&holder["containers"]) as u64;
        let since = match containers {
            1 => format!("for {}", ran("oldest_s")),
            _ => format!("for {} to {}", ran("youngest_s"), ran("oldest_s")),
        };
        let queue = text(&holder["queue"]);
        format!("{queue} {} ({} MB) {since}", things(containers, "container"), holder["held_mb"])
    });
    let held: Vec<String> = held.collect();
    let last = match told["last_end_s"].as_f64() {
        Some(ago) => format!("the last one that ended did {} ago", minutes(ago)),
        None => "none has ended since the ledger was opened".to_owned(),
    };
    line(format!("Held: {}. When any of these ends is not known; {last}.", held.join(", ")));
}

fn minutes(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{short:.0} s"),
        longer if longer < 7200.0 => format!("{:.0} min", longer / 60.0),
        long => format!("{:.1} h", long / HOUR),
    }
}

fn things(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Whether the application's own master waits.
fn master_words(app: &Value, running: u64, line: &mut impl FnMut(String)) {
    let said = text(&app["diagnostics"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = match said.is_empty() {
        true => String::new(),
        false => format!(" YARN says: {said}"),
    };
    match text(&app["state"]) {
        "NEW" | "NEW_SAVING" | "SUBMITTED" => {
            line(format!("It is being taken, and in no queue's order yet.{said}"));
        }
        "ACCEPTED" if running == 0 => {
            line(format!("Its application master waits for its container.{said}"));
        }
        "ACCEPTED" => line(format!("Its application master is starting.{said}")),
        _ if !said.is_empty() => line(said.trim_start().to_owned()),
        _ => {}
    }
}

fn order_words(told: &Value, policies: &BTreeMap<String, String>, line: &mut impl FnMut(String)) {
    let mut first = true;
    for level in told["levels"].as_array().into_iter().flatten() {
        let (unit, scale) = unit(text(&level["resource"]));
        let children: Vec<&Value> = level["children"].as_array().into_iter().flatten().collect();
        let named = children.iter().map(|child| {
            let least = if child["below_min"] == true { ", below its minimum share" } else { "" };
            format!("{} ({:.3}{least})", text(&child["queue"]), number(&child["key"]) / scale)
        });
        let named: Vec<String> = named.collect();
        let among = text(&level["among"]);
        line(format!(
            "Order among the children of {among} by {}, in {unit} per weight 1, the smallest \
             first: {}.",
            text(&level["order"]),
            named.join(", ")
        ));
        if let Some(ahead @ 1..) = level["place"].as_u64() {
            first = false;
            line(format!("There {} first.", come(ahead, "queue")));
        }
        let other = not_ours(policies.get_key_value(among).into_iter());
        if !other.is_empty() {
            line(format!("But YARN's queues there are {other}."));
        }
    }
    let queue = text(&told["queue"]);
    if let Some(ahead @ 1..) = told["leaf"]["jobs_ahead"].as_u64() {
        first = false;
        let some = told["leaf"]["first"].as_array().into_iter().flatten();
        let some =
            some.map(|job| format!("{} (asks for {})", text(&job["job"]), job["waiting_tasks"]));
        let some: Vec<String> = some.collect();
        line(format!("Within {queue} {} first: {}.", come(ahead, "application"), some.join(", ")));
    }
    if first {
        line(
            "Its turn has come: it is served as soon as a node has room, and no limit of YARN's \
              (of its queue, its user or application masters) is in the way."
                .to_owned(),
        );
    }
    if let Some(guard) = told.get("guard").filter(|guard| guard.is_object()) {
        line(format!(
            "The guard serves a starved leaf after {:.0} s; this one has waited {:.0} s, and {} \
             first.",
            number(&guard["t_wait_s"]),
            number(&guard["waited_s"]),
            come(guard["before"].as_array().map_or(0, Vec::len) as u64, "leaf")
                .replace("leafs", "leaves")
        ));
    }
}

fn come(count: u64, what: &str) -> String {
    match count {
        0 => format!("no other {what} comes"),
        1 => format!("1 {what} comes"),
        count => format!("{count} {what}s come"),
    }
}

/// What keys are in, and how many of the smallest make one.
fn unit(resource: &str) -> (&'static str, f64) {
    match resource {
        "memory" => ("GB hours", GB * HOUR),
        _ => ("core hours", HOUR),
    }
}

fn free_words(cluster: &Value) -> String {
    let reserved = number(&cluster["reservedMB"]);
    let reserved = match reserved > 0.0 {
        true => format!("; {reserved:.0} MB are reserved, past every order (docs/yarn.md)"),
        false => String::new(),
    };
    format!(
        "Free in the cluster: {} of {} MB, {} of {} cores, on {}{reserved}.",
        cluster["availableMB"],
        cluster["totalMB"],
        cluster["availableVirtualCores"],
        cluster["totalVirtualCores"],
        things(number(&cluster["activeNodes"]) as u64, "node")
    )
}
