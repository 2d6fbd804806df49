//! Which format a trace file has, told by its name and its beginning: `.swf`, `.mwf`, `.csv` with
//! `task_events` in its name or its folder's (Google); compressed or not. Several formats share
//! `.csv`, `.tsv` and `.jsonl`, and some have no ending of their own (YARN, Slurm): their content
//! tells, and that of a pipe.

use std::path::Path;

use crate::jhist::is_first_line;
use crate::philly::published::is_published;
use crate::philly::rows::NAMES as COLUMNS;
pub use crate::spark::compression_not_read;
use crate::spark::{is_event, is_folder_of_logs};
use crate::table::{KnownTable, TableForm, is_grid_engine, is_likely, is_slurm_json, known_of};
use crate::{Origin, TraceError};

/// The trace formats that can be read.
///
/// ```
/// use meed_workload::format::TraceFormat;
///
/// assert_eq!(TraceFormat::named("swf"), Some(TraceFormat::Swf));
/// assert_eq!(TraceFormat::of_name("log.swf.gz".as_ref())?, TraceFormat::Swf);
/// # Ok::<(), meed_workload::TraceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Standard Workload Format, [`crate::swf`].
    Swf,
    /// Extended SWF of the Alea simulator, [`crate::mwf`].
    Mwf,
    /// task_events of Google's traces of 2011, [`crate::google`].
    Google,
    /// SWIM, [`crate::swim`].
    Swim,
    /// Philly, [`crate::philly`].
    Philly,
    /// Applications of a YARN ResourceManager, [`crate::yarn`].
    Yarn,
    /// Hadoop's job histories, [`crate::jhist`].
    Jhist,
    /// Spark's event logs, or a folder of them, [`crate::spark`].
    SparkEventLog,
    /// Pods or Workloads of Kubernetes, [`crate::kubernetes`].
    Kubernetes,
    /// Meed's own, [`crate::canonical`].
    Canonical,
    /// A log of Meed's, or the folder of a live world's journal; the simulator reads it.
    Log,
    /// Values separated by commas, semicolons, tabs or bars, [`crate::table`].
    Csv,
    /// The same, by tabs.
    Tsv,
    /// An object of JSON on each line, [`crate::table`].
    JsonLines,
    /// `sacct --parsable2` of Slurm, [`crate::table`].
    Sacct,
    /// `sacct --json` of Slurm, [`crate::table`].
    SacctJson,
    /// Accounting logs of PBS Professional, OpenPBS and Torque, [`crate::table`].
    Pbs,
    /// `lsb.acct` of LSF, [`crate::table`].
    Lsf,
    /// The accounting file of Grid Engine, [`crate::table`].
    GridEngine,
    /// `condor_history -jsonl` of HTCondor, [`crate::table`].
    Condor,
    /// Pods of Alibaba's GPU cluster of 2023, [`crate::table`].
    Openb,
    /// batch_task of Alibaba's trace of 2018, [`crate::table`].
    Alibaba2018,
    /// vmtable of Azure's traces of virtual machines, [`crate::table`].
    AzureVms,
}

/// Every format by the name that scenarios give it.
const NAMES: [(&str, TraceFormat); 23] = [
    ("swf", TraceFormat::Swf),
    ("mwf", TraceFormat::Mwf),
    ("google", TraceFormat::Google),
    ("swim", TraceFormat::Swim),
    ("philly", TraceFormat::Philly),
    ("yarn", TraceFormat::Yarn),
    ("jhist", TraceFormat::Jhist),
    ("spark-event-log", TraceFormat::SparkEventLog),
    ("kubernetes", TraceFormat::Kubernetes),
    ("meed", TraceFormat::Canonical),
    ("meed-log", TraceFormat::Log),
    ("csv", TraceFormat::Csv),
    ("tsv", TraceFormat::Tsv),
    ("jsonl", TraceFormat::JsonLines),
    ("sacct", TraceFormat::Sacct),
    ("sacct-json", TraceFormat::SacctJson),
    ("pbs", TraceFormat::Pbs),
    ("lsf", TraceFormat::Lsf),
    ("grid-engine", TraceFormat::GridEngine),
    ("condor", TraceFormat::Condor),
    ("openb", TraceFormat::Openb),
    ("alibaba-2018", TraceFormat::Alibaba2018),
    ("azure-vms", TraceFormat::AzureVms),
];

