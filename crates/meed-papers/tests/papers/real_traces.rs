//! Real traces through the program, from the folder that `MEED_TRACES` names. Without it there is
//! nothing to test; with it a missing file is a failure.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{folder, succeed};

fn traces() -> Option<PathBuf> {
    // A relative path counts from the repository, where the command is given; tests run in their
    // package.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("MEED_TRACES").map(|folder| repository.join(folder))
}

/// What `meed reproduce` reads off a real log: the file is found, every policy has figures, and rho
/// is of this world.
#[test]
fn long_memory_on_a_log_of_cpus_and_memory() {
    let Some(traces) = traces() else { return };
    let (folder, traces) = (folder(), traces.display().to_string());
    let args = ["reproduce", "beyond-wagap", "--traces", &traces, "--json", "-", "--quiet"];
    let json: Value = serde_json::from_str(&succeed(folder.path(), &args)).expect("JSON");
    assert_eq!(json["items"][0]["verdict"], "measured", "skipped: {json}");
    let checks = json["items"][0]["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), 14);
    for check in checks {
        let words = check["measured"]["words"].as_str().expect("words");
        assert_eq!(words.matches(char::is_numeric).count().min(3), 3, "{}: {words}", check["what"]);
        assert!(!words.contains("- drfh"), "{}: {words}", check["what"]);
    }
}
