//! Statements of account of a run whose nodes tenants contribute (docs/prices-and-plans.md).

use serde::Serialize;

/// The accounts of all tenants that contribute.
///
/// It is part of a [`RunRecord`](super::RunRecord), whose page has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AccountsRecord {
    /// What tenants are entitled by: `paid` or `contributed`.
    pub entitled: &'static str,
    /// What counts of what was received: `price` or `resource`.
    pub value: &'static str,
    /// What all have paid.
    pub paid: f64,
    /// The part of it whose worth was received; above 1 where tenants use different resources.
    pub used: f64,
    /// What the pool had, unit-hours of the measured resource.
    pub capacity: f64,
    /// One for each, in order of their first contributions.
    pub accounts: Vec<AccountRecord>,
}

/// A statement of account. Hours are unit-hours of the measured resource, each by its node's
/// weight; the rest is money.
///
/// It is part of an [`AccountsRecord`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AccountRecord {
    /// Full name of the tenant.
    pub queue: String,
    /// What it has paid.
    pub paid: f64,
    /// Hours that it has given to the pool.
    pub contributed: f64,
    /// Hours that it was entitled to; the sum over tenants is the pool's capacity.
    pub entitled: f64,
    /// Hours that it has received.
    pub received: f64,
    /// What it has received, in money: the sum over tenants is what all have paid.
    pub worth: f64,
    /// What the pool owes it (negative: it owes the pool); the sum over tenants is nothing.
    pub balance: f64,
}
