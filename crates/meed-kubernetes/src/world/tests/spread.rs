//! Many pods at once that are to be spread.

use super::*;

fn spread_pod(number: usize) -> Pod {
    let uid = format!("u{number}");
    let selector = json!({ "matchLabels": { "app": "web" } });
    let one = json!({ "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector });
    let own = json!({ "metadata": { "name": uid, "labels": { "app": "web" } },
        "spec": { "topologySpreadConstraints": [one] } });
    pod(&uid, "binds", own)
}

/// Each decision starts what the spread allows, and no pod is forgotten.
#[test]
fn all_of_a_large_deployment_are_spread() {
    const PODS: usize = 300;
    let mut test = Test::new();
    let now = test.later();
    for name in ["n1", "n2"] {
        test.world.node_gone(name, now).unwrap();
    }
    for number in 0..60 {
        let name = format!("m{number:02}");
        let mut node = node(&name, 8);
        let zone = ["a", "b", "c"][number % 3];
        node.metadata.labels = Some([("zone".to_owned(), zone.to_owned())].into());
        test.world.node_seen(&node, now).unwrap();
    }
    for number in 0..PODS {
        test.seen(&spread_pod(number));
    }
    let (mut zones, mut decisions) = ([0usize; 3], 0);
    while zones.iter().sum::<usize>() < PODS {
        for start in test.starts() {
            let node: usize = start.node[1..].parse().unwrap();
            zones[node % 3] += 1;
            let (least, most) = (zones.iter().min().unwrap(), zones.iter().max().unwrap());
            assert!(most - least <= 1, "{zones:?}");
        }
        decisions += 1;
        assert!(decisions <= 2 * PODS, "{zones:?} after {decisions} decisions");
    }
    assert_eq!(zones, [100, 100, 100]);
}
