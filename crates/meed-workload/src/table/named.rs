//! Records that name their values: an object of JSON on each line, or a line of an accounting log
//! ([`super::accounting`], [`super::lsf`],
//! [`super::grid_engine`]).
//!
//! Columns of JSON are the names of the values in it; those of an object inside are joined to its
//! name by a dot (`resources.cpu`), an array is its text. The columns are the names of all rows, of
//! which the first thousand may lack some: a longer file is read once more, for its names only,
//! before it is read. Numbers are taken as they are written.

use meed_files::lines::Lines;

use super::columns::Columns;
use super::condor::Object;
use super::record::Record;
use super::{accounting, condor, grid_engine, lsf};
use crate::TraceError;
use crate::error::BadRow;
use crate::fields::json_problem;

/// Deepest object that is looked into.
const MOST_LEVELS: usize = 8;

/// How a line is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineForm {
    Json,
    /// ClassAds of HTCondor, as JSON.
    Condor,
    Accounting,
    Lsf,
    GridEngine,
}

/// See the module.
pub(super) struct NamedLines {
    pub(super) lines: Lines,
    form: LineForm,
    columns: Columns,
}

impl NamedLines {
    pub(super) fn new(lines: Lines, form: LineForm) -> NamedLines {
        NamedLines { lines, form, columns: Columns::learning() }
    }

    /// These lines, from the first one on, of which the names are those of all that `self` has read
    /// and will read: nothing more becomes a column.
    pub(super) fn learned(mut self, lines: Lines) -> NamedLines {
        let mut record = Record::default();
        // What cannot be read is told by who reads it; names that are too many are passed over.
        while let Ok(Some(_)) = self.next(&mut record) {}
        self.columns.close();
        NamedLines { lines, ..self }
    }

    /// Names of the columns that are known, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.names()
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
            match self.form {
                LineForm::Json | LineForm::Condor => {}
                LineForm::Accounting => {
                    return Ok(Some(accounting::put(&mut self.columns, record, line)));
                }
                LineForm::GridEngine if grid_engine::is_comment(line) => continue,
                LineForm::GridEngine => {
                    return Ok(Some(grid_engine::put(&mut self.columns, record, line)));
                }
                LineForm::Lsf => return Ok(Some(lsf::put(&mut self.columns, record, line))),
            }
            let object: Result<Object<'_>, _> = serde_json::from_slice(line);
            return Ok(Some(match object {
                Err(why) => {
                    let what = json_problem(&why);
                    Err(BadRow::line(format!("{what}; wanted is an object of JSON on each line")))
                }
                Ok(object) => {
                    put(&mut self.columns, record, "", &object, 0).and_then(|()| match self.form {
                        LineForm::Condor => condor::put(&mut self.columns, record, &object),
                        _ => Ok(()),
                    })
                }
            }));
        }
    }
}

fn put(
    columns: &mut Columns,
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
            put(columns, record, name, &inside, level + 1)?;
            continue;
        }
        match text {
            // A column all the same.
            "null" => columns.name(name)?,
            text if text.starts_with('"') => {
                let text: String = serde_json::from_str(text)
                    .map_err(|_| BadRow::line(format!("`{name}` is no text in UTF-8")))?;
                columns.put(record, name, text.as_bytes())?;
            }
            text => columns.put(record, name, text.as_bytes())?,
        }
    }
    Ok(())
}
