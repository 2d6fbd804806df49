//! Prices and plans: statements of account, computed again second by second from the contributions
//! and from the list of starts and ends alone, in plain floating point.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use proptest::prelude::*;
use serde_json::Value;

/// A contribution as this test knows it. All times are whole seconds.
#[derive(Clone, Debug)]
struct Given {
    tenant: usize,
    plan: &'static str,
    cpu: u64,
    memory: u64,
    weight: u64,
    count: u64,
    from: u64,
    until: u64,
    /// From each time on, in hundredths.
    prices: Vec<(u64, u64)>,
    fee: u64,
    bid: Option<u64>,
    billing: Option<u64>,
}

#[derive(Clone, Debug)]
struct Work {
    tenant: usize,
    submit: u64,
    tasks: u64,
    seconds: u64,
    cpu: u64,
    memory: u64,
}

#[derive(Clone, Debug)]
struct World {
    given: Vec<Given>,
    work: Vec<Work>,
    two: bool,
    entitled: &'static str,
    value: &'static str,
}

const END: u64 = 60;
const TENANTS: [&str; 3] = ["g.a", "g.b", "c"];

impl Given {
    fn price(&self, second: u64) -> u64 {
        self.prices.iter().rev().find(|step| step.0 <= second).unwrap().1
    }

    /// The fee as a rate, in hundredths an hour: down to a whole millionth.
    fn fee_rate(&self) -> f64 {
        (self.fee * 10_000 * 3600 / (self.until - self.from)) as f64 / 1e4
    }

    fn is_there(&self, second: u64) -> bool {
        let priced = self.bid.is_none_or(|bid| self.price(second) < bid);
        self.from <= second && second < self.until && priced
    }

    fn text(&self, two: bool) -> String {
        let memory = if two { format!(", memory = {}", self.memory) } else { String::new() };
        let steps: Vec<String> = self
            .prices
            .iter()
            .map(|(at, price)| format!("[{at}, {}.{:02}]", price / 100, price % 100))
            .collect();
        let price = match self.prices.len() {
            1 => format!("{}.{:02}", self.prices[0].1 / 100, self.prices[0].1 % 100),
            _ => format!("[{}]", steps.join(", ")),
        };
        let mut text = format!(
            "[[contribution]]\ntenant = \"{}\"\nplan = \"{}\"\ncount = {}\nfrom = {}\nuntil = {}\n\
             price = {price}\ninstance = \"i{}-{}-{}\"\n",
            TENANTS[self.tenant],
            self.plan,
            self.count,
            self.from,
            self.until,
            self.cpu,
            self.memory,
            self.weight
        );
        let fee = (self.fee > 0).then_some(("fee", self.fee));
        let bid = self.bid.map(|bid| ("bid", bid));
        for (key, value) in fee.into_iter().chain(bid) {
            writeln!(text, "{key} = {}.{:02}", value / 100, value % 100).unwrap();
        }
        if let Some(billing) = self.billing {
            writeln!(text, "billing = {billing}").unwrap();
        }
        let instance = format!(
            "[[instance]]\nname = \"i{}-{}-{}\"\nweight = {}\ncapacity = {{ cpu = {}{memory} }}\n",
            self.cpu, self.memory, self.weight, self.weight, self.cpu
        );
        instance + &text
    }
}

impl World {
    fn text(&self) -> String {
        let memory = if self.two { ", { name = \"memory\", unit = \"milli\" }" } else { "" };
        let mut text = format!(
            "[cluster]\nresources = [\"cpu\"{memory}]\n[accounts]\nentitled = \"{}\"\nvalue = \
             \"{}\"\nevery = 3\n[run]\nuntil = {END}\n",
            self.entitled, self.value
        );
        TENANTS.iter().for_each(|name| writeln!(text, "[[queue]]\nname = \"{name}\"").unwrap());
        let mut known = std::collections::BTreeSet::new();
        for given in &self.given {
            let all = given.text(self.two);
            let (instance, rest) = all.split_at(all.find("[[contribution]]").unwrap());
            if known.insert(instance.to_owned()) {
                text += instance;
            }
            text += rest;
        }
        for work in &self.work {
            let memory = if self.two { format!(", memory = {}", work.memory) } else { "".into() };
            writeln!(
                text,
                "[[job]]\nqueue = \"{}\"\nsubmit = {}\ntasks = {}\nduration = {}\ndemand = {{ cpu \
                 = {}{memory} }}",
                TENANTS[work.tenant], work.submit, work.tasks, work.seconds, work.cpu
            )
            .unwrap();
        }
        text
    }

