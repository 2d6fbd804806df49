//! One kind of objects: listed once, and followed from there on.
//!
//! | the API server | then |
//! |---|---|
//! | ends a watch | it goes on from the version that was heard last, bookmarks included |
//! | says 410, in a watch or as the answer to one | that version is too old: all are listed anew |
//! | cannot be asked, or refuses otherwise | tried again, with longer and longer pauses |
//! | is silent for [`SILENT`] in a watch | a new one goes on from the version that was heard last |
//! | is silent otherwise | the request fails ([`crate::connect`]), and is tried again |
//!
//! What is listed comes as `Init`, `InitApply` for each, `InitDone`; what is not among those is
//! gone ([`crate::relist::Relist`]). Lists are the most recent ones: one from the server's cache
//! may be older than what the leader before wrote.
//!
//! A selector of fields is for lists alone. In a watch with a selector the API server tells an
//! object that the selector leaves out from now on as deleted, in the form that it had *before*:
//! what has changed of it is not told. Without one the object comes as it is.
//!
//! A standby must know that it has heard all that the leader before it wrote. It asks the API
//! server for the version of now, and asks this task to hear up to there ([`Follow::wanted`]). The
//! watch is cut, and goes on from where it stood with a short time limit. Shortly before the limit
//! the server sends a bookmark: the version up to which it has told everything. Where none comes in
//! two such watches all are listed anew; a list that began after the question is an answer, too.
//!
//! Cost: one request for each [`PAGE`] objects, one for each five minutes of following. Objects are
//! read page by page; what is not needed of them is dropped before they are passed on.

use std::fmt::Debug;
use std::time::Duration;

use futures::StreamExt as _;
use kube::Client;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::core::{ObjectMeta, Request};
use kube::runtime::watcher::Event;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use crate::clock::monotonic;
use crate::error::is_code;
use crate::heard::Heard;
use crate::log;

/// Objects in one page of a list.
const PAGE: u32 = 500;
/// The pause after an error, and the longest one.
const PAUSE: Duration = Duration::from_millis(800);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The time limit of a watch, in seconds.
const LASTS: u32 = 290;
/// The time limit of one that is to say how far it is: the server's bookmark comes 2 s before.
const CATCHES_UP: u32 = 3;
/// A watch that says nothing for so long beyond its time limit is dead.
const LATE: Duration = Duration::from_secs(5);
/// And so is one that says nothing at all for so long: the server sends a bookmark every minute.
/// Where it sends none the watch goes on from where it stands, which costs one request.
pub(crate) const SILENT: Duration = Duration::from_secs(75);
/// Watches that did not say how far they are, before all is listed anew.
const ATTEMPTS: u32 = 2;

/// A list, without the fields that would have all of it read twice.
#[derive(Deserialize)]
struct List<K> {
    #[serde(default)]
    metadata: ListMeta,
    items: Option<Vec<K>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct ListMeta {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    next: Option<String>,
}

/// The pages of a list, one after the other.
pub(crate) struct Pages {
    client: Client,
    request: Request,
    next: Option<ListParams>,
    /// The version of the whole list, once a page was read.
    version: Option<String>,
}

impl Pages {
    /// All objects below a path, or those that a selector of fields chooses.
    pub(crate) fn of(client: &Client, url: &str, fields: Option<&str>) -> Pages {
        let mut page = ListParams::default().limit(PAGE);
        if let Some(fields) = fields {
            page = page.fields(fields);
        }
        let (client, request) = (client.clone(), Request::new(url.to_owned()));
        Pages { client, request, next: Some(page), version: None }
    }

    /// The next page; `None` when there is none.
    pub(crate) async fn next<K: DeserializeOwned>(
        &mut self,
    ) -> Result<Option<Vec<K>>, kube::Error> {
        let Some(page) = self.next.take() else { return Ok(None) };
        let request = self.request.list(&page).map_err(kube::Error::BuildRequest)?;
        let list: List<K> = self.client.request(request).await?;
        self.version = list.metadata.resource_version.filter(|version| !version.is_empty());
        let next = list.metadata.next.filter(|token| !token.is_empty());
        self.next = next.map(|token| page.continue_token(&token));
        Ok(Some(list.items.unwrap_or_default()))
    }
}

/// See the module.
pub(crate) struct Follow<K> {
    client: Client,
    url: String,
    /// Which objects a list shows.
    fields: Option<&'static str>,
    meta: fn(&K) -> &ObjectMeta,
    heard: mpsc::Sender<Heard>,
    /// Up to which version it is to be heard; 0: nobody asks.
    wanted: Option<watch::Receiver<u64>>,
    /// The version that was heard last.
    at: Option<String>,
    /// Up to where it was said that it is heard.
    said: u64,
    /// Short watches that did not say how far they are.
    vain: u32,
}

/// Why a list or a watch ended.
enum Ended {
    /// Nobody listens.
    Over,
    /// What was heard last is too old.
    TooOld,
    /// Somebody wants to know up to where it is heard.
    Asked,
    Wrong(kube::Error),
}

impl From<kube::Error> for Ended {
    fn from(error: kube::Error) -> Ended {
        match is_code(&error, 410) {
            true => Ended::TooOld,
            false => Ended::Wrong(error),
        }
    }
}

impl<K: DeserializeOwned + Clone + Debug + Send + 'static> Follow<K> {
    /// Follows all objects below a path.
    pub(crate) fn new(
        client: &Client,
        url: String,
        meta: fn(&K) -> &ObjectMeta,
        heard: &mpsc::Sender<Heard>,
    ) -> Follow<K> {
        let (client, heard) = (client.clone(), heard.clone());
        let (fields, wanted, at) = (None, None, None);
        Follow { client, url, fields, meta, heard, wanted, at, said: 0, vain: 0 }
    }

