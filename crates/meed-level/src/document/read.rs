//! Reads a problem. What is wrong is said with the line where the text is to blame, and by name
//! where the meaning is.

use std::fmt;

use meed_config::tree;
use meed_config::words::{did_you_mean, with_hint};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::error::InputError;
use crate::limits::SLOTS_PER_SERVER;
use crate::problem::{Problem, Server, User, UserLedgers};

/// Longer names of users and resources are refused: messages quote them.
const LONGEST_NAME: usize = 200;

/// How a problem is written.
///
/// ```
/// use meed_level::document::{Format, read};
///
/// let text = r#"
/// servers = [{ capacity = { cpu = 4 } }]
/// users = [{ name = "ann", demand = { cpu = 1 } }]
/// "#;
/// let format = Format::of("pool.toml", text);
/// assert_eq!(format, Format::Toml);
/// assert_eq!(read(text, format)?.users[0].name, "ann");
/// # Ok::<(), meed_level::document::DocumentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

impl Format {
    /// By the file's ending; for another ending, JSON if the text begins like it.
    pub fn of(name: &str, text: &str) -> Format {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if ending.eq_ignore_ascii_case("json")
            || (ending != "toml" && text.trim_start().starts_with('{'))
        {
            return Format::Json;
        }
        Format::Toml
    }
}

/// A text that is no problem to be solved: where, and what is wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct DocumentError {
    /// Line, from 1, where the text itself is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: InputError,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{line}: {}", self.what),
            None => write!(f, " {}", self.what),
        }
    }
}

impl std::error::Error for DocumentError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProblem {
    servers: Vec<RawServer>,
    users: Vec<RawUser>,
    #[serde(default)]
    slots_per_server: Option<f64>,
    #[serde(default = "one")]
    worth: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawServer {
    #[serde(default = "one")]
    count: f64,
    capacity: Amounts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUser {
    name: String,
    demand: Amounts,
    #[serde(default = "one")]
    weight: f64,
    #[serde(default)]
    tasks: Option<f64>,
    #[serde(default)]
    used: f64,
    #[serde(default)]
    credits: f64,
    #[serde(default)]
    commitment: f64,
    #[serde(default)]
    paid: f64,
    #[serde(default)]
    received: f64,
}

fn one() -> f64 {
    1.0
}

/// Amounts by resource, in the order written; no resource twice.
struct Amounts(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amounts, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Amounts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("amounts by resource, as in { cpu = 2, memory = 12 }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Amounts, A::Error> {
                let mut amounts: Vec<(String, f64)> = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let why = match name.chars().count() {
                        0 => Some("a resource has an empty name".to_owned()),
                        1..=LONGEST_NAME => None,
                        long => Some(format!(
                            "a resource's name has {long} characters; at most {LONGEST_NAME}"
                        )),
                    };
                    let twice = || format!("resource `{name}` is there twice");
                    let why =
                        why.or_else(|| amounts.iter().any(|(known, _)| *known == name).then(twice));
                    if let Some(why) = why {
                        return Err(A::Error::custom(why));
                    }
                    let amount = map.next_value::<f64>()?;
                    amounts.push((name, amount));
                }
                Ok(Amounts(amounts))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Reads a problem and checks it.
pub fn read(text: &str, format: Format) -> Result<Problem, DocumentError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let syntax = |line: Option<usize>, message: &str| DocumentError {
        line,
        what: InputError::Syntax(with_hint(message)),
    };
    if text.trim().is_empty() {
        return Err(syntax(None, "is empty; docs/allocate.md shows what it may hold"));
    }
    let raw: RawProblem = match format {
        Format::Json => serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            syntax(Some(error.line()).filter(|line| *line > 0), message)
        })?,
        Format::Toml => tree::read(text).map_err(|error| {
            let line = |span: std::ops::Range<usize>| {
                let before = text.get(..span.start).unwrap_or(text);
                before.bytes().filter(|&byte| byte == b'\n').count() + 1
            };
            syntax(error.span().map(line), error.message())
        })?,
    };
    problem(raw).map_err(|what| DocumentError { line: None, what })
}

fn problem(raw: RawProblem) -> Result<Problem, InputError> {
    let mut resources: Vec<String> = Vec::new();
    for (name, _) in raw.servers.iter().flat_map(|server| &server.capacity.0) {
        if !resources.contains(name) {
            resources.push(name.clone());
        }
        if resources.len() > crate::limits::MAX_RESOURCES {
            return Err(InputError::Resources { given: resources.len() });
        }
    }
    let dense = |amounts: &Amounts| -> Vec<f64> {
        let of = |name: &String| {
            amounts.0.iter().find(|(known, _)| known == name).map_or(0.0, |(_, amount)| *amount)
        };
        resources.iter().map(of).collect()
    };
    let mut users = Vec::with_capacity(raw.users.len());
    for user in &raw.users {
        let long = user.name.chars().count();
        if long > LONGEST_NAME {
            return Err(InputError::Syntax(format!(
                "a user's name has {long} characters; at most {LONGEST_NAME}"
            )));
        }
        if let Some((unknown, _)) = user.demand.0.iter().find(|(name, _)| !resources.contains(name))
        {
            let known = did_you_mean(unknown, resources.iter().map(String::as_str))
                .unwrap_or_else(|| format!("the servers have {}", resources.join(", ")));
            return Err(InputError::UnknownResource {
                user: user.name.clone(),
                resource: unknown.clone(),
                known,
            });
        }
        users.push(User {
            name: user.name.clone(),
            demand: dense(&user.demand),
            weight: user.weight,
            tasks: user.tasks,
            used: user.used,
            ledgers: UserLedgers {
                credits: user.credits,
                commitment: user.commitment,
                paid: user.paid,
                received: user.received,
            },
        });
    }
    let server =
        |server: &RawServer| Server { count: server.count, capacity: dense(&server.capacity) };
    let problem = Problem {
        servers: raw.servers.iter().map(server).collect(),
        users,
        resources,
        slots_per_server: raw.slots_per_server.unwrap_or(SLOTS_PER_SERVER),
        worth: raw.worth,
    };
    problem.check()?;
    Ok(problem)
}