    /// paid, contributed, entitled, received, worth, balance of each tenant that contributes.
    fn twin(&self, log: &[Value], end: u64) -> BTreeMap<usize, [f64; 6]> {
        let runs = intervals(log, self.two);
        let kinds = if self.two { 2 } else { 1 };
        let has = |given: &Given, kind: usize| {
            (given.weight * given.count * [given.cpu, given.memory][kind]) as f64
        };
        let all: Vec<usize> = (0..TENANTS.len())
            .filter(|tenant| self.given.iter().any(|given| given.tenant == *tenant))
            .collect();
        let mut most = [0f64; 2];
        for second in 0..10 * END {
            let there = self.given.iter().filter(|given| given.is_there(second));
            let mut sum = [0f64; 2];
            there.for_each(|given| (0..kinds).for_each(|kind| sum[kind] += has(given, kind)));
            (0..kinds).for_each(|kind| most[kind] = most[kind].max(sum[kind]));
        }
        let nothing = || all.iter().map(|tenant| (*tenant, [0f64; 2])).collect::<BTreeMap<_, _>>();
        let (mut paid, mut value, mut received) = (nothing(), nothing(), nothing());
        let (mut contributed, mut entitled, mut given_worth) = (nothing(), nothing(), nothing());
        for second in 0..end {
            let there: Vec<&Given> =
                self.given.iter().filter(|given| given.is_there(second)).collect();
            let rate = |given: &&Given| {
                let fee = given.fee_rate();
                given.count as f64 * (given.price(second) as f64 + fee) / 100.0 / 3600.0
            };
            let mut capacity = [0f64; 2];
            there
                .iter()
                .for_each(|given| (0..2).for_each(|kind| capacity[kind] += has(given, kind)));
            let all_paid: f64 = there.iter().map(rate).sum();
            for &tenant in &all {
                let own = || there.iter().filter(|given| given.tenant == tenant);
                let pays: f64 = own().map(rate).sum();
                paid.get_mut(&tenant).unwrap()[0] += pays;
                let gives = |kind| own().map(|given| has(given, kind)).sum::<f64>();
                contributed.get_mut(&tenant).unwrap()[0] += gives(0);
                let part: f64 = (0..kinds)
                    .map(|kind| gives(kind) / capacity[kind].max(1e-9) / kinds as f64)
                    .sum();
                given_worth.get_mut(&tenant).unwrap()[0] += all_paid * part;
                if all_paid > 0.0 {
                    let part = if self.entitled == "paid" { pays / all_paid } else { part };
                    entitled.get_mut(&tenant).unwrap()[0] += part * capacity[0];
                }
                for run in runs.iter().filter(|run| run.tenant == tenant && run.covers(second)) {
                    let number: usize = run.node.split('-').nth(1).unwrap().parse().unwrap();
                    let weight = self.given[number].weight as f64;
                    received.get_mut(&tenant).unwrap()[0] += run.demand[0] * weight;
                    for kind in 0..kinds {
                        let price = match self.value {
                            "price" => all_paid / capacity[kind],
                            _ => 1.0 / most[kind],
                        };
                        value.get_mut(&tenant).unwrap()[kind] += run.demand[kind] * weight * price;
                    }
                }
            }
        }
        for given in self.given.iter().filter(|given| given.from <= end) {
            let spread = given.fee_rate() * (given.until - given.from) as f64 / 3600.0;
            paid.get_mut(&given.tenant).unwrap()[0] +=
                (given.fee as f64 - spread) / 100.0 * given.count as f64;
            let (mut since, mut second) = (None, given.from);
            while second <= end.min(given.until) {
                match (given.is_there(second), since) {
                    (true, None) => since = Some(second),
                    (false, Some(came)) => {
                        let there = second - came;
                        let rest = given.billing.map_or(0, |b| there.div_ceil(b) * b - there);
                        let price = given.price(second - 1) as f64 / 100.0 / 3600.0;
                        paid.get_mut(&given.tenant).unwrap()[0] +=
                            rest as f64 * price * given.count as f64;
                        since = None;
                    }
                    _ => {}
                }
                second += 1;
            }
        }
        let all_paid: f64 = paid.values().map(|paid| paid[0]).sum();
        let most_of = |value: &[f64; 2]| value[0].max(value[1]);
        let all_value: f64 = value.values().map(most_of).sum();
        let all_given: f64 = given_worth.values().map(|given| given[0]).sum();
        let row = |&tenant: &usize| {
            let worth = match all_value > 0.0 {
                true => most_of(&value[&tenant]) * all_paid / all_value,
                false => 0.0,
            };
            let credit = match self.entitled {
                "paid" => paid[&tenant][0],
                _ => given_worth[&tenant][0] * all_paid / all_given,
            };
            let balance = if all_value > 0.0 { credit - worth } else { 0.0 };
            let hours = |of: &BTreeMap<usize, [f64; 2]>| of[&tenant][0] / 3600.0;
            let row = [
                paid[&tenant][0],
                hours(&contributed),
                hours(&entitled),
                hours(&received),
                worth,
                balance,
            ];
            (tenant, row)
        };
        all.iter().map(row).collect()
    }
}

