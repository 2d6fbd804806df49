//! Files of each format, as the programs print them, and bytes of which no program did.

use meed::{ResourceKinds, Unit};
use proptest::prelude::*;

use super::*;

fn cluster(text: &str) -> ClusterFile {
    read_cluster(&Origin::bytes("cluster", text.as_bytes())).expect("a cluster")
}

fn refused(text: &str) -> String {
    read_cluster(&Origin::bytes("cluster", text.as_bytes())).expect_err("no cluster").to_string()
}

/// `NAME: 8 cpu, 7.8GiB memory`, and the partitions.
fn told(cluster: &ClusterFile) -> Vec<String> {
    let one = |node: &ClusterNode| {
        let alone = ClusterFile { nodes: vec![node.clone()], ..ClusterFile::default() };
        let amounts = alone.nodes_in_words();
        let amounts = amounts.trim_start_matches("1 x (").trim_end_matches(')');
        let partitions = node.partitions.join("+");
        format!("{}: {amounts} {partitions}", node.name).trim_end().to_owned()
    };
    cluster.nodes.iter().map(one).collect()
}

const SLURM_CONF: &str = "\
ClusterName=test # a comment
PriorityType=priority/multifactor
PriorityDecayHalfLife=14-0
PriorityWeightFairshare=100000
NodeName=DEFAULT RealMemory=8192
NodeName=n[1-2] CPUs=8 State=UNKNOWN
nodename=n3 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=2 \\
    RealMemory=16384 CoreSpecCount=1 MemSpecLimit=1024
NodeName=n4 CPUs=8 Gres=gpu:a100:2(S:0-1),gpu:v100:2 Reason=\"a disk, and more\"
NodeName=f[1-9] CPUs=8 State=FUTURE
NodeSet=big Nodes=n[3-4]
PartitionName=DEFAULT MaxTime=INFINITE
PartitionName=main Nodes=n[1-2] Default=YES
PartitionName=all Nodes=ALL
PartitionName=big Nodes=big
";

