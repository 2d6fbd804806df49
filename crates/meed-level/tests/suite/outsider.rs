//! The printed certificate, checked as docs/allocate.md tells an outsider to: from the two texts
//! alone, by arithmetic on their fields. Nothing of `meed_level::verify` is used.

use meed_level::document::{Format, read, to_json};
use meed_level::{POLICIES, Problem, allocate};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::common::{Kind, problems};

const CLOSE: f64 = 1e-6;

/// The problem as a user would write it.
fn text_of(problem: &Problem) -> String {
    let amounts = |amounts: &[f64]| -> Map<String, Value> {
        problem.resources.iter().cloned().zip(amounts.iter().map(|&amount| json!(amount))).collect()
    };
    let servers: Vec<Value> = problem
        .servers
        .iter()
        .map(|server| json!({"count": server.count, "capacity": amounts(&server.capacity)}))
        .collect();
    let users: Vec<Value> = problem
        .users
        .iter()
        .map(|user| {
            let ledgers = &user.ledgers;
            json!({"name": user.name, "demand": amounts(&user.demand), "weight": user.weight,
                "tasks": user.tasks, "used": user.used, "credits": ledgers.credits,
                "commitment": ledgers.commitment, "paid": ledgers.paid,
                "received": ledgers.received})
        })
        .collect();
    json!({"servers": servers, "users": users, "worth": problem.worth}).to_string()
}

fn number(value: &Value, otherwise: f64) -> f64 {
    value.as_f64().unwrap_or(otherwise)
}

struct Outsider {
    kinds: Vec<String>,
    /// What each entry of the result has, all its servers together, and one of them.
    servers: Vec<(Vec<f64>, Vec<f64>)>,
    totals: Vec<f64>,
    input: Value,
    output: Value,
}

impl Outsider {
    fn new(input: &str, output: &str) -> Outsider {
        let (input, output): (Value, Value) =
            (serde_json::from_str(input).unwrap(), serde_json::from_str(output).unwrap());
        let kinds: Vec<String> =
            input["servers"][0]["capacity"].as_object().unwrap().keys().cloned().collect();
        let row = |server: &Value, count: f64| -> Vec<f64> {
            kinds.iter().map(|kind| count * number(&server["capacity"][kind], 0.0)).collect()
        };
        let rows = input["servers"].as_array().unwrap().iter();
        let mut servers: Vec<(Vec<f64>, Vec<f64>)> = rows
            .map(|server| (row(server, number(&server["count"], 1.0)), row(server, 1.0)))
            .collect();
        let totals: Vec<f64> =
            (0..kinds.len()).map(|r| servers.iter().map(|server| server.0[r]).sum()).collect();
        if output["policy"] == "drf" {
            servers = vec![(totals.clone(), totals.clone())];
        }
        Outsider { kinds, servers, totals, input, output }
    }

    fn users(&self) -> Vec<&Value> {
        self.input["users"].as_array().unwrap().iter().collect()
    }

    fn demand(&self, user: usize) -> Vec<f64> {
        self.kinds
            .iter()
            .map(|kind| number(&self.input["users"][user]["demand"][kind], 0.0))
            .collect()
    }

    /// The largest share of a resource of the whole pool that one task takes.
    fn dominant(&self, user: usize) -> f64 {
        let parts =
            self.demand(user).into_iter().zip(&self.totals).filter(|(_, total)| **total > 0.0);
        parts.map(|(need, total)| need / total).fold(0.0, f64::max)
    }

    fn mean_weight(&self) -> f64 {
        let users = self.users();
        users.iter().map(|user| number(&user["weight"], 1.0)).sum::<f64>() / users.len() as f64
    }

    fn tasks(&self, user: usize) -> f64 {
        number(&self.output["users"][user]["tasks"], f64::NAN)
    }

    /// Tasks of a user at a level, (w level - H) / dominant demand, between 0 and its tasks.
    fn at(&self, user: usize, level: f64) -> f64 {
        let row = &self.input["users"][user];
        let of = |key: &str| number(&row[key], 0.0);
        let share = match self.output["policy"].as_str().unwrap() {
            "long-term-drf" => of("weight") * level - of("used"),
            "sdrf" => of("weight") * level - of("commitment"),
            "mr-karma" => of("weight") * (level + of("credits") / self.mean_weight()),
            "as-you-pay" => {
                (of("paid") * level - of("received")) / number(&self.input["worth"], 1.0)
            }
            _ => of("weight") * level,
        };
        (share.max(0.0) / self.dominant(user)).min(number(&row["tasks"], f64::INFINITY))
    }

