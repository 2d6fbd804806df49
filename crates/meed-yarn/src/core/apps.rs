//! Applications that live, by name and by place.
//!
//! Whoever has an application's place needs its name no more. A place is free for another one once
//! its application is over.

use std::collections::BTreeMap;
use std::ops::Range;

use meed::{QueueId, Span, Time};
use meed_journal::JobKey;

use super::by_name::ByName;

/// An application that lives.
#[derive(Default)]
pub(super) struct App {
    pub(super) name: String,
    /// The key of its job: another one after it has moved to another queue.
    pub(super) job: Option<JobKey>,
    /// As the engine calls it.
    pub(super) queue: String,
    /// The same queue.
    pub(super) leaf: Option<QueueId>,
    /// Tasks that were added so far.
    pub(super) tasks: u32,
    /// Those that wait: by size (mebibytes, cores), ranges of numbers.
    pub(super) waiting: BTreeMap<(u64, u64), Vec<Range<u32>>>,
    /// What its containers hold: mebibytes, cores.
    pub(super) held: [u64; 2],
    /// Its quantum when its row was told, and when the row leaves its line.
    pub(super) told: Option<(Span, Time)>,
    /// Something was told of it since the last answer.
    pub(super) is_touched: bool,
}

/// See the module.
#[derive(Default)]
pub(super) struct Apps {
    places: ByName<usize>,
    rows: Vec<Option<App>>,
    free: Vec<usize>,
}

impl Apps {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    pub(super) fn at(&self, place: usize) -> Option<&App> {
        self.rows.get(place)?.as_ref()
    }

    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut App> {
        self.rows.get_mut(place)?.as_mut()
    }

    pub(super) fn named(&self, name: &str) -> Option<&App> {
        self.at(self.place(name)?)
    }

    /// Each with its place, in the order of places.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, &App)> {
        let all = self.rows.iter().enumerate();
        all.filter_map(|(place, row)| Some((place, row.as_ref()?)))
    }

    /// In order of names: for answers that tell all.
    pub(super) fn all_places(&self) -> Vec<usize> {
        let names = self.places.names(|_, _| true);
        names.iter().filter_map(|name| self.place(name)).collect()
    }

    /// Its place; one of that name that was there is there no more.
    pub(super) fn put(&mut self, app: App) -> usize {
        let place = match self.places.get(&app.name) {
            Some(&known) => known,
            None => {
                let place = self.free.pop().unwrap_or(self.rows.len());
                if place == self.rows.len() {
                    self.rows.push(None);
                }
                self.places.insert(&app.name, place);
                place
            }
        };
        self.rows[place] = Some(app);
        place
    }

    pub(super) fn take(&mut self, place: usize) -> Option<App> {
        let app = self.rows.get_mut(place)?.take()?;
        self.places.remove(&app.name);
        self.free.push(place);
        Some(app)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(name: &str) -> App {
        App { name: name.to_owned(), ..App::default() }
    }

    #[test]
    fn a_place_is_free_again_once_its_application_is_over() {
        let mut apps = Apps::default();
        let (one, two) = (apps.put(app("b")), apps.put(app("a")));
        assert_eq!(apps.all_places(), [two, one]);
        assert_eq!(apps.each().map(|(place, _)| place).collect::<Vec<_>>(), [one, two]);
        assert_eq!(apps.put(App { tasks: 7, ..app("b") }), one);
        assert_eq!((apps.len(), apps.named("b").map(|app| app.tasks)), (2, Some(7)));
        assert_eq!(apps.take(one).map(|app| app.tasks), Some(7));
        assert!(apps.take(one).is_none() && apps.named("b").is_none());
        assert_eq!((apps.put(app("c")), apps.len()), (one, 2));
    }
}
