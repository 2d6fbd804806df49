//! The tutorial's page, run as it stands: `docs/kubernetes-tutorial.md` is the script.
//!
//! | in the page | what is done |
//! |---|---|
//! | a block of `sh` | run by bash in the repository's root, with kubectl and a kubeconfig |
//! | `<!-- stays -->` before it | it is started, and ended with the test |
//! | `<!-- until: blue USED >= 96; .. -->` | its last command is run until its table says so |
//! | `<!-- says: TEXT -->` | its last command is run again until it prints TEXT |
//! | `<!-- ends -->` | what stays is ended before, as by Ctrl-C |
//! | a block of `text` behind it | where none of these stands: what it prints, but for numbers |
//! | `<!-- FILE -->` and a block of `yaml` | the file's text |
//!
//! Of a table the first line is compared in any case. With `MEED_TUTORIAL=write` blocks of `text`
//! and of `yaml` are written into the page instead: they are then those of this run.
//!
//! Nothing of Meed is there before: the page installs it. In place of `meed kubernetes` stands the
//! program that it starts.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use crate::plane::{Plane, instant, programs, say, with_bare_plane};

const PAGE: &str = "docs/kubernetes-tutorial.md";
/// `write`: the page gets what this run prints.
const HOW: &str = "MEED_TUTORIAL";
/// For what must come to hold.
const PATIENCE: Duration = Duration::from_secs(120);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands in the page.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// A line of prose, or of nothing.
    Line(String),
    /// A remark for this test.
    Remark(String),
    /// A block: its language, its lines.
    Block(String, String),
}

fn pieces(page: &str) -> Vec<Piece> {
    let (mut all, mut lines) = (Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        let remark = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        all.push(match (line.strip_prefix("```"), remark) {
            (Some(language), _) => {
                let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                Piece::Block(language.to_owned(), text.join("\n"))
            }
            (None, Some(remark)) => Piece::Remark(remark.to_owned()),
            (None, None) => Piece::Line(line.to_owned()),
        });
    }
    all
}

fn page(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Line(line) => format!("{line}\n"),
        Piece::Remark(remark) => format!("<!-- {remark} -->\n"),
        Piece::Block(language, text) => format!("```{language}\n{text}\n```\n"),
    };
    pieces.iter().map(text).collect()
}

/// A cell of a table that is aligned by its heads: that of a row, by its first word, below a head.
/// `_` in a head stands for a space.
fn cell<'t>(table: &'t str, row: &str, head: &str) -> Option<&'t str> {
    let mut lines = table.lines().skip_while(|line| !is_head(line));
    let heads = lines.next()?;
    let head = head.replace('_', " ");
    let begin = heads.match_indices(&head).map(|(at, _)| at).find(|&at| {
        let (before, after) = (&heads[..at], &heads[at + head.len()..]);
        (before.is_empty() || before.ends_with("  "))
            && (after.is_empty() || after.starts_with(' '))
    })?;
    let rest = &heads[begin + head.len()..];
    let width = head.len() + rest.chars().take_while(|letter| *letter == ' ').count();
    let is_last = begin + width >= heads.len();
    let line = lines.find(|line| line.split_whitespace().next() == Some(row))?;
    let end = if is_last { line.len() } else { (begin + width).min(line.len()) };
    line.get(begin.min(end)..end).map(str::trim)
}

fn is_head(line: &str) -> bool {
    line.starts_with("NAME ") || line.starts_with("QUEUE ")
}

/// Whether a table says this: `blue USED >= 96`. Of a cell its first word counts.
fn holds(claim: &str, table: &str) -> bool {
    let words: Vec<&str> = claim.split_whitespace().collect();
    let [row, head, how, wanted] = words[..] else { panic!("`{claim}`: row, head, how, what") };
    let Some(found) = cell(table, row, head) else { return false };
    let found = found.split_whitespace().next().unwrap_or_default();
    match (found.parse::<f64>(), wanted.parse::<f64>(), how) {
        (Ok(found), Ok(wanted), "=") => (found - wanted).abs() < 1e-9,
        (Ok(found), Ok(wanted), "<") => found < wanted,
        (Ok(found), Ok(wanted), "<=") => found <= wanted,
        (Ok(found), Ok(wanted), ">") => found > wanted,
        (Ok(found), Ok(wanted), ">=") => found >= wanted,
        (_, _, "=") => found == wanted,
        _ => false,
    }
}

