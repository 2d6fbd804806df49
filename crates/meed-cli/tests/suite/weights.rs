//! Weights and names through the program: `--weights`, `[queues]`, queues by name in `--set`, and
//! what is assumed where nobody says.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{folder, meed, succeed};

const TABLE: &str = "\
team,who,created,took,cores
ml,ann,0,100,4
ml,eve,10,100,4
web,bob,20,100,4
";

/// As `sshare -P -a` prints it.
const SSHARE: &str = "\
Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
root||1|1.000000|0|1.000000|
 ml||2|0.5|0|0.5|
  ml|ann|3|0.5|0|0.5|0.25
  ml|eve|parent|0.5|0|0.5|0.25
 web||4|0.5|0|0.5|
  web|bob|5|0.5|0|0.5|0.25
 gone||9|0.5|0|0.5|
";

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a writable folder");
}

/// Each queue of the last run with its weight, and the policies that ran.
fn weights(json: &Value) -> (String, Vec<&str>) {
    let runs = json["runs"].as_array().expect("runs");
    let queues = runs[runs.len() - 1]["queues"].as_array().expect("queues");
    let words = queues
        .iter()
        .map(|queue| format!("{}={}", queue["queue"].as_str().expect("a name"), queue["weight"]));
    let policies = runs.iter().map(|run| run["policy"].as_str().expect("a policy"));
    (words.collect::<Vec<_>>().join(" "), policies.collect())
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let mut all = args.to_vec();
    all.extend(["--json", "-", "--quiet"]);
    serde_json::from_str(&succeed(folder, &all)).expect("JSON")
}

const MAP: [&str; 4] =
    ["simulate", "jobs.csv", "--map", "tenant=team/who,submit=created,duration=took,cpu=cores"];

#[test]
fn weights_come_from_a_table_and_from_sets_by_name() {
    let folder = folder();
    let path = folder.path();
    write(path, "jobs.csv", TABLE);
    write(path, "shares.txt", SSHARE);
    write(path, "plain.tsv", "team\tweight\nweb.bob\t0.5\n");
    for (more, expected) in [
        (&[] as &[&str], "ml.ann=1.0 ml.eve=1.0 web.bob=1.0"),
        (&["--weights", "shares.txt"], "ml.ann=3.0 ml.eve=1.0 web.bob=5.0"),
        (&["--weights", "plain.tsv"], "ml.ann=1.0 ml.eve=1.0 web.bob=0.5"),
        (
            &["--weights", "shares.txt", "--set", "queue.ml.ann.weight=7"],
            "ml.ann=7.0 ml.eve=1.0 web.bob=5.0",
        ),
        (
            &["--set", "queues.weight=6", "--set", "queue.\"ml.eve\".weight=2"],
            "ml.ann=6.0 ml.eve=2.0 web.bob=6.0",
        ),
    ] {
        let args = [&MAP[..], &["-p", "fair"], more].concat();
        let mut words: Vec<_> =
            weights(&json(path, &args)).0.split(' ').map(str::to_owned).collect();
        words.sort();
        assert_eq!(words.join(" "), expected, "{more:?}");
    }
    let told = meed(path, &[&MAP[..], &["-p", "fair", "--weights", "shares.txt"]].concat());
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let remark = "shares.txt: weights of 4 of 5 queues; 2 rows are of no queue here";
    assert!(told.contains(remark), "{told}");
}

#[test]
fn replays_and_sweeps_take_the_same_names() {
    let folder = folder();
    let path = folder.path();
    write(path, "jobs.csv", TABLE);
    write(path, "shares.txt", SSHARE);
    succeed(path, &[&MAP[..], &["-p", "fair", "--log", "run.jsonl"]].concat());
    let replayed = json(path, &["replay", "run.jsonl", "--weights", "shares.txt", "-p", "fair"]);
    let (words, _) = weights(&replayed);
    assert!(words.contains("ml.ann=3.0") && words.contains("web.bob=5.0"), "{words}");
    let replayed = json(path, &["replay", "run.jsonl", "--set", "queue.ml.ann.weight=7"]);
    assert!(weights(&replayed).0.contains("ml.ann=7.0"));
    let replayed = json(path, &["replay", "run.jsonl", "--set", "queues.weight=5"]);
    assert_eq!(weights(&replayed).0.matches("=5.0").count(), 3);
    // Not a queue of the recorded tree.
    let failed = meed(path, &["replay", "run.jsonl", "--set", "queue.ml.anne.weight=7"]);
    let why = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(3), "{why}");
    assert!(why.contains("queue `ml.anne` is not of the recorded tree; did you mean"), "{why}");

    let own = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\nname = \"n\"\n\
        capacity = { cpu = 4 }\n[trace]\nfile = \"jobs.csv\"\n[trace.map]\ntenant = \"who\"\n\
        submit = \"created\"\nduration = \"took\"\ncpu = \"cores\"\n";
    write(path, "own.toml", own);
    let sweep = ["sweep", "own.toml", "--over", "queue.ann.weight=1,4", "--json", "--quiet"];
    write(path, "who.csv", "user,weight\neve,5\n");
    let text = succeed(path, &[&sweep[..], &["--weights", "who.csv"]].concat());
    let swept: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(swept.to_string().matches("\"queue.ann.weight\":\"4\"").count(), 2, "{swept}");
    // The weights of the file hold at every point: without them it comes out otherwise.
    let plain: Value = serde_json::from_str(&succeed(path, &sweep)).expect("JSON");
    assert_ne!(swept["points"], plain["points"], "weights of a file count in sweeps");
}

