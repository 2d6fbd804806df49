//! From a 64-bit key to a dense number: open addressing, with linear probing.
//!
//! A file of millions of rows asks once per row; an ordered map would take much of the reading
//! time. Nothing ever walks over the table, so its order cannot show. Cost: 12 bytes per place, at
//! most half of them taken.

/// Numbers of keys. The key `u64::MAX` cannot be held.
pub(super) struct Index {
    places: Vec<(u64, u32)>,
    taken: usize,
}

/// Marks a free place.
const FREE: u64 = u64::MAX;

impl Index {
    pub(super) fn new() -> Index {
        Index { places: vec![(FREE, 0); 1024], taken: 0 }
    }

    /// Where `key` stands, or would stand.
    fn place(&self, key: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut state = key;
        let mut place = crate::generate::split_mix(&mut state) as usize & mask;
        while self.places[place].0 != key && self.places[place].0 != FREE {
            place = (place + 1) & mask;
        }
        place
    }

    /// The number of `key`, if it has one.
    pub(super) fn get(&self, key: u64) -> Option<u32> {
        let (found, number) = self.places[self.place(key)];
        (found == key).then_some(number)
    }

    /// Gives `key` a number, in place of an earlier one.
    pub(super) fn set(&mut self, key: u64, number: u32) {
        debug_assert_ne!(key, FREE);
        let place = self.place(key);
        let new = self.places[place].0 == FREE;
        self.places[place] = (key, number);
        self.taken += usize::from(new);
        if self.taken * 2 > self.places.len() {
            let places = vec![(FREE, 0); self.places.len() * 2];
            for (key, number) in std::mem::replace(&mut self.places, places) {
                if key != FREE {
                    let place = self.place(key);
                    self.places[place] = (key, number);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_is_an_ordered_map_without_the_order() {
        let (mut index, mut map) = (Index::new(), BTreeMap::new());
        let mut state = 7;
        for number in 0..20_000 {
            // Keys come again, and stand close together.
            let key = crate::generate::split_mix(&mut state) % 9_000;
            index.set(key, number);
            map.insert(key, number);
        }
        assert!((0..9_500).all(|key| index.get(key) == map.get(&key).copied()));
        assert_eq!(index.taken, map.len());
    }
}
