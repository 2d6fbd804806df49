//! Writes a result as JSON, streaming: a million users need no tree in memory.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use crate::allocation::{Allocation, Certificate};
use crate::policy::AllocationPolicy;
use crate::problem::{Problem, Server};

/// The result as one line of JSON, with a newline. Floats have as many digits as it takes to read
/// back the same float.
pub fn to_json(problem: &Problem, policy: AllocationPolicy, allocation: &Allocation) -> String {
    let document = Document { problem, policy, allocation };
    // Writing to memory does not fail, and all keys are strings.
    let mut text = serde_json::to_string(&document).unwrap_or_default();
    text.push('\n');
    text
}

struct Document<'a> {
    problem: &'a Problem,
    policy: AllocationPolicy,
    allocation: &'a Allocation,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Document { problem, policy, allocation } = *self;
        let mut out = serializer.serialize_struct("allocation", 6)?;
        out.serialize_field("policy", policy.name())?;
        out.serialize_field("level", &allocation.level)?;
        out.serialize_field(
            "users",
            &Seq(|| (0..problem.users.len()).map(|user| Share { problem, allocation, user })),
        )?;
        let pool = Server { count: 1.0, capacity: problem.totals() };
        let servers = if policy == AllocationPolicy::Drf {
            std::slice::from_ref(&pool)
        } else {
            &problem.servers
        };
        let entries = || servers.iter().zip(&allocation.servers);
        out.serialize_field(
            "servers",
            &Seq(|| entries().map(|(server, served)| Served { problem, server, served })),
        )?;
        let certificate =
            allocation.certificate.as_ref().map(|certificate| Proof { problem, certificate });
        out.serialize_field("certificate", &certificate)?;
        out.serialize_field("remarks", &allocation.remarks)?;
        out.end()
    }
}

/// An array of what an iterator gives.
struct Seq<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Seq<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        (self.0)().try_for_each(|item| out.serialize_element(&item))?;
        out.end()
    }
}

struct Share<'a> {
    problem: &'a Problem,
    allocation: &'a Allocation,
    user: usize,
}

impl Serialize for Share<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let share = &self.allocation.users[self.user];
        let mut out = serializer.serialize_struct("user", 3)?;
        out.serialize_field("name", &self.problem.users[self.user].name)?;
        out.serialize_field("dominant_share", &share.dominant_share)?;
        out.serialize_field("tasks", &share.tasks)?;
        out.end()
    }
}

struct Served<'a> {
    problem: &'a Problem,
    server: &'a Server,
    served: &'a [(usize, f64)],
}

impl Serialize for Served<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let users = &self.problem.users;
        let by_name = self.served.iter().map(|(user, tasks)| (users[*user].name.as_str(), *tasks));
        let free = |r: usize| {
            let used: f64 =
                self.served.iter().map(|(user, tasks)| tasks * users[*user].demand[r]).sum();
            (self.server.count * self.server.capacity[r] - used).max(0.0)
        };
        let free: Vec<f64> = (0..self.problem.resources.len()).map(free).collect();
        let mut out = serializer.serialize_struct("server", 2)?;
        out.serialize_field("users", &Named(by_name.collect()))?;
        out.serialize_field("free", &amounts(self.problem, &free))?;
        out.end()
    }
}

/// A table of numbers by name, in this order.
struct Named<'a>(Vec<(&'a str, f64)>);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| out.serialize_entry(name, value))?;
        out.end()
    }
}

fn amounts<'a>(problem: &'a Problem, amounts: &[f64]) -> Named<'a> {
    Named(problem.resources.iter().map(String::as_str).zip(amounts.iter().copied()).collect())
}

struct Proof<'a> {
    problem: &'a Problem,
    certificate: &'a Certificate,
}

impl Serialize for Proof<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounds = || self.certificate.rounds.iter();
        let mut out = serializer.serialize_struct("certificate", 2)?;
        out.serialize_field("gap", &self.certificate.gap)?;
        out.serialize_field(
            "rounds",
            &Seq(|| rounds().map(|round| Round { problem: self.problem, round })),
        )?;
        out.end()
    }
}

struct Round<'a> {
    problem: &'a Problem,
    round: &'a crate::Round,
}

impl Serialize for Round<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = || self.round.users.iter().map(|user| &self.problem.users[*user].name);
        let prices = || self.round.prices.iter().map(|prices| amounts(self.problem, prices));
        let mut out = serializer.serialize_struct("round", 3)?;
        out.serialize_field("level", &self.round.level)?;
        out.serialize_field("users", &Seq(names))?;
        out.serialize_field("prices", &Seq(prices))?;
        out.end()
    }
}
