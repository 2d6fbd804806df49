use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(kubernetes_kinds()).unwrap()
}

fn open_as(
    text: &str,
    queues: &KubernetesQueues,
    on_bad_line: OnBadLine,
) -> Result<KubernetesSource, TraceError> {
    let origin = Origin::bytes("pods.json", text.as_bytes());
    KubernetesSource::open(&origin, &kinds(), queues, on_bad_line)
}

/// Name, queue, submission, seconds, and each group: tasks x cpu/MiB/gpu (thousandths).
fn rows(source: &mut KubernetesSource) -> Vec<String> {
    let queues = source.queues().to_vec();
    let mut rows = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(queues.len(), 3).unwrap();
        let first = &job.groups[0];
        let mut row = format!(
            "{} {} {} {}",
            job.label,
            queues[job.queue as usize],
            job.submit.as_secs_f64(),
            first.duration.get(0).as_secs_f64()
        );
        for group in &job.groups {
            let amount = |kind| group.demand.get(kind);
            let gang = if group.gang.is_some() { " gang" } else { "" };
            let mib = amount(1) >> 20;
            row += &format!(" {}x{}/{mib}/{}{gang}", group.count, amount(0), amount(2));
        }
        if let Some(limit) = first.limit {
            row += &format!(" limit {}", limit.as_secs_f64());
        }
        rows.push(row);
    }
    rows
}

fn read(text: &str, queues: &KubernetesQueues) -> Vec<String> {
    rows(&mut open_as(text, queues, OnBadLine::Stop).unwrap())
}

/// A pod as `kubectl` writes it, with some of what is passed over.
fn pod(namespace: &str, name: &str, phase: &str, times: [&str; 3], containers: &str) -> String {
    let [created, started, finished] = times;
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"creationTimestamp":"{created}",
        "labels":{{"app":"x","kueue.x-k8s.io/queue-name":"gold.q"}},"name":"{name}",
        "namespace":"{namespace}","uid":"{namespace}-{name}","resourceVersion":"7"}},
        "spec":{{"activeDeadlineSeconds":7200,"containers":[{containers}],"nodeName":"n1",
        "initContainers":[{{"name":"i","resources":{{"requests":{{"cpu":"3"}}}}}}],
        "restartPolicy":"Never","overhead":{{"memory":"1Mi"}}}},
        "status":{{"phase":"{phase}","startTime":"{created}","conditions":[{{"type":"Ready",
        "status":"False","lastTransitionTime":null}}],"containerStatuses":[{{"name":"c",
        "restartCount":0,"state":{{"terminated":{{"exitCode":0,"startedAt":"{started}",
        "finishedAt":"{finished}"}}}}}}]}}}}"#
    )
}

const TWO: &str = r#"{"name":"a","resources":{"requests":{"cpu":"1500m","memory":"1Gi"},
    "limits":{"nvidia.com/gpu":"2"}}},{"name":"b","resources":{"requests":{"cpu":2,
    "memory":"128974848000m","ephemeral-storage":"5Gi"}}}"#;

fn list(items: &[String]) -> String {
    format!(
        "{{\n \"apiVersion\": \"v1\",\n \"items\": [\n{}],\n\"kind\":\"List\"}}\n",
        items.join(",\n")
    )
}

const AT: [&str; 3] = ["2026-01-05T08:00:00Z", "2026-01-05T08:00:30Z", "2026-01-05T09:00:30Z"];

#[test]
fn pods_that_have_ended_are_jobs() {
    let before = ["2026-01-05T07:59:00Z", "2026-01-05T08:00:00Z", "2026-01-05T08:00:01Z"];
    let small = r#"{"name":"a","resources":{"requests":{"memory":"64Mi"}}}"#;
    let text = list(&[
        pod("ml.a", "train", "Succeeded", AT, TWO),
        pod("web", "migrate", "Failed", before, small),
        pod("web", "runs", "Running", AT, small),
        pod("ml.a", "train", "Succeeded", AT, TWO),
    ]);
    let expected = [
        "migrate web 0 61 1x3000/65/0 limit 7200",
        "train ml_a 60 3630 1x3500/1148/2000 limit 7200",
    ];
    let mut source = open_as(&text, &KubernetesQueues::Namespace, OnBadLine::Stop).unwrap();
    // Of GPUs and cpus both pods hold less than would keep them busy for the minute between them.
    assert_eq!((source.size()[0], source.size()[2]), (6500, 2000));
    assert_eq!(rows(&mut source), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 4, jobs: 2, bad: 0, ignored: 2 });
    let words = source.assumptions().join("\n");
    assert!(words.contains("time 0 is the first submission, 2026-01-05T07:59:00Z"), "{words}");
    let queues = read(&text, &KubernetesQueues::Queue);
    assert!(queues[1].starts_with("train ml_a.gold_q 60"), "{queues:?}");
    // Two lists in one file.
    assert_eq!(read(&text.repeat(2), &KubernetesQueues::Namespace), expected);
}

