//! Prices from a file, and the log of a run with accounts run again.

use meed_replay::{Recording, verify};
use meed_scenario::Scenario;
use meed_scenario::log::read::LogFile;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::{OnBadLine, Origin};

const PLAIN: &str = "\
[cluster]
resources = [\"slot\"]
[[queue]]
name = \"a\"
[[queue]]
name = \"b\"
[[job]]
queue = \"a\"
duration = 60
demand = { slot = 1 }
[[contribution]]
tenant = \"a\"
plan = \"spot\"
capacity = { slot = 2 }
price = 1
";

/// A table of prices is read with its lines, and a run under the order is the same again.
#[test]
fn prices_from_a_file_and_a_log_that_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let text = PLAIN.replace("price = 1", "price = { file = \"p.csv\" }\nbid = 3")
        + "[[contribution]]\ntenant = \"b\"\nplan = \"reserved\"\nuntil = 900\nfee = 2\n\
           capacity = { slot = 1 }\n[run]\nuntil = 600\n";
    let read = |table: &str| {
        std::fs::write(folder.path().join("p.csv"), table).unwrap();
        Scenario::parse("s.toml", &text, folder.path(), &[], OnBadLine::Stop)
    };
    for (table, word) in [
        ("time,price\n0,1\n0,2\n", "line 3"),
        ("time,price\n0;1\n", "line 2"),
        ("0,1\n1h,x\n", "line 2"),
        ("time,price\n", "has no prices"),
    ] {
        let why = read(table).err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why.contains(word) && why.contains("p.csv"), "{why}");
    }
    let scenario = read("# made up\ntime,price\n0,1.5\n2min,4\n200s,2\n").unwrap();
    let mut log = Vec::new();
    let policies = vec!["as-you-pay,every=30s".to_owned(), "static".to_owned()];
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let runs = simulate(&scenario, &options, Some(&mut log), &mut Unwatched).unwrap().runs;
    // 2 instances, 1.5 for 2 min, nothing for 80 s, 2 for 400 s; a fee of 2 for two thirds.
    let accounts = &runs[0].accounts.as_ref().unwrap().accounts;
    assert!((accounts[0].paid - (1.5 * 120.0 + 2.0 * 400.0) / 3600.0).abs() < 1e-9);
    assert!((accounts[1].paid - 2.0 * 600.0 / 900.0).abs() < 1e-6);
    assert_eq!(accounts.iter().map(|one| one.balance).sum::<f64>(), 0.0);
    assert!(runs[1].accounts.is_some(), "the static partition has accounts");
    let log = LogFile::of(Origin::bytes("log", log.as_slice())).unwrap();
    for run in ["1", "2"] {
        let recording = Recording::of(log.clone(), Some(run)).unwrap();
        assert_eq!(verify(&recording, &mut Unwatched).unwrap(), None);
    }
}
