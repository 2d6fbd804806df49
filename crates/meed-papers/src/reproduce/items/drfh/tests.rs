//! Each item once: the verdicts that users see, and on a small trace made here, all that is read
//! off the real one.

use std::fmt::Write as _;
use std::fs;

use meed_report::page::{Block, Cell};

use crate::reproduce::{Check, Context, ITEMS, ItemOutcome, Measured, Verdict};

pub(in super::super) fn outcome(id: &str, context: &Context) -> ItemOutcome {
    let item = ITEMS.iter().find(|item| item.id == id).expect("an item of that name");
    (item.run)(context).expect("it runs through")
}

fn value(check: &Check) -> f64 {
    match &check.measured {
        Measured::Number { value, .. } => *value,
        Measured::Spread(spread) => spread.five[2],
        Measured::Words(words) => panic!("{}: {words}", check.what),
    }
}

/// Lines are drawn and sound.
pub(in super::super) fn check_blocks(outcome: &ItemOutcome) {
    assert!(!outcome.blocks.is_empty());
    for block in &outcome.blocks {
        if let Block::Lines(chart) = block {
            assert!(!chart.lines.is_empty(), "{}", chart.title);
            for line in &chart.lines {
                assert!(
                    line.x.len() == line.y.len() && line.x.is_sorted(),
                    "{}: {}",
                    chart.title,
                    line.name
                );
            }
        }
    }
}

#[test]
fn fig5() {
    if crate::thorough::is_left_out("drfh-fig5") {
        return;
    }
    let outcome = outcome("drfh-fig5", &Context::new(None, 2, 1));
    let verdicts: Vec<Verdict> = outcome.checks.iter().map(|check| check.verdict).collect();
    let (agrees, differs, measured) = (Verdict::Agrees, Verdict::Differs, Verdict::Measured);
    // The first three are put in.
    let expected = [Verdict::Given, Verdict::Given, Verdict::Given, differs, agrees, differs];
    assert_eq!(verdicts[..6], expected, "{:#?}", outcome.checks);
    assert_eq!(verdicts[6..], [measured; 8]);
    // No servers give all that is printed.
    let Measured::Words(words) = &outcome.checks[13].measured else { panic!("words") };
    assert_eq!(words, "0 of 227");
    check_blocks(&outcome);
}

#[test]
fn without_a_trace_the_items_on_it_say_so() {
    let context = Context::new(None, 1, 1);
    for id in [
        "drfh-table2",
        "drfh-fig6",
        "drfh-fig7",
        "drfh-fig8",
        "drfh-fig9",
        "beyond-google",
        "beyond-wagap",
    ] {
        let outcome = outcome(id, &context);
        assert_eq!((outcome.checks.len(), outcome.verdict()), (1, Verdict::Skipped), "{id}");
        assert!(
            outcome.checks[0].reason.as_deref().is_some_and(|reason| reason.contains("--traces")),
            "{id}"
        );
    }
}

/// Two hours: user `a` asks for wide tasks that hold a quarter of a largest server for an hour,
/// more than 2,000 servers have; `b` for one job of two small ones, `c` for one that never ends,
/// `d` for tasks a slot and a bit large.
pub(in super::super) fn small_trace() -> tempfile::TempDir {
    let mut rows: Vec<(u64, String)> = Vec::new();
    let mut task = |from: u64, to: Option<u64>, job: u64, task: u64, user: &str, request: &str| {
        let mut row = |minute: u64, event: u32| {
            let line = format!(
                "{},,{job},{task},,{event},{user},1,4,{request},0.0001,0",
                minute * 60_000_000
            );
            rows.push((minute, line));
        };
        row(from, 0);
        row(from, 1);
        to.into_iter().for_each(|to| row(to, 4));
    };
    for number in 0..6000 {
        task(1, Some(61), 1, number, "aaaaaaaa", "0.25,0.25");
    }
    (0..2).for_each(|number| task(2, Some(4), 2, number, "bbbbbbbb", "0.01,0.01"));
    task(3, None, 3, 0, "cccccccc", "0.02,0.01");
    (0..4000).for_each(|number| task(5, Some(35), 4, number, "dddddddd", "0.08,0.02"));
    task(119, Some(120), 5, 0, "bbbbbbbb", "0.01,0.01");
    rows.sort_by_key(|row| row.0);
    let mut text = String::new();
    rows.iter().for_each(|(_, line)| writeln!(text, "{line}").expect("a string takes all"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("google2011")).expect("a folder");
    fs::write(folder.path().join("google2011/task_events.csv"), text).expect("written");
    folder
}

/// What is read off a trace whose results can be told by hand.
#[test]
fn items_on_a_small_trace() {
    let folder = small_trace();
    let context = Context::new(Some(folder.path().to_owned()), 1, 1);
    let table2 = outcome("drfh-table2", &context);
    check_blocks(&table2);
    let used = value(&table2.checks[2]);
    assert!(used > 5.0 && used < 60.0, "{:#?}", table2.checks);
    // User a's 6,000 of 10,004 tasks are larger than a slot of any size, d's 4,000 of all but 10
    // and 12.
    let Block::Table(rows) = &table2.blocks[0] else { panic!("a table") };
    let left_out = rows.rows.iter().map(|row| match row.last() {
        Some(Cell::Number(percent)) => (percent * 100.04).round(),
        other => panic!("{other:?}"),
    });
    assert_eq!(left_out.collect::<Vec<_>>(), [6000.0, 6000.0, 10_000.0, 10_000.0, 10_000.0]);
    assert!(value(&table2.checks[6]) < 0.1, "two small users are left: {:#?}", table2.checks);

    let fig6 = outcome("drfh-fig6", &context);
    check_blocks(&fig6);
    assert!(value(&fig6.checks[0]) > 1.0, "slots lose something: {:#?}", fig6.checks);

    let fig7 = outcome("drfh-fig7", &context);
    check_blocks(&fig7);
    assert!(value(&fig7.checks[1]).is_finite(), "{:#?}", fig7.checks);

    // The task that never ends is as long as the trace, so it ends with it where it starts at once;
    // nobody else waits long.
    let fig8 = outcome("drfh-fig8", &context);
    check_blocks(&fig8);
    assert_eq!(value(&fig8.checks[0]), 100.0, "{:#?}", fig8.checks);
    let Measured::Words(words) = &fig8.checks[2].measured else { panic!("words") };
    assert!(words.ends_with("of 4"), "{words}");

    // 500 servers for each of four users: they hold all of user a's tasks at a time that they can
    // hold.
    let fig9 = outcome("drfh-fig9", &context);
    check_blocks(&fig9);
    assert!((0.0..=100.0).contains(&value(&fig9.checks[0])), "{:#?}", fig9.checks);

    let beyond = outcome("beyond-google", &context);
    check_blocks(&beyond);
    assert!(beyond.checks.iter().all(|check| check.verdict == Verdict::Measured));
}

#[test]
fn a_trace_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("task_events.csv"), "no such rows\n").expect("written");
    let context = Context::new(Some(folder.path().to_owned()), 1, 1);
    let item = ITEMS.iter().find(|item| item.id == "drfh-fig6").expect("it is there");
    assert!((item.run)(&context).is_err());
}
