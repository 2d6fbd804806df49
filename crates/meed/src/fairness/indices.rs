//! Fairness in one number, from the fairness degrees rho_i of all tenants (TSC'18 Sec. 4.2).

/// Sharing benefit degree Psi: the sum of what exceeds 1 (Eq. 4). Never negative.
pub fn sharing_benefit(rhos: impl IntoIterator<Item = f64>) -> f64 {
    rhos.into_iter().map(|rho| (rho - 1.0).max(0.0)).sum()
}

/// Sharing loss degree Omega: the sum of what falls short of 1, negative (Eq. 5). Never positive.
pub fn sharing_loss(rhos: impl IntoIterator<Item = f64>) -> f64 {
    // Adding to +0.0 keeps a loss of nothing from being printed as -0.
    rhos.into_iter().map(|rho| (rho - 1.0).min(0.0)).fold(0.0, |sum, loss| sum + loss)
}

/// Jain's index, (sum x)^2 / (n * sum x^2): 1 when all are equal, 1/n when one has everything;
/// `None` for nobody or all zero.
pub fn jain(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (n, sum, squares) = values
        .into_iter()
        .fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_known_values() {
        let rhos = [1.25, 0.5, 1.0];
        assert_eq!(sharing_benefit(rhos), 0.25);
        assert_eq!(sharing_loss(rhos), -0.5);
        assert!(sharing_loss([2.0]).is_sign_positive());
        assert_eq!(jain([3.0, 3.0]), Some(1.0));
        assert_eq!(jain([1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain([]), None);
    }
}
