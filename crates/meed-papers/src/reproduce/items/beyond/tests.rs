//! The gap item: what must be so, whatever the draw.

use super::super::drfh::tests::{check_blocks, outcome};
use crate::reproduce::{Context, Measured};

#[test]
fn nobody_fits_more_than_the_optimum() {
    let outcome = outcome("beyond-gap", &Context::new(None, 2, 1));
    check_blocks(&outcome);
    assert_eq!(outcome.checks.len(), 20);
    for check in &outcome.checks {
        let Measured::Spread(spread) = &check.measured else { panic!("{}", check.what) };
        assert!(
            spread.five[0] > 30.0 && spread.five[4] <= 100.0 + 1e-9,
            "{}: {spread:?}",
            check.what
        );
    }
    // Tasks a tenth as large leave less of a gap.
    let median = |row: usize| match &outcome.checks[row].measured {
        Measured::Spread(spread) => spread.five[2],
        _ => f64::NAN,
    };
    assert!(
        median(5) > median(0) && median(15) > median(10),
        "best fit, small against large tasks"
    );
}
