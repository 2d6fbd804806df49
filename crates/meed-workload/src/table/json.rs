//! Records of JSON lines: an object on each line.
//!
//! Columns are the names of the values in it; those of an object inside are joined to its name by a
//! dot (`resources.cpu`), an array is its text. The columns are the names of all rows, of which the
//! first thousand may lack some: a longer file is read once more, for its names only, before it is
//! read. Numbers are taken as they are written.

use std::collections::BTreeMap;

use meed_files::lines::Lines;
use serde_json::value::RawValue;

use super::record::Record;
use super::separated::MOST_COLUMNS;
use crate::TraceError;
use crate::error::BadRow;

/// Deepest object that is looked into.
const MOST_LEVELS: usize = 8;

/// See the module.
pub(super) struct JsonLines {
    pub(super) lines: Lines,
    columns: BTreeMap<String, usize>,
    /// Whether names that are new become columns.
    learns: bool,
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

impl JsonLines {
    pub(super) fn new(lines: Lines) -> JsonLines {
        JsonLines { lines, columns: BTreeMap::new(), learns: true }
    }

    /// These lines, from the first one on, of which the names are those of all that `self` has read
    /// and will read: nothing more becomes a column.
    pub(super) fn learned(mut self, lines: Lines) -> JsonLines {
        let mut record = Record::default();
        // What cannot be read is told by who reads it; names that are too many are passed over.
        while let Ok(Some(_)) = self.next(&mut record) {}
        JsonLines { lines, columns: self.columns, learns: false }
    }

    /// Names of the columns that are known, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.columns.len()];
        for (name, column) in &self.columns {
            names[*column].clone_from(name);
        }
        names
    }

    /// The next record that is not empty; `None` at the end.
    pub(super) fn next(
        &mut self,
        record: &mut Record,
    ) -> Result<Option<Result<(), BadRow>>, TraceError> {
        loop {
            record.clear(self.lines.number() + 1);
            let Some(line) = self.lines.next_line()? else { return Ok(None) };
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let object: Result<Object<'_>, _> = serde_json::from_slice(line);
            return Ok(Some(match object {
                Err(why) => {
                    let why = why.to_string();
                    let what = why.split(" at line ").next().unwrap_or_default();
                    Err(BadRow::line(format!("{what}; wanted is an object of JSON on each line")))
                }
                Ok(object) => put(&mut self.columns, self.learns, record, "", &object, 0),
            }));
        }
    }
}

fn put(
    columns: &mut BTreeMap<String, usize>,
    learns: bool,
    record: &mut Record,
    before: &str,
    object: &Object<'_>,
    level: usize,
) -> Result<(), BadRow> {
    for (name, value) in object {
        let path;
        let name = if before.is_empty() {
            name
        } else {
            path = format!("{before}.{name}");
            &path
        };
        let text = value.get();
        if text.starts_with('{') && level < MOST_LEVELS {
            let inside = serde_json::from_str(text).map_err(|_| BadRow::line("no JSON"))?;
            put(columns, learns, record, name, &inside, level + 1)?;
            continue;
        }
        let column = match columns.get(name) {
            Some(column) => *column,
            None if !learns => continue,
            None if columns.len() >= MOST_COLUMNS => {
                return Err(BadRow::line(format!("more than {MOST_COLUMNS} different names")));
            }
            None => {
                columns.insert(name.clone(), columns.len());
                columns.len() - 1
            }
        };
        match text {
            "null" => {}
            text if text.starts_with('"') => {
                let text: String = serde_json::from_str(text)
                    .map_err(|_| BadRow::line(format!("`{name}` is no text in UTF-8")))?;
                record.put(column, text.as_bytes());
            }
            text => record.put(column, text.as_bytes()),
        }
    }
    Ok(())
}
