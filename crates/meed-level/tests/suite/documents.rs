//! Results as JSON, and large numbers.

use meed_level::document::{Format, read, to_json};
use meed_level::{AllocationPolicy, allocate};

use crate::common::solved;

#[test]
fn the_result_is_written_as_documented() {
    let text = r#"{"servers":[{"capacity":{"cpu":2,"memory":12}},{"capacity":{"memory":2,
            "cpu":12}}],
        "users":[{"name":"a","demand":{"cpu":0.2,"memory":1},"paid":2},{"name":"b",
            "demand":{"cpu":1,"memory":0.2},"tasks":5,"paid":3}]}"#;
    let problem = read(text, Format::Json).unwrap();
    for (name, policy) in meed_level::POLICIES {
        let allocation = solved(&problem, *policy);
        let json: serde_json::Value =
            serde_json::from_str(&to_json(&problem, *policy, &allocation)).unwrap();
        assert_eq!(json["policy"], *name);
        // The reader of these tests rounds the last digit.
        let same = |value: &serde_json::Value, expected: f64| {
            assert!((value.as_f64().unwrap() - expected).abs() < 1e-15 * expected)
        };
        same(&json["level"], allocation.level.unwrap());
        assert_eq!(json["users"][1]["name"], "b");
        same(&json["users"][1]["tasks"], allocation.users[1].tasks);
        same(&json["users"][0]["dominant_share"], allocation.users[0].dominant_share);
        let servers = json["servers"].as_array().unwrap();
        assert_eq!(servers.len(), if *policy == AllocationPolicy::Drf { 1 } else { 2 });
        let tasks: f64 = servers.iter().filter_map(|server| server["users"]["b"].as_f64()).sum();
        assert!((tasks - allocation.users[1].tasks).abs() < 1e-9, "{json}");
        assert!(servers.iter().all(|server| server["free"]["cpu"].as_f64().unwrap() >= 0.0));
        assert_eq!(json["certificate"].is_null(), allocation.certificate.is_none());
        if let Some(certificate) = &allocation.certificate {
            assert_eq!(
                json["certificate"]["rounds"].as_array().unwrap().len(),
                certificate.rounds.len()
            );
            assert_eq!(json["certificate"]["rounds"][0]["users"][0], "a");
        }
    }
}

#[test]
fn ten_to_the_twelfth_of_anything() {
    let base = r#"{"servers":[{"count":3,"capacity":{"cpu":2,"memory":12}},{"count":4,
            "capacity":{"cpu":7,"memory":5}}],
        "users":[{"name":"a","demand":{"cpu":0.2,"memory":1},"weight":1,"tasks":7,"used":0.5,
            "paid":1},
            {"name":"b","demand":{"cpu":1,"memory":0.1},"paid":1}]}"#;
    for (from, to) in [
        ("\"count\":3", "\"count\":1e12"),
        ("\"count\":3", "\"count\":1000000000000"),
        ("\"memory\":12", "\"memory\":1e12"),
        ("\"weight\":1", "\"weight\":1e12"),
        ("\"tasks\":7", "\"tasks\":1e12"),
        ("\"used\":0.5", "\"used\":1e12"),
        ("\"weight\":1", "\"credits\":1e4"),
        ("\"weight\":1", "\"commitment\":1e12"),
        ("\"paid\":1", "\"paid\":1e12"),
        ("\"weight\":1", "\"received\":1e12"),
        ("\"cpu\":0.2", "\"cpu\":1e-12"),
    ] {
        let problem = read(&base.replacen(from, to, 1), Format::Json).unwrap();
        for (_, policy) in meed_level::POLICIES {
            let allocation = solved(&problem, *policy);
            assert!(
                allocation.users.iter().all(|user| user.tasks.is_finite()),
                "{to} {policy:?} {allocation:?}"
            );
        }
    }
}

/// Nearly nothing is demanded of what runs out, and weights are far apart: who pays little pays all
/// the same.
#[test]
fn ten_to_the_twelfth_of_everything() {
    let text = r#"{"servers":[{"count":1e12,"capacity":{"cpu":1e12,"memory":1}}],
        "users":[{"name":"a","demand":{"cpu":1e12},"weight":1e12,"tasks":1e12,"used":1e12,
            "credits":1e4,"commitment":1e12,"paid":1e12,"received":1e12},
                 {"name":"b","demand":{"cpu":1e-3,"memory":1e-3},"tasks":1e12,"paid":1e-3}],
        "worth":1e3}"#;
    let problem = read(text, Format::Json).unwrap();
    for (_, policy) in meed_level::POLICIES {
        solved(&problem, *policy);
    }
}

#[test]
fn nobody_is_stopped_when_everything_fits() {
    let text = r#"{"servers":[{"capacity":{"a":2,"b":1,"c":1}},{"capacity":{"a":1,"b":2,"c":1}}],
        "users":[{"name":"x","demand":{"a":0.1,"b":0.1,"c":0.1},"tasks":3},{"name":"y",
            "demand":{"a":1},"tasks":0}]}"#;
    let problem = read(text, Format::Json).unwrap();
    let allocation = allocate(&problem, AllocationPolicy::Drfh).unwrap();
    assert_eq!(
        (allocation.level, allocation.certificate.as_ref().unwrap().rounds.len()),
        (None, 0)
    );
    assert!(
        (allocation.users[0].tasks - 3.0).abs() < 1e-9 && allocation.users[1].tasks == 0.0,
        "{allocation:?}"
    );
    assert!(to_json(&problem, AllocationPolicy::Drfh, &allocation).contains("\"level\":null"));
}
