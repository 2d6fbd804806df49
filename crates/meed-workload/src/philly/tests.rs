use meed::{ResourceKinds, Span, Unit};

use super::*;
use crate::JobLabel;

fn kinds() -> ResourceKinds {
    let kinds = ["cpu", "gpu"].map(|name| (name.to_owned(), Unit::Milli));
    ResourceKinds::new([&kinds[..], &[("memory".to_owned(), Unit::Bytes)]].concat()).unwrap()
}

fn open(
    text: &str,
    assumptions: &PhillyAssumptions,
    policy: OnBadLine,
) -> Result<PhillySource, TraceError> {
    PhillySource::open(&Origin::bytes("p.csv", text.as_bytes()), &kinds(), assumptions, policy)
}

const TWO: &str =
    "vc,arrival_s,gpus,duration_s\nb,0,1,10\nb,7,8,20\na,0,2,30\na,3.5,1,40\na,0,4,50\n";

/// Queue, submission in seconds, tasks, GPUs of each, of all jobs.
fn jobs(source: &mut PhillySource) -> Vec<(String, f64, u32, u64)> {
    let queues = source.queues().to_vec();
    std::iter::from_fn(|| source.next_job().unwrap())
        .map(|job| {
            job.check(queues.len(), 3).unwrap();
            let group = &job.groups[0];
            let gpus = group.demand.as_slice()[1] / 1000;
            (queues[job.queue as usize].clone(), job.submit.as_secs_f64(), group.count, gpus)
        })
        .collect()
}

#[test]
fn virtual_clusters_are_laid_over_each_other() {
    let row = |name: &str, at: f64, gpus: u64| (name.to_owned(), at, 1, gpus);
    let offset = [("b".to_owned(), Span::from_secs(1).unwrap())];
    let check = |align, offsets: PhillyOffsets, expected: Vec<_>| {
        let shape = PhillyShape::Rigid;
        let assumptions =
            PhillyAssumptions { align, offsets, shape, ..PhillyAssumptions::default() };
        let mut source = open(TWO, &assumptions, OnBadLine::Stop).unwrap();
        assert_eq!(source.queues(), ["b", "a"]);
        assert_eq!(jobs(&mut source), expected);
        assert_eq!(source.counts(), SourceCounts { lines: 5, jobs: 5, bad: 0, ignored: 0 });
        assert_eq!(source.progress(), Some(1.0));
    };
    // Equal times keep the order of the file; within a virtual cluster it need not be in order of
    // time.
    let start =
        [row("b", 0.0, 1), row("a", 0.0, 2), row("a", 0.0, 4), row("a", 3.5, 1), row("b", 7.0, 8)];
    check(PhillyAlign::Start, PhillyOffsets::new(), start.to_vec());
    let end =
        [row("b", 0.0, 1), row("a", 3.5, 2), row("a", 3.5, 4), row("b", 7.0, 8), row("a", 7.0, 1)];
    check(PhillyAlign::End, PhillyOffsets::new(), end.to_vec());
    let late =
        [row("a", 0.0, 2), row("a", 0.0, 4), row("b", 1.0, 1), row("a", 3.5, 1), row("b", 8.0, 8)];
    check(PhillyAlign::Start, PhillyOffsets::from(offset), late.to_vec());
}

#[test]
fn a_job_is_one_task_or_one_for_each_gpu_and_its_line_is_its_name() {
    let split = PhillyAssumptions { shape: PhillyShape::Split, ..PhillyAssumptions::default() };
    let mut source = open(TWO, &split, OnBadLine::Stop).unwrap();
    // 470 GPU-seconds in 7 s, but all jobs together hold 16.
    assert_eq!(source.size(), PhillySize { mean_gpus: 16, widest: 8 });
    assert_eq!(source.next_job().unwrap().unwrap().label, JobLabel::Number(2));
    assert_eq!(jobs(&mut source)[0], ("a".to_owned(), 0.0, 2, 1));
    // Unless it is said, all tasks of a job start together.
    let mut source = open(TWO, &PhillyAssumptions::default(), OnBadLine::Stop).unwrap();
    let gangs = std::iter::from_fn(|| source.next_job().unwrap()).map(|job| {
        let group = &job.groups[0];
        (group.count, group.gang.as_ref().map(|gang| gang.least))
    });
    let all = |count| (count, Some(count));
    assert_eq!(gangs.collect::<Vec<_>>(), [(1, None), all(2), all(4), (1, None), all(8)]);
}

