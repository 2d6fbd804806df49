//! The books at the end of a run, as the record has them (docs/prices-and-plans.md).
//!
//! > worth_i = V_i * (sum of paid) / (sum of V): what was received, in money, all money counted
//! > balance_i = E_i * (sum of paid) / (sum of E) - worth_i
//!
//! So what all have paid is worth what all have received, whoever left what idle, and balances sum
//! to nothing.

use meed_driver::record::{AccountRecord, AccountsRecord};
use meed_scenario::plans::{Entitled, GRAINS, MONEY, ValueBy};
use num_bigint::{BigInt, BigUint};

use super::Accounts;

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// An integer as a float, over another.
fn ratio(above: &BigInt, below: &BigInt) -> f64 {
    if *below == BigInt::ZERO {
        return 0.0;
    }
    // At least 64 bits of the quotient.
    let up = 96u64.saturating_add(below.bits()).saturating_sub(above.bits());
    let quotient = (above << up) / below;
    let (sign, digits) = (quotient < BigInt::ZERO, quotient.magnitude().to_u64_digits());
    let float = digits.iter().rev().fold(0.0, |sum, &digit| sum * TWO_TO_64 + digit as f64);
    // Halves are exact.
    let float = (0..up).fold(float, |float, _| float * 0.5);
    if sign { -float } else { float }
}

impl Accounts {
    /// See the module. `scale`: smallest units of the measured resource in a natural one.
    pub(crate) fn statement(&self, scale: u64) -> AccountsRecord {
        let tenants = || 0..self.accounts.len();
        let terms = self.table.terms;
        let most = |tenant| self.values(tenant, terms.value).into_iter().max().unwrap_or_default();
        let credits: Vec<BigUint> =
            tenants().map(|tenant| self.credit(tenant, terms.entitled)).collect();
        let values: Vec<BigUint> = tenants().map(most).collect();
        let (credit, value): (BigUint, BigUint) = (credits.iter().sum(), values.iter().sum());
        self.check(&credit);
        let paid = BigInt::from(self.all_paid());
        let whole = BigInt::from(GRAINS) * MONEY;
        let money = |above: BigInt, below: &BigInt| ratio(&above, &(below * &whole));
        let hour = BigInt::from(1000u64) * scale * 3_600_000_000u64;
        let hours = |amount: &BigUint| ratio(&BigInt::from(amount.clone()), &hour);
        let (credit, value) = (BigInt::from(credit), BigInt::from(value));
        let one = BigInt::from(1u8);
        // paid * (E_i / E - V_i / V), over one denominator: the numerators sum to nothing.
        let both = match (credit == BigInt::ZERO, value == BigInt::ZERO) {
            (true, _) => one.clone(),
            (false, true) => credit.clone(),
            (false, false) => &credit * &value,
        };
        let mut sum = BigInt::ZERO;
        let account = |tenant: usize| {
            let account = &self.accounts[tenant];
            let (own_credit, own_value) =
                (BigInt::from(credits[tenant].clone()), BigInt::from(values[tenant].clone()));
            let owed = match value == BigInt::ZERO {
                true => BigInt::ZERO,
                false => &paid * (&own_credit * &value - &own_value * &credit),
            };
            sum += &owed;
            AccountRecord {
                queue: self.table.tenants[tenant].clone(),
                paid: money(BigInt::from(account.paid), &one),
                contributed: hours(&BigUint::from(account.contributed)),
                entitled: hours(&account.entitled),
                received: hours(&BigUint::from(account.received[self.measured])),
                worth: money(&paid * own_value, &value),
                balance: money(owed, &both),
            }
        };
        let accounts = tenants().map(account).collect();
        assert_eq!(sum, BigInt::ZERO, "balances sum to nothing");
        let all: BigUint = tenants()
            .map(|tenant| self.values(tenant, ValueBy::Price).into_iter().max().unwrap_or_default())
            .sum();
        AccountsRecord {
            entitled: match terms.entitled {
                Entitled::Paid => "paid",
                Entitled::Contributed => "contributed",
            },
            value: match terms.value {
                ValueBy::Price => "price",
                ValueBy::Resource => "resource",
            },
            paid: money(paid.clone(), &one),
            used: ratio(&BigInt::from(all), &(paid * BigInt::from(self.table.whole.clone()))),
            capacity: hours(&BigUint::from(self.capacity)),
            accounts,
        }
    }

    /// What must hold of the sums.
    fn check(&self, credit: &BigUint) {
        let paid: u128 = self.accounts.iter().map(|account| account.paid).sum();
        assert_eq!(paid, self.all_paid(), "payments are what contributions cost");
        let entitled: BigUint = self.accounts.iter().map(|account| &account.entitled).sum();
        assert_eq!(entitled, BigUint::from(self.capacity), "all are entitled to the capacity");
        let given: u128 = match self.table.terms.entitled {
            Entitled::Paid => self.all_paid(),
            Entitled::Contributed => self.paid,
        };
        assert_eq!(*credit, &self.table.whole * given, "credits are what was paid");
    }
}
