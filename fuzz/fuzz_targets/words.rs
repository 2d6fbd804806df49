//! Words of the command line: `--policy` on the first line, a `--set` on each further line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{is_small, run_briefly, scenario};

const SCENARIO: &str = r#"
[cluster]
resources = ["cpu", "memory"]
node = [{ count = 2, capacity = { cpu = 2, memory = "4GiB" } }]
[[queue]]
name = "a.b"
[[queue]]
name = "c"
[policy]
quantum = 1
[policies.other]
order = "long-term"
half_life = "1h"
[[job]]
queue = "c"
tasks = 3
demand = { cpu = 1, memory = 1 }
duration = 2
[[job]]
queue = "a.b"
tasks = 5
demand = { cpu = "500m" }
duration = [1, 2, 3, 4, 5]
"#;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.lines().map(str::to_owned);
    let policy = lines.next().unwrap_or_default();
    let sets: Vec<String> = lines.collect();
    match scenario(SCENARIO, &sets) {
        Ok(scenario) if is_small(scenario.text()) => run_briefly(&scenario, &policy),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