#[test]
fn columns_are_found_by_their_names() {
    let text = "user,gpus,duration_s,arrival_s , vc\r\nx,2,5,1,v\r\n\r\n";
    let mut source = open(text, &PhillyAssumptions::default(), OnBadLine::Stop).unwrap();
    assert_eq!(jobs(&mut source), [("v".to_owned(), 1.0, 2, 1)]);
}

#[test]
fn wrong_lines_are_skipped_counted_and_named() {
    let rows = [
        ("v,1,1", "p.csv:3: 3 columns; the first line names 4"),
        ("v,1,1,1,1", "p.csv:3: 5 columns; the first line names 4"),
        ("\"v\",1,1,1", "p.csv:3: has a quote; values are plain, without quotes or commas in them"),
        (",1,1,1", "p.csv:3: column 1 (vc): \"\" is no name; wanted are 1 to 200 bytes of text"),
        (
            "v,-1,1,1",
            "p.csv:3: column 2 (arrival_s): \"-1\" is negative; wanted is seconds, 0 or more, up \
             to 285 years",
        ),
        (
            "v,1,1.5,1",
            "p.csv:3: column 3 (gpus): \"1.5\" is not a whole number; wanted is a whole number \
             from 0 to 16777216",
        ),
        (
            "v,1,1,soon",
            "p.csv:3: column 4 (duration_s): \"soon\" is not a number; wanted is seconds, 0 or \
             more, up to 285 years",
        ),
    ];
    for (line, message) in rows {
        let text = format!("vc,arrival_s,gpus,duration_s\nv,0,1,1\n{line}\nv,2,0,1\nv,3,1,1\n");
        let mut source = open(&text, &PhillyAssumptions::default(), OnBadLine::Skip).unwrap();
        assert_eq!(jobs(&mut source).len(), 2, "{line}");
        assert_eq!(
            source.counts(),
            SourceCounts { lines: 4, jobs: 2, bad: 1, ignored: 1 },
            "{line}"
        );
        assert_eq!(source.bad_lines()[0].to_string(), message);
        let strict = open(&text, &PhillyAssumptions::default(), OnBadLine::Stop).err().unwrap();
        assert_eq!(strict.to_string(), message);
    }
}

#[test]
fn files_and_settings_that_cannot_be_used() {
    let default = PhillyAssumptions::default;
    let gpu = |name: &str| PhillyAssumptions { gpu_kind: Some(name.to_owned()), ..default() };
    let offsets = [("c".to_owned(), Span::ZERO)];
    let rows = [
        ("", default(), "p.csv: no jobs: the file is empty; a table of jobs has the names of"),
        (
            "vc,arrival,gpus,duration_s\nv,1,1,1\n",
            default(),
            "p.csv:1: the first line, \"vc,arrival,gpus,duration_s\", names no column arrival_s; \
             did you mean \
             \"arrival\"?; a Philly file begins with vc,arrival_s,gpus,duration_s",
        ),
        (
            "600,,3418309,0,4155527081\n",
            default(),
            "p.csv:1: the first line, \"600,,3418309,0,4155527081\", names no",
        ),
        (
            "vc,vc,arrival_s,gpus,duration_s\n",
            default(),
            "p.csv:1: the first line names the column vc twice",
        ),
        (
            "vc,arrival_s,gpus,duration_s\nv,1,x,1\n",
            default(),
            "1 of 1 lines are wrong, 0 left out; the first: ",
        ),
        (
            "vc,arrival_s,gpus,duration_s\nv,1,0,1\n",
            default(),
            "all 1 were left out by the reader's assumptions",
        ),
        (TWO, gpu("memory"), "the Philly reader's gpu_resource: \"memory\" is counted in bytes"),
        (TWO, gpu("gpus"), "the cluster has no resource \"gpus\"; did you mean \"gpu\"?"),
        (
            TWO,
            PhillyAssumptions { offsets: PhillyOffsets::from(offsets), ..default() },
            "the trace has no virtual cluster \"c\"; did you mean",
        ),
    ];
    for (text, assumptions, message) in rows {
        let error = open(text, &assumptions, OnBadLine::Skip).err().unwrap().to_string();
        assert!(error.contains(message), "{error}\n{message}");
    }
}