#[test]
fn weights_of_nobody_are_refused() {
    let folder = folder();
    let path = folder.path();
    write(path, "jobs.csv", TABLE);
    write(path, "other.csv", "queue,weight\nml.anne,2\n");
    write(path, "empty.csv", "queue,weight\n");
    write(path, "wrong.csv", "queue,weight\nml,2\nml.ann,none\n");
    for (more, code, expected) in [
        (&["--weights", "other.csv"][..], 3, "did you mean \"ml.ann\"?"),
        (&["--weights", "empty.csv"], 3, "empty.csv: it holds no weight"),
        (&["--weights", "wrong.csv"], 3, "wrong.csv:3: the weight of \"ml.ann\": "),
        (&["--weights", "absent.csv"], 4, "absent.csv"),
        (&["--weights", "empty.csv", "--report", "empty.csv"], 2, "overwrite the weights"),
        (&["--set", "queue.nobody.weight=2"], 3, "there is no queue `nobody`"),
        (&["--set", "queues.weight=0"], 3, "queues.weight=0: queue `[queues]`, weight: 0"),
        (&["--set", "queues=3"], 3, "expected a [queues] table"),
        (&["--set", "queue.web.bob.wieght=3"], 3, "names no key of a queue; known are weight"),
        (&["--set", "queues.min={cpu=1}"], 3, "unknown field `min`"),
    ] {
        let failed = meed(path, &[&MAP[..], more].concat());
        let why = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!(failed.status.code(), Some(code), "{more:?}: {why}");
        assert!(why.contains(expected), "{more:?}: {why}");
    }
}

#[test]
fn many_tenants_are_not_split_and_a_bare_trace_has_a_cluster_for_load_1() {
    let folder = folder();
    let path = folder.path();
    for (tenants, expected) in [(50, 3), (51, 2)] {
        let row = |tenant: usize| format!("t{tenant},{},1000,2\n", 10 * tenant);
        let rows: String = (0..tenants).map(row).collect();
        write(path, "many.csv", &format!("user,submit,duration,cpu\n{rows}"));
        let ran = json(path, &["simulate", "many.csv"]);
        assert_eq!(weights(&ran).1.len(), expected, "{tenants} tenants");
    }
    // 40 slots x 100 s within 200 s, and no task that is wider.
    let line = |submit: u32| {
        format!(
            r#"{{"submit_s":{submit},"queue":"a","tasks":[{{"count":20,"demand":{{"slot":1}},"duration_s":100}}]}}"#
        )
    };
    let header = r#"{"meed_trace":1,"resources":{"slot":"milli"},"queues":["a"]}"#;
    write(path, "own.jsonl", &format!("{header}\n{}\n{}\n", line(0), line(200)));
    let told = meed(path, &["simulate", "own.jsonl", "-p", "fair"]);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("assumed cluster: one pool of 20 slot, which these jobs"), "{told}");
}

/// The size that is assumed for a bare trace under `sets`, in the words of the remark.
fn assumed(folder: &Path, trace: &str, sets: &[&str]) -> String {
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let args: Vec<&str> = ["simulate", trace, "-p", "fair"].into_iter().chain(sets).collect();
    let told = meed(folder, &args);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let size = told.split_once("one pool of ").map(|(_, rest)| rest);
    let ends = |rest: &str| {
        let ends = [", which", ", what ran"].iter().filter_map(|end| rest.find(end)).min();
        rest[..ends.unwrap_or(0)].to_owned()
    };
    let size = size.map(ends);
    size.unwrap_or_else(|| panic!("{sets:?}: {told}", sets = &args[4..]))
}

