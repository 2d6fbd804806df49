//! The outputs as a user gets them: tables as text, JSON and HTML as files.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{
    Lcg, POLICIES, comparison, four_tenants, many_tenants, month_of_six_policies, nothing_ended,
    two_hostile, without_series,
};
use meed_driver::record::{ChartHold, ChartNode, ChartStart, ChartTask, Comparison, NodeChart};
use meed_report::{TableOptions, summary_table, to_html, to_json, write_json};
use serde_json::Value;

pub(crate) fn table(comparison: &Comparison, width: usize) -> String {
    summary_table(comparison, &TableOptions { width, color: false })
}

fn widest(text: &str) -> usize {
    text.lines().map(|l| l.chars().count()).max().unwrap_or(0)
}

/// Rounded by hand, so that the snapshot does not hang on the last digits of the fixture.
fn small() -> Comparison {
    let mut c = comparison(&["ads", "batch"], &[1.0, 1.0], 4, &["static", "long-term"]);
    for (r, run) in c.runs.iter_mut().enumerate() {
        (run.psi, run.omega, run.jain) =
            (0.25 * r as f64, -0.125 * r as f64, Some(1.0 - 0.01 * r as f64));
        (run.mean_job_s, run.end_s) = (Some(90.0 - 10.0 * r as f64), 14_400.0);
        run.utilization.values_mut().for_each(|u| *u = 0.5 + 0.25 * r as f64);
        for (i, q) in run.queues.iter_mut().enumerate() {
            let sign = 1.0 - 2.0 * i as f64;
            q.rho = Some(1.0 + 0.125 * sign * r as f64);
            (q.mean_job_s, q.longest_wait_s) =
                (Some(60.0 + 30.0 * i as f64), (i == 0).then_some(7.5));
            (q.balance, q.speedup) =
                (36_000.0 * sign * r as f64, (i == 0).then_some(1.0 + 0.5 * r as f64));
        }
    }
    c
}

#[test]
fn table_of_a_small_comparison() {
    let text = table(&small(), 80);
    same(&text, include_str!("snapshots/small-80.txt"));
    same(&table(&small(), 120), include_str!("snapshots/small-120.txt"));
}

fn same(text: &str, expected: &str) {
    assert!(text == expected, "the table is now:\n{text}\nexpected:\n{expected}");
}

/// Of which pairs of policies the first lines tell, and the report as well.
fn told(comparison: &Comparison) -> Vec<String> {
    let text = table(comparison, 4000);
    let lines = text.lines().take_while(|line| !line.is_empty());
    let told: Vec<String> =
        lines.filter_map(|line| line.split_once(": ")).map(|(pair, _)| pair.to_owned()).collect();
    let page = to_html(comparison);
    let (_, data) = page.split_once("id=\"data\">").expect("data");
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    let name = |run: &Value| comparison.runs[run.as_u64().unwrap() as usize].policy.clone();
    let pairs = data["pairs"].as_array().unwrap().iter();
    let pairs: Vec<String> =
        pairs.map(|pair| format!("{} instead of {}", name(&pair[1]), name(&pair[0]))).collect();
    assert_eq!(told, pairs);
    told
}

#[test]
fn the_first_lines_tell_of_what_somebody_asked_for() {
    let mut all = comparison(&["a", "b"], &[1.0, 1.0], 4, &["static", "fair", "long-term"]);
    assert_eq!(told(&all), ["static instead of fair", "long-term instead of fair"]);
    // Nobody named a policy.
    all.is_usual = true;
    assert_eq!(told(&all), ["long-term instead of fair"]);
    // What is compared with is named, and beside it stands fair.
    let mut own = comparison(&["a", "b"], &[1.0, 1.0], 4, &["pbs", "fair", "long-term"]);
    own.baseline = Some("pbs".to_owned());
    let pairs = ["fair instead of pbs", "long-term instead of pbs", "long-term instead of fair"];
    assert_eq!(told(&own), pairs);
    // Beside static there is nothing else to tell of.
    let mut two = comparison(&["a", "b"], &[1.0, 1.0], 4, &["static", "fair"]);
    two.is_usual = true;
    assert_eq!(told(&two), ["static instead of fair"]);
}

