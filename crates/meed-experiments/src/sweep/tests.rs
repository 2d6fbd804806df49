use std::fs;
use std::path::{Path, PathBuf};

use meed_report::page::{Block, Cell, to_html};
use meed_workload::OnBadLine;
use tempfile::TempDir;

use super::*;

const SCENARIO: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
count = 2
capacity = { cpu = 4 }
[[queue]]
name = "a"
[[queue]]
name = "b"
weight = 2
[[generator]]
queue = "a"
jobs = 40
arrivals = { poisson = "5s" }
tasks = { uniform = [1, 6] }
duration = { exponential = 10 }
demand = { cpu = 1 }
[[generator]]
queue = "b"
jobs = 40
arrivals = { poisson = "6s" }
tasks = 3
duration = { exponential = 15 }
demand = { cpu = 1 }
[run]
seed = 3
"#;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn request(&self, over: &[&str], policies: &[&str], seeds: u64) -> SweepRequest {
        let owned = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let (over, policies) = (owned(over), owned(policies));
        SweepRequest {
            scenario: self.path("s.toml"),
            over,
            policies,
            seeds,
            ..SweepRequest::default()
        }
    }

    fn grid(&self, over: &[&str], policies: &[&str], seeds: u64) -> Grid {
        Grid::prepare(&self.request(over, policies, seeds)).unwrap()
    }
}

