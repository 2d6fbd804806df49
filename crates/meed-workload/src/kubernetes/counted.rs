//! What is said of pods and Workloads beside their rows: counts, in words. A pod or a Workload
//! counts once, however many lists have it.

/// Why an object is left out, where people are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeftOut {
    /// A pod that has ended, and nothing says when it began or ended.
    Untold,
    /// A Workload that Kueue or a person has deactivated.
    Deactivated,
    /// A Workload that has finished and was never admitted.
    NeverAdmitted,
    /// A pod, or a Workload, that requests nothing that counts beside its resource claims.
    OnlyClaims { is_workload: bool },
}

/// Pods, or Workloads, with resource claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Claims {
    all: u64,
    /// Those that request nothing else that counts, and are left out.
    only: u64,
}

impl Claims {
    /// In words, behind how many they are.
    fn words(self) -> String {
        let only = match self.only {
            0 => String::new(),
            only if only == self.all => "; left out, for nothing else is requested".to_owned(),
            only => format!("; {only} left out, for nothing else is requested"),
        };
        format!(
            "with resource claims (dynamic resource allocation): devices that only a claim names \
             are not counted{only}"
        )
    }
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Counted {
    untold: u64,
    /// Pods whose condition `DisruptionTarget` alone tells their end.
    pub(super) cut: u64,
    claims_of_pods: Claims,
    claims_of_workloads: Claims,
    /// Pods whose last resize their node could not give.
    pub(super) infeasible: u64,
    /// Some Workload was admitted with fewer pods than it asked for.
    pub(super) partial: bool,
    deactivated: u64,
    never_admitted: u64,
    /// Workloads that were evicted before, and how often in all.
    evicted: u64,
    evictions: u64,
}

impl Counted {
    /// An object is left out.
    pub(super) fn left_out(&mut self, why: LeftOut) {
        match why {
            LeftOut::Untold => self.untold += 1,
            LeftOut::Deactivated => self.deactivated += 1,
            LeftOut::NeverAdmitted => self.never_admitted += 1,
            LeftOut::OnlyClaims { is_workload } => {
                self.claims(is_workload);
                self.claims_of(is_workload).only += 1;
            }
        }
    }

    /// A pod, or a Workload, has resource claims.
    pub(super) fn claims(&mut self, is_workload: bool) {
        self.claims_of(is_workload).all += 1;
    }

    fn claims_of(&mut self, is_workload: bool) -> &mut Claims {
        if is_workload { &mut self.claims_of_workloads } else { &mut self.claims_of_pods }
    }

    /// A Workload was evicted so often before its last admission.
    pub(super) fn evicted(&mut self, times: u64) {
        self.evicted += u64::from(times > 0);
        self.evictions = self.evictions.saturating_add(times);
    }

    /// In sentences.
    pub(super) fn words(&self) -> Vec<String> {
        let are = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {many}"),
        };
        let pods = |count, rest: &str| format!("Kubernetes: {} {rest}", are(count, "pod", "pods"));
        let workloads =
            |count, rest: &str| format!("Kueue: {} {rest}", are(count, "Workload", "Workloads"));
        let mut words = Vec::new();
        if self.cut > 0 {
            let rest = "evicted, preempted or lost with a node: the condition DisruptionTarget \
                        tells the end";
            words.push(pods(self.cut, rest));
        }
        if self.untold > 0 {
            let rest = "without a word of when it began or ended (no container that has \
                        terminated, no condition DisruptionTarget): left out";
            words.push(pods(self.untold, rest));
        }
        if self.claims_of_pods.all > 0 {
            words.push(pods(self.claims_of_pods.all, &self.claims_of_pods.words()));
        }
        if self.claims_of_workloads.all > 0 {
            words.push(workloads(self.claims_of_workloads.all, &self.claims_of_workloads.words()));
        }
        if self.infeasible > 0 {
            let rest = "with a resize that no node could give: what was allocated counts";
            words.push(pods(self.infeasible, rest));
        }
        if self.partial {
            words
                .push("Kueue: pods that were admitted count, not those that were asked for".into());
        }
        if self.evicted > 0 {
            let times = are(self.evictions, "time", "times");
            let rest = format!("evicted {times} in all before: only the last admission counts");
            words.push(workloads(self.evicted, &rest));
        }
        if self.deactivated > 0 {
            words.push(workloads(self.deactivated, "deactivated: left out"));
        }
        if self.never_admitted > 0 {
            words.push(workloads(self.never_admitted, "finished and not admitted: left out"));
        }
        words
    }
}
