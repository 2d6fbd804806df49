//! Identities: the world's own stable names. Handles of the engine never leave the process.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name that costs next to nothing to pass on: worlds keep one for each queue and node.
///
/// Of a queue or a node it is the identity: what comes back under a name that was there before is
/// the same queue or node.
///
/// ```
/// use meed_journal::Name;
///
/// let name = Name::from("physics");
/// let again = name.clone(); // copies no text
/// assert_eq!((again.as_str(), &again), ("physics", &name));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Name(Text);

/// Most bytes of a short text: with its length and which of the two it is, three words.
pub(crate) const SHORT: usize = 22;

/// Invariant: a text is short if it can be, so equal texts are of one kind. A short one lies where
/// the name does: no memory far away is read, and no count of owners is kept.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Text {
    /// It stands in a line of JSON as it is; behind its end are zeros.
    Short {
        length: u8,
        bytes: [u8; SHORT],
    },
    Long(Arc<str>),
}

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Short { .. } => str::from_utf8(self.as_bytes()).expect("it was made of text"),
            Text::Long(text) => text,
        }
    }

    /// The same, as bytes.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Text::Short { length, bytes } => &bytes[..usize::from(*length)],
            Text::Long(text) => text.as_bytes(),
        }
    }

    #[inline]
    pub(crate) fn text(&self) -> &Text {
        &self.0
    }
}

/// Whether a text stands in a line of JSON as it is. Sixteen bytes are looked at in one go, the
/// last of them once more where their number is not a multiple.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let odd = |byte: u8| u8::from(byte < b' ') | u8::from(byte == b'"') | u8::from(byte == b'\\');
    let any = |piece: &[u8; 16]| piece.iter().fold(0, |seen, &byte| seen | odd(byte));
    let seen = match text.last_chunk::<16>() {
        Some(last) => text.as_chunks().0.iter().fold(any(last), |seen, piece| seen | any(piece)),
        None => text.iter().fold(0, |seen, &byte| seen | odd(byte)),
    };
    seen == 0
}

impl Default for Name {
    fn default() -> Name {
        Name(Text::Short { length: 0, bytes: [0; SHORT] })
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self
    }
}

// As the text that it stands for.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Name").field(&self.as_str()).finish()
    }
}

impl<T: AsRef<str>> From<T> for Name {
    fn from(text: T) -> Name {
        let text = text.as_ref();
        let mut bytes = [0; SHORT];
        Name(match bytes.get_mut(..text.len()) {
            Some(place) if is_plain(text.as_bytes()) => {
                place.copy_from_slice(text.as_bytes());
                Text::Short { length: text.len() as u8, bytes }
            }
            _ => Text::Long(text.into()),
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                Ok(Name::from(name))
            }
        }
        deserializer.deserialize_str(Seen)
    }
}

/// A number or a text, given by the world.
///
/// As a key of a job it is unique in its journal for ever: of Kubernetes a UID, in the simulator
/// the number of the arrival. As a name it is what people call the job, and need not be unique.
///
/// ```
/// use meed_journal::JobKey;
///
/// assert_eq!(JobKey::from(17), JobKey::Number(17));
/// assert_eq!(JobKey::from("9f1c").to_string(), "9f1c");
/// assert_ne!(JobKey::from("17"), JobKey::from(17));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum JobKey {
    /// A number.
    Number(u64),
    /// A text.
    Text(Name),
}

impl Default for JobKey {
    fn default() -> JobKey {
        JobKey::Number(0)
    }
}

impl From<u64> for JobKey {
    fn from(number: u64) -> JobKey {
        JobKey::Number(number)
    }
}

impl From<&str> for JobKey {
    fn from(text: &str) -> JobKey {
        JobKey::Text(text.into())
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobKey::Number(number) => number.fmt(f),
            JobKey::Text(text) => text.fmt(f),
        }
    }
}

impl Serialize for JobKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JobKey::Number(number) => serializer.serialize_u64(*number),
            JobKey::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for JobKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JobKey, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = JobKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a job's number or name")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<JobKey, E> {
                Ok(JobKey::Number(number))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<JobKey, E> {
                Ok(JobKey::from(text))
            }
        }
        deserializer.deserialize_any(Seen)
    }
}

/// An allocation: one attempt of one task of a job.
///
/// ```
/// use meed_journal::TaskKey;
///
/// let first = TaskKey { job: "9f1c".into(), task: 3, attempt: 1 };
/// let second = TaskKey { attempt: 2, ..first.clone() };
/// assert_ne!(first, second); // another attempt is another allocation
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TaskKey {
    /// The job.
    pub job: JobKey,
    /// The task's number in its job, from 0.
    pub task: u32,
    /// How many starts of the task came before, undone and lost ones too.
    pub attempt: u32,
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}, task {}", self.job, self.task)?;
        if self.attempt > 0 { write!(f, ", attempt {}", self.attempt) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use proptest::prelude::*;

    use super::*;

    fn hash_of(what: &(impl Hash + ?Sized)) -> u64 {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        hasher.finish()
    }

    /// Short ones, long ones, those in between, and those that need escapes.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab]{0,2}",
            "[a-c.\"\\\\]{0,30}",
            "[\\x00-\\x7f]{15,50}",
            "\\PC{20,24}",
            "(a{22}|a{23})[ab]?",
        ]
    }

    proptest! {
        /// Wherever it lies, a name is its text: to compare, to find by and to write.
        #[test]
        fn a_name_is_its_text(a in text(), b in text()) {
            let (first, second) = (Name::from(&a), Name::from(&b));
            prop_assert_eq!(first.as_str(), &a);
            prop_assert_eq!(first.as_bytes(), a.as_bytes());
            prop_assert_eq!(first == second, a == b);
            prop_assert_eq!(&first, &Name::from(a.clone()));
            prop_assert_eq!(first.cmp(&second), a.cmp(&b));
            prop_assert_eq!(hash_of(&first), hash_of(a.as_str()));
            prop_assert_eq!(format!("{first} {first:?}"), format!("{a} Name({a:?})"));
            let plain = a.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
            prop_assert_eq!(is_plain(a.as_bytes()), plain);
            prop_assert_eq!(serde_json::to_string(&a).expect("text") == format!("\"{a}\""), plain);
            let is_short = matches!(first.text(), Text::Short { .. });
            prop_assert_eq!(is_short, plain && a.len() <= SHORT);
        }
    }

    /// Rows of names are read from far away: three words each, also of a job's key.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_name_is_three_words() {
        assert_eq!(size_of::<Name>(), 24);
        assert_eq!(size_of::<JobKey>(), 24);
        assert_eq!(size_of::<Option<Name>>(), 24);
    }
}