#[test]
fn slurm_conf_tells_nodes_partitions_and_the_order() {
    let file = cluster(SLURM_CONF);
    assert_eq!(file.format, "slurm.conf");
    assert_eq!(
        told(&file),
        [
            "n1: 8 cpu, 8GiB memory main+all",
            "n2: 8 cpu, 8GiB memory main+all",
            "n3: 14 cpu, 15GiB memory all+big",
            "n4: 8 cpu, 8GiB memory, 4 gpu all+big",
        ]
    );
    assert_eq!(file.words, ["9 nodes of the state FUTURE are left out",]);
    let order = |text: &str| cluster(text).order.map(|(order, _)| order).unwrap_or_default();
    assert_eq!(order(SLURM_CONF), "fair-tree,half_life=14d");
    let without = |key: &str| {
        let lines = SLURM_CONF.lines().filter(|line| !line.starts_with(key));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(order(&without("PriorityDecayHalfLife")), "fair-tree,half_life=7d");
    assert_eq!(order(&without("PriorityWeightFairshare")), "fifo");
    let basic = SLURM_CONF.replace("priority/multifactor", "priority/basic");
    assert_eq!(order(&basic), "fifo");
    // Its default differs by version; a weight of fair share has a meaning in one of them only.
    assert_eq!(order(&without("PriorityType")), "fair-tree,half_life=14d");
    let why = cluster(&without("PriorityType")).order.unwrap().1;
    assert!(why.contains("default differs by version"), "{why}");
}

#[test]
fn slurm_conf_tells_resets_and_what_is_not_followed() {
    let file = |more: &str| cluster(&format!("{SLURM_CONF}{more}"));
    let order = |more: &str| file(more).order.unwrap();
    let (words, why) = order("PriorityUsageResetPeriod=WEEKLY\n");
    assert_eq!(words, "fair-tree,half_life=14d,reset=7d");
    assert!(why.contains("PriorityUsageResetPeriod=WEEKLY, counted from the first job"), "{why}");
    assert_eq!(order("PriorityUsageResetPeriod=NONE\n").0, "fair-tree,half_life=14d");
    let (words, why) = order("PriorityUsageResetPeriod=HOURLY\n");
    assert_eq!(words, "fair-tree,half_life=14d");
    assert!(why.contains("HOURLY is none of NONE, NOW, DAILY"), "{why}");
    for (period, cadence) in [("1", ",cadence=1min"), ("5", ""), ("00:10:00", ",cadence=10min")] {
        let (words, _) = order(&format!("PriorityCalcPeriod={period}\n"));
        assert_eq!(words, format!("fair-tree,half_life=14d{cadence}"), "{period}");
    }
    let (words, why) = order("PriorityFlags=MAX_TRES,NO_FAIR_TREE\n");
    assert_eq!(words, "fair-tree,half_life=14d");
    assert!(why.contains("NO_FAIR_TREE"), "{why}");
    let more = "PriorityWeightAge=1000\nPriorityWeightQOS=0\nPriorityWeightPartition=5\n\
        PartitionName=fast Nodes=n1 PriorityTier=10 MaxTime=1:00:00 AllowAccounts=ALL\n\
        PartitionName=slow Nodes=n2 PriorityTier=1 MaxTime=UNLIMITED QOS=low \
        TRESBillingWeights=CPU=1,Mem=0.25G MaxNodes=4 DefaultTime=30\n";
    let terms = file(more).partitions;
    let terms = terms
        .iter()
        .map(|one| (one.name.as_str(), one.limit.map(meed::Span::as_secs_f64), one.tier));
    let terms: Vec<_> = terms.skip(3).collect();
    assert_eq!(terms, [("fast", Some(3600.0), 10), ("slow", Some(1800.0), 1)]);
    let words = file(more).words;
    assert_eq!(
        words[1..],
        [
            "PriorityWeightAge, PriorityWeightPartition are not followed: only fair share orders \
             jobs",
            "these keys of partitions are not followed: PriorityTier (of 1), QOS (of 1), \
             TRESBillingWeights (of 1)",
            "jobs of a log met these keys of partitions when they ran: MaxNodes (of 1)",
        ]
    );
}

#[test]
fn slurm_conf_has_the_lines_of_files_that_it_includes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let read = || read_cluster(&Origin::path(folder.path().join("slurm.conf")));
    write("slurm.conf", "SlurmctldHost=c\nInclude nodes.conf\nInclude gone.conf\n");
    write(
        "nodes.conf",
        "# nodes\nNodeName=n[1-2] CPUs=8 \\\n  RealMemory=8192\ninclude more.conf\n",
    );
    write("more.conf", "NodeName=n3 CPUss=4\nPriorityWeightFairshare=1\n");
    let file = read().unwrap();
    assert_eq!(told(&file), ["n1: 8 cpu, 8GiB memory", "n2: 8 cpu, 8GiB memory", "n3: 1 cpu"]);
    assert_eq!(file.order.unwrap().0, "fair-tree,half_life=7d");
    assert!(
        file.words[0].starts_with("line 3: Include gone.conf is left out: "),
        "{:?}",
        file.words
    );
    assert!(file.words[1].starts_with("line 2: more.conf, line 1: `cpuss`"), "{:?}", file.words);
    write("more.conf", "NodeName=n[3 CPUs=4\n");
    let why = read().unwrap_err().to_string();
    assert!(why.contains("slurm.conf:2: more.conf, line 1: host list `n[3`"), "{why}");
    // One that includes itself ends.
    write("more.conf", "Include nodes.conf\n");
    let words = read().unwrap_err().to_string();
    assert!(words.contains("node `n1` is there already"), "{words}");
    write("more.conf", "Include more.conf\n");
    let words = read().unwrap().words;
    assert!(words.iter().any(|told| told.contains("files that include each other")), "{words:?}");
}

#[test]
fn slips_in_slurm_conf_are_told_with_their_line() {
    assert!(refused("\nNodeName=n[1-2 CPUs=8\n").starts_with("cluster:2: host list `n[1-2`"));
    assert!(refused("NodeName=n1 CPUs=eight\n").starts_with("cluster:1: cpus=eight"));
    assert!(refused("NodeName=n1\nNodeName=n1\n").contains("cluster:2: node `n1`"));
    let slip = cluster("NodeName=n1 CPUss=8\nPartitionName=a Nodes=n1\n");
    assert_eq!(slip.words, ["line 1: `cpuss` is no known key of a node; did you mean `cpus`?"]);
}

