//! Answers without jobs: each reader says that the file is of its format, and what to ask for.

use meed::{ResourceKinds, Unit};
use meed_workload::format::TraceFormat;
use meed_workload::kubernetes::{KubernetesQueues, KubernetesSource};
use meed_workload::philly::{PhillyAssumptions, PhillySource};
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::yarn::{YarnAssumptions, YarnSource};
use meed_workload::{OnBadLine, Origin, TraceError};

/// The error of a file by the reader of the format that its content tells.
fn error_of(text: &str) -> (TraceFormat, String) {
    let format = TraceFormat::of_content(text.as_bytes()).expect(text);
    let (origin, skip) = (Origin::bytes("log", text.as_bytes()), OnBadLine::Skip);
    let kind = |name: &str, unit| (name.to_owned(), unit);
    let kinds = |names: &[(&str, Unit)]| {
        ResourceKinds::new(names.iter().map(|(name, unit)| kind(name, *unit)).collect()).unwrap()
    };
    let error: Option<TraceError> = match format {
        TraceFormat::Philly => {
            let assumptions = PhillyAssumptions::default();
            PhillySource::open(&origin, &kinds(&[("gpu", Unit::Milli)]), &assumptions, skip).err()
        }
        TraceFormat::Yarn => {
            let kinds = kinds(&[("vcores", Unit::Milli), ("memory", Unit::Bytes)]);
            YarnSource::open(&origin, &kinds, &YarnAssumptions::default(), skip).err()
        }
        TraceFormat::Kubernetes => {
            let kinds = kinds(&[("cpu", Unit::Milli)]);
            KubernetesSource::open(&origin, &kinds, &KubernetesQueues::Namespace, skip).err()
        }
        _ => {
            let (form, known) = format.table().expect(text);
            let options = TableAssumptions { form, known, ..TableAssumptions::default() };
            TableSource::open(&origin, &kinds(&[("cpu", Unit::Milli)]), &options, skip).err()
        }
    };
    (format, error.expect(text).to_string())
}

#[test]
fn an_answer_without_jobs_is_told_with_its_format() {
    const SACCT: &str = "sacct has listed no jobs; ask it for the time in which some ended";
    const KUBECTL: &str = "the list of kubectl has no objects; wanted are pods that have ended";
    const YARN: &str = "no applications: the ResourceManager's list is empty";
    const GRID_ENGINE: &str = "the accounting file of Grid Engine has comments only";
    for (text, format, expected) in [
        ("{\"jobs\":[],\"meta\":{}}\n", TraceFormat::SacctJson, SACCT),
        (
            "{\n \"meta\": {\"a\": 1},\n \"errors\": [],\n \"jobs\": [\n ]\n}\n",
            TraceFormat::SacctJson,
            SACCT,
        ),
        ("JobID|User|Submit|Start|End|Elapsed|AllocTRES|State\n", TraceFormat::Sacct, SACCT),
        ("[]\n", TraceFormat::Philly, "the array of JSON is empty; wanted is cluster_job_log"),
        (" [\n]", TraceFormat::Philly, "the array of JSON is empty; wanted is cluster_job_log"),
        (
            "# Version: 8.1.9\n#\n# DO NOT MODIFY THIS FILE MANUALLY!\n#\n",
            TraceFormat::GridEngine,
            GRID_ENGINE,
        ),
        ("{\"apps\":{\"app\":null}}", TraceFormat::Yarn, YARN),
        ("{\"apps\":null}", TraceFormat::Yarn, YARN),
        (
            "{\"apiVersion\":\"v1\",\"items\":null,\"kind\":\"List\"}",
            TraceFormat::Kubernetes,
            KUBECTL,
        ),
        (
            "{\"apiVersion\":\"v1\",\"items\":[],\"kind\":\"List\"}",
            TraceFormat::Kubernetes,
            KUBECTL,
        ),
        ("user,submit,duration,cpus\n", TraceFormat::Csv, "a line names the columns of the table"),
    ] {
        let (found, error) = error_of(text);
        assert_eq!(found, format, "{text}");
        assert!(error.contains(&format!("no jobs: {expected}")), "{text}: {error}");
    }
}
