//! What the pages say is so: examples and quoted scenarios run, every key is described, every link
//! leads somewhere.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The folder of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = project().join(path);
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn meed(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meed")).args(args).current_dir(project()).output().unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes `text` as a scenario and runs it.
fn simulate(text: &str, args: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("scenario.toml");
    fs::write(&file, text).unwrap();
    meed(&[&["simulate", file.to_str().unwrap(), "--quiet"], args].concat())
}

/// All fenced blocks of `language` in a page.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(fence.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// Files of the project's folder and below that end in `ending`, without what is built.
fn files(ending: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![project()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else if path.is_file() && name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_example_without_a_trace_runs() {
    let examples =
        files(".toml").into_iter().filter(|path| path.parent().unwrap().ends_with("examples"));
    let mut ran = 0;
    for path in examples {
        if fs::read_to_string(&path).unwrap().contains("\n[trace]") {
            continue;
        }
        let output = meed(&["simulate", path.to_str().unwrap(), "--quiet", "--strict"]);
        assert!(output.status.success(), "{}: {}", path.display(), complaint(&output));
        ran += 1;
    }
    assert!(ran >= 3, "only {ran} examples were found");
}

#[test]
fn examples_with_a_trace_name_only_the_trace_as_missing() {
    for example in ["ctc", "facebook", "metacentrum", "philly", "google"] {
        let example = &format!("examples/{example}.toml");
        let output = meed(&["simulate", example, "--quiet", "--set", "trace.file=nowhere.swf"]);
        assert_eq!(output.status.code(), Some(4), "{example}: {}", complaint(&output));
        assert!(complaint(&output).contains("nowhere.swf"), "{example}: {}", complaint(&output));
    }
}

#[test]
fn table_1_and_fig_2_are_as_the_examples_say() {
    let usage = |policy: &str| -> Vec<f64> {
        let args = [
            "simulate",
            "examples/table1.toml",
            "--set",
            "run.until=4min",
            "-p",
            policy,
            "--json",
            "-",
        ];
        let result: serde_json::Value = serde_json::from_slice(&meed(&args).stdout).unwrap();
        let queues = result["runs"][0]["queues"].as_array().unwrap();
        queues.iter().map(|queue| queue["usage"]["slot"].as_f64().unwrap() / 60.0).collect()
    };
    assert_eq!((usage("fair"), usage("long-term")), (vec![160.0, 240.0], vec![200.0, 200.0]));
    // The first minute after the 27th in which B is served.
    let served = |policy: &str| -> f64 {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log.jsonl");
        let log = log.to_str().unwrap();
        assert!(
            meed(&["simulate", "examples/hierarchy.toml", "-q", "-p", policy, "--log", log])
                .status
                .success()
        );
        let text = fs::read_to_string(log).unwrap();
        let lines =
            text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let starts = lines.filter(|line| line["start"]["queue"] == "G1.B");
        starts
            .map(|line| line["t"].as_f64().unwrap() / 60.0)
            .find(|&minute| minute >= 27.0)
            .unwrap()
    };
    assert_eq!(["long-term", "guarded", "single-level"].map(served), [35.0, 30.0, 27.0]);
}

#[test]
fn whole_scenarios_in_the_pages_run() {
    let mut ran = 0;
    // The tutorial is of a server, and has a test of its own in meed-server.
    for page in files(".md").into_iter().filter(|page| !page.ends_with("docs/tutorial.md")) {
        let text = fs::read_to_string(&page).unwrap();
        for block in blocks(&text, "toml")
            .into_iter()
            .filter(|block| block.contains("[cluster]") || block.contains("[mapreduce]"))
        {
            let output = simulate(block, &["--strict"]);
            assert!(output.status.success(), "{}: {}\n{block}", page.display(), complaint(&output));
            ran += 1;
        }
    }
    assert!(ran >= 2, "only {ran} whole scenarios were found");
}

/// The commands of the page, one after the other, in a folder with what it has by then.
#[test]
fn the_first_hour_runs_as_it_stands() {
    let page = read("docs/first-hour.md");
    let folder = TempDir::new().unwrap();
    let there = |name: &str| folder.path().join(name);
    fs::copy(project().join("examples/jobs.csv"), there("jobs.csv")).unwrap();
    fs::write(there("weights.csv"), blocks(&page, "csv")[0]).unwrap();
    let (mut said, mut ran) = (String::new(), 0);
    for line in blocks(&page, "sh").iter().flat_map(|block| block.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], "meed", "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_meed"));
        let output = command.args(&words[1..]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{line}: {}", complaint(&output));
        said += &String::from_utf8_lossy(&output.stdout);
        ran += 1;
    }
    assert!(there("report.html").exists() && there("run.jsonl.zst").exists());
    assert!(ran >= 5, "{ran} commands");
    // What it quotes of the jobs, and of what is said of them.
    let jobs = fs::read_to_string(there("jobs.csv")).unwrap();
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (jobs, said) = (plain(&jobs), plain(&said));
    for quoted in blocks(&page, "text").into_iter().map(plain) {
        assert!(jobs.contains(&quoted) || said.contains(&quoted), "{quoted}\n{said}");
    }
}

/// `docs/SUMMARY.md` leads to each page once, so that the site has them all.
#[test]
fn the_table_of_contents_names_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut named: Vec<&str> = links.filter(|link| !link.is_empty()).collect();
    named.sort_unstable();
    let docs = project().join("docs");
    let pages = files(".md").into_iter().filter_map(|path| {
        let page = path.strip_prefix(&docs).ok()?.to_str()?.to_owned();
        (page != "SUMMARY.md").then_some(page)
    });
    let above = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let above = above.iter().map(|page| format!("../{page}"));
    let mut there: Vec<String> = pages.chain(above).collect();
    there.sort_unstable();
    assert_eq!(named, there);
}

