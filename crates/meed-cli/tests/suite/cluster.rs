//! Answers about the user's own cluster: its size, its scheduler, its backfilling, and figures that
//! one row or one tenant cannot make.

use std::fs::write;
use std::path::Path;

use serde_json::Value;

use crate::advised::by_hand;
use crate::common::{fail, folder, meed, succeed};

/// Nodes that the drawn log was made for.
pub(crate) const SLURM_CONF: &str = "\
ClusterName=lab
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityWeightFairshare=100000
NodeName=n[1-4] CPUs=16 RealMemory=65536 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES
";

/// Rows of sacct: 600 jobs of 12 users in 12 days, most of them of the first two, with starts as a
/// first-come-first-served queue on 64 cpus has them.
pub(crate) fn sacct() -> Vec<String> {
    let mut state = 46u64;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut jobs: Vec<(u64, u64, u64, u64)> = (0..600)
        .map(|_| {
            let user = if draw(10) < 7 { draw(2) } else { 2 + draw(10) };
            (draw(12 * 86_400), user, 1 + draw(12), 1800 + draw(20_000))
        })
        .collect();
    jobs.sort_unstable();
    let mut ends: Vec<(u64, u64)> = Vec::new();
    let mut before = 0;
    let mut rows = Vec::new();
    for (number, (submit, user, cpus, length)) in jobs.into_iter().enumerate() {
        let mut start = submit.max(before);
        loop {
            ends.retain(|(end, _)| *end > start);
            let held: u64 = ends.iter().map(|(_, cpus)| cpus).sum();
            if held + cpus <= 64 {
                break;
            }
            start = ends.iter().map(|(end, _)| *end).min().unwrap_or(start);
        }
        ends.push((start + length, cpus));
        before = start;
        rows.push(row(
            &(number + 1).to_string(),
            &format!("user{user:02}"),
            submit,
            start,
            cpus,
            length,
        ));
    }
    rows
}

const HEADER: &str = "JobID|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|\
    NNodes|AllocTRES|State";

