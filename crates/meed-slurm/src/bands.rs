//! Users with `fairshare=parent` and with 0 shares, as Slurm's fair tree serves them: the first
//! comes before all others of the account, whatever was used, and the second behind all of them.
//! Neither moves the account among other accounts.
//!
//! > the places of an account's jobs in the order stay; within them come the jobs of the first
//! > band, then the ordinary ones, then those of the last band
//!
//! The engine knows weights alone, and the order within each band is the engine's. Cost: O(jobs x
//! depth of the tree).

use std::collections::BTreeMap;

/// Where a child stands among its siblings, before any use is looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Band {
    /// `fairshare=parent` of a user.
    First,
    /// Shares above 0.
    Ordinary,
    /// 0 shares, of a user or of an account.
    Last,
}

/// Children that are not in the ordinary band, by the full name of their queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bands(BTreeMap<String, Band>);

impl Bands {
    /// A child of some account stands in a band.
    pub(crate) fn put(&mut self, queue: &str, band: Band) {
        self.0.insert(queue.to_owned(), band);
    }

    /// The band of a child among its siblings.
    pub(crate) fn of(&self, queue: &str) -> Band {
        self.0.get(queue).copied().unwrap_or(Band::Ordinary)
    }

    /// Whether all stand in the ordinary band.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Brings items into the order of the bands at each level. `leaf`: the leaf of an item; an item
    /// without one keeps its place.
    pub(crate) fn apply<'l, T>(&self, items: &mut [T], leaf: impl Fn(&T) -> Option<&'l str>) {
        if self.is_empty() {
            return;
        }
        let mut levels: BTreeMap<&str, Vec<(usize, Band)>> =
            self.0.keys().map(|queue| (account_of(queue), Vec::new())).collect();
        // Which item stands at a place in the end, and where an item stands.
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut stands = order.clone();
        for (item, leaf) in items.iter().enumerate().filter_map(|(at, one)| Some((at, leaf(one)?)))
        {
            for child in upwards(leaf) {
                if let Some(level) = levels.get_mut(account_of(child)) {
                    level.push((item, self.of(child)));
                }
            }
        }
        for level in levels.values_mut() {
            // What another level has put in order stays so within a band.
            let mut places: Vec<usize> = level.iter().map(|(item, _)| stands[*item]).collect();
            places.sort_unstable();
            level.sort_by_key(|(item, band)| (*band, stands[*item]));
            for (place, (item, _)) in places.into_iter().zip(level) {
                (order[place], stands[*item]) = (*item, place);
            }
        }
        permute(items, order);
    }
}

/// A queue and those above it, without the root.
fn upwards(leaf: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(leaf), |queue| queue.rsplit_once('.').map(|(above, _)| above))
}

/// The queue of the account above; empty for the root.
fn account_of(queue: &str) -> &str {
    queue.rsplit_once('.').map_or("", |(above, _)| above)
}

/// Brings items into an order of their places.
fn permute<T>(items: &mut [T], mut order: Vec<usize>) {
    for at in 0..order.len() {
        // What was there has been put aside to where the place that was taken from points.
        let mut from = order[at];
        while from < at {
            from = order[from];
        }
        items.swap(at, from);
        order[at] = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(bands: &Bands, leaves: &[&'static str]) -> Vec<&'static str> {
        let mut items = leaves.to_vec();
        bands.apply(&mut items, |leaf| Some(*leaf));
        items
    }

    #[test]
    fn bands_move_jobs_within_the_places_of_their_account() {
        let mut bands = Bands::default();
        bands.put("chem.su6", Band::First);
        bands.put("bio.su7", Band::Last);
        let leaves = ["chem.su1", "bio.su7", "phys.a.u", "chem.su6", "bio.su8", "chem.su1"];
        let expected = ["chem.su6", "bio.su8", "phys.a.u", "chem.su1", "bio.su7", "chem.su1"];
        assert_eq!(order(&bands, &leaves), expected);
        assert_eq!(order(&Bands::default(), &leaves), leaves);
    }

    #[test]
    fn levels_have_bands_of_their_own() {
        let mut bands = Bands::default();
        // A user beside an account in physics, and an account with 0 shares, which has a user
        // with `parent`.
        bands.put("p.su9", Band::First);
        bands.put("z", Band::Last);
        bands.put("z.first", Band::First);
        let leaves = ["z.b", "p.optics.x", "z.first", "p.su9", "q.y"];
        let expected = ["p.su9", "p.optics.x", "q.y", "z.first", "z.b"];
        let found = order(&bands, &leaves);
        assert_eq!(found, expected);
        assert_eq!(order(&bands, &found), expected, "twice is as once");
    }

    #[test]
    fn items_without_a_leaf_keep_their_places() {
        let mut bands = Bands::default();
        bands.put("a.x", Band::Last);
        let mut items = [("a.x", true), ("", false), ("a.y", true)];
        bands.apply(&mut items, |(leaf, is_known)| is_known.then_some(*leaf));
        assert_eq!(items.map(|(leaf, _)| leaf), ["a.y", "", "a.x"]);
    }
}
