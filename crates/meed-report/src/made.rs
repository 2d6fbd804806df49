//! What a page says of its origin: the version of Meed, the command, and of when the data are.
//! Paths are told by their last part: a page is shown to others, who need not know where it was
//! made.

use std::path::Path;

use serde::Serialize;

/// Where a page comes from, as far as that is known.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Made {
    /// Version of the program.
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    /// The command.
    #[serde(skip_serializing_if = "String::is_empty")]
    command: String,
    /// Of when the data are, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    data: String,
}

impl Made {
    /// By this version, with these arguments (the first is the program), from data of that time.
    pub fn new(version: &str, arguments: &[String], data: &str) -> Made {
        let words: Vec<String> =
            arguments.iter().map(|word| quoted(&without_folders(word))).collect();
        Made { version: version.to_owned(), command: words.join(" "), data: data.to_owned() }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self == &Made::default()
    }

    /// Version and command as a sentence.
    pub(crate) fn sentence(&self) -> (String, &str) {
        (format!("Made by Meed {}", self.version), &self.command)
    }

    /// Of when the data are.
    pub(crate) fn data(&self) -> &str {
        &self.data
    }
}

/// Absolute paths in a word are cut down to their last part: alone, and behind `=`, `,` and `:`.
fn without_folders(word: &str) -> String {
    let ends = |c: char| matches!(c, '=' | ',' | ':' | '"' | '\'' | '[' | ']');
    let mut out = String::new();
    for part in word.split_inclusive(ends) {
        let path = part.trim_end_matches(ends);
        let (path, end) = part.split_at(path.len());
        let file = Path::new(path).file_name().filter(|_| is_absolute(path));
        out += file.and_then(|file| file.to_str()).unwrap_or(path);
        out += end;
    }
    out
}

/// On this system or another: a page that was made elsewhere says no more.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with('~') || Path::new(path).is_absolute()
}

/// As a shell would need it, so that it can be copied.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_no_folder_of_who_ran_it() {
        let rows: [(&[&str], &str); 5] = [
            (&["/usr/bin/meed", "simulate", "/home/ann/jobs.csv"], "meed simulate jobs.csv"),
            (&["meed", "--set", "trace.file=/srv/a b/c.swf"], "meed --set trace.file=c.swf"),
            (&["meed", "--report=/tmp/x.html", "it's"], "meed --report=x.html 'it'\\''s'"),
            (&["meed", "examples/lending.toml", ""], "meed examples/lending.toml ''"),
            (&["meed", "--set", "a=[\"/x/y\", \"/z\"]"], "meed --set 'a=[\"y\", \"z\"]'"),
        ];
        for (words, command) in rows {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(Made::new("1", &words, "").command, command);
        }
    }
}