impl TraceFormat {
    /// The format of this name.
    pub fn named(name: &str) -> Option<TraceFormat> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        let row = NAMES.iter().find(|(_, format)| *format == self);
        row.expect("every format has a row").0
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Told by the name of the file, without the ending of a compression.
    pub fn of_name(path: &Path) -> Result<TraceFormat, TraceError> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name =
            [".gz", ".zst", ".xz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("swf") => Ok(TraceFormat::Swf),
            Some("mwf") => Ok(TraceFormat::Mwf),
            Some("jhist") => Ok(TraceFormat::Jhist),
            Some("csv") if is_google(path, "task_events") => Ok(TraceFormat::Google),
            Some("tsv" | "swim") => Ok(TraceFormat::Swim),
            Some("csv") => Ok(TraceFormat::Philly),
            Some("jsonl" | "meed") => Ok(TraceFormat::Canonical),
            _ => Err(TraceError::settings(path.display().to_string(), UNKNOWN)),
        }
    }
}

/// What is said of a file that is none of the known formats.
pub const UNKNOWN: &str = "neither its name nor its content tells the format of the trace. Known \
    are SWF (.swf), MWF (.mwf), SWIM (.tsv), Google's task_events*.csv, Philly (.csv, \
    cluster_job_log), a YARN ResourceManager's applications, Hadoop's job histories (.jhist), \
    Spark's event logs and folders of them, lists of kubectl get -o json, sacct --parsable2 or \
    --json, accounting logs of PBS, LSF and Grid Engine, condor_history -jsonl, Alibaba's openb \
    and batch_task, Azure's vmtable, Meed's own (.jsonl) and Meed's logs, compressed or not. Any \
    table with one job a row (CSV, TSV, JSON lines) is read with \
    --format csv --map tenant=COLUMN,submit=COLUMN,duration=COLUMN";

/// Plain bytes at the beginning of a file that are looked at to tell its format.
const BEGINNING: u64 = 64 << 10;

impl TraceFormat {
    /// Told by name and content. Where several formats share an ending the content decides, and the
    /// usual one of that name holds where it says nothing.
    pub fn of_file(path: &Path) -> Result<TraceFormat, TraceError> {
        use TraceFormat::{Canonical, Log, Philly, Swim};
        if path.is_dir() {
            return Ok(if is_folder_of_logs(path) { TraceFormat::SparkEventLog } else { Log });
        }
        let named = TraceFormat::of_name(path);
        if named.as_ref().is_ok_and(|format| !matches!(format, Philly | Swim | Canonical)) {
            return named;
        }
        let start = match Origin::path(path).beginning(BEGINNING) {
            Ok(start) => start,
            Err(why) => return named.or(Err(why.into())),
        };
        match (TraceFormat::of_content(&start), named) {
            (Some(found), _) => Ok(found),
            // A comma-separated table that is not Philly's: its reader says what it lacks.
            (None, Ok(Philly)) if !start.trim_ascii().is_empty() => Ok(TraceFormat::Csv),
            (None, named) => match compression_not_read(&start) {
                Some(name) => Err(TraceError::settings(
                    path.display().to_string(),
                    format!(
                        "it is compressed by {name} as Spark's event logs may be, which is not \
                         read; zstd, lz4 and none are (spark.eventLog.compression.codec)"
                    ),
                )),
                None => named,
            },
        }
    }

