//! Leader election: one Lease, compare and swap, the monotonic clock.
//!
//! | rule | why |
//! |---|---|
//! | every write is a PUT with the resourceVersion that was read | of two that try, one gets 409 |
//! | a lease is stale when *I* have seen no renewal for its duration | clocks of others do not matter |
//! | `leaseTransitions` rises at each taking, by whomever | it is the epoch: a number for each term |
//! | an epoch is higher than that of the ledger, too | a Lease that was deleted begins at 0 again |
//! | a request has [`ATTEMPT`] | a connection that is silent takes one attempt, not all of them |
//! | who could not renew for [`GIVE_UP`] ends the process | another may lead from [`DURATION`] on |
//!
//! Invariant: two holders never believe to lead at one time, as long as the monotonic clocks run at
//! the same rate to a third; what a stopped process still sends is refused by the fence (the
//! admission policies), for its epoch is old. The fence compares with the copy of the Lease that an
//! API server keeps, which may be behind: who is refused reads the Lease itself ([`Claim`]).

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::time::timeout;

use crate::board::Board;
use crate::clock::{monotonic, unix_micros};
use crate::error::{KubernetesError, is_code};
use crate::{ledger, log};

/// After so long without a renewal others may take the lease.
pub(crate) const DURATION: Duration = Duration::from_secs(15);
/// How often the leader renews, and others look.
pub(crate) const RENEW: Duration = Duration::from_secs(2);
/// After so long without success the leader gives up.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(10);
/// A request of the election without an answer has failed after so long, and is sent again.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(3);
/// The pause before a renewal that failed is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// What a candidate has seen of the lease.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// The version that was seen last, and when it was first seen by this process's clock.
    seen: Option<(String, Duration)>,
}

/// What a candidate does next.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Step {
    /// Another leads, or may.
    Wait,
    /// It writes this.
    Take(Box<Lease>),
}

impl Watched {
    /// The lease was read at `now`; what `me` does.
    pub(crate) fn step(&mut self, lease: &Lease, me: &str, now: Duration, wall: i64) -> Step {
        let spec = lease.spec.clone().unwrap_or_default();
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        let first = match &self.seen {
            Some((seen, first)) if *seen == version => *first,
            _ => {
                self.seen = Some((version, now));
                now
            }
        };
        let is_free = spec.holder_identity.as_deref().is_none_or(str::is_empty);
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let lasts = seconds.map_or(DURATION, Duration::from_secs);
        if !is_free && now.saturating_sub(first) < lasts {
            return Step::Wait;
        }
        let epoch = spec.lease_transitions.unwrap_or(0).saturating_add(1);
        let metadata = lease.metadata.clone();
        Step::Take(Box::new(Lease { metadata, spec: Some(held(me, epoch, wall, wall)) }))
    }
}

fn held(me: &str, epoch: i32, taken: i64, renewed: i64) -> LeaseSpec {
    let time = |micros| Timestamp::from_microsecond(micros).map(MicroTime).ok();
    LeaseSpec {
        holder_identity: Some(me.to_owned()),
        lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
        lease_transitions: Some(epoch),
        acquire_time: time(taken),
        renew_time: time(renewed),
        ..LeaseSpec::default()
    }
}

/// Who leads, in which term, by one Lease.
#[derive(Clone)]
pub(crate) struct Claim {
    api: Api<Lease>,
    name: String,
    holder: String,
    epoch: i32,
}

impl Claim {
    pub(crate) fn holder(&self) -> &str {
        &self.holder
    }

    /// The number of the term.
    pub(crate) fn epoch(&self) -> i32 {
        self.epoch
    }

    /// Whether the database says that the term is over. A Lease that cannot be read does not say
    /// so: the renewals find out in time.
    pub(crate) async fn is_over(&self) -> bool {
        match timeout(ATTEMPT, self.api.get(&self.name)).await {
            Ok(Ok(lease)) => !self.is_of(&lease),
            Ok(Err(error)) => is_code(&error, 404),
            Err(_) => false,
        }
    }

    fn is_of(&self, lease: &Lease) -> bool {
        let spec = lease.spec.as_ref();
        spec.is_some_and(|spec| {
            spec.holder_identity.as_deref() == Some(self.holder.as_str())
                && spec.lease_transitions == Some(self.epoch)
        })
    }
}

/// A lease that this process holds.
pub(crate) struct Held {
    claim: Claim,
    lease: Lease,
    taken: i64,
    /// Renewals that had no answer: what they wrote, and when they were sent.
    sent: Vec<(Option<MicroTime>, Instant)>,
}

/// A lease in its namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseName<'n> {
    pub(crate) namespace: &'n str,
    pub(crate) name: &'n str,
}