/// What Slurm 22.05.8 prints of the nodes of [`SLURM_CONF`].
const SCONTROL: &str = "\
NodeName=n1 CoresPerSocket=1\x20
   CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=N/A
   Gres=(null)
   RealMemory=8192 AllocMem=0 FreeMem=N/A Sockets=8 Boards=1
   State=UNKNOWN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main,all\x20
   CfgTRES=cpu=8,mem=8G,billing=8
   AllocTRES=

NodeName=n3 CoresPerSocket=8\x20
   CPUAlloc=0 CPUEfctv=14 CPUTot=16 CPULoad=N/A
   Gres=(null)
   RealMemory=16384 AllocMem=0 FreeMem=N/A Sockets=1 Boards=1
   CoreSpecCount=1 MemSpecLimit=1024
   State=UNKNOWN ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all,big\x20
   CfgTRES=cpu=14,mem=16G,billing=14

NodeName=n4 CoresPerSocket=1\x20
   CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=N/A
   Gres=gpu:a100:2,gpu:v100:2
   RealMemory=8192 AllocMem=0 FreeMem=N/A Sockets=8 Boards=1
   State=UNKNOWN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all,big\x20
   CfgTRES=cpu=8,mem=8G,billing=8
   Reason=a disk, and more
";

#[test]
fn scontrol_and_slurm_conf_tell_one_cluster() {
    let (conf, printed) = (told(&cluster(SLURM_CONF)), told(&cluster(SCONTROL)));
    assert_eq!(cluster(SCONTROL).format, "scontrol");
    assert_eq!(printed, [conf[0].clone(), conf[2].clone(), conf[3].clone()]);
}

#[test]
fn scontrol_tells_what_jobs_can_have() {
    let text = "NodeName=n4 Arch=x86_64 CoresPerSocket=1 \n   CPUAlloc=0 CPUEfctv=8 CPUTot=8 \
        CPULoad=0.00\n   Gres=gpu:a100:2,gpu:v100:2\n   OS=Linux 6.1.0 #1 SMP Debian\n   \
        RealMemory=16000 AllocMem=0 State=IDLE\n   Partitions=gpu,all \n   \
        CfgTRES=cpu=7,mem=15000M,billing=8,gres/gpu=4,gres/gpu:a100=2\n\nNodeName=n5 Arch=x86_64 \
        CPUTot=16\n   RealMemory=32000 Gres=(null)\n   Partitions=all\n";
    let file = cluster(text);
    assert_eq!(file.format, "scontrol");
    let expected = ["n4: 7 cpu, 14.6GiB memory, 4 gpu gpu+all", "n5: 16 cpu, 31.3GiB memory all"];
    assert_eq!(told(&file), expected);
    // With -o a node is a line.
    let lines = text.replace("\n\n", "\u{1}").replace('\n', " ").replace('\u{1}', "\n");
    assert_eq!(cluster(&lines), file);
}

/// What Slurm 22.05.8 prints of a partition of the nodes of [`SCONTROL`].
const PARTITION: &str = "
PartitionName=big
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=NO QoS=low
   DefaultTime=00:30:00 DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=n[3-4]
   PriorityJobFactor=1 PriorityTier=10 RootOnly=NO ReqResv=NO OverSubscribe=NO
   OverTimeLimit=NONE PreemptMode=OFF
   State=UP TotalCPUs=22 TotalNodes=2 SelectTypeParameters=NONE
   TRES=cpu=22,mem=23G,node=2,billing=22
";

#[test]
fn scontrol_tells_partitions_beside_nodes() {
    let line = PARTITION.trim().replace('\n', " ");
    for text in [
        format!("{SCONTROL}{PARTITION}"),
        format!("{PARTITION}\n{SCONTROL}"),
        format!("{line}\n{SCONTROL}"),
    ] {
        let file = cluster(&text);
        assert_eq!((file.format, told(&file)), ("scontrol", told(&cluster(SCONTROL))));
        let [big] = &file.partitions[..] else { panic!("{:?}", file.partitions) };
        assert_eq!((big.name.as_str(), big.tier), ("big", 10));
        assert_eq!(big.limit.map(meed::Span::as_secs_f64), Some(1800.0));
        let told = "these keys of partitions are not followed: PriorityTier (of 1), QOS (of 1)";
        assert_eq!(file.words, [told]);
    }
    let why = refused(PARTITION);
    assert!(why.contains("put what `scontrol show node` prints into the same file"), "{why}");
}

