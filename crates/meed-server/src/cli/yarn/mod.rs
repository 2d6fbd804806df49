//! `meed queues --yarn URL` and `meed why --yarn URL APPLICATION`: the ledger of a YARN cluster, as
//! Meed's plug-in in its ResourceManager tells it (docs/yarn.md).
//!
//! | what | from where |
//! |---|---|
//! | is it a ResourceManager, and the active one | `/ws/v1/cluster/info` |
//! | how queues stand, why an application waits | the plug-in's bean, through `/jmx` |
//! | what YARN knows of the application, what is free | `/ws/v1/cluster/apps/ID`, `.../metrics` |
//! | whose order a queue follows | `/ws/v1/cluster/scheduler` |

mod http;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::{print, print_data};
use serde_json::{Value, json};

use self::http::{Answer, Master};

/// What its policy calls itself (`LongTermFairPolicy.NAME`).
const OURS: &str = "long-term-fair";
const BEAN: &str = "Hadoop:service=ResourceManager,name=MeedStanding";

#[derive(Args)]
pub(crate) struct YarnArgs {
    /// Asks a YARN ResourceManager that has Meed's plug-in, instead of a server (docs/yarn.md).
    #[arg(long, value_name = "URL", conflicts_with = "socket")]
    pub(crate) yarn: Option<String>,
}

/// How the queues of a cluster stand.
pub(crate) fn queues(url: &str, json: bool) -> Result<(), Failure> {
    let master = active(url)?;
    let told = standing(&master, "Queues")?;
    if json {
        return print_json(&told);
    }
    print(&words::queues(&told, &policies(&master)?))
}

/// Why an application waits, or runs.
pub(crate) fn why(url: &str, application: &str, json: bool) -> Result<(), Failure> {
    if !is_application(application) {
        return Err(Failure::Usage(format!(
            "`{application}` is no application of YARN: give its identity, as in \
             application_1760000000000_0001"
        )));
    }
    let master = active(url)?;
    let app = application_of(&master, application)?;
    let told = match words::is_over(&app) {
        true => Value::Null,
        false => standing(&master, &format!("Why.{application}"))?,
    };
    let metrics = rest(&master, "/ws/v1/cluster/metrics")?["clusterMetrics"].take();
    if json {
        let shown = |from: &Value, keys: &[&str]| -> Value {
            let some =
                keys.iter().filter_map(|&key| Some((key.to_owned(), from.get(key)?.clone())));
            Value::Object(some.collect())
        };
        let (app, metrics) = (shown(&app, &words::OF_APP), shown(&metrics, &words::OF_CLUSTER));
        return print_json(&json!({ "application": app, "ledger": told, "cluster": metrics }));
    }
    print(&words::why(&app, &told, &metrics, &policies(&master)?))
}

fn print_json(value: &Value) -> Result<(), Failure> {
    print_data(&format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()))
}

fn is_application(text: &str) -> bool {
    let mut parts = text.split('_');
    let digits = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    parts.next() == Some("application")
        && digits(parts.next())
        && digits(parts.next())
        && parts.next().is_none()
}

/// The ResourceManager at `url`, if it is one, and active.
fn active(url: &str) -> Result<Master, Failure> {
    let master = Master::at(url)?;
    let answer = master.get("/ws/v1/cluster/info")?;
    let info = answer.json().map(|mut told| told["clusterInfo"].take());
    let Some(info) = info.filter(Value::is_object).filter(|_| answer.status == 200) else {
        return Err(Failure::NoServer(format!(
            "what answers at {} is no ResourceManager of YARN; give the address of its web page \
             (yarn.resourcemanager.webapp.address), as in http://rm:8088",
            master.shown
        )));
    };
    match info["haState"].as_str() {
        Some("ACTIVE") | None => Ok(master),
        Some(_) => {
            // Where the active one is only the standby's redirections tell.
            let other = master.get("/ws/v1/cluster/metrics")?.location;
            let other = other.and_then(|at| at.find("/ws/v1").map(|end| at[..end].to_owned()));
            let other = other.map_or_else(String::new, |at| format!(", which is {at}"));
            Err(Failure::NoServer(format!(
                "the ResourceManager at {} is a standby: ask the active one{other}",
                master.shown
            )))
        }
    }
}

fn rest(master: &Master, path: &str) -> Result<Value, Failure> {
    let answer = master.get(path)?;
    match (answer.status, answer.json()) {
        (200, Some(told)) => Ok(told),
        (status, _) => Err(odd(master, path, status)),
    }
}

fn odd(master: &Master, path: &str, status: u16) -> Failure {
    Failure::Run(format!("{}{path} is answered with status {status}", master.shown))
}

fn application_of(master: &Master, application: &str) -> Result<Value, Failure> {
    let path = format!("/ws/v1/cluster/apps/{application}");
    let Answer { status, .. } = match master.get(&path)? {
        answer if answer.status == 200 => {
            return answer
                .json()
                .map(|mut told| told["app"].take())
                .filter(Value::is_object)
                .ok_or_else(|| odd(master, &path, 200));
        }
        other => other,
    };
    Err(match status {
        404 => Failure::Usage(format!(
            "the ResourceManager at {} knows no {application}: it never came there, or is \
             forgotten",
            master.shown
        )),
        status => odd(master, &path, status),
    })
}

/// What the plug-in tells.
fn standing(master: &Master, what: &str) -> Result<Value, Failure> {
    let path = format!("/jmx?get={BEAN}::{what}");
    let answer = master.get(&path)?;
    let told = answer.json().ok_or_else(|| odd(master, "/jmx", answer.status))?;
    let bean = match told["beans"].as_array() {
        Some(beans) => beans.first(),
        None => return Err(odd(master, "/jmx", answer.status)),
    };
    let Some(text) = bean.map(|bean| bean[what].as_str().unwrap_or_default()) else {
        return Err(Failure::Run(format!(
            "long-term fairness is not on in the ResourceManager at {}: \
             org.meed.yarn.LedgerMonitor is not among its monitor policies, has not ticked yet, or \
             gave up, and then its log says why (docs/yarn.md)",
            master.shown
        )));
    };
    let told: Value = serde_json::from_str(text)
        .map_err(|_| odd(master, "the bean MeedStanding at /jmx", answer.status))?;
    match told["error"].as_str() {
        Some(why) => Err(Failure::Run(why.to_owned())),
        None => Ok(told),
    }
}

/// Names of queues of the Fair Scheduler, with their scheduling policies. Empty for another
/// scheduler, which does not tell.
fn policies(master: &Master) -> Result<BTreeMap<String, String>, Failure> {
    let told = rest(master, "/ws/v1/cluster/scheduler")?;
    let mut policies = BTreeMap::new();
    let info = &told["scheduler"]["schedulerInfo"];
    if info["type"] == "fairScheduler" {
        note_policies(&info["rootQueue"], &mut policies, 0);
    }
    Ok(policies)
}

fn note_policies(queue: &Value, policies: &mut BTreeMap<String, String>, depth: usize) {
    if let (Some(name), Some(policy)) =
        (queue["queueName"].as_str(), queue["schedulingPolicy"].as_str())
    {
        policies.insert(name.to_owned(), policy.to_owned());
    }
    // Queues that are nested deeper are nobody's.
    if depth < 100 {
        for child in queue["childQueues"]["queue"].as_array().into_iter().flatten() {
            note_policies(child, policies, depth + 1);
        }
    }
}