    /// Lists only those that a selector of fields chooses; all objects are followed.
    pub(crate) fn lists(self, fields: &'static str) -> Follow<K> {
        Follow { fields: Some(fields), ..self }
    }

    /// Says when it has heard up to the version that is asked for.
    pub(crate) fn wanted(self, wanted: watch::Receiver<u64>) -> Follow<K> {
        Follow { wanted: Some(wanted), ..self }
    }

    /// Follows until nobody listens; `say` is what is passed on.
    pub(crate) async fn run(mut self, say: impl Fn(Event<K>) -> Heard + Send + Sync) {
        let mut pause = PAUSE;
        loop {
            let (began, from) = (monotonic(), self.at.clone());
            let ended = match from.clone() {
                None => self.list(&say).await,
                Some(version) => self.watch(&version, &say).await,
            };
            let why = match ended {
                Ok(()) if self.at != from || began.elapsed() >= PAUSE => {
                    pause = PAUSE;
                    continue;
                }
                Err(Ended::Asked) => continue,
                // The server ends watches as soon as they begin.
                Ok(()) => "it ended at once".to_owned(),
                Err(Ended::Over) => return,
                Err(Ended::TooOld) => {
                    self.at = None;
                    "what was heard last is too old, so all are listed anew".to_owned()
                }
                Err(Ended::Wrong(why)) => {
                    if self.at != from {
                        pause = PAUSE;
                    }
                    why.to_string()
                }
            };
            log::line(&format!("a watch begins anew: {why}"));
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    async fn pass(&self, heard: Heard) -> Result<(), Ended> {
        self.heard.send(heard).await.map_err(|_| Ended::Over)
    }

    async fn list(&mut self, say: &(impl Fn(Event<K>) -> Heard + Sync)) -> Result<(), Ended> {
        // The list is younger than the question.
        let asked = self.asked();
        self.pass(say(Event::Init)).await?;
        let mut pages = Pages::of(&self.client, &self.url, self.fields);
        while let Some(page) = pages.next::<K>().await? {
            for object in page {
                self.pass(say(Event::InitApply(object))).await?;
            }
        }
        self.pass(say(Event::InitDone)).await?;
        self.at = pages.version;
        self.vain = 0;
        self.is_heard_to(asked).await
    }

    async fn watch(
        &mut self,
        version: &str,
        say: &(impl Fn(Event<K>) -> Heard + Sync),
    ) -> Result<(), Ended> {
        if let Some(wanted) = &mut self.wanted {
            wanted.mark_unchanged();
        }
        let is_short = self.asked() > self.said;
        let lasts = if is_short { CATCHES_UP } else { LASTS };
        let params = WatchParams::default().timeout(lasts);
        let request = Request::new(self.url.clone()).watch(&params, version);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let events = self.client.request_events::<K>(request).await?;
        let mut events = std::pin::pin!(events);
        let patience = SILENT.min(Duration::from_secs(u64::from(lasts)) + LATE);
        loop {
            let next = tokio::select! {
                next = timeout(patience, events.next()) => next,
                () = changed(&mut self.wanted), if !is_short => return Err(Ended::Asked),
            };
            // It has ended, or is dead: it goes on from where it stands.
            let Ok(Some(event)) = next else { break };
            let (version, event) = match event? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    (self.version(&object), Some(Event::Apply(object)))
                }
                WatchEvent::Deleted(object) => (self.version(&object), Some(Event::Delete(object))),
                WatchEvent::Bookmark(mark) => (Some(mark.metadata.resource_version), None),
                WatchEvent::Error(status) => return Err(kube::Error::Api(status).into()),
            };
            if let Some(event) = event {
                self.pass(say(event)).await?;
            }
            self.at = version.or_else(|| self.at.take());
            let at = self.at.as_ref().and_then(|at| at.parse().ok()).unwrap_or(0);
            if at >= self.asked() {
                self.is_heard_to(at).await?;
            }
        }
        if is_short && self.asked() > self.said {
            self.vain += 1;
            if self.vain >= ATTEMPTS {
                log::line("a watch does not say how far it is: all are listed anew");
                self.at = None;
            }
        }
        Ok(())
    }

    fn version(&self, object: &K) -> Option<String> {
        (self.meta)(object).resource_version.clone()
    }

    /// Up to where somebody wants to know that it was heard.
    fn asked(&self) -> u64 {
        self.wanted.as_ref().map_or(0, |wanted| *wanted.borrow())
    }

    /// Whoever asked is told, once.
    async fn is_heard_to(&mut self, version: u64) -> Result<(), Ended> {
        if self.asked() <= self.said || version < self.asked() {
            return Ok(());
        }
        (self.said, self.vain) = (self.asked(), 0);
        self.pass(Heard::UpTo(self.said)).await
    }
}

/// Waits until somebody asks.
async fn changed(wanted: &mut Option<watch::Receiver<u64>>) {
    if let Some(wanted) = wanted
        && wanted.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
