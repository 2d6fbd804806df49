//! The readers on real traces, from the folder that `MEED_TRACES` names. Without it there is nothing to test;
//! with it a missing file is a failure.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::convert::convert;
use meed_workload::inspect::inspect;
use meed_workload::swf::{SwfAssumptions, SwfShape, SwfSource};
use meed_workload::swim::{SwimAssumptions, SwimSource};
use meed_workload::{JobSource, OnBadLine, Origin, SourceCounts};

fn traces() -> Option<PathBuf> {
    // A relative path counts from the repository, where the command is given; tests run in their package.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("MEED_TRACES").map(|folder| repository.join(folder))
}

fn cpu() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli)]).unwrap()
}

fn cpu_and_memory() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

/// Reads to the end: jobs are ordered and pass every check.
fn drain(source: &mut dyn JobSource, kinds: usize) -> SourceCounts {
    let mut last = meed::Time::ZERO;
    while let Some(job) = source.next_job().unwrap() {
        job.check(source.queues().len(), kinds).unwrap();
        assert!(job.submit >= last);
        last = job.submit;
    }
    source.counts()
}

#[test]
fn swf_logs_are_read_whole() {
    let Some(folder) = traces() else { return };
    // File, lines, ignored, users, processors by the header. None of the three has a wrong line, an unknown run time or
    // an unknown number of processors, so nothing is ignored.
    let rows = [
        ("CTC-SP2-1996-3.1-cln.swf.gz", 77_222, 0, 679, Some(338)),
        ("METACENTRUM-2009-2.swf.gz", 103_656, 0, 147, None),
        ("NASA-iPSC-1993-3.1-cln.swf.gz", 18_239, 0, 69, Some(128)),
    ];
    for (file, lines, ignored, users, processors) in rows {
        let origin = Origin::path(folder.join("swf").join(file));
        for shape in [SwfShape::Rigid, SwfShape::Split] {
            let assumptions = SwfAssumptions { shape, ..SwfAssumptions::default() };
            let mut source =
                SwfSource::open(&origin, &cpu_and_memory(), &assumptions, OnBadLine::Stop).unwrap();
            assert_eq!((source.queues().len(), source.header().processors()), (users, processors), "{file}");
            let counts = drain(&mut source, 2);
            assert_eq!(counts, SourceCounts { lines, jobs: lines - ignored, bad: 0, ignored }, "{file}");
            assert_eq!(source.progress(), Some(1.0));
        }
    }
}

#[test]
fn a_log_of_another_format_is_refused_with_its_first_wrong_line() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("MetaCentrum-wagap-2013.mwf.xz"));
    let error = SwfSource::open(&origin, &cpu(), &SwfAssumptions::default(), OnBadLine::Skip).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("17900 of 17900 lines are wrong, 0 left out; the first: "), "{message}");
    assert!(message.ends_with(":1: 21 columns; an SWF line has 18"), "{message}");
}

#[test]
fn swim_traces_are_read_whole() {
    let Some(folder) = traces() else { return };
    for (number, jobs) in [(1, 6_638), (0, 5_894)] {
        let file = format!("FB-2009_samples_24_times_1hr_{number}.tsv.xz");
        let origin = Origin::path(folder.join("swim").join(file));
        let mut source =
            SwimSource::open(&origin, &cpu(), &SwimAssumptions::default(), OnBadLine::Stop).unwrap();
        let counts = drain(&mut source, 1);
        assert_eq!(counts, SourceCounts { lines: jobs, jobs, bad: 0, ignored: 0 });
        // What the defaults were chosen for: see `SwimAssumptions`.
        let mut source =
            SwimSource::open(&origin, &cpu(), &SwimAssumptions::default(), OnBadLine::Stop).unwrap();
        let mean_s = inspect(&mut source, &cpu(), None, |_| ()).unwrap().duration_s.mean.unwrap();
        assert!((10.0..14.0).contains(&mean_s), "{mean_s}");
    }
}

#[test]
fn a_converted_log_is_the_same_log() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("METACENTRUM-2009-2.swf.gz"));
    let kinds = cpu_and_memory();
    let open = || SwfSource::open(&origin, &kinds, &SwfAssumptions::default(), OnBadLine::Stop).unwrap();
    let (bytes, counts) = convert(&mut open(), &kinds, Vec::new(), "out").unwrap();
    assert_eq!(counts.jobs, 103_656);
    let mut copy = CanonicalSource::open(&Origin::bytes("out", bytes), None, OnBadLine::Stop).unwrap();
    let mut original = open();
    assert_eq!(copy.queues(), original.queues());
    while let Some(job) = original.next_job().unwrap() {
        assert_eq!(copy.next_job().unwrap(), Some(job));
    }
    assert_eq!(copy.next_job().unwrap(), None);
}

#[test]
fn a_summary_agrees_with_an_independent_sum() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("CTC-SP2-1996-3.1-cln.swf.gz"));
    let kinds = cpu();
    let mut source = SwfSource::open(&origin, &kinds, &SwfAssumptions::default(), OnBadLine::Stop).unwrap();
    let capacity = meed::Resources::new(&[338_000]);
    let summary = inspect(&mut source, &kinds, Some(&capacity), |_| ()).unwrap();
    // zcat FILE | awk '!/^;/ { n++; w += $4 * $5; if (!f) { f = 1; a = $2 } z = $2; if ($5 > m) m = $5 } END { print n, w, a, z, m }'
    assert_eq!((summary.jobs, summary.tasks, summary.queues.len()), (77_222, 77_222, 679));
    assert_eq!(summary.resources[0].work, SUM.0);
    assert_eq!((summary.first_submit_s, summary.last_submit_s), (Some(SUM.1), Some(SUM.2)));
    assert_eq!(summary.resources[0].largest_task, SUM.3);
    let load = SUM.0 / (338.0 * (SUM.2 - SUM.1));
    assert!((summary.resources[0].offered_load.unwrap() - load).abs() < 1e-9);
    let of_queues: f64 = summary.queues.iter().map(|queue| queue.work[0]).sum();
    assert!((of_queues - SUM.0).abs() < 1.0);
}

/// Work, first and last submission, most processors; computed with awk, see above.
const SUM: (f64, f64, f64, f64) = (8_334_848_002.0, 0.0, 29_299_062.0, 336.0);
