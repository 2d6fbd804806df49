//! An explanation in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use meed::policy::{KeyUnit, Preset};
use meed::{ResourceKinds, Span, Unit};
use meed_config::text::{clean, counted};
use meed_config::units::{format_amount, format_span};
use meed_replay::explain::{
    AtIs, Bound, Explanation, GangGroup, HeldNode, HeldWithThem, Level, MoveReason, Obstacle,
    Reserved,
};
use meed_workload::table::date_for_people;

/// Nodes of one reservation that are named.
const NODES: usize = 4;

/// Words for one run's resources.
struct Words<'a> {
    told: &'a Explanation,
    kinds: &'a ResourceKinds,
    out: String,
}

pub(crate) fn words(told: &Explanation, kinds: &ResourceKinds) -> String {
    let mut words = Words { told, kinds, out: String::new() };
    words.headline();
    words.books();
    if told.waits {
        words.reservations();
        words.obstacles();
        words.overtaken();
        for level in 0..told.levels.len() {
            words.level(&told.levels[level]);
        }
        words.guard();
        words.leaf();
        words.forecast();
    }
    words.out
}

impl Words<'_> {
    /// A time of the run.
    fn clock(&self, seconds: f64) -> String {
        clock(seconds, self.told.clock_us)
    }

    /// A line, and empty ones before it where `text` begins with line breaks; others are of names.
    fn line(&mut self, text: &str) {
        let line = text.trim_start_matches('\n');
        self.out += &text[..text.len() - line.len()];
        self.out += &clean(line);
        self.out.push('\n');
    }

    fn headline(&mut self) {
        let told = self.told;
        let chosen = match told.at_is {
            AtIs::Given => "",
            AtIs::MiddleOfLongestWait => ", in the middle of its longest wait",
            AtIs::NeverWaited if told.job.is_some() => ", when it arrived",
            AtIs::NeverWaited => ", the start",
        };
        let who = match &told.job {
            Some(job) => format!("Job {} of queue {}", job.job, told.queue),
            None => format!("Queue {}", told.queue),
        };
        self.line(&format!("{who} under {}, at {}{chosen}", told.policy, self.clock(told.at_s)));
        if let Some(job) = &told.job {
            let fate = match (job.refused, job.ended_s) {
                (true, _) => match &job.why_refused {
                    Some(why) => format!("was refused: {why}"),
                    None => "was refused".to_owned(),
                },
                (false, Some(ended)) => format!("ended at {}", self.clock(ended)),
                (false, None) => "had not ended when the record does".to_owned(),
            };
            let longest = match job.longest_wait_s {
                0.0 => "it never waited".to_owned(),
                wait => format!("its longest wait was {}", length(wait)),
            };
            self.line(&format!(
                "It arrived at {} and {fate}; {longest}.",
                self.clock(job.arrived_s)
            ));
        } else if told.at_is == AtIs::NeverWaited {
            self.line("It never waited.");
        }
        let running = told.job.as_ref().filter(|job| job.running_tasks > 0);
        let running = running
            .map_or(String::new(), |job| format!("; {}", tasks_that(job.running_tasks, "run")));
        match told.waiting_since_s {
            Some(since) if told.job.is_some() => self.line(&format!(
                "{} of it {}, the first for {} by now{running}.",
                tasks(told.waiting_tasks),
                of_number(told.waiting_tasks, "wait"),
                length(told.at_s - since)
            )),
            Some(since) => self.line(&format!(
                "{}. {} have passed since its last start, or since it began to wait.",
                tasks_that(told.waiting_tasks, "wait"),
                length(told.at_s - since)
            )),
            None => self.line(&format!("Nothing of it waits at that time{running}.")),
        }
    }

    fn books(&mut self) {
        let state = &self.told.state;
        if state.measured.is_empty() {
            return;
        }
        let of = state.measured.clone();
        let (amount, used) = (|n: f64| self.amount(&of, n), |n: f64| self.used(&of, n));
        let rho = state.rho.map_or("-".to_owned(), |rho| format!("{rho:.3}"));
        let mut text = format!("\nBooks of queue {} ({})\n", clean(&self.told.queue), clean(&of));
        let rows = [
            (
                "holds",
                format!(
                    "{} of a share of {}; with what waits it wants {}",
                    amount(state.held),
                    amount(state.share),
                    amount(state.demand)
                ),
            ),
            (
                "has used",
                format!("{}, {} charged to it; rho {rho}", used(state.usage), used(state.charged)),
            ),
            (
                "balance",
                format!(
                    "{}: lent {}, borrowed {}",
                    used(state.balance),
                    used(state.lent),
                    used(state.borrowed)
                ),
            ),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "  {name:<9} {}", clean(&value));
        }
        self.out += &text;
    }

    fn reservations(&mut self) {
        const LISTED: usize = 5;
        let told = self.told;
        for held in told.reservations.iter().take(LISTED) {
            self.reservation(held);
        }
        let more = told.reservations.len().saturating_sub(LISTED);
        if more > 0 {
            self.line(&format!("  and {more} more reservations"));
        }
    }

    fn reservation(&mut self, held: &Reserved) {
        let (now, zero) = (self.told.at_s, self.told.clock_us);
        let since = format!("since {}", self.clock(held.since_s));
        let from = |expected: Option<f64>| match expected {
            None if held.reclaims => "as soon as tasks have stopped that were told to".to_owned(),
            Some(at) => format!("from {} on, in {}", clock(at, zero), length(at - now)),
            None if held.drained => "it was put off once; what comes free there is kept".to_owned(),
            None => "nobody knows from when on, and what comes free there is kept".to_owned(),
        };
        let whom = match held.tasks {
            1 => "a task".to_owned(),
            together => format!("the {together} tasks that start together"),
        };
        self.line(&format!("\nRoom is held for {whom} of job {} ({since})", held.job));
        self.line(&format!("  where     {}: {}", self.places(held), from(held.expected_s)));
        for node in held.nodes.iter().take(NODES) {
            self.held_node(node, held.nodes.len() > 1);
        }
        self.moves(held);
    }

    /// What is held on each node.
    fn places(&self, held: &Reserved) -> String {
        let asks = self.amounts(&held.demand);
        let place = |node: &HeldNode| match (node.tasks, held.tasks) {
            (1, 1) => format!("{asks} on {}", node.node),
            (own, _) => {
                let own = (own > 0).then(|| format!("{own} x {asks}"));
                let other =
                    |it: &HeldWithThem| format!("{} x {}", it.tasks, self.amounts(&it.demand));
                let all: Vec<String> =
                    own.into_iter().chain(node.others.iter().map(other)).collect();
                format!("{} on {}", all.join(" and "), node.node)
            }
        };
        let mut places: Vec<String> = held.nodes.iter().take(NODES).map(place).collect();
        if let Some(more) = held.nodes.len().checked_sub(NODES).filter(|more| *more > 0) {
            places.push(format!("{more} nodes more"));
        }
        match held.spares {
            0 => places.join(", "),
            _ => format!("{}, whichever has room first", places.join(" or ")),
        }
    }

    /// Who is on a node where room is held; `several`: it is one of them.
    fn held_node(&mut self, held: &HeldNode, several: bool) {
        let there = if several { format!("on {}", held.node) } else { "there".to_owned() };
        let running = tasks(held.running as u64);
        self.line(&format!("  free now  {}; {running} run {there}", self.amounts(&held.free)));
        for holder in &held.holders {
            let ends = match (holder.ends_s, holder.is_over) {
                (None, _) => "nobody knows until when".to_owned(),
                (Some(at), false) => format!("expected until {}", self.clock(at)),
                (Some(at), true) => format!("longer than expected, now until {}", self.clock(at)),
            };
            let demand = self.amounts(&holder.demand);
            let (queue, job) = (&holder.queue, &holder.job);
            let each = if holder.tasks == 1 { "" } else { " each" };
            self.line(&format!(
                "  held by   {} of job {job} of {queue}, {demand}{each}: {ends}",
                tasks(holder.tasks)
            ));
        }
        let named: u64 = held.holders.iter().map(|holder| holder.tasks).sum();
        if (held.running as u64) > named {
            self.line(&format!("            and {} more", tasks(held.running as u64 - named)));
        }
    }

    fn moves(&mut self, held: &Reserved) {
        const LISTED: usize = 6;
        let times = match held.put_off {
            0 => "never".to_owned(),
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        self.line(&format!("  put off   {times}"));
        let hidden = held.moves.len().saturating_sub(LISTED);
        if hidden > 0 {
            self.line(&format!("  moved     {hidden} times before"));
        }
        for step in &held.moves[hidden..] {
            let zero = self.told.clock_us;
            let at = |time: Option<f64>| {
                time.map_or("no known time".to_owned(), |time| clock(time, zero))
            };
            let place = match step.from == step.to {
                true => String::new(),
                false => format!("from {} to {}, ", step.from.join(", "), step.to.join(", ")),
            };
            let why = match step.why {
                MoveReason::Better => "room came free",
                MoveReason::NodeWent => "nothing new may start there any more",
                MoveReason::Overran => "what held its room ran longer than was expected",
                MoveReason::Reclaims => "tasks are stopped for it there",
            };
            let (before, expected) = (at(step.before_s), at(step.expected_s));
            let when = match before == expected {
                true => format!("still {expected}"),
                false => format!("{before} to {expected}"),
            };
            self.line(&format!("  moved     at {}: {place}{when}: {why}", self.clock(step.at_s)));
        }
    }

    fn overtaken(&mut self) {
        let Some(overtaken) = &self.told.overtaken else { return };
        let by: Vec<String> = overtaken
            .by
            .iter()
            .map(|overtaker| format!("{}: {}", overtaker.queue, overtaker.times))
            .collect();
        self.line(&format!(
            "\nOvertaken: {} that began to wait later and ask for less have started ({})",
            tasks(overtaken.times),
            by.join(", ")
        ));
        if self.told.reservations.is_empty() {
            self.line("  when_blocked = \"reserve\" holds room for the task that is first in turn");
        }
    }

    fn obstacles(&mut self) {
        if self.told.obstacles.is_empty() && !self.told.reservations.is_empty() {
            return;
        }
        self.line("\nWhat stands in the way");
        if self.told.obstacles.is_empty() {
            self.line("  nothing: it is next");
        }
        for obstacle in &self.told.obstacles {
            let (kind, text) = self.obstacle(obstacle);
            self.line(&format!("  {kind:<9} {text}"));
            if let Obstacle::Gang { groups, .. } = obstacle {
                let lacks = groups.iter().any(|group| group.alone < group.tasks);
                groups.iter().for_each(|group| self.line(&self.gang_group(group, lacks)));
            }
        }
    }

    /// Whether a group of a gang has room; `lacks`: some group has not, even by itself.
    fn gang_group(&self, group: &GangGroup, lacks: bool) -> String {
        let (asks, all) = (self.amounts(&group.demand), group.tasks);
        let each = if all == 1 { "" } else { " each" };
        let of = format!("{} of {asks}{each}", tasks(all));
        let room = match (lacks, group.beside) {
            (true, _) if group.alone < all => {
                let (alone, on) = (group.alone, nodes(group.nodes));
                format!("{alone} would fit on the {on} allowed, {} missing", all - alone)
            }
            (true, _) => "would fit".to_owned(),
            (false, Some(beside)) if beside < all => format!(
                "would fit by itself; {beside} besides the others, {} missing",
                all - beside
            ),
            // Without it the others do not fit, either.
            (false, _) => "would fit by itself".to_owned(),
        };
        format!("            group {}, {of}: {room}", group.group + 1)
    }

    fn obstacle(&self, obstacle: &Obstacle) -> (&'static str, String) {
        match obstacle {
            Obstacle::Quota { queue, bounds, together } => {
                let who = match together {
                    Some(all) => format!("the {all} tasks that start together ask"),
                    None => "a task asks".to_owned(),
                };
                let each = |bound: &Bound| {
                    let most = bound.most.unwrap_or(0.0);
                    let name = &bound.resource;
                    let never = match bound.asks > most {
                        true => ", which is never below it",
                        false => "",
                    };
                    format!(
                        "{name}: holds {} of at most {}, {who} for {}{never}",
                        self.amount(name, bound.has),
                        self.amount(name, most),
                        self.amount(name, bound.asks)
                    )
                };
                let each: Vec<String> = bounds.iter().map(each).collect();
                ("quota", format!("the maximum share of queue {queue}: {}", each.join("; ")))
            }
            Obstacle::Size { short } => {
                ("size", format!("a task is larger than all that is free: {}", self.asked(short)))
            }
            Obstacle::Place { free, most_on_a_node, nodes } => {
                let most: Vec<String> = most_on_a_node
                    .iter()
                    .map(|(name, most)| format!("{name} {}", self.amount(name, *most)))
                    .collect();
                let text = format!(
                    "enough is free in all ({}), but not on one of the {nodes} nodes where it may \
                     run: the nearest has {}",
                    self.asked(free),
                    most.join(", ")
                );
                ("place", text)
            }
            Obstacle::NoNode => (
                "size",
                "a task is larger than any node that is up and where it may run".to_owned(),
            ),
            Obstacle::Gang { together, fit, groups, on } => {
                let of = match groups.len() {
                    0 => String::new(),
                    groups => format!(" of {groups} groups"),
                };
                let on: String =
                    on.iter().map(|(label, value)| format!(", where {label} is {value}")).collect();
                let text =
                    format!("{together} tasks{of} start together, and {fit} of them would fit now");
                ("gang", text + &on)
            }
            Obstacle::Blocked => (
                "blocked",
                "a task that is first in turn fits nowhere, and nobody is served before it"
                    .to_owned(),
            ),
            Obstacle::Turn { ahead } => {
                let each = |(level, count): &(usize, usize)| {
                    let among = &self.told.levels[*level].among;
                    let place =
                        if among.is_empty() { "the root".to_owned() } else { among.clone() };
                    let whose = if *count == 1 {
                        "1 queue is".to_owned()
                    } else {
                        format!("{count} queues are")
                    };
                    format!("{whose} ahead below {place}")
                };
                ("turn", ahead.iter().map(each).collect::<Vec<_>>().join(", "))
            }
            Obstacle::Order { jobs, tasks: count } => {
                let whose = if *jobs == 1 {
                    "1 job of its queue is".to_owned()
                } else {
                    format!("{jobs} jobs of its queue are")
                };
                ("order", format!("{whose} ahead, with {} waiting", tasks(*count)))
            }
        }
    }

    fn asked(&self, bounds: &[Bound]) -> String {
        let each = |bound: &Bound| {
            let name = &bound.resource;
            format!(
                "{name} {} asked for, {} free",
                self.amount(name, bound.asks),
                self.amount(name, bound.has)
            )
        };
        bounds.iter().map(each).collect::<Vec<_>>().join("; ")
    }

    fn level(&mut self, level: &Level) {
        let among = if level.among.is_empty() { "the root" } else { &level.among };
        let preset = Preset::find(level.order);
        let unit = preset.map_or(String::new(), |preset| preset.key.replace("{}", &level.resource));
        self.line(&format!(
            "\nOrder below {among}: {}, by {unit}; the smallest is served",
            level.order
        ));
        let mut rows: Vec<[String; 4]> =
            vec![["queue", "key", "difference", "can it start now?"].map(str::to_owned)];
        // One behind those that are listed is the last.
        let place = level.place.unwrap_or(usize::MAX);
        let place = if place == usize::MAX { place } else { place.min(level.children.len() - 1) };
        for (index, child) in level.children.iter().enumerate() {
            let key = |key: f64| match preset.map(|preset| preset.measure.info().unit) {
                Some(KeyUnit::AmountSeconds) => self.used(&level.resource, key),
                Some(KeyUnit::Amount) => self.amount(&level.resource, key),
                Some(KeyUnit::Number) | None => format!("{key}"),
            };
            let by = |child_key: f64| {
                if child.below_min {
                    format!("{:.0} % of its minimum", child_key * 100.0)
                } else {
                    key(child_key)
                }
            };
            let against = match child.behind_by {
                Some(_) if index == place => String::new(),
                Some(by) if child.below_min => format!("{:+.0} %", by * 100.0),
                Some(by) if by > 0.0 => format!("+{}", key(by)),
                Some(by) => key(by),
                None => "another tier".to_owned(),
            };
            let parked = if child.parked { "no, nothing of it fits" } else { "yes" };
            let mark = if index == place { "> " } else { "" };
            rows.push([
                format!("{mark}{}", child.queue),
                by(child.key),
                against,
                parked.to_owned(),
            ]);
        }
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (queue, key, against) = (width(0), width(1), width(2));
        for row in &rows {
            let [a, b, c, d] = row;
            let text = format!("  {a:<queue$}  {b:>key$}  {c:>against$}  {d}");
            self.line(text.trim_end());
        }
        let more = level.waiting - level.children.len();
        match more {
            0 => {}
            1 => self.line("  and 1 more queue that waits"),
            _ => self.line(&format!("  and {more} more queues that wait")),
        }
    }

    fn guard(&mut self) {
        let Some(guard) = &self.told.guard else { return };
        let left = guard.t_wait_s - guard.waited_s;
        let state = match (left > 0.0, guard.before.len()) {
            (true, _) => format!("not before another {}", length(left)),
            (false, 0) => "it is its turn".to_owned(),
            (false, others) => format!("after {others} that have used less of their shares"),
        };
        self.line(&format!(
            "\nStarvation guard: out of turn after {} without service; it has waited {}: {state}",
            length(guard.t_wait_s),
            length(guard.waited_s)
        ));
    }

    fn leaf(&mut self) {
        let Some(leaf) = self.told.leaf.as_ref().filter(|leaf| leaf.jobs_ahead > 0) else { return };
        let mut text = format!(
            "\nOrder within queue {}: {}; ahead are\n",
            clean(&self.told.queue),
            leaf.order
        );
        for job in &leaf.first {
            let demand = self.amounts(&job.demand);
            let of = match job.joint {
                true => format!("that start together, of {demand} in all"),
                false => format!("of {demand} each"),
            };
            let (name, waiting) = (clean(&job.job), tasks(job.waiting_tasks));
            let _ = writeln!(text, "  job {name}: {waiting} {}", clean(&of));
        }
        if leaf.jobs_ahead > leaf.first.len() as u64 {
            let _ = writeln!(text, "  and {} more jobs", leaf.jobs_ahead - leaf.first.len() as u64);
        }
        self.out += &text;
    }

    fn forecast(&mut self) {
        let told = self.told;
        let Some(forecast) = &told.forecast else { return };
        let at = |time: Option<f64>| {
            time.map_or("never".to_owned(), |time| {
                format!("at {}, after {}", clock(time, told.clock_us), length(time - told.at_s))
            })
        };
        self.line("\nIf nothing arrived or changed from here on");
        self.line(&format!("  its next task would start {}", at(forecast.first_start_s)));
        self.line(&format!(
            "  all that wait now would have started {}",
            at(forecast.all_started_s)
        ));
        let recorded = told.recorded_start_s;
        match recorded {
            Some(_) => self.line(&format!("In the record its next task started {}", at(recorded))),
            None => self.line("In the record none of its tasks starts after that"),
        }
    }

    fn unit(&self, name: &str) -> Unit {
        self.kinds.find(name).map_or(Unit::Milli, |kind| self.kinds.unit(kind))
    }

    /// An amount in natural units.
    fn amount(&self, name: &str, amount: f64) -> String {
        amount_of(self.unit(name), amount)
    }

    /// What is asked for, held or free, by resource.
    fn amounts(&self, amounts: &BTreeMap<String, f64>) -> String {
        let each =
            |(name, amount): (&String, &f64)| format!("{name} {}", self.amount(name, *amount));
        amounts.iter().map(each).collect::<Vec<_>>().join(", ")
    }

    /// A resource x time.
    fn used(&self, name: &str, seconds: f64) -> String {
        used_of(name, self.unit(name), seconds)
    }
}