/// What an earlier list saw running is a job of the later one.
#[test]
fn a_pod_that_was_seen_before_it_ended_counts_once() {
    let one = r#"{"name":"a","resources":{"requests":{"cpu":"1"}}}"#;
    let list_of = |phase: &str| list(&[pod("ml", "train", phase, AT, one)]);
    let text = [list_of("Running"), list_of("Succeeded"), list_of("Succeeded")].concat();
    let expected = ["train ml 0 3630 1x3000/1/0 limit 7200"];
    assert_eq!(read(&text, &KubernetesQueues::Namespace), expected);
    // Of a container that was restarted only the last attempt is told: the pod held all the time.
    let again = list_of("Succeeded").replace("\"restartCount\":0", "\"restartCount\":4");
    let expected = ["train ml 0 3630 1x3000/1/0 limit 7200"];
    assert_eq!(read(&again, &KubernetesQueues::Namespace), expected);
    // A sidecar runs beside the others, and beside what starts after it.
    let sidecar = list_of("Succeeded")
        .replace("{\"name\":\"i\",", "{\"name\":\"s\",\"restartPolicy\":\"Always\",");
    let expected = ["train ml 0 3630 1x4000/1/0 limit 7200"];
    assert_eq!(read(&sidecar, &KubernetesQueues::Namespace), expected);
}

#[test]
fn workloads_of_kueue_are_gangs() {
    let workload = |name: &str, conditions: &str| {
        format!(
            r#"{{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{{
            "creationTimestamp":"2026-01-05T08:00:00Z","name":"{name}","namespace":"ml",
            "uid":"{name}"}},"spec":{{"active":true,"priority":0,"queueName":"lq",
            "maximumExecutionTimeSeconds":60,"podSets":[{{"name":"main","count":1,"template":{{
            "metadata":{{}},"spec":{{"containers":[{{"name":"c","resources":{{"requests":{{
            "cpu":"1"}}}}}}]}}}}}},{{"name":"worker","count":4,"template":{{"spec":{{"containers":
            [{{"name":"c","resources":{{"requests":{{"cpu":"2","amd.com/gpu":"1"}}}}}}]}}}}}}]}},
            "status":{{"admission":{{"clusterQueue":"cq","podSetAssignments":[]}},
            "conditions":[{conditions}]}}}}"#
        )
    };
    let condition = |name: &str, status: &str, at: &str| {
        format!(
            r#"{{"type":"{name}","status":"{status}","reason":"x","message":"y",
            "lastTransitionTime":"2026-01-05T{at}Z"}}"#
        )
    };
    let admitted = condition("Admitted", "True", "08:10:00");
    let ended = format!("{admitted},{}", condition("Finished", "True", "08:11:40"));
    let text = list(&[workload("done", &ended), workload("runs", &admitted), workload("new", "")]);
    let expected = "done QUEUE 0 100 1x1000/0/0 4x2000/0/1000 gang limit 60";
    for (queues, name) in [
        (KubernetesQueues::Namespace, "ml"),
        (KubernetesQueues::Queue, "ml.lq"),
        (KubernetesQueues::ClusterQueue, "cq"),
        (KubernetesQueues::Single("all".to_owned()), "all"),
    ] {
        assert_eq!(read(&text, &queues), [expected.replace("QUEUE", name)]);
    }
}

/// A pod of one cpu, or of this spec, that was bound at 08:00 and has this status beside.
fn pod_like(name: &str, spec: serde_json::Value, status: serde_json::Value) -> String {
    let mut whole = serde_json::json!({
        "kind": "Pod",
        "metadata": { "name": name, "namespace": "n", "uid": name,
            "creationTimestamp": "2026-01-05T08:00:00Z" },
        "spec": { "containers": [{ "name": "c", "resources": { "requests": { "cpu": "1" } } }] },
        "status": { "phase": "Succeeded", "startTime": "2026-01-05T08:00:00Z",
            "containerStatuses": [ended("c", "08:00:00", "09:00:00")] },
    });
    for (key, value) in spec.as_object().unwrap() {
        whole["spec"][key] = value.clone();
    }
    for (key, value) in status.as_object().unwrap() {
        whole["status"][key] = value.clone();
    }
    whole.to_string()
}