/// A task that ran.
struct Ran {
    tenant: usize,
    node: String,
    demand: [f64; 2],
    from: u64,
    until: u64,
}

impl Ran {
    fn covers(&self, second: u64) -> bool {
        self.from <= second && second < self.until
    }
}

fn intervals(log: &[Value], two: bool) -> Vec<Ran> {
    let (mut demands, mut open, mut done) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for line in log {
        let now = line["t"].as_f64().unwrap() as u64;
        if let Some(arrive) = line.get("arrive") {
            let demand = &arrive["groups"][0]["demand"];
            let memory = if two { demand["memory"].as_f64().unwrap() } else { 0.0 };
            demands
                .insert(arrive["job"].as_u64().unwrap(), [demand["cpu"].as_f64().unwrap(), memory]);
        }
        let key = |value: &Value| (value["job"].as_u64().unwrap(), value["task"].as_u64().unwrap());
        if let Some(start) = line.get("start") {
            let queue = start["queue"].as_str().unwrap();
            let tenant = TENANTS.iter().position(|name| *name == queue).unwrap();
            let node = start["node"].as_str().unwrap().to_owned();
            let demand = demands[&key(start).0];
            open.insert(key(start), Ran { tenant, node, demand, from: now, until: u64::MAX });
        }
        for kind in ["end", "lost", "stop", "fail"] {
            let ended = line.get(kind).and_then(|ended| open.remove(&key(ended)));
            done.extend(ended.map(|ran| Ran { until: now, ..ran }));
        }
    }
    done.extend(open.into_values());
    done
}

fn run(text: &str, policy: &str) -> (RunRecord, Vec<Value>) {
    let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop);
    let scenario = scenario.unwrap_or_else(|why| panic!("{why}\n{text}"));
    let mut log = Vec::new();
    let options =
        SimulateOptions { policies: vec![policy.to_owned()], ..SimulateOptions::default() };
    let mut runs = simulate(&scenario, &options, Some(&mut log), &mut Unwatched).unwrap().runs;
    let lines = String::from_utf8(log).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (runs.remove(0), lines)
}

