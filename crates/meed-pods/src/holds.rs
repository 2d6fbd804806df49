//! How much a pod holds.

use std::fmt;

use meed::Resources;
use meed::resources::MAX_AMOUNT;

/// Whether a request of the whole pod (`spec.resources`) counts for this resource.
pub fn is_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// A sum of requests that is larger than can be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sum of its requests is larger than can be counted")
    }
}

impl std::error::Error for TooLarge {}

/// How kube-scheduler counts a pod that is resized in place: a matter of its version. The page of
/// [`PodHolds`] has an example of what a pod holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resizes {
    /// The largest of the sums over all containers: from Kubernetes 1.37 on.
    #[default]
    OfPod,
    /// The sum of what is largest of each container: up to 1.36.
    OfContainers,
}

impl Resizes {
    /// That of a version of Kubernetes, by its minor number: 1.`minor`.
    pub fn of_minor(minor: u32) -> Resizes {
        if minor < 37 { Resizes::OfContainers } else { Resizes::OfPod }
    }
}

/// What one container asks for, and has.
///
/// The example of [`PodHolds`] has three.
#[derive(Clone, Copy, Debug)]
pub struct ContainerHolds {
    spec: Resources,
    allocated: Option<Resources>,
    actual: Option<Resources>,
    is_sidecar: bool,
}

impl ContainerHolds {
    /// As its spec says: `resources.requests`.
    pub fn new(spec: Resources) -> ContainerHolds {
        ContainerHolds { spec, allocated: None, actual: None, is_sidecar: false }
    }

    /// What the kubelet has set aside: `allocatedResources` of its status.
    pub fn allocated(self, allocated: Option<Resources>) -> ContainerHolds {
        ContainerHolds { allocated, ..self }
    }

    /// What it runs with: `resources.requests` of its status.
    pub fn actual(self, actual: Option<Resources>) -> ContainerHolds {
        ContainerHolds { actual, ..self }
    }

    /// An init container that runs on beside all that come after it: `restartPolicy: Always`.
    pub fn sidecar(self, is_sidecar: bool) -> ContainerHolds {
        ContainerHolds { is_sidecar, ..self }
    }

    /// The largest of what is told, where its state is; only what runs on has one that counts.
    fn largest(&self, is_infeasible: bool) -> Resources {
        let Some(actual) = &self.actual else { return self.spec };
        let mut most = *actual;
        if let Some(allocated) = &self.allocated {
            raise(&mut most, allocated);
        }
        if !is_infeasible {
            raise(&mut most, &self.spec);
        }
        most
    }

    /// Where nothing is told of an allocation the spec is all that is known.
    fn of(&self, told: Told) -> &Resources {
        let allocated = self.allocated.as_ref().unwrap_or(&self.spec);
        match told {
            Told::Spec => &self.spec,
            Told::Allocated => allocated,
            Told::Actual => self.actual.as_ref().unwrap_or(allocated),
        }
    }
}

/// The three places where requests stand.
#[derive(Clone, Copy, Debug)]
enum Told {
    Spec,
    Allocated,
    Actual,
}

/// Amounts of some kinds of resources only.
type Part = Vec<(usize, u64)>;

/// What a pod asks for, and has: see the crate for the rule.
///
/// ```
/// use meed::Resources;
/// use meed_pods::{ContainerHolds, PodHolds};
///
/// let cores = |milli| ContainerHolds::new(Resources::new(&[milli]));
/// let mut pod = PodHolds::new(1);
/// pod.container(cores(500));
/// pod.container(cores(250));
/// pod.init_container(cores(600)); // done before the containers run, and smaller than their sum
/// assert_eq!(pod.amounts()?, Resources::new(&[750]));
/// pod.overhead(Resources::new(&[50]));
/// assert_eq!(pod.amounts()?, Resources::new(&[800]));
/// # Ok::<(), meed_pods::TooLarge>(())
/// ```
#[derive(Clone, Debug)]
pub struct PodHolds {
    kinds: usize,
    containers: Vec<ContainerHolds>,
    init: Vec<ContainerHolds>,
    level: Part,
    allocated: Option<Part>,
    actual: Option<Part>,
    overhead: Resources,
    is_infeasible: bool,
    resizes: Resizes,
}

