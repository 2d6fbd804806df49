//! The native library, asked as Java asks it. One program: quick to link.

mod changed;
mod ledger;
mod manager;
mod reclaim;
mod table;

/// The Java side is tested by `cargo xtask yarn`, which needs Maven and a JDK: here it is said that
/// it is left out, and looked that both sides are of one version.
#[test]
fn java_speaks_the_same_version() {
    use std::io::Write as _;
    let told =
        "LEFT OUT: the Java side of the plug-in for Hadoop YARN; `cargo xtask yarn` tests it";
    writeln!(std::io::stderr(), "{told}").unwrap();
    let native =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../yarn/src/main/java/org/meed/yarn/Native.java");
    let text = std::fs::read_to_string(native).unwrap();
    let line = format!("static final int PROTOCOL = {};", meed_yarn::PROTOCOL);
    assert!(text.contains(&line), "{native} does not say {line}");
}
