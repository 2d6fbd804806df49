//! Bytes of the system (arguments, paths, environment) in JSON: as text where they are UTF-8, which
//! they nearly always are; else as a list of numbers. Invariant: what is written reads back equal.
//! Also bytes as hexadecimal digits.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Two hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to memory does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Bytes of the system (an argument, a path, a variable): in JSON a text where they are UTF-8, else
/// a list of numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Bytes(OsString);

impl Bytes {
    /// As the system takes them.
    pub fn as_os(&self) -> &OsStr {
        &self.0
    }

    /// As a path.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the system can take them: it ends texts at a zero byte.
    pub fn has_zero(&self) -> bool {
        self.0.as_bytes().contains(&0)
    }

    /// For people.
    pub fn shown(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl<T: Into<OsString>> From<T> for Bytes {
    fn from(bytes: T) -> Bytes {
        Bytes(bytes.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected text, or a list of bytes")]
enum Form {
    Text(String),
    Raw(Vec<u8>),
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => Form::Raw(self.0.as_bytes().to_vec()).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Text(text) => Bytes(text.into()),
            Form::Raw(bytes) => Bytes(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_reads_back_too() {
        for bytes in [&b"plain"[..], "\u{e4}".as_bytes(), b"\xff\xfe", b""] {
            let given = Bytes(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&given).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&json).unwrap(), given, "{json}");
        }
        assert_eq!(serde_json::to_string(&Bytes::from("a")).unwrap(), "\"a\"");
    }
}