/// Waits until this process leads; `client` is one of [`crate::connect::Connector::for_lease`].
///
/// # Errors
///
/// The lease may not be read or made; the ledger cannot be understood.
pub(crate) async fn take(
    client: &Client,
    LeaseName { namespace, name }: LeaseName<'_>,
    me: &str,
    board: &Board,
) -> Result<Held, KubernetesError> {
    let api: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let begin = monotonic();
    let mut watched = Watched::default();
    let mut is_told = false;
    loop {
        match read(&api, name).await {
            Ok(lease) => {
                is_told = false;
                board.is_well();
                let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
                board.leader_is(holder.unwrap_or_default());
                let wall = unix_micros();
                if let Step::Take(wanted) = watched.step(&lease, me, begin.elapsed(), wall)
                    && let Some(lease) = write(&api, client, namespace, *wanted).await?
                {
                    let epoch = lease.spec.as_ref().and_then(|spec| spec.lease_transitions);
                    let (name, holder) = (name.to_owned(), me.to_owned());
                    let claim = Claim { api, name, holder, epoch: epoch.unwrap_or(0) };
                    return Ok(Held { claim, lease, taken: wall, sent: Vec::new() });
                }
            }
            Err(why) if is_code(&why, 403) => {
                return Err(KubernetesError::api("read or make the lease", why));
            }
            Err(why) => {
                if !std::mem::replace(&mut is_told, true) {
                    log::line(&format!("the lease cannot be read: {why}; tried again"));
                }
            }
        }
        tokio::time::sleep(RENEW).await;
    }
}

/// The lease; it is made where there is none.
async fn read(api: &Api<Lease>, name: &str) -> Result<Lease, kube::Error> {
    match api.get(name).await {
        Err(error) if is_code(&error, 404) => {}
        read => return read,
    }
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let made = api.create(&PostParams::default(), &Lease { metadata, spec: None }).await;
    match made {
        // Another has made it.
        Err(error) if is_code(&error, 409) => api.get(name).await,
        made => made,
    }
}

/// Takes the lease with an epoch above that of the ledger; none: it could not be taken now.
async fn write(
    api: &Api<Lease>,
    client: &Client,
    namespace: &str,
    mut wanted: Lease,
) -> Result<Option<Lease>, KubernetesError> {
    let ledger = match ledger::last_epoch(client, namespace).await {
        Ok(epoch) => epoch,
        Err(why @ KubernetesError::Ledger { .. }) => return Err(why),
        // The epoch must not be guessed.
        Err(_) => return Ok(None),
    };
    raise(&mut wanted, ledger);
    let name = wanted.metadata.name.clone().unwrap_or_default();
    Ok(api.replace(&name, &PostParams::default(), &wanted).await.ok())
}

/// The epoch of a lease that is to be taken is above the ledger's: the lease may have been deleted,
/// or the ledger may be that of another cluster.
fn raise(wanted: &mut Lease, ledger: i32) {
    if let Some(spec) = &mut wanted.spec {
        let epoch = spec.lease_transitions.unwrap_or(0);
        spec.lease_transitions = Some(epoch.max(ledger.saturating_add(1)));
    }
}

/// What became of a renewal.
enum Renewal {
    /// The lease is held since then.
    Done(Instant),
    /// It may succeed when it is tried again.
    Failed,
    /// Another leads, or may.
    Lost(&'static str),
}

impl Held {
    pub(crate) fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Renews until it cannot: then this process must do nothing more. Says why.
    pub(crate) async fn keep(&mut self) -> String {
        let mut renewed = monotonic();
        let mut pause = RENEW;
        loop {
            tokio::time::sleep(pause.min(GIVE_UP.saturating_sub(renewed.elapsed()))).await;
            let left = GIVE_UP.saturating_sub(renewed.elapsed());
            pause = match timeout(left.min(ATTEMPT), self.renew()).await {
                Ok(Renewal::Done(since)) => {
                    (self.sent, renewed) = (Vec::new(), since);
                    RENEW
                }
                Ok(Renewal::Lost(why)) => return why.to_owned(),
                Ok(Renewal::Failed) | Err(_) => AGAIN,
            };
            if renewed.elapsed() >= GIVE_UP {
                return format!("the lease could not be renewed for {} s", GIVE_UP.as_secs());
            }
        }
    }

