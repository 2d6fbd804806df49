//! `meed-papers man`: a page for each command, named as a command of `meed`.

use std::fs;

use crate::common::{fail, folder, succeed};

#[test]
fn each_command_has_a_page() {
    let folder = folder();
    succeed(folder.path(), &["man", "."]);
    let mut pages: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_eq!(pages, ["meed-audit.1", "meed-reproduce.1"]);
    let page = fs::read_to_string(folder.path().join("meed-audit.1")).unwrap();
    assert!(page.contains("counterexamples") && page.contains("\\-\\-trials"), "{page}");
    fail(folder.path(), &["man", "nowhere"], 4);
}

/// Its help and messages name the commands of `meed`, and terminals obey nothing of what is quoted.
#[test]
fn help_and_messages_speak_of_meed() {
    let folder = folder();
    let help = succeed(folder.path(), &["audit", "--help"]);
    assert!(help.contains("Usage: meed audit"), "{help}");
    for args in
        [&["reproduce", "x\u{1b}[31m\u{202e}"][..], &["audit", "--property", "x\u{1b}[31m\u{202e}"]]
    {
        let words = fail(folder.path(), args, 2);
        assert!(words.starts_with("meed: ") && !words.contains('\u{1b}'), "{words}");
        assert!(!words.contains('\u{202e}'), "{words}");
    }
}
