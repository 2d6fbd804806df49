//! What the dashboard asks the leader, and what an answer may be.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use tokio::sync::oneshot;

/// Most jobs of one answer, and how many there are unless told.
const MOST_JOBS: usize = 1000;
const JOBS: usize = 100;

/// What of the cluster somebody sees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sees {
    /// Pods and queues of all.
    All,
    /// Pods in these namespaces, and queues that these may use.
    Namespaces(BTreeSet<String>),
}

impl Sees {
    /// Whether pods of a namespace are theirs to see.
    pub(crate) fn has(&self, namespace: &str) -> bool {
        match self {
            Sees::All => true,
            Sees::Namespaces(all) => all.contains(namespace),
        }
    }
}

/// Which pods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JobsQuery {
    pub(crate) state: Option<String>,
    pub(crate) queue: Option<String>,
    /// Their namespace.
    pub(crate) user: Option<String>,
    /// Pods that have ended, too: none is kept.
    pub(crate) ended: bool,
    pub(crate) limit: usize,
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Namespaces for which Meed serves pods: of these somebody may see some.
    Namespaces,
    Cluster,
    Queues,
    Queue(String),
    Jobs(JobsQuery),
    /// One pod, by namespace and name.
    Job(String, String),
    Why(String, String),
    History {
        month: bool,
    },
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Refused {
        Refused { status, detail: detail.into() }
    }

    pub(crate) fn unknown(detail: impl Into<String>) -> Refused {
        Refused::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn malformed(detail: impl Into<String>) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn busy(detail: impl Into<String>) -> Refused {
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// The class of errors that programs tell apart (docs/http.md).
    pub(crate) fn kind(&self) -> &'static str {
        match self.status.as_u16() {
            400 | 405 | 415 => "malformed",
            401 | 403 | 421 => "forbidden",
            404 => "unknown",
            408 | 413 | 429 => "limit",
            _ => "failed",
        }
    }
}

/// A question to the leader's loop, and where its answer goes.
pub(crate) struct Ask {
    pub(crate) sees: Arc<Sees>,
    pub(crate) question: Question,
    pub(crate) reply: oneshot::Sender<Result<Value, Refused>>,
}

/// What a path asks, where it is right.
type Asked = Result<Question, Refused>;

/// The question of a path below `/v1/`, with its query; `None`: there is no such route.
pub(crate) fn read(path: &str, query: &str) -> Option<Result<Question, Refused>> {
    let parts: Vec<&str> = path.split('/').collect();
    let known = |keys: &[&str], made: &dyn Fn(&[Option<String>]) -> Asked| {
        fields(query, keys).and_then(|values| made(&values))
    };
    let pod = |named: &str, made: fn(String, String) -> Question| {
        known(&[], &|_| {
            let named = decoded(named)?;
            match named.split_once('/') {
                Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                    Ok(made(namespace.to_owned(), name.to_owned()))
                }
                _ => Err(Refused::unknown("a pod is NAMESPACE/NAME, with %2F for the slash")),
            }
        })
    };
    Some(match parts.as_slice() {
        ["cluster"] => known(&[], &|_| Ok(Question::Cluster)),
        ["queues"] => known(&[], &|_| Ok(Question::Queues)),
        ["queues", name] => known(&[], &|_| Ok(Question::Queue(decoded(name)?))),
        ["jobs"] => known(&["state", "queue", "user", "ended", "limit"], &jobs),
        ["jobs", named] => pod(named, Question::Job),
        ["jobs", named, "why"] => pod(named, Question::Why),
        ["history"] => known(&["span"], &|values| match values[0].as_deref() {
            None | Some("day") => Ok(Question::History { month: false }),
            Some("month") => Ok(Question::History { month: true }),
            Some(_) => Err(Refused::malformed("span is day or month")),
        }),
        _ => return None,
    })
}

