//! Tasks of a job that was held after it had begun.
//!
//! The scheduler cannot hold tasks: those that wait are withdrawn from its job, and when the job is
//! released they come as tasks of a new one, which it numbers from 0. A part is what came together:
//! it has a key of its own, and says which tasks of the job its tasks are.
//!
//! Invariant: a task belongs to the latest part that has it; those that no part has, to the job as
//! it was before it was first held so.

use meed_journal::JobKey;
use serde::{Deserialize, Serialize};

use super::row::{JobRow, Phase};

/// Tasks by number, in order: the first of each run, and how many.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobPart(Vec<(u32, u32)>);

impl JobPart {
    /// Of these numbers, which rise.
    pub fn of(numbers: &[u32]) -> JobPart {
        let mut part = JobPart::default();
        numbers.iter().for_each(|&number| part.push(number));
        part
    }

    /// One more, as the last.
    pub fn push(&mut self, number: u32) {
        match self.0.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => self.0.push((number, 1)),
        }
    }

    /// The task of the job that is number `place` here.
    fn at(&self, place: u32) -> Option<u32> {
        let mut left = place;
        for &(first, count) in &self.0 {
            if left < count {
                return Some(first + left);
            }
            left -= count;
        }
        None
    }

    /// Where a task of the job is.
    fn find(&self, number: u32) -> Option<u32> {
        let mut before = 0;
        for &(first, count) in &self.0 {
            if (first..first + count).contains(&number) {
                return Some(before + number - first);
            }
            before += count;
        }
        None
    }
}

impl JobRow {
    /// What the journal calls a part.
    pub fn key_of(&self, part: u32) -> JobKey {
        match part {
            0 => JobKey::Number(self.id),
            part => JobKey::from(format!("{}.{part}", self.id).as_str()),
        }
    }

    /// The part of that key.
    pub fn part_of(key: &JobKey) -> u32 {
        match key {
            JobKey::Number(_) => 0,
            JobKey::Text(text) => {
                text.split_once('.').and_then(|(_, part)| part.parse().ok()).unwrap_or(0)
            }
        }
    }

    /// The job's number of a task that the scheduler calls so.
    pub fn number_of(&self, key: &JobKey, task: u32) -> u32 {
        let part = self.parts.get(&JobRow::part_of(key));
        part.and_then(|part| part.at(task)).unwrap_or(task)
    }

    /// The part to which a task belongs, and its number there.
    pub fn place_of(&self, number: u32) -> (u32, u32) {
        let latest = self.parts.iter().rev().find_map(|(&part, of)| Some((part, of.find(number)?)));
        let whole = self.parts.keys().next().map_or(self.holds, |first| first.saturating_sub(1));
        latest.unwrap_or((whole, number))
    }

    /// Whether the scheduler's task of that name is this job's: it was not withdrawn.
    pub fn has(&self, key: &JobKey, task: u32) -> bool {
        let part = JobRow::part_of(key);
        self.place_of(self.number_of(key, task)) == (part, task)
    }

    /// Whether the job has begun and is held, and the scheduler's task of that name is this job's.
    pub fn holds_rest_of(&self, key: &JobKey, task: u32) -> bool {
        self.phase == Phase::Held && !self.parts.is_empty() && self.has(key, task)
    }

    /// How many tasks of the part that came last the scheduler was told of.
    pub fn told_here(&self) -> u32 {
        if self.parts.is_empty() { self.told } else { self.told_of_part }
    }

    /// Tasks that the scheduler knows, and that have not ended.
    pub fn there(&self) -> u32 {
        self.told.saturating_sub(self.done + self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_found_whatever_part_it_is_in() {
        let mut row: JobRow = serde_json::from_value(serde_json::json!({
            "id": 7, "uid": 0, "gid": 0, "user": "ann", "queue": "a", "name": "x",
            "submitted_us": 0, "phase": "told", "tasks": 10,
        }))
        .unwrap();
        assert_eq!((row.place_of(4), row.has(&row.key(), 4)), ((0, 4), true));
        // 0 to 2 and 5 had begun; later 3 and 9 have.
        row.holds = 1;
        row.parts.insert(1, JobPart::of(&[3, 4, 6, 7, 8, 9]));
        row.holds = 2;
        row.parts.insert(2, JobPart::of(&[4, 6, 7, 8]));
        let keys: Vec<JobKey> = (0..3).map(|part| row.key_of(part)).collect();
        assert_eq!(keys[2], row.key());
        for (number, place) in [(0, (0, 0)), (5, (0, 5)), (3, (1, 0)), (9, (1, 5)), (8, (2, 3))] {
            assert_eq!(row.place_of(number), place);
            let key = &keys[place.0 as usize];
            assert_eq!(row.number_of(key, place.1), number);
            assert!(row.has(key, place.1));
        }
        assert!(!row.has(&keys[0], 8) && !row.has(&keys[1], 1), "they were withdrawn");
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<JobRow>(&text).unwrap(), row);
    }
}