/// Seconds from the beginning of 1 March 2026.
fn date(second: u64) -> String {
    let day = second / 86_400 + 60 - 1;
    let (month, day) = if day < 59 + 31 { (3, day - 58) } else { (4, day - 58 - 31) };
    let of_day = second % 86_400;
    format!(
        "2026-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

fn row(name: &str, user: &str, submit: u64, start: u64, cpus: u64, length: u64) -> String {
    let (submit, start, end) = (date(submit), date(start), date(start + length));
    row_at(name, user, [&submit, &start, &end], cpus, length)
}

fn row_at(
    name: &str,
    user: &str,
    [submit, start, end]: [&str; 3],
    cpus: u64,
    length: u64,
) -> String {
    let clock = |s: u64| format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    let (elapsed, limit) = (clock(length), clock(2 * length));
    format!(
        "{name}|{user}|lab|main|{submit}|{submit}|{start}|{end}|{elapsed}|{limit}|1|\
         cpu={cpus},mem={cpus}G,node=1|COMPLETED"
    )
}

pub(crate) fn log_of(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

fn advise(folder: &Path, log: &str, more: &[&str]) -> Value {
    let fixed = ["advise", log, "-q", "--json", "-p", "long-term,half_life=1d", "-p", "long-term"];
    let args: Vec<&str> = fixed.iter().chain(more).copied().collect();
    serde_json::from_str(&succeed(folder, &args)).expect("JSON")
}

#[test]
fn without_a_cluster_the_first_sentence_says_so_and_with_one_it_is_known() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let args = ["advise", "sacct.txt", "-p", "long-term,half_life=1d"];
    let text = succeed(path, &args);
    let first = text.lines().find(|line| line.contains(". ") || line.contains(", ")).unwrap();
    assert!(first.starts_with("Assumed cluster: one pool of 64 cpu, 64GiB memory"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("what ran at once in the log in 99 % of the time, or its widest job"),
        "{text}"
    );
    assert!(words.contains("The answer depends on the size of the cluster"), "{text}");
    assert!(words.contains("with 32 cpu") && words.contains("with 96 cpu"), "{text}");
    assert!(words.contains("Compared with fair-tree,half_life=7d: Slurm's default"), "{text}");
    assert!(words.contains("EASY"), "{text}");
    let json = advise(path, "sacct.txt", &[]);
    let assumed = json["assumptions"][0].as_str().unwrap();
    assert!(assumed.starts_with("assumed cluster: "), "{assumed}");
    assert_eq!(json["sizes"].as_array().unwrap().len(), 2);
    // With the cluster nothing is assumed of it, and its own half-life is the baseline.
    let json = advise(path, "sacct.txt", &["--cluster", "slurm.conf"]);
    assert_eq!(json["baseline"], "fair-tree,half_life=14d");
    let known = json["assumptions"][0].as_str().unwrap();
    assert_eq!(known, "the cluster, by slurm.conf: 4 x (16 cpu, 64GiB memory)");
    assert!(json["sizes"].as_array().unwrap().is_empty());
    let asked = ["--cluster", "slurm.conf", "--baseline", "condor,half_life=2d"];
    assert_eq!(advise(path, "sacct.txt", &asked)["baseline"], "condor,half_life=2d");
}

#[test]
fn the_simulation_and_its_report_say_first_which_cluster_was_assumed() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let fair = ["simulate", "sacct.txt", "-p", "fair"];
    let text = succeed(path, &fair);
    assert!(text.starts_with("Assumed cluster: one pool of 64 cpu"), "{text}");
    let run = |more: &[&str]| -> Value {
        let args: Vec<&str> =
            fair.iter().chain(&["-q", "--json", "-"]).chain(more).copied().collect();
        serde_json::from_str(&succeed(path, &args)).unwrap()
    };
    let assumed = run(&[]);
    assert!(assumed["assumptions"][0].as_str().unwrap().starts_with("assumed cluster: "));
    // One amount is given: what was made up of the other does not bind, and the answer says so.
    let given = run(&["--set", "cluster.node.0.capacity.cpu=640"]);
    let words = given["assumptions"][0].as_str().unwrap();
    let others = "assumed cluster: gpu and memory no limit";
    assert!(words.starts_with(others), "{words}");
    let wait = given["runs"][0]["mean_wait_s"].as_f64().unwrap();
    assert!(wait < 1.0, "640 cpus are room for all: {wait}");
    let known = succeed(path, &[&fair[..], &["--cluster", "slurm.conf"]].concat());
    assert!(!known.contains("Assumed cluster"), "{known}");
}

#[test]
fn inspect_tells_what_ran_at_once_and_a_load_only_of_a_cluster_that_is_known() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let inspect = ["trace", "inspect", "sacct.txt"];
    let text = succeed(path, &inspect);
    assert!(text.contains("ran at once: mean") && !text.contains("offered load"), "{text}");
    let json = succeed(path, &[&inspect[..], &["--json", "--cluster", "slurm.conf"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["resources"][0]["ran_at_once"]["peak"], 64.0);
    assert!(json["resources"][0]["offered_load"].as_f64().unwrap() > 0.5);
}

/// Rows that are absurd in one way each: submitted long before, and long after, all others; wider
/// than any cluster; running for years.
fn absurd() -> [(&'static str, String); 4] {
    let day = ["2026-03-05T12:00:00", "2026-03-05T12:00:00", "2026-03-05T13:00:00"];
    let past = ["2025-11-30T12:00:00", "2025-11-30T12:00:00", "2025-11-30T13:00:00"];
    let future = ["2031-03-05T12:00:00", "2031-03-05T12:00:00", "2031-03-05T13:00:00"];
    let years = ["2026-03-05T12:00:00", "2026-03-05T12:00:00", "2034-03-05T13:00:00"];
    [
        ("past", row_at("9991", "user05", past, 2, 3600)),
        ("future", row_at("9992", "user05", future, 2, 3600)),
        ("giant", row_at("9993", "user05", day, 90_000, 3600)),
        ("years", row_at("9994", "user05", years, 2, 8 * 365 * 86_400)),
    ]
}

/// With and without a cluster an absurd row changes nothing but itself: the advice is the same to
/// the last digit, and the row is named.
#[test]
fn absurd_rows_change_neither_pool_nor_load_nor_advice() {
    let folder = folder();
    let path = folder.path();
    let rows = sacct();
    write(path.join("plain.txt"), log_of(&rows)).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let second = row_at(
        "9995",
        "user06",
        ["2026-03-06T12:00:00", "2026-03-06T12:00:00", "2026-03-06T13:00:00"],
        400_000,
        3600,
    );
    let one = absurd().map(|(kind, row)| (kind, vec![row])).to_vec();
    let all = absurd().map(|(_, row)| row).into_iter().chain([second]).collect();
    for cluster in [&[][..], &["--cluster", "slurm.conf"]] {
        let plain = advise(path, "plain.txt", cluster);
        let inspect = |log: &str| -> Value {
            let args = [&["trace", "inspect", log, "--json"], cluster].concat();
            serde_json::from_str(&succeed(path, &args)).unwrap()
        };
        let resources = inspect("plain.txt")["resources"].clone();
        for (kind, odd_rows) in one.iter().cloned().chain([("all", Vec::clone(&all))]) {
            let many = odd_rows.len();
            write(path.join("odd.txt"), log_of(&[rows.clone(), odd_rows].concat())).unwrap();
            let mut odd = advise(path, "odd.txt", cluster);
            let notes = odd["assumptions"].as_array().unwrap().clone();
            let named = notes.iter().filter_map(Value::as_str);
            let named = named.filter(|note| note.starts_with("outlier: job 999")).count();
            assert_eq!(named, many, "{kind} {cluster:?}: {notes:?}");
            let pool = |json: &Value| {
                let words = json["assumptions"][0].as_str().unwrap().to_owned();
                words.split(" (").next().unwrap().to_owned()
            };
            assert_eq!(pool(&odd), pool(&plain), "{kind}");
            odd["assumptions"] = plain["assumptions"].clone();
            assert_eq!(odd, plain, "{kind} {cluster:?}");
            assert_eq!(inspect("odd.txt")["resources"], resources, "{kind} {cluster:?}");
        }
    }
    // Who wants them all has them.
    let keep = ["--set", "trace.outliers=keep", "--cluster", "slurm.conf"];
    let kept = advise(path, "odd.txt", &keep);
    let notes = kept["assumptions"].as_array().unwrap();
    assert!(notes.iter().all(|note| !note.as_str().unwrap().starts_with("outlier")), "{notes:?}");
    assert_eq!(kept["refused"], 2);
}

/// The log tells how long its jobs waited; the answer says what the simulation makes of them.
#[test]
fn waits_of_the_log_stand_beside_the_simulated_ones() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let all = ["--cluster", "slurm.conf", "--warm-up", "0", "--cool-down", "0"];
    let json = advise(path, "sacct.txt", &all);
    let mean = |what: &str| json["waits"][what]["mean_s"].as_f64().unwrap();
    assert_eq!(json["waits"]["log"]["jobs"], 600);
    assert!(mean("log") > 0.0 && mean("simulated") > 0.0, "{}", json["waits"]);
    let cells = |rows: &[String]| -> Vec<u64> {
        let time = |text: &str| -> u64 {
            let (day, clock) = text.split_once('T').unwrap();
            let parts: Vec<u64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
            let of_month: u64 = day[8..].parse().unwrap();
            of_month * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2]
        };
        let wait = |row: &String| {
            let cells: Vec<&str> = row.split('|').collect();
            time(cells[6]) - time(cells[4])
        };
        rows.iter().map(wait).collect()
    };
    let waits = cells(&sacct());
    let expected = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
    assert!((mean("log") - expected).abs() < 1e-6, "{} {expected}", mean("log"));
    let args = ["advise", "sacct.txt", "--cluster", "slurm.conf", "-p", "long-term"];
    let text = succeed(path, &[&args[..], &["--report", "out.html"]].concat());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("The log's jobs waited "), "{words}");
    assert!(words.contains("every tenant has an equal share"), "{words}");
    let page = std::fs::read_to_string(path.join("out.html")).unwrap();
    assert!(page.contains("The log&#39;s jobs waited "));
    let folded = page.split("<details class=\"assumed\">").nth(1).unwrap();
    let folded = folded.split("</details>").next().unwrap();
    assert!(folded.contains(" assumptions</summary>"), "{folded}");
    // Notes of a kind stand in one line: fewer lines than there are assumptions.
    let told: usize =
        folded.split(' ').next().unwrap().rsplit('>').next().unwrap().parse().unwrap();
    assert!(folded.matches("<li>").count() * 2 < told, "{folded}");
    assert!(folded.contains("<code>") && !folded.contains('`'), "{folded}");
    // Nobody asks where weights are given.
    write(path.join("weights.csv"), "queue,weight\nuser00,2\n").unwrap();
    let json = advise(path, "sacct.txt", &["--weights", "weights.csv"]);
    let notes = json["assumptions"].as_array().unwrap();
    assert!(!notes.iter().any(|note| note.as_str().unwrap().contains("equal share")), "{notes:?}");
}

/// One option says in each command what the others are compared with, and `fair` stands beside it.
#[test]
fn a_baseline_is_told_in_each_command_that_compares() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let base = ["--cluster", "slurm.conf", "--baseline", "fair-tree,half_life=14d"];
    let run = |args: &[&str]| succeed(path, &[args, &base].concat());
    let json = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let week = ["-p", "long-term,half_life=7d"];
    let args = [&["simulate", "sacct.txt", "--report", "out.html"][..], &week].concat();
    let text = run(&args);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("long-term,half_life=7d instead of fair-tree,half_life=14d: "),
        "{text}"
    );
    assert!(words.contains("long-term,half_life=7d instead of fair: "), "{text}");
    let quiet = ["simulate", "sacct.txt", "-q", "--json", "-"];
    let record = json(&run(&[&quiet[..], &week].concat()));
    assert_eq!(record["baseline"], "fair-tree,half_life=14d");
    let runs: Vec<&str> = record["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["policy"].as_str().unwrap())
        .collect();
    assert_eq!(runs, ["fair-tree,half_life=14d", "fair", "long-term,half_life=7d"]);
    // The rivals' own runs are the same ones.
    let rivals = json(&run(&[&["rivals", "sacct.txt", "--json", "-q"][..], &week].concat()));
    assert_eq!(rivals["baseline"], "fair-tree,half_life=14d");
    let mean = |order: usize| rivals["orders"][order]["figures"]["mean_job_s"]["mean"].as_f64();
    for (order, run) in record["runs"].as_array().unwrap().iter().enumerate() {
        assert_eq!(run["mean_job_s"].as_f64(), mean(order), "{}", run["policy"]);
    }
    let gain = |to: &str| rivals["orders"][2]["gains"]["mean_job_s"][to].as_f64().unwrap();
    assert_eq!(gain("baseline"), mean(2).unwrap() / mean(0).unwrap());
    assert_eq!(gain("fair"), mean(2).unwrap() / mean(1).unwrap());
    let sweep = ["sweep", "sacct.txt", "--over", "half_life=1d,7d", "-p", "long-term", "-q"];
    let swept = json(&run(&[&sweep[..], &["--json"]].concat()));
    assert_eq!(swept["baseline"], "fair-tree,half_life=14d");
    let gains = swept["gains"].as_array().unwrap();
    let of_week = gains.iter().find(|row| {
        row["parameters"]["policy"] == "long-term" && row["parameters"]["half_life"] == "7d"
    });
    assert_eq!(
        of_week.unwrap()["gains"]["mean_job_s"]["baseline"].as_f64(),
        Some(gain("baseline"))
    );
    let wrong = fail(path, &["sweep", "sacct.txt", "--baseline", "fair-tre"], 2);
    assert!(wrong.contains("--baseline fair-tre") && wrong.contains("did you mean"), "{wrong}");
}