    /// One attempt.
    async fn renew(&mut self) -> Renewal {
        let mut wanted = self.lease.clone();
        let Claim { api, name, holder, epoch } = &self.claim;
        let spec = held(holder, *epoch, self.taken, unix_micros());
        let asked = monotonic();
        self.sent.push((spec.renew_time.clone(), asked));
        wanted.spec = Some(spec);
        match api.replace(name, &PostParams::default(), &wanted).await {
            Ok(lease) => {
                self.lease = lease;
                return Renewal::Done(asked);
            }
            Err(error) if is_code(&error, 409) || is_code(&error, 404) => {}
            Err(_) => return Renewal::Failed,
        }
        match api.get(name).await {
            // Somebody touched its labels; or a renewal was carried out, and its answer is late.
            Ok(lease) if self.claim.is_of(&lease) => {
                let told = lease.spec.as_ref().and_then(|spec| spec.renew_time.clone());
                self.lease = lease;
                let carried_out = self.sent.iter().rfind(|(sent, _)| *sent == told);
                carried_out.map_or(Renewal::Failed, |(_, since)| Renewal::Done(*since))
            }
            Ok(_) => Renewal::Lost("another process has taken the lease"),
            Err(error) if is_code(&error, 404) => Renewal::Lost("the lease was deleted"),
            Err(_) => Renewal::Failed,
        }
    }