    /// The format of a table whose mapping is given: what is not said is told by the content.
    pub fn of_table(path: &Path) -> TraceFormat {
        match TraceFormat::of_file(path) {
            Ok(found) if found.table().is_some() => found,
            _ => {
                let start = Origin::path(path).beginning(1).unwrap_or_default();
                if start == b"{" { TraceFormat::JsonLines } else { TraceFormat::Csv }
            }
        }
    }

    /// How its table is written and whether its columns are known, where it is one.
    pub fn table(self) -> Option<(TableForm, Option<KnownTable>)> {
        Some(match self {
            TraceFormat::Csv | TraceFormat::Tsv => (TableForm::Separated, None),
            TraceFormat::JsonLines => (TableForm::JsonLines, None),
            TraceFormat::Sacct => (TableForm::Separated, Some(KnownTable::Slurm)),
            TraceFormat::Pbs => (TableForm::Accounting, Some(KnownTable::Pbs)),
            TraceFormat::Lsf => (TableForm::Lsf, Some(KnownTable::Lsf)),
            TraceFormat::SacctJson => (TableForm::SlurmJson, Some(KnownTable::Slurm)),
            TraceFormat::GridEngine => (TableForm::GridEngine, Some(KnownTable::GridEngine)),
            TraceFormat::Condor => (TableForm::JsonLines, Some(KnownTable::Condor)),
            TraceFormat::Openb => (TableForm::Separated, Some(KnownTable::Openb)),
            TraceFormat::Alibaba2018 => (TableForm::Separated, Some(KnownTable::Alibaba2018)),
            TraceFormat::AzureVms => (TableForm::Separated, Some(KnownTable::AzureVms)),
            _ => return None,
        })
    }

    /// Told by the first line that holds data: numbers between blanks (18 are SWF, 21 columns MWF),
    /// an object of JSON with our version, or that begins a log, or with `apps` (YARN, also as XML,
    /// of which its reader says what to ask for instead), a row of Google's table, a header of
    /// Philly's or of another known table, one whose names are those of jobs, or six columns
    /// between tabs.
    pub fn of_content(start: &[u8]) -> Option<TraceFormat> {
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        if is_grid_engine(start) {
            return Some(TraceFormat::GridEngine);
        }
        let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        if is_published(start) {
            return Some(TraceFormat::Philly);
        }
        let is_told = |line: &&[u8]| !matches!(line, [] | [b';', ..]) && !is_of_store(line);
        let line = lines.find(is_told)?;
        let blanks = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let numbers = blanks.clone().filter(|word| is_number(word)).count();
        let commas = || line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        match (blanks.count(), numbers) {
            (18, 18) => Some(TraceFormat::Swf),
            (21, 18..) => Some(TraceFormat::Mwf),
            _ if is_event(line) => Some(TraceFormat::SparkEventLog),
            _ if line.starts_with(b"{") => {
                let text = String::from_utf8_lossy(line);
                let ours = text.contains("\"meed_trace\"");
                let log = || is_log(&text).then_some(TraceFormat::Log);
                let yarn = || is_yarn(start).then_some(TraceFormat::Yarn);
                let table = || is_likely(line).map(|_| TraceFormat::JsonLines);
                let pods = || is_kubernetes(start).then_some(TraceFormat::Kubernetes);
                let slurm = || is_slurm_json(start).then_some(TraceFormat::SacctJson);
                let ours = ours.then_some(TraceFormat::Canonical);
                ours.or_else(log)
                    .or_else(slurm)
                    .or_else(yarn)
                    .or_else(pods)
                    .or_else(|| format_of(known_of(line)?))
                    .or_else(table)
            }
            _ if is_first_line(line) => Some(TraceFormat::Jhist),
            _ if is_xml_of_yarn(line) => Some(TraceFormat::Yarn),
            _ if commas().count() == 13 && commas().next().is_some_and(is_number) => {
                Some(TraceFormat::Google)
            }
            _ if COLUMNS.iter().all(|name| commas().any(|found| found == name.as_bytes())) => {
                Some(TraceFormat::Philly)
            }
            _ => of_table_line(line),
        }
    }
}