/// JSON beside the table, and instead of it.
#[test]
fn json_goes_into_a_file_beside_the_table() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct()[..100])).unwrap();
    for command in ["advise", "rivals", "sweep"] {
        let args = [command, "sacct.txt", "-p", "long-term", "--json", "out.json"];
        let text = succeed(path, &args);
        assert!(text.contains("JSON: out.json"), "{text}");
        let file = std::fs::read_to_string(path.join("out.json")).unwrap();
        assert!(file.starts_with('{'), "{file}");
        assert_eq!(succeed(path, &[&args[..5]].concat()), file, "{command}");
        let refused = fail(path, &[command, "sacct.txt", "--json", "sacct.txt"], 2);
        assert!(refused.contains("--json would overwrite"), "{refused}");
    }
}

#[test]
fn the_advice_equals_a_recomputation_from_the_jobs() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("slurm.conf"), SLURM_CONF).unwrap();
    let json = advise(path, "sacct.txt", &["--cluster", "slurm.conf"]);
    let mut best = (f64::MAX, String::new());
    for candidate in json["candidates"].as_array().unwrap().iter().skip(1) {
        let policy = candidate["policy"].as_str().unwrap();
        let all = ["0.97", "1", "1.03"].map(|load| by_hand(path, load, policy));
        for figure in ["light", "mean"] {
            let own = all.iter().map(|one| one[figure]).sum::<f64>() / 3.0;
            let told = candidate["figures"][figure]["mean"].as_f64().unwrap();
            assert!((own - told).abs() <= 1e-6 * told.max(1.0), "{policy} {figure}: {own} {told}");
        }
        let is_within = candidate["beyond"].as_array().unwrap().is_empty();
        let light = candidate["figures"]["light"]["mean"].as_f64().unwrap();
        if is_within && candidate["gains"] == true && light < best.0 {
            best = (light, policy.to_owned());
        }
    }
    let chosen = json["chosen"].as_str().unwrap();
    let is_as_good = |one: &Value| one["policy"] == chosen && one["as_good"] == true;
    assert!(json["candidates"].as_array().unwrap().iter().any(is_as_good), "{json}");
    assert!(best.0 < f64::MAX || chosen == json["baseline"], "{chosen} {best:?}");
}

