//! How this process stands, for probes and metrics: written by whoever knows, read by whoever asks.
//!
//! Invariant: nobody waits for a reader; locks are held for the copy of a text. Cost: O(queues) for
//! the page of a leader, every [`PUBLISH`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use meed_driver::metrics::MetricsPage;

use crate::clock::monotonic;

/// How often a leader writes its figures anew.
pub(crate) const PUBLISH: Duration = Duration::from_secs(5);
/// A leader whose loop has not turned for so long does not live any more.
const DEAD: Duration = Duration::from_secs(60);
/// One that has read the cluster for so long hangs: a list of 100,000 pods takes a minute.
const STUCK: Duration = Duration::from_secs(600);
/// And is not ready after so long; so is a standby that could not read the lease.
const LATE: Duration = Duration::from_secs(15);
/// A standby that could not read the lease for so long does not live any more: all its requests
/// have failed, and it is begun anew. An API server that is away for less costs no restart.
const CUT_OFF: Duration = Duration::from_secs(300);

/// How far a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Another leads, or may.
    StandsBy,
    /// It leads, and reads the cluster.
    Reads,
    /// It leads, and there is no Queue yet.
    WaitsForQueue,
    /// It leads, and decides.
    Decides,
}

/// What became of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrote {
    Done,
    Refused,
    Conflict,
    Unanswered,
}

