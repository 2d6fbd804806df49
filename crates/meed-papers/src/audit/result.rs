//! What an audit found, as programs read it (docs/json.md).

use serde::Serialize;

use super::case::{Case, Lie, Tasks};
use super::draft::{job_of, names_of, queue_of};
use super::ground::Ground;
use super::measure::Judged;
use super::proofs::proof;
use super::property::{Against, Property};
use super::search::Found;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// All searches of one `meed audit`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Audit {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Seed of all random choices.
    pub seed: u64,
    /// Random cases of each search.
    pub trials: u32,
    /// Steps of each of the climbs of a search.
    pub steps: u32,
    /// Words of `--policy`.
    pub policies: Vec<String>,
    /// What was searched for.
    pub properties: Vec<Property>,
    /// One for each kind of tasks, property and policy; in this order.
    pub cells: Vec<AuditCell>,
}

/// What is known about a property under a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// There is a proof, and the search found nothing against it.
    Proof,
    /// None was found; that proves nothing.
    NoneFound,
    /// There is one.
    Counterexample,
    /// The property says nothing here.
    DoesNotApply,
}

/// One search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AuditCell {
    /// Of which property.
    pub property: Property,
    /// Under which policy.
    pub policy: String,
    /// With which tasks.
    pub tasks: Tasks,
    /// What came out.
    pub verdict: AuditVerdict,
    /// Why the property holds, where that is known.
    pub proof: Option<String>,
    /// Why the property says nothing here, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Random cases.
    pub trials: u32,
    /// How many of them showed a violation.
    pub showed: u32,
    /// Mean value over them.
    pub mean: f64,
    /// Largest value met, also where whole tasks explain it.
    pub largest: f64,
    /// The worst violation, made small.
    pub counterexample: Option<Counterexample>,
}

/// A violation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Counterexample {
    /// Parts of what the tenant contributes over the run (of the cluster's, for idle capacity).
    pub value: f64,
    /// What whole tasks alone could make of it.
    pub tolerance: f64,
    /// Queue of the tenant that it is about.
    pub tenant: String,
    /// All names of that tenant when it lies.
    pub names: Vec<String>,
    /// In words: who demands what, who does what.
    pub story: Vec<String>,
    /// The case itself.
    pub case: Case,
}

/// The cell of a search's result.
pub(super) fn cell(property: Property, tasks: Tasks, ground: &Ground, found: Found) -> AuditCell {
    let proof = proof(property, tasks, ground);
    let verdict = match (&found.worst, proof) {
        (Some(_), _) => AuditVerdict::Counterexample,
        (None, Some(_)) => AuditVerdict::Proof,
        (None, None) => AuditVerdict::NoneFound,
    };
    AuditCell {
        property,
        policy: ground.words.clone(),
        tasks,
        verdict,
        proof: proof.map(str::to_owned),
        reason: None,
        trials: found.trials,
        showed: found.showed,
        mean: found.mean,
        largest: found.largest,
        counterexample: found.worst.map(|worst| counterexample(property, worst)),
    }
}

/// The cell of a property that says nothing here.
pub(super) fn does_not_apply(
    property: Property,
    tasks: Tasks,
    policy: &str,
    why: &str,
) -> AuditCell {
    AuditCell {
        property,
        policy: policy.to_owned(),
        tasks,
        verdict: AuditVerdict::DoesNotApply,
        proof: None,
        reason: Some(why.to_owned()),
        trials: 0,
        showed: 0,
        mean: 0.0,
        largest: 0.0,
        counterexample: None,
    }
}

fn counterexample(property: Property, worst: Judged) -> Counterexample {
    Counterexample {
        value: worst.value,
        tolerance: worst.tolerance,
        tenant: queue_of(&worst.case, worst.tenant),
        names: names_of(&worst.case, worst.tenant),
        story: story(property, &worst),
        case: worst.case,
    }
}

fn story(property: Property, judged: &Judged) -> Vec<String> {
    let case = &judged.case;
    let mut lines = vec![format!(
        "{} slots, {} tenants with shares of {}; it ends after {} min.",
        case.capacity(),
        case.tenants.len(),
        (0..case.tenants.len()).map(|i| case.share(i).to_string()).collect::<Vec<_>>().join(", "),
        case.end(),
    )];
    for (i, tenant) in case.tenants.iter().enumerate() {
        let bursts = tenant.bursts.iter().map(|burst| {
            let wide = if burst.width > 1 {
                format!(", {} slots wide", burst.width)
            } else {
                String::new()
            };
            format!(
                "{} of {} min{wide} at {} min",
                tasks(burst.tasks * case.scale),
                burst.length,
                burst.at
            )
        });
        let bursts: Vec<String> = bursts.collect();
        let demand = if bursts.is_empty() { "nothing".to_owned() } else { bursts.join("; ") };
        lines.push(format!("{} wants {demand}.", queue_of(case, i)));
    }
    if case.limits {
        lines.push("But for the lie, if any, all say truly how long their tasks run.".to_owned());
    }
    if case.settle {
        lines.push(format!("From {} min on all want everything.", case.horizon));
    }
    lines.extend(case.lies.iter().map(|lie| told(case, lie)));
    let who = queue_of(case, judged.tenant);
    let percent = judged.value * 100.0;
    lines.push(match property.row().against {
        Against::Idle => {
            format!("{percent:.1} % of the capacity is idle while tasks wait that would fit.")
        }
        Against::Turn => format!("{who}: {percent:.1} % of the run; {}.", property.row().means),
        _ => format!("{who}: {percent:.1} % of its contribution; {}.", property.row().means),
    });
    lines
}

fn tasks(count: u32) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

fn told(case: &Case, lie: &Lie) -> String {
    let who = queue_of(case, case.liar);
    match *lie {
        Lie::Useless { at, tasks: count, length, keep } => format!(
            "The lie: {who} submits {} of {length} min that are of no use at {at} min, and \
             withdraws what is left of \
             them at {} min.",
            tasks(count * case.scale),
            at + keep,
        ),
        Lie::Later { burst, by } => {
            format!("The lie: {who} submits its job {} {by} min later.", job_of(case.liar, burst))
        }
        Lie::Split { full, alternate } => format!(
            "The lie: {who} is two queues with {} each; {}.",
            if full { "the whole weight" } else { "half the weight" },
            if alternate { "they take its jobs by turns" } else { "each has half of every job" },
        ),
        Lie::Wider { burst, by } => format!(
            "The lie: each task of {who}'s job {} asks for {by} more than it has use for.",
            job_of(case.liar, burst)
        ),
        Lie::ShortLimit { burst } => format!(
            "The lie: {who} says that tasks of its job {} are done after a minute.",
            job_of(case.liar, burst)
        ),
        Lie::Forgo { burst } => {
            format!("The lie: {who} gives its job {} up.", job_of(case.liar, burst))
        }
        Lie::Rejoin { at } => {
            format!("The lie: {who} closes its queue at {at} min and comes back as a new one.")
        }
    }
}