/// The format of a known table.
fn format_of(known: KnownTable) -> Option<TraceFormat> {
    let all = NAMES.iter().map(|(_, format)| *format);
    all.into_iter().find(|format| matches!(format.table(), Some((_, Some(of))) if of == known))
}

/// By the first line of a table that has none of the usual forms.
fn of_table_line(line: &[u8]) -> Option<TraceFormat> {
    let known = known_of(line).and_then(format_of);
    let likely = || is_likely(line).map(|_| TraceFormat::Csv);
    let swim = || line.split(|byte| *byte == b'\t').count() == 6;
    known.or_else(likely).or_else(|| swim().then_some(TraceFormat::Swim))
}

/// Whether a log begins with this line.
fn is_log(line: &str) -> bool {
    line.contains("\"run\":{") && line.contains("\"schema\":")
}

/// Whether a store of journals has put this line between records.
fn is_of_store(line: &[u8]) -> bool {
    let begin = [b"{\"segment\":{\"version\":".as_slice(), b"{\"block\":{\"seq\":"];
    begin.iter().any(|word| line.starts_with(word))
}

/// Whether this is `{"apps":`, with blanks or without.
pub(crate) fn is_yarn(start: &[u8]) -> bool {
    let rest = start.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let rest = rest.and_then(|rest| rest.strip_prefix(b"\"apps\""));
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
}

/// Whether this is a list of Kubernetes' API, whose keys come in any order.
fn is_kubernetes(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.contains("\"apiVersion\"") && text.contains("\"items\"")
}

/// Whether a ResourceManager's answer in XML begins with this line.
fn is_xml_of_yarn(line: &[u8]) -> bool {
    line.starts_with(b"<?xml") || line.starts_with(b"<apps>") || line.starts_with(b"<apps/>")
}