/// README's first scenario, and the two lines of figures below it.
#[test]
fn the_first_scenario_brings_what_the_readme_says() {
    let page = read("README.md");
    let output = simulate(blocks(&page, "toml")[0], &["--json", "-"]);
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for queue in ["search", "ads"] {
        let start = format!("| `{queue}`, who ");
        let line = page.lines().find(|line| line.starts_with(&start)).unwrap();
        let said: Vec<&str> = line.trim_matches('|').split('|').skip(1).map(str::trim).collect();
        let runs = result["runs"].as_array().unwrap().iter();
        let found: Vec<String> = runs
            .map(|run| {
                let queues = run["queues"].as_array().unwrap();
                let ours = queues.iter().find(|found| found["queue"] == queue).unwrap();
                format!("{:.1} h", ours["mean_job_s"].as_f64().unwrap() / 3600.0)
            })
            .collect();
        assert_eq!(said, found, "{queue}");
    }
}

/// Commands in `console` blocks print what stands below them.
#[test]
fn quoted_output_is_what_the_program_prints() {
    let mut ran = 0;
    for page in ["docs/explain.md", "docs/replay.md"] {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("examples")).unwrap();
        fs::copy(
            project().join("examples/lending.toml"),
            folder.path().join("examples/lending.toml"),
        )
        .unwrap();
        let text = read(page);
        for block in blocks(&text, "console") {
            for part in block.split("$ meed ").skip(1) {
                let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
                let mut program = Command::new(env!("CARGO_BIN_EXE_meed"));
                let output =
                    program.args(command.split(' ')).current_dir(folder.path()).output().unwrap();
                assert!(output.status.success(), "{page}: {command}: {}", complaint(&output));
                let printed = String::from_utf8(output.stdout).unwrap();
                assert_eq!(printed.trim_end(), expected.trim_end(), "{page}: {command}");
                ran += 1;
            }
        }
    }
    assert!(ran >= 5, "only {ran} commands were found");
}

/// The example lines of the log's page are a log: they are run again (but for the scenario's text,
/// which is cut).
#[test]
fn the_log_of_its_page_is_one() {
    let folder = TempDir::new().unwrap();
    let text = read("docs/log.md");
    let log = folder.path().join("log.jsonl");
    fs::write(&log, blocks(&text, "json")[0]).unwrap();
    let output = meed(&["replay", log.to_str().unwrap(), "--verify"]);
    assert!(output.status.success(), "{}", complaint(&output));
}

