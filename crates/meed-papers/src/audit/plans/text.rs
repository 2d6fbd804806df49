//! A case as a scenario: what is run, and the file that is written.
//!
//! Work that comes while there is no instance at all waits outside, and comes with the first
//! ([`super::property`]).

use std::fmt::{Result, Write};

use super::case::{Cast, PERIOD, Payer, PlanCase, PlanLie, Wants, name, second};
use super::problem::PlanProblem;

/// Instances of one name, as `[[contribution]]` has them.
struct Given<'a> {
    tenant: &'a str,
    count: u32,
    price: &'a str,
    from: u32,
    until: u32,
}

impl PlanCase {
    /// The scenario of the case, below remarks; none where nobody has work that is ever submitted.
    pub(super) fn text(&self, cast: Cast, lying: bool, remarks: &[String]) -> Option<String> {
        let mut text = remarks.iter().map(|line| format!("# {line}\n")).collect::<String>();
        self.write(&mut text, cast, lying).expect("a string takes all that is written to it");
        text.contains("\n[[job]]\n").then_some(text)
    }

    fn cast(&self, cast: Cast) -> impl Iterator<Item = usize> + '_ {
        let of = move |tenant: &usize| cast == Cast::All || cast == Cast::Alone(*tenant);
        (0..self.tenants.len()).filter(of)
    }

    /// The first period from this one on in which there is an instance.
    pub(super) fn opens(&self, cast: Cast, lying: bool, period: u32) -> Option<u32> {
        (period..self.periods()).find(|&period| {
            self.cast(cast).any(|tenant| {
                let stay = self.stay(tenant, lying);
                (stay.from..stay.until).contains(&period)
            })
        })
    }

    fn write(&self, out: &mut String, cast: Cast, lying: bool) -> Result {
        let resources: Vec<String> =
            self.problem.resources().iter().map(|name| format!("\"{name}\"")).collect();
        writeln!(out, "\n[cluster]\nresources = [{}]", resources.join(", "))?;
        writeln!(out, "\n[accounts]\nevery = \"{}s\"", 60 / self.scale)?;
        if self.problem == PlanProblem::UnequalInstances {
            for weight in 1..=self.problem.heaviest() {
                writeln!(out, "\n[[instance]]\nname = \"weight-{weight}\"\nweight = {weight}")?;
                writeln!(out, "capacity = {{ slot = 1 }}")?;
            }
        }
        for tenant in self.cast(cast) {
            self.write_tenant(out, tenant, lying)?;
            self.write_work(out, tenant, cast, lying)?;
        }
        writeln!(out, "\n[run]\nuntil = \"{}min\"", self.periods() * PERIOD)
    }

    fn write_tenant(&self, out: &mut String, tenant: usize, lying: bool) -> Result {
        let (one, stay) = (&self.tenants[tenant], self.stay(tenant, lying));
        let lie = self.lie_of(tenant, lying);
        let (own, again) = (name(tenant), second(tenant));
        let price = self.write_price(one, lie, lying);
        writeln!(out, "\n[[queue]]\nname = \"{own}\"\norder = \"fifo\"")?;
        let mut given = Given {
            tenant: &own,
            count: stay.count,
            price: &price,
            from: stay.from,
            until: stay.until,
        };
        if let Some(PlanLie::Name { gives, .. }) = lie {
            writeln!(out, "\n[[queue]]\nname = \"{again}\"\norder = \"fifo\"")?;
            given.count -= gives * self.scale;
            self.write_given(out, one, &given)?;
            (given.tenant, given.count) = (&again, gives * self.scale);
        }
        if given.count > 0 { self.write_given(out, one, &given) } else { Ok(()) }
    }

    fn write_given(&self, out: &mut String, one: &Payer, given: &Given<'_>) -> Result {
        let plan = match (self.problem.moves(), one.fixed) {
            (false, _) => "on-demand",
            (true, Some(_)) => "reserved",
            (true, None) => "spot",
        };
        writeln!(out, "\n[[contribution]]\ntenant = \"{}\"\nplan = \"{plan}\"", given.tenant)?;
        let resources = self.problem.resources();
        match self.problem {
            PlanProblem::UnequalInstances => {
                writeln!(out, "instance = \"weight-{}\"", one.weight)?;
            }
            _ => {
                let has: Vec<String> = resources
                    .iter()
                    .map(|name| format!("{name} = {}", self.problem.instance()))
                    .collect();
                writeln!(out, "capacity = {{ {} }}", has.join(", "))?;
            }
        }
        writeln!(out, "count = {}\nprice = {}", given.count, given.price)?;
        let (from, until) = (given.from * PERIOD, given.until * PERIOD);
        writeln!(out, "from = \"{from}min\"\nuntil = \"{until}min\"")
    }

    /// What `one` pays for an instance and hour: a number, or steps.
    fn write_price(&self, one: &Payer, own: Option<PlanLie>, lying: bool) -> String {
        let times = if let Some(PlanLie::Times { factor }) = own { factor } else { 1 };
        if let Some(price) = one.fixed {
            return (price * times).to_string();
        }
        let step = |period: u32| {
            let driven = match self.lie.filter(|_| lying) {
                Some(PlanLie::Drive { period: driven, factor }) if driven == period => factor,
                _ => 1,
            };
            let (at, price) = (period * PERIOD, self.price(one, period) * times * driven);
            if at == 0 { format!("[0, {price}]") } else { format!("[\"{at}min\", {price}]") }
        };
        format!("[{}]", (0..self.periods()).map(step).collect::<Vec<_>>().join(", "))
    }

    fn write_work(&self, out: &mut String, tenant: usize, cast: Cast, lying: bool) -> Result {
        let (one, lie) = (&self.tenants[tenant], self.lie_of(tenant, lying));
        let (own, again) = (name(tenant), second(tenant));
        let demand: Vec<String> = self
            .problem
            .resources()
            .iter()
            .zip(one.task)
            .map(|(name, amount)| format!("{name} = {amount}"))
            .collect();
        for (period, want) in (0..self.periods()).zip(&one.wants) {
            let instances = match want {
                Wants::Nothing => continue,
                Wants::Own => one.count * self.scale,
                Wants::All => self.instances(),
            };
            let at = match lie {
                Some(PlanLie::Later { period: late, by }) if late == period => period + by,
                _ => period,
            };
            let Some(at) = self.opens(cast, lying, at) else { continue };
            let queue = match lie {
                Some(PlanLie::Name { periods, .. }) if periods >> period & 1 == 1 => &again,
                _ => &own,
            };
            let tasks = PERIOD * self.scale * instances * self.tasks(tenant);
            writeln!(out, "\n[[job]]\nqueue = \"{queue}\"\nsubmit = \"{}min\"", at * PERIOD)?;
            writeln!(out, "tasks = {tasks}\nduration = \"{}s\"", 60 / self.scale)?;
            writeln!(out, "demand = {{ {} }}", demand.join(", "))?;
        }
        Ok(())
    }
}
