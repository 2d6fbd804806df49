//! Leader election: one Lease, compare and swap, the monotonic clock.
//!
//! | rule | why |
//! |---|---|
//! | every write is a PUT with the resourceVersion that was read | of two that try, one gets 409 |
//! | a lease is stale when *I* have seen no renewal for its duration | clocks of others do not matter |
//! | `leaseTransitions` rises at each taking, by whomever | it is the epoch: a number for each term |
//! | who could not renew for [`GIVE_UP`] ends the process | another may lead from [`DURATION`] on |
//!
//! Invariant: two holders never believe to lead at one time, as long as the monotonic clocks run at
//! the same rate to a third; what a stopped process still sends is refused by the fence (the
//! admission policies), for its epoch is old.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use crate::board::Board;
use crate::clock::{monotonic, unix_micros};
use crate::error::{KubernetesError, is_code};

/// After so long without a renewal others may take the lease.
pub(crate) const DURATION: Duration = Duration::from_secs(15);
/// How often the leader renews, and others look.
pub(crate) const RENEW: Duration = Duration::from_secs(2);
/// After so long without success the leader gives up.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(10);

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

/// A lease that this process holds.
pub(crate) struct Held {
    api: Api<Lease>,
    lease: Lease,
    me: String,
    taken: i64,
    /// The term.
    pub(crate) epoch: i32,
}

/// Waits until this process leads.
pub(crate) async fn take(
    client: &Client,
    namespace: &str,
    name: &str,
    me: &str,
    board: &Board,
) -> Result<Held, KubernetesError> {
    let api: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let begin = monotonic();
    let mut watched = Watched::default();
    loop {
        let lease = match api.get(name).await {
            Ok(lease) => Some(lease),
            Err(error) if is_code(&error, 404) => {
                let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
                let lease = Lease { metadata, spec: None };
                match api.create(&PostParams::default(), &lease).await {
                    Ok(lease) => Some(lease),
                    Err(error) if is_code(&error, 409) => None,
                    Err(error) => return Err(KubernetesError::api("make the lease", error)),
                }
            }
            Err(error) if is_code(&error, 403) => {
                return Err(KubernetesError::api("read the lease", error));
            }
            Err(_) => None,
        };
        if let Some(lease) = lease {
            board.is_well();
            let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref());
            board.leader_is(holder.unwrap_or_default());
            let wall = unix_micros();
            let step = watched.step(&lease, me, begin.elapsed(), wall);
            if let Step::Take(wanted) = step
                && let Ok(lease) = api.replace(name, &PostParams::default(), &wanted).await
            {
                let epoch = lease.spec.as_ref().and_then(|spec| spec.lease_transitions);
                let (me, epoch) = (me.to_owned(), epoch.unwrap_or(0));
                return Ok(Held { api, lease, me, taken: wall, epoch });
            }
        }
        tokio::time::sleep(RENEW).await;
    }
}

impl Held {
    /// Renews until it cannot: then this process must do nothing more. Says why.
    pub(crate) async fn keep(&mut self) -> String {
        let mut renewed = monotonic();
        loop {
            tokio::time::sleep(RENEW).await;
            let asked = monotonic();
            let mut wanted = self.lease.clone();
            wanted.spec = Some(held(&self.me, self.epoch, self.taken, unix_micros()));
            let name = wanted.metadata.name.clone().unwrap_or_default();
            let left = GIVE_UP.saturating_sub(renewed.elapsed());
            let parameters = PostParams::default();
            let put = self.api.replace(&name, &parameters, &wanted);
            match tokio::time::timeout(left, put).await {
                Ok(Ok(lease)) => (self.lease, renewed) = (lease, asked),
                Ok(Err(error)) if is_code(&error, 409) => match self.api.get(&name).await {
                    // Somebody touched its labels, or a write of ours was answered late.
                    Ok(lease) if self.is_mine(&lease) => self.lease = lease,
                    Ok(_) => return "another process has taken the lease".to_owned(),
                    Err(_) => {}
                },
                Ok(Err(_)) | Err(_) => {}
            }
            if renewed.elapsed() >= GIVE_UP {
                return format!("the lease could not be renewed for {} s", GIVE_UP.as_secs());
            }
        }
    }

    fn is_mine(&self, lease: &Lease) -> bool {
        let spec = lease.spec.as_ref();
        spec.is_some_and(|spec| {
            spec.holder_identity.as_deref() == Some(self.me.as_str())
                && spec.lease_transitions == Some(self.epoch)
        })
    }

    /// Lets go, so that the next need not wait.
    pub(crate) async fn release(mut self) {
        let name = self.lease.metadata.name.clone().unwrap_or_default();
        if let Some(spec) = &mut self.lease.spec {
            spec.holder_identity = Some(String::new());
        }
        // Where that fails, the next waits until the lease is stale.
        drop(self.api.replace(&name, &PostParams::default(), &self.lease).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
