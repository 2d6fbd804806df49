use meed::{ResourceKinds, Unit};
use meed_files::open::Origin;
use proptest::prelude::*;

use super::*;
use crate::OnBadLine;
use crate::table::{TableAssumptions, TableSource};

const DAY_S: u64 = 86_400;

/// When a job was submitted, started and ended, in seconds.
type Times = (u64, u64, u64);

fn source(jobs: &[Times]) -> TableSource {
    let mut jobs = jobs.to_vec();
    jobs.sort_unstable();
    let row = |(number, (submit, start, end)): (usize, &Times)| {
        format!("{number},ann,{submit},{start},{end},1\n")
    };
    let rows: String = jobs.iter().enumerate().map(row).collect();
    let text = format!("id,user,submit,start,end,cpus\n{rows}");
    let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
    let map = [("name", "id"), ("submit", "submit:s"), ("start", "start:s"), ("end", "end:s")];
    let map = map.map(|(key, column)| (key.to_owned(), column.to_owned())).into();
    let options = TableAssumptions { map, ..TableAssumptions::default() };
    let origin = Origin::bytes("log", text.as_bytes());
    TableSource::open(&origin, &kinds, &options, OnBadLine::Stop).unwrap()
}

fn found(jobs: &[Times]) -> Option<LogWindow> {
    let ran = Footprints::of(&mut source(jobs), 1).unwrap();
    find(&ran, &ran.outliers(None))
}

/// A job every few minutes over sixty days, which waits for up to a day and runs for up to ten.
fn many() -> Vec<Times> {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let job = |number: u64| {
        let submit = number * 600 + next(600);
        let start = submit + if next(3) == 0 { next(DAY_S) } else { 0 };
        let days = [0, 0, 0, 0, 1, 3, 10][next(7) as usize];
        (submit, start, start + 60 + next(days * DAY_S + 3600))
    };
    (0..60 * 144).map(job).collect()
}

/// What `sacct -S FROM -E TO` lists.
fn alive(jobs: &[Times], from: u64, to: u64) -> Vec<Times> {
    jobs.iter().copied().filter(|(submit, _, end)| *end >= from && *submit <= to).collect()
}

#[test]
fn a_log_of_what_was_alive_begins_with_its_first_end() {
    let (from, to) = (20 * DAY_S, 50 * DAY_S);
    let jobs = alive(&many(), from, to);
    let first = jobs.iter().map(|job| job.0).min().unwrap();
    let end = jobs.iter().map(|job| job.2).min().unwrap();
    let events = jobs.iter().flat_map(|job| [job.0, job.1]).filter(|at| *at < end);
    let begin = events.max().unwrap();
    assert!(first + 5 * DAY_S < from && begin < from + 3600, "{first} {begin}");
    let window = found(&jobs).expect("a window");
    // Times of numbers below 10^8 count from the zero of the table.
    assert_eq!(window.begin, Time::from_secs(begin).unwrap());
    let ran = Footprints::of(&mut source(&jobs), 1).unwrap();
    let counts = window.counts(&ran);
    let of = |is: &dyn Fn(&Times) -> bool| jobs.iter().filter(|job| is(job)).count() as u64;
    assert_eq!(counts.running, of(&|job| job.1 < begin && job.2 > begin));
    assert_eq!(counts.waiting, of(&|job| job.0 <= begin && job.1 >= begin));
    assert!(counts.running > 100 && counts.waiting > 0, "{counts:?}");
    assert_eq!((counts.before, counts.after), (0, 0), "no job is left out");
}

#[test]
fn a_log_of_all_submissions_has_no_window() {
    assert_eq!(found(&many()), None);
    // Nor where many come at its beginning, and run long.
    let burst = (0..500).map(|number| (number, number, number + 5 * DAY_S));
    let later = |job: &Times| job.0 > 2 * DAY_S;
    assert_eq!(found(&burst.chain(many().into_iter().filter(later)).collect::<Vec<_>>()), None);
    // Nor where it tells no starts.
    let mut jobs = alive(&many(), 20 * DAY_S, 50 * DAY_S);
    jobs.sort_unstable();
    let text: String =
        jobs.iter().map(|(submit, start, end)| format!("a,{submit},{}\n", end - start)).collect();
    let text = format!("user,submit,runtime_s\n{text}");
    let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap();
    let origin = Origin::bytes("log", text.as_bytes());
    let options = TableAssumptions::default();
    let mut table = TableSource::open(&origin, &kinds, &options, OnBadLine::Stop).unwrap();
    let ran = Footprints::of(&mut table, 1).unwrap();
    assert_eq!(find(&ran, &Outliers::default()), None);
}

#[test]
fn who_ran_long_before_all_others_makes_a_window_and_is_no_outlier() {
    // One was submitted 90 days before the window and runs in it.
    let mut jobs = alive(&many(), 20 * DAY_S, 50 * DAY_S);
    jobs.iter_mut().for_each(|(submit, start, end)| {
        (*submit, *start, *end) = (*submit + 90 * DAY_S, *start + 90 * DAY_S, *end + 90 * DAY_S);
    });
    jobs.push((DAY_S, DAY_S, 120 * DAY_S));
    let ran = Footprints::of(&mut source(&jobs), 1).unwrap();
    let outliers = ran.outliers(None);
    assert!(outliers.rows().iter().any(|row| row.number() == 0), "it is far from all others");
    let window = find(&ran, &outliers).expect("a window");
    assert!(window.begin >= Time::from_secs(110 * DAY_S).unwrap());
    let mut within = InWindow::new(source(&jobs), window).unwrap();
    let first = within.next_job().unwrap().unwrap();
    assert_eq!((first.label.to_string().as_str(), first.submit), ("0", Time::ZERO));
    let ran = Footprints::of(&mut within, 1).unwrap();
    assert_eq!(ran.outliers(None), Outliers::default());
}

