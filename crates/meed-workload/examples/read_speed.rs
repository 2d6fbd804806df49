//! How fast a trace is read: `cargo run --release -p meed-workload --example read_speed -- FILE...`
//!
//! Reads each file several times as a run would and prints the shortest time.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads a clock")]

use std::path::Path;
use std::time::Instant;

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::google::GoogleSource;
use meed_workload::jhist::HistorySource;
use meed_workload::kubernetes::KubernetesSource;
use meed_workload::mwf::MwfSource;
use meed_workload::philly::PhillySource;
use meed_workload::spark::SparkSource;
use meed_workload::swf::SwfSource;
use meed_workload::swim::SwimSource;
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::yarn::YarnSource;
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};

/// Jobs and lines.
fn read(path: &Path, kinds: &ResourceKinds) -> Result<(u64, u64), TraceError> {
    let origin = Origin::path(path);
    let mut source: Box<dyn JobSource> = match TraceFormat::of_file(path)? {
        TraceFormat::Swf => {
            Box::new(SwfSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Swim => {
            Box::new(SwimSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Philly => {
            Box::new(PhillySource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Yarn => {
            Box::new(YarnSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Jhist => {
            Box::new(HistorySource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::SparkEventLog => {
            Box::new(SparkSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Kubernetes => {
            Box::new(KubernetesSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Mwf => {
            Box::new(MwfSource::open(&origin, kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Google => {
            let kinds = ["cpu", "memory"].map(|name| (name.to_owned(), Unit::Milli));
            let kinds = ResourceKinds::new(kinds.to_vec()).expect("two different names");
            Box::new(GoogleSource::open(&origin, &kinds, &Default::default(), OnBadLine::Skip)?)
        }
        TraceFormat::Csv
        | TraceFormat::Tsv
        | TraceFormat::JsonLines
        | TraceFormat::Sacct
        | TraceFormat::SacctJson
        | TraceFormat::Pbs
        | TraceFormat::Lsf
        | TraceFormat::GridEngine
        | TraceFormat::Condor
        | TraceFormat::Openb
        | TraceFormat::Alibaba2018
        | TraceFormat::AzureVms => {
            let (form, known) = TraceFormat::of_file(path)?.table().unwrap_or_default();
            let options = TableAssumptions { form, known, ..TableAssumptions::default() };
            Box::new(TableSource::open(&origin, kinds, &options, OnBadLine::Skip)?)
        }
        TraceFormat::Log => {
            let what = path.display().to_string();
            let why = "logs are read by the simulator".to_owned();
            return Err(TraceError::Settings { what, why });
        }
        TraceFormat::Canonical => Box::new(CanonicalSource::open(&origin, None, OnBadLine::Skip)?),
    };
    while source.next_job()?.is_some() {}
    Ok((source.counts().jobs, source.counts().lines))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kinds =
        ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)])?;
    for path in std::env::args_os().skip(1) {
        let path = Path::new(&path);
        let mut shortest = f64::INFINITY;
        let (mut jobs, mut lines) = (0, 0);
        for _ in 0..10 {
            let start = Instant::now();
            (jobs, lines) = read(path, &kinds)?;
            shortest = shortest.min(start.elapsed().as_secs_f64());
        }
        let rate = lines as f64 / shortest / 1e6;
        println!(
            "{jobs} jobs, {lines} lines in {:.1} ms, {rate:.2} million lines/s: {}",
            shortest * 1e3,
            path.display()
        );
    }
    Ok(())
}
