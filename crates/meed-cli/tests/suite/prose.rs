//! How pages read: sentences of at most 35 words, pages of at most 3,500. Pages that are older than
//! these rules have rows of their own, which may shrink and never grow.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

const MAX_WORDS_OF_A_SENTENCE: usize = 35;
const MAX_WORDS_OF_A_PAGE: usize = 3500;

/// Pages with sentences of more words: at most so many.
const LONG_SENTENCES: &[(&str, usize)] = &[
    ("docs/policies/sdrf.md", 1),
    ("docs/policies/tetris.md", 1),
    ("docs/policies/tsf.md", 1),
    ("docs/prices-and-plans.md", 1),
    ("docs/reservations.md", 1),
    ("docs/rivals/condor.md", 1),
    ("docs/rivals/fair-tree.md", 1),
    ("docs/rivals/flexible-lending.md", 1),
    ("docs/rivals/kai.md", 1),
    ("docs/rivals/karma.md", 1),
    ("docs/rivals/kueue-afs.md", 1),
    ("docs/rivals/mr-karma.md", 1),
    ("docs/rivals/pbs.md", 1),
    ("docs/rivals/sge.md", 1),
    ("docs/rivals/t-period.md", 1),
];

/// Pages of more words: at most so many hundreds.
const LONG_PAGES: &[(&str, usize)] =
    &[("docs/reproduction-results.md", 391), ("docs/scenario.md", 44), ("docs/traces.md", 48)];

/// The pages that people read, each with its text. The changelog is a list of changes.
fn pages() -> Vec<(String, String)> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![project.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.extend(path.extension().is_some_and(|e| e == "md").then_some(path)),
            }
        }
    }
    found
        .extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|page| project.join(page)));
    found.sort();
    let page = |path: &std::path::PathBuf| {
        let name = path.strip_prefix(&project).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    found.iter().map(page).collect()
}

/// What stands in a table by this name, or nothing.
fn allowed(table: &[(&str, usize)], page: &str) -> usize {
    table.iter().find(|row| row.0 == page).map_or(0, |row| row.1)
}

/// Paragraphs and items of lists. Blocks of code, tables, headings, pictures and HTML are no prose.
fn paragraphs(text: &str) -> Vec<String> {
    let (mut all, mut now, mut in_block) = (Vec::new(), String::new(), false);
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```");
        in_block ^= fence;
        let item = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-*.".contains(c));
        let begins_item = line.len() > item.len() && item.starts_with(' ');
        let prose =
            !fence && !in_block && !line.is_empty() && !line.starts_with(['|', '#', '!', '<']);
        if !prose || begins_item {
            all.push(std::mem::take(&mut now));
        }
        if prose {
            now.push(' ');
            now.push_str(if begins_item { item } else { line });
        }
    }
    all.push(now);
    all.into_iter().filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Code is one word, and where a link leads is none.
fn spoken(paragraph: &str) -> String {
    let outside = paragraph.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let mut links = outside.split("](");
    let first = links.next().unwrap_or_default().to_owned();
    links.fold(first, |text, rest| text + rest.split_once(')').map_or("", |(_, after)| after))
}

/// The sentences of more words than one should have.
fn long_sentences(text: &str) -> Vec<String> {
    let mut long = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentence = Vec::new();
        for word in spoken(&paragraph).split_whitespace() {
            sentence.push(word.to_owned());
            if word.trim_end_matches(['"', '\'', ')', ']', '*']).ends_with(['.', '!', '?']) {
                long.push(std::mem::take(&mut sentence));
            }
        }
        long.push(sentence);
    }
    long.retain(|sentence| sentence.len() > MAX_WORDS_OF_A_SENTENCE);
    long.into_iter().map(|sentence| sentence.join(" ")).collect()
}

#[test]
fn sentences_have_at_most_35_words() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        let (long, most) = (long_sentences(&text), allowed(LONG_SENTENCES, &page));
        if long.len() > most {
            wrong.push(format!("{page}: {} instead of {most}:\n{}", long.len(), long.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "sentences of more than 35 words:\n{}", wrong.join("\n\n"));
}

#[test]
fn pages_have_at_most_3500_words() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        let words = text.split_whitespace().count();
        let most = MAX_WORDS_OF_A_PAGE.max(100 * allowed(LONG_PAGES, &page));
        if words > most {
            wrong.push(format!("{page} has {words} words; {most} are the most"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn counts_sentences_as_a_reader_does() {
    let long = "word ".repeat(36);
    let cut = format!("{}end. {}", "word ".repeat(20), "word ".repeat(20));
    assert_eq!(long_sentences(&long).len(), 1);
    assert_eq!(long_sentences(&cut).len(), 0);
    assert_eq!(long_sentences(&format!("```\n{long}\n```\n| {long} |\n# {long}")).len(), 0);
    assert_eq!(long_sentences(&format!("- {long}\n- `{long}`")).len(), 1);
    assert_eq!(long_sentences(&format!("[a](b {long}) c")).len(), 0);
}
