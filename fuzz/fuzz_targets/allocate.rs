//! Problems of `meed allocate`, as JSON and as TOML: what is read can be solved by every policy,
//! and fits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_level::document::{Format, read, to_json};
use meed_level::{AllocationPolicy, POLICIES, allocate, verify};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for format in [Format::Json, Format::Toml] {
        match read(text, format) {
            Ok(problem) => {
                for (_, policy) in POLICIES {
                    let allocation = match allocate(&problem, *policy) {
                        Ok(allocation) => allocation,
                        // Money that nobody has paid, or next to nothing beside the pool's worth.
                        Err(_) if *policy == AllocationPolicy::AsYouPay => continue,
                        Err(why) => panic!("a sound problem: {why}"),
                    };
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
