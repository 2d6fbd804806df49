//! Columns of records that name their values: each name is a column, in the order in which names
//! come.

use std::collections::BTreeMap;

use super::record::Record;
use super::separated::MOST_COLUMNS;
use crate::error::BadRow;

/// Columns by their names.
pub(super) struct Columns {
    places: BTreeMap<String, usize>,
    /// Whether names that are new become columns.
    learns: bool,
}

impl Columns {
    /// No columns yet; every name that comes becomes one.
    pub(super) fn learning() -> Columns {
        Columns { places: BTreeMap::new(), learns: true }
    }

    /// No new name becomes a column any more.
    pub(super) fn close(&mut self) {
        self.learns = false;
    }

    /// Names of the columns, in order.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.places.len()];
        for (name, column) in &self.places {
            names[*column].clone_from(name);
        }
        names
    }

    /// Puts a value into the column of this name, if it is or becomes one.
    pub(super) fn put(
        &mut self,
        record: &mut Record,
        name: &str,
        value: &[u8],
    ) -> Result<(), BadRow> {
        self.name(name)?;
        if let Some(column) = self.places.get(name) {
            record.put(*column, value);
        }
        Ok(())
    }

    /// The name becomes a column, unless all are known.
    pub(super) fn name(&mut self, name: &str) -> Result<(), BadRow> {
        if !self.learns || self.places.contains_key(name) {
            return Ok(());
        }
        if self.places.len() >= MOST_COLUMNS {
            return Err(BadRow::line(format!("more than {MOST_COLUMNS} different names")));
        }
        self.places.insert(name.to_owned(), self.places.len());
        Ok(())
    }
}
