//! Reservations in cases worked out by hand, and what they promise whatever the plan is.

use crate::common::dice::dice;
use crate::common::*;
use meed::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

pub(crate) fn reserve(name: &str, reservations: Reservations) -> Policy {
    Policy { blocked: Blocked::Reserve(reservations), ..policy(name) }
}

pub(crate) fn tasks(count: u32, wide: u64, limit: Option<u64>) -> TaskGroup {
    TaskGroup {
        limit: limit.map(|seconds| span(seconds * S)),
        ..TaskGroup::new(count, slots(wide))
    }
}

pub(crate) fn arrive(engine: &mut Engine, at: u64, queue: &str, group: TaskGroup) -> JobId {
    let queue = engine.view().find_queue(queue).expect("it is there");
    let groups = [group];
    let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
    match engine.apply(secs(at), Event::JobArrived(spec)) {
        Ok(Effect::Job(id)) => id,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn decide(engine: &mut Engine) -> Vec<Start> {
    let mut starts = Vec::new();
    engine.decide(true, |start| starts.push(start));
    starts
}

/// Eight slots: a task of seven until 10, one of one; a wide one waits. What it leaves open is
/// taken by who ends in time.
fn with_a_wide_one(engine: &mut Engine) -> (AllocationId, JobId) {
    arrive(engine, 0, "A", tasks(1, 7, Some(10)));
    arrive(engine, 0, "A", tasks(1, 1, Some(10)));
    let small = decide(engine)[1].allocation;
    let wide = arrive(engine, 1, "A", tasks(1, 8, Some(5)));
    assert_eq!(decide(engine), []);
    (small, wide)
}

#[test]
fn the_wide_one_is_not_overtaken_by_who_would_delay_it() {
    let config = slots_config(8, &reserve("fifo", Reservations::ONE), &["A", "B"]);
    let mut engine = engine(&config);
    let (small, wide) = with_a_wide_one(&mut engine);
    let held: Vec<ReservationView> = engine.view().reservations().collect();
    assert_eq!((held.len(), held[0].job, held[0].at), (1, wide, Some(secs(10))));
    arrive(&mut engine, 1, "B", tasks(1, 1, None));
    let late = arrive(&mut engine, 1, "B", tasks(1, 1, Some(9)));
    let short = arrive(&mut engine, 1, "B", tasks(1, 1, Some(8)));
    engine.apply(secs(2), Event::TaskEnded(small)).expect("it runs");
    let starts = decide(&mut engine);
    assert_eq!(starts.iter().map(|start| start.job).collect::<Vec<_>>(), [short]);
    assert!(engine.view().reservations().all(|held| held.job == wide && held.job != late));
}

/// Of eight slots seven are used until 10 and one until 2; all are held for the wide one. So one
/// slot is idle from 2 until 4, when it is backfilled, and from 7 until 10. Where that is charged,
/// the queue for which it is held pays for it, and nobody else.
#[test]
fn room_that_is_held_idle_is_measured_and_charged() {
    for charges in [false, true] {
        let policy =
            Policy { charge_reservations: charges, ..reserve("long-term", Reservations::ONE) };
        let config =
            slots_config(8, &Policy { quantum: Quantum::Fixed(Span::ZERO), ..policy }, &["A", "B"]);
        let mut engine = engine(&config);
        arrive(&mut engine, 0, "A", tasks(1, 7, Some(10)));
        arrive(&mut engine, 0, "A", tasks(1, 1, Some(10)));
        let started = decide(&mut engine);
        arrive(&mut engine, 1, "B", tasks(1, 8, Some(5)));
        assert_eq!(decide(&mut engine), []);
        let small = started.iter().map(|start| start.allocation).max();
        engine.apply(secs(2), Event::TaskEnded(small.expect("two"))).expect("it runs");
        assert_eq!(decide(&mut engine), []);
        // Backfilled for three seconds.
        arrive(&mut engine, 4, "A", tasks(1, 1, Some(3)));
        let filled = decide(&mut engine)[0].allocation;
        engine.apply(secs(7), Event::TaskEnded(filled)).expect("it runs");
        decide(&mut engine);
        engine.apply(secs(10), Event::TaskEnded(started[0].allocation)).expect("it runs");
        assert_eq!(decide(&mut engine).len(), 1);
        engine.advance(secs(12)).expect("time goes on");
        let of = |name: &str| engine.view().find_queue(name).expect("it is there");
        let idle = |name: &str| engine.view().integrals(of(name), secs(12)).held_idle[0];
        assert_eq!((idle("A"), idle("B")), (0, u128::from((2 + 3) * S) * 1000));
        let paid = if charges { 5000.0 } else { 0.0 };
        assert_eq!(engine.view().charged(of("B"), secs(12)), 16_000.0 + paid);
        assert_eq!(engine.view().charged(of("A"), secs(12)), 75_000.0);
    }
}

/// It is put off, and counted: nobody else gets its room.
#[test]
fn a_task_that_runs_beyond_its_limit_puts_the_wide_one_off() {
    let config = slots_config(8, &reserve("fair", Reservations::ONE), &["A", "B"]);
    let mut engine = engine(&config);
    let (small, wide) = with_a_wide_one(&mut engine);
    engine.apply(secs(11), Event::TaskEnded(small)).expect("it runs");
    assert_eq!(decide(&mut engine), []);
    let held: Vec<ReservationView> = engine.view().reservations().collect();
    assert_eq!((held[0].job, held[0].at, held[0].moved), (wide, Some(secs(20)), 1));
    assert_eq!(held[0].since, secs(1));
}

/// Queues that stand by arrival stand by what has no reservation, in a restored engine too.
#[test]
fn who_has_a_reservation_is_nobodys_turn_after_a_restart() {
    let config = slots_config(8, &reserve("fifo", Reservations::ONE), &["A", "B"]);
    let mut before = engine(&config);
    let (small, _) = with_a_wide_one(&mut before);
    let first = arrive(&mut before, 1, "B", tasks(1, 1, Some(3)));
    arrive(&mut before, 1, "A", tasks(1, 1, Some(3)));
    let place = Box::new(place::FirstFit::new(1));
    let mut after = Engine::from_state(&before.state(), place).expect("a sound state");
    for engine in [&mut before, &mut after] {
        engine.apply(secs(2), Event::TaskEnded(small)).expect("it runs");
        let starts = decide(engine);
        assert_eq!(starts.iter().map(|start| start.job).collect::<Vec<_>>(), [first]);
    }
}

/// A played start is by the reservation on its node.
#[test]
fn a_start_as_told_takes_its_own_reservation() {
    let mut config = slots_config(4, &reserve("fair", Reservations::All), &["A"]);
    config.nodes.push(node("m", slots(4)));
    let mut engine = engine(&config);
    arrive(&mut engine, 0, "A", tasks(1, 4, Some(10)));
    arrive(&mut engine, 0, "A", tasks(1, 4, Some(20)));
    let first = decide(&mut engine)[0].allocation;
    let wide = arrive(&mut engine, 1, "A", tasks(2, 4, Some(30)));
    decide(&mut engine);
    let places =
        |engine: &Engine| engine.view().reservations().map(|it| it.nodes[0].0).collect::<Vec<_>>();
    let nodes: Vec<NodeId> = engine.view().node_ids().collect();
    assert_eq!(places(&engine), nodes);
    engine.apply(secs(5), Event::TaskEnded(first)).expect("it runs");
    engine.start_as_told(wide, 0, nodes[0]).expect("there is room");
    assert_eq!(places(&engine), nodes[1..]);
}

/// Room that came on a reservation's own node while another was looked at is not forgotten: it
/// moves up when reservations are next looked at.
#[test]
fn room_that_another_has_left_on_the_same_node_is_taken_at_the_next_end() {
    let two = Reservations::AtMost(std::num::NonZeroU32::new(2).expect("above zero"));
    let mut config = slots_config(1, &reserve("fifo", two), &["A"]);
    config.nodes.push(node("m", slots(2)));
    let mut engine = engine(&config);
    arrive(&mut engine, 0, "A", tasks(1, 1, Some(50)));
    arrive(&mut engine, 0, "A", tasks(1, 1, Some(20)));
    arrive(&mut engine, 0, "A", tasks(1, 1, Some(10)));
    let runs: Vec<AllocationId> = decide(&mut engine).iter().map(|it| it.allocation).collect();
    arrive(&mut engine, 0, "A", tasks(1, 2, Some(10)));
    let narrow = arrive(&mut engine, 0, "A", tasks(1, 1, Some(5)));
    assert_eq!(decide(&mut engine), []);
    let promised = |engine: &Engine| {
        engine.view().reservations().map(|it| it.at.map(Time::as_micros)).collect::<Vec<_>>()
    };
    assert_eq!(promised(&engine), [Some(20 * S), Some(10 * S)]);
    engine.apply(secs(3), Event::TaskEnded(runs[1])).expect("it runs");
    assert_eq!(decide(&mut engine).iter().map(|it| it.job).collect::<Vec<_>>(), [narrow]);
    engine.apply(secs(5), Event::TaskEnded(runs[0])).expect("it runs");
    assert_eq!(decide(&mut engine), []);
    assert_eq!(promised(&engine), [Some(10 * S)]);
}

/// A reservation leaves a node in a plan in which no room has come free: those before it, which
/// were not looked at in that plan, move there as soon as they are looked at. Every instant is
/// checked by the twin.
#[test]
fn room_that_a_later_one_has_left_is_looked_at_by_those_before_it() {
    let three = Reservations::AtMost(NonZeroU32::new(3).expect("above zero"));
    let rules = [S, 0, 3 * S, S].map(span);
    let [after, min_runtime, guard, grace] = rules;
    let reclaim = Some(Reclaim { after, min_runtime, guard, grace });
    let root = Policy { reclaim, scalar: Scalar::Kind(0), ..reserve("fair", three) };
    let mut config = slots_config(1, &root, &["g", "g.a", "g.b"]);
    config.kinds = kinds(2);
    let priced = Scalar::Priced(vec![1 << 32, 1 << 31]);
    let quantum = Quantum::Fixed(Span::ZERO);
    config.queues[0].policy =
        Policy { scalar: priced, discount: 500, quantum, ..policy("long-term") };
    config.queues[1].policy = Policy { scalar: Scalar::Dominant, ..policy("long-term") };
    config.queues[2].policy = Policy { scalar: Scalar::Kind(1), ..policy("long-term") };
    config.queues[1].weight = 1;
    config.nodes = vec![node("n0", Resources::new(&[8, 5])), node("n1", Resources::new(&[7, 11]))];
    config.nodes[0].weight = 300;
    config.nodes[1].labels = [("zone".to_owned(), "b".to_owned())].into();
    let queues: Vec<QueueId> = engine(&config).view().queue_ids().collect();
    let job = |queue: usize, at: u64, groups: &[([u64; 2], &[u64])]| {
        let tasks = |tasks: &[u64]| tasks.iter().map(|tenths| tenths * S / 10).collect();
        let group = |(demand, ran): &([u64; 2], &[u64])| (Resources::new(demand), tasks(ran));
        let groups = groups.iter().map(group).collect();
        SimJob { queue: queues[queue], at: at * S, weight: 1000, groups }
    };
    let jobs = vec![
        job(3, 0, &[([4, 1], &[20, 20, 20, 5]), ([3, 2], &[50])]),
        job(2, 0, &[([2, 0], &[90, 90]), ([1, 0], &[20])]),
        job(3, 0, &[([4, 4], &[90, 90, 0])]),
        job(3, 0, &[([1, 0], &[0, 20, 20, 5]), ([1, 0], &[5])]),
        job(3, 0, &[([3, 2], &[0, 5, 0, 50]), ([1, 0], &[5])]),
        job(2, 2, &[([1, 0], &[20, 50])]),
    ];
    World::run_with_gangs(&config, jobs);
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let mut engine = engine(&slots_config(4, &policy("fair"), &["A"]));
    let (queue, groups) =
        (engine.view().find_queue("A").expect("it is there"), [tasks(1, 1, Some(0))]);
    let spec = JobSpec { queue, weight: 1000, groups: &groups, open: false, max_attempts: 0 };
    let refused = engine.apply(Time::ZERO, Event::JobArrived(spec));
    assert_eq!(refused, Err(Rejected::ZeroLimit));
}

proptest! {
    #![proptest_config(cases(1500))]
    /// Where limits hold, nobody wants nodes of his own and no maximum is in the way, a promise is
    /// kept: no reservation is ever put off, and its task, or gang, starts by the instant told
    /// first. This asks for no plan.
    #[test]
    fn who_was_promised_an_instant_starts_by_then(mut dice in dice(260), all in any::<bool>()) {
        let mut config = dice.config();
        let reservations = if all { Reservations::All } else { Reservations::ONE };
        (config.root.blocked, config.root.reclaim) = (Blocked::Reserve(reservations), None);
        (config.root.per_server, config.root.t_wait) = (false, None);
        config.root.estimates = Estimates::Limits;
        config.queues.iter_mut().for_each(|queue| queue.max = None);
        let jobs = dice.jobs(&config, 16);
        keeps_its_word(&config, jobs)?;
    }
}

/// The second of two wide tasks that want one rack has room held for it when the first ends: it
/// keeps that, though it may be in any rack from then on.
#[test]
fn a_group_that_stays_together_keeps_its_reservation() {
    for order in ["fifo", "fair"] {
        let mut config = slots_config(8, &reserve(order, Reservations::ONE), &["b", "wide"]);
        config.nodes[0].labels = [("rack".to_owned(), "x".to_owned())].into_iter().collect();
        let mut engine = engine(&config);
        let gang = Some(Box::new(Gang::of(1).within("rack")));
        let group = TaskGroup { gang, ..tasks(2, 8, Some(15)) };
        let wide = arrive(&mut engine, 0, "wide", group);
        let first = decide(&mut engine)[0].allocation;
        arrive(&mut engine, 12, "b", tasks(1, 8, Some(100)));
        assert_eq!(decide(&mut engine), []);
        engine.apply(secs(15), Event::TaskEnded(first)).expect("it runs");
        let starts = decide(&mut engine);
        let told = starts
            .iter()
            .map(|start| (start.job, start.reason.as_ref().and_then(|reason| reason.reserved_for)));
        assert_eq!(told.collect::<Vec<_>>(), [(wide, Some(span(15 * S)))], "{order}");
    }
}

/// Eight slots full of narrow tasks whose ends never meet. The wide one's turn comes at 1, and it
/// is passed over for 3 s; from the first decision after that on all that comes free is kept for
/// it.
#[test]
fn whoever_is_first_is_passed_over_for_a_while() {
    let patient = Policy { reserve_after: span(3 * S), ..reserve("fifo", Reservations::ONE) };
    let mut engine = engine(&slots_config(8, &patient, &["A", "B"]));
    arrive(&mut engine, 0, "A", tasks(8, 1, None));
    let running: Vec<AllocationId> = decide(&mut engine).iter().map(|it| it.allocation).collect();
    let wide = arrive(&mut engine, 1, "A", tasks(1, 8, None));
    assert_eq!(decide(&mut engine), []);
    arrive(&mut engine, 1, "B", tasks(20, 1, None));
    for (at, served, held) in [(2, 1, 0), (3, 1, 0), (4, 0, 1), (5, 0, 1)] {
        engine.apply(secs(at), Event::TaskEnded(running[at as usize])).expect("it runs");
        let starts = decide(&mut engine);
        assert_eq!(
            (starts.len(), engine.view().reservations().count()),
            (served, held),
            "at {at} s"
        );
        let state = engine.state();
        let passed: Vec<(u32, Time)> =
            state.holds.passed.iter().map(|it| (it.group, it.since)).collect();
        let expected = if held == 0 { vec![(0, secs(1))] } else { Vec::new() };
        assert_eq!(passed, expected, "at {at} s");
    }
    let first = engine.view().reservations().next().expect("it is there");
    assert_eq!((first.job, first.since), (wide, secs(4)));
    let skips = Policy { blocked: Blocked::Skip, ..patient };
    let config = slots_config(8, &skips, &["A", "B"]);
    let refused =
        Engine::new(config, Box::new(meed::place::FirstFit::new(1))).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("say when_blocked = \"reserve\""), "{refused}");
}

/// Who has lent is not passed over, where the order remembers it; who has borrowed is. B leaves its
/// four slots to A for a second; A waits then, too.
#[test]
fn who_has_lent_gets_its_reservation_at_once() {
    for (order, lender, borrower) in [("long-term", 1, 0), ("long-term-drf", 1, 0), ("fair", 0, 0)]
    {
        for (queue, held) in [("B", lender), ("A", borrower)] {
            let patient =
                Policy { reserve_after: span(3 * S), ..reserve(order, Reservations::ONE) };
            let mut engine = engine(&slots_config(8, &patient, &["A", "B"]));
            arrive(&mut engine, 0, "A", tasks(8, 1, None));
            assert_eq!(decide(&mut engine).len(), 8);
            arrive(&mut engine, 1, queue, tasks(1, 8, None));
            assert_eq!(decide(&mut engine), []);
            assert_eq!(engine.view().reservations().count(), held, "{queue} under {order}");
        }
    }
}

/// Tasks without a limit are expected to run as long as the last two of their queue: the wide one
/// is told when it may start, and somebody else's short task is let in before it.
#[test]
fn without_limits_reservations_look_as_far_as_was_learned() {
    for (estimates, expected, let_in) in
        [(Estimates::Learned, Some(micros(13_291_456)), 1), (Estimates::Limits, None, 0)]
    {
        let learns = Policy { estimates, ..reserve("fifo", Reservations::ONE) };
        let mut engine = engine(&slots_config(2, &learns, &["A", "B"]));
        for (queue, ran) in [("A", 6), ("B", 1)] {
            let now = engine.view().now().as_micros() / 1_000_000;
            arrive(&mut engine, now, queue, tasks(2, 1, None));
            for start in decide(&mut engine) {
                engine.apply(secs(now + ran), Event::TaskEnded(start.allocation)).expect("it runs");
            }
        }
        // Now it is 7. 6 s, in microseconds, rounded up to four bits: 12 x 2^19.
        arrive(&mut engine, 7, "A", tasks(1, 1, None));
        assert_eq!(decide(&mut engine).len(), 1);
        arrive(&mut engine, 7, "A", tasks(1, 2, None));
        decide(&mut engine);
        let held = engine.view().reservations().next().expect("it fits nowhere now");
        assert_eq!(held.at, expected, "{estimates:?}");
        arrive(&mut engine, 7, "B", tasks(1, 1, None));
        assert_eq!(decide(&mut engine).len(), let_in, "{estimates:?}");
    }
}

/// Short estimates that do not hold let nobody in before a reservation for ever: once it is put off
/// its node is drained, and it starts when what ran then has ended. One that could start elsewhere
/// at once does.
#[test]
fn a_reservation_that_estimates_put_off_is_drained() {
    let learns = Policy { estimates: Estimates::Learned, ..reserve("fifo", Reservations::ONE) };
    for elsewhere in [false, true] {
        let mut config = slots_config(2, &learns, &["A", "B"]);
        if elsewhere {
            config.nodes.push(config.nodes[0].clone());
            config.nodes[1].name = "other".to_owned();
        }
        let mut engine = engine(&config);
        let end = |engine: &mut Engine, at: u64, task: AllocationId| {
            engine.apply(secs(at), Event::TaskEnded(task)).expect("it runs");
        };
        // B's tasks last a second, as far as is known.
        arrive(&mut engine, 0, "B", tasks(2, 1, None));
        for start in decide(&mut engine) {
            end(&mut engine, 1, start.allocation);
        }
        let blocked = if elsewhere { 4 } else { 2 };
        arrive(&mut engine, 1, "B", tasks(blocked, 1, None));
        let ran: Vec<Start> = decide(&mut engine);
        let wide = arrive(&mut engine, 1, "A", tasks(1, 2, None));
        decide(&mut engine);
        let seen = |engine: &Engine| {
            engine.view().reservations().map(|held| (held.at.is_some(), held.drained)).next()
        };
        assert_eq!(seen(&engine), Some((true, false)), "it is expected to start");
        let first = engine.view().reservations().next().expect("it is there").nodes[0].0;
        let there = |on: bool| ran.iter().filter(move |start| (start.node == first) == on);
        // At 3 all run for longer than was expected; one place comes free where room is held.
        let mut left = there(true);
        end(&mut engine, 3, left.next().expect("two run there").allocation);
        let short = arrive(&mut engine, 3, "B", tasks(1, 1, Some(1)));
        assert_eq!(decide(&mut engine), [], "nobody is let in any more");
        assert_eq!(seen(&engine), Some((false, true)), "it is drained");
        match elsewhere {
            true => there(false).for_each(|start| end(&mut engine, 4, start.allocation)),
            false => end(&mut engine, 9, left.next().expect("one runs there").allocation),
        }
        let starts = decide(&mut engine);
        assert_eq!(starts[0].job, wide);
        assert_eq!(starts[0].node != first, elsewhere);
        let others: Vec<JobId> = starts[1..].iter().map(|start| start.job).collect();
        assert_eq!(others, if elsewhere { vec![short] } else { vec![] });
    }
}

/// When tasks of a job's group that got reservations at one instant start by, the last first.
type Promises = BTreeMap<(JobId, u32, Time), Vec<Time>>;

/// Runs the jobs with limits that are their durations, or more.
///
/// What nobody waits beyond, with one reservation at a time: while anything waits one task, or
/// gang, has a reservation; and it starts within the longest limit of all. So whoever waits has
/// waited no longer than that for each of the others that had a reservation meanwhile, and for
/// itself.
fn keeps_its_word(config: &Config, mut jobs: Vec<SimJob>) -> Result<(), TestCaseError> {
    jobs.sort_by_key(|job| job.at);
    let (mut engine, mut next) = (engine(config), 0);
    let mut durations: BTreeMap<JobId, Vec<u64>> = BTreeMap::new();
    let mut ends: BTreeMap<(u64, AllocationId), ()> = BTreeMap::new();
    let mut promised: Promises = BTreeMap::new();
    let (mut waiting, mut longest) = (0, Span::ZERO);
    let bounded = config.root.blocked == Blocked::Reserve(Reservations::ONE)
        && config.root.reserve_after == Span::ZERO;
    loop {
        let arrival = jobs.get(next).map(|job| job.at);
        let end = ends.first_key_value().map(|((at, _), ())| *at);
        let Some(now) = [arrival, end].into_iter().flatten().min() else { break };
        while let Some(entry) = ends.first_entry().filter(|entry| entry.key().0 == now) {
            let ((_, task), ()) = entry.remove_entry();
            engine.apply(micros(now), Event::TaskEnded(task)).expect("it runs");
        }
        while let Some(job) = jobs.get(next).filter(|job| job.at == now) {
            next += 1;
            let limit = |tasks: &[u64]| tasks.iter().copied().max().unwrap_or(1).max(1);
            let more = |tasks: &[u64]| limit(tasks) * (1 + tasks.len() as u64 % 2);
            let group = |(demand, tasks): &(Resources, Vec<u64>)| {
                let mut group = TaskGroup::new(tasks.len() as u32, *demand);
                (group.limit, group.gang) = (Some(span(more(tasks))), gang_of(tasks));
                if engine.view().check_tasks(job.queue, std::slice::from_ref(&group)).is_err() {
                    group.gang = None;
                }
                group
            };
            let groups: Vec<TaskGroup> = job.groups.iter().map(group).collect();
            longest = groups.iter().filter_map(|group| group.limit).fold(longest, Span::max);
            waiting += groups.iter().map(|group| group.count).sum::<u32>();
            let (queue, weight) = (job.queue, job.weight);
            let spec = JobSpec { queue, weight, groups: &groups, open: false, max_attempts: 0 };
            let taken = engine.apply(micros(now), Event::JobArrived(spec));
            let Ok(Effect::Job(id)) = taken else { panic!("{taken:?}") };
            durations.insert(id, job.groups.iter().flat_map(|(_, tasks)| tasks.clone()).collect());
        }
        for start in decide(&mut engine) {
            ends.insert((now + durations[&start.job][start.task as usize], start.allocation), ());
            waiting -= 1;
        }
        if bounded {
            prop_assert_eq!(engine.view().reservations().count(), usize::from(waiting > 0));
            let of = |held: &ReservationView| Some(held.at?.saturating_since(held.since));
            let lasts = engine.view().reservations().filter_map(|held| of(&held)).max();
            prop_assert!(lasts <= Some(longest), "{:?}, where no task takes {:?}", lasts, longest);
        }
        let mut told: Promises = BTreeMap::new();
        for held in engine.view().reservations() {
            let at = held.at.expect("all limits are known");
            prop_assert_eq!(held.moved, 0, "put off: {:?}, at {} us", held, now);
            prop_assert!(at > micros(now), "late: {:?}, at {} us", held, now);
            told.entry((held.job, held.group, held.since)).or_default().push(at);
        }
        for (key, instants) in &mut told {
            // Of a group, tasks are alike: the last of them by then, the last but one, and so on.
            instants.sort_unstable_by(|a, b| b.cmp(a));
            // Those of this instant may be others than a moment ago.
            let before = promised.get(key).filter(|_| key.2 < micros(now));
            let before = before.map_or(&instants[..], Vec::as_slice);
            let kept = instants.iter().zip(before).all(|(now, before)| now <= before);
            prop_assert!(kept, "{:?} were promised {:?}, at {} us", instants, before, now);
        }
        promised = told;
    }
    prop_assert_eq!(engine.view().reservations().count(), 0);
    prop_assert_eq!(engine.view().live_jobs(), 0, "all have been served");
    Ok(())
}