fn csv(results: &Results) -> String {
    let mut out = Vec::new();
    results.write_csv(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_product_in_order() {
    let place = Place::new();
    let check = |over: &[&str], policies: &[&str], seeds: u64, names: &[&str], points: &[&str]| {
        let grid = place.grid(over, policies, seeds);
        assert_eq!(grid.parameters(), names);
        let found: Vec<String> =
            grid.points.iter().map(|point| grid.values(point).join(" ")).collect();
        assert_eq!(found, points, "{over:?}");
        assert!(grid.points.iter().enumerate().all(|(at, point)| point.number == at));
    };
    check(&[], &[], 1, &["policy", "seed"], &["fair 3", "long-term 3"]);
    check(
        &["half_life=1h,2h", "load=1,2"],
        &["long-term"],
        2,
        &["half_life", "load", "policy", "seed"],
        &[
            "1h 1 long-term 3",
            "1h 1 long-term 4",
            "1h 2 long-term 3",
            "1h 2 long-term 4",
            "2h 1 long-term 3",
            "2h 1 long-term 4",
            "2h 2 long-term 3",
            "2h 2 long-term 4",
        ],
    );
    check(
        &["policy=static,fair", "queue.1.weight=1..3 step 2"],
        &[],
        1,
        &["policy", "queue.1.weight", "seed"],
        &["static 1 3", "static 3 3", "fair 1 3", "fair 3 3"],
    );
    // Keys of policies go to the policy, all others to the scenario, of which there is one for each
    // combination.
    let grid =
        place.grid(&["half_life=1h,2h", "nodes=1,3", "discount=0,1"], &["fair", "long-term"], 1);
    assert_eq!((grid.points.len(), grid.scenarios.len()), (16, 2));
    assert_eq!(grid.points[1].policy, "long-term,half_life=1h,discount=0");
    assert_eq!(grid.points[15].policy, "long-term,half_life=2h,discount=1");
    assert_eq!(grid.scenarios[grid.points[15].scenario].capacity().get(0), 12_000);
    assert_eq!(
        grid.words(&grid.points[1]),
        "point 2 (half_life=1h, nodes=1, discount=0, policy=long-term, seed=3)"
    );
}

#[test]
fn wrong_settings_are_told_before_anything_runs() {
    let place = Place::new();
    let check = |over: &[&str], policies: &[&str], message: &str| {
        let error =
            Grid::prepare(&place.request(over, policies, 1)).err().expect(message).to_string();
        assert!(error.contains(message), "{error}\n{message}");
    };
    check(
        &["halflife=1h"],
        &[],
        "--over halflife=1h: unknown setting `halflife`; did you mean `half_life`?",
    );
    check(&["banana=1h"], &[], "Known are policy, load, nodes, until, order,");
    check(&["half_life"], &[], "--over half_life: is not of the form KEY=V1,V2,...");
    check(&["seed=1,2"], &[], "seeds are given by --seeds N");
    check(&["load=1,1"], &[], "`load` has the value 1 twice");
    check(&["load=1", "run.load=2"], &[], "`run.load` varies already");
    check(&["policy=fair"], &["static"], "by --policy or by --over policy=..., not both");
    check(&[], &["fair", "fair"], "--policy fair is given twice");
    check(
        &["load=1..9 step 1", "until=1h,x"],
        &[],
        "point 3 (load=1, until=x, policy=fair, seed=3): ",
    );
    check(&["load=1,0"], &[], "load is 0; it must be 0.001 to 1000");
    check(
        &["half_life=1h,2y"],
        &[],
        "point 3 (half_life=2y, policy=fair, seed=3): --policy fair,half_life=2y: ",
    );
    check(&["queue.7.weight=1,2"], &[], "the list has 2 entries");
    check(
        &["policy=fair,fare"],
        &[],
        "point 2 (policy=fare, seed=3): --policy fare: unknown policy `fare`",
    );
    check(&["policy.order=fair,fare"], &[], "point 3 (policy.order=fare, policy=fair, seed=3): ");
    check(&["round=1h", "half_life=1h"], &[], "rounds or a half-life, not both");
    check(
        &["cluster.resources=[\"cpu\"],[\"cpu\",\"gpu\"]"],
        &[],
        "the cluster's resources are others",
    );
    let thousand = "load=0.001..1 step 0.001";
    check(
        &[thousand, "discount=0..1 step 0.001"],
        &[],
        "2002000 points; a sweep has at most 1000000",
    );
    let error = Grid::prepare(&place.request(&[], &[], 0)).err().unwrap().to_string();
    assert!(error.contains("--seeds is 0"), "{error}");
}

#[test]
fn threads_and_stops_change_no_byte() {
    let place = Place::new();
    let grid = place.grid(&["half_life=1min,10min", "load=0.8,1.2"], &["fair", "long-term"], 2);
    let expected = csv(&run(&grid, None, 1, &|_| ()).unwrap());
    assert_eq!(expected.lines().count(), 17);
    for threads in [2, 5] {
        assert_eq!(
            csv(&run(&grid, None, threads, &|_| ()).unwrap()),
            expected,
            "{threads} threads"
        );
    }
    let path = place.path("j");
    let with_journal = |fresh: bool| -> (usize, String) {
        let journal = SweepJournal::open(&path, &grid, fresh).unwrap();
        let found = journal.finished().len();
        (found, csv(&run(&grid, Some(journal), 2, &|_| ()).unwrap()))
    };
    assert_eq!(with_journal(false), (0, expected.clone()));
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(ends.len(), 17, "a heading and a line for each point");
    // A kill leaves any number of bytes: within the heading, within a line, just before and behind
    // its end.
    for cut in
        [0, 5, ends[0] - 1, ends[0], ends[3] + 7, ends[7] - 1, ends[7], ends[15] + 1, ends[16]]
    {
        fs::write(&path, &whole[..cut]).unwrap();
        let points = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        assert_eq!(with_journal(false), (points, expected.clone()), "cut at {cut}");
        assert_eq!(with_journal(false), (16, expected.clone()), "and once more");
    }
    assert_eq!(with_journal(true), (0, expected), "--fresh forgets");
}

#[test]
fn finished_points_are_not_run_again() {
    let place = Place::new();
    let grid = place.grid(&["load=1,2"], &["fair"], 1);
    let path = place.path("j");
    run(&grid, Some(SweepJournal::open(&path, &grid, false).unwrap()), 1, &|_| ()).unwrap();
    // What the journal says is believed: a figure that no run gives comes out again.
    let text = fs::read_to_string(&path).unwrap();
    let psi = text
        .lines()
        .nth(1)
        .unwrap()
        .split("\"cells\":[\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    fs::write(&path, text.replacen(psi, "123.5", 1)).unwrap();
    let told = Mutex::new(Vec::new());
    let done = |done: usize| told.lock().unwrap().push(done);
    let results =
        run(&grid, Some(SweepJournal::open(&path, &grid, false).unwrap()), 1, &done).unwrap();
    assert!(csv(&results).contains(",123.5,"));
    assert_eq!(*told.lock().unwrap(), [2]);
}

#[test]
fn journals_of_something_else_are_refused() {
    let place = Place::new();
    let path = place.path("j");
    let grid = place.grid(&["load=1,2"], &["fair"], 1);
    run(&grid, Some(SweepJournal::open(&path, &grid, false).unwrap()), 1, &|_| ()).unwrap();
    let check = |grid: &Grid, message: &str| {
        let before = fs::read(&path).unwrap();
        let error = SweepJournal::open(&path, grid, false).unwrap_err().to_string();
        assert!(
            error.contains(message)
                && error.ends_with("; --fresh starts over, another --out keeps it"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), before, "it is left as it is");
    };
    check(
        &place.grid(&["load=1,3"], &["fair"], 1),
        "its settings was `load=1,2`, here it is `load=1,3`",
    );
    check(
        &place.grid(&["load=1,2"], &["static"], 1),
        "its policies was `fair`, here it is `static`",
    );
    check(&place.grid(&["load=1,2"], &["fair"], 2), "its seeds was `(3, 1)`, here it is `(3, 2)`");
    let strict = SweepRequest {
        reading: OnBadLine::Stop.into(),
        ..place.request(&["load=1,2"], &["fair"], 1)
    };
    check(&Grid::prepare(&strict).unwrap(), "its --strict was `false`");
    fs::write(place.path("s.toml"), SCENARIO.replace("jobs = 40", "jobs = 41")).unwrap();
    check(&place.grid(&["load=1,2"], &["fair"], 1), "the scenario has changed since");
    fs::write(place.path("s.toml"), SCENARIO).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    for (text, message) in [
        (whole.replacen("\"version\":\"", "\"version\":\"x", 1), "its version of meed was `x"),
        (whole.replacen("{\"point\":0,", "{\"paint\":0,", 1), "line 2 is damaged"),
        (whole.replacen("{\"point\":0,", "{\"point\":99,", 1), "line 2 is damaged"),
        (whole.replacen("\"version\":", "\"virsion\":", 1), "line 1 is damaged"),
    ] {
        fs::write(&path, text).unwrap();
        check(&grid, message);
    }
    for (text, fresh) in [("a,b,c\n1,2,3\n", false), ("a,b", false), ("a,b,c\n1,2,3\n", true)] {
        fs::write(&path, text).unwrap();
        let error = SweepJournal::open(&path, &grid, fresh).unwrap_err();
        assert!(matches!(error, JournalError::NoJournal { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "somebody's file is left alone");
    }
    assert!(matches!(
        SweepJournal::open(place.folder.path(), &grid, false),
        Err(JournalError::Io { .. })
    ));
}

#[test]
fn another_trace_under_the_same_name_is_another_sweep() {
    let place = Place::new();
    let (trace, path) = (place.path("t.csv"), place.path("j"));
    let text = "vc,arrival_s,gpus,duration_s\na,0,1,10\na,1,2,10\nb,2,1,5\n";
    let grid = |text: &str| {
        fs::write(&trace, text).unwrap();
        let request = SweepRequest { scenario: trace.clone(), seeds: 1, ..SweepRequest::default() };
        Grid::prepare(&request).unwrap()
    };
    let first = grid(text);
    run(&first, Some(SweepJournal::open(&path, &first, false).unwrap()), 1, &|_| ()).unwrap();
    let error = SweepJournal::open(&path, &grid(&text.replace(",5\n", ",6\n")), false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("another file that the scenario reads, has changed since"), "{error}");
    assert_eq!(SweepJournal::open(&path, &grid(text), false).unwrap().finished().len(), 2);
}

#[test]
fn the_csv_is_well_formed_and_its_columns_are_described() {
    let place = Place::new();
    let nodes = "cluster.node.0.capacity={ cpu = 4 },{ cpu = 8.0 }";
    let points = place.grid(&[nodes], &["fair", "static"], 1);
    let results = run(&points, None, 1, &|_| ()).unwrap();
    let text = csv(&results);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heading: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    let column = |name: &str| heading.iter().position(|found| found == name).unwrap();
    assert_eq!(&rows[2][column("cluster.node.0.capacity")], "{ cpu = 8.0 }");
    assert_eq!(&rows[3][column("policy")], "static");
    let number = |row: usize, name: &str| rows[row][column(name)].parse::<f64>().unwrap();
    assert_eq!(
        (number(0, "jobs"), number(0, "tenants"), number(0, "unfinished")),
        (80.0, 2.0, 0.0)
    );
    assert!(number(2, "used_cpu") < number(0, "used_cpu") && number(0, "used_cpu") <= 1.0);
    assert!(
        number(0, "rho_min") <= number(0, "rho_p50")
            && number(0, "rho_p50") <= number(0, "rho_max")
    );
    assert!(
        number(0, "p50_job_s") <= number(0, "p99_job_s")
            && number(0, "mean_wait_s") <= number(0, "longest_wait_s")
    );
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweep.md"))
            .unwrap();
    let described = |name: &str, what: &str| {
        page.lines().any(|line| line.starts_with(&format!("| `{name}` | {what}")))
    };
    let missing: Vec<&str> = results::COLUMNS
        .iter()
        .filter(|column| !described(column.name, column.what))
        .map(|column| column.name)
        .collect();
    assert!(
        missing.is_empty(),
        "docs/sweep.md does not describe {missing:?} in the words of `COLUMNS`"
    );
    for (name, _, what) in grid::SHORT {
        assert!(described(name, what), "docs/sweep.md does not describe {name}: {what}");
    }
    for key in grid::policy_keys() {
        assert!(page.contains(&format!("`{key}`")), "docs/sweep.md does not name {key}");
    }
    let json: serde_json::Value = serde_json::from_str(&results.to_json(&points)).unwrap();
    assert_eq!(json["points"][3]["parameters"]["policy"], "static");
    assert_eq!(json["points"][0]["measured"]["jobs"], 80.0);
}

#[test]
fn the_report_has_the_chart_that_fits() {
    let place = Place::new();
    let check = |over: &[&str],
                 policies: &[&str],
                 seeds: u64,
                 wanted: fn(&Block) -> bool,
                 count: usize| {
        let grid = place.grid(over, policies, seeds);
        let results = run(&grid, None, 2, &|_| ()).unwrap();
        let page = page::page(&grid, &results, &["nothing".to_owned()]);
        let section = page.sections.iter().find(|section| section.id == "psi").unwrap();
        assert_eq!(section.blocks.iter().filter(|block| wanted(block)).count(), count, "{over:?}");
        assert!(to_html(&page).len() > 10_000);
        let html =
            page.sections[0].blocks.iter().filter(|block| matches!(block, Block::Note(_))).count();
        assert!(html >= 1);
    };
    check(
        &[],
        &["fair", "static"],
        3,
        |block| matches!(block, Block::Spreads(chart) if chart.rows.len() == 2),
        1,
    );
    check(
        &["load=0.5..1.5 step 0.5"],
        &["fair", "long-term"],
        2,
        |block| {
            matches!(block, Block::Lines(chart) if chart.lines.len() == 2 && chart.lines[1]
            .band.is_some() && chart.marks.is_empty())
        },
        1,
    );
    check(
        &["half_life=1s,1min,1h"],
        &["long-term"],
        1,
        |block| {
            matches!(block, Block::Lines(chart) if chart.lines[0].x[2] == 0.0
            && chart.marks.len() == 3)
        },
        1,
    );
    check(
        &["when_blocked=skip,wait"],
        &[],
        1,
        |block| matches!(block, Block::Heat(map) if map.values.len() == 2),
        1,
    );
    check(
        &["load=1,2", "nodes=1,2,3"],
        &[],
        1,
        |block| matches!(block, Block::Heat(map) if map.values.len() == 3),
        2,
    );
    check(
        &["load=1,2", "nodes=2,3", "discount=0,1"],
        &[],
        1,
        |block| matches!(block, Block::Heat(_)),
        4,
    );
}

#[test]
fn what_was_refused_skipped_or_left_is_told() {
    let place = Place::new();
    let grid = place.grid(&["until=1min,1h"], &["fair"], 1);
    let results = run(&grid, None, 1, &|_| ()).unwrap();
    for page in [page::page(&grid, &results, &[]), page::terminal(&grid, &results)] {
        let notes: Vec<&String> = page.sections[0]
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Note(note) => Some(note),
                _ => None,
            })
            .collect();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            notes[0].starts_with("At 1 of 2 points jobs were unfinished at the end, at most "),
            "{notes:?}"
        );
    }
}

#[test]
fn tenants_that_are_counted_have_no_point() {
    let place = Place::new();
    let grid = place.grid(&["load=1,2"], &["fair"], 1);
    let results = run(&grid, None, 1, &|_| ()).unwrap();
    let page = page::terminal(&grid, &results);
    let tables = page.sections[0].blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let (mut columns, mut rows) = (0, 0);
    for table in tables {
        let is_counted = |text: &str| text.starts_with("tenants with rho below 1");
        if let Some(at) = table.columns.iter().position(|title| is_counted(title)) {
            assert!(table.rows.iter().all(|row| matches!(row[at], Cell::Count(_))), "{table:?}");
            columns += 1;
        }
        let named = |row: &&Vec<Cell>| matches!(&row[0], Cell::Text(text) if is_counted(text));
        for row in table.rows.iter().filter(named) {
            assert!(matches!(row[2], Cell::Count(_)), "{row:?}");
            rows += 1;
        }
    }
    assert_eq!((columns, rows), (1, 1), "settings, and the best and the worst");
}

#[test]
fn the_best_the_worst_and_how_many_are_alike() {
    use summary::{Better, Extreme, SweepGroup, extremes};
    let group = |values: &[f64]| SweepGroup { setting: Vec::new(), values: vec![values.to_vec()] };
    let all = [group(&[1.0, 3.0]), group(&[]), group(&[5.0]), group(&[2.0, 2.0])];
    let groups: Vec<&SweepGroup> = all.iter().collect();
    let found = extremes(&groups, 0, Better::Less).unwrap();
    assert_eq!(found.best, Extreme { value: 2.0, first: 0, count: 2 });
    assert_eq!(found.worst, Extreme { value: 5.0, first: 2, count: 1 });
    assert_eq!(extremes(&groups, 0, Better::More).unwrap().best.value, 5.0);
    assert_eq!(extremes(&groups[1..2], 0, Better::More), None);
    assert_eq!((groups[0].mean(0), groups[0].range(0)), (Some(2.0), Some((1.0, 3.0))));
}

#[test]
fn the_best_setting_is_told_for_each_load() {
    let place = Place::new();
    let best = |over: &[&str], policies: &[&str]| -> Vec<(String, String)> {
        let grid = place.grid(over, policies, 1);
        let results = run(&grid, None, 2, &|_| ()).unwrap();
        let page = page::page(&grid, &results, &[]);
        let mut blocks = page.sections.iter().flat_map(|section| &section.blocks);
        let table = blocks.find_map(|block| match block {
            Block::Table(table) if table.caption.starts_with("The best and") => Some(table),
            _ => None,
        });
        let text =
            |cell: &Cell| if let Cell::Text(text) = cell { text.clone() } else { String::new() };
        table.unwrap().rows.iter().map(|row| (text(&row[0]), text(&row[3]))).collect()
    };
    let rows = best(&["load=0.5,1.5"], &["fair", "long-term"]);
    let of = |load: &str| rows.iter().filter(|(figure, _)| figure.ends_with(load)).count();
    assert_eq!((of(", load=0.5"), of(", load=1.5")), (rows.len() / 2, rows.len() / 2));
    assert!(rows.iter().all(|(_, at)| !at.contains("load=")), "{rows:?}");
    // Where nothing else varies the load is what is compared.
    let rows = best(&["load=0.5,1.5"], &["fair"]);
    assert!(rows.iter().all(|(figure, _)| !figure.contains("load=")), "{rows:?}");
}

/// Whoever adds a measure is told here that a key it reads cannot be swept.
#[test]
fn every_key_that_a_measure_reads_can_be_an_axis() {
    for preset in meed::policy::PRESETS {
        for key in preset.measure.info().reads {
            assert!(grid::policy_keys().any(|known| known == *key), "{}: {key}", preset.name);
        }
    }
}
