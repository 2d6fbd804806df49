//! Cases that are known from docs/prices-and-plans.md, in periods of ten minutes instead of hours.

use super::case::{Payer, PlanCase, PlanLie, Wants};
use super::problem::PlanProblem;
use super::property::PlanProperty;

use Wants::{All, Nothing, Own};

const BUSY: [Wants; 2] = [All, All];

/// A tenant with one step of instances.
fn payer(
    problem: PlanProblem,
    fixed: Option<u32>,
    stay: (u32, u32),
    wants: [Wants; 2],
    task: [u32; 2],
) -> Payer {
    Payer {
        fixed,
        count: problem.step(),
        weight: 1,
        task,
        from: stay.0,
        until: stay.1,
        wants: wants.to_vec(),
    }
}

/// Two tenants, of which the first may lie. Where a problem has no fixed prices they pay the
/// market's.
pub(super) fn known(problem: PlanProblem, property: PlanProperty) -> Vec<PlanCase> {
    let first = |fixed, stay, wants| payer(problem, fixed, stay, wants, [2, 1]);
    let other = |fixed, stay, wants| payer(problem, fixed, stay, wants, [1, 2]);
    let case = |market: [u32; 2], tenants: [Payer; 2], lie: Option<PlanLie>| PlanCase {
        problem,
        market: market.to_vec(),
        tenants: tenants.to_vec(),
        liar: 0,
        lie,
        scale: 1,
    };
    let whole = (0, 2);
    let (early, late) = ((0, 1), (1, 2));
    let busy = [first(None, whole, BUSY), other(None, whole, BUSY)];
    let mut all = match property {
        PlanProperty::SharingIncentive | PlanProperty::AsYouPay => vec![
            // One pays 3 for the first period, the other 1 for the second.
            case([3, 1], [first(None, early, BUSY), other(None, late, BUSY)], None),
            // Fixed prices of 2 and 1 for the same.
            case([1, 1], [first(Some(2), whole, BUSY), other(Some(1), whole, BUSY)], None),
            // Lends a cheap period, wants a dear one.
            case([1, 4], [first(None, whole, BUSY), other(None, whole, [Nothing, All])], None),
            // Instances of weights 3 and 1.
            case([1, 1], [Payer { weight: 3, ..busy[0].clone() }, busy[1].clone()], None),
        ],
        PlanProperty::HoldingBack => vec![case(
            [1, 4],
            [first(None, whole, [Own, All]), other(None, whole, BUSY)],
            Some(PlanLie::Later { period: 0, by: 1 }),
        )],
        // For the money of one instance at 4 it lends four at 1.
        PlanProperty::Lending => vec![case(
            [1, 4],
            [first(None, late, [Nothing, All]), other(None, whole, BUSY)],
            Some(PlanLie::Early { by: 1 }),
        )],
        PlanProperty::BuyingLate => vec![case(
            [1, 1],
            [first(None, whole, [Own, All]), other(None, whole, [Nothing, All])],
            Some(PlanLie::From { period: 1 }),
        )],
        PlanProperty::Splitting => vec![
            case(
                [1, 1],
                [first(None, late, BUSY), other(None, whole, [Nothing, All])],
                Some(PlanLie::Name { periods: 1, gives: 0 }),
            ),
            // Half of the payment under each name, used one after the other.
            case(
                [1, 1],
                [first(None, whole, BUSY), other(None, whole, [Nothing, All])],
                Some(PlanLie::Name { periods: 1, gives: problem.step() / 2 }),
            ),
        ],
        PlanProperty::DearPrices => vec![case(
            [1, 1],
            [first(Some(1), whole, BUSY), other(None, whole, BUSY)],
            Some(PlanLie::Times { factor: 2 }),
        )],
        // Drives up the period in which it alone gives.
        PlanProperty::DrivingPrices => vec![case(
            [1, 1],
            [first(None, early, BUSY), other(None, late, BUSY)],
            Some(PlanLie::Drive { period: 0, factor: 4 }),
        )],
    };
    all.iter_mut().for_each(|case| case.mend(property));
    all
}
