//! Every placement against a scan over all nodes, on random steps.

use crate::NodeRow;
use crate::Resources;
use std::cmp::Ordering;

use num_bigint::BigUint;
use proptest::prelude::*;

use super::ratio_order::{Member, RatioOrder, cmp_ratio};
use super::*;
use crate::MAX_AMOUNT;

/// How badly a node fits a demand, of which the pool is told as well: a scan takes the least, and
/// of equal ones the first.
type Cost = fn(&Resources, &Resources, &Resources) -> Fraction;

fn scan(
    free: &[Resources],
    demand: &Resources,
    pool: &Resources,
    allowed: Allowed<'_>,
    cost: Cost,
) -> Option<NodeRow> {
    let mut best: Option<(Fraction, NodeRow)> = None;
    for (node, room) in (0..).map(NodeRow).zip(free) {
        if demand.fits_in(room) && allowed.contains(node) {
            let cost = cost(demand, room, pool);
            if best.as_ref().is_none_or(|(least, _)| cost.cmp(least).is_lt()) {
                best = Some((cost, node));
            }
        }
    }
    best.map(|(_, node)| node)
}

/// A ratio of whole numbers that is never shortened.
#[derive(Clone)]
struct Fraction(BigUint, BigUint);

impl Fraction {
    fn of(up: u64, down: u64) -> Fraction {
        Fraction(up.into(), down.into())
    }

    fn plus(self, other: Fraction) -> Fraction {
        Fraction(self.0 * &other.1 + other.0 * &self.1, self.1 * other.1)
    }

    fn times(self, other: Fraction) -> Fraction {
        Fraction(self.0 * other.0, self.1 * other.1)
    }

    fn over(self, other: Fraction) -> Fraction {
        self.times(Fraction(other.1, other.0))
    }

    /// The amount by which both differ.
    fn apart(self, other: Fraction) -> Fraction {
        let (a, b) = (self.0 * &other.1, other.0 * &self.1);
        let more = if a > b { a - b } else { b - a };
        Fraction(more, self.1 * other.1)
    }

    fn cmp(&self, other: &Fraction) -> Ordering {
        (&self.0 * &other.1).cmp(&(&other.0 * &self.1))
    }
}

fn sum(terms: impl Iterator<Item = Fraction>) -> Fraction {
    terms.fold(Fraction::of(0, 1), Fraction::plus)
}

/// Amounts as parts of the pool.
fn parts(amounts: &Resources, pool: &Resources) -> Vec<Fraction> {
    let both = amounts.as_slice().iter().zip(pool.as_slice());
    both.map(|(&amount, &all)| Fraction::of(amount, all.max(1))).collect()
}

/// H of Eq. 9.
fn mismatch(demand: &Resources, free: &Resources, pool: &Resources) -> Fraction {
    let (d, c) = (parts(demand, pool), parts(free, pool));
    let first = demand.as_slice().iter().position(|&amount| amount > 0).unwrap();
    let to_first = |of: &[Fraction], kind: usize| of[kind].clone().over(of[first].clone());
    sum((0..d.len()).map(|kind| to_first(&d, kind).apart(to_first(&c, kind))))
}

/// One over the square of the cosine of the angle between them.
fn inverse_cosine(demand: &Resources, free: &Resources, pool: &Resources) -> Fraction {
    let (d, c) = (parts(demand, pool), parts(free, pool));
    let dot = |a: &[Fraction], b: &[Fraction]| {
        sum(a.iter().cloned().zip(b.iter().cloned()).map(|(a, b)| a.times(b)))
    };
    let both = dot(&d, &c);
    dot(&d, &d).times(dot(&c, &c)).over(both.clone().times(both))
}

/// The less of the kind that matters most, the worse.
fn least_room(demand: &Resources, free: &Resources, pool: &Resources) -> Fraction {
    Fraction::of(1, free.get(worst_fit::dominant_kind(demand, pool)))
}

/// By the placement's name; `None` where it is drawn.
fn twin(name: &str) -> Option<Cost> {
    match name {
        "first-fit" => Some(|_, _, _| Fraction::of(0, 1)),
        "best-fit" => Some(mismatch),
        "cosine" => Some(inverse_cosine),
        "worst-fit" => Some(least_room),
        _ => None,
    }
}

/// Kinds of resources in these tests, at most.
const KINDS: usize = 5;

#[derive(Clone, Debug)]
struct Step {
    node: usize,
    free: [u64; KINDS],
    demand: [u64; KINDS],
    barred: u64,
}

