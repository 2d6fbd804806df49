//! Backfilling on real logs, from the folder that `MEED_TRACES` names: what the slow twins promise
//! there, and the simulator beside them, start for start.

mod reserve;
mod swf;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::engine::{pool, starts};
use crate::real_traces::traces;
use crate::twins::conservative::{Compression, conservative};
use crate::twins::easy::easy;
use crate::twins::fcfs::fcfs;
use swf::Log;

const CTC: &str = "CTC-SP2-1996-3.1-cln.swf.gz";
/// Without requested times: estimates are exact.
const NASA: &str = "NASA-iPSC-1993-3.1-cln.swf.gz";
/// The same, and without a header: the pool is not its machine's, which had more processors. On
/// this one jobs wait.
const METACENTRUM: &str = "METACENTRUM-2009-2.swf.gz";
const METACENTRUM_POOL: u64 = 500;

/// The log of that name, where it is, and its pool. Run times are raised to `shortest`. Without
/// real traces it is said that something is left out.
fn log(name: &str, shortest: u64) -> Option<(PathBuf, u64, Log)> {
    let Some(folder) = traces() else {
        // Written past the capture of the test's output.
        let told = format!("LEFT OUT: backfilling on {name}; MEED_TRACES names its folder");
        writeln!(std::io::stderr(), "{told}").expect("somebody hears it");
        return None;
    };
    let path = folder.join("swf").join(name);
    let log = swf::read(&path, shortest);
    let processors = match name {
        METACENTRUM => METACENTRUM_POOL,
        _ => log.processors.expect("the header says it"),
    };
    Some((path, processors, log))
}

/// The log's jobs in one queue, with these keys of `[policy]`, and more of `[trace]`.
fn scenario(path: &Path, processors: u64, policy: &str, trace: &str) -> String {
    let head = pool(processors, policy);
    format!("{head}[trace]\nfile = {:?}\nqueues = \"single\"\n{trace}\n", path.display())
}

/// Fails with the first job that starts at another time.
fn same(got: &[u64], expected: &[u64]) {
    assert_eq!(got.len(), expected.len(), "the same jobs");
    if let Some(job) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
        panic!("job {job} starts at {}, and should at {}", got[job], expected[job]);
    }
}

/// How many jobs start at another time.
fn others(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}

#[test]
fn to_wait_is_first_come_first_served() {
    for name in [CTC, NASA, METACENTRUM] {
        let Some((path, processors, log)) = log(name, 0) else { continue };
        let text = scenario(&path, processors, "when_blocked = \"wait\"", "");
        same(&starts(&text), &fcfs(processors, &log.jobs));
    }
}

#[test]
fn easy_delays_nobody_who_was_first() {
    for name in [CTC, NASA, METACENTRUM] {
        let Some((_, processors, log)) = log(name, 0) else { continue };
        let twin = easy(processors, &log.jobs);
        let mut kept = twin.starts.iter().zip(&twin.promised);
        assert!(kept.all(|(start, promised)| promised.is_none_or(|promised| *start <= promised)));
    }
}

/// It matters when the schedule is compressed: a third of the 77,222 jobs start at another time.
/// With early ends only there are nine instants at which a job starts for its reservation alone.
#[test]
fn the_conservative_way_keeps_its_word() {
    let Some((_, processors, log)) = log(CTC, 0) else { return };
    let early = conservative(processors, &log.jobs, Compression::EarlyEnds);
    let every = conservative(processors, &log.jobs, Compression::EveryEnd);
    for twin in [&early, &every] {
        let mut kept = twin.starts.iter().zip(&twin.promised);
        assert!(kept.all(|(start, promised)| start <= promised));
    }
    assert_eq!((early.lone_instants, every.lone_instants), (9, 0));
    assert_eq!(others(&early.starts, &every.starts), 26_922);
}

/// Where estimates are exact nothing ever moves, whoever looks however often.
#[test]
fn by_exact_estimates_all_start_as_promised() {
    let compressed = [Compression::EarlyEnds, Compression::EveryEnd, Compression::EveryInstant];
    for (name, compressed) in [(NASA, &compressed[..]), (METACENTRUM, &compressed[..1])] {
        let Some((_, processors, log)) = log(name, 1) else { continue };
        for compression in compressed {
            let twin = conservative(processors, &log.jobs, *compression);
            same(&twin.starts, &twin.promised);
        }
    }
}
