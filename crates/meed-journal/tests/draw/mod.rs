//! Random records, of every kind.

use meed::{Labels, MAX_MICROS, Span, Time, Unit};
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use meed_config::number::{Exact, Number};
use meed_journal::*;
use proptest::option::of;
use proptest::prelude::*;

pub(crate) fn record() -> impl Strategy<Value = Record> {
    let kinds = prop_oneof![about_jobs(), about_tasks(), about_the_cluster(), about_the_run()];
    (any::<u64>(), time(), kinds).prop_map(|(seq, t, fact)| Record { seq, t, fact })
}

fn micros() -> impl Strategy<Value = u64> {
    prop_oneof![0..=MAX_MICROS, 0u64..100_000_000, Just(0), MAX_MICROS - 9..=MAX_MICROS]
}

fn time() -> BoxedStrategy<Time> {
    micros().prop_map(|micros| Time::from_micros(micros).expect("in range")).boxed()
}

fn span() -> BoxedStrategy<Span> {
    micros().prop_map(|micros| Span::from_micros(micros).expect("in range")).boxed()
}

fn name() -> BoxedStrategy<Name> {
    prop_oneof!["[a-z.]{0,6}", ".{0,4}", Just("\"\\\u{1}\u{2028}ä".to_owned())]
        .prop_map(|text| Name::from(text.as_str()))
        .boxed()
}

fn key() -> BoxedStrategy<JobKey> {
    prop_oneof![any::<u64>().prop_map(JobKey::Number), name().prop_map(JobKey::Text)].boxed()
}

/// Null is nothing: what a world says is something else.
fn detail() -> BoxedStrategy<Detail> {
    let value = prop_oneof![
        Just(serde_json::json!({"phases": [1, 2.5, "x"], "none": null})),
        any::<i64>().prop_map(|number| serde_json::json!(number)),
        ".{0,3}".prop_map(|text| serde_json::json!(text)),
    ];
    of(value.prop_map(Box::new)).boxed()
}

fn amounts() -> BoxedStrategy<Amounts> {
    let number = (micros(), prop_oneof![Just(Unit::Milli), Just(Unit::Bytes)])
        .prop_map(|(amount, unit)| Number::from(Exact::amount(amount, unit)));
    prop::collection::vec((name(), number), 0..4).prop_map(|all| all.into_iter().collect()).boxed()
}

fn labels() -> BoxedStrategy<Labels> {
    prop::collection::btree_map("[a-z]{1,3}", ".{0,3}", 0..3).boxed()
}

fn words() -> BoxedStrategy<String> {
    ".{0,9}".boxed()
}

fn keys() -> BoxedStrategy<Keys> {
    prop::collection::vec(("[a-z_]{1,5}", words()), 0..3)
        .prop_map(|all| all.into_iter().map(|(key, text)| (key, text.into())).collect())
        .boxed()
}

prop_compose! {
    fn group()(
        stage in 0u16..3,
        tasks in any::<u32>(),
        demand in amounts(),
        durations in prop::collection::vec(span(), 0..4),
        zone in of(words()),
        distinct_nodes in any::<bool>(),
        (limit, checkpoint) in (of(span()), of(span())),
        (least, same) in (of(2i64..9), of(words())),
    ) -> Group {
        let require = zone.map(|zone| ("zone".to_owned(), vec![zone])).into_iter().collect();
        let form = ConstraintsForm { require, forbid: Default::default(), distinct_nodes };
        let gang = least.map(GangForm::Least);
        let constraints = (form != ConstraintsForm::default()).then(|| Box::new(form));
        Group { stage, tasks, demand, durations, constraints, limit, checkpoint, gang, same }
    }
}

fn groups() -> BoxedStrategy<Vec<Group>> {
    prop::collection::vec(group(), 0..3).boxed()
}

prop_compose! {
    fn arrival()(
        (queue, job, name) in (name(), key(), of(key())),
        weight in 0u64..=1 << 53,
        (chain, pause, not_before, limit) in (of(any::<u32>()), of(span()), of(time()), of(span())),
        (open, max_attempts) in (any::<bool>(), of(any::<u16>())),
        (groups, later, submitted) in (groups(), groups(), groups()),
        detail in detail(),
    ) -> Arrival {
        Arrival {
            queue, job, name, weight, chain, pause, not_before, limit, max_attempts, open, groups,
            later, submitted, detail,
        }
    }
}