#[test]
fn a_cluster_that_cannot_be_used_is_told_with_what_would_be_right() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct()[..20])).unwrap();
    let told = |text: &str| {
        write(path.join("cluster.txt"), text).unwrap();
        fail(path, &["simulate", "sacct.txt", "--cluster", "cluster.txt"], 3)
    };
    assert!(told("hello\n").contains("sinfo -N"), "no format");
    let slip = told("NodeName=n[1-2 CPUs=4\n");
    assert!(slip.contains("cluster.txt:1: host list `n[1-2`"), "{slip}");
    // A scenario keeps its resources and its jobs, and has these nodes.
    let scenario = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 1 }\n\
        [[queue]]\nname = \"a\"\n[[job]]\nqueue = \"a\"\ntasks = 8\nduration = 60\n\
        demand = { cpu = 1 }\n";
    write(path.join("own.toml"), scenario).unwrap();
    write(path.join("nodes.txt"), "NODELIST CPUS\nn[1-2] 4\n").unwrap();
    let args = ["simulate", "own.toml", "-p", "fair", "-q", "--json", "-"];
    let end = |more: &[&str]| -> f64 {
        let text = meed(path, &[&args[..], more].concat());
        let json: Value = serde_json::from_slice(&text.stdout).unwrap();
        json["runs"][0]["end_s"].as_f64().unwrap()
    };
    assert_eq!(end(&[]), 480.0);
    assert_eq!(end(&["--cluster", "nodes.txt"]), 60.0);
}

/// Jobs that fit on no node are no reason to keep an order: the answer says that this is another
/// cluster.
#[test]
fn a_cluster_on_which_many_jobs_fit_nowhere_is_no_cluster_of_this_log() {
    let folder = folder();
    let path = folder.path();
    write(path.join("sacct.txt"), log_of(&sacct())).unwrap();
    write(path.join("small.conf"), SLURM_CONF.replace("CPUs=16", "CPUs=4")).unwrap();
    let json = advise(path, "sacct.txt", &["--cluster", "small.conf"]);
    let (refused, all) = (json["unfit"][0].as_u64().unwrap(), json["unfit"][1].as_u64().unwrap());
    assert_eq!(all, 600, "{json}");
    assert!(refused > 300 && json["refused"].as_u64() == Some(refused), "{json}");
    assert_eq!((&json["chosen"], &json["seldom_full"]), (&json["baseline"], &Value::Null));
    let args = ["advise", "sacct.txt", "-p", "long-term", "--cluster", "small.conf"];
    let words = succeed(path, &args).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("600 jobs fit on no node of this cluster"), "{words}");
}
