//! What is let go and not bound, and what is bound, is never more than the nodes have.

use std::collections::BTreeMap;

use super::*;

/// A cluster whose kube-scheduler is this test: it knows what runs where.
struct Cluster {
    test: Test,
    /// Cores of each node, in tenths.
    nodes: BTreeMap<String, u64>,
    /// Pods that are let go: what each asks for, the instant, and the node where it is bound.
    pods: BTreeMap<String, LetGo>,
    /// What pods that wait ask for.
    waits: BTreeMap<String, u64>,
}

#[derive(Clone)]
struct LetGo {
    tenths: u64,
    started: i64,
    chosen: String,
    node: Option<String>,
}

fn asks(uid: &str, tenths: u64, more: Value) -> Pod {
    let mut pod = serde_json::to_value(pod(uid, "gates", json!({}))).unwrap();
    pod["metadata"]["name"] = uid.into();
    let requests = &mut pod["spec"]["containers"][0]["resources"]["requests"];
    (requests["cpu"], requests["memory"]) = (format!("{}m", tenths * 100).into(), "1Mi".into());
    lay(&mut pod, more);
    serde_json::from_value(pod).unwrap()
}

impl Cluster {
    fn new(cores: &[u32]) -> Cluster {
        let mut test = Test::new();
        let now = test.later();
        for name in ["n1", "n2"] {
            test.world.node_gone(name, now).unwrap();
        }
        let mut nodes = BTreeMap::new();
        for (number, &cores) in (1..).zip(cores) {
            let name = format!("m{number}");
            test.world.node_seen(&node(&name, cores), now).unwrap();
            nodes.insert(name, u64::from(cores) * 10);
        }
        Cluster { test, nodes, pods: BTreeMap::new(), waits: BTreeMap::new() }
    }

    fn comes(&mut self, uid: &str, tenths: u64) {
        self.test.seen(&asks(uid, tenths, json!({})));
        self.waits.insert(uid.to_owned(), tenths);
    }

    /// Who is let go now; all that is promised must be there.
    fn decides(&mut self) -> Vec<String> {
        let mut started = Vec::new();
        for start in self.test.starts() {
            let uid = start.pod.uid.clone();
            let tenths = self.waits.remove(&uid).expect("it waits");
            let (started_at, chosen) = (start.started, start.node);
            let one = LetGo { tenths, started: started_at, chosen, node: None };
            self.pods.insert(uid.clone(), one);
            self.test.answered(&uid, Found::Done);
            self.seen(&uid, json!({}));
            started.push(uid);
        }
        let promised: u64 = self.pods.values().map(|pod| pod.tenths).sum();
        let has: u64 = self.nodes.values().sum();
        assert!(promised <= has, "{promised} of {has} tenths are held or let go");
        started
    }

    fn form(&self, uid: &str, more: Value) -> Pod {
        let LetGo { tenths, started, chosen, node } = &self.pods[uid];
        let notes = json!({ "meed.dev/started": started.to_string(), "meed.dev/node": chosen,
            "meed.dev/charged": "gates" });
        let mut all = json!({ "metadata": { "annotations": notes },
            "spec": { "schedulingGates": null, "nodeName": node } });
        lay(&mut all, more);
        asks(uid, *tenths, all)
    }

    fn seen(&mut self, uid: &str, more: Value) {
        let pod = self.form(uid, more);
        self.test.seen(&pod);
    }

    /// kube-scheduler says that no node has room for it.
    fn is_unschedulable(&mut self, uid: &str) {
        let condition = json!({ "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable" });
        self.seen(uid, json!({ "status": { "conditions": [condition] } }));
    }

    fn free(&self, node: &str) -> u64 {
        let here = |pod: &&LetGo| pod.node.as_deref() == Some(node);
        let held: u64 = self.pods.values().filter(here).map(|pod| pod.tenths).sum();
        self.nodes[node].checked_sub(held).expect("no node is overfull")
    }

    fn binds(&mut self, uid: &str, node: &str) {
        assert!(self.free(node) >= self.pods[uid].tenths, "{uid} has no room on {node}");
        self.pods.get_mut(uid).unwrap().node = Some(node.to_owned());
        self.seen(uid, json!({}));
    }

    fn ends(&mut self, uid: &str) {
        let pod = self.form(uid, json!({ "status": { "phase": "Succeeded" } }));
        self.test.gone(&pod);
        self.pods.remove(uid);
    }

    fn pass(&mut self, seconds: u64) {
        self.test.now = self.test.now.saturating_add(Span::from_secs(seconds).unwrap());
    }
}

