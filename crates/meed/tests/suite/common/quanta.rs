//! The slow twin's adaptive quanta, from the papers (ICS'14 Sec. 5.2.1, Fig. 3; TSC'18 Sec. 6.2.1):
//! handed down when something new comes, averaged up when tasks have ended.
//!
//! Averages are taken at whole multiples of the interval: at the first after a task has ended. Each
//! mean is taken over a list, anew, and rounded down to the microsecond.
//!
//! With [`Untried::Ended`] a leaf's mean is over its own list of tasks that ended, which becomes as
//! half as many of the same sum when it has 128, and jobs of which none has ended follow the leaf.

use std::collections::BTreeMap;

use super::model::Model;
use meed::*;

/// What is kept besides each queue's and each job's quantum.
#[derive(Clone)]
pub(crate) struct Quanta {
    interval: u64,
    untried: Untried,
    /// Of each leaf that has any, run times of tasks that ended.
    ended: BTreeMap<usize, Vec<u64>>,
    /// When averages are taken next.
    next: Option<u64>,
    /// Leaves of which a task has ended since then, or a job has gone that had learnt.
    learnt: Vec<usize>,
    /// Jobs that had learnt and have gone since then: of which leaf, and their means.
    gone: Vec<(usize, u64)>,
}

fn mean(of: &[u64]) -> Option<u64> {
    let sum: u128 = of.iter().map(|&one| u128::from(one)).sum();
    (!of.is_empty()).then(|| (sum / of.len() as u128) as u64)
}

impl Model {
    /// The first policy that asks for an adaptive quantum says where all begin; jobs that are there
    /// by then are handed theirs.
    pub(crate) fn begin_to_learn(&mut self, policy: &Policy) {
        let (None, Quantum::Adaptive { initial, interval, untried }) =
            (&self.quanta, policy.quantum)
        else {
            return;
        };
        let (next, learnt, gone) = (None, Vec::new(), Vec::new());
        let (interval, ended) = (interval.as_micros(), BTreeMap::new());
        self.quanta = Some(Quanta { interval, untried, ended, next, learnt, gone });
        self.queues[0].quantum = Some(initial.as_micros());
        for job in 0..self.jobs.len() {
            if self.jobs[job].alive {
                self.hand_down(job);
            }
        }
    }

    /// A new job has its leaf's quantum, a new leaf its parent's, up to the root.
    pub(crate) fn hand_down(&mut self, job: usize) {
        if self.quanta.is_none() {
            return;
        }
        let path = self.path(self.jobs[job].queue);
        for pair in path.windows(2) {
            let handed = self.queues[pair[0]].quantum;
            let queue = &mut self.queues[pair[1]];
            queue.quantum = queue.quantum.or(handed);
        }
        let leaf = self.queues[self.jobs[job].queue].quantum;
        self.jobs[job].quantum = leaf.expect("it has just been handed down");
    }

    /// A task of a job has ended well.
    pub(crate) fn job_learns(&mut self, job: usize, ran: u64) {
        self.jobs[job].ran.push(ran);
        let leaf = self.jobs[job].queue;
        if let Some(quanta) = &mut self.quanta {
            let ended = quanta.ended.entry(leaf).or_default();
            ended.push(ran);
            if ended.len() == 128 {
                let half = ended.iter().sum::<u64>() / 2;
                // As many numbers of that sum.
                *ended = vec![half / 64; 64];
                ended[0] += half % 64;
            }
        }
        self.note_learnt(leaf);
    }

    /// A job is gone.
    pub(crate) fn job_left(&mut self, job: usize) {
        let leaf = self.jobs[job].queue;
        let is_handed = |quanta: &Quanta| quanta.untried == Untried::Handed;
        if let Some(mean) =
            mean(&self.jobs[job].ran).filter(|_| self.quanta.as_ref().is_some_and(is_handed))
        {
            self.note_learnt(leaf);
            if let Some(quanta) = &mut self.quanta {
                quanta.gone.push((leaf, mean));
            }
        }
    }

    fn note_learnt(&mut self, leaf: usize) {
        let now = self.now;
        if let Some(quanta) = &mut self.quanta {
            quanta.next.get_or_insert((now / quanta.interval + 1) * quanta.interval);
            quanta.learnt.push(leaf);
        }
    }

    /// A queue is gone, and what its jobs have learnt.
    pub(crate) fn quantum_left(&mut self, q: usize) {
        self.queues[q].quantum = None;
        if let Some(quanta) = &mut self.quanta {
            quanta.learnt.retain(|&leaf| leaf != q);
            quanta.gone.retain(|&(leaf, _)| leaf != q);
            quanta.ended.remove(&q);
        }
    }

    /// Takes the averages, if it is time: of jobs, then of their leaves, then of the parents of
    /// queues whose quantum is another one now.
    pub(crate) fn refresh_quanta(&mut self) {
        let now = self.now;
        let due = |quanta: &&mut Quanta| quanta.next.is_some_and(|next| next <= now);
        let Some(quanta) = self.quanta.as_mut().filter(due) else { return };
        quanta.next = None;
        let ended = (quanta.untried == Untried::Ended).then(|| quanta.ended.clone());
        let (learnt, gone) = (std::mem::take(&mut quanta.learnt), std::mem::take(&mut quanta.gone));
        for job in self.jobs.iter_mut().filter(|job| job.alive) {
            job.quantum = mean(&job.ran).unwrap_or(job.quantum);
        }
        let mut changed: Vec<bool> = vec![false; self.queues.len()];
        // Children come after their parents.
        for q in (0..self.queues.len()).rev() {
            let of: Vec<u64> = match (self.is_leaf(q), &ended) {
                (true, Some(ended)) if learnt.contains(&q) => {
                    ended.get(&q).cloned().unwrap_or_default()
                }
                (true, _) if learnt.contains(&q) => {
                    let live = self.jobs.iter().filter(|job| job.alive && job.queue == q);
                    let gone = gone.iter().filter(|(leaf, _)| *leaf == q).map(|(_, mean)| *mean);
                    live.map(|job| job.quantum).chain(gone).collect()
                }
                (true, _) => continue,
                (false, _) if self.children(q).iter().any(|&child| changed[child]) => {
                    self.children(q).iter().filter_map(|&c| self.queues[c].quantum).collect()
                }
                (false, _) => continue,
            };
            if let Some(mean) = mean(&of) {
                changed[q] = self.queues[q].quantum.replace(mean) != Some(mean);
            }
        }
        for job in self.jobs.iter_mut().filter(|job| job.alive && job.ran.is_empty()) {
            if let (Some(_), true) = (&ended, learnt.contains(&job.queue)) {
                job.quantum = self.queues[job.queue].quantum.unwrap_or(job.quantum);
            }
        }
    }
}
