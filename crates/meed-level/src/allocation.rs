//! A result: shares, who is served where, and the certificate.

/// What a user gets.
///
/// It is part of an [`Allocation`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UserShare {
    /// The share of the pool of the resource of which its tasks take the largest share.
    pub dominant_share: f64,
    /// Tasks served, in fractions.
    pub tasks: f64,
}

/// One round of the certificate: these users cannot rise above the level.
///
/// It is part of a [`Certificate`], whose page has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct Round {
    /// (x_i + H_i) / w_i of everyone who stops here, and a bound for all who have not stopped
    /// before.
    pub level: f64,
    /// Users that stop here although they have more tasks, as indices.
    pub users: Vec<usize>,
    /// For each server of the result, the price of one unit of each resource of the problem.
    /// Together all that the servers have is worth 1.
    pub prices: Vec<Vec<f64>>,
}

/// Prices that prove that nobody can get more without somebody who has no more getting less; see
/// [`verify`](crate::verify::verify) for how to check that.
///
/// ```
/// use meed_level::{AllocationPolicy, allocate, examples, verify};
///
/// let (problem, policy) = (examples::figure_2(), AllocationPolicy::Drfh);
/// let solved = allocate(&problem, policy)?;
/// verify(&problem, policy, &solved)?;
/// let certificate = solved.certificate.ok_or("DRFH has one")?;
/// assert!(certificate.gap < 1e-7 && certificate.rounds[0].users == [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Certificate {
    /// Share and past, x_i + H_i, are at least (1 - gap) times what the levels say.
    pub gap: f64,
    /// Rounds, by rising level. Whoever is in none has all tasks served.
    pub rounds: Vec<Round>,
}

/// A problem, solved.
///
/// ```
/// use meed_level::{AllocationPolicy, allocate, examples};
///
/// // TPDS'15 Fig. 2 and 4: two servers, two users; each gets ten tasks, the share 5/7.
/// let solved = allocate(&examples::figure_2(), AllocationPolicy::Drfh)?;
/// for user in &solved.users {
///     assert!((user.tasks - 10.0).abs() < 1e-9);
///     assert!((user.dominant_share - 5.0 / 7.0).abs() < 1e-9);
/// }
/// # Ok::<(), meed_level::InputError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Allocation {
    /// The least (x_i + H_i) / w_i among users that want more; `None` when nobody does.
    pub level: Option<f64>,
    /// In the problem's order.
    pub users: Vec<UserShare>,
    /// For each server class of the problem, users and tasks served on all its servers together.
    /// One entry for the whole pool where the policy knows no servers
    /// ([`AllocationPolicy::Drf`](crate::AllocationPolicy::Drf)).
    pub servers: Vec<Vec<(usize, f64)>>,
    /// The proof; `None` where the policy optimises nothing over the pool.
    pub certificate: Option<Certificate>,
    /// What the reader should know.
    pub remarks: Vec<String>,
}
