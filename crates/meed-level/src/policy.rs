//! The policies by name.

/// How the pool is shared.
///
/// ```
/// use meed_level::AllocationPolicy;
///
/// assert_eq!(AllocationPolicy::of_name("drfh"), Some(AllocationPolicy::Drfh));
/// assert_eq!(AllocationPolicy::PerServerDrf.name(), "per-server-drf");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AllocationPolicy {
    /// DRF as if the pool were one server: what totals allow, whether or not it can be placed.
    Drf,
    /// DRF over the pool, on its servers (TPDS'15 Eq. 6 and Sec. 5.1).
    Drfh,
    /// The same of past and present: whoever used less before rises first.
    LongTermDrf,
    /// The same with commitments for past over-use in the place of usage (Stateful DRF).
    Sdrf,
    /// Whoever has most credits rises first (Karma's over dominant shares, nothing guaranteed).
    MrKarma,
    /// What was received, by its worth, over what was paid (problems 1-1 to 4 of CloudCom'14).
    AsYouPay,
    /// DRF on every server by itself (TPDS'15 Sec. 3.4).
    PerServerDrf,
    /// Max-min over slots of fixed size (TPDS'15 Sec. 6.2).
    Slots,
}

/// Names of the policies, as users write them.
pub const POLICIES: &[(&str, AllocationPolicy)] = &[
    ("drf", AllocationPolicy::Drf),
    ("drfh", AllocationPolicy::Drfh),
    ("long-term-drf", AllocationPolicy::LongTermDrf),
    ("sdrf", AllocationPolicy::Sdrf),
    ("mr-karma", AllocationPolicy::MrKarma),
    ("as-you-pay", AllocationPolicy::AsYouPay),
    ("per-server-drf", AllocationPolicy::PerServerDrf),
    ("slots", AllocationPolicy::Slots),
];

impl AllocationPolicy {
    /// The policy of a name.
    pub fn of_name(name: &str) -> Option<AllocationPolicy> {
        POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        POLICIES.iter().find(|(_, policy)| *policy == self).map_or("", |(name, _)| name)
    }
}
