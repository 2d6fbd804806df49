//! The header comments of an SWF file: `; Key: value`.

/// Most fields that are kept; further ones are dropped (a header is some dozens of lines).
const MAX_FIELDS: usize = 500;
/// Longest field that is kept, in bytes.
const MAX_FIELD: usize = 1000;

/// What the header of an SWF file says, as far as it says it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SwfHeader {
    fields: Vec<(String, String)>,
}

impl SwfHeader {
    /// Takes in one comment line; free text is passed over.
    pub(super) fn read(&mut self, line: &[u8]) {
        if self.fields.len() == MAX_FIELDS || line.len() > MAX_FIELD {
            return;
        }
        // Old headers are Latin-1: names of people must not make a file unreadable.
        let line = String::from_utf8_lossy(line);
        let Some((key, value)) = line.trim_start_matches(';').split_once(':') else { return };
        let key = key.trim();
        // Free text: a web address has a colon as well.
        if value.starts_with("//") {
            return;
        }
        if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            self.fields.push((key.to_owned(), value.trim().to_owned()));
        }
    }

    /// All fields, in order; some keys (`Note`, `Queue`) come more than once.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The first field called `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The number that the field `key` begins with: `338 (batch partition; 512 total)` is 338.
    pub fn number(&self, key: &str) -> Option<u64> {
        let value = self.get(key)?;
        let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        value[..end].parse().ok()
    }

    /// Processors of the machine (`MaxProcs`, else `MaxNodes`): the size of a default cluster.
    pub fn processors(&self) -> Option<u64> {
        let above_0 = |key| self.number(key).filter(|number| *number > 0);
        above_0("MaxProcs").or_else(|| above_0("MaxNodes"))
    }

    /// The field that [`SwfHeader::processors`] looks at, where it is there: name and value.
    pub fn processors_field(&self) -> Option<(&'static str, &str)> {
        ["MaxProcs", "MaxNodes"].into_iter().find_map(|key| Some((key, self.get(key)?)))
    }

    /// Nodes of the machine (`MaxNodes`).
    pub fn nodes(&self) -> Option<u64> {
        self.number("MaxNodes").filter(|nodes| *nodes > 0)
    }

    /// When time 0 of the trace was, in seconds since 1970 (`UnixStartTime`).
    pub fn unix_start_s(&self) -> Option<u64> {
        self.number("UnixStartTime")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_free_text_is_passed_over() {
        let mut header = SwfHeader::default();
        for line in [
            "; Version: 2.2",
            ";MaxProcs: 338",
            "; MaxNodes: 512 (batch partition)",
            "; UnixStartTime: 835823160",
            ";              http://example.org/",
            "; Queue:  1 DSI      ",
            "; Queue:  2 astro",
            ";",
            "; just words",
        ] {
            header.read(line.as_bytes());
        }
        header.read(b"; Acknowledge: J\xf6rg");
        assert_eq!(header.fields().count(), 7);
        assert_eq!(header.get("Version"), Some("2.2"));
        assert_eq!(header.get("Queue"), Some("1 DSI"));
        assert_eq!((header.processors(), header.nodes()), (Some(338), Some(512)));
        assert_eq!(header.unix_start_s(), Some(835_823_160));
        assert_eq!(header.get("Acknowledge"), Some("J\u{fffd}rg"));
        assert_eq!(SwfHeader::default().processors(), None);
    }
}