    /// 1. It fits, and entries add up to what users have.
    fn fits(&self) {
        let users = self.users();
        for (entry, (all, _)) in
            self.output["servers"].as_array().unwrap().iter().zip(&self.servers)
        {
            for (r, most) in all.iter().enumerate() {
                let here = |user: usize| {
                    number(&entry["users"][users[user]["name"].as_str().unwrap()], 0.0)
                };
                let used: f64 =
                    (0..users.len()).map(|user| here(user) * self.demand(user)[r]).sum();
                assert!(used <= most * (1.0 + 1e-9), "{used} of {most} {}", self.output);
                let free = number(&entry["free"][&self.kinds[r]], 0.0);
                assert!(
                    (used + free - most).abs() <= CLOSE * most.max(1.0),
                    "{free} {}",
                    self.output
                );
            }
        }
        for (user, row) in users.iter().enumerate() {
            let name = row["name"].as_str().unwrap();
            assert_eq!(self.output["users"][user]["name"], name);
            let entries = self.output["servers"].as_array().unwrap().iter();
            let sum: f64 = entries.map(|entry| number(&entry["users"][name], 0.0)).sum();
            assert!(
                (sum - self.tasks(user)).abs() <= CLOSE * sum.max(1.0),
                "{name} {}",
                self.output
            );
            let share = number(&self.output["users"][user]["dominant_share"], f64::NAN);
            assert!((share - sum * self.dominant(user)).abs() <= CLOSE, "{name} {}", self.output);
        }
    }

    /// What one task costs on the entry where it is cheapest, of those that have all it demands.
    fn cost(&self, user: usize, prices: &Value) -> f64 {
        let demand = self.demand(user);
        let can =
            |one: &[f64]| demand.iter().zip(one).all(|(need, have)| *need == 0.0 || *have > 0.0);
        let price = |entry: usize, r: usize| number(&prices[entry][&self.kinds[r]], 0.0);
        let entries = (0..self.servers.len()).filter(|&entry| can(&self.servers[entry].1));
        let costs =
            entries.map(|entry| (0..demand.len()).map(|r| demand[r] * price(entry, r)).sum());
        costs.fold(f64::INFINITY, f64::min)
    }

    /// 2. and 3. Nobody can rise; all have what the levels say.
    fn nobody_can_rise(&self) {
        let certificate = &self.output["certificate"];
        let gap = number(&certificate["gap"], f64::NAN);
        let mut stopped = vec![false; self.users().len()];
        for round in certificate["rounds"].as_array().unwrap() {
            let (level, prices) = (number(&round["level"], f64::NAN), &round["prices"]);
            let worth: f64 = self
                .servers
                .iter()
                .enumerate()
                .flat_map(|(entry, (all, _))| {
                    all.iter().enumerate().map(move |(r, all)| (entry, r, all))
                })
                .map(|(entry, r, all)| all * number(&prices[entry][&self.kinds[r]], 0.0))
                .sum();
            assert!((worth - 1.0).abs() <= CLOSE, "worth {worth} {}", self.output);
            let bought = |user: usize| match stopped[user] {
                true => self.tasks(user),
                false => self.at(user, level),
            };
            let sold: f64 = (0..stopped.len())
                .map(|user| bought(user) * self.cost(user, prices))
                .filter(|c| !c.is_nan())
                .sum();
            assert!(sold >= 1.0 - CLOSE, "sold {sold} {}", self.output);
            for name in round["users"].as_array().unwrap() {
                let user = self.users().iter().position(|row| row["name"] == *name).unwrap();
                assert!(self.cost(user, prices) > 0.0 && !stopped[user], "{name} {}", self.output);
                let least = (1.0 - gap - CLOSE) * self.at(user, level);
                assert!(self.tasks(user) >= least - CLOSE, "{name} below {level} {}", self.output);
                stopped[user] = true;
            }
        }
        for user in (0..stopped.len()).filter(|&user| !stopped[user]) {
            let all = number(&self.users()[user]["tasks"], f64::INFINITY);
            assert!(
                (self.tasks(user) - all).abs() <= CLOSE * all.max(1.0),
                "{user} {}",
                self.output
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn an_outsider_can_check_what_is_printed(
        problem in (1usize..=4).prop_flat_map(
            |resources| problems(Kind { resources, zeros: true, finite: true }, 6)),
    ) {
        let input = text_of(&problem);
        let problem = read(&input, Format::Json).unwrap();
        for (name, policy) in POLICIES {
            let output = to_json(&problem, *policy, &allocate(&problem, *policy).unwrap());
            let outsider = Outsider::new(&input, &output);
            prop_assert_eq!(&outsider.output["policy"], name);
            outsider.fits();
            if !outsider.output["certificate"].is_null() {
                outsider.nobody_can_rise();
            }
        }
    }
}
