//! Scenarios of the MapReduce world that are wrong: one sentence each, as in [`crate::bad_input`].

use std::fs;

use crate::bad_input::{GOOD, check, fails, files};
use crate::common::folder;

const MAPREDUCE: &str = "[mapreduce]\nreplicas = 1\n[[mapreduce.node]]\nname = \"n\"\ncount = \
    2\ncores = 2\n\
                         disk_bytes_per_s = \"60MB\"\nnetwork_bytes_per_s = \"100MB\"\n\
                         [[mapreduce.job]]\nqueue = \"a\"\nkind = \"grep\"\ninput = \
                         \"100MB\"\n[[queue]]\nname = \"a\"\n";

#[test]
fn hosts_of_mapreduce_machines_that_are_wrong() {
    let on = |host: &str, rest: &str| {
        let node = format!("cores = 2\nhost = {host}\n");
        MAPREDUCE.replace("cores = 2\n", &node).replace("[[queue]]", &format!("{rest}\n[[queue]]"))
    };
    let folder = folder();
    let fine = "[[mapreduce.host]]\nname = \"h\"\ncores = 1\nnetwork_bytes_per_s = \"1MB\"\n\
        [[mapreduce.host]]\nname = \"d\"\ncount = 2\ndisk_bytes_per_s = \"9MB\"";
    fs::write(folder.path().join("s.toml"), on("[\"h\", \"d\"]", fine)).expect("writable");
    crate::common::succeed(folder.path(), &["simulate", "s.toml", "--strict", "--quiet"]);
    let host = |keys: &str| format!("[[mapreduce.host]]\nname = \"h\"\n{keys}");
    for (on_host, hosts, message) in [
        (
            "\"g\"",
            host("cores = 1"),
            "s.toml:3: node `n`, host: there is no [[mapreduce.host]] `g`",
        ),
        ("\"hh\"", host("cores = 1"), "did you mean \"h\"?"),
        (
            "3",
            host("cores = 1"),
            "wanted is a name of a [[mapreduce.host]], or a list of such names",
        ),
        (
            "\"h\"",
            host(""),
            "s.toml:14: host `h` shares nothing; give cores, disk_bytes_per_s, network_bytes",
        ),
        (
            "\"h\"",
            host("memory = \"1GB\""),
            "s.toml:14: host `h`, memory: it is for files; say page_cache = true in [mapreduce]",
        ),
        ("\"h\"", host("memory = -1"), "s.toml:14: host `h`, memory: \"-1\""),
        ("\"h\"", host("cores = 0"), "s.toml:14: host `h`, cores: 0 must be 1 to 1024"),
        ("\"h\"", host("disk_bytes_per_s = 0"), "host `h`, disk_bytes_per_s: a bandwidth of zero"),
        ("\"h\"", host("network_bytes_per_s = -1"), "host `h`, network_bytes_per_s: \"-1\""),
        (
            "\"h\"",
            host("cores = 1\nseek_penalty = 0.1"),
            "host `h`, seek_penalty: it has no disk_bytes_per_s",
        ),
        (
            "\"h\"",
            host("disk_bytes_per_s = \"1MB\"\nseek_penalty = 101"),
            "host `h`, seek_penalty: 101 must be 0 to 100",
        ),
        ("\"h\"", host("cores = 1\ncount = 0"), "host `h`, count: 0 must be 1 to 1048576"),
        ("\"h\"", host("cores = 1\nspeed = 2"), "unknown field `speed`"),
        ("\"h\"", host("cores = 1\ncount = 3"), "s.toml:14: 3 hosts `h` have 2 machines"),
        ("[]", host("cores = 1"), "host `h` has no machine; say host = \"h\" of some node"),
        (
            "[\"h\", \"h\"]",
            host("cores = 1"),
            "node `n`, host: `h` has cores, and so has another of its hosts",
        ),
        (
            "\"h\"",
            format!("{}\n{}", host("cores = 1"), host("cores = 1")),
            "host `h` is declared twice; names must be distinct",
        ),
    ] {
        check(&on(on_host, &hosts), &[], 3, message);
    }
}