impl PodHolds {
    /// A pod of a cluster with so many kinds of resources, which asks for nothing yet.
    pub fn new(kinds: usize) -> PodHolds {
        PodHolds {
            kinds,
            containers: Vec::new(),
            init: Vec::new(),
            level: Vec::new(),
            allocated: None,
            actual: None,
            overhead: Resources::zero(kinds),
            is_infeasible: false,
            resizes: Resizes::default(),
        }
    }

    /// One more container.
    pub fn container(&mut self, container: ContainerHolds) {
        self.containers.push(container);
    }

    /// One more init container, in the order of the pod.
    pub fn init_container(&mut self, container: ContainerHolds) {
        self.init.push(container);
    }

    /// Requests of the whole pod, `spec.resources.requests`: kinds ([`is_pod_level`]) and amounts.
    pub fn level(&mut self, requests: Vec<(usize, u64)>) {
        self.level = requests;
    }

    /// What the kubelet has set aside for the whole pod (`status.allocatedResources`), and what the
    /// pod runs with (`status.resources.requests`); both with the overhead.
    pub fn status(
        &mut self,
        allocated: Option<Vec<(usize, u64)>>,
        actual: Option<Vec<(usize, u64)>>,
    ) {
        (self.allocated, self.actual) = (allocated, actual);
    }

    /// What its runtime class adds.
    pub fn overhead(&mut self, overhead: Resources) {
        self.overhead = overhead;
    }

    /// Its last resize cannot be given by its node.
    pub fn infeasible(&mut self, is_infeasible: bool) {
        self.is_infeasible = is_infeasible;
    }

    /// How a resize counts.
    pub fn resizes(&mut self, resizes: Resizes) {
        self.resizes = resizes;
    }

    /// What counts.
    ///
    /// # Errors
    ///
    /// The sum cannot be counted.
    pub fn amounts(&self) -> Result<Resources, TooLarge> {
        let mut all = self.of_containers()?;
        for (kind, amount) in self.of_level() {
            all.as_mut_slice()[kind] = amount;
        }
        add(&mut all, &self.overhead)?;
        Ok(all)
    }

    /// Steps 1 to 3.
    fn of_containers(&self) -> Result<Resources, TooLarge> {
        if self.resizes == Resizes::OfContainers {
            return self.largest_of_each();
        }
        let (mut most, mut actual) = match (&self.allocated, &self.actual) {
            (Some(allocated), Some(actual)) if !allocated.is_empty() => {
                (self.without_overhead(allocated), self.without_overhead(actual))
            }
            _ => (self.sum(Told::Allocated)?, self.sum(Told::Actual)?),
        };
        if !self.is_infeasible {
            raise(&mut actual, &self.sum(Told::Spec)?);
        }
        raise(&mut most, &actual);
        Ok(most)
    }

    /// Steps 1 to 3 up to 1.36.
    fn largest_of_each(&self) -> Result<Resources, TooLarge> {
        self.sum_of(|container, runs_on| match runs_on {
            true => container.largest(self.is_infeasible),
            false => container.spec,
        })
    }

    fn sum(&self, told: Told) -> Result<Resources, TooLarge> {
        self.sum_of(|container, _| *container.of(told))
    }

    /// Step 1, of what each container counts and whether it runs on once all have started.
    fn sum_of(
        &self,
        of: impl Fn(&ContainerHolds, bool) -> Resources,
    ) -> Result<Resources, TooLarge> {
        let zero = Resources::zero(self.kinds);
        let mut running = zero;
        for container in &self.containers {
            add(&mut running, &of(container, true))?;
        }
        let (mut sidecars, mut starting) = (zero, zero);
        for container in &self.init {
            let mut own = of(container, container.is_sidecar);
            add(&mut own, &sidecars)?;
            raise(&mut starting, &own);
            if container.is_sidecar {
                sidecars = own;
            }
        }
        add(&mut running, &sidecars)?;
        raise(&mut running, &starting);
        Ok(running)
    }

