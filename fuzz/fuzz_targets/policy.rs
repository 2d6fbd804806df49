//! Policies in their short form: what parses is printed so that it reads back, as text and as JSON,
//! and what it resolves to is described so that it resolves to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed::{ResourceKinds, Unit};
use meed_config::PolicySpec;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let spec = match text.parse::<PolicySpec>() {
        Ok(spec) => spec,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // NaN is not equal to itself, and means nothing for any key.
    if spec == spec.clone() {
        assert_eq!(spec.to_string().parse(), Ok(spec.clone()), "{spec}");
    }
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Bytes)];
    let kinds = kinds.map(|(name, unit)| (name.to_owned(), unit)).to_vec();
    let kinds = ResourceKinds::new(kinds).expect("two different names");
    match spec.policy(&kinds) {
        Ok(policy) if spec.slots().is_none() => {
            let full = PolicySpec::of(&policy, &kinds);
            assert_eq!(full.policy(&kinds), Ok(policy), "{full}");
        }
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = (spec.placement().is_ok(), spec.contradiction());
});
