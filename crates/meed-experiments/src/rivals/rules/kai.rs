//! `kai`: the time-based fair share of KAI-Scheduler.
//!
//! > each queue first min(deserved, request); the rest in rounds in proportion to
//! > P = max(0, W + k * (W - U)),  W = weight / weights of who wants more, U = its part of the
//! > pool's capacity x time over the window
//!
//! Shares are whole units, what rounding leaves goes to the largest rests. Who holds less than his
//! share comes before who does not, then who holds less. Use counts for a window, and then not at
//! all.
//!
//! Source: `pkg/scheduler/plugins/proportion/resource_division/resource_division.go`. Deserved is a
//! part of the static share, 0 by default, so that history has its say over all. The window slides
//! in steps of a 168th of itself (an hour of a week); the half-life within it, off by default, is
//! not modelled. KAI takes back by reclaiming; nothing is stopped here.

use std::collections::VecDeque;

use meed::Rank;

use super::super::rule::{Rule, Seen};

/// Steps in which the window slides.
const STEPS: usize = 168;

/// See the module.
pub(crate) struct Kai {
    k: f64,
    deserved: f64,
    step: f64,
    /// Of the last step.
    elapsed: f64,
    /// Unit-seconds of each child in each step, and capacity x time, the newest last.
    steps: VecDeque<(Vec<f64>, f64)>,
    /// The sums over all steps.
    used: Vec<f64>,
    capacity: f64,
}

impl Kai {
    /// With k, the window in seconds, and the part of the static share that is deserved.
    pub(crate) fn new(k: f64, window: f64, deserved: f64) -> Kai {
        Kai {
            k,
            deserved,
            step: window / STEPS as f64,
            elapsed: 0.0,
            steps: VecDeque::from([(Vec::new(), 0.0)]),
            used: Vec::new(),
            capacity: 0.0,
        }
    }

    fn slide(&mut self) {
        self.elapsed -= self.step;
        self.steps.push_back((Vec::new(), 0.0));
        if self.steps.len() <= STEPS {
            return;
        }
        self.steps.pop_front();
        // Summed anew: what was added and taken away again would leave rounding behind.
        self.used.iter_mut().for_each(|used| *used = 0.0);
        self.capacity = 0.0;
        for (used, capacity) in &self.steps {
            self.used.iter_mut().zip(used).for_each(|(sum, used)| *sum += used);
            self.capacity += capacity;
        }
    }
}

/// A queue in the division of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// What it gets before all else, if it asks for so much.
    pub(crate) deserved: f64,
    /// `OverQuotaWeight`.
    pub(crate) weight: f64,
    /// What it asks for in all.
    pub(crate) request: f64,
    /// Its part of capacity x time over the window.
    pub(crate) usage: f64,
}

/// Divides `total`; what each gets, and what is left. Earlier queues were created first.
pub(crate) fn divide(total: f64, k: f64, queues: &[Queue]) -> (Vec<f64>, f64) {
    let first = |queue: &Queue| queue.deserved.min(queue.request);
    let mut shares: Vec<f64> = queues.iter().map(first).collect();
    let mut left = (total - shares.iter().sum::<f64>()).max(0.0);
    let mut rests: Vec<Option<f64>> = vec![None; queues.len()];
    while left > 0.0 {
        let (weights, sum) = round_weights(k, queues, &shares);
        if sum <= 0.0 {
            break;
        }
        let (round, mut again) = (left, false);
        for (i, queue) in queues.iter().enumerate() {
            let wants = queue.request - shares[i];
            if left <= 0.0 || wants <= 0.0 || queue.weight <= 0.0 {
                continue;
            }
            let part = round * (weights[i] / sum);
            let gets = if wants <= part { wants } else { libm::floor(part) };
            rests[i] = (wants > part && part > gets).then_some(part - gets);
            (shares[i], left) = (shares[i] + gets, left - gets);
            again |= gets > 0.0 && wants < part;
        }
        if !again {
            break;
        }
    }
    let mut order: Vec<usize> = (0..queues.len()).filter(|&i| rests[i].is_some()).collect();
    order.sort_by(|&a, &b| rests[b].partial_cmp(&rests[a]).expect("finite").then(a.cmp(&b)));
    for i in order {
        let gets = left.min(1.0);
        (shares[i], left) = (shares[i] + gets, left - gets);
    }
    (shares, left)
}

/// P of each queue that wants more, and their sum.
fn round_weights(k: f64, queues: &[Queue], shares: &[f64]) -> (Vec<f64>, f64) {
    let wants_more = |i: usize| queues[i].request > shares[i];
    let all = 0..queues.len();
    let total: f64 = all.clone().filter(|&i| wants_more(i)).map(|i| queues[i].weight).sum();
    let weight = |i: usize| match wants_more(i) && total > 0.0 {
        true => {
            let normal = queues[i].weight / total;
            (normal + k * (normal - queues[i].usage)).max(0.0)
        }
        false => 0.0,
    };
    let weights: Vec<f64> = all.map(weight).collect();
    let sum = weights.iter().sum();
    (weights, sum)
}

impl Rule for Kai {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.used.resize(seen.children.len(), 0.0);
        self.elapsed += seen.seconds;
        if let Some((used, capacity)) = self.steps.back_mut() {
            used.resize(seen.children.len(), 0.0);
            for ((sum, used), child) in self.used.iter_mut().zip(used).zip(seen.children) {
                // Gauges are sampled: what is held now counts for the whole tick.
                *used += child.held * seen.seconds;
                *sum += child.held * seen.seconds;
            }
            *capacity += seen.capacity * seen.seconds;
            self.capacity += seen.capacity * seen.seconds;
        }
        while self.elapsed >= self.step {
            self.slide();
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let weights = seen.weights();
        let queue = |(child, used): (&super::Child, &f64)| Queue {
            deserved: self.deserved * seen.capacity * (child.weight / weights),
            weight: child.weight,
            request: child.wants,
            usage: if self.capacity > 0.0 { used / self.capacity } else { 0.0 },
        };
        let queues: Vec<Queue> = seen.children.iter().zip(&self.used).map(queue).collect();
        let (shares, _) = divide(seen.capacity, self.k, &queues);
        ranks.clear();
        ranks.extend(shares.iter().map(|&share| Rank {
            step: 1,
            quota: seen.smallest(share),
            ..Rank::at(0)
        }));
    }
}