    /// Step 4: what takes the place of the sum.
    fn of_level(&self) -> Part {
        if self.level.is_empty() {
            return Vec::new();
        }
        let told = [&self.allocated, &self.actual].into_iter().flatten();
        let told: Vec<&Part> = told.filter(|told| !told.is_empty()).collect();
        let mut most = match self.is_infeasible && !told.is_empty() {
            true => Vec::new(),
            false => self.level.clone(),
        };
        for &(kind, amount) in told.into_iter().flatten() {
            let amount = amount.saturating_sub(self.overhead.get(kind));
            match most.iter_mut().find(|(one, _)| *one == kind) {
                Some((_, most)) => *most = amount.max(*most),
                None => most.push((kind, amount)),
            }
        }
        most
    }

    fn without_overhead(&self, told: &Part) -> Resources {
        let mut all = Resources::zero(self.kinds);
        for &(kind, amount) in told {
            all.as_mut_slice()[kind] = amount.saturating_sub(self.overhead.get(kind));
        }
        all
    }
}

fn add(sum: &mut Resources, more: &Resources) -> Result<(), TooLarge> {
    for (sum, more) in sum.as_mut_slice().iter_mut().zip(more.as_slice()) {
        *sum = sum.checked_add(*more).filter(|both| *both <= MAX_AMOUNT).ok_or(TooLarge)?;
    }
    Ok(())
}

