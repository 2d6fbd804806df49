//! Identities: the world's own stable names. Handles of the engine never leave the process.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name that costs no copy to pass on: worlds keep one for each queue and node.
///
/// Of a queue or a node it is the identity: what comes back under a name that was there before is
/// the same queue or node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(Arc<str>);

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Name {
    fn default() -> Name {
        Name("".into())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Name {
    fn from(text: T) -> Name {
        Name(text.into())
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