fn step(most: u64) -> impl Strategy<Value = Step> {
    let amounts = || prop::array::uniform5(0..most);
    (0usize..600, amounts(), amounts(), any::<u64>())
        .prop_map(|(node, free, demand, barred)| Step { node, free, demand, barred })
}

/// Idle machines of few shapes in many sizes, as of 16, 32 and 64 cores.
fn machines() -> impl Strategy<Value = Vec<Step>> {
    let shape = || prop::array::uniform5(1u64..50);
    let node = (0usize..60, 0usize..3, 1u64..9, prop::array::uniform5(0u64..9), any::<u64>());
    let nodes = prop::collection::vec(node, 1..80);
    (prop::array::uniform3(shape()), nodes).prop_map(|(shapes, nodes)| {
        let step = |(node, shape, size, demand, barred): (usize, usize, u64, _, _)| {
            let free = shapes[shape].map(|amount: u64| amount * size);
            Step { node, free, demand, barred }
        };
        nodes.into_iter().map(step).collect()
    })
}

fn pool() -> impl Strategy<Value = [u64; KINDS]> {
    prop_oneof![
        Just([1000, 3000, 700, 1000, 64]),
        Just([1000; KINDS]),
        prop::array::uniform5(1u64..100_000),
        prop::array::uniform5(1u64..=MAX_AMOUNT),
    ]
}

fn check(kinds: usize, pool: [u64; KINDS], steps: &[Step]) -> Result<(), TestCaseError> {
    let pool = Resources::new(&pool[..kinds]);
    for preset in PLACEMENTS {
        let mut place = (preset.new)(kinds, 7);
        place.set_pool(&pool);
        let mut free: Vec<Resources> = Vec::new();
        for step in steps {
            let node = step.node.min(free.len());
            let amounts = Resources::new(&step.free[..kinds]);
            if node == free.len() {
                free.push(amounts)
            } else {
                free[node] = amounts
            }
            place.set_free(NodeRow(node as u32), &amounts);
            let demand = Resources::new(&step.demand[..kinds]);
            if demand.is_zero() {
                continue;
            }
            // Constraints on some steps only.
            let mut eligible = NodeSet::default();
            (0..free.len()).for_each(|node| {
                eligible.set(NodeRow(node as u32), step.barred >> (node % 61) & 1 == 0)
            });
            let taken = TakenNodes::from([NodeRow(node as u32)]);
            let allowed = match step.barred % 4 {
                0 => Allowed { eligible: Some(&eligible), taken: Some(&taken) },
                1 => Allowed { eligible: Some(&eligible), taken: None },
                _ => Allowed::ANY,
            };
            let found = place.find(&demand, allowed);
            let any = scan(&free, &demand, &pool, allowed, |_, _, _| Fraction::of(0, 1));
            prop_assert_eq!(found.is_some(), any.is_some(), "{} finds when there is", preset.name);
            prop_assert!(place.may_fit(&demand) || any.is_none(), "{} may fit", preset.name);
            if let Some(node) = found {
                prop_assert!(
                    demand.fits_in(&free[node.index()]) && allowed.contains(node),
                    "{}",
                    preset.name
                );
            }
            if let Some(cost) = twin(preset.name) {
                // Those with room, last first, and one that need not have any.
                let nodes = (0..free.len() as u32).rev().map(NodeRow);
                let some: Vec<NodeRow> = nodes
                    .filter(|&at| at.index() == node || demand.fits_in(&free[at.index()]))
                    .collect();
                prop_assert_eq!(
                    place.find_among(&demand, allowed, &some),
                    found,
                    "{} among",
                    preset.name
                );
                let slow = scan(&free, &demand, &pool, allowed, cost);
                prop_assert_eq!(
                    found,
                    slow,
                    "{} with {} kinds, {:?} of {:?}",
                    preset.name,
                    kinds,
                    demand,
                    &free
                );
            }
        }
    }
    Ok(())
}

/// What is missing on a node, from the formula.
fn missing(demand: &Resources, free: &Resources, pool: &Resources) -> u64 {
    let kinds = demand.as_slice().iter().zip(free.as_slice()).zip(pool.as_slice());
    let parts = kinds.map(|((&demand, &free), &pool)| {
        u128::from(demand.saturating_sub(free)) * PARTS / u128::from(pool.max(1))
    });
    u64::try_from(parts.sum::<u128>()).expect("a demand is no more than the pool")
}

/// Asks for the first few nodes by what is missing.
struct Few<'a> {
    most: usize,
    missing: &'a dyn Fn(NodeRow) -> u64,
    found: Vec<(u64, NodeRow)>,
}

