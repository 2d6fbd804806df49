//! What became of an order.
//!
//! | the API said | then |
//! |---|---|
//! | done | the watch confirms it; a pod that was let go waits for kube-scheduler |
//! | gone, or another pod of that name | the start is undone, and the pod's job withdrawn |
//! | bound, here or elsewhere | as if the watch had shown it: ours, or moved |
//! | unbound, being deleted | undone and withdrawn |
//! | unbound, and could be bound | undone: it waits again |
//!
//! After any refusal whoever wrote has read the pod ([`crate::writer`]): every error of a binding
//! may be one whose outcome is unknown. An answer about a pod that the watch has settled meanwhile
//! changes nothing.

use meed::Time;

use super::answer::{Answer, Found};
use super::{Stand, World, must};
use crate::error::KubernetesError;
use crate::pod::PodSeen;

impl World {
    /// An order was answered.
    pub(crate) fn answered(&mut self, answer: Answer, now: Time) -> Result<(), KubernetesError> {
        let Answer { uid, found } = answer;
        let Some(Stand::Sent(placed)) = self.pods.get(&uid).map(|row| row.stand.clone()) else {
            return Ok(());
        };
        match found {
            Found::Done => {
                let binds = self.driver.job(placed.job).is_some_and(|job| job.detail.binds);
                if !binds {
                    self.is_let_go(&uid, placed, None);
                }
                Ok(())
            }
            Found::Gone => {
                self.never_began(placed, now)?;
                self.drop_rule(&uid);
                self.stands(&uid, Stand::Over);
                Ok(())
            }
            Found::Pod(pod, why) => {
                let seen = PodSeen::of(&pod, self.counts());
                let is_settled =
                    seen.node.is_some() || seen.end.is_some() || (!seen.ours && !seen.held);
                match (is_settled, seen.deleting) {
                    (true, _) => self.pod_seen(seen, now),
                    (false, true) => {
                        self.never_began(placed, now)?;
                        self.drop_rule(&uid);
                        self.stands(&uid, Stand::Over);
                        Ok(())
                    }
                    (false, false) => {
                        self.told = true;
                        must(self.driver.start_failed(now, placed.task, Some(&why)))?;
                        self.stands(&uid, Stand::Waits(placed.job));
                        self.say(&uid, "StartFailed", why);
                        Ok(())
                    }
                }
            }
        }
    }
}