fn ended(name: &str, from: &str, until: &str) -> serde_json::Value {
    serde_json::json!({ "name": name, "restartCount": 0, "state": { "terminated": {
        "startedAt": format!("2026-01-05T{from}Z"), "finishedAt": format!("2026-01-05T{until}Z"),
    } } })
}

fn condition(kind: &str, reason: &str, at: &str) -> serde_json::Value {
    serde_json::json!({ "type": kind, "status": "True", "reason": reason,
        "lastTransitionTime": format!("2026-01-05T{at}Z") })
}

/// Rows: what a pod asks for and has, and the row it becomes; none: it is left out.
#[test]
fn what_a_pod_holds_is_what_the_scheduler_counts_from_its_binding_to_its_end() {
    use serde_json::json;
    let cpu = |amount: &str| json!({ "requests": { "cpu": amount } });
    let container = |amount: &str| json!({ "name": "c", "resources": cpu(amount) });
    let mut allocated = ended("c", "08:00:00", "09:00:00");
    allocated["allocatedResources"] = json!({ "cpu": "2" });
    let cut = condition("DisruptionTarget", "EvictionByEvictionAPI", "11:00:00");
    let infeasible = condition("PodResizePending", "Infeasible", "08:10:00");
    let running = json!({ "name": "c", "state": { "running": {} } });
    for (name, spec, status, expected) in [
        ("plain", json!({}), json!({}), Some("3600 1x1000/0/0")),
        (
            "long-init",
            json!({ "initContainers": [container("4")] }),
            json!({ "containerStatuses": [ended("c", "10:00:00", "10:10:00")],
                "initContainerStatuses": [ended("i", "08:00:00", "10:00:00")] }),
            Some("7800 1x4000/0/0"),
        ),
        (
            "no-start",
            json!({}),
            json!({ "startTime": null,
                "containerStatuses": [ended("c", "10:00:00", "10:10:00")],
                "initContainerStatuses": [ended("i", "08:00:00", "10:00:00")] }),
            Some("7800 1x1000/0/0"),
        ),
        (
            "bound",
            json!({}),
            json!({ "conditions": [condition("PodScheduled", "", "08:30:00")] }),
            Some("1800 1x1000/0/0"),
        ),
        ("level", json!({ "resources": cpu("4") }), json!({}), Some("3600 1x4000/0/0")),
        (
            "level-limit",
            json!({ "resources": { "limits": { "cpu": "3" } } }),
            json!({}),
            Some("3600 1x3000/0/0"),
        ),
        (
            "level-resize",
            json!({ "resources": cpu("2") }),
            json!({ "allocatedResources": { "cpu": "14" }, "resources": cpu("14") }),
            Some("3600 1x14000/0/0"),
        ),
        (
            "resize",
            json!({ "containers": [container("64")] }),
            json!({ "conditions": [infeasible], "containerStatuses": [allocated] }),
            Some("3600 1x2000/0/0"),
        ),
        (
            "evicted",
            json!({}),
            json!({ "phase": "Failed", "containerStatuses": [], "conditions": [cut] }),
            Some("10800 1x1000/0/0"),
        ),
        (
            "node-lost",
            json!({}),
            json!({ "phase": "Failed", "containerStatuses": [running], "conditions": [cut] }),
            Some("10800 1x1000/0/0"),
        ),
        ("untold", json!({}), json!({ "phase": "Failed", "containerStatuses": [] }), None),
        (
            "claims",
            json!({ "resourceClaims": [{ "name": "gpu" }] }),
            json!({}),
            Some("3600 1x1000/0/0"),
        ),
        ("overhead", json!({ "overhead": { "cpu": "250m" } }), json!({}), Some("3600 1x1250/0/0")),
    ] {
        let good = pod_like("good", json!({}), json!({}));
        let text = list(&[good, pod_like(name, spec, status)]);
        let all = read(&text, &KubernetesQueues::Namespace);
        let expected = expected.map(|rest| format!("{name} n 0 {rest}"));
        assert_eq!(all.get(1), expected.as_ref(), "{name}");
    }
}

