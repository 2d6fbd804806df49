//! The tutorial, run as it stands: commands of root, Ann and Bob, and what they are told to see.
//!
//! Ann and Bob are users of this machine by number, which the server calls `uid-64101` and so on;
//! a program in front of `meed` gives the server a folder and a socket of the test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::{MEED, is_root, meed, signal, text, until};

/// Names of the page, and numbers of users who have no account here.
const USERS: [(&str, u32); 2] = [("ann", 64_101), ("bob", 64_102)];

/// A part of the page between fences, and who is told to use it.
struct Block<'p> {
    language: &'p str,
    who: &'p str,
    text: &'p str,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut who = "";
    for (number, part) in page.split("```").enumerate() {
        if number % 2 == 0 {
            let told = |name: &str| part.rfind(&format!("As {name}"));
            let last = ["root", "Ann", "Bob"].into_iter().max_by_key(|name| told(name));
            who = last.filter(|name| told(name).is_some()).unwrap_or(who);
        } else {
            let (language, text) = part.split_once('\n').unwrap();
            blocks.push(Block { language, who, text });
        }
    }
    blocks
}

/// With names as the server knows them.
fn with_users(text: &str) -> String {
    let known = |word: &str| USERS.iter().find(|(name, _)| *name == word);
    let mut out = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
            continue;
        }
        match known(&word) {
            Some((_, uid)) => out += &format!("uid-{uid}"),
            None => out += &word,
        }
        word.clear();
        out.push(letter);
    }
    out.pop();
    out
}

/// The words of a line, where one time is as good as another.
fn words(line: &str) -> Vec<String> {
    let is_time = |word: &str| {
        let digits = word.trim_end_matches(char::is_alphabetic);
        digits.len() < word.len() && digits.parse::<f64>().is_ok()
    };
    let word = |word: &str| if is_time(word) { "TIME".to_owned() } else { word.to_owned() };
    line.split_whitespace().map(word).collect()
}

/// Whether the lines come in this order, each with at least these words at its beginning.
fn shows(output: &str, wanted: &str) -> Result<(), String> {
    let mut lines = output.lines();
    for line in wanted.lines() {
        let asked = words(line);
        if !lines.any(|line| words(line).starts_with(&asked)) {
            return Err(line.to_owned());
        }
    }
    Ok(())
}

/// Stops the server, however the test ends.
struct Stops<'p>(&'p Path);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        let number = fs::read_to_string(self.0.join("server.pid")).unwrap_or_default();
        if let Ok(number) = number.trim().parse() {
            signal(number, "TERM");
            until("the server stops", || (!self.0.join("meed.sock").exists()).then_some(()));
        }
    }
}

/// `meed` as the page calls it; whether it can replay.
fn install(base: &Path) -> bool {
    let bin = base.join("bin");
    fs::create_dir(&bin).unwrap();
    // What the server's program does not do itself is left to `meed`, where that is there.
    fs::copy(MEED, bin.join("meed-server")).unwrap();
    let itself = meed("a replay of the tutorial's journal");
    fs::copy(itself.as_deref().unwrap_or(Path::new(MEED)), bin.join("meed-itself")).unwrap();
    let folder = base.display();
    let script = format!(
        "#!/bin/sh\nhere={folder}\nexport MEED_SOCKET=$here/meed.sock\n\
         case \"$1\" in\n\
         serve) echo $$ > $here/server.pid; shift\n\
         set -- serve --state $here/state --socket $MEED_SOCKET \"$@\";;\n\
         replay) shift 2; set -- replay $here/state/journal \"$@\";;\n\
         esac\nexec $here/bin/meed-itself \"$@\"\n"
    );
    fs::write(bin.join("meed"), script).unwrap();
    for name in ["meed", "meed-itself", "meed-server"] {
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(base, fs::Permissions::from_mode(0o755)).unwrap();
    itself.is_some()
}

/// What a block of commands prints; all of them must be done.
fn run(base: &Path, who: &str, commands: &str) -> String {
    let mut command = match USERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(who)) {
        None => Command::new("sh"),
        Some((_, uid)) => {
            let id = uid.to_string();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--inh-caps=-all"]);
            command.args(["--", "sh"]);
            command
        }
    };
    let path = format!("{}/bin:{}", base.display(), std::env::var("PATH").unwrap());
    command.args(["-e", "-c", commands]).env("PATH", path).current_dir(base);
    let log = fs::OpenOptions::new().append(true).create(true).open(base.join("errors")).unwrap();
    let output = command.stdin(Stdio::null()).stderr(log).output().unwrap();
    let errors = || fs::read_to_string(base.join("errors")).unwrap();
    assert!(output.status.success(), "as {who}:\n{commands}\n{}", errors());
    text(&output.stdout)
}

#[test]
fn what_is_not_printed_is_missed() {
    let printed = "JOB  SINCE\n 2   300ms ago\n";
    assert_eq!(shows(printed, "JOB SINCE\n2 1s ago"), Ok(()));
    for wrong in ["3 1s ago", "2 1s ago\nJOB", "2 1 ago"] {
        assert!(shows(printed, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_tutorial_works_as_it_stands() {
    if !is_root("the tutorial, with two users,") {
        return;
    }
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial.md"));
    let page = with_users(&page.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    let replays = install(base);
    let _stops = Stops(base);
    let (mut output, mut compared) = (String::new(), 0);
    let mut blocks = blocks(&page).into_iter();
    while let Some(Block { language, who, text }) = blocks.next() {
        if !replays && text.contains("meed replay") {
            // Nor is there what it would print.
            assert_eq!(blocks.next().map(|block| block.language), Some("text"));
            compared += 1;
            continue;
        }
        match language {
            "toml" => fs::write(base.join("meed.toml"), text).unwrap(),
            "text" => {
                let shown = shows(&output, text);
                assert_eq!(shown, Ok(()), "the page shows what was not printed:\n{output}");
                compared += 1;
            }
            "sh" => {
                // Who stays in the background must not keep this output.
                let commands = text.replace(" &\n", " > /dev/null &\n");
                output = run(base, who, &commands);
                let socket = base.join("meed.sock");
                until("the server answers", || UnixStream::connect(&socket).ok());
            }
            other => panic!("a block of `{other}`"),
        }
        if text.contains("wait quick") {
            // He was served before tasks that came earlier.
            let shown = run(base, "ann", "meed show sweep");
            assert!(shown.starts_with("Job 2 sweep: running"), "{shown}");
        }
    }
    assert_eq!(compared, 8);
}
