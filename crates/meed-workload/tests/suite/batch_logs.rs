//! Logs of batch systems: what their own tools count of each job.

use meed::{ResourceKinds, Unit};
use meed_workload::format::TraceFormat;
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::{JobSource, OnBadLine, Origin};

fn kinds() -> ResourceKinds {
    let kind = |name: &str, unit| (name.to_owned(), unit);
    ResourceKinds::new(vec![kind("cpu", Unit::Milli), kind("memory", Unit::Bytes)]).unwrap()
}

/// The jobs of a log whose format its content tells.
fn open(text: &str) -> TableSource {
    let format = TraceFormat::of_content(text.as_bytes()).unwrap();
    let (form, known) = format.table().unwrap();
    let options = TableAssumptions { form, known, ..TableAssumptions::default() };
    let origin = Origin::bytes("log", text.as_bytes());
    TableSource::open(&origin, &kinds(), &options, OnBadLine::Stop).unwrap()
}

/// Of each job: its label, when it comes, cpus of all its tasks, seconds.
fn jobs(source: &mut TableSource) -> Vec<(String, f64, f64, f64)> {
    std::iter::from_fn(|| source.next_job().unwrap())
        .map(|job| {
            let group = &job.groups[0];
            let cpus = group.demand.get(0) as f64 * f64::from(group.count) / 1000.0;
            let seconds = group.duration.get(0).as_secs_f64();
            (job.label.to_string(), job.submit.as_secs_f64(), cpus, seconds)
        })
        .collect()
}

fn job(label: &str, at: f64, cpus: f64, seconds: f64) -> (String, f64, f64, f64) {
    (label.to_owned(), at, cpus, seconds)
}

/// An array of two elements of 4 cpus and an hour, one after the other, as OpenPBS logs it: the
/// parent's record has the span of the whole array.
const PBS_ARRAY: &str = "\
03/02/2026 08:00:00;Q;70[].head1;queue=work
03/02/2026 09:00:00;E;70[1].head1;user=ana queue=work ctime=1772438400 qtime=1772438400 \
etime=1772438400 start=1772438400 exec_host=n1/0*4 Resource_List.ncpus=4 end=1772442000 \
resources_used.walltime=01:00:00 run_count=1
03/02/2026 10:00:01;E;70[2].head1;user=ana queue=work ctime=1772438400 qtime=1772438400 \
etime=1772438400 start=1772442001 exec_host=n1/0*4 Resource_List.ncpus=4 end=1772445601 \
resources_used.walltime=01:00:00 run_count=1
03/02/2026 10:00:01;E;70[].head1;user=ana queue=work array_indices=1-2 ctime=1772438400 \
qtime=1772438400 etime=1772438400 start=1772438400 Resource_List.ncpus=4 end=1772445601 \
Exit_status=0 run_count=1
";

#[test]
fn the_parent_of_an_array_of_pbs_is_no_job() {
    let mut source = open(PBS_ARRAY);
    assert_eq!(source.size()[0], 8000, "what all elements hold at once");
    let elements = [job("70[1].head1", 0.0, 4.0, 3600.0), job("70[2].head1", 0.0, 4.0, 3600.0)];
    assert_eq!(jobs(&mut source), elements);
    assert_eq!(source.counts().ignored, 2);
    let words = source.assumptions().join("\n");
    let told = "PBS: 1 row left out: parents of arrays, whose elements have records of their own \
                (the first is line 4)";
    assert!(words.contains(told), "{words}");
}

/// Suspended for six of eight hours; held until six hours after its submission; without a measured
/// time, and a `walltime` of nothing.
const PBS_SUSPENDED: &str = "\
03/02/2026 16:00:00;E;80.head1;user=ana ctime=1772438400 qtime=1772438400 etime=1772438400 \
start=1772438400 exec_host=n1/0*4 end=1772467200 resources_used.walltime=02:00:00
03/02/2026 16:00:00;E;81.head1;user=bo ctime=1772438400 qtime=1772438400 etime=1772460000 \
start=1772460010 exec_host=n1/0*4 end=1772463610 resources_used.walltime=01:00:00
03/02/2026 16:00:00;E;82.head1;user=bo ctime=1772438500 qtime=1772438500 \
start=1772460010 exec_host=n1/0*4 end=1772463610
03/02/2026 16:00:00;E;83.head1;user=bo ctime=1772438500 etime=1772470000 \
start=1772460010 exec_host=n1/0*4 end=1772460012 resources_used.walltime=00:00:00
";

#[test]
fn suspended_and_held_time_of_pbs_is_no_used_and_no_waiting_time() {
    let expected = [
        job("80.head1", 0.0, 4.0, 7200.0),
        job("82.head1", 100.0, 4.0, 3600.0),
        job("81.head1", 21600.0, 4.0, 3600.0),
        // Eligible after it started: nothing is known of a wait.
        job("83.head1", 21610.0, 4.0, 0.0),
    ];
    assert_eq!(jobs(&mut open(PBS_SUSPENDED)), expected);
}
