//! Scenario files: what parses can be run; small ones are, for a bounded number of instants.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{is_small, run_briefly, scenario};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if !is_small(text) {
        return;
    }
    match scenario(text, &[]) {
        Ok(scenario) => {
            for policy in ["static", "fair", "long-term"] {
                run_briefly(&scenario, policy);
            }
        }
        Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
    }
});