#[derive(Debug)]
struct Stands {
    stage: Stage,
    /// When it was last seen to be in good order.
    well: Instant,
    epoch: i32,
    figures: String,
    /// Who leads, as the lease was read last.
    leader: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Board {
    stands: Mutex<Stands>,
    done: AtomicU64,
    refused: AtomicU64,
    conflicts: AtomicU64,
    unanswered: AtomicU64,
    /// Decisions that changed something.
    turned: AtomicU64,
}

impl Default for Board {
    fn default() -> Board {
        let (stage, figures) = (Stage::StandsBy, String::new());
        let stands = Stands { stage, well: monotonic(), epoch: 0, figures, leader: None };
        Board {
            stands: Mutex::new(stands),
            done: AtomicU64::default(),
            refused: AtomicU64::default(),
            conflicts: AtomicU64::default(),
            unanswered: AtomicU64::default(),
            turned: AtomicU64::default(),
        }
    }
}

impl Board {
    fn with<T>(&self, read: impl FnOnce(&mut Stands) -> T) -> T {
        read(&mut self.stands.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The lease was read, or the loop has turned.
    pub(crate) fn is_well(&self) {
        self.with(|stands| stands.well = monotonic());
    }

    /// It is that far now.
    pub(crate) fn stage(&self, stage: Stage, epoch: i32) {
        self.with(|stands| {
            (stands.stage, stands.epoch, stands.well) = (stage, epoch, monotonic());
        });
    }

    /// Who holds the lease; empty: nobody.
    pub(crate) fn leader_is(&self, name: &str) {
        let leader = (!name.is_empty()).then(|| name.to_owned());
        self.with(|stands| stands.leader = leader);
    }

    /// How far it is; and who leads, as far as a standby knows.
    pub(crate) fn leads(&self) -> (Stage, Option<String>) {
        self.with(|stands| (stands.stage, stands.leader.clone()))
    }

    /// It was decided.
    pub(crate) fn turns(&self) {
        self.turned.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it was decided.
    pub(crate) fn turned(&self) -> u64 {
        self.turned.load(Ordering::Relaxed)
    }

    /// The figures of a leader.
    pub(crate) fn publish(&self, figures: String) {
        self.with(|stands| stands.figures = figures);
    }

    /// A write came to its end.
    pub(crate) fn wrote(&self, what: Wrote) {
        let count = match what {
            Wrote::Done => &self.done,
            Wrote::Refused => &self.refused,
            Wrote::Conflict => &self.conflicts,
            Wrote::Unanswered => &self.unanswered,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether it lives; in words, either way.
    pub(crate) fn lives(&self) -> Result<&'static str, String> {
        let (stage, since) = self.with(|stands| (stands.stage, stands.well.elapsed()));
        let seconds = since.as_secs();
        match stage {
            Stage::Decides if since > DEAD => Err(format!("it has not decided for {seconds} s")),
            Stage::Reads | Stage::WaitsForQueue if since > STUCK => {
                Err(format!("it has read the cluster for {seconds} s"))
            }
            Stage::StandsBy if since > CUT_OFF => Err(could_not_read(seconds)),
            _ => Ok("alive"),
        }
    }

    /// Whether it leads, or stands by in good order; in words, either way.
    pub(crate) fn is_ready(&self) -> Result<&'static str, String> {
        let (stage, since) = self.with(|stands| (stands.stage, stands.well.elapsed()));
        let seconds = since.as_secs();
        match stage {
            Stage::StandsBy if since > LATE => Err(could_not_read(seconds)),
            Stage::StandsBy => Ok("stands by"),
            Stage::Reads => Err("it leads, and reads the cluster".to_owned()),
            Stage::WaitsForQueue => Ok("leads; there is no Queue yet"),
            Stage::Decides if since > LATE => Err(format!("it has not decided for {seconds} s")),
            Stage::Decides => Ok("leads"),
        }
    }

    /// All figures, in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let (stage, epoch, figures) =
            self.with(|stands| (stands.stage, stands.epoch, stands.figures.clone()));
        let mut page = MetricsPage::default();
        let leads = if stage == Stage::StandsBy { 0.0 } else { 1.0 };
        let name = "meed_kubernetes_leader";
        page.family(name, "gauge", "Whether this process leads.");
        page.sample(name, &[], leads);
        let name = "meed_kubernetes_epoch";
        page.family(name, "gauge", "The leader's term; 0: this process has not led yet.");
        page.sample(name, &[], f64::from(epoch));
        let name = "meed_kubernetes_writes_total";
        page.family(name, "counter", "Pods bound or let go, by what became of the write.");
        for (result, count) in [
            ("done", &self.done),
            ("refused", &self.refused),
            ("conflict", &self.conflicts),
            ("unanswered", &self.unanswered),
        ] {
            page.sample(name, &[("result", result)], count.load(Ordering::Relaxed) as f64);
        }
        page.part(&figures);
        page.text()
    }
}

fn could_not_read(seconds: u64) -> String {
    format!("it could not read the lease for {seconds} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_answers_probes_in_words() {
        let board = Board::default();
        for (stage, expected) in [
            (Stage::StandsBy, Ok("stands by")),
            (Stage::Reads, Err("it leads, and reads the cluster".to_owned())),
            (Stage::WaitsForQueue, Ok("leads; there is no Queue yet")),
            (Stage::Decides, Ok("leads")),
        ] {
            board.stage(stage, 3);
            assert_eq!(board.is_ready(), expected);
            assert_eq!(board.lives(), Ok("alive"));
        }
        let back = |seconds| {
            let now = monotonic();
            let then = now.checked_sub(Duration::from_secs(seconds)).unwrap_or(now);
            board.with(|stands| stands.well = then);
        };
        back(20);
        assert_eq!(board.is_ready(), Err("it has not decided for 20 s".to_owned()));
        assert_eq!(board.lives(), Ok("alive"));
        back(61);
        assert_eq!(board.lives(), Err("it has not decided for 61 s".to_owned()));
        for stage in [Stage::Reads, Stage::WaitsForQueue] {
            board.stage(stage, 3);
            back(599);
            assert_eq!(board.lives(), Ok("alive"));
            back(601);
            assert_eq!(board.lives(), Err("it has read the cluster for 601 s".to_owned()));
        }
        board.stage(Stage::StandsBy, 0);
        back(61);
        assert_eq!(board.is_ready(), Err("it could not read the lease for 61 s".to_owned()));
        assert_eq!(board.lives(), Ok("alive"));
        back(299);
        assert_eq!(board.lives(), Ok("alive"));
        back(301);
        assert_eq!(board.lives(), Err("it could not read the lease for 301 s".to_owned()));
    }

    #[test]
    fn the_page_tells_the_leader_and_its_writes() {
        let board = Board::default();
        board.stage(Stage::Decides, 7);
        board.publish("meed_x 1\n".to_owned());
        for what in [Wrote::Done, Wrote::Done, Wrote::Conflict] {
            board.wrote(what);
        }
        let page = board.metrics();
        for line in [
            "meed_kubernetes_leader 1\n",
            "meed_kubernetes_epoch 7\n",
            "meed_kubernetes_writes_total{result=\"done\"} 2\n",
            "meed_kubernetes_writes_total{result=\"conflict\"} 1\n",
            "meed_kubernetes_writes_total{result=\"unanswered\"} 0\n",
            "meed_x 1\n",
        ] {
            assert!(page.contains(line), "{line} in {page}");
        }
    }
}