fn jobs(values: &[Option<String>]) -> Result<Question, Refused> {
    let [state, queue, user, ended, limit] = values else { unreachable!("as many as keys") };
    let states = ["waiting", "running", "after", "held"];
    if let Some(state) = state.as_deref().filter(|state| !states.contains(state)) {
        let what = format!("state `{state}` is none of {}", states.join(", "));
        return Err(Refused::malformed(what));
    }
    let ended = match ended.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Refused::malformed("ended is true or false")),
    };
    let limit = match limit.as_deref().map(str::parse::<usize>) {
        None => JOBS,
        Some(Ok(limit)) if (1..=MOST_JOBS).contains(&limit) => limit,
        Some(_) => {
            return Err(Refused::malformed(format!("limit is a number from 1 to {MOST_JOBS}")));
        }
    };
    let (state, queue, user) = (state.clone(), queue.clone(), user.clone());
    Ok(Question::Jobs(JobsQuery { state, queue, user, ended, limit }))
}

/// The values of these keys; another key, or one twice, is refused.
fn fields(query: &str, keys: &[&str]) -> Result<Vec<Option<String>>, Refused> {
    let mut values = vec![None; keys.len()];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place = keys.iter().position(|known| *known == key);
        let Some(slot) = place.map(|place| &mut values[place]).filter(|slot| slot.is_none()) else {
            let known = if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") };
            let what = format!("this route takes {known} behind `?`, each once");
            return Err(Refused::malformed(what));
        };
        *slot = Some(decoded(value)?);
    }
    Ok(values)
}

/// A part of an address as it is meant.
fn decoded(text: &str) -> Result<String, Refused> {
    let wrong = || Refused::malformed("a part of the address is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        match byte {
            b'%' => {
                let (high, low) = (digit(), digit());
                let value =
                    high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                bytes.push(value.ok_or_else(wrong)?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_questions_and_others_are_refused_in_words() {
        let asked = |path: &str, query: &str| read(path, query).map(Result::unwrap);
        assert_eq!(asked("cluster", ""), Some(Question::Cluster));
        assert_eq!(asked("queues/a.b", ""), Some(Question::Queue("a.b".into())));
        let pod = || ("n".to_owned(), "p-1".to_owned());
        assert_eq!(asked("jobs/n%2Fp-1", ""), Some(Question::Job(pod().0, pod().1)));
        assert_eq!(asked("jobs/n%2fp-1/why", ""), Some(Question::Why(pod().0, pod().1)));
        let history = |month| Some(Question::History { month });
        assert_eq!(asked("history", "span=month"), history(true));
        assert_eq!(asked("history", ""), history(false));
        let Some(Question::Jobs(query)) = asked("jobs", "state=waiting&queue=a%2Eb&limit=7") else {
            panic!("pods are asked for")
        };
        assert_eq!((query.state.as_deref(), query.limit), (Some("waiting"), 7));
        assert_eq!((query.queue.as_deref(), query.ended), (Some("a.b"), false));
        for path in ["", "nothing", "jobs/a/b/c", "queues/a/b", "cluster/"] {
            assert_eq!(read(path, ""), None, "{path}");
        }
        for (path, query, what) in [
            ("jobs", "limit=0", "limit is a number from 1 to 1000"),
            ("jobs", "limit=99999999999999999999999", "limit is a number"),
            ("jobs", "state=odd", "state `odd` is none of waiting"),
            ("jobs", "state=waiting&state=running", "each once"),
            ("jobs", "cursor=3", "this route takes state, queue"),
            ("jobs", "ended=yes", "ended is true or false"),
            ("history", "span=year", "span is day or month"),
            ("cluster", "a", "this route takes nothing"),
            ("jobs/%ff%fe", "", "percent-encoded UTF-8"),
            ("jobs/%2", "", "percent-encoded UTF-8"),
            ("jobs/7", "", "a pod is NAMESPACE/NAME"),
            ("jobs/%2Fp", "", "a pod is NAMESPACE/NAME"),
        ] {
            let refused = read(path, query).unwrap().unwrap_err();
            assert!(refused.detail.contains(what), "{path}?{query}: {}", refused.detail);
        }
    }
}
