use meed::policy::PRESETS;
use meed::{Memory, Quantum, Scalar, Span, Unit, Untried};
use proptest::collection::btree_map;
use proptest::prelude::*;

use super::*;
use crate::quantity::Quantity;

fn kinds() -> ResourceKinds {
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Bytes), ("a b", Unit::Milli)];
    ResourceKinds::new(kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec()).unwrap()
}

/// Any value of the form, also one that means nothing.
fn value(form: Form) -> BoxedStrategy<Value> {
    let text = prop_oneof!["[a-z0-9.-]{0,8}", "[ -~]{0,12}", "\\PC{0,6}", any::<String>()];
    let quantity = prop_oneof![
        any::<i64>().prop_map(Quantity::Whole),
        any::<f64>().prop_map(Quantity::Fraction),
        text.clone().prop_map(Quantity::Text),
    ];
    let number = prop_oneof![0.0..=1.0, any::<f64>()]
        .prop_filter("NaN equals nothing", |n: &f64| !n.is_nan());
    match form {
        Form::Word => text.prop_map(Value::Word).boxed(),
        Form::Quantity => quantity.prop_map(Value::Quantity).boxed(),
        Form::Number => number.prop_map(Value::Number).boxed(),
        Form::Count => any::<u32>().prop_map(Value::Count).boxed(),
        Form::Flag => any::<bool>().prop_map(Value::Flag).boxed(),
        Form::Prices => btree_map(text, number, 0..4).prop_map(Value::Prices).boxed(),
    }
}

/// Any keys, with an order that is known or not.
fn specs() -> impl Strategy<Value = PolicySpec> {
    let keys: Vec<_> =
        KEYS.iter().map(|key| proptest::option::weighted(0.3, value(key.form))).collect();
    let order = proptest::option::of(0..PRESETS.len());
    (keys, order, proptest::bool::weighted(0.1)).prop_map(|(values, order, partitioned)| {
        let order = order.map(|row| PRESETS[row].name);
        let spec = order.map(PolicySpec::order).unwrap_or_default();
        let given = KEYS.iter().zip(values).filter_map(|(key, value)| Some((key, value?)));
        let spec = given.fold(spec, |spec, (key, value)| match (key.name, order) {
            ("order", Some(_)) => spec,
            _ => spec.with(key.name, value),
        });
        PolicySpec { partitioned, ..spec }
    })
}

proptest! {
    /// What is printed, and what is written as JSON or TOML, reads back.
    #[test]
    fn any_keys_read_back(spec in specs()) {
        let text = spec.to_string();
        prop_assert_eq!(text.parse::<PolicySpec>(), Ok(spec.clone()), "{}", text);
        let json = serde_json::to_string(&spec).unwrap();
        // JSON knows no infinite numbers.
        let infinite = |value: &Value| match value {
            Value::Number(number) => number.is_infinite(),
            Value::Quantity(Quantity::Fraction(number)) => !number.is_finite(),
            Value::Prices(prices) => prices.values().any(|price| price.is_infinite()),
            _ => false,
        };
        if !spec.given.values().any(|given| infinite(&given.value)) {
            let read: PolicySpec = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read, spec.clone(), "{}", json);
        }
        if !spec.partitioned {
            let toml = toml::to_string(&spec).unwrap();
            prop_assert_eq!(crate::tree::read::<InToml>(&toml).unwrap().0, spec, "{}", toml);
        }
    }

    /// A full description makes the very same policy, also by way of its text.
    #[test]
    fn a_policy_is_what_its_description_says(
        preset in 0..PRESETS.len(), memory in 0..3u8, length in 1u64..1 << 40,
        newcomer in 0..3usize,
        discount in 0..=1000u32, fixed: bool, blocked in 0..4u8, guard: bool, scalar in 0..4u8,
        price in 0..=1u64 << 32, most in 1u32..,
    ) {
        use meed::{Blocked, Newcomer, Reservations};
        let kinds = kinds();
        let mut policy = PRESETS[preset].policy();
        let length = Span::from_micros(length).unwrap();
        policy.memory = match memory {
            0 => Memory::Forever,
            1 => Memory::Rounds(length),
            _ => Memory::HalfLife(length),
        };
        policy.newcomer = [Newcomer::Zero, Newcomer::EarlyBird, Newcomer::Average][newcomer];
        policy.discount = discount;
        policy.quantum = match fixed {
            true => Quantum::Fixed(length),
            false => Quantum::Adaptive {
                initial: Span::ZERO,
                interval: length,
                untried: if guard { Untried::Ended } else { Untried::Handed },
            },
        };
        policy.blocked = match blocked {
            0 => Blocked::Skip,
            1 => Blocked::Wait,
            2 => Blocked::Reserve(Reservations::All),
            _ => Blocked::Reserve(Reservations::AtMost(most.try_into().unwrap())),
        };
        if matches!(policy.blocked, Blocked::Reserve(_)) {
            policy.spares = most % 3;
        }
        policy.fairness = policy.fairness.map(|_| discount);
        policy.t_wait = (guard && policy.measure == meed::Measure::Usage).then_some(length);
        if policy.scalar != Scalar::Dominant {
            policy.scalar = match scalar {
                3 => Scalar::Priced(vec![1 << 32, price, 0]),
                kind => Scalar::Kind(usize::from(kind)),
            };
        }
        let mut spec = PolicySpec::of(&policy, &kinds);
        if PRESETS[preset].name == "drfh" {
            // The same order with another placement.
            spec = PolicySpec::order("drf").over(&spec);
        }
        prop_assert_eq!(spec.policy(&kinds), Ok(policy.clone()), "{}", spec);
        let text = spec.to_string();
        prop_assert_eq!(text.parse::<PolicySpec>().unwrap().policy(&kinds), Ok(policy), "{}", text);
    }
}

