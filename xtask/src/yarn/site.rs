//! The configuration of daemons on loopback: one set of keys, which each of Hadoop's files holds.

/// Where the ResourceManager's web server listens.
pub(super) const WEB: &str = "127.0.0.1:18088";

const FAIR: &str = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler";
const STORE: &str = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore";
const DISK: &str = "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage";
const HISTORY: &str = "yarn.timeline-service.generic-application-history";

/// Two queues, in Meed's order or in the scheduler's own.
pub(super) fn allocations(meed: bool) -> String {
    let order = if meed { "org.meed.yarn.LongTermFairPolicy" } else { "fair" };
    format!(
        "<?xml version=\"1.0\"?>\n<allocations><queue name=\"a\"/><queue name=\"b\"/>\
         <queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault><defaultQueueSchedulingPolicy>\
         {order}</defaultQueueSchedulingPolicy></allocations>\n"
    )
}

pub(super) const LOG: &str = "log4j.rootLogger=INFO,console\n\
    log4j.appender.console=org.apache.log4j.ConsoleAppender\n\
    log4j.appender.console.layout=org.apache.log4j.PatternLayout\n\
    log4j.appender.console.layout.ConversionPattern=%d %-5p %c{1}: %m%n\n";

/// All keys, for daemons in this folder with this class path for containers; `node` is the number
/// of a NodeManager, from 0: each has ports and folders of its own.
/// The last of two keys of one name counts: `more` come last.
pub(super) fn site(folder: &str, class_path: &str, node: u32, more: &[(String, String)]) -> String {
    let mut site = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
    let keys = daemons(folder).into_iter().chain(of_node(folder, node)).chain(ours(folder));
    for (key, value) in keys.chain(jobs(class_path)).chain(more.iter().cloned()) {
        site += &format!("<property><name>{key}</name><value>{value}</value></property>\n");
    }
    site + "</configuration>\n"
}

fn daemons(folder: &str) -> Vec<(String, String)> {
    let mut keys: Vec<(String, String)> = [
        ("fs.defaultFS", "file:///"),
        ("yarn.resourcemanager.hostname", "127.0.0.1"),
        ("yarn.resourcemanager.webapp.address", WEB),
        ("yarn.resourcemanager.address", "127.0.0.1:18032"),
        ("yarn.resourcemanager.scheduler.address", "127.0.0.1:18030"),
        ("yarn.resourcemanager.resource-tracker.address", "127.0.0.1:18031"),
        ("yarn.resourcemanager.admin.address", "127.0.0.1:18033"),
        ("yarn.nodemanager.bind-host", "127.0.0.1"),
        ("yarn.nodemanager.resource.memory-mb", "1024"),
        ("yarn.nodemanager.vmem-check-enabled", "false"),
        ("yarn.nodemanager.pmem-check-enabled", "false"),
        ("yarn.nodemanager.recovery.enabled", "true"),
        (DISK, "99.9"),
        ("yarn.scheduler.minimum-allocation-mb", "128"),
        ("yarn.resource-types.memory-mb.increment-allocation", "128"),
        ("yarn.resourcemanager.scheduler.class", FAIR),
        ("yarn.resourcemanager.recovery.enabled", "true"),
        ("yarn.resourcemanager.store.class", STORE),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec();
    for (key, below) in [
        ("hadoop.tmp.dir", "tmp"),
        ("yarn.scheduler.fair.allocation.file", "conf-0/fair-scheduler.xml"),
        ("yarn.app.mapreduce.am.staging-dir", "staging"),
    ] {
        keys.push((key.to_owned(), format!("{folder}/{below}")));
    }
    let store = "yarn.resourcemanager.fs.state-store.uri".to_owned();
    keys.push((store, format!("file://{folder}/store")));
    keys
}

fn of_node(folder: &str, node: u32) -> Vec<(String, String)> {
    let port = |port: u32| (18_040 + 10 * node + port).to_string();
    let on = |number: u32| format!("127.0.0.1:{}", port(number));
    let below = |name: &str| format!("{folder}/{name}-{node}");
    [
        ("yarn.nodemanager.localizer.address", on(0)),
        ("yarn.nodemanager.webapp.address", on(2)),
        ("yarn.nodemanager.address", on(5)),
        ("mapreduce.shuffle.port", port(7)),
        ("yarn.nodemanager.local-dirs", below("local")),
        ("yarn.nodemanager.log-dirs", below("logs")),
        ("yarn.nodemanager.recovery.dir", below("node-state")),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

/// What the plug-in asks for, and Hadoop's own history of containers beside it.
fn ours(folder: &str) -> Vec<(String, String)> {
    [
        ("yarn.scheduler.reservation-threshold.increment-multiple", "100000".to_owned()),
        ("yarn.resourcemanager.scheduler.monitor.enable", "true".to_owned()),
        (
            "yarn.resourcemanager.scheduler.monitor.policies",
            "org.meed.yarn.LedgerMonitor".to_owned(),
        ),
        ("meed.yarn.ledger-dir", format!("{folder}/ledger")),
        ("meed.yarn.policy.quantum", "1s".to_owned()),
        // What the plug-in counts is shown to Prometheus too.
        ("hadoop.prometheus.endpoint.enabled", "true".to_owned()),
        ("meed-test.witness", format!("{folder}/witness")),
        (&*format!("{HISTORY}.enabled"), "true".to_owned()),
        (&*format!("{HISTORY}.store-class"), "org.meed.yarn.Witness".to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

/// MapReduce, small.
fn jobs(class_path: &str) -> Vec<(String, String)> {
    let class_path = class_path.replace(':', ",");
    let mut keys: Vec<(String, String)> = [
        ("mapreduce.framework.name", "yarn"),
        ("yarn.nodemanager.aux-services", "mapreduce_shuffle"),
        (
            "yarn.nodemanager.aux-services.mapreduce_shuffle.class",
            "org.apache.hadoop.mapred.ShuffleHandler",
        ),
        ("mapreduce.jvm.add-opens-as-default", "true"),
        ("yarn.app.mapreduce.am.resource.mb", "512"),
        ("yarn.app.mapreduce.am.command-opts", "-Xmx300m"),
        ("mapreduce.map.memory.mb", "256"),
        ("mapreduce.map.java.opts", "-Xmx180m"),
        ("mapreduce.reduce.memory.mb", "256"),
        ("mapreduce.reduce.java.opts", "-Xmx180m"),
        ("mapreduce.task.io.sort.mb", "16"),
        // A busy machine is no failure.
        ("mapreduce.task.timeout", "600000"),
        ("yarn.am.liveness-monitor.expiry-interval-ms", "600000"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec();
    keys.push(("yarn.application.classpath".to_owned(), class_path.clone()));
    keys.push(("mapreduce.application.classpath".to_owned(), class_path));
    keys
}