#[test]
fn the_cluster_of_a_bare_trace_follows_how_it_is_read() {
    let folder = folder();
    let path = folder.path();
    // 10 and 1 maps of 64 MiB within 100 s.
    write(path, "a.swim", "job0\t0\t0\t671088640\t0\t0\njob1\t100\t100\t67108864\t0\t0\n");
    let plain = assumed(path, "a.swim", &[]);
    let slower = assumed(path, "a.swim", &["trace.map_bytes_per_s=64KiB"]);
    assert_eq!((plain.as_str(), slower.as_str()), ("2 slot", "11 slot"));
    assert_eq!(assumed(path, "a.swim", &["trace.map_demand={slot=3}"]), "4 slot");
    // Two jobs that ran for 100 s on 10 processors and asked for 20 processors and 50 s.
    let row = |job: u32, submit: u32| {
        format!("{job} {submit} 0 100 10 -1 -1 20 50 -1 1 1 1 1 1 -1 -1 -1\n")
    };
    write(path, "a.swf", &format!("; no processors are told\n{}{}", row(1, 0), row(2, 100)));
    for (sets, expected) in [
        (&[] as &[&str], "10 cpu"),
        (&["trace.processors=requested"], "20 cpu"),
        (&["trace.processor_resource=core"], "10 core"),
        (&["run.enforce_limit=true"], "10 cpu"),
        // What ran at once did so whatever load is asked for.
        (&["run.load=2"], "10 cpu"),
    ] {
        assert_eq!(assumed(path, "a.swf", sets), expected, "{sets:?}");
    }
    // Who names the resources names their amounts: keys of the trace may be of those.
    let own = ["cluster.resources=[\"core\"]", "cluster.node.0.capacity={core=40}"];
    let sets = own.into_iter().chain(["trace.processor_resource=core"]);
    let sets = sets.flat_map(|set| ["--set", set]);
    let args: Vec<&str> = ["simulate", "a.swf", "-p", "fair"].into_iter().chain(sets).collect();
    assert!(succeed(path, &args).contains("core used"), "it runs on 40 cores");
    let wrong = meed(path, &["simulate", "a.swim", "--set", "trace.map_demand={gpu=1}"]);
    let why = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(3), "{why}");
    assert!(why.contains("gpu"), "{why}");
}

/// As `sacct --parsable2` prints it: five users of accounts at two depths, with more work than 40
/// cpus do.
fn nested_jobs() -> String {
    let mut text =
        "JobID|User|Account|Submit|Eligible|Start|End|Elapsed|AllocTRES|State\n".to_owned();
    let users = [("ana", "astro"), ("bo", "optics"), ("pat", "plasma"), ("cy", "synth")];
    for (job, (user, account)) in users.iter().cycle().take(80).enumerate() {
        text += &format!(
            "{job}|{user}|{account}|2026-03-02T00:00:00|2026-03-02T00:00:00|2026-03-02T00:00:00|\
             2026-03-02T01:00:00|01:00:00|cpu=4,mem=4G,node=1|COMPLETED\n"
        );
    }
    text
}

/// As `sshare -P -a` prints it, with blanks for each level.
const NESTED: &str = "\
Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
root|||0.000000|1000000|1.000000|
 physics||1|0.500000|600000|0.600000|
  astro||10|0.333333|200000|0.333333|
   astro|ana|1|1.000000|100000|0.500000|0.4
  optics||10|0.333333|200000|0.333333|
   optics|bo|parent|0.333333|200000|1.000000|0.3
  plasma||parent|0.333333|200000|0.333333|
   plasma|pat|10|1.000000|200000|1.000000|0.3
 chemistry||1|0.500000|400000|0.400000|
  synth||1|1.000000|400000|1.000000|
   synth|cy|0|1.000000|400000|1.000000|0.2
";

/// Shares of Slurm count within their account, at any depth: half of the machine is the chemists',
/// a third of the other half each physicist's.
#[test]
fn nested_accounts_of_slurm_make_a_tree() {
    let folder = folder();
    let path = folder.path();
    write(path, "jobs.txt", &nested_jobs());
    write(path, "shares.txt", NESTED);
    // The recipe as the page has it: sacct prints Account and User in its own case.
    let recipe =
        ["simulate", "jobs.txt", "--map", "tenant=account/user", "--weights", "shares.txt"];
    let more = ["--set", "cluster.node.0.capacity.cpu=40", "-p", "long-term", "--log", "n.jsonl"];
    let told = meed(path, &[&recipe[..], &more[..]].concat());
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.success(), "{said}");
    for words in [
        "shares.txt: weights of 8 of 9 queues; 1 row is of no queue here",
        "1 share is 0: the weight is 0.001",
        "1 share is `parent`: the weight is 1",
    ] {
        assert!(said.contains(words), "{words} in\n{said}");
    }
    for (queue, share) in [
        ("chemistry.synth.cy", "20"),
        ("physics.astro.ana", "6.66"),
        ("physics.plasma/pat", "6.66"),
    ] {
        let told = succeed(path, &["explain", "n.jsonl", "--queue", queue, "--at", "30min"]);
        assert!(told.contains(&format!("of a share of {share}")), "{queue}: {told}");
    }
    // Users alone are no tree, and a log has its own.
    let users =
        ["simulate", "jobs.txt", "--weights", "shares.txt", "-p", "fair", "--log", "u.jsonl"];
    let told = meed(path, &users);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(said.contains("--map tenant=Account/User makes the tree"), "{said}");
    let flat =
        ["simulate", "jobs.txt", "--map", "tenant=Account/User", "-p", "fair", "--log", "f.jsonl"];
    succeed(path, &flat);
    let told = meed(path, &["replay", "f.jsonl", "--weights", "shares.txt", "-p", "fair"]);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.success(), "{said}");
    assert!(said.contains("accounts stand below accounts there"), "{said}");
}