#[test]
fn every_order_is_a_spec() {
    for name in orders().chain([STATIC]) {
        let spec: PolicySpec = name.parse().unwrap();
        assert_eq!(spec.to_string(), name);
        assert_eq!(spec.is_partitioned(), name == STATIC);
        assert_eq!(spec.slots(), (name == SLOTS).then_some(14));
        let with = format!("{name},quantum=30s");
        assert_eq!(with.parse::<PolicySpec>().unwrap().to_string(), with);
    }
    assert_eq!("".parse(), Ok(PolicySpec::default()));
}

#[test]
fn every_key_is_printed_as_it_is_written() {
    for text in [
        "fair,resource=memory",
        "fair,resource=\"a,b\"",
        "long-term,prices={\"a b\"=0.5,cpu=1}",
        "long-term,memory=forever",
        "long-term,round=1h 30min,newcomer=early-bird,discount=0.25",
        "long-term,half_life=24h,quantum=adaptive,quantum_initial=30,quantum_interval=0.5",
        "long-term,quantum_waiting=ended",
        "long-term,t_wait=never,when_blocked=wait",
        "fair,when_blocked=reserve,reservations=all",
        "fair,reservations=3",
        "fair,spares=0",
        "fair,reservations=2,spares=3,charge_reservations=true",
        "fair,charge_reservations=true",
        "fair,reserve_after=12h",
        "fair,estimates=limits",
        "long-term,reclaim_after=1h,reclaim_min_runtime=10min,reclaim_guard=2h,reclaim_grace=1min",
        "fair,reclaim_after=never",
        "tetris,fairness=0.5",
        "slots,slots_per_server=10",
        "static,order=fair,placement=best-fit",
        "half_life=24h",
    ] {
        assert_eq!(text.parse::<PolicySpec>().map(|spec| spec.to_string()).as_deref(), Ok(text));
    }
    // Spaces do not count, and quotes are left out where they are not needed.
    let spec: PolicySpec = " long-term , half_life = \"24h\" ,resource='cpu'".parse().unwrap();
    assert_eq!(spec.to_string(), "long-term,resource=cpu,half_life=24h");
    for key in KEYS {
        assert!(!key.about.is_empty(), "{}", key.name);
    }
    // What a measure reads is a key, and each key is read by some measure.
    use meed::Measure::{Allocation, Arrival, Usage};
    for measure in [Arrival, Allocation, Usage] {
        for name in measure.info().reads {
            assert!(KEYS.iter().any(|key| key.name == *name && key.is_read_by(measure)), "{name}");
        }
    }
    for key in KEYS {
        assert!(key.is_read_by(Usage), "{}", key.name);
    }
    let read_by =
        |name, measure| KEYS.iter().any(|key| key.name == name && key.is_read_by(measure));
    assert!(read_by("prices", Allocation) && !read_by("prices", Arrival));
    assert!(!read_by("half_life", Allocation) && read_by("when_blocked", Arrival));
}

