//! Every placement against a scan over all nodes, on random steps.

use proptest::prelude::*;

use super::ratio_order::{Member, RatioOrder, cmp_ratio};
use super::*;
use crate::order::key::cmp_ratios;

/// Which of two nodes with room a scan prefers: whether the second is better.
type Better = fn(&Resources, &Resources, &Resources, &Resources) -> bool;

fn scan(
    free: &[Resources],
    demand: &Resources,
    pool: &Resources,
    allowed: Allowed<'_>,
    better: Better,
) -> Option<NodeRow> {
    let mut best: Option<usize> = None;
    for (node, room) in free.iter().enumerate() {
        if !demand.fits_in(room) || !allowed.contains(NodeRow(node as u32)) {
            continue;
        }
        if best.is_none_or(|best| better(demand, &free[best], room, pool)) {
            best = Some(node);
        }
    }
    best.map(|node| NodeRow(node as u32))
}

/// H of Eq. 9 in exact arithmetic where there are two kinds, as floats otherwise.
fn lower_h(demand: &Resources, best: &Resources, room: &Resources, pool: &Resources) -> bool {
    let exact = |room: &Resources| {
        let (p, q) = if demand.get(0) > 0 { (0, 1) } else { (1, 0) };
        let (up, down) = (
            u128::from(demand.get(q)) * u128::from(room.get(p)),
            u128::from(room.get(q)) * u128::from(demand.get(p)),
        );
        (up.abs_diff(down), room.get(p))
    };
    match demand.kinds() {
        1 => false,
        2 => {
            let ((n, m), (p, q)) = (exact(room), exact(best));
            cmp_ratios(n, m, p, q).is_lt()
        }
        _ => mismatch(demand, room, pool) < mismatch(demand, best, pool),
    }
}

fn higher_cosine(demand: &Resources, best: &Resources, room: &Resources, pool: &Resources) -> bool {
    let score =
        |room: &Resources| cosine::cosine(demand.as_slice(), room.as_slice(), pool.as_slice());
    demand.kinds() > 1 && score(room) > score(best) + 1e-12
}

fn more_room(demand: &Resources, best: &Resources, room: &Resources, pool: &Resources) -> bool {
    let kind = worst_fit::dominant_kind(demand, pool);
    room.get(kind) > best.get(kind)
}

/// What a scan prefers, by the placement's name; `None` where it is drawn.
fn twin(name: &str) -> Option<Better> {
    match name {
        "first-fit" => Some(|_, _, _, _| false),
        "best-fit" => Some(lower_h),
        "cosine" => Some(higher_cosine),
        "worst-fit" => Some(more_room),
        _ => None,
    }
}

#[derive(Clone, Debug)]
struct Step {
    node: usize,
    free: [u64; 3],
    demand: [u64; 3],
    barred: u64,
}

fn step(most: u64) -> impl Strategy<Value = Step> {
    let amounts = || prop::array::uniform3(0..most);
    (0usize..600, amounts(), amounts(), any::<u64>())
        .prop_map(|(node, free, demand, barred)| Step { node, free, demand, barred })
}

fn check(kinds: usize, steps: &[Step]) -> Result<(), TestCaseError> {
    let pool = Resources::new(&[1000, 3000, 700][..kinds]);
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
            let any = scan(&free, &demand, &pool, allowed, |_, _, _, _| false);
            prop_assert_eq!(found.is_some(), any.is_some(), "{} finds when there is", preset.name);
            prop_assert!(place.may_fit(&demand) || any.is_none(), "{} may fit", preset.name);
            if let Some(node) = found {
                prop_assert!(
                    demand.fits_in(&free[node.index()]) && allowed.contains(node),
                    "{}",
                    preset.name
                );
            }
            if let Some(better) = twin(preset.name) {
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
                let slow = scan(&free, &demand, &pool, allowed, better);
                if preset.name == "cosine" {
                    // Cosines that differ by rounding only are as good.
                    let score = |node: NodeRow| {
                        cosine::cosine(
                            demand.as_slice(),
                            free[node.index()].as_slice(),
                            pool.as_slice(),
                        )
                    };
                    let (a, b) = (found.map_or(0.0, score), slow.map_or(0.0, score));
                    prop_assert!((a - b).abs() <= 2e-12, "{a} is not {b}");
                } else {
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
        most in 1usize..4, steps in prop::collection::vec(step(crate::MAX_AMOUNT), 1..300),
    ) {
        check_missing(most, [crate::MAX_AMOUNT, crate::MAX_AMOUNT / 3], &steps)?;
    }

    #[test]
    fn finds_what_a_scan_finds(kinds in 1usize..4,
        steps in prop::collection::vec(step(7), 1..1200)) {
        check(kinds, &steps)?;
    }

    #[test]
    fn finds_what_a_scan_finds_among_large_amounts(
        kinds in 1usize..4, steps in prop::collection::vec(step(crate::MAX_AMOUNT), 1..400),
    ) {
        check(kinds, &steps)?;
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
    assert!(mismatch(&demand, &servers[0], &pool).abs() < 1e-12);
    assert!((mismatch(&demand, &servers[1], &pool) - 5.0 / 3.0).abs() < 1e-12);
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