fn about_jobs() -> BoxedStrategy<Fact> {
    let refused = (words(), arrival()).prop_map(|(why, arrival)| Refusal { why, arrival });
    let added = (key(), 0u16..3, groups(), any::<bool>())
        .prop_map(|(job, stage, groups, open)| TasksAdded { job, stage, groups, open });
    let outcome = prop_oneof![Just(Outcome::Done), Just(Outcome::Failed), Just(Outcome::Cancelled)];
    prop_oneof![
        arrival().prop_map(|job| Fact::JobArrived(Box::new(job))),
        refused.prop_map(|refused| Fact::JobRefused(Box::new(refused))),
        added.prop_map(Fact::TasksAdded),
        (key(), 0u64..=1 << 53)
            .prop_map(|(job, weight)| Fact::JobChanged(JobChanged { job, weight })),
        (of(key()), of(key())).prop_map(|(job, name)| Fact::JobCancelled(Cancelled { job, name })),
        (key(), outcome, detail()).prop_map(|(job, outcome, detail)| Fact::JobEnded(JobEnd {
            job,
            outcome,
            detail
        })),
    ]
    .boxed()
}

prop_compose! {
    fn choice()(
        (chosen, runner_up) in (name(), of(name())),
        (value, below_min) in (any::<f64>(), any::<bool>()),
        other in of(-1e300..1e300),
    ) -> LevelChoice {
        let value = if value.is_finite() { value } else { 0.0 };
        let runner_up_key = other.map(|value| KeyForm { value, below_min: false });
        LevelChoice { chosen, key: KeyForm { value, below_min }, runner_up, runner_up_key }
    }
}

prop_compose! {
    fn start()(
        (queue, job, node) in (name(), key(), name()),
        (task, attempt, failures) in (any::<u32>(), 0u32..3, 0u16..3),
        (by, since) in (of(name()), of(time())),
        reason in of((
            prop::collection::vec(choice(), 0..3), of(span()), of(span()), of(2u32..9), words(),
        )),
        detail in detail(),
    ) -> Started {
        let reason = reason.map(|(levels, starved_for, reserved_for, gang, place)| {
            let place = place.into();
            Box::new(StartReason { levels, starved_for, reserved_for, gang, place })
        });
        Started { queue, job, task, attempt, node, failures, by, since, reason, detail }
    }
}

prop_compose! {
    fn task()(
        (job, task, attempt) in (key(), any::<u32>(), 0u32..3),
        why in of(words()),
        detail in detail(),
    ) -> TaskFact {
        TaskFact { job, task, attempt, why: why.map(Into::into), detail }
    }
}

prop_compose! {
    fn reclaimed()(
        (queue, job, node) in (name(), key(), name()),
        (task, attempt) in (any::<u32>(), 0u32..3),
        (ran, grace, waited) in (span(), span(), span()),
        (winner, winner_job, first, last) in (name(), key(), name(), name()),
        (low, high, below_min) in (-1e300..1e300, -1e300..1e300, any::<bool>()),
    ) -> Reclaimed {
        let (first_key, last_key) =
            (KeyForm { value: low, below_min }, KeyForm { value: high, below_min: false });
        let winner = ReclaimedFor {
            queue: winner, job: winner_job, waited, first, first_key, last, last_key,
        };
        Reclaimed { queue, job, task, attempt, node, ran, grace, winner }
    }
}

pub(crate) fn about_tasks() -> BoxedStrategy<Fact> {
    let moved = (key(), any::<u32>(), 0u32..3, name())
        .prop_map(|(job, task, attempt, node)| Moved { job, task, attempt, node });
    prop_oneof![
        start().prop_map(Fact::TaskStarted),
        task().prop_map(Fact::StartFailed),
        task().prop_map(Fact::TaskEnded),
        task().prop_map(Fact::TaskFailed),
        task().prop_map(Fact::TaskLost),
        task().prop_map(Fact::TaskWithdrawn),
        reclaimed().prop_map(|told| Fact::TaskReclaimed(Box::new(told))),
        task().prop_map(Fact::TaskStopped),
        moved.prop_map(Fact::TaskMoved),
    ]
    .boxed()
}

prop_compose! {
    fn node()(
        name in name(),
        capacity in amounts(),
        weight in 0u64..20_000,
        labels in labels(),
        of_share in any::<bool>(),
        detail in detail(),
    ) -> NodeEntry {
        NodeEntry { name, capacity, weight, labels, of_share, detail }
    }
}

prop_compose! {
    fn queue()(
        queue in name(),
        weight in 1u64..1_000_000_000,
        (min, max) in (of(amounts()), of(amounts())),
        policy in of(keys()),
        own in keys(),
    ) -> QueueEntry {
        QueueEntry { queue, weight, min, max, policy, own }
    }
}

