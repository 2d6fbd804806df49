//! `meed audit` from the outside: scenarios that the simulator runs, numbers that come again,
//! errors that help.

use std::fs;

use crate::common::{fail, folder, simulate, succeed};

const SMALL: [&str; 7] = ["audit", "--trials", "4", "--tasks", "unit", "--policy", "fair"];

#[test]
fn a_counterexample_is_written_runs_and_comes_again() {
    let folder = folder();
    let args = [
        "--property",
        "contribution",
        "--property",
        "overclaiming",
        "--out",
        "found",
        "--json",
        "-",
    ];
    let out = succeed(folder.path(), &[&SMALL[..], &args].concat());
    let audit: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&audit["schema"], &audit["trials"]), (&1.into(), &4.into()));
    assert_eq!(audit["cells"].as_array().unwrap().len(), 2);
    for (cell, name) in
        audit["cells"].as_array().unwrap().iter().zip(["contribution", "overclaiming"])
    {
        assert_eq!((&cell["property"], &cell["verdict"]), (&name.into(), &"counterexample".into()));
        let place = format!("found/{name}-fair-unit");
        let again = succeed(folder.path(), &["audit", "--case", &format!("{place}/case.json")]);
        let case: serde_json::Value = serde_json::from_str(
            &fs::read_to_string(folder.path().join(&place).join("case.json")).unwrap(),
        )
        .unwrap();
        let value = case["value"].as_str().unwrap();
        assert!(again.contains(&format!(": {value} (written: {value};")), "{again}");
        assert_eq!(cell["counterexample"]["value"].to_string().parse::<f64>(), value.parse());
        simulate(folder.path(), &format!("{place}/honest.toml"), "fair");
    }
    let lie = "found/overclaiming-fair-unit/deviating.toml";
    simulate(folder.path(), lie, "fair");
    let text = fs::read_to_string(folder.path().join(lie)).unwrap();
    assert!(text.contains("# The lie: ") && text.contains("useless = 1"), "{text}");
}

#[test]
fn a_table_and_a_report() {
    let folder = folder();
    let args = ["--property", "pareto", "--policy", "static", "--report", "audit.html"];
    let table = succeed(folder.path(), &[&SMALL[..], &args].concat());
    assert!(table.contains("proof") && table.contains(" %"), "{table}");
    let report = fs::read_to_string(folder.path().join("audit.html")).unwrap();
    assert!(report.contains("Pareto efficiency"));
}

#[test]
fn pools_of_servers() {
    let folder = folder();
    let args =
        ["audit", "--pool", "--trials", "6", "--property", "pareto", "--policy", "per-server-drf"];
    let more = ["--out", "found", "--report", "pool.html", "--json", "-"];
    let out = succeed(folder.path(), &[&args[..], &more].concat());
    let audit: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&audit["pool"], &audit["trials"]), (&true.into(), &6.into()));
    let place = "found/pool-pareto-per-server-drf";
    let case = succeed(folder.path(), &["audit", "--case", &format!("{place}/case.json")]);
    let value = audit["cells"][0]["counterexample"]["value"].as_f64().unwrap();
    assert!(case.contains(&format!(": {value} (written: {value};")), "{case}");
    let honest = format!("{place}/honest.toml");
    simulate(folder.path(), &honest, "per-server-drf");
    let report = fs::read_to_string(folder.path().join("pool.html")).unwrap();
    assert!(report.contains("Pareto optimality"));
    assert!(succeed(folder.path(), &args).contains("Worst counterexample found"));
}

#[test]
fn prices_and_plans() {
    let folder = folder();
    let args = ["audit", "--plans", "--trials", "2", "--policy", "as-you-pay"];
    let which = ["--problem", "3", "--property", "dear-prices", "--property", "lending"];
    let more = ["--out", "found", "--report", "plans.html", "--json", "-"];
    let out = succeed(folder.path(), &[&args[..], &which, &more].concat());
    let audit: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&audit["schema"], &audit["plans"]), (&1.into(), &true.into()));
    assert_eq!(audit["problems"], serde_json::json!(["3"]));
    assert_eq!(audit["properties"], serde_json::json!(["lending", "dear-prices"]));
    assert_eq!(audit["cells"].as_array().unwrap().len(), 2);
    // The case by hand is among those that are tried, and pays a third.
    let found = &audit["cells"][1]["counterexample"];
    assert!(found["value"].as_f64().unwrap() > 0.3, "{found}");
    let place = "found/plans-3-dear-prices-as-you-pay";
    let again = succeed(folder.path(), &["audit", "--case", &format!("{place}/case.json")]);
    let value = found["value"].as_f64().unwrap();
    assert!(again.contains(&format!(": {value} (written: {value};")), "{again}");
    for file in ["honest", "deviating"] {
        let scenario = format!("{place}/{file}.toml");
        simulate(folder.path(), &scenario, "as-you-pay");
    }
    let report = fs::read_to_string(folder.path().join("plans.html")).unwrap();
    assert!(report.contains("Problem 3, as-you-pay (folder plans-3-dear-prices-as-you-pay"));
    let table = succeed(folder.path(), &[&args[..], &which].concat());
    assert!(table.contains("Problem 3") && table.contains("dear-prices"), "{table}");
}

#[test]
fn what_is_wrong_is_told() {
    let folder = folder();
    fs::write(folder.path().join("odd.json"), "{}").unwrap();
    for (args, code, part) in [
        (
            &["audit", "--property", "fairness"][..],
            2,
            "unknown property `fairness`; known are sharing-incentive",
        ),
        (
            &["audit", "--pool", "--property", "overclaiming"],
            2,
            "unknown property `overclaiming`; known are envy-freeness",
        ),
        (
            &["audit", "--pool", "--policy", "static"],
            3,
            "a pool of unequal servers has no static shares",
        ),
        (&["audit", "--pool", "--tasks", "unit"], 2, "cannot be used with"),
        (&["audit", "--plans", "--tasks", "unit"], 2, "cannot be used with"),
        (&["audit", "--plans", "--pool"], 2, "cannot be used with"),
        (&["audit", "--plans", "--all-orders"], 2, "cannot be used with"),
        (&["audit", "--problem", "1-1"], 2, "--plans"),
        (
            &["audit", "--plans", "--problem", "5"],
            2,
            "unknown problem `5`; known are 1-1, 1-2, 2, 3, 4, I1",
        ),
        (
            &["audit", "--plans", "--property", "pareto"],
            2,
            "unknown property `pareto`; known are sharing-incentive, as-you-pay, holding-back",
        ),
        (&["audit", "--plans", "--policy", "fare"], 3, "unknown policy `fare`"),
        (&["audit", "--plans", "--policy", "static"], 3, "--policy static"),
        (&["audit", "--plans", "--policy", "slots"], 3, "--policy slots: slots have no account"),
        (&["audit", "--plans", "--policy", "told"], 3, "--policy told: it has no rule"),
        (&["audit", "--policy", "fare"], 3, "unknown policy `fare`"),
        (&["audit", "--trials", "0"], 2, "--trials"),
        (&["audit", "--case", "none.json"], 4, "none.json"),
        (
            &["audit", "--case", "odd.json"],
            3,
            "odd.json: is no case as `meed audit --out` writes it",
        ),
        (&["audit", "--case", "odd.json", "--policy", "fair"], 2, "cannot be used with"),
        (&["audit", "--report", "-"], 2, "--report"),
    ] {
        let words = fail(folder.path(), args, code);
        assert!(words.contains(part), "{args:?}: {words}");
    }
}
