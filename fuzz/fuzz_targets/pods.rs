//! Pods and Workloads of Kubernetes: the first byte chooses the queues, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::kubernetes::{KubernetesQueues, KubernetesSource};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let queues = match choice & 3 {
        0 => KubernetesQueues::Namespace,
        1 => KubernetesQueues::Queue,
        2 => KubernetesQueues::ClusterQueue,
        _ => KubernetesQueues::Single("all".to_owned()),
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.json", file);
    let open = |policy| KubernetesSource::open(&origin, &kinds, &queues, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            assert_eq!(source.size().len(), kinds.len());
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("what was opened can be \
                read") };
            assert!(!jobs.is_empty());
            assert_eq!(strict.is_ok(), source.bad_lines().is_empty(), "strict fails on wrong lines \
                only");
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
