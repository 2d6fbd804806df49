//! Order and quantiles across tenants.

use meed_driver::record::RunRecord;

/// Indices of the run's tenants by rising rho; tenants without a rho (no demand) are left out. Ties
/// keep the order of declaration.
pub(crate) fn by_rho(run: &RunRecord) -> Vec<usize> {
    let mut known: Vec<(usize, f64)> = run
        .queues
        .iter()
        .enumerate()
        .filter_map(|(i, q)| q.rho.filter(|r| r.is_finite()).map(|r| (i, r)))
        .collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    known.into_iter().map(|(i, _)| i).collect()
}

/// Finite values in rising order.
pub(crate) fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut known: Vec<f64> = values.flatten().filter(|v| v.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    known
}

/// The quantile `q` (0 to 1) of sorted values, interpolated between neighbours; nothing of nothing.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let at = q.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(at.floor() as usize)?, sorted.get(at.ceil() as usize)?);
    Some(low + (high - low) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let v = sorted([Some(3.0), None, Some(1.0), Some(f64::NAN), Some(2.0)].into_iter());
        assert_eq!(v, [1.0, 2.0, 3.0]);
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|q| quantile(&v, q)), [1.0, 1.5, 2.0, 3.0].map(Some));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