/// On m1 one core is free, on m2 two; a pod of one core is let go for m1 and one of two for m2, and
/// kube-scheduler binds the small one on m2. The large one is assumed nowhere then.
fn displaced() -> Cluster {
    let mut cluster = Cluster::new(&[2, 2]);
    cluster.comes("runs", 10);
    assert_eq!(cluster.decides(), ["runs"]);
    cluster.binds("runs", "m1");
    cluster.comes("large", 20);
    assert_eq!(cluster.decides(), ["large"]);
    cluster.comes("small", 10);
    assert_eq!(cluster.decides(), ["small"]);
    cluster.binds("small", "m2");
    cluster.comes("next", 10);
    cluster
}

#[test]
fn what_is_free_is_not_let_go_twice_where_a_pod_cannot_change_places() {
    let mut cluster = displaced();
    assert_eq!(cluster.decides(), [""; 0], "the core that is free is promised");
    // Nor later: what is let go counts as long as room is kept for it.
    cluster.pass(40);
    assert_eq!(cluster.decides(), [""; 0]);
    // Room for it comes free, on either node.
    for ended in ["runs", "small"] {
        let mut cluster = displaced();
        assert_eq!(cluster.decides(), [""; 0]);
        cluster.ends(ended);
        assert_eq!(cluster.decides(), ["next"], "{ended} has ended");
    }
}

/// A pod that kube-scheduler tries again later finds its room, whatever smaller ones wait.
#[test]
fn gaps_are_kept_free_while_a_pod_that_was_let_go_is_unschedulable() {
    for is_told in [false, true] {
        let mut cluster = displaced();
        assert_eq!(cluster.decides(), [""; 0]);
        if is_told {
            cluster.is_unschedulable("large");
        }
        cluster.ends("runs");
        let expected: &[&str] = if is_told { &[] } else { &["next"] };
        assert_eq!(cluster.decides(), expected, "m2 has one core free, which is a gap");
        if !is_told {
            continue;
        }
        let look = cluster.test.world.next_look().expect("it is looked at by itself");
        assert!(look.as_secs() <= 30, "{look:?}");
        // Its room is there, and it is not taken: it waits for something else.
        cluster.pass(30);
        assert_eq!(cluster.decides(), ["next"]);
        cluster.binds("next", "m2");
        cluster.binds("large", "m1");
        assert_eq!(cluster.decides(), [""; 0]);
    }
}

/// Pods as large hold nobody up who could change places with them.
#[test]
fn pods_as_large_are_let_go_beside_one_that_is_unschedulable() {
    let mut cluster = Cluster::new(&[2, 2]);
    cluster.comes("first", 20);
    assert_eq!(cluster.decides(), ["first"]);
    cluster.is_unschedulable("first");
    cluster.comes("second", 20);
    assert_eq!(cluster.decides(), ["second"]);
}

/// Ordinary pods of three sizes, more than fit at once; kube-scheduler takes the emptiest node,
/// sees pods in any order, and tries some of them later only. All run, and the nodes are well used.
#[test]
fn under_random_mixes_no_more_is_promised_than_there_is() {
    let mut dice = 7_u64;
    let mut below = move |bound: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % bound
    };
    let mut cluster = Cluster::new(&[4; 10]);
    cluster.test.world.patience = Span::from_secs(1_000_000).unwrap();
    let names: Vec<String> = cluster.nodes.keys().cloned().collect();
    let (mut made, mut ended) = (0, 0);
    let mut held_while_pods_wait = Vec::new();
    for _ in 0..2000 {
        for _ in 0..2 {
            if made < 1000 {
                cluster.comes(&format!("p{made:04}"), [10, 10, 14, 20][below(4)]);
                made += 1;
            }
        }
        let mut open: Vec<String> = {
            let open = cluster.pods.iter().filter(|(_, pod)| pod.node.is_none());
            open.map(|(uid, _)| uid.clone()).collect()
        };
        while !open.is_empty() {
            let uid = open.swap_remove(below(open.len()));
            let tenths = cluster.pods[&uid].tenths;
            let node = names.iter().max_by_key(|name| cluster.free(name)).unwrap();
            match cluster.free(node) >= tenths {
                _ if below(4) == 0 => {}
                true => cluster.binds(&uid, node),
                false => cluster.is_unschedulable(&uid),
            }
        }
        let bound = cluster.pods.iter().filter(|(_, pod)| pod.node.is_some());
        let bound: Vec<(String, u64)> = bound.map(|(uid, pod)| (uid.clone(), pod.tenths)).collect();
        if cluster.waits.len() > 20 {
            held_while_pods_wait.push(bound.iter().map(|(_, tenths)| tenths).sum::<u64>());
        }
        for (uid, _) in bound.into_iter().filter(|_| below(20) == 0).collect::<Vec<_>>() {
            cluster.ends(&uid);
            ended += 1;
        }
        cluster.decides();
    }
    assert_eq!((made, ended), (1000, 1000), "all have run");
    let mean = held_while_pods_wait.iter().sum::<u64>() / held_while_pods_wait.len() as u64;
    assert!(mean >= 340, "{mean} of 400 tenths are held in the mean");
}