fn is_number(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Whether the file or its folder is named after this `table` of Google's traces:
/// `task_events/part-00000-of-00500.csv.gz`.
pub fn is_google(path: &Path, table: &str) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    [path.file_name(), folder]
        .into_iter()
        .flatten()
        .any(|name| name.to_string_lossy().contains(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_tell_formats() {
        let swf = "; Version: 2\n\n  1 0 0 5 2 -1 -1 2 5 -1 1 3 1 1 1 1 -1 -1\n";
        let mwf = "1 0 0 5 2 -1 -1 2 5 -1 1 3 1 1 1 1 -1 -1 {1,2} q 1:ppn=2\n";
        let google = "0,,3418309,0,,0,user,3,9,0.125,0.07446,0.0004244,0\n";
        let rows: &[(&str, Option<TraceFormat>)] = &[
            (swf, Some(TraceFormat::Swf)),
            (mwf, Some(TraceFormat::Mwf)),
            (google, Some(TraceFormat::Google)),
            ("job0\t0\t1\t5\t0\t0\n", Some(TraceFormat::Swim)),
            ("{\"meed_trace\":1,\"resources\":{}}\n", Some(TraceFormat::Canonical)),
            ("{\"seq\":0,\"t\":0.0,\"run\":{\"schema\":2,\"poli", Some(TraceFormat::Log)),
            (
                "{\"segment\":{\"version\":1}}\n{\"t\":0.0,\"run\":{\"schema\":1}}\n",
                Some(TraceFormat::Log),
            ),
            ("{\"apps\":{\"app\":[{\"id\":", Some(TraceFormat::Yarn)),
            ("\n{\n  \"apps\" : null\n}\n", Some(TraceFormat::Yarn)),
            ("{\"apps\"}", None),
            ("{\n \"apiVersion\": \"v1\",\n \"items\": [\n", Some(TraceFormat::Kubernetes)),
            (
                "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[",
                Some(TraceFormat::Kubernetes),
            ),
            ("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}", None),
            ("\u{feff}\n <?xml version=\"1.0\"?><apps>", Some(TraceFormat::Yarn)),
            ("<apps><app><id>application_1_0001</id>", Some(TraceFormat::Yarn)),
            ("Avro-Binary\n{\"type\":\"record\"}\n", Some(TraceFormat::Jhist)),
            ("Avro-Json\r\n{}\n", Some(TraceFormat::Jhist)),
            (
                "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}\n",
                Some(TraceFormat::SparkEventLog),
            ),
            (
                "{ \"Event\" : \"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\"",
                Some(TraceFormat::SparkEventLog),
            ),
            ("<html><body>", None),
            ("user,submit_time,duration,gpus\nann,0,1,1\n", Some(TraceFormat::Csv)),
            ("Account;Start Time;End Time;CPUs\n", Some(TraceFormat::Csv)),
            ("user\tsubmit\truntime\tcpus\tmem\tname\n", Some(TraceFormat::Csv)),
            ("{\"user\":\"a\",\"submit\":0,\"duration\":1}\n", Some(TraceFormat::JsonLines)),
            (
                "{\"segment\":\"ads\",\"user\":\"a\",\"submit\":0,\"duration\":1}\n",
                Some(TraceFormat::JsonLines),
            ),
            ("JobID|User|Submit|Elapsed|State\n", Some(TraceFormat::Sacct)),
            ("task1,2,j_1,1,Terminated,87076,87083,100.0,0.39\n", Some(TraceFormat::Alibaba2018)),
            ("a/b,s,d,0,300,99.3,3.4,10.1,Interactive,>24,>64\n", Some(TraceFormat::AzureVms)),
            (
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
                 creation_time,deletion_time,scheduled_time\n",
                Some(TraceFormat::Openb),
            ),
            ("{\"ClusterId\":7,\"QDate\":1,\"Owner\":\"a\"}\n", Some(TraceFormat::Condor)),
            ("\"JOB_FINISH\" \"10.1\" 1527327585 7610 1000\n", Some(TraceFormat::Lsf)),
            ("06/06/2005 14:04:35;Q;409.ign1;queue=batch\n", Some(TraceFormat::Pbs)),
            ("name,colour,size\n", None),
            ("{\"t\":0.0,\"run\":{}}\n", None),
            ("[cluster]\nresources = [\"cpu\"]\n", None),
            ("# a scenario\n", None),
            ("; only a header\n", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(TraceFormat::of_content(text.as_bytes()), *expected, "{text}");
        }
        let philly = COLUMNS.join(",") + "\n";
        assert_eq!(TraceFormat::of_content(philly.as_bytes()), Some(TraceFormat::Philly));
    }

    #[test]
    fn names_tell_formats() {
        let rows = [
            ("a.swf", Some(TraceFormat::Swf)),
            ("dir.swf/a-3.1-cln.SWF.gz", Some(TraceFormat::Swf)),
            ("x_1.tsv.xz", Some(TraceFormat::Swim)),
            ("x.jsonl.zst", Some(TraceFormat::Canonical)),
            ("x.csv.xz", Some(TraceFormat::Philly)),
            ("x.txt", None),
            ("wagap-2013.mwf.xz", Some(TraceFormat::Mwf)),
            ("task_events_p00-13.csv.zst", Some(TraceFormat::Google)),
            ("d/task_events/part-00000-of-00500.csv.gz", Some(TraceFormat::Google)),
            ("task_events/d/part-00000-of-00500.csv.gz", Some(TraceFormat::Philly)),
            ("job_1_0001-1-ann-q-2-1-1-SUCCEEDED-root.a-3.jhist", Some(TraceFormat::Jhist)),
            ("task_events.txt", None),
            ("swf", None),
            ("", None),
        ];
        for (name, expected) in rows {
            assert_eq!(TraceFormat::of_name(Path::new(name)).ok(), expected, "{name}");
        }
    }
}