/// A text without what differs from run to run: words with a digit.
fn masked(text: &str) -> Vec<String> {
    let word = |word: &str| match word.contains(|letter: char| letter.is_ascii_digit()) {
        true => "#".to_owned(),
        false => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect()
}

/// All commands of a block but the last, and the last.
fn last_command(block: &str) -> (String, &str) {
    let lines: Vec<&str> = block.lines().collect();
    let mut at = lines.len() - 1;
    while at > 0 && lines[at - 1].ends_with('\\') {
        at -= 1;
    }
    let begin: usize = lines[..at].iter().map(|line| line.len() + 1).sum();
    (lines[..at].join("\n"), &block[begin..])
}

/// A terminal in the repository's root.
struct Terminal<'p> {
    plane: &'p Plane,
    path: String,
    /// What was started to stay.
    stays: Vec<Child>,
}

impl<'p> Terminal<'p> {
    fn open(plane: &'p Plane) -> Terminal<'p> {
        let folder = plane.state().join("programs");
        std::fs::create_dir(&folder).expect("a folder");
        let meed = env!("CARGO_BIN_EXE_meed-kubernetes");
        let text = format!(
            "#!/bin/sh\ncase \"$1 $2\" in\n\
             'kubernetes '*) shift; exec '{meed}' \"$@\";;\n\
             'why pod') shift 2; exec '{meed}' why \"$@\";;\n\
             'queues --kubernetes') shift 2; exec '{meed}' queues \"$@\";;\nesac\nexit 2\n"
        );
        let file = folder.join("meed");
        std::fs::write(&file, text).expect("it is written");
        let made = Command::new("chmod").arg("+x").arg(&file).status();
        assert!(made.expect("chmod runs").success());
        let path = std::env::var("PATH").expect("a path");
        let path = format!("{}:{}:{path}", folder.display(), programs().display());
        Terminal { plane, path, stays: Vec::new() }
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-euc", script]).current_dir(root()).env("PATH", &self.path);
        command
            .env("KUBECONFIG", self.plane.kubeconfig("admin"))
            .stdin(std::process::Stdio::null());
        command
    }

    /// What it prints; it must end well.
    fn run(&self, script: &str) -> String {
        let done = self.command(script).output().expect("bash runs");
        let (said, wrong) = (text(done.stdout), text(done.stderr));
        assert!(done.status.success(), "{script}\n{said}{wrong}{}", self.log());
        said
    }

    fn stay(&mut self, script: &str) {
        let log = std::fs::File::create(self.plane.state().join("stays.log")).expect("a log");
        let child = self.command(&format!("exec {script}")).stderr(log).spawn();
        self.stays.push(child.expect("bash runs"));
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.plane.state().join("stays.log")).unwrap_or_default()
    }

    fn end(&mut self) {
        for mut child in std::mem::take(&mut self.stays) {
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(sent.expect("kill runs").success());
            assert!(child.wait().expect("it ends").success(), "it ends well: {}", self.log());
        }
    }