/// What the program lists when it meets a key that it does not know.
fn keys_of(text: &str) -> Vec<String> {
    let output = simulate(text, &[]);
    let complaint = complaint(&output);
    let (_, expected) =
        complaint.split_once("expected").unwrap_or_else(|| panic!("{text}\n{complaint}"));
    let known = expected.split("; did you mean").next().unwrap();
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_scenario_is_described() {
    let cluster = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 1 }\n";
    let with = |rest: &str| format!("{cluster}{rest}");
    let questions = [
        with("[zzz]\n"),
        "[cluster]\nzzz = 1\n".to_owned(),
        "[cluster]\nresources = [\"cpu\"]\nmachines = { zzz = 1 }\n".to_owned(),
        "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\nzzz = 1\n".to_owned(),
        with("[fairness]\nzzz = 1\n"),
        with("[policy]\nzzz = 1\n"),
        with("[[queue]]\nzzz = 1\n"),
        with("[[job]]\nzzz = 1\n"),
        with("[[job]]\nqueue = \"a\"\n[[job.group]]\nzzz = 1\n"),
        with("[[generator]]\nzzz = 1\n"),
        with("[[generator]]\nqueue = \"a\"\narrivals = { zzz = 1 }\n"),
        with(
            "[[generator]]\nqueue = \"a\"\narrivals = { every = 1 }\n[[generator.stage]]\nzzz = \
             1\n",
        ),
        with(
            "[[generator]]\nqueue = \"a\"\narrivals = { every = 1 }\n[[generator.group]]\nzzz = \
             1\n",
        ),
        with("[[workload]]\nzzz = 1\n"),
        with("[trace]\nzzz = 1\n"),
        with("[[change]]\nzzz = 1\n"),
        with("[[change]]\nat = 1\nnode_resized = { zzz = 1 }\n"),
        with("[[change]]\nat = 1\nqueue = { zzz = 1 }\n"),
        with("[run]\nzzz = 1\n"),
        with("[[instance]]\nzzz = 1\n"),
        with("[[contribution]]\nzzz = 1\n"),
        with("[accounts]\nzzz = 1\n"),
        "[mapreduce]\nzzz = 1\n".to_owned(),
        "[mapreduce]\n[[mapreduce.node]]\nzzz = 1\n".to_owned(),
        "[mapreduce]\n[[mapreduce.node]]\nchange = [{ zzz = 1 }]\n".to_owned(),
        "[mapreduce]\n[[mapreduce.host]]\nzzz = 1\n".to_owned(),
        "[mapreduce]\n[[mapreduce.kind]]\nzzz = 1\n".to_owned(),
        "[mapreduce]\n[[mapreduce.job]]\nzzz = 1\n".to_owned(),
        "[mapreduce]\n[[mapreduce.request]]\nzzz = 1\n".to_owned(),
    ];
    let page = read("docs/scenario.md");
    let mut keys = BTreeSet::new();
    for question in &questions {
        let found = keys_of(question);
        assert!(!found.is_empty(), "{question}");
        keys.extend(found);
    }
    assert!(keys.len() > 70, "only {} keys were found", keys.len());
    let words = ["uniform", "exponential", "lognormal", "pareto", "choice", "max"];
    keys.extend(words.map(str::to_owned));
    // Tables are named as they are written, in brackets.
    let named = |key: &String| {
        [format!("`{key}`"), format!("[{key}]"), format!("[{key}.")]
            .iter()
            .any(|way| page.contains(way.as_str()))
    };
    let missing: Vec<_> = keys.iter().filter(|key| !named(key)).collect();
    assert!(missing.is_empty(), "docs/scenario.md does not describe {missing:?}");
}

#[test]
fn work_of_mapreduce_jobs_is_as_the_page_says() {
    use meed_mapreduce::{KINDS, RATIO_ONE, Reduces};
    let page = read("docs/mapreduce.md");
    for kind in KINDS {
        let percent = |ratio: u32| ratio * 100 / RATIO_ONE;
        let reduces = match kind.reduces {
            Reduces::Slots => "slots".to_owned(),
            Reduces::Count(count) => count.to_string(),
        };
        let row = format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {reduces} |",
            kind.name,
            percent(kind.map_read),
            kind.map_cpu_micros_per_mb / 1000,
            percent(kind.map_output),
            percent(kind.shuffle),
            kind.reduce_cpu_micros_per_mb / 1000,
            percent(kind.output)
        );
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn relative_links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in files(".md") {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            if !page.parent().unwrap().join(file).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Whoever adds a policy is told here which places speak of it by name.
#[test]
fn every_policy_has_a_page_and_is_named_by_the_help() {
    let help = String::from_utf8(meed(&["simulate", "--help"]).stdout).unwrap();
    let words: BTreeSet<&str> =
        help.split(|letter: char| letter == ',' || letter.is_whitespace()).collect();
    for preset in meed::policy::PRESETS {
        let name = preset.name;
        assert!(words.contains(name), "the help of --policy does not name `{name}`");
        assert!(read(format!("docs/policies/{name}.md")).contains(name));
    }
}