#[test]
fn sinfo_has_a_line_for_each_node_and_partition() {
    let long = "Sun Nov 29 16:00:00 2026\nNODELIST   NODES PARTITION STATE CPUS S:C:T MEMORY \
        TMP_DISK WEIGHT AVAIL_FE REASON\nn1 1 main* idle 8 1:8:1 8192 0 1 (null) none\nn1 1 all \
        idle 8 1:8:1 8192 0 1 (null) a long reason\nn2 1 all down 4 1:4:1 4096 0 1 (null) none\n";
    let file = cluster(long);
    assert_eq!(file.format, "sinfo");
    assert_eq!(told(&file), ["n1: 8 cpu, 8GiB memory main+all", "n2: 4 cpu, 4GiB memory all"]);
    let bars = "NODELIST|CPUS|MEMORY|GRES|PARTITION\nn[1-2]|128|1048576+|gpu:a100:8(S:0-1)|gpu*\n";
    let file = cluster(bars);
    let expected = ["n1: 128 cpu, 1TiB memory, 8 gpu gpu", "n2: 128 cpu, 1TiB memory, 8 gpu gpu"];
    assert_eq!(told(&file), expected);
    assert_eq!(file.words.len(), 1, "{:?}", file.words);
    assert!(refused("NODELIST CPUS\nn1 many\n").starts_with("cluster:2: many"));
}

#[test]
fn pbs_lsf_grid_engine_and_condor_are_read() {
    let pbs = "n1\n     Mom = n1.site\n     resources_available.mem = 263848056kb\n     \
        resources_available.ncpus = 64\n     resources_available.ngpus = 4\n     queue = gpuq\n\n\
        n2\n     np = 8\n     gpus = 1\n     status = opsys=linux,physmem=8388608kb,ncpus=8\n";
    let expected = ["n1: 64 cpu, 251.6GiB memory, 4 gpu gpuq", "n2: 8 cpu, 8GiB memory, 1 gpu"];
    assert_eq!(told(&cluster(pbs)), expected);
    let lshosts = "HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES\nhostA \
        X86_64 Intel 60.0 16 64G 8G Yes (mg)\nclient X86_64 Intel 1.0 - - - No ()\nlogin \
        X86_64 Intel 1.0 8 31G - No ()\nodd X86_64 Intel 1.0 - - - Yes ()\n";
    let file = cluster(lshosts);
    assert_eq!((file.format, told(&file)), ("lshosts", vec!["hostA: 16 cpu, 64GiB memory".into()]));
    assert_eq!(
        file.words,
        [
            "2 clients, which run no jobs, are left out",
            "1 line without a number of processors is left out"
        ]
    );
    let bhosts = "HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV\nhostA ok - 16 2 2 0 0 0\n";
    assert_eq!(told(&cluster(bhosts)), ["hostA: 16 cpu"]);
    let qhost = "HOSTNAME ARCH NCPU NSOC NCOR NTHR NLOAD MEMTOT MEMUSE SWAPTO SWAPUS\n\
        ------------------------------\nglobal - - - - - - - - - -\nq1 lx-amd64 32 2 16 32 0.1 \
        62.5G 1.1G 0.0 0.0\n";
    assert_eq!(told(&cluster(qhost)), ["q1: 32 cpu, 62.5GiB memory"]);
    let condor = "MyType = \"Machine\"\nName = \"slot1@h1\"\nMachine = \"h1\"\nCpus = 3\nMemory = \
        1024\nTotalSlotCpus = 8\nTotalSlotMemory = 16384\nTotalSlotGPUs = 2\nSlotType = \
        \"Partitionable\"\n\nName = \"slot1_1@h1\"\nMachine = \"h1\"\nCpus = 5\nTotalSlotCpus = 5\n\
        SlotType = \"Dynamic\"\n\nName = \"slot1@h2\"\nMachine = \"h2\"\nCpus = 1\nMemory = \
        2048\n\n\
        Name = \"slot2@h2\"\nMachine = \"h2\"\nCpus = 1\nMemory = 2048\n";
    let expected = ["h1: 8 cpu, 16GiB memory, 2 gpu", "h2: 2 cpu, 4GiB memory"];
    assert_eq!(told(&cluster(condor)), expected);
}

