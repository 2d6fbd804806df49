//! Files of machines: the first byte chooses Google's, Alea's or those of a cluster's own
//! scheduler, the rest is the file.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{kinds, shares};
use meed_workload::cluster::read_cluster;
use meed_workload::google::read_machine_events;
use meed_workload::machines::MachineChange;
use meed_workload::mwf::read_machines;
use meed_workload::{OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let origin = Origin::bytes("f", file);
    if choice & 2 != 0 {
        if let Ok(Ok(machines)) = read_cluster(&origin).map(|read| read.machines(&kinds())) {
            assert!(machines.nodes.iter().all(|node| !node.capacity.is_zero()));
        }
        return;
    }
    let read = |policy| match choice & 1 {
        0 => read_machine_events(&origin, &shares(), policy),
        _ => read_machines(&origin, &kinds(), policy),
    };
    let strict = read(OnBadLine::Stop);
    let machines = match read(OnBadLine::Skip) {
        Ok(machines) => machines,
        Err(error) => return assert!(strict.is_err(), "{error}"),
    };
    assert_eq!(strict.is_ok(), machines.bad() == 0, "strict fails on wrong lines only");
    let mut there = BTreeSet::new();
    for node in &machines.nodes {
        assert!(there.insert(node.name.clone()) && !node.capacity.is_zero());
    }
    let mut last = meed::Time::ZERO;
    for (at, change) in &machines.changes {
        assert!(*at >= last, "changes are in order of time");
        last = *at;
        match change {
            MachineChange::Joins(node) => assert!(there.insert(node.name.clone())),
            MachineChange::Leaves(name) => assert!(there.remove(name)),
            MachineChange::Resized(name, capacity) =>
                assert!(there.contains(name) && !capacity.is_zero()),
        }
    }
});