impl Seeker for Few<'_> {
    fn bar(&self) -> (u64, NodeRow) {
        self.found.get(self.most - 1).copied().unwrap_or((u64::MAX, NodeRow(u32::MAX)))
    }

    fn look(&mut self, node: NodeRow) {
        self.found.push(((self.missing)(node), node));
        self.found.sort_unstable();
        self.found.dedup();
        self.found.truncate(self.most);
    }
}

/// Who says that no other node misses less has named what a scan finds, and has to say so where all
/// that was named misses less than an empty-handed node does.
fn check_missing(most: usize, pool: [u64; 2], steps: &[Step]) -> Result<(), TestCaseError> {
    let pool = Resources::new(&pool);
    let mut place = BestFit::new(2);
    place.set_pool(&pool);
    let mut free: Vec<Resources> = Vec::new();
    for step in steps {
        let node = step.node.min(free.len());
        let amounts = Resources::new(&step.free[..2]);
        if node == free.len() {
            free.push(amounts)
        } else {
            free[node] = amounts
        }
        place.set_aside(NodeRow(node as u32), step.barred % 8 == 0);
        place.set_free(NodeRow(node as u32), &amounts);
        let demand = Resources::new(&step.demand[..2]);
        let missing_on = |node: NodeRow| missing(&demand, &free[node.index()], &pool);
        let mut few = Few { most, missing: &missing_on, found: Vec::new() };
        let finds = place.least_missing(&demand, &mut few);
        let rows = (0..free.len() as u32).map(NodeRow);
        let mut all: Vec<_> = rows.map(|node| (missing_on(node), node)).collect();
        all.sort_unstable();
        all.truncate(most);
        let nothing = missing(&demand, &Resources::zero(2), &pool);
        if finds {
            prop_assert_eq!(few.found, all);
        } else {
            let worst = all.last().map_or(0, |(missing, _)| *missing);
            prop_assert!(all.len() < most || worst + 3 > nothing, "{} of {}", worst, nothing);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn least_is_missing_where_a_scan_finds_it(
        most in 1usize..4, pool in 1u64..5000, steps in prop::collection::vec(step(12), 1..600),
    ) {
        check_missing(most, [pool + 10, 3 * pool + 10], &steps)?;
    }

    #[test]
    fn least_is_missing_among_large_amounts(
        most in 1usize..4, steps in prop::collection::vec(step(MAX_AMOUNT), 1..300),
    ) {
        check_missing(most, [MAX_AMOUNT, MAX_AMOUNT / 3], &steps)?;
    }

    #[test]
    fn finds_what_a_scan_finds(
        kinds in 1..=KINDS, pool in pool(), steps in prop::collection::vec(step(7), 1..400),
    ) {
        check(kinds, pool, &steps)?;
    }

    #[test]
    fn finds_what_a_scan_finds_among_large_amounts(
        kinds in 1..=KINDS, pool in pool(),
        steps in prop::collection::vec(step(MAX_AMOUNT), 1..100),
    ) {
        check(kinds, pool, &steps)?;
    }

    #[test]
    fn finds_what_a_scan_finds_among_machines_of_few_shapes(
        kinds in 1..=KINDS, pool in pool(), steps in machines(),
    ) {
        check(kinds, pool, &steps)?;
    }

    /// Of two idle nodes of parallel shape the one that joined first, by either measure.
    #[test]
    fn a_tie_of_parallel_nodes_goes_to_the_first(
        kinds in 2..=KINDS, pool in pool(), shape in prop::array::uniform5(1u64..1000),
        (one, other) in (1u64..1000, 1u64..1000), demand in prop::array::uniform5(0u64..2),
    ) {
        let (demand, pool) = (Resources::new(&demand[..kinds]), Resources::new(&pool[..kinds]));
        prop_assume!(!demand.is_zero());
        for preset in PLACEMENTS.iter().filter(|preset| ["best-fit", "cosine"]
            .contains(&preset.name)) {
            let mut place = (preset.new)(kinds, 0);
            place.set_pool(&pool);
            for (node, size) in [one, other].into_iter().enumerate() {
                let free = shape.map(|amount| amount * size);
                place.set_free(NodeRow(node as u32), &Resources::new(&free[..kinds]));
            }
            let found = place.find(&demand, Allowed::ANY);
            prop_assert_eq!(found, Some(NodeRow(0)), "{}", preset.name);
        }
    }

    #[test]
    fn ratio_order_is_a_sorted_list(steps in prop::collection::vec((0u32..600, 0u64..40, 0u64..40),
        1..1500), needs in (0u64..30, 0u64..30)) {
        let mut order = RatioOrder::default();
        let mut members: Vec<Member> = Vec::new();
        for (id, a, b) in steps {
            if let Some(at) = members.iter().position(|member| member.id == id) {
                order.remove(members.swap_remove(at));
            }
            if (a, b) != (0, 0) {
                members.push(Member { a, b, id });
                order.insert(Member { a, b, id });
            }
        }
        members.sort_by(|x, y| cmp_ratio((x.a, x.b), (y.a, y.b)).then(x.id.cmp(&y.id)));
        let ratio = if needs == (0, 0) { (1, 1) } else { needs };
        let less = |member: &&Member| cmp_ratio((member.a, member.b), ratio).is_lt();
        let has = |member: &&Member| member.a >= needs.0 && member.b >= needs.1;
        if let Some(middle) = order.seek(ratio) {
            let walk = |from: Option<usize>, next: &dyn Fn(usize) -> Option<usize>| {
                let mut found: Vec<Member> = Vec::new();
                let mut block = from;
                while let Some(at) = block {
                    let mut here: Vec<Member> = order.having(at, needs).collect();
                    here.sort_by(|x, y| cmp_ratio((x.a, x.b), (y.a, y.b)).then(x.id.cmp(&y.id)));
                    found = if at < middle { [here, found].concat() } else { [found, here]
                        .concat() };
                    block = next(at);
                }
                found
            };
            let right = walk(Some(middle), &|at| order.right(at + 1, needs));
            let left = walk(order.left(middle, needs), &|at| order.left(at, needs));
            // Who is to the left of the middle block is below the ratio; who is to the right of it
            // is not.
            prop_assert!(left.iter().all(|member| less(&member)));
            let inner: Vec<Member> = order.having(middle, needs).collect();
            let beyond = right.iter().filter(|member| !inner.contains(member));
            prop_assert!(beyond.clone().all(|member| !less(&member)));
            let all: Vec<Member> = members.iter().filter(has).copied().collect();
            prop_assert_eq!([left, right].concat(), all);
        } else {
            prop_assert!(members.is_empty());
        }
        prop_assert!(order.may_hold(needs) || !members.iter().any(|member| has(&member)));
    }
}

/// DRFH Sec. 5.2: D = (1/10, 1/30); c_1 = (1/5, 1/15) has H = 0, c_2 = (1/8, 1/4) has H = 5/3.
#[test]
fn the_papers_example() {
    let pool = Resources::new(&[120, 120]);
    let demand = Resources::new(&[12, 4]);
    let servers = [Resources::new(&[24, 8]), Resources::new(&[15, 30])];
    assert!(mismatch(&demand, &servers[0], &pool).cmp(&Fraction::of(0, 1)).is_eq());
    assert!(mismatch(&demand, &servers[1], &pool).cmp(&Fraction::of(5, 3)).is_eq());
    for preset in PLACEMENTS.iter().filter(|preset| ["best-fit", "cosine"].contains(&preset.name)) {
        for order in [[0, 1], [1, 0]] {
            let mut place = (preset.new)(2, 0);
            place.set_pool(&pool);
            order
                .iter()
                .enumerate()
                .for_each(|(at, &server)| place.set_free(NodeRow(at as u32), &servers[server]));
            let expected = order.iter().position(|&server| server == 0);
            assert_eq!(
                place.find(&demand, Allowed::ANY).map(NodeRow::index),
                expected,
                "{}",
                preset.name
            );
        }
    }
}

/// Of two machines of 32 and of 16 cores, with memory and disk in proportion, the first is taken.
#[test]
fn equal_fits_are_equal() {
    let place_on = |name: &str, pool: [u64; 3], nodes: [[u64; 3]; 2], demand: [u64; 3]| {
        let preset = PLACEMENTS.iter().find(|preset| preset.name == name).unwrap();
        let mut place = (preset.new)(3, 0);
        place.set_pool(&Resources::new(&pool));
        for (node, free) in (0..).zip(nodes) {
            place.set_free(NodeRow(node), &Resources::new(&free));
        }
        place.find(&Resources::new(&demand), Allowed::ANY).map(NodeRow::index)
    };
    let machines = [[32_000, 128 << 30, 2 << 40], [16_000, 64 << 30, 1 << 40]];
    let pool = [480_000, 1920 << 30, 30 << 40];
    for demand in [[1000, 3 << 30, 7 << 30], [700, 1 << 30, 0], [1, 1, 1]] {
        for name in ["cosine", "best-fit"] {
            assert_eq!(place_on(name, pool, machines, demand), Some(0), "{name}, {demand:?}");
        }
    }
    assert_eq!(place_on("cosine", [16, 16, 16], [[10, 10, 10], [6, 6, 6]], [1, 2, 3]), Some(0));
}