#[test]
fn kubernetes_and_yarn_tell_what_containers_can_have() {
    let node = |name: &str, more: &str| {
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{{more}}},"status":{{"allocatable":
            {{"cpu":"7910m","memory":"16Gi","nvidia.com/gpu":"2","pods":"110"}}}}}}"#
        )
    };
    let taint = r#""taints":[{"key":"node-role.kubernetes.io/control-plane"}]"#;
    let items = [node("a", ""), node("b", taint), node("c", r#""unschedulable":true"#)].join(",");
    let file = cluster(&format!(r#"{{"kind":"List","items":[{items}]}}"#));
    assert_eq!(told(&file), ["a: 7.91 cpu, 16GiB memory, 2 gpu"]);
    assert_eq!(file.words, ["2 nodes that take no pods are left out"]);
    let yarn = r#"{"nodes":{"node":[
        {"id":"h1:8041","nodeHostName":"h1","state":"RUNNING","usedMemoryMB":1024,
         "availMemoryMB":7168,"usedVirtualCores":2,"availableVirtualCores":6},
        {"id":"h2:8041","nodeHostName":"h2","state":"RUNNING","totalResource":{"memory":4096,
         "vCores":4,"resourceInformations":{"resourceInformation":[{"name":"yarn.io/gpu",
         "value":2}]}}},
        {"id":"h3:8041","nodeHostName":"h3","state":"LOST"}]}}"#;
    let file = cluster(yarn);
    let expected = ["h1:8041: 8 cpu, 8GiB memory", "h2:8041: 4 cpu, 4GiB memory, 2 gpu"];
    assert_eq!(told(&file), expected);
    assert!(refused("{\"items\": \"allocatable\", \"allocatable\"").contains("no JSON"));
}

#[test]
fn what_is_not_told_is_no_limit_and_said() {
    let kinds = |names: &[(&str, Unit)]| {
        let named = names.iter().map(|(name, unit)| ((*name).to_owned(), *unit));
        ResourceKinds::new(named.collect()).unwrap()
    };
    let file =
        cluster("HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV\nh ok - 16 2 2 0 0 0\n");
    let all = kinds(&[("cores", Unit::Milli), ("mem", Unit::Bytes)]);
    let machines = file.machines(&all).unwrap();
    assert_eq!(machines.nodes[0].capacity.as_slice(), [16_000, meed::MAX_AMOUNT]);
    let words = "mem is no limit: bhosts tells of no mem";
    assert!(machines.told.iter().any(|told| told == words), "{:?}", machines.told);
    let why = file.machines(&kinds(&[("tokens", Unit::Milli)])).unwrap_err();
    assert_eq!(why, "it tells of cpu, and the jobs hold tokens");
}

#[test]
fn unknown_content_is_told_with_what_would_be_right() {
    let why = refused("hello\nthere\n");
    assert!(why.contains("\"hello\"") && why.contains("pbsnodes -av"), "{why}");
    assert!(refused("").contains("the file is empty; known are"));
    assert!(refused("NodeName=f1 State=FUTURE\n").contains("FUTURE"));
}

proptest! {
    /// No bytes bring a reader down, whichever format they begin like.
    #[test]
    fn no_bytes_panic(start in 0..10usize, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        const STARTS: [&str; 10] = [
            "", "NodeName=n[1-3] CPUs=4 Gres=gpu:2 ", "NodeName=a Arch=b CfgTRES=cpu=",
            "n1\n     np = ", "NODELIST CPUS MEMORY GRES\nn[1-", "HOST_NAME MAX\nh ",
            "HOSTNAME NCPU MEMTOT\nq 1 ", "Name = \"a\"\nMachine = \"m\"\nCpus = ",
            "{\"allocatable\":", "{\"nodes\":{\"node\":[{\"nodeHostName\":\"",
        ];
        let all = [STARTS[start].as_bytes(), &bytes].concat();
        let _ = read_cluster(&Origin::bytes("cluster", all));
    }
}