fn about_the_cluster() -> BoxedStrategy<Fact> {
    let mark = || {
        (name(), any::<bool>(), of(words())).prop_map(|(name, of_share, why)| NodeMark {
            name,
            of_share,
            why,
        })
    };
    let resized = (name(), amounts(), any::<bool>(), any::<bool>()).prop_map(
        |(name, capacity, keeps_tasks, of_share)| NodeAmounts {
            name,
            capacity,
            keeps_tasks,
            of_share,
        },
    );
    let rank = (any::<u64>(), any::<u32>(), any::<std::num::NonZeroU32>(), of(any::<u64>()))
        .prop_map(|(amount, step, per, quota)| RankForm { amount, step, per, quota });
    let changed = (name(), of(0u64..9999), of(of(amounts())), of(of(amounts())), of(rank))
        .prop_map(|(name, weight, min, max, rank)| QueueChanged { name, weight, min, max, rank });
    prop_oneof![
        node().prop_map(|node| Fact::NodeJoined(Box::new(node))),
        mark().prop_map(Fact::NodeLeft),
        resized.prop_map(Fact::NodeResized),
        mark().prop_map(Fact::NodeCordoned),
        mark().prop_map(Fact::NodeUncordoned),
        (name(), labels())
            .prop_map(|(name, labels)| Fact::NodeRelabelled(Relabelled { name, labels })),
        (name(), amounts())
            .prop_map(|(name, used)| Fact::NodeUsedByOthers(UsedByOthers { name, used })),
        any::<bool>().prop_map(|waits| Fact::Infeasible(Unplaceable { waits })),
        queue().prop_map(|queue| Fact::QueueAdded(Box::new(queue))),
        changed.prop_map(|change| Fact::QueueChanged(Box::new(change))),
        name().prop_map(|name| Fact::QueueRemoved(QueueMark { name })),
        (of(keys()), prop::collection::vec((name(), keys()), 0..3)).prop_map(|(root, queues)| {
            let policy = |(name, policy)| QueuePolicy { name, policy };
            let queues = queues.into_iter().map(policy).collect();
            Fact::PoliciesChanged(Box::new(PoliciesChanged { root, queues }))
        }),
    ]
    .boxed()
}

prop_compose! {
    fn header()(
        (world, scenario, policy, measured, text) in
            (words(), words(), words(), words(), words()),
        epoch_us in of(any::<u64>()),
        seed in any::<u64>(),
        resources in prop::collection::vec("[a-z]{1,4}", 0..4),
        (partitioned, slots_per_server) in (any::<bool>(), of(any::<u32>())),
        max_attempts in any::<u16>(),
        (fails, until, rules) in (of(0u64..999), of(time()), of(1u32..9)),
        (root, base) in (keys(), of(keys())),
        policies in prop::collection::btree_map("[a-z]{1,3}", keys(), 0..2),
        nodes in prop::collection::vec(node(), 0..3),
        queues in prop::collection::vec(queue(), 0..3),
        assumptions in prop::collection::vec(words(), 0..2),
        detail in detail(),
        more in of(words()),
    ) -> Header {
        Header {
            schema: SCHEMA,
            rules,
            world,
            epoch_us,
            scenario,
            policy,
            seed,
            units: resources.iter().map(|name| match name.len() % 2 {
                0 => UnitName::Milli,
                _ => UnitName::Bytes,
            }).collect(),
            resources,
            measured,
            partitioned,
            placement: "first-fit".to_owned(),
            slots_per_server,
            max_attempts,
            checkpoint: None,
            fail_rate: fails.map(|fails| Exact::amount(fails, Unit::Milli).into()),
            until,
            root,
            base,
            policies,
            nodes,
            queues,
            assumptions,
            scenario_text: text,
            detail,
            more: more.map(|words| ("newer".to_owned(), words.into())).into_iter().collect(),
        }
    }
}

fn about_the_run() -> BoxedStrategy<Fact> {
    let opened = (words(), of(any::<u64>())).prop_map(|(by, epoch_us)| Opened { by, epoch_us });
    prop_oneof![
        header().prop_map(|header| Fact::Run(Box::new(header))),
        opened.prop_map(Fact::Open),
        (any::<u64>(), any::<u64>())
            .prop_map(|(was_us, epoch_us)| Fact::Clock(ClockStep { was_us, epoch_us })),
        Just(Fact::TimePassed(Decide {})),
        (name(), detail()).prop_map(|(about, detail)| Fact::Note(Note { about, detail })),
        (any::<u64>(), of(words()))
            .prop_map(|(through, place)| Fact::Snapshot(SnapshotTaken { through, place })),
        (any::<u64>(), any::<u64>(), detail()).prop_map(|(events, decisions, detail)| {
            Fact::Finish(Finish { events, decisions, detail })
        }),
    ]
    .boxed()
}
