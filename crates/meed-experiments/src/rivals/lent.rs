//! How long it takes until a tenant has back what it lent, whoever orders.
//!
//! > L(t) = S (t - t0) - (U(t) - U(t0))
//!
//! S is the tenant's own part of the cluster, U what it has used, t0 when it first had work: L is
//! what its part alone would have given, less what it got. Who is idle lends, and L rises. A claim
//! begins when it waits, after it did not wait, while L > 0. It ends when L <= 0 (all is
//! back), when it waits no more (it has all that it wants), or with the run. Its time is
//!
//! > T = min { t > t1 : L(t) <= 0 or the tenant does not wait at t } - t1
//!
//! Seen at each full hour, so T is a number of hours; a claim that begins and ends between two of
//! them is not seen. Cost: O(1) for a tenant and an hour.

/// What is seen of a tenant at a full hour, in natural units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Glance {
    /// Its own part.
    pub(super) share: f64,
    /// Unit-seconds so far.
    pub(super) used: f64,
    /// Whether it has work at all.
    pub(super) works: bool,
    /// Whether something of it waits.
    pub(super) waits: bool,
}

/// A tenant's claims.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Claims {
    /// Since its first work: what its part would have given, and what it had used by then.
    since: Option<(f64, f64)>,
    waited: bool,
    /// The hour at which the open claim began.
    open: Option<usize>,
    /// Hours that each took.
    done: Vec<usize>,
}

impl Claims {
    /// It is `hour`; the last call was an hour ago.
    pub(super) fn note(&mut self, hour: usize, seen: Glance) {
        let Some((given, before)) = &mut self.since else {
            if seen.works {
                self.since = Some((0.0, seen.used));
                self.waited = seen.waits;
            }
            return;
        };
        *given += seen.share * super::windows::HOUR;
        let is_owed = *given - (seen.used - *before) > 0.0;
        match self.open {
            Some(from) if !is_owed || !seen.waits => {
                self.done.push(hour - from);
                self.open = None;
            }
            None if is_owed && seen.waits && !self.waited => self.open = Some(hour),
            _ => {}
        }
        self.waited = seen.waits;
    }

    /// Hours that each claim took, or has taken by the run's last full hour.
    pub(super) fn hours(&self, last: usize) -> impl Iterator<Item = usize> {
        let open = self.open.map(|from| last - from);
        self.done.iter().copied().chain(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claims(share: f64, hours: &[(f64, bool)]) -> Vec<usize> {
        let (mut claims, mut used) = (Claims::default(), 0.0);
        for (hour, &(more, waits)) in hours.iter().enumerate() {
            used += more * super::super::windows::HOUR;
            claims.note(hour, Glance { share, used, works: waits || more > 0.0, waits });
        }
        claims.hours(hours.len() - 1).collect()
    }

    #[test]
    fn a_claim_ends_when_all_is_back_or_nothing_is_wanted() {
        // Two units are its part. It has work at hour 0, lends four unit-hours, waits from hour 3
        // on and gets four an hour instead of two: at hour 5 all is back.
        let lends = [(0.0, true), (2.0, false), (0.0, false), (0.0, true)];
        let served = [(4.0, true), (4.0, true), (4.0, true), (4.0, true)];
        assert_eq!(claims(2.0, &[&lends[..], &served].concat()), [2]);
        // It has all that it wants an hour later.
        assert_eq!(claims(2.0, &[&lends[..], &[(1.0, false), (1.0, false)]].concat()), [1]);
        // It never gets anything: the run ends five hours later.
        assert_eq!(claims(2.0, &[&lends[..], &[(0.0, true); 5]].concat()), [5]);
        // Who never lent claims nothing.
        assert_eq!(claims(2.0, &[(0.0, true), (9.0, false), (0.0, true)]), [] as [usize; 0]);
    }

    proptest! {
        /// From the definition: every beginning by itself, and its end by a search.
        #[test]
        fn claims_are_what_the_formula_says(
            share in 1u32..4, hours in prop::collection::vec((0u32..8, any::<bool>()), 1..60),
        ) {
            let hours: Vec<(f64, bool)> =
                hours.into_iter().map(|(used, waits)| (f64::from(used), waits)).collect();
            let first = hours.iter().position(|&(used, waits)| waits || used > 0.0);
            let mut wanted = Vec::new();
            if let Some(first) = first {
                let owed = |t: usize| {
                    let used: f64 = hours[first + 1..=t].iter().map(|hour| hour.0).sum();
                    f64::from(share) * (t - first) as f64 - used
                };
                for t1 in first + 1..hours.len() {
                    if hours[t1].1 && !hours[t1 - 1].1 && owed(t1) > 0.0 {
                        let ends = |t: &usize| owed(*t) <= 0.0 || !hours[*t].1;
                        let end = (t1 + 1..hours.len()).find(ends).unwrap_or(hours.len() - 1);
                        wanted.push(end - t1);
                    }
                }
            }
            prop_assert_eq!(claims(f64::from(share), &hours), wanted);
        }
    }
}
