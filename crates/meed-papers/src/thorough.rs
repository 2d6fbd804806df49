//! Tests that take long are for all cases alone: `MEED_CASES=all`, as in CI (CONTRIBUTING.md).

use std::io::Write;

/// Whether all cases are asked for.
pub(crate) fn all() -> bool {
    std::env::var_os("MEED_CASES").is_some_and(|cases| cases == "all")
}

/// Whether this test is left out, which it says aloud: past what the harness keeps of a test.
pub(crate) fn is_left_out(what: &str) -> bool {
    let all = all();
    if !all {
        let words = format!("LEFT OUT: {what}; MEED_CASES=all runs it\n");
        // Nobody reads where this cannot be written.
        drop(std::io::stderr().write_all(words.as_bytes()));
    }
    !all
}