fn given() -> impl Strategy<Value = Given> {
    let plan = prop_oneof![Just("reserved"), Just("on-demand"), Just("spot")];
    let steps = prop::collection::vec((1u64..20, 1u64..40), 0..4);
    let shape = (1u64..4, 1u64..4, prop_oneof![3 => Just(1u64), 1 => Just(2)], 1u64..4);
    let times = (prop_oneof![2 => Just(0u64), 1 => 1u64..40], 1u64..80);
    let more = (0u64..30, prop::option::of(10u64..40), prop::option::of(5u64..25));
    (0..TENANTS.len(), plan, shape, times, (1u64..40, steps), more).prop_map(
        |(tenant, plan, (cpu, memory, weight, count), (from, long), (first, steps), more)| {
            let mut prices = vec![(0, first)];
            for (after, price) in steps.into_iter().filter(|_| plan != "reserved") {
                prices.push((prices.last().unwrap().0 + after, price));
            }
            let (fee, mut bid, billing) = more;
            // Somebody is there at some time.
            if prices.iter().all(|step| bid.is_some_and(|bid| step.1 >= bid)) || first >= 39 {
                bid = None;
            }
            let mut given = Given {
                tenant,
                plan,
                cpu,
                memory,
                weight,
                count,
                from,
                until: from + long,
                prices,
                fee: if plan == "reserved" { fee } else { 0 },
                bid: bid.filter(|_| plan == "spot"),
                billing: billing.filter(|_| plan != "reserved"),
            };
            if !(given.from..given.until).any(|second| given.is_there(second)) {
                given.bid = None;
            }
            given
        },
    )
}

