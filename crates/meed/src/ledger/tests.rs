//! The ledger against its slow twin, which keeps every task.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy)]
struct Task {
    start: u64,
    end: Option<u64>,
    quantum: u64,
    rate: u64,
}

/// Charge at `now` by the definition, one microsecond after the other.
fn slow_charge(tasks: &[Task], now: u64, share: u64, eta: u128) -> u128 {
    let horizon = tasks
        .iter()
        .map(|t| (t.start + t.quantum).max(t.end.unwrap_or(now)))
        .max()
        .unwrap_or(0)
        .max(now);
    let counted = |held: u64| {
        let within = held.min(share);
        u128::from(within) * 1000 + u128::from(held - within) * eta
    };
    let held_at = |t: u64| -> u64 {
        let holds = |task: &&Task| {
            let until = match task.end {
                Some(end) => end,
                None if t < now => now,
                None => task.start + task.quantum,
            };
            task.start <= t && t < until
        };
        tasks.iter().filter(holds).map(|task| task.rate).sum()
    };
    (0..horizon).map(|t| counted(held_at(t))).sum()
}

fn micros(us: u64) -> Time {
    Time::from_micros(us).expect("in range")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn equals_the_slow_twin(
        steps in prop::collection::vec((0u64..6, any::<bool>(), 0u64..20, 0u64..5,
            any::<prop::sample::Index>()), 1..40),
        share in 0u64..12,
        eta in prop::sample::select(vec![0u32, 250, 500, 999, 1000]),
    ) {
        let clock = Clock::new(None);
        let rules = Rules { clock: &clock, discount: eta, share, above_only: false };
        let (mut ledger, mut tasks, mut now) = (Ledger::default(), Vec::<Task>::new(), 0);
        for (wait, starts, quantum, rate, pick) in steps {
            let before = ledger.charge(micros(now), rules);
            now += wait;
            prop_assert!(ledger.charge(micros(now), rules) >= before, "a charge fell between \
                events");
            let running: Vec<usize> = (0..tasks.len()).filter(|&i| tasks[i].end.is_none())
                .collect();
            if starts || running.is_empty() {
                tasks.push(Task { start: now, end: None, quantum, rate });
                ledger.start(micros(now), rate, micros(now + quantum), rules);
            } else {
                let task = &mut tasks[running[pick.index(running.len())]];
                task.end = Some(now);
                ledger.end(micros(now), task.rate, micros(task.start + task.quantum), rules);
            }
            let charge = ledger.charge(micros(now), rules);
            prop_assert_eq!(charge, slow_charge(&tasks, now, share, u128::from(eta)));
            // Until it turns it is a line.
            let turns = ledger.turns().map_or(now + 8, Time::as_micros);
            for later in now..=turns {
                prop_assert_eq!(charge + ledger.rate(rules) * u128::from(later - now),
                    slow_charge(&tasks, later, share, u128::from(eta)));
            }
            // It can be read ahead, beyond any turn.
            for later in now..now + 12 {
                prop_assert_eq!(ledger.charge_at(micros(later), rules),
                    slow_charge(&tasks, later, share, u128::from(eta)));
            }
        }
    }

    #[test]
    fn a_half_life_forgets_what_is_old(age_half_lives in 0u32..60, seconds in 1u64..10_000) {
        // One task of a second long ago against one now: the ratio of their charges is 2^-age.
        let half_life = crate::time::Span::from_secs(seconds).expect("in range");
        let mut clock = Clock::new(Some(half_life));
        let (mut old, mut new) = (Ledger::default(), Ledger::default());
        fn rules(clock: &Clock) -> Rules<'_> {
            Rules { clock, discount: 1000, share: u64::MAX, above_only: false }
        }
        let second = 1_000_000;
        old.start(micros(0), 1 << 30, micros(0), rules(&clock));
        old.end(micros(second), 1 << 30, micros(0), rules(&clock));
        let later = (u64::from(age_half_lives) * seconds * second).max(second);
        for step in clock.steps(micros(later)) {
            old.move_landmark(&step, rules(&clock));
            clock = clock.at_landmark(step.landmark);
        }
        new.start(micros(later), 1 << 30, micros(later), rules(&clock));
        new.end(micros(later + second), 1 << 30, micros(later), rules(&clock));
        let now = micros(later + second);
        let ratio = old.charge(now, rules(&clock)) as f64 / new.charge(now, rules(&clock)) as f64;
        let expected = libm::exp2(-(later as f64) / (seconds * second) as f64);
        prop_assert!((ratio - expected).abs() <= expected * 1e-3 + 1e-9, "{} instead of \
            {}", ratio, expected);
    }
}