fn shown(jobs: &[Times], from: u64, to: Option<u64>) -> Vec<String> {
    let time = |seconds| Time::from_secs(seconds).unwrap();
    let window = LogWindow { begin: time(from), end: to.map(time) };
    let mut source = InWindow::new(source(jobs), window).unwrap();
    let mut all = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        let waited = source.waited().map(|waited| waited.as_secs_f64());
        let length = job.groups[0].duration.get(0).as_secs_f64();
        all.push(format!("{} @{} {length} {waited:?}", job.label, job.submit.as_secs_f64()));
    }
    let counts = source.counts();
    assert_eq!((counts.jobs, counts.ignored), (all.len() as u64, jobs.len() as u64 - counts.jobs));
    all
}

#[test]
fn jobs_of_a_window_come_as_they_were() {
    let jobs = [
        (0, 0, 90),    // had ended
        (1, 10, 100),  // ended as it begins
        (2, 99, 150),  // ran
        (3, 100, 130), // started as it begins: it waited until then
        (4, 120, 125), // waited
        (5, 50, 300),  // ran
        (100, 101, 110),
        (101, 101, 400),
        (200, 201, 202), // behind its end
    ];
    let expected = ["2 @0 50.0 None", "5 @0 200.0 None", "3 @0.001 30.0 None"];
    let expected = expected.map(|job| job.replace(".0 ", " "));
    let all = shown(&jobs, 100, Some(200));
    assert_eq!(all[..3], expected);
    let rest = ["4 @0.001 5 None", "6 @0.001 9 None", "7 @1 299 Some(0.0)"];
    assert_eq!(all[3..], rest);
    // Without a beginning only the end cuts.
    assert_eq!(shown(&jobs, 0, Some(100)).len(), 6);
    assert_eq!(shown(&jobs, 0, None).len(), jobs.len());
}

#[test]
fn what_is_left_of_stages_and_of_unequal_tasks() {
    let span = |seconds| Span::from_secs(seconds).unwrap();
    let held = meed::Resources::new(&[1000]);
    let each = |seconds: &[u64]| Durations::Each(seconds.iter().map(|s| span(*s)).collect());
    let first = JobGroup { limit: Some(span(100)), ..JobGroup::new(3, held, each(&[10, 20, 30])) };
    let second = JobGroup { stage: 1, ..JobGroup::new(2, held, Durations::Same(span(40))) };
    let job = Job {
        label: crate::JobLabel::Number(1),
        queue: 0,
        submit: Time::ZERO,
        weight: 1,
        chain: None,
        groups: vec![first, second],
    };
    let rest = |seconds| {
        let groups = rest_of(job.clone(), span(seconds)).map(|job| job.groups);
        let show = |group: &JobGroup| {
            let all = (0..group.count).map(|task| group.duration.get(task).as_secs_f64());
            (group.stage, all.collect::<Vec<_>>(), group.limit.map(Span::as_secs_f64))
        };
        groups.map(|groups| groups.iter().map(show).collect::<Vec<_>>())
    };
    let second = (1, vec![40.0, 40.0], None);
    assert_eq!(rest(15), Some(vec![(0, vec![5.0, 15.0], Some(85.0)), second]));
    assert_eq!(rest(30), Some(vec![(0, vec![40.0, 40.0], None)]));
    assert_eq!(rest(50), Some(vec![(0, vec![20.0, 20.0], None)]));
    assert_eq!(rest(70), None);
}

proptest! {
    /// Whatever the window, jobs come in order, and each that is not left out comes once.
    #[test]
    fn windows_keep_the_order(
        jobs in prop::collection::vec((0u64..100, 0u64..50, 1u64..100), 1..30),
        from in 0u64..150,
        length in prop::option::of(1u64..100),
    ) {
        let jobs: Vec<Times> = jobs.into_iter().map(|(submit, wait, ran)| {
            (submit, submit + wait, submit + wait + ran)
        }).collect();
        let time = |seconds| Time::from_secs(seconds).unwrap();
        let window = LogWindow { begin: time(from), end: length.map(|length| time(from + length)) };
        let ran = Footprints::of(&mut source(&jobs), 1).unwrap();
        let Windowed { running, waiting, before, after } = window.counts(&ran);
        let mut within = InWindow::new(source(&jobs), window).unwrap();
        let all: Vec<Job> = std::iter::from_fn(|| within.next_job().unwrap()).collect();
        prop_assert!(all.is_sorted_by_key(|job| job.submit));
        prop_assert_eq!(all.len() as u64 + before + after, jobs.len() as u64);
        let at_zero = all.iter().filter(|job| job.submit == Time::ZERO).count() as u64;
        let begins = all.iter().filter(|job| job.submit.as_micros() <= BEHIND).count() as u64;
        if from > 0 {
            prop_assert_eq!(at_zero, running);
            prop_assert_eq!(begins, running + waiting);
        }
        let behind = |job: &&Job| job.submit.as_micros() > BEHIND;
        for job in all.iter().filter(behind) {
            prop_assert!(job.submit.as_micros() < length.unwrap_or(1000) * MICROS_PER_S);
        }
    }
}