#[test]
fn tables_keep_to_the_width() {
    for c in [
        four_tenants(),
        many_tenants(40, 60),
        nothing_ended(),
        two_hostile(),
        month_of_six_policies(),
    ] {
        for width in [60, 80, 120] {
            let text = table(&c, width);
            assert!(widest(&text) <= width, "{width} columns:\n{text}");
            assert!(text.lines().all(|l| l == l.trim_end()), "spaces at an end:\n{text}");
        }
    }
}

#[test]
fn many_tenants_are_summed_up_and_the_rest_is_counted() {
    let text = table(&many_tenants(40, 60), 120);
    for part in ["Quantiles across 40 tenants", "p10", "median", "(30 not shown)"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(!table(&four_tenants(), 120).contains("not shown"));
}

/// Mean job times in minutes under fair and long-term, and the words that stand first.
#[test]
fn who_gains_and_who_loses_stands_first() {
    let none: &[(Option<f64>, Option<f64>)] = &[];
    let rows = [
        (none, "  "),
        (
            &[(Some(60.0), Some(58.0)), (Some(60.0), Some(62.0))],
            "long-term instead of fair: no tenant's",
        ),
        (
            &[(Some(60.0), Some(30.0)), (Some(60.0), Some(60.0)), (Some(10.0), Some(20.0))],
            "long-term instead of fair: 1 of 3 tenants finishes sooner (mean job time shorter by \
             5 % or more): a (60.0 to 30.0 min). 1 finishes later: c (10.0 to 20.0 min). 1 gets \
             less than its own share (rho < 1), under fair none.",
        ),
        (
            &[(Some(0.0), Some(9.0)), (Some(60.0), None), (None, Some(1.0))],
            "long-term instead of fair: none of 1 tenant finishes sooner (mean job time shorter \
             by 5 % or more). 1 finishes later: a (0.00 to 9.00 min). No job of 1 more has ended. \
             1 gets",
        ),
    ];
    for (times, words) in rows {
        let policies = ["fair", "long-term"];
        let names = ["a", "b", "c"];
        let mut c = comparison(
            &names,
            &[1.0; 3],
            4,
            if times.is_empty() { &policies[..1] } else { &policies },
        );
        for (r, run) in c.runs.iter_mut().enumerate() {
            for (q, queue) in run.queues.iter_mut().enumerate() {
                let of = |(before, now): &(Option<f64>, Option<f64>)| {
                    if r == 0 { *before } else { *now }
                };
                queue.mean_job_s = times.get(q).and_then(of).map(|minutes| 60.0 * minutes);
                queue.rho = Some(if r == 1 && q == 2 { 0.5 } else { 1.0 });
            }
        }
        let text = table(&c, 1000);
        assert!(text.starts_with(words), "{words}\n{text}");
    }
}

#[test]
fn colour_only_when_asked_for() {
    let plain = table(&small(), 80);
    assert!(!plain.contains('\u{1b}'));
    let coloured = summary_table(&small(), &TableOptions { width: 80, color: true });
    assert!(coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let c = comparison(&["a\u{1b}[31m\u{7}", "b"], &[1.0, 1.0], 3, &["fair\n\r"]);
    let text = table(&c, 80);
    assert!(text.chars().all(|ch| ch == '\n' || !ch.is_control()), "{text:?}");
}

#[test]
fn a_comparison_without_runs_or_tenants() {
    let mut c = four_tenants();
    c.runs.truncate(1);
    c.runs[0].queues.clear();
    c.runs[0].series = Default::default();
    assert!(table(&c, 80).contains("No tenant"));
    to_html(&c);
    c.runs.clear();
    assert_eq!(table(&c, 80), "No run.\n");
    to_html(&c);
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(String::from).collect()
}

#[test]
fn json_has_the_fields_of_schema_1() {
    let text = to_json(&four_tenants());
    assert!(text.ends_with("}\n") && text.lines().count() == 1);
    let v: Value = serde_json::from_str(&text).unwrap();
    let run = &v["runs"][0];
    assert_eq!(v["schema"], 1);
    assert_eq!(keys(&v), names("schema scenario seed assumptions runs"));
    let expected = "policy measured end_s events decisions refused failed unfinished trace_lines \
         skipped_lines ignored_lines utilization
        psi omega jain dominant_psi dominant_omega dominant_jain mean_job_s p50_job_s p99_job_s \
        mean_wait_s longest_wait_s queues groups series";
    assert_eq!(keys(run), names(expected));
    let expected =
        "queue weight share usage charged rho dominant_rho lent borrowed balance jobs tasks \
         mean_job_s p50_job_s
        p99_job_s mean_wait_s longest_wait_s speedup job_s_percentiles";
    assert_eq!(keys(&run["queues"][0]), names(expected));
    assert_eq!(
        keys(&run["series"]),
        names("t_s psi omega dominant_psi dominant_omega utilization queues")
    );
    assert_eq!(
        keys(&run["series"]["queues"][0]),
        names("demand allocation usage rho dominant_rho balance charged quantum_s")
    );
    let c = many_tenants(3, 4);
    let v: Value = serde_json::from_str(&to_json(&c)).unwrap();
    assert_eq!(keys(&v["runs"][0]["groups"][0]), names("queue weight usage charged"));
    assert_eq!(
        v["runs"][2]["queues"][1]["lent"].as_f64(),
        Some(c.runs[2].queues[1].lent),
        "no rounding"
    );
}

#[test]
fn json_fields_are_documented() {
    let doc = include_str!("../../../../docs/json.md");
    let v: Value = serde_json::from_str(&to_json(&many_tenants(3, 4))).unwrap();
    let run = &v["runs"][0];
    let parts = [
        &v,
        run,
        &run["queues"][0],
        &run["groups"][0],
        &run["series"],
        &run["series"]["queues"][0],
    ];
    for key in parts.into_iter().flat_map(keys) {
        assert!(doc.contains(&format!("| `{key}` |")), "docs/json.md does not describe `{key}`");
    }
}

#[test]
fn floats_that_are_not_finite_become_null() {
    let mut c = four_tenants();
    c.runs[0].psi = f64::NAN;
    c.runs[0].queues[0].lent = f64::INFINITY;
    c.runs[0].series.psi[0] = f64::NEG_INFINITY;
    let v: Value = serde_json::from_str(&to_json(&c)).unwrap();
    assert!(v["runs"][0]["psi"].is_null() && v["runs"][0]["queues"][0]["lent"].is_null());
    assert!(v["runs"][0]["series"]["psi"][0].is_null());
    assert!(data_of(&to_html(&c))["runs"][0]["series"]["psi"][0].is_null());
    table(&c, 80);
}

/// The data that a report carries.
pub(crate) fn data_of(html: &str) -> Value {
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// A node on which a task runs in room that was held for it.
fn with_chart() -> Comparison {
    let mut c = four_tenants();
    let job = || 7.into();
    c.runs[0].chart = Some(Box::new(NodeChart {
        from_s: 100.0,
        to_s: 200.5,
        why: "it is <b>bold</b></script>".into(),
        nodes_in_all: 900,
        nodes: vec![ChartNode { name: "n\u{1b}1".into(), capacity: 8.0 }],
        tasks: vec![ChartTask {
            node: 0,
            queue: 1,
            job: job(),
            from_s: 150.25,
            to_s: 200.5,
            amount: 4.0,
            how: ChartStart::Reserved,
            stopped: true,
        }],
        left_out: 3,
        holds: vec![ChartHold {
            node: 0,
            queue: 1,
            job: job(),
            from_s: 100.0,
            to_s: 150.25,
            amount: 4.0,
        }],
    }));
    c
}

#[test]
fn nodes_over_time_stand_in_the_report_and_not_in_json() {
    let c = with_chart();
    let told = data_of(&to_html(&c));
    let chart = &told["runs"][0]["chart"];
    assert_eq!((&chart["length_ms"], &chart["nodes_in_all"]), (&100_500.into(), &900.into()));
    assert_eq!(chart["tasks"].to_string(), r#"[[0,1,50250,100500,4,6,"7"]]"#);
    assert_eq!(chart["holds"].to_string(), r#"[[0,1,0,50250,4,"7"]]"#);
    assert!(chart["why"].as_str().unwrap().ends_with("</script>"));
    assert!(told["runs"][1]["chart"].is_null());
    assert!(!to_json(&c).contains("chart"));
}

#[test]
fn the_report_fetches_nothing() {
    // `url(#` names a part of the same picture.
    let html = to_html(&four_tenants()).replace("url(#", "");
    for wrong in
        ["src=", "<link", "@import", "url(", "<iframe", "fetch(", "XMLHttpRequest", "import("]
    {
        assert!(!html.contains(wrong), "{wrong} in the report");
    }
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    // Addresses stand only where they are names: the library's own comment, and the SVG name space.
    let known = ["https://github.com/leeoniya/uPlot", "http://www.w3.org/2000/svg"];
    for (at, _) in html.match_indices("http://").chain(html.match_indices("https://")) {
        let here = &html[at..];
        assert!(known.iter().any(|k| here.starts_with(k)), "address: {}", &here[..60]);
    }
}

#[test]
fn names_cannot_break_out_of_the_report() {
    let c = two_hostile();
    let html = to_html(&c);
    assert!(!html.contains("<img") && !html.contains("<b>&"));
    let benign = to_html(&comparison(&["a", "b"], &[1.0, 3.0], 120, &["fair"]));
    let count = |text: &str| (text.matches("<script").count(), text.matches("</script").count());
    assert_eq!(count(&html), count(&benign));
    assert_eq!(count(&html).0, count(&html).1);
    assert!(!html.contains("<!--"));
    let data = data_of(&html);
    assert_eq!(data["runs"][0]["queues"][0]["queue"], c.runs[0].queues[0].queue.as_str());
    assert_eq!(data["scenario"], c.scenario.as_str());
}

#[test]
fn marks_in_the_input_are_not_filled_in() {
    let mut c = four_tenants();
    c.scenario = "{{data}} {{nothing}}".into();
    let html = to_html(&c);
    assert!(html.contains("<title>{{data}} {{nothing}} - Meed report</title>"));
}

#[test]
fn the_report_holds_rounded_data_and_thins_long_series() {
    let c = four_tenants();
    let data = data_of(&to_html(&c));
    let of = |v: &Value| v.as_f64().unwrap();
    assert_eq!(data["stride"], 1);
    let (track, shown) =
        (&c.runs[1].series.queues[2].usage, &data["runs"][1]["series"]["queues"][2]["usage"]);
    assert_eq!(track.len(), shown.as_array().unwrap().len());
    for (full, short) in track.iter().zip(shown.as_array().unwrap()) {
        assert!((full - of(short)).abs() <= 5e-5 * full.abs(), "{full} became {short}");
    }
    let many = many_tenants(679, 240);
    let html = to_html(&many);
    assert!(html.len() < 12_000_000, "{} bytes", html.len());
    let data = data_of(&html);
    assert_eq!(data["stride"], 2);
    let t = data["runs"][0]["series"]["t_ms"].as_array().unwrap();
    assert_eq!((t.len(), t.last().unwrap().as_u64()), (121, Some(240 * 60_000)));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    for c in [four_tenants(), without_series(four_tenants()), nothing_ended()] {
        assert_eq!(to_html(&c), to_html(&c.clone()));
        assert_eq!(to_json(&c), to_json(&c.clone()));
        assert_eq!(table(&c, 80), table(&c.clone(), 80));
    }
    assert_eq!(POLICIES.len(), 3);
    assert!(Lcg::new(1).next_f64() < 1.0);
}

/// A page is shown to others, who need not know where it was made.
#[test]
fn the_report_names_no_folder_of_whoever_made_it() {
    let mut c = four_tenants();
    for (scenario, shown) in [
        ("/home/ann/secret/day.toml", "day.toml"),
        ("examples/day.toml", "examples/day.toml"),
        ("", ""),
        ("/", "/"),
    ] {
        c.scenario = scenario.to_owned();
        let html = to_html(&c);
        assert!(!html.contains("secret"), "{scenario}");
        assert_eq!(data_of(&html)["scenario"], shown);
        assert!(html.contains(&format!("<title>{shown}")), "{scenario}");
    }
}

#[test]
fn the_file_holds_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.json");
    write_json(&nothing_ended(), meed_files::Guard::new().create(&path).unwrap()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), to_json(&nothing_ended()));
}