#[test]
fn what_is_left_out_or_not_counted_is_said() {
    use serde_json::json;
    let cut = condition("DisruptionTarget", "TerminationByKubelet", "11:00:00");
    let none = json!([]);
    let items = [
        pod_like(
            "evicted",
            json!({}),
            json!({ "phase": "Failed", "containerStatuses": none, "conditions": [cut] }),
        ),
        pod_like("untold", json!({}), json!({ "phase": "Failed", "containerStatuses": none })),
        pod_like("claims", json!({ "resourceClaims": [{ "name": "gpu" }] }), json!({})),
    ];
    let source = open_as(&list(&items), &KubernetesQueues::Namespace, OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    for expected in [
        "1 pod evicted, preempted or lost with a node: the condition DisruptionTarget tells",
        "1 pod without a word of when it began or ended",
        "1 pod with resource claims (dynamic resource allocation): devices",
    ] {
        assert!(words.contains(expected), "{expected} in {words}");
    }
    assert!(!words.contains("resize"), "{words}");
}

/// What only claims devices holds nothing that counts, and is told.
#[test]
fn what_requests_nothing_but_claims_is_counted() {
    use serde_json::json;
    let claims = |name: &str| {
        let pod = pod_like(name, json!({ "resourceClaims": [{ "name": "gpu" }] }), json!({}));
        pod.replace("\"cpu\"", "\"ephemeral-storage\"")
    };
    let workload = json!({
        "kind": "Workload",
        "metadata": { "name": "w", "namespace": "n", "uid": "w",
            "creationTimestamp": "2026-01-05T08:00:00Z" },
        "spec": { "queueName": "q", "podSets": [{ "name": "main", "count": 2, "template": {
            "spec": { "containers": [], "resourceClaims": [{ "name": "gpu" }] } } }] },
        "status": { "conditions": [
            { "type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-05T08:00:00Z" },
            { "type": "Finished", "status": "True", "lastTransitionTime": "2026-01-05T09:00:00Z" }
        ] }
    });
    let both = pod_like("both", json!({ "resourceClaims": [{ "name": "gpu" }] }), json!({}));
    let items = [both, claims("one"), claims("other"), workload.to_string()];
    // The second list has them again.
    let text = list(&items).repeat(2);
    let mut source = open_as(&text, &KubernetesQueues::Namespace, OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    for expected in [
        "Kubernetes: 3 pods with resource claims (dynamic resource allocation): devices that only \
         a claim names are not counted; 2 left out, for nothing else is requested",
        "Kueue: 1 Workload with resource claims (dynamic resource allocation): devices that only a \
         claim names are not counted; left out, for nothing else is requested",
    ] {
        assert!(words.contains(expected), "{expected} in {words}");
    }
    assert_eq!(rows(&mut source).len(), 1);
    let alone = open_as(&list(&items[1..2]), &KubernetesQueues::Namespace, OnBadLine::Stop);
    let told = alone.err().unwrap().to_string();
    assert!(told.contains("1 pod with resource claims"), "{told}");
}

/// However many lists have a pod, it is one; what a later list tells of it counts.
#[test]
fn what_is_left_out_counts_once() {
    use serde_json::json;
    let none = json!({ "phase": "Failed", "containerStatuses": [] });
    let cut = json!({ "phase": "Failed", "containerStatuses": [],
        "conditions": [condition("DisruptionTarget", "TerminationByKubelet", "11:00:00")] });
    // It asks for nothing that counts.
    let mut empty = pod_like("empty", json!({}), cut.clone());
    empty = empty.replace("\"cpu\"", "\"ephemeral-storage\"");
    let early = [
        pod_like("ran", json!({}), json!({})),
        pod_like("untold", json!({}), none.clone()),
        pod_like("late", json!({}), none.clone()),
        empty,
    ];
    let late = [
        pod_like("untold", json!({}), none),
        pod_like("late", json!({}), cut.clone()),
        pod_like("late", json!({}), cut),
    ];
    let text = [list(&early), list(&late)].concat();
    let mut source = open_as(&text, &KubernetesQueues::Namespace, OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    assert_eq!(rows(&mut source).len(), 2);
    assert_eq!(source.counts(), SourceCounts { lines: 7, jobs: 2, bad: 0, ignored: 5 });
    assert!(words.contains("1 pod evicted, preempted or lost with a node"), "{words}");
    assert!(words.contains("1 pod without a word of when it began or ended"), "{words}");
}

/// Kueue: partial admission, evictions, Workloads that were taken out.
#[test]
fn of_a_workload_what_was_admitted_counts() {
    use serde_json::json;
    let workload = |name: &str, admitted: Option<u32>, conditions: serde_json::Value| {
        let template = json!({ "spec": { "containers": [
            { "name": "w", "resources": { "requests": { "cpu": "2" } } }] } });
        let set = json!({ "name": "main", "count": 10, "minCount": 2, "template": template });
        let assigned = json!([{ "name": "other", "count": 1 }, { "name": "main",
            "count": admitted, "resourceUsage": { "cpu": "8" } }]);
        json!({
            "kind": "Workload",
            "metadata": { "name": name, "namespace": "n", "uid": name,
                "creationTimestamp": "2026-01-05T08:00:00Z" },
            "spec": { "podSets": [set] },
            "status": { "conditions": conditions,
                "admission": { "clusterQueue": "cq", "podSetAssignments": assigned },
                "schedulingStats": { "evictions": [] } },
        })
    };
    let ran = json!([condition("Admitted", "", "08:10:00"), condition("Finished", "", "09:10:00")]);
    let mut evicted = workload("evicted", Some(10), ran.clone());
    evicted["status"]["schedulingStats"] =
        json!({ "evictions": [{ "reason": "Preempted", "count": 3 }] });
    let out = json!([
        condition("Evicted", "DeactivatedDueToRequeuingLimitExceeded", "08:20:00"),
        condition("Finished", "", "08:30:00")
    ]);
    let items = [
        workload("full", None, ran.clone()),
        workload("partial", Some(4), ran),
        evicted,
        workload("deactivated", Some(10), out),
        workload("never", Some(10), json!([condition("Finished", "", "08:30:00")])),
    ];
    let text = list(&items.map(|item| item.to_string()));
    let mut source = open_as(&text, &KubernetesQueues::Namespace, OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    for expected in [
        "Kueue: pods that were admitted count, not those that were asked for",
        "Kueue: 1 Workload evicted 3 times in all before: only the last admission counts",
        "Kueue: 1 Workload deactivated: left out",
        "Kueue: 1 Workload finished and not admitted: left out",
    ] {
        assert!(words.contains(expected), "{expected} in {words}");
    }
    assert_eq!(
        rows(&mut source),
        [
            "full n 0 3600 10x2000/0/0 gang",
            "partial n 0 3600 4x2000/0/0 gang",
            "evicted n 0 3600 10x2000/0/0 gang",
        ]
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let back = ["2026-01-05T08:00:00Z", "2026-01-05T08:00:30Z", "2026-01-05T08:00:29Z"];
    let noon = ["noon", "2026-01-05T08:00:30Z", "2026-01-05T08:00:31Z"];
    let odd = r#"{"resources":{"requests":{"cpu":"many"}}}"#;
    let text = list(&[
        pod("a", "ok", "Succeeded", AT, TWO),
        pod("a", "back", "Succeeded", back, TWO),
        pod("a", "noon", "Succeeded", noon, TWO),
        pod("a", "odd", "Succeeded", AT, odd),
        r#"{"kind":"Node","metadata":{"name":"n","creationTimestamp":"2026-01-05T08:00:00Z"}}"#
            .to_owned(),
        "7".to_owned(),
    ]);
    let mut source = open_as(&text, &KubernetesQueues::Namespace, OnBadLine::Skip).unwrap();
    assert_eq!(rows(&mut source).len(), 1);
    let told: Vec<String> = source.bad_lines().iter().map(|bad| bad.to_string()).collect();
    let expected = [
        "pods.json:14: \"back\" ends before it starts",
        "pods.json:24: creationTimestamp of \"noon\": \"noon\" is no date",
        "pods.json:34: cpu of \"odd\": \"many\" is no quantity",
    ];
    for (told, expected) in told.iter().zip(expected) {
        let place = |text: &str| text.splitn(3, ':').nth(2).map(str::to_owned);
        assert_eq!(place(told), place(expected), "{told}");
    }
    assert!(told[3].contains("a \"Node\"; wanted are pods and Workloads"), "{}", told[3]);
    assert!(told[4].contains("no pod and no Workload: invalid type"), "{}", told[4]);
    let error = open_as("{\"items\":", &KubernetesQueues::Namespace, OnBadLine::Skip);
    let error = error.err().unwrap().to_string();
    assert!(error.contains("pods.json:1: EOF while parsing"), "{error}");
    assert!(error.contains("wanted is a list, as `kubectl get pods -A -o json` writes it"));
    let error = open_as("", &KubernetesQueues::Namespace, OnBadLine::Skip);
    assert!(error.err().unwrap().to_string().contains("no jobs: the file is empty; wanted is"));
}
