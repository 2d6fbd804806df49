//! What the SWIM reader invents because the format does not hold it. Every choice can be set.
//!
//! SWIM traces have bytes, but no users, no tasks and no durations. Results from them rest on these
//! choices: say so beside every figure.

use meed::{ResourceKinds, Resources, Span};
use meed_config::units::{format_amount, format_span};

use crate::TraceError;
use crate::fields::one_of_first;
use crate::generate::{Stream, sum_weights};

/// How jobs are split over the tenants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TenantSplit {
    /// The first job to the first tenant, the second to the second, and round again.
    RoundRobin,
    /// Each job to a tenant drawn at random (ChaCha8 from this seed).
    Random {
        /// The seed.
        seed: u64,
        /// How likely each tenant is; empty for all equally.
        weights: Vec<u32>,
    },
}

/// All choices of the SWIM reader.
#[derive(Clone, PartialEq, Debug)]
pub struct SwimAssumptions {
    /// The tenants: the names of the queues. Four, as in the LTYARN experiments.
    pub tenants: Vec<String>,
    /// How jobs are split over them. Random, because a round robin would give neighbours in time,
    /// which are often one user's, to different tenants in a fixed pattern; seed 1, equal weights.
    pub split: TenantSplit,
    /// Input bytes that one map task reads: 64 MiB, the HDFS block of the time.
    pub map_bytes: u64,
    /// Shuffle bytes that one reduce task takes: 1 GB, what Hive and Pig gave a reducer. Without
    /// shuffle bytes a job is map-only.
    pub reduce_bytes: u64,
    /// Most maps, and most reduces, of a job: 10,000. Beyond that each task takes more bytes, so
    /// that no work is lost.
    pub max_tasks: u32,
    /// Time that every task takes whatever its bytes: 4 s, to start its process and to be noticed
    /// by a heartbeat.
    pub task_base: Span,
    /// Bytes a second of a map: 10 MB/s, so that a full one takes 10.7 s. With all defaults the
    /// mean task of the 6,638-job sample of 2009 takes 11.4 s; the LTYARN papers' Facebook tasks
    /// take about 11 s.
    pub map_bytes_per_s: u64,
    /// Bytes a second of a reduce: 50 MB/s, so that a full one takes 24 s.
    pub reduce_bytes_per_s: u64,
    /// What a map holds; when not given, one of the first kind that is not counted in bytes (a
    /// slot).
    pub map_demand: Option<Resources>,
    /// What a reduce holds; likewise.
    pub reduce_demand: Option<Resources>,
}

impl Default for SwimAssumptions {
    fn default() -> SwimAssumptions {
        SwimAssumptions {
            tenants: (1..=4).map(|number| format!("t{number}")).collect(),
            split: TenantSplit::Random { seed: 1, weights: Vec::new() },
            map_bytes: 64 << 20,
            reduce_bytes: 1_000_000_000,
            max_tasks: 10_000,
            task_base: Span::from_secs(4).unwrap_or(Span::ZERO),
            map_bytes_per_s: 10_000_000,
            reduce_bytes_per_s: 50_000_000,
            map_demand: None,
            reduce_demand: None,
        }
    }
}

impl SwimAssumptions {
    pub(super) fn check(
        &self,
        kinds: &ResourceKinds,
    ) -> Result<(Resources, Resources), TraceError> {
        let fail = |what: &str, why: &str| {
            Err(TraceError::settings(format!("the SWIM reader's {what}"), why))
        };
        if self.tenants.is_empty() {
            return fail("tenants", "there are none; name at least one");
        }
        if (1..self.tenants.len()).any(|i| self.tenants[..i].contains(&self.tenants[i])) {
            return fail("tenants", "a name comes twice");
        }
        if let TenantSplit::Random { weights, .. } = &self.split
            && !weights.is_empty()
        {
            if weights.len() != self.tenants.len() {
                let why = format!("{} weights for {} tenants", weights.len(), self.tenants.len());
                return fail("weights", &why);
            }
            if sum_weights(weights) == 0 {
                return fail("weights", "all are 0; at least one tenant must get jobs");
            }
        }
        let positive = [
            ("map_bytes", self.map_bytes),
            ("reduce_bytes", self.reduce_bytes),
            ("max_tasks", u64::from(self.max_tasks)),
            ("map_bytes_per_s", self.map_bytes_per_s),
            ("reduce_bytes_per_s", self.reduce_bytes_per_s),
        ];
        if let Some((what, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return fail(what, "is 0; at least 1 is needed");
        }
        if self.max_tasks > crate::MAX_TASKS / 2 {
            return fail("max_tasks", &format!("is above {}", crate::MAX_TASKS / 2));
        }
        let demand = |given: &Option<Resources>| {
            let wrong = match given {
                Some(demand) if demand.kinds() != kinds.len() || demand.is_zero() => {
                    "does not fit the cluster's resources, or is nothing"
                }
                Some(demand) => return Ok(*demand),
                None => match one_of_first(kinds) {
                    Some(demand) => return Ok(demand),
                    None => "all resources are counted in bytes; say what a task holds",
                },
            };
            Err(TraceError::settings("the SWIM reader's demand", wrong))
        };
        Ok((demand(&self.map_demand)?, demand(&self.reduce_demand)?))
    }

    /// The choices in words.
    pub(super) fn words(&self) -> Vec<String> {
        let bytes = |amount| format_amount(amount, meed::Unit::Bytes);
        let split = match &self.split {
            TenantSplit::RoundRobin => "in turn".to_owned(),
            TenantSplit::Random { seed, weights } if weights.is_empty() => {
                format!("at random, equally (seed {seed})")
            }
            TenantSplit::Random { seed, weights } => {
                format!("at random, weighted {weights:?} (seed {seed})")
            }
        };
        vec![
            format!(
                "SWIM: the trace names no users; its jobs go to {} invented tenants {split}",
                self.tenants.len()
            ),
            format!(
                "SWIM: the trace has no tasks; a map per {} of input, a reduce per {} of shuffle, \
                 at most {} of each",
                bytes(self.map_bytes),
                bytes(self.reduce_bytes),
                self.max_tasks
            ),
            format!(
                "SWIM: the trace has no task durations; a task takes {} and its bytes at {} (map) \
                 or {} (reduce) a second",
                format_span(self.task_base),
                bytes(self.map_bytes_per_s),
                bytes(self.reduce_bytes_per_s)
            ),
        ]
    }

    /// Gives out tenants.
    pub(super) fn dealer(&self) -> Dealer {
        match &self.split {
            TenantSplit::RoundRobin => {
                Dealer::RoundRobin { next: 0, count: self.tenants.len() as u32 }
            }
            TenantSplit::Random { seed, weights } => {
                let weights =
                    if weights.is_empty() { vec![1; self.tenants.len()] } else { weights.clone() };
                Dealer::Random { stream: Box::new(Stream::new(*seed, "swim/tenants")), weights }
            }
        }
    }
}

/// Gives each job its tenant.
pub(super) enum Dealer {
    RoundRobin { next: u32, count: u32 },
    Random { stream: Box<Stream>, weights: Vec<u32> },
}

impl Dealer {
    pub(super) fn deal(&mut self) -> u32 {
        match self {
            Dealer::RoundRobin { next, count } => {
                let tenant = *next;
                *next = (tenant + 1) % *count;
                tenant
            }
            Dealer::Random { stream, weights } => stream.weighted(weights) as u32,
        }
    }
}
