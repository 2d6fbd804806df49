//! Files being written: whole or absent, never over an input, with the mode and the links that were
//! there.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use meed_files::open::Compression;
use meed_files::{Guard, GuardError, Origin};

/// Lines that do not compress to nothing.
fn text(lines: usize) -> String {
    let number = |line: usize| line.wrapping_mul(2_654_435_761) % 1_000_000_007;
    (0..lines).map(|line| format!("{line}\t{}\n", number(line))).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn written_files_are_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let text = text(5_000);
    for (name, compression) in [
        ("a.jsonl", Compression::Plain),
        ("a.gz", Compression::Gzip),
        ("a.zst", Compression::Zstd),
        ("a.xz", Compression::Xz),
    ] {
        let path = folder.path().join(name);
        let before = names(folder.path());
        let mut output = Guard::new().create(&path).unwrap();
        output.write_all(text.as_bytes()).unwrap();
        assert_eq!(names(folder.path()), before, "{name} shows before it is whole");
        output.finish().unwrap();
        let mut input = Origin::path(&path).open().unwrap();
        assert_eq!(input.compression(), compression);
        let mut back = String::new();
        input.reader().read_to_string(&mut back).unwrap();
        assert_eq!(back, text);

        // Given up: what was there before stays, and nothing else is left.
        let mut output = Guard::new().create(&path).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(Origin::path(&path).open().unwrap().reader().lines().count(), 5_000);
        Guard::new().write_text(&path, "short").unwrap();
        let mut back = String::new();
        Origin::path(&path).open().unwrap().reader().read_to_string(&mut back).unwrap();
        assert_eq!(back, "short");
    }
    assert_eq!(names(folder.path()).len(), 4);
}

#[test]
fn an_unwritable_place_is_named_with_its_cause_and_no_other_name() {
    let folder = tempfile::tempdir().unwrap();
    let why = |path: &Path| Guard::new().create(path).err().unwrap().to_string();
    let nowhere = folder.path().join("no").join("a.gz");
    assert_eq!(
        why(&nowhere),
        format!(
            "cannot write {}: there is no folder {}",
            nowhere.display(),
            folder.path().join("no").display()
        )
    );
    let here = folder.path().display();
    assert_eq!(why(folder.path()), format!("cannot write {here}: is a directory"));
    assert!(why(Path::new("/proc/x")).starts_with("cannot write /proc/x: "));
    assert!(!why(Path::new("/proc/x")).contains("meed-"));
}

#[cfg(unix)]
#[test]
fn links_and_modes_survive_a_rewrite() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o7777;
    for bits in [0o600, 0o640, 0o666] {
        fs::write(path("target"), "old").unwrap();
        fs::set_permissions(path("target"), fs::Permissions::from_mode(bits)).unwrap();
        fs::create_dir_all(path("below")).unwrap();
        let _ = fs::remove_file(path("below/link"));
        symlink("../target", path("below/link")).unwrap();
        Guard::new().write_text(&path("below/link"), "new").unwrap();
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "new");
        assert!(fs::symlink_metadata(path("below/link")).unwrap().is_symlink());
        assert_eq!(mode("target"), bits);
    }
    // A link to nothing yet: the file that it leads to is made, as `>` does.
    symlink("fresh", path("dangling")).unwrap();
    Guard::new().write_text(&path("dangling"), "made").unwrap();
    assert_eq!(fs::read_to_string(path("fresh")).unwrap(), "made");
    assert!(fs::symlink_metadata(path("dangling")).unwrap().is_symlink());
    symlink("loop", path("loop")).unwrap();
    let why = Guard::new().create(&path("loop")).err().unwrap().to_string();
    assert!(why.ends_with("its symbolic links lead to one another"), "{why}");
    // Write-protected: whoever asks, root too.
    fs::write(path("kept"), "old").unwrap();
    fs::set_permissions(path("kept"), fs::Permissions::from_mode(0o444)).unwrap();
    let why = Guard::new().create(&path("kept")).err().unwrap().to_string();
    assert!(why.contains("kept: it is write-protected"), "{why}");
    assert_eq!(fs::read_to_string(path("kept")).unwrap(), "old");
    // A device is written to, not replaced.
    Guard::new().write_text(Path::new("/dev/null"), "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn one_file_by_any_name_is_one_file() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("d")).unwrap();
    fs::write(path("in"), "precious").unwrap();
    fs::hard_link(path("in"), path("hard")).unwrap();
    symlink("in", path("soft")).unwrap();
    symlink(".", path("here")).unwrap();
    symlink("new", path("dangling")).unwrap();
    let other_names =
        ["in", "./in", "d/../in", "hard", "soft", "here/in", "here/here/soft", "here/hard"];
    for read in other_names {
        for written in other_names {
            let mut guard = Guard::new();
            guard.reads("scenario", &path(read)).unwrap();
            let why = guard.writes("--json", &path(written)).unwrap_err().to_string();
            assert!(why.starts_with("--json would overwrite the scenario "), "{why}");
            // Also without having been told of, and when the input is told of later.
            assert!(matches!(guard.create(&path(written)), Err(GuardError::Input { .. })));
            let mut guard = Guard::new();
            guard.writes("--json", &path(written)).unwrap();
            assert!(guard.reads("trace", &path(read)).is_err());
        }
    }
    for (a, b) in [("new", "dangling"), ("new", "here/new"), ("new", "d/../new"), ("in", "hard")] {
        let mut guard = Guard::new();
        guard.writes("--json", &path(a)).unwrap();
        let why = guard.writes("--log", &path(b)).unwrap_err().to_string();
        assert!(why.starts_with("--json and --log name the same file "), "{why}");
    }
    // In a folder that is read every file is read; new ones may come.
    let mut guard = Guard::new();
    guard.reads("trace below", folder.path()).unwrap();
    assert!(guard.writes("--json", &path("in")).is_err());
    guard.writes("--json", &path("new.json")).unwrap();
    // Streams are nobody's content.
    let mut guard = Guard::new();
    guard.reads("trace", Path::new("/dev/null")).unwrap();
    guard.writes("--json", Path::new("/dev/null")).unwrap();
    guard.writes("--log", Path::new("/dev/null")).unwrap();
    assert_eq!(fs::read_to_string(path("in")).unwrap(), "precious");
}