#[test]
fn keys_of_one_choice_are_inherited_together() {
    let over = |own: &str, base: &str| {
        let [own, base] = [own, base].map(|text| text.parse::<PolicySpec>().unwrap());
        own.over(&base).to_string()
    };
    assert_eq!(over("round=1h", "fair,half_life=24h,quantum=1"), "fair,round=1h,quantum=1");
    assert_eq!(over("long-term", "fair,half_life=24h"), "long-term,half_life=24h");
    assert_eq!(over("prices={cpu=1}", "fair,resource=memory"), "fair,prices={cpu=1}");
    assert_eq!(over("when_blocked=skip", "fair,reservations=2"), "fair,when_blocked=skip");
    assert_eq!(over("reservations=all", "fair,when_blocked=skip"), "fair,reservations=all");
    assert_eq!(over("t_wait=1h", "static,t_wait=2h"), "static,t_wait=1h");
}

#[test]
fn what_is_wrong_is_said() {
    for (text, message) in [
        ("longterm", "unknown policy `longterm`; known are static, fifo, fair, long-term"),
        ("longterm", "did you mean `long-term`?"),
        ("fair,quantum", "`quantum` is not of the form key=value"),
        ("fair,quantun=1", "unknown key `quantun`, expected one of `order`, `placement`"),
        ("fair,quantun=1", "; did you mean `quantum`?"),
        ("fair,quantum=1,quantum=2", "`quantum` is given twice"),
        ("fair,discount=much", "discount: invalid type: string \"much\", expected a number"),
        (
            "slots,slots_per_server=-1",
            "slots_per_server: invalid value: integer `-1`, expected a whole number",
        ),
        ("fair,resource=3", "resource: invalid type: integer `3`"),
        ("fair,quantum={a=1}", "quantum: expected a number, or text with a unit"),
        ("order=longterm", "unknown order `longterm`; known are fifo"),
        ("fair,resource=gpu", "unknown resource `gpu`; known are cpu, memory"),
        ("fair,resource=cpu,prices={cpu=1}", "a policy counts one `resource` or has `prices`"),
        ("fair,prices={gpu=1}", "prices name an unknown resource `gpu`; did you mean `cpu`?"),
        ("fair,prices={slots=1}", "unknown resource `slots`; known are cpu, memory, a b"),
        ("fair,prices={cpu=-1}", "the price of `cpu` is -1; 0 or more is needed"),
        ("fair,prices={cpu=0}", "at least one price must be above zero"),
        ("memory=days", "unknown memory `days`; known are forever, rounds, half-life"),
        ("memory=rounds", "memory `rounds` needs `round`, as in round = \"24h\""),
        ("round=1h,half_life=1h", "rounds or a half-life, not both"),
        ("round=0", "round must be above zero"),
        ("half_life=400d", "half_life must be at most a year"),
        ("half_life=soon", "half_life: \"soon\" is not a duration"),
        ("newcomer=late", "unknown newcomer `late`"),
        ("discount=2", "discount is 2; it is the part of use above the share that counts"),
        ("quantum_interval=0", "quantum_interval must be above zero"),
        ("t_wait=x", "t_wait: \"x\" is not a duration"),
        ("when_blocked=stop", "unknown when_blocked `stop`; known are skip, wait, reserve. did"),
        ("when_blocked=reverse", "known are skip, wait, reserve. did you mean `reserve`?"),
        ("when_blocked=reserve,reservations=0", "reservations is `0`; 1 or more whole ones"),
        ("when_blocked=reserve,reservations=1.5", "reservations is `1.5`; 1 or more whole"),
        ("when_blocked=reserve,reservations=-1", "reservations is `-1`; 1 or more whole"),
        ("when_blocked=reserve,reservations=2s", "reservations is `2s`; 1 or more whole"),
        ("when_blocked=reserve,reservations=al", "or `all`; did you mean `all`?"),
        ("reservations=true", "reservations: expected a number, or text with a unit"),
        (
            "when_blocked=wait,reservations=1",
            "reservations are made with when_blocked = \"reserve\" only, here it is \"wait\"",
        ),
        (
            "when_blocked=skip,charge_reservations=true",
            "reservations are made with when_blocked = \"reserve\" only, here it is \"skip\"",
        ),
        (
            "when_blocked=reserve,charge_reservations=maybe",
            "charge_reservations: invalid type: string \"maybe\", expected a boolean",
        ),
        (
            "when_blocked=wait,reserve_after=12h",
            "reservations are made with when_blocked = \"reserve\" only, here it is \"wait\"",
        ),
        (
            "when_blocked=wait,estimates=learned",
            "reservations are made with when_blocked = \"reserve\" only, here it is \"wait\"",
        ),
        (
            "when_blocked=wait,spares=1",
            "reservations are made with when_blocked = \"reserve\" only, here it is \"wait\"",
        ),
        ("spares=-1", "spares: invalid value: integer `-1`, expected a whole number"),
        ("spares=1.5", "spares: invalid "),
        ("spare=1", "; did you mean `spares`?"),
        ("estimates=learnt", "did you mean `learned`?"),
        ("reserve_after=soon", "reserve_after: \"soon\" is not a duration"),
        ("reclaim_after=0", "reclaim_after must be above zero"),
        ("reclaim_after=soon", "reclaim_after: \"soon\" is not a duration"),
        ("reclaim_after=-1", "reclaim_after: "),
        ("reclaim_grace=1min", "no task is stopped for another here: say reclaim_after"),
        (
            "reclaim_after=1h,reclaim_guard=10s",
            "reclaim_guard, 10s, is below reclaim_grace, 30s: the order could turn",
        ),
        (
            "when_blocked=skip,reclaim_after=1h",
            "room is taken back for who has a reservation: say when_blocked = \"reserve\"",
        ),
        ("slots,slots_per_server=0", "slots_per_server must be 1 to 1000000"),
        ("tetris,fairness=1.5", "fairness is 1.5; it is Tetris's knob: 0 (packing alone) to 1"),
        ("tetris,fairness=much", "fairness: invalid type: string \"much\", expected a number"),
    ] {
        let spec = text.parse::<PolicySpec>();
        let error = spec.and_then(|spec| spec.policy(&kinds())).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: `{message}` is not in: {error}");
    }
    let alone: PolicySpec = "per-server-drf,placement=best-fit".parse().unwrap();
    assert_eq!(alone.contradiction().unwrap().key(), Some("placement"));
    let packs: PolicySpec = "tetris,placement=cosine".parse().unwrap();
    assert_eq!(packs.contradiction().unwrap().key(), Some("placement"));
    let placed: PolicySpec = "fair,placement=bestfit".parse().unwrap();
    let why = placed.placement().map(|row| row.name).unwrap_err().to_string();
    assert!(why.ends_with("did you mean `best-fit`?"), "{why}");
}

