//! The table: a column for each peer.

use super::found::{Found, Took};
use super::measure::Sizes;

type Row = (&'static str, String, Found);

pub(super) fn of(peers: &[Row], sizes: &Sizes) -> String {
    let mut text = String::from("| |");
    for (name, version, _) in peers {
        text += &format!(" {name} {version} |");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(peers.len()));
    let Sizes { runs, waiting, .. } = sizes;
    let mut line = |title: String, cell: &dyn Fn(&Found) -> Option<String>| {
        text += &format!("| {title} |");
        for (_, _, found) in peers {
            text += &format!(" {} |", cell(found).unwrap_or_else(|| "-".to_owned()));
        }
        text += "\n";
    };
    let rate = |rate: f64| if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
    line("jobs submitted a second, one client after the other".into(), &|it| it.single.map(rate));
    line("the same, 8 clients at once".into(), &|it| it.at_once.map(rate));
    line("tasks a second in one request".into(), &|it| it.request.map(rate));
    line(format!("{runs} times `true`, single jobs"), &|it| it.run_single.map(took));
    line(format!("{runs} times `true`, one request"), &|it| it.run_request.map(took));
    let ms = |ms: f64| format!("{ms:.1} ms");
    line("submit to start, median".into(), &|it| it.start_ms(0.5).map(ms));
    line("submit to start, 99th of 100".into(), &|it| it.start_ms(0.99).map(ms));
    line(format!("of {waiting} waiting jobs it took"), &|it| {
        it.waiting.as_ref().map(|waits| waits.jobs.to_string())
    });
    line("memory with them".into(), &|it| {
        let waits = it.waiting.as_ref()?;
        let each = waits.bytes as f64 / 1024.0 / waits.jobs.max(1) as f64;
        let all = waits.bytes as f64 / f64::from(1 << 20);
        Some(format!("{all:.0} MiB in {} processes, {each:.2} KiB a job", waits.processes))
    });
    line("its list of them".into(), &|it| it.waiting.as_ref().map(|waits| ms(waits.list_ms)));
    text
}

fn took(took: Took) -> String {
    match took {
        Took::Seconds(seconds) => format!("{seconds:.1} s"),
        Took::Short(done, seconds) => format!("not in {seconds:.0} s ({done} submitted)"),
    }
}