fn world() -> impl Strategy<Value = World> {
    let work = (0..TENANTS.len(), 0u64..40, 1u64..12, 1u64..15, 1u64..3, 1u64..3).prop_map(
        |(tenant, submit, tasks, seconds, cpu, memory)| Work {
            tenant,
            submit,
            tasks,
            seconds,
            cpu,
            memory,
        },
    );
    let given = prop::collection::vec(given(), 1..6);
    let entitled = prop_oneof![Just("paid"), Just("contributed")];
    let value = prop_oneof![Just("price"), Just("resource")];
    (given, prop::collection::vec(work, 1..8), any::<bool>(), entitled, value).prop_map(
        |(mut given, work, two, entitled, value)| {
            // A node that holds every task, always.
            given.push(Given {
                tenant: 0,
                plan: "on-demand",
                cpu: 3,
                memory: 3,
                weight: 1,
                count: 1,
                from: 0,
                until: 10 * END,
                prices: vec![(0, 7)],
                fee: 0,
                bid: None,
                billing: None,
            });
            World { given, work, two, entitled, value }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn statements_are_what_starts_and_ends_say(world in world()) {
        let text = world.text();
        let other = "as-you-pay,entitled=contributed,value=resource,every=1s";
        for policy in ["as-you-pay", other, "fair", "long-term"] {
            let (record, log) = run(&text, policy);
            let accounts = record.accounts.expect("tenants contribute");
            let twin = world.twin(&log, record.end_s as u64);
            prop_assert_eq!(accounts.accounts.len(), twin.len());
            let scale = accounts.paid.max(accounts.capacity).max(1e-3);
            for one in &accounts.accounts {
                let tenant = TENANTS.iter().position(|name| *name == one.queue).unwrap();
                let got = [one.paid, one.contributed, one.entitled, one.received, one.worth,
                    one.balance];
                for (at, (got, expected)) in got.into_iter().zip(twin[&tenant]).enumerate() {
                    prop_assert!((got - expected).abs() < 1e-9 * scale,
                        "{policy}: {} of {} is {got}, not {expected}\n{text}", at, one.queue);
                }
            }
        }
    }
}

const PLAIN: &str = "\
[cluster]
resources = [\"slot\"]
[[queue]]
name = \"a\"
[[queue]]
name = \"b\"
[[job]]
queue = \"a\"
duration = 60
demand = { slot = 1 }
[[contribution]]
tenant = \"a\"
plan = \"spot\"
capacity = { slot = 2 }
price = 1
";

fn refused(text: &str) -> String {
    let scenario = Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop);
    match scenario {
        Ok(_) => panic!("it is taken:\n{text}"),
        Err(why) => why.to_string(),
    }
}

/// What is wrong is said, with its line.
#[test]
fn contributions_that_cannot_be_are_refused() {
    let more = |key: &str| format!("{PLAIN}{key}\n");
    let instead = |old: &str, new: &str| PLAIN.replace(old, new);
    let cases = [
        (instead("tenant = \"a\"", "tenant = \"z\""), "`z`"),
        (instead("plan = \"spot\"", "plan = \"sport\""), "reserved, on-demand, spot"),
        (instead("plan = \"spot\"", "plan = \"reserved\""), "give until"),
        (instead("price = 1", "price = 0"), "a price of nothing"),
        (instead("price = 1", "price = -1"), "is below zero"),
        (instead("price = 1", "price = 0.1234567"), "more than six decimals"),
        (instead("price = 1", "price = 10000000"), "is above 1000000"),
        (instead("price = 1", ""), "has no price"),
        (instead("price = 1", "price = []"), "has no prices"),
        (instead("price = 1", "price = [[5, 1]]"), "first price"),
        (instead("price = 1", "price = [[0, 1], [0, 2]]"), "behind"),
        (instead("price = 1", "price = { file = \"none.csv\" }"), "none.csv"),
        (more("bid = 1"), "no price is below the bid"),
        (more("fee = 1"), "belongs to the plan reserved"),
        (more("billing = 0"), "above zero"),
        (more("from = 5\nuntil = 5"), "after from"),
        (more("count = 0"), "at least 1"),
        (more("count = 9999999"), "at most"),
        (more("instance = \"m\""), "either instance"),
        (instead("capacity = { slot = 2 }", "instance = \"m\""), "declare it"),
        (more("[accounts]\nentitled = \"all\""), "paid, contributed"),
        (more("[accounts]\nvalue = \"all\""), "price, resource"),
        (more("[accounts]\nevery = 0"), "above zero"),
        (more("[[cluster.node]]\ncapacity = { slot = 1 }"), "nodes come from"),
        (more("[[change]]\nat = 1\nnode_leaves = \"a-0\""), "follow from"),
        (instead("name = \"b\"", "name = \"b\"\nweight = 2"), "follow from"),
        (instead("demand = { slot = 1 }", "demand = { slot = 3 }"), "fits no node"),
    ];
    for (text, word) in cases {
        let why = refused(&text);
        assert!(why.contains(word), "{why}\nis not about {word}\n{text}");
    }
    let alone =
        format!("{}[accounts]\nevery = 1\n", PLAIN.split("[[contribution]]").next().unwrap());
    let alone = format!("{alone}[[cluster.node]]\ncapacity = {{ slot = 1 }}\n");
    assert!(refused(&alone).contains("without [[contribution]]"));
}

#[test]
fn words_of_the_order_are_checked() {
    let scenario =
        |text: &str| Scenario::parse("s.toml", text, Path::new("."), &[], OnBadLine::Stop).unwrap();
    let here = scenario(PLAIN);
    for words in ["as-you-pay", "as-you-pay, value = resource ,every=1h,placement=best-fit"] {
        assert!(here.check_policy(words).is_ok(), "{words}");
    }
    let cases = [
        ("as-you-pay,value=gold", "price, resource"),
        ("as-you-pay,every=0s", "above zero"),
        ("as-you-pay,resource=slot", "all resources"),
        ("as-you-pay,zzz=1", "zzz"),
        ("as-you-pai", "as-you-pay"),
    ];
    for (words, expected) in cases {
        let why = here.check_policy(words).unwrap_err().to_string();
        assert!(why.contains(expected), "{words}: {why}");
    }
    let node = "[[cluster.node]]\ncapacity = { slot = 1 }\n";
    let nobody = scenario(&(PLAIN.split("[[contribution]]").next().unwrap().to_owned() + node));
    let why = nobody.check_policy("as-you-pay").unwrap_err().to_string();
    assert!(why.contains("needs [[contribution]]"), "{why}");
}