    /// Runs a block, and its last command until nothing is wrong.
    fn until(&self, block: &str, wrong: impl Fn(&str) -> Option<String>) -> String {
        let (first, last) = last_command(block);
        let before = if first.is_empty() { String::new() } else { self.run(&first) };
        let begin = instant();
        loop {
            let said = self.run(last);
            let Some(wrong) = wrong(&said) else { return before + &said };
            assert!(begin.elapsed() < PATIENCE, "not so: {wrong}\n{said}{}", self.log());
            std::thread::sleep(Duration::from_millis(300));
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        for child in &mut self.stays {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

/// A block was run: what it printed, and whether that is the same each time.
struct Ran {
    said: String,
    is_same: bool,
}

/// What is shown of it is true.
fn is_as_shown(shown: &str, ran: &Ran) {
    let head = |text: &str| text.lines().find(|line| is_head(line)).map(masked);
    assert_eq!(head(shown), head(&ran.said), "{PAGE} shows another table: {}", ran.said);
    if ran.is_same {
        let again = "cargo xtask kubernetes tutorial --write";
        assert_eq!(masked(shown), masked(&ran.said), "{PAGE} shows other output; {again}");
    }
}

/// Runs the page; it comes back with what was printed.
fn follow(terminal: &mut Terminal, pieces: &mut [Piece], writes: bool) -> usize {
    let (mut remark, mut ran, mut count) = (String::new(), None, 0);
    for piece in pieces {
        match piece {
            Piece::Line(_) => {}
            Piece::Remark(told) => remark = told.clone(),
            Piece::Block(language, block) => {
                let told = std::mem::take(&mut remark);
                match language.as_str() {
                    "sh" => {
                        ran = Some(one(terminal, block, &told));
                        count += 1;
                    }
                    "text" => {
                        let ran = ran.take().expect("output stands behind a command");
                        match writes {
                            true => *block = ran.said.trim_end().to_owned(),
                            false => is_as_shown(block, &ran),
                        }
                    }
                    "yaml" => {
                        let file = std::fs::read_to_string(root().join(&told)).expect("a file");
                        match writes {
                            true => *block = file.trim_end().to_owned(),
                            false => assert_eq!(file.trim_end(), block, "{PAGE}: {told}"),
                        }
                    }
                    other => panic!("{PAGE}: a block of `{other}`"),
                }
            }
        }
    }
    count
}

fn one(terminal: &mut Terminal, block: &str, told: &str) -> Ran {
    say(&format!("$ {block}"));
    let (said, is_same) = match told.split_once(": ") {
        _ if told == "stays" => {
            terminal.stay(block);
            (String::new(), true)
        }
        Some(("until", claims)) => {
            let wrong = |said: &str| claims.split("; ").find(|claim| !holds(claim, said));
            (terminal.until(block, |said| wrong(said).map(str::to_owned)), false)
        }
        Some(("says", wanted)) => {
            let wrong = |said: &str| (!said.contains(wanted)).then(|| wanted.to_owned());
            (terminal.until(block, wrong), false)
        }
        None if told.is_empty() => (terminal.run(block), true),
        None if told == "ends" => {
            terminal.end();
            (terminal.run(block), true)
        }
        _ => panic!("{PAGE}: `<!-- {told} -->` is none of stays, until, says, ends"),
    };
    say(&said);
    Ran { said, is_same }
}

#[test]
fn the_page_runs_as_it_stands() {
    with_bare_plane(&["kwok", "scheduler", "controllers"], async |plane| {
        let path = root().join(PAGE);
        let text = std::fs::read_to_string(&path).expect("the page");
        let mut all = pieces(&text);
        assert!(page(&all) == text, "{PAGE} is not read as it stands");
        let writes = std::env::var(HOW).is_ok_and(|how| how == "write");
        let mut terminal = Terminal::open(&plane);
        let count = follow(&mut terminal, &mut all, writes);
        assert!(count >= 10, "only {count} blocks of commands");
        if writes {
            std::fs::write(&path, page(&all)).expect("the page is written");
        }
    });
}

#[test]
fn tables_are_read_by_their_heads() {
    let table = "made\n\
                 NAME    PARENT   USED      CHARGED h  WAITING\n\
                 blue             12 cpu    0.5        7\n\
                 green   blue     -3 cpu    -          \n";
    let claims = ["blue USED = 12", "blue CHARGED_h < 0.6", "green USED <= -3", "blue WAITING > 6"];
    for claim in claims {
        assert!(holds(claim, table), "{claim}");
    }
    assert_eq!(cell(table, "green", "PARENT"), Some("blue"));
    for claim in ["blue USED > 12", "green WAITING = 0", "red USED > 0", "blue PARENT = x"] {
        assert!(!holds(claim, table), "{claim}");
    }
    let (first, last) = last_command("a\nb \\\n  c");
    assert_eq!((first.as_str(), last), ("a", "b \\\n  c"));
    assert_eq!(masked("pod x-1 is\n  so"), ["pod # is", "so"]);
}
