use super::super::cluster::{AsHadoop, Cluster, Machine, Master, SpeedChange, Speeds};
use super::super::machines::{Machines, Place};
use super::super::twin::Twin;
use super::*;
use meed::{Span, Time};
use meed_workload::generate::Stream;
use proptest::prelude::*;

const MB: u64 = 1_000_000;

pub(in super::super) fn at(micros: u64) -> Time {
    Time::from_micros(micros).expect("in range")
}

pub(in super::super) fn setting(
    machines: Vec<Machine>,
    hosts: Vec<Host>,
    seek_penalty: u32,
) -> Cluster {
    Cluster {
        machines,
        hosts,
        changes: Vec::new(),
        heartbeat: Span::ZERO,
        block_bytes: 1,
        replicas: 1,
        seek_penalty,
        uplink_bytes_per_s: None,
        start_up: Span::ZERO,
        master: Master::default(),
        output_copies: 1,
        as_hadoop: AsHadoop::default(),
    }
}

fn machine(cores: u32, hosts: HostsOf) -> Machine {
    let speeds = Speeds { core: 1000, disk_bytes_per_s: MB, network_bytes_per_s: MB };
    Machine {
        name: String::new(),
        cores,
        speeds,
        rack: 0,
        hosts,
        cache_bytes: None,
        memory_bytes: None,
        task_bytes: 0,
        map_slots: 1,
        reduce_slots: 1,
    }
}

fn host(cores: Option<u32>, disk: Option<u64>, network: Option<u64>) -> Host {
    let (name, seek_penalty) = (String::new(), 0);
    Host {
        name,
        cores,
        disk_bytes_per_s: disk,
        seek_penalty,
        network_bytes_per_s: network,
        memory_bytes: None,
    }
}

#[test]
fn machines_get_their_part_of_a_host_and_nobody_more_than_its_own() {
    let on = HostsOf { cores: Some(0), disk: Some(0), ..HostsOf::default() };
    let machines = vec![machine(1, on), machine(1, on), machine(2, on), machine(1, on)];
    let hosts = vec![host(Some(2), Some(3 * MB / 2), None)];
    let mut all = Machines::new(&setting(machines, hosts, 0));
    // Two of two processors: each has one.
    all.start(at(0), Place::Cores(0), 0, 600);
    all.start(at(0), Place::Cores(1), 1, 600);
    assert_eq!(all.next(), Some(at(600)));
    // Four on two from 300 on, of which two on one machine: each has half of one.
    all.start(at(300), Place::Cores(2), 2, 600);
    all.start(at(300), Place::Cores(2), 3, 600);
    assert_eq!(all.next(), Some(at(900)));
    assert_eq!((all.pop(at(900)), all.pop(at(900)), all.pop(at(900))), (Some(0), Some(1), None));
    // The others have done 300 of 600, and have two processors now.
    assert_eq!(all.next(), Some(at(1200)));
    // A disk alone gives its 1 MB/s; two have 0.75 each, whatever runs on either.
    all.start(at(900), Place::Disk(0), 4, MB);
    all.start(at(900), Place::Disk(3), 5, MB);
    all.start(at(900), Place::Disk(3), 6, MB);
    let ends: Vec<_> = std::iter::from_fn(|| {
        let at = all.next()?;
        Some((at.as_micros(), all.pop(at)?))
    })
    .collect();
    // Machine 0 has read after 4/3 s; then each of the others has read half, and the rest comes
    // at 0.5 MB/s each.
    assert_eq!(ends[..3], [(1200, 2), (1200, 3), (900 + 1_333_334, 4)]);
    assert_eq!(ends[3..], [(900 + 2_333_334, 5), (900 + 2_333_334, 6)]);
}

pub(in super::super) fn draw(stream: &mut Stream) -> (Vec<Machine>, Vec<Host>, u32) {
    let mut some = |most: u64| stream.below(most);
    let hosts = (0..1 + some(3)).map(|_| Host {
        name: String::new(),
        cores: Some(1 + some(4) as u32),
        disk_bytes_per_s: Some(1_000_000 + some(100_000_000)),
        seek_penalty: [0, 10, 300][some(3) as usize],
        network_bytes_per_s: Some(1_000_000 + some(100_000_000)),
        memory_bytes: None,
    });
    let hosts: Vec<Host> = hosts.collect();
    let count = hosts.len() as u64;
    let machines = (0..1 + some(7)).map(|_| {
        let mut on = || Some(some(count + 1) as u32).filter(|&on| u64::from(on) < count);
        let hosts = HostsOf { cores: on(), disk: on(), network: on(), memory: None };
        let speeds = Speeds {
            core: 500 + some(1000) as u32,
            disk_bytes_per_s: 1_000_000 + some(100_000_000),
            network_bytes_per_s: 1_000_000 + some(100_000_000),
        };
        Machine { speeds, ..machine(1 + some(3) as u32, hosts) }
    });
    (machines.collect(), hosts, [0, 100, 500][some(3) as usize])
}

proptest! {
    /// Random machines on random hosts, work at random instants, speeds that change: every end
    /// is when the formulas say, as far as whole bytes a second can say it.
    #[test]
    fn ends_are_those_of_the_twin(seed in any::<u64>()) {
        let mut stream = Stream::new(seed, "hosts");
        let (machines, hosts, penalty) = draw(&mut stream);
        let mut all = Machines::new(&setting(machines.clone(), hosts.clone(), penalty));
        let count = machines.len();
        let mut twin = Twin::new(machines, hosts, penalty);
        let mut ends: Vec<Option<u64>> = vec![None; 60];
        let mut run = |all: &mut Machines, to: u64| {
            while let Some(end) = all.next().filter(|end| end.as_micros() <= to) {
                while let Some(user) = all.pop(end) {
                    ends[user as usize] = Some(end.as_micros());
                }
            }
        };
        let mut now = 0;
        for user in 0..60u32 {
            let node = stream.below(count as u64) as usize;
            let (place, work) = match stream.below(3) {
                0 => (Place::Cores(node), 1 + stream.below(3_000_000)),
                1 => (Place::Disk(node), 1 + stream.below(60_000_000)),
                _ => (Place::Network(node), 1 + stream.below(60_000_000)),
            };
            now += [0, stream.below(1_000_000)][stream.below(2) as usize];
            run(&mut all, now);
            twin.run(now as f64);
            if stream.below(8) == 0 {
                let core = 300 + stream.below(1500) as u32;
                let bytes_per_s = 1_000_000 + stream.below(100_000_000);
                let change = SpeedChange {
                    at: at(now),
                    node,
                    core: Some(core),
                    disk_bytes_per_s: Some(bytes_per_s),
                    network_bytes_per_s: Some(bytes_per_s),
                };
                all.change(at(now), &change);
                let speeds = &mut twin.machines[node].speeds;
                speeds.core = core;
                speeds.disk_bytes_per_s = bytes_per_s;
                speeds.network_bytes_per_s = bytes_per_s;
            }
            all.start(at(now), place, user, work);
            twin.start(user, place, work);
        }
        run(&mut all, 1 << 50);
        twin.run(f64::INFINITY);
        for (user, end) in (0..).zip(&ends) {
            let (end, expected) = (end.expect("it ended"), twin.ends[&user]);
            let off = (end as f64 - expected).abs();
            prop_assert!(off <= 100.0 + 1e-4 * expected, "{end} for {expected}");
        }
    }
}
