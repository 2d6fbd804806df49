//! Who asks, and what of the cluster they see: the API server says both.
//!
//! | asked | by | then |
//! |---|---|---|
//! | whose is this token | TokenReview | nobody's: 401 |
//! | may they list pods everywhere | SubjectAccessReview | they see all |
//! | may they list pods in this namespace | the same, for each that has to do with Meed | they see these, and queues that these may use; of none: 403 |
//!
//! What was answered holds for [`HOLDS`], then it is asked again: so long a revoked token, or a
//! right that was taken away, is good at most. Unknown tokens are remembered as such for a moment.
//! Reviews at a time are bounded, over all who ask, so that nobody makes the API server work by
//! guessing; of requests that come together with one token one asks, and the others wait for it.
//!
//! Cost: one review for a token, and one for each namespace that Meed serves, each [`HOLDS`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use http::StatusCode;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::doors::{Hash, hash};
use super::question::{Refused, Sees};
use crate::clock::monotonic;

/// For so long an answer of the API server holds.
const HOLDS: Duration = Duration::from_secs(60);
/// And so long one that nobody has this token.
const UNKNOWN_HOLDS: Duration = Duration::from_secs(10);
/// Tokens that are remembered.
const MOST: usize = 4096;
/// The longest token: of identity providers they are some thousand characters.
const LONGEST: usize = 16_384;
/// Reviews of tokens, and of rights, at a time.
const REVIEWS: usize = 4;
const RIGHTS: usize = 8;
/// Tokens whose rights are asked for at a time.
const PLACES: usize = 16;
/// Namespaces that are asked for one user; those behind them by name they do not see.
const MOST_NAMESPACES: usize = 2000;
/// A review without an answer after so long has failed.
const PATIENCE: Duration = Duration::from_secs(8);

/// Somebody whom the API server knows.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) user: UserInfo,
}

impl Person {
    pub(super) fn name(&self) -> &str {
        self.user.username.as_deref().unwrap_or_default()
    }
}

#[derive(Clone)]
struct Known {
    /// `None`: nobody's.
    person: Option<Arc<Person>>,
    sees: Option<(Arc<Sees>, Instant)>,
    until: Instant,
}

/// See the module.
pub(super) struct Porter {
    client: Client,
    known: Mutex<BTreeMap<Hash, Known>>,
    reviews: Semaphore,
    rights: Semaphore,
    /// Who asks for what somebody sees, by token: few share a place by chance.
    asking: [tokio::sync::Mutex<()>; PLACES],
}

impl Porter {
    pub(super) fn new(client: Client) -> Porter {
        Porter {
            client,
            known: Mutex::default(),
            reviews: Semaphore::new(REVIEWS),
            rights: Semaphore::new(RIGHTS),
            asking: Default::default(),
        }
    }

    fn with<T>(&self, read: impl FnOnce(&mut BTreeMap<Hash, Known>) -> T) -> T {
        read(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn remember(&self, token: Hash, known: Known) {
        let now = monotonic();
        self.with(|all| {
            if all.len() >= MOST {
                all.retain(|_, known| known.until > now);
            }
            if all.len() >= MOST {
                // Of those that nobody has.
                all.retain(|_, known| known.person.is_some());
            }
            if all.len() < MOST {
                all.insert(token, known);
            }
        });
    }

    /// Whose a token is.
    pub(super) async fn person(&self, token: &str) -> Result<Arc<Person>, Refused> {
        let nobody =
            || Refused::new(StatusCode::UNAUTHORIZED, "the API server does not know this token");
        let is_token = |byte: u8| byte.is_ascii_graphic();
        if token.is_empty() || token.len() > LONGEST || !token.bytes().all(is_token) {
            return Err(nobody());
        }
        let (key, now) = (hash(token), monotonic());
        let known = |all: &mut BTreeMap<Hash, Known>| {
            all.get(&key).filter(|known| known.until > now).map(|known| known.person.clone())
        };
        if let Some(person) = self.with(known) {
            return person.ok_or_else(nobody);
        }
        let busy = || Refused::busy("the API server does not say whose this token is; try again");
        let turn = timeout(PATIENCE, self.reviews.acquire()).await;
        let _turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let review = TokenReview {
            spec: TokenReviewSpec { token: token.to_owned(), audiences: None },
            ..TokenReview::default()
        };
        let api: Api<TokenReview> = Api::all(self.client.clone());
        let made = timeout(PATIENCE, api.create(&PostParams::default(), &review)).await;
        let status = made.map_err(|_| busy())?.map_err(|_| busy())?.status.unwrap_or_default();
        let user = status.user.filter(|user| {
            status.authenticated == Some(true)
                && user.username.as_ref().is_some_and(|name| !name.is_empty())
        });
        let person = user.map(|user| Arc::new(Person { user }));
        let holds = if person.is_some() { HOLDS } else { UNKNOWN_HOLDS };
        self.remember(key, Known { person: person.clone(), sees: None, until: now + holds });
        person.ok_or_else(nobody)
    }

    /// What somebody sees, where that was asked a moment ago.
    pub(super) fn seen(&self, token: &str) -> Option<Arc<Sees>> {
        let (key, now) = (hash(token), monotonic());
        self.with(|all| {
            let (sees, until) = all.get(&key)?.sees.clone()?;
            (until > now).then_some(sees)
        })
    }

    /// What somebody sees of these namespaces.
    pub(super) async fn sees(
        &self,
        token: &str,
        person: &Person,
        namespaces: Vec<String>,
    ) -> Result<Arc<Sees>, Refused> {
        let place = usize::from(hash(token)[0]) % PLACES;
        let _turn = self.asking[place].lock().await;
        if let Some(sees) = self.seen(token) {
            // Another request of the same token has asked meanwhile.
            return Ok(sees);
        }
        let sees = match self.may_list(person, None).await? {
            true => Sees::All,
            false => {
                let asked = namespaces.into_iter().take(MOST_NAMESPACES);
                let mut asked = stream::iter(asked)
                    .map(|namespace| async move {
                        let may = self.may_list(person, Some(&namespace)).await?;
                        Ok::<_, Refused>(may.then_some(namespace))
                    })
                    .buffer_unordered(RIGHTS);
                let mut own = BTreeSet::new();
                while let Some(one) = asked.next().await {
                    own.extend(one?);
                }
                Sees::Namespaces(own)
            }
        };
        let sees = Arc::new(sees);
        let (key, until) = (hash(token), monotonic() + HOLDS);
        self.with(|all| {
            if let Some(known) = all.get_mut(&key) {
                known.sees = Some((Arc::clone(&sees), until));
            }
        });
        Ok(sees)
    }

    async fn may_list(&self, person: &Person, namespace: Option<&str>) -> Result<bool, Refused> {
        let busy = || Refused::busy("the API server does not say what you may see; try again");
        let user = &person.user;
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: user.username.clone(),
                uid: user.uid.clone(),
                groups: user.groups.clone(),
                extra: user.extra.clone(),
                resource_attributes: Some(ResourceAttributes {
                    namespace: namespace.map(str::to_owned),
                    verb: Some("list".to_owned()),
                    resource: Some("pods".to_owned()),
                    ..ResourceAttributes::default()
                }),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let turn = timeout(PATIENCE, self.rights.acquire()).await;
        let _turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let api: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let made = timeout(PATIENCE, api.create(&PostParams::default(), &review)).await;
        let status = made.map_err(|_| busy())?.map_err(|_| busy())?.status;
        Ok(status.is_some_and(|status| status.allowed && status.denied != Some(true)))
    }
}