/// An amount of a resource in this unit.
pub(crate) fn amount_of(unit: Unit, amount: f64) -> String {
    match unit {
        Unit::Milli => plain(amount),
        Unit::Bytes => {
            let sign = if amount < 0.0 { "-" } else { "" };
            // Whole MiB are fine enough once there are many.
            let bytes = amount.abs() as u64;
            let bytes = if bytes >= 16 << 30 { bytes >> 20 << 20 } else { bytes };
            format!("{sign}{}", format_amount(bytes, Unit::Bytes))
        }
    }
}

/// So much of the resource `name` x time.
pub(crate) fn used_of(name: &str, unit: Unit, seconds: f64) -> String {
    let (number, unit) = match unit {
        Unit::Milli => (seconds, name.to_owned()),
        Unit::Bytes => (seconds / (1u64 << 30) as f64, format!("{name}-GiB")),
    };
    match number.abs() >= 3600.0 {
        true => format!("{:.1} {unit}-h", number / 3600.0),
        false => format!("{} {unit}-s", plain((number * 10.0).round() / 10.0)),
    }
}

fn plain(number: f64) -> String {
    let text = format!("{number:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn nodes(count: u64) -> String {
    counted(count, "node")
}

/// `1 task waits`, `2 tasks wait`
fn tasks_that(count: u64, verb: &str) -> String {
    format!("{} {}", tasks(count), of_number(count, verb))
}

/// The verb of so many: of one it ends in an `s`.
fn of_number(count: u64, verb: &str) -> String {
    format!("{verb}{}", if count == 1 { "s" } else { "" })
}

fn tasks(count: u64) -> String {
    counted(count, "task")
}

/// A time of the run, and what the clock said then where it is known what it said at time 0.
pub(crate) fn clock(seconds: f64, zero_us: Option<u64>) -> String {
    match zero_us {
        None => length(seconds),
        Some(zero) => {
            let date = date_for_people(zero.saturating_add((seconds.max(0.0) * 1e6) as u64));
            format!("{} ({date})", length(seconds))
        }
    }
}

/// A length of time as people read it: to the second from a minute on, to the millisecond below.
fn length(seconds: f64) -> String {
    let rounded =
        if seconds >= 60.0 { seconds.round() } else { (seconds * 1000.0).round() / 1000.0 };
    Span::from_secs_f64(rounded.max(0.0)).map_or_else(|| format!("{seconds} s"), format_span)
}
