//! Problems of `meed allocate`, as JSON and as TOML: what is read can be solved by every policy,
//! and fits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_level::document::{Format, read, to_json};
use meed_level::{POLICIES, allocate, verify};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for format in [Format::Json, Format::Toml] {
        match read(text, format) {
            Ok(problem) => {
                for (_, policy) in POLICIES {
                    let allocation = allocate(&problem, *policy).expect("a sound problem");
                    assert!(allocation.users.iter()
                        .all(|user| user.tasks.is_finite() && user.tasks >= 0.0));
                    let json = to_json(&problem, *policy, &allocation);
                    assert!(json.starts_with("{\"policy\":") && !json.contains("NaN"), "{json}");
                    // With three and more resources of extreme proportions the gap may be large; it
                    // is never wrong.
                    let certain = problem.resources.len() <= 2;
                    if let Err(why) = verify(&problem, *policy, &allocation) {
                        assert!(!certain, "{policy:?}: {why}\n{problem:?}");
                    }
                }
            }
            Err(error) => assert!(error.to_string().len() < 2500, "{error}"),
        }
    }
});