#[test]
fn mapreduce_worlds_that_are_wrong() {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), MAPREDUCE).expect("a writable folder");
    crate::common::succeed(folder.path(), &["simulate", "s.toml", "--strict", "--quiet"]);
    let more = |rest: &'static str| ("[[queue]]", rest);
    for ((from, to), message) in [
        (("cores = 2", "cores = 0"), "s.toml:3: node `n`, cores: 0 must be 1 to 1024"),
        (
            ("cores = 2", "cores = 2\nspeed = 0"),
            "s.toml:3: node `n`, speed: 0 must be 0.001 to 1000",
        ),
        (("cores = 2", "cores = 2\nspeed = nan"), "s.toml:3: node `n`, speed: \"NaN\""),
        (("cores = 2", "cores = 2\nspeed = -1"), "s.toml:3: node `n`, speed: \"-1\""),
        (("\"60MB\"", "0"), "s.toml:3: node `n`, disk_bytes_per_s: a bandwidth of zero"),
        (
            ("\"100MB\"\n[[mapreduce.job", "0\n[[mapreduce.job"),
            "network_bytes_per_s: a bandwidth of zero",
        ),
        (
            ("\"60MB\"", "\"9000TB\""),
            "s.toml:3: node `n`, disk_bytes_per_s: 9000TB is more than 1000 TB a second",
        ),
        (("\"60MB\"", "-5"), "s.toml:3: node `n`, disk_bytes_per_s: \"-5\""),
        (("count = 2", "count = 0"), "s.toml:3: node `n`, count: 0 must be 1 to 1048576"),
        (("count = 2", "map_slots = 0"), "s.toml:3: node `n`, map_slots: 0 must be 1 to 10000"),
        (("count = 2", "rck = \"x\""), "s.toml:5: unknown field `rck`"),
        (("count = 2", "change = [{ at = 1 }]"), "s.toml:3: node `n`, change: give speed"),
        (
            ("count = 2", "change = [{ at = 1, speed = 0 }]"),
            "s.toml:3: node `n`, change, speed: 0 must be 0.001 to 1000",
        ),
        (
            ("replicas = 1", "replicas = 0"),
            "s.toml:2: mapreduce, replicas: a block without a replica cannot be read",
        ),
        (
            ("replicas = 1", "replicas = 3"),
            "s.toml:2: mapreduce, replicas: 3 replicas of a block need as many nodes",
        ),
        (
            ("replicas = 1", "replicas = 1\npage_cache = true"),
            "s.toml:4: node `n`: page_cache needs memory; say how much it has, or one of its hosts",
        ),
        (("replicas = 1", "page_cache = 1"), "s.toml:2: "),
        (("replicas = 1", "replicas = -1"), "s.toml:2: mapreduce, replicas: -1 must be 1 to 2"),
        (("replicas = 1", "threshold = 0"), "s.toml:2: mapreduce, threshold: 0 must be 1 to"),
        (("replicas = 1", "heartbeat = 0"), "s.toml:2: mapreduce, heartbeat: 0 must be 1ms to 1h"),
        (
            ("replicas = 1", "block = 0"),
            "s.toml:2: mapreduce, block: a block must hold at least one byte",
        ),
        (
            ("replicas = 1", "block = 1"),
            "s.toml:9: `job0`: an input of 100000000 blocks; at most 16777216",
        ),
        (
            ("replicas = 1", "overload_cpu = 1.5"),
            "s.toml:2: mapreduce, overload_cpu: 1.5 must be above 0, at most 1",
        ),
        (
            ("replicas = 1", "overload_io_bytes_per_s = 0"),
            "s.toml:2: mapreduce, overload_io_bytes_per_s: a bandwidth",
        ),
        (
            ("replicas = 1", "average_disk_bytes_per_s = 0"),
            "s.toml:2: mapreduce, average_disk_bytes_per_s: a band",
        ),
        (
            ("replicas = 1", "uplink_bytes_per_s = 0"),
            "s.toml:2: mapreduce, uplink_bytes_per_s: a bandwidth of zero",
        ),
        (("replicas = 1", "seek_penalty = nan"), "s.toml:2: mapreduce, seek_penalty: \"NaN\""),
        (
            ("replicas = 1", "output_replicas = 0"),
            "s.toml:2: mapreduce, output_replicas: an output without a replica is nowhere",
        ),
        (
            ("replicas = 1", "output_replicas = 3"),
            "s.toml:2: mapreduce, output_replicas: 3 replicas of a block need as many nodes; there \
             are 2",
        ),
        (
            ("replicas = 1", "output_copies = 2\noutput_replicas = 2"),
            "s.toml:3: mapreduce, output_replicas: output_copies says already how often",
        ),
        (
            ("replicas = 1", "parallel_copies = 0"),
            "s.toml:2: mapreduce, parallel_copies: 0 must be 1 to 1000",
        ),
        (("replicas = 1", "speculative = 1"), "s.toml:2: invalid type: integer `1`"),
        (("replicas = 1", "task_memory = -1"), "s.toml:2: mapreduce, task_memory: \"-1\""),
        (("replicas = 1", "master_task = \"2h\""), "s.toml:2: mapreduce, master_task: 2h must be"),
        (("count = 2", "memory = \"much\""), "s.toml:3: node `n`, memory: \"much\""),
        (("replicas = 1", "replica = 1"), "s.toml:2: unknown field `replica`, expected one of"),
        (
            ("\"100MB\"\n[[queue", "0\n[[queue"),
            "s.toml:9: job `job0`: input: a job must have at least one byte",
        ),
        (("\"100MB\"\n[[queue", "\"20000TB\"\n[[queue"), "s.toml:9: job `job0`: input:"),
        (
            ("\"grep\"", "\"grab\""),
            "s.toml:9: job `job0`: unknown kind `grab`; known are pi, wordcount",
        ),
        (("\"grep\"", "\"grab\""), "did you mean `grep`?"),
        (("queue = \"a\"", "queue = \"b\""), "s.toml:9: unknown queue `b`"),
        (
            more("[[mapreduce.kind]]\nname = \"x\"\nshuffle = -1\n[[queue]]"),
            "s.toml:13: kind `x`, shuffle:",
        ),
        (
            more("[[mapreduce.kind]]\nname = \"x\"\nmap_cpu_per_mb = -1\n[[queue]]"),
            "s.toml:13: kind `x`, map_cpu_per_mb:",
        ),
        (
            more("[[mapreduce.kind]]\nname = \"x\"\noutput = 101\n[[queue]]"),
            "s.toml:13: kind `x`, output: 101 must be 0 to 100",
        ),
        (
            more("[[mapreduce.kind]]\nname = \"x\"\nreduces = \"many\"\n[[queue]]"),
            "s.toml:13: kind `x`, reduces: many is neither a whole number nor \"slots\"",
        ),
        (
            more("[[mapreduce.request]]\nqueue = \"a\"\ninput = [2, 1]\n[[queue]]"),
            "s.toml:13: request `request0`: input: the smallest stands first",
        ),
        (
            more("[[mapreduce.request]]\nqueue = \"a\"\ninput = 1\norder = \"sorted\"\n[[queue]]"),
            "s.toml:13: request `request0`: order `sorted` is not one of random, given",
        ),
        (
            more(
                "[[mapreduce.request]]\nqueue = \"a\"\ninput = 1\nevery = 1\npause = 1\n[[queue]]",
            ),
            "s.toml:13: request `request0`: `every` says when requests come",
        ),
        (
            more("[[mapreduce.request]]\nqueue = \"a\"\ninput = 1\nkinds = []\n[[queue]]"),
            "s.toml:13: request `request0`: kinds: at least one is needed",
        ),
        (
            more("[cluster]\nresources = [\"a\"]\n[[queue]]"),
            "s.toml:13: `cluster` means nothing beside [mapreduce]",
        ),
        (
            more("[[job]]\nqueue = \"a\"\n[[queue]]"),
            "s.toml:13: `job` means nothing beside [mapreduce]",
        ),
        (
            more("[run]\nfail_rate = 0.1\n[[queue]]"),
            "s.toml:14: fail_rate means nothing beside [mapreduce]",
        ),
        (
            more("[policy]\nplacement = \"best-fit\"\n[[queue]]"),
            "s.toml:14: placement `best-fit` names a node for a task; beside [mapreduce] nodes ask \
             for tasks: hadoop",
        ),
        (
            more("[policy]\norder = \"per-server-drf\"\n[[queue]]"),
            "order `per-server-drf` means nothing beside [mapreduce]",
        ),
        (
            more("[policy]\nplacement = \"jasll\"\n[[queue]]"),
            "unknown placement `jasll`; known are hadoop, delay",
        ),
    ] {
        assert!(MAPREDUCE.contains(from), "{from}");
        let text = MAPREDUCE.replacen(from, to, 1);
        fs::write(folder.path().join("s.toml"), &text).expect("a writable folder");
        let before = files(folder.path());
        fails(
            folder.path(),
            &["simulate", "s.toml", "--json", "out.json", "--report", "out.html"],
            3,
            message,
        );
        assert_eq!(files(folder.path()), before, "{text}");
    }
    for (args, message) in [
        (
            &["--policy", "static"][..],
            "--policy static: the static partition means nothing in the MapReduce world",
        ),
        (&["--policy", "slots"], "order `slots` means nothing beside [mapreduce]"),
        (
            &["--policy", "fair,when_blocked=reserve"],
            "when_blocked = \"reserve\" means nothing beside [mapreduce]",
        ),
    ] {
        check(MAPREDUCE, args, 3, message);
    }
    check(
        &MAPREDUCE.replacen("count = 2", "count = 2\nmap_slots = 1", 1),
        &["--policy", "fifo,placement=dmr"],
        3,
        "dmr splits the map slots of each node into two classes; node 0 has 1, at least 2 are \
         needed",
    );
    fs::write(folder.path().join("s.toml"), MAPREDUCE).expect("a writable folder");
    let trace = ["trace", "generate", "s.toml", "out.jsonl"];
    fails(
        folder.path(),
        &trace,
        3,
        "s.toml: is of the MapReduce world, whose tasks have work and no run times",
    );
    let other = "duration = 1\n[policy]\nplacement = \"djasl\"\n";
    check(
        &GOOD.replacen("duration = 1\n", other, 1),
        &[],
        3,
        "s.toml:15: placement `djasl` gives map tasks to nodes that ask; it needs the [mapreduce] \
         world",
    );
}
