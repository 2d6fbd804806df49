//! One record of a table: its fields, in the order of the columns, in one buffer that is used
//! again for the next one.

/// See the module.
#[derive(Default)]
pub(super) struct Record {
    /// The line on which it begins.
    pub(super) line: u64,
    pub(super) text: Vec<u8>,
    /// Where each field begins and ends in `text`.
    pub(super) fields: Vec<(usize, usize)>,
}

impl Record {
    /// Begins anew, at this line.
    pub(super) fn clear(&mut self, line: u64) {
        self.line = line;
        self.text.clear();
        self.fields.clear();
    }

    /// Number of its fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The field of this column, without blanks around it; nothing where there is none.
    pub(super) fn get(&self, column: usize) -> &[u8] {
        match self.fields.get(column) {
            Some((from, to)) => self.text[*from..*to].trim_ascii(),
            None => b"",
        }
    }

    /// How many blanks stand before the field of this column.
    pub(super) fn indent(&self, column: usize) -> usize {
        let field = self.fields.get(column).map_or(&b""[..], |(from, to)| &self.text[*from..*to]);
        field.iter().take_while(|byte| **byte == b' ').count()
    }

    /// Puts `value` into `column`, and nothing into those before it that have no field yet.
    pub(super) fn put(&mut self, column: usize, value: &[u8]) {
        let from = self.text.len();
        self.text.extend_from_slice(value);
        if self.fields.len() <= column {
            self.fields.resize(column + 1, (0, 0));
        }
        self.fields[column] = (from, self.text.len());
    }

    /// A copy, as small as it can be.
    pub(super) fn copy(&self) -> Record {
        Record { line: self.line, text: self.text.clone(), fields: self.fields.clone() }
    }
}

/// Names of columns, from the line that holds them.
pub(super) fn names_of(record: &Record) -> Result<Vec<String>, String> {
    let name = |column: usize| {
        let name = std::str::from_utf8(record.get(column));
        name.map(str::to_owned)
            .map_err(|_| format!("the name of column {} is no text in UTF-8", column + 1))
    };
    (0..record.len()).map(name).collect()
}
