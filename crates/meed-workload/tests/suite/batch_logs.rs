//! Logs of batch systems: what their own tools count of each job.

use meed::{ResourceKinds, Unit};
use meed_workload::format::TraceFormat;
use meed_workload::table::{TableAssumptions, TableDates, TableDecimal, TableSource};
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
    let size = meed_workload::size::assumed_size(&mut open(PBS_ARRAY), 2).unwrap();
    assert_eq!(size.amounts[0], 4000, "one element ran after the other");
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

/// `lsb.acct` of a job that was submitted with `bsub -b` a day ahead, and of one without.
fn lsf(job: u32, submit: u64, begin: u64, start: u64, end: u64) -> String {
    let used = vec!["0.5"; 19].join(" ");
    format!(
        "\"JOB_FINISH\" \"10.1\" {end} {job} 1001 33554434 1 {submit} {begin} 0 {start} \"bo\" \
         \"normal\" \"\" \"\" \"\" \"sub1\" \"/w\" \"\" \"\" \"\" \"f\" 0 1 \"n1\" 64 60.0 \"j\" \
         \"./run\" {used} \"\" \"proj\" 0 1 \"\" \"\" 0 1048576 0\n"
    )
}

#[test]
fn a_job_of_lsf_comes_when_it_is_to_begin() {
    let day = 86_400;
    let log = lsf(7, 1_772_438_400, 0, 1_772_438_500, 1_772_438_560)
        + &lsf(8, 1_772_438_410, 1_772_438_400 + day, 1_772_438_405 + day, 1_772_438_435 + day);
    let expected = [job("7/0", 0.0, 1.0, 60.0), job("8/0", 86_400.0, 1.0, 30.0)];
    assert_eq!(jobs(&mut open(&log)), expected);
}

#[test]
fn a_parallel_job_of_htcondor_holds_all_its_hosts() {
    let ad = |job: u32, universe: u32, hosts: &str| {
        format!(
            "{{\"JobUniverse\":{universe},\"JobStatus\":4,\"ClusterId\":{job},\"ProcId\":0,\
             \"Owner\":\"ana\",\"QDate\":1772438400,\"RequestCpus\":2,{hosts}\
             \"RemoteWallClockTime\":600.0}}\n"
        )
    };
    let log = ad(1, 11, "\"MinHosts\":4,\"MaxHosts\":4,\"CurrentHosts\":4,")
        + &ad(2, 11, "\"MinHosts\":3,\"MaxHosts\":3,\"CurrentHosts\":0,")
        + &ad(3, 11, "")
        + &ad(4, 5, "\"MinHosts\":1,\"MaxHosts\":1,\"CurrentHosts\":0,");
    let cpus: Vec<f64> = jobs(&mut open(&log)).into_iter().map(|(_, _, cpus, _)| cpus).collect();
    assert_eq!(cpus, [8.0, 6.0, 2.0, 2.0]);
}

fn csv(text: &str, change: impl FnOnce(&mut TableAssumptions)) -> Vec<(String, f64, f64, f64)> {
    let mut options = TableAssumptions::default();
    change(&mut options);
    let origin = Origin::bytes("jobs.csv", text.as_bytes());
    jobs(&mut TableSource::open(&origin, &kinds(), &options, OnBadLine::Stop).unwrap())
}

/// In Berlin the hour from 02:00 comes twice on 2025-10-26. The order of submission, start and end
/// tells which is meant, where it does.
#[test]
fn start_and_end_tell_the_hour_that_comes_twice() {
    let text = "\
job,team,submitted,started,ended,cpus
1,a,2025-10-26 01:00:00,2025-10-26 01:30:00,2025-10-26 02:10:00,2
2,b,2025-10-26 02:20:00,2025-10-26 02:50:00,2025-10-26 02:10:00,2
3,a,2025-10-26 01:40:00,2025-10-26 01:50:00,2025-10-26 03:50:00,2
4,b,2025-10-26 02:50:00,2025-10-26 02:10:00,2025-10-26 02:40:00,2
";
    let found = csv(text, |options| options.time_zone = Some("Europe/Berlin".to_owned()));
    let expected = [
        job("1", 0.0, 2.0, 2400.0),
        job("3", 2400.0, 2.0, 10_800.0),
        job("2", 4800.0, 2.0, 1200.0),
        job("4", 6600.0, 2.0, 1800.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn dates_and_numbers_as_americans_and_germans_write_them() {
    let us = "\
user,submitted,duration,cpus
ann,1/31/2026 11:59:00 PM,90.5,1.5
ann,2/1/2026 12:00:00 AM,60,2
";
    let found = csv(us, |options| options.dates = TableDates::MonthFirst);
    assert_eq!(found, [job("2", 0.0, 1.5, 90.5), job("3", 60.0, 2.0, 60.0)]);
    let german = "\
user;submitted;duration;cpus
ann;31.01.2026 23:59:00;1.090,5;1,5
ann;1.2.2026 00:00;60;2
";
    let found = csv(german, |options| {
        options.dates = TableDates::DayFirst;
        options.decimal = TableDecimal::Comma;
    });
    assert_eq!(found, [job("2", 0.0, 1.5, 1090.5), job("3", 60.0, 2.0, 60.0)]);
}