fn raise(most: &mut Resources, other: &Resources) {
    for (most, other) in most.as_mut_slice().iter_mut().zip(other.as_slice()) {
        *most = (*most).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(amount: u64) -> Resources {
        Resources::new(&[amount])
    }

    /// A container as spec, allocation, actual; 0: not told.
    fn container([spec, allocated, actual]: [u64; 3]) -> ContainerHolds {
        let told = |amount: u64| (amount > 0).then(|| of(amount));
        ContainerHolds::new(of(spec)).allocated(told(allocated)).actual(told(actual))
    }

    fn pod(containers: &[[u64; 3]]) -> PodHolds {
        let mut pod = PodHolds::new(1);
        containers.iter().for_each(|&one| pod.container(container(one)));
        pod
    }

    fn held(pod: &PodHolds) -> u64 {
        pod.amounts().unwrap().get(0)
    }

    /// Rows: containers, init containers (whether one is a sidecar), what counts.
    #[test]
    fn containers_and_sidecars_add_up_and_the_largest_init_container_counts() {
        for (containers, init, expected) in [
            (&[1][..], &[][..], 1),
            (&[1, 2], &[], 3),
            (&[1, 2], &[(2, false)], 3),
            (&[1, 2], &[(4, false), (1, false)], 4),
            (&[1], &[(1, true)], 2),
            (&[1], &[(3, false), (1, true)], 3),
            (&[1], &[(1, true), (3, false)], 4),
            (&[1], &[(1, true), (1, true)], 3),
            (&[], &[], 0),
        ] {
            let rows: Vec<_> = containers.iter().map(|&one| [one, 0, 0]).collect();
            let mut pod = pod(&rows);
            for &(amount, is_sidecar) in init {
                pod.init_container(container([amount, 0, 0]).sidecar(is_sidecar));
            }
            assert_eq!(held(&pod), expected, "{containers:?} {init:?}");
        }
    }

    /// The rows of a resize as Kubernetes 1.37.2 counted them, measured on its scheduler.
    #[test]
    fn of_a_resize_the_largest_sum_counts_and_no_spec_that_is_infeasible() {
        for (containers, is_infeasible, expected) in [
            (&[[1, 1, 1]][..], false, 1),
            (&[[3, 1, 1]], false, 3),
            (&[[3, 3, 1]], false, 3),
            (&[[2, 3, 3]], false, 3),
            (&[[2, 2, 2]], false, 2),
            // Deferred: the node may give it later.
            (&[[10, 2, 2]], false, 10),
            (&[[10, 1, 1]], true, 1),
            (&[[64, 2, 0]], true, 2),
            // a 1 to 3, b 3 to 1.
            (&[[3, 1, 1], [1, 3, 3]], false, 4),
            (&[[5, 0, 0]], true, 5),
        ] {
            let mut pod = pod(containers);
            pod.infeasible(is_infeasible);
            assert_eq!(held(&pod), expected, "{containers:?} {is_infeasible}");
        }
    }

    /// The same rows as Kubernetes 1.36 counts them: of each container what is largest.
    #[test]
    fn up_to_1_36_the_largest_of_each_container_counts() {
        for (containers, is_infeasible, expected) in [
            (&[[3, 1, 1], [1, 3, 3]][..], false, 6),
            (&[[3, 1, 1]], false, 3),
            (&[[2, 3, 3]], false, 3),
            (&[[10, 1, 1]], true, 1),
            // Nothing is told of what it runs with: the spec counts.
            (&[[5, 0, 0]], true, 5),
        ] {
            let mut pod = pod(containers);
            pod.resizes(Resizes::of_minor(36));
            pod.infeasible(is_infeasible);
            assert_eq!(held(&pod), expected, "{containers:?} {is_infeasible}");
        }
        // An init container that ends counts as its spec says.
        let mut pod = pod(&[[1, 1, 1]]);
        pod.init_container(container([2, 9, 9]));
        pod.resizes(Resizes::OfContainers);
        assert_eq!(held(&pod), 2);
        assert_eq!([36, 37, 38].map(Resizes::of_minor)[1..], [Resizes::OfPod; 2]);
    }

    /// Rows: the level's spec, allocation and actual, whether the spec is infeasible, what counts.
    #[test]
    fn requests_of_the_whole_pod_take_the_place_of_the_sum_by_the_same_rule() {
        for ([spec, allocated, actual], is_infeasible, expected) in [
            ([4, 0, 0], false, 4),
            ([2, 14, 14], false, 14),
            ([14, 2, 2], false, 14),
            ([14, 2, 2], true, 2),
            ([6, 2, 0], true, 2),
            ([6, 0, 0], true, 6),
        ] {
            let mut pod = pod(&[[1, 0, 0]]);
            let told = |amount: u64| (amount > 0).then(|| vec![(0, amount)]);
            pod.level(vec![(0, spec)]);
            pod.status(told(allocated), told(actual));
            pod.infeasible(is_infeasible);
            assert_eq!(held(&pod), expected, "{spec} {allocated} {actual} {is_infeasible}");
        }
    }

    #[test]
    fn overhead_is_added_once() {
        let mut pod = pod(&[[2, 0, 0]]);
        pod.overhead(of(1));
        assert_eq!(held(&pod), 3);
        pod.level(vec![(0, 4)]);
        assert_eq!(held(&pod), 5);
        // What the kubelet tells of a whole pod has it already.
        pod.status(Some(vec![(0, 5)]), Some(vec![(0, 5)]));
        assert_eq!(held(&pod), 5);
    }

    #[test]
    fn a_kind_that_the_level_does_not_name_keeps_the_sum() {
        let mut pod = PodHolds::new(2);
        pod.container(ContainerHolds::new(Resources::new(&[1, 7])));
        pod.level(vec![(0, 4)]);
        assert_eq!(pod.amounts().unwrap().as_slice(), [4, 7]);
    }

    #[test]
    fn a_sum_that_cannot_be_counted_is_refused() {
        assert_eq!(pod(&[[MAX_AMOUNT, 0, 0], [1, 0, 0]]).amounts(), Err(TooLarge));
    }

    #[test]
    fn a_pod_as_a_whole_asks_for_cpu_memory_and_huge_pages() {
        assert!(is_pod_level("cpu") && is_pod_level("hugepages-2Mi"));
        assert!(!is_pod_level("nvidia.com/gpu") && !is_pod_level("ephemeral-storage"));
    }
}
