//! An API server for tests: it keeps objects by compare and swap, and goes wrong as it is told.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::connect::Connector;

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// It is carried out and answered.
    Goes,
    /// Nothing happens, and there is no answer.
    Silent,
    /// It is carried out, and the answer is this code.
    DoneBut(u16),
    /// It is refused, in these words.
    Refused(&'static str),
}

/// Objects by their paths, and their common version.
#[derive(Default)]
pub(crate) struct Objects {
    by_path: BTreeMap<String, Value>,
    version: u64,
}

impl Objects {
    /// Writes an object, whatever is there.
    pub(crate) fn put(&mut self, path: &str, mut object: Value) -> Value {
        self.version += 1;
        let name = path.rsplit('/').next().unwrap();
        object["metadata"]["name"] = name.into();
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.by_path.insert(path.to_owned(), object.clone());
        object
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        self.by_path.get(path)
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.by_path.remove(path);
    }

    /// Writes a label: the object has another version then.
    pub(crate) fn label(&mut self, path: &str) {
        let mut object = self.by_path[path].clone();
        object["metadata"]["labels"]["backup"] = "yes".into();
        self.put(path, object);
    }

    /// The names below a path.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let names = self.by_path.keys().filter_map(|path| path.strip_prefix(below));
        names.map(|name| name.trim_start_matches('/').to_owned()).collect()
    }

    /// Carries a request out: the code and the answer.
    fn carry_out(&mut self, method: &Method, uri: &Uri, body: Option<Value>) -> (u16, Value) {
        let path = uri.path();
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        match *method {
            Method::POST => {
                let object = body.unwrap();
                let path = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
                match self.by_path.contains_key(&path) {
                    true => (409, json!({})),
                    false => (201, self.put(&path, object)),
                }
            }
            Method::PUT => {
                let object = body.unwrap();
                match self.by_path.get(path) {
                    None => (404, json!({})),
                    Some(there) if version(there) != version(&object) => (409, json!({})),
                    Some(_) => (200, self.put(path, object)),
                }
            }
            Method::DELETE => match self.by_path.remove(path) {
                Some(object) => (200, object),
                None => (404, json!({})),
            },
            _ => match self.by_path.get(path) {
                Some(object) => (200, object.clone()),
                None if path.ends_with('s') => (200, self.list(path, uri.query())),
                None => (404, json!({})),
            },
        }
    }

    /// Those below a path; with a label, where the query names one.
    fn list(&self, path: &str, query: Option<&str>) -> Value {
        let below = format!("{path}/");
        let label = query.and_then(|query| {
            let selector = query.split('&').find_map(|part| part.strip_prefix("labelSelector="))?;
            Some(selector.replace("%2F", "/"))
        });
        let items = self.by_path.iter().filter(|(path, object)| {
            let has = |label: &String| object["metadata"]["labels"].get(label).is_some();
            path.starts_with(&below) && label.as_ref().is_none_or(has)
        });
        let items: Vec<&Value> = items.map(|(_, object)| object).collect();
        json!({ "metadata": { "resourceVersion": self.version.to_string() }, "items": items })
    }
}

type Hook = Box<dyn FnMut(&Method, &str, &mut Objects) -> Then + Send>;

struct State {
    objects: Objects,
    hook: Hook,
    /// Connections that were made.
    connections: usize,
    /// So many of the first ones are silent.
    silent: usize,
    asked: usize,
}

/// See the module.
#[derive(Clone)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
    url: String,
}

impl Fake {
    pub(crate) async fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (objects, hook): (_, Hook) = (Objects::default(), Box::new(|_, _, _| Then::Goes));
        let state = State { objects, hook, connections: 0, silent: 0, asked: 0 };
        let fake = Fake { state: Arc::new(Mutex::new(state)), url };
        let server = fake.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let number = {
                    let mut state = server.lock();
                    state.connections += 1;
                    state.connections
                };
                let server = server.clone();
                let answer = service_fn(move |asked| {
                    let server = server.clone();
                    async move { Ok::<_, Infallible>(server.answer(number, asked).await) }
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                tokio::spawn(served);
            }
        });
        fake
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn connector(&self) -> Connector {
        Connector::of(kube::Config::new(self.url.parse().unwrap()))
    }

    /// Looks at every request before it is carried out.
    pub(crate) fn on(
        &self,
        hook: impl FnMut(&Method, &str, &mut Objects) -> Then + Send + 'static,
    ) {
        self.lock().hook = Box::new(hook);
    }

    /// All connections that are open say nothing from now on; new ones do.
    pub(crate) fn freeze(&self) {
        let mut state = self.lock();
        state.silent = state.connections;
    }

    pub(crate) fn objects<T>(&self, with: impl FnOnce(&mut Objects) -> T) -> T {
        with(&mut self.lock().objects)
    }

    /// Requests that came in.
    pub(crate) fn asked(&self) -> usize {
        self.lock().asked
    }

    async fn answer(&self, connection: usize, asked: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = asked.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).ok();
        let (then, code, answer) = {
            let mut state = self.lock();
            state.asked += 1;
            let State { objects, hook, silent, .. } = &mut *state;
            let then = match connection <= *silent {
                true => Then::Silent,
                false => hook(&parts.method, parts.uri.path(), objects),
            };
            match then {
                Then::Silent | Then::Refused(_) => (then, 0, Value::Null),
                _ => {
                    let (code, answer) = objects.carry_out(&parts.method, &parts.uri, body);
                    (then, code, answer)
                }
            }
        };
        let (code, mut answer) = match then {
            Then::Silent => std::future::pending().await,
            Then::DoneBut(other) => (other, json!({})),
            Then::Refused(_) => (422, json!({})),
            Then::Goes => (code, answer),
        };
        if code >= 400 {
            let reason = if code == 404 { "NotFound" } else { "Told" };
            let message = match then {
                Then::Refused(why) => why.to_owned(),
                _ => format!("code {code}"),
            };
            answer = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure",
                "message": message, "reason": reason, "code": code });
        }
        let body = Full::new(Bytes::from(answer.to_string()));
        Response::builder().status(code).body(body).unwrap()
    }
}