    /// Lets go, so that the next need not wait.
    pub(crate) async fn release(mut self) {
        if let Some(spec) = &mut self.lease.spec {
            spec.holder_identity = Some(String::new());
        }
        // Where that fails, the next waits until the lease is stale.
        let Claim { api, name, .. } = &self.claim;
        drop(api.replace(name, &PostParams::default(), &self.lease).await);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fake::{Fake, Then};

    fn lease(version: &str, holder: Option<&str>, epoch: i32) -> Lease {
        let metadata =
            ObjectMeta { resource_version: Some(version.to_owned()), ..ObjectMeta::default() };
        let spec = LeaseSpec {
            holder_identity: holder.map(str::to_owned),
            lease_duration_seconds: Some(15),
            lease_transitions: Some(epoch),
            ..LeaseSpec::default()
        };
        Lease { metadata, spec: Some(spec) }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn epoch_of(step: Step) -> Option<i32> {
        match step {
            Step::Wait => None,
            Step::Take(lease) => lease.spec.and_then(|spec| spec.lease_transitions),
        }
    }

    #[test]
    fn a_free_lease_is_taken_at_once_with_the_next_epoch() {
        for (holder, epoch, expected) in [(None, 0, 1), (Some(""), 7, 8)] {
            let step = Watched::default().step(&lease("1", holder, epoch), "me", at(0), 0);
            assert_eq!(epoch_of(step), Some(expected));
        }
        let fresh = Lease::default();
        assert_eq!(epoch_of(Watched::default().step(&fresh, "me", at(0), 0)), Some(1));
    }

    #[test]
    fn a_held_lease_is_stale_when_no_renewal_was_seen_for_its_duration() {
        let mut watched = Watched::default();
        let held = |version: &str| lease(version, Some("other"), 3);
        // Seen first at 100 s: whatever its times say, it is measured from there.
        assert_eq!(watched.step(&held("1"), "me", at(100), 0), Step::Wait);
        assert_eq!(watched.step(&held("1"), "me", at(114), 0), Step::Wait);
        assert_eq!(watched.step(&held("2"), "me", at(115), 0), Step::Wait, "it was renewed");
        assert_eq!(watched.step(&held("2"), "me", at(129), 0), Step::Wait);
        assert_eq!(epoch_of(watched.step(&held("2"), "me", at(130), 0)), Some(4));
    }

    #[test]
    fn a_process_of_the_same_name_gets_an_epoch_of_its_own() {
        let mut watched = Watched::default();
        let mine = lease("1", Some("me"), 3);
        assert_eq!(watched.step(&mine, "me", at(0), 0), Step::Wait, "it may still run");
        assert_eq!(epoch_of(watched.step(&mine, "me", at(15), 0)), Some(4));
    }

    /// The leader stops before another may begin.
    const _: () = assert!(GIVE_UP.as_secs() + 2 * RENEW.as_secs() < DURATION.as_secs());
    /// An attempt that has no answer leaves time for another.
    const _: () = assert!(
        RENEW.as_millis() + 2 * (ATTEMPT.as_millis() + AGAIN.as_millis()) < GIVE_UP.as_millis()
    );

    #[test]
    fn an_epoch_is_above_that_of_the_lease_and_of_the_ledger() {
        for (transitions, ledger, expected) in [(0, 0, 1), (0, 300, 301), (7, 3, 8), (7, 8, 9)] {
            let free = lease("1", None, transitions);
            let Step::Take(mut wanted) = Watched::default().step(&free, "me", at(0), 0) else {
                panic!("nobody holds it")
            };
            raise(&mut wanted, ledger);
            let epoch = wanted.spec.unwrap().lease_transitions;
            assert_eq!(epoch, Some(expected), "{transitions} {ledger}");
        }
    }

    const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/n/leases/meed";
    const HEAD: &str = "/api/v1/namespaces/n/configmaps/meed-ledger";
    const NAME: LeaseName<'_> = LeaseName { namespace: "n", name: "meed" };

    async fn taken(fake: &Fake, me: &str) -> Held {
        let client = fake.connector().for_lease().unwrap();
        let board = Board::default();
        let take = take(&client, NAME, me, &board);
        timeout(Duration::from_secs(30), take).await.expect("it is taken").unwrap()
    }

    fn head(epoch: i32) -> serde_json::Value {
        let about = json!({ "origin": 1, "policy": "fair", "resources": [] });
        let head = json!({ "version": 1, "epoch": epoch, "about": about, "set": null });
        json!({ "data": { "head": head.to_string() } })
    }

    #[tokio::test]
    async fn a_lease_that_was_deleted_is_taken_with_the_epoch_after_the_ledgers() {
        let fake = Fake::start().await;
        assert_eq!(taken(&fake, "first").await.claim.epoch, 1, "nobody has led before");
        fake.objects(|objects| {
            objects.remove(LEASE);
            objects.put(HEAD, head(300))
        });
        assert_eq!(taken(&fake, "second").await.claim.epoch, 301);
    }

    /// Nobody takes a lease whose epoch may have been used.
    #[tokio::test]
    async fn a_lease_is_not_taken_while_the_ledger_cannot_be_read() {
        let fake = Fake::start().await;
        fake.objects(|objects| objects.put(HEAD, head(4)));
        let mut left = 1;
        fake.on(move |_, path, _| match path == HEAD && std::mem::take(&mut left) == 1 {
            true => Then::DoneBut(500),
            false => Then::Goes,
        });
        assert_eq!(taken(&fake, "me").await.claim.epoch, 5);
    }

    /// The connection of a standby goes silent; new ones work.
    #[tokio::test]
    async fn a_standby_whose_connections_are_silent_takes_the_lease() {
        let fake = Fake::start().await;
        let other = json!({ "spec": {
            "holderIdentity": "other", "leaseDurationSeconds": 4, "leaseTransitions": 1 } });
        fake.objects(|objects| objects.put(LEASE, other));
        let server = fake.clone();
        let freezes = tokio::spawn(async move {
            while server.asked() == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            server.freeze();
        });
        assert_eq!(taken(&fake, "me").await.claim.epoch, 2);
        freezes.await.unwrap();
    }

    /// A renewal on a connection that is silent is sent again on another.
    #[tokio::test]
    async fn a_leader_whose_connection_is_silent_goes_on() {
        let fake = Fake::start().await;
        let mut held = taken(&fake, "me").await;
        fake.freeze();
        let kept = timeout(GIVE_UP + RENEW, held.keep()).await;
        kept.expect_err("it keeps the lease");
    }

    /// After a 409 the lease is read; an answer that does not come ends the attempt only.
    #[tokio::test]
    async fn a_read_without_an_answer_does_not_hold_up_whoever_must_give_up() {
        let fake = Fake::start().await;
        let mut held = taken(&fake, "me").await;
        fake.on(|method, _, _| match *method {
            http::Method::GET => Then::Silent,
            _ => Then::DoneBut(409),
        });
        let begin = monotonic();
        let why = timeout(Duration::from_secs(14), held.keep()).await.expect("it gives up");
        assert!(why.contains("could not be renewed for 10 s"), "{why}");
        assert!(begin.elapsed() < Duration::from_millis(11_500), "{:?}", begin.elapsed());
    }

    /// An API server that takes longer than an attempt renews all the same.
    #[tokio::test]
    async fn a_renewal_whose_answer_is_late_counts_from_when_it_was_sent() {
        let fake = Fake::start().await;
        let mut held = taken(&fake, "me").await;
        let mut answers = true;
        fake.on(move |method, _, _| {
            answers ^= *method == http::Method::PUT;
            match answers || *method != http::Method::PUT {
                true => Then::Goes,
                false => Then::DoneBut(504),
            }
        });
        let kept = timeout(GIVE_UP + RENEW, held.keep()).await;
        kept.expect_err("it keeps the lease");
    }

    #[tokio::test]
    async fn a_leader_whose_lease_is_deleted_or_taken_ends_at_its_next_renewal() {
        for (theirs, expected) in [(None, "was deleted"), (Some("other"), "has taken")] {
            let fake = Fake::start().await;
            let mut held = taken(&fake, "me").await;
            fake.objects(|objects| match theirs {
                None => objects.remove(LEASE),
                Some(other) => {
                    let spec = json!({ "holderIdentity": other, "leaseTransitions": 2 });
                    _ = objects.put(LEASE, json!({ "spec": spec }));
                }
            });
            let why = timeout(Duration::from_secs(5), held.keep()).await.expect("it ends");
            assert!(why.contains(expected), "{why}");
        }
    }
}