#[test]
fn reservations_are_one_unless_more_are_asked_for() {
    use meed::{Blocked, Reservations};
    let of = |text: &str| text.parse::<PolicySpec>().unwrap().policy(&kinds()).unwrap();
    let some = |most: u32| Blocked::Reserve(Reservations::AtMost(most.try_into().unwrap()));
    for (text, blocked) in [
        ("fair,when_blocked=reserve", some(1)),
        ("fair,when_blocked=reserve,reservations=4", some(4)),
        ("fair,when_blocked=reserve,reservations=\"all\"", Blocked::Reserve(Reservations::All)),
        ("fair,reservations=2", some(2)),
        ("fair,spares=0", some(1)),
        ("fair,charge_reservations=true", some(1)),
        ("fair,when_blocked=reserve,charge_reservations=false", some(1)),
        ("fair,reserve_after=12h", some(1)),
        ("fair,reserve_after=0,reservations=2", some(2)),
        ("fair,estimates=learned", some(1)),
        ("fair,reclaim_after=1h", some(1)),
        ("fair,reclaim_after=1h,reservations=3", some(3)),
        ("fair", Blocked::Skip),
    ] {
        assert_eq!(of(text).blocked, blocked, "{text}");
    }
    let rules = of("fair,reclaim_after=1h").reclaim.unwrap();
    let times = [rules.after, rules.min_runtime, rules.guard, rules.grace];
    assert_eq!(times.map(|span| span.as_micros() / 1_000_000), [3600, 300, 3600, 30]);
    assert_eq!(of("fair,reclaim_after=never").reclaim, None);
    assert_eq!(of("fair,reserve_after=12h").reserve_after.as_micros(), 12 * 3_600_000_000);
    use meed::Estimates::{Learned, Limits};
    for (text, estimates) in [
        ("fair", Limits),
        ("fair,when_blocked=wait", Limits),
        ("fair,when_blocked=reserve", Limits),
        ("fair,reservations=2,estimates=learned", Learned),
        ("fair,reclaim_after=1h,estimates=learned", Learned),
    ] {
        assert_eq!(of(text).estimates, estimates, "{text}");
        let full = PolicySpec::of(&of(text), &kinds());
        assert_eq!(full.policy(&kinds()).unwrap().estimates, estimates, "{text} as {full}");
    }
    // Headers of runs without reservations are as they were.
    let full = |text: &str| PolicySpec::of(&of(text), &kinds()).to_string();
    assert!(!full("fair,when_blocked=wait").contains("reservations"));
    assert!(!full("fair,when_blocked=wait").contains("spares"));
    let reserves = full("fair,when_blocked=reserve");
    assert!(reserves.ends_with("when_blocked=reserve,reservations=1,spares=1"), "{reserves}");
}
