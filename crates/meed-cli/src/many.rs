//! Commands that run a log many times and compare: what they ask alike, and how they answer.

use std::path::PathBuf;

use clap::Args;
use meed_experiments::advise::aims::thousandths;
use meed_files::Guard;
use meed_report::{Made, TableOptions};
use meed_scenario::{Scenario, Setting, TraceReading};
use meed_workload::OnBadLine;

use crate::args::TableArgs;
use crate::cluster::ClusterArgs;
use crate::exit::Failure;
use crate::json::JsonArgs;
use crate::made::made;
use crate::named::named;
use crate::output::{guard, print, print_styled, reads_of, remark, remark_unless, table_options};
use crate::site;
use crate::watch;
use crate::weights::WeightArgs;

#[derive(Args)]
pub(crate) struct ManyArgs {
    /// A trace, as in `meed simulate`, or a scenario; `-` is standard input.
    #[arg(value_parser = crate::args::input)]
    pub(crate) log: PathBuf,
    /// Runs each with so many seeds; they change nothing about a trace alone.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seeds: u64,
    /// Changes a key of the scenario, as in `meed simulate`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    json: JsonArgs,
    /// Writes a self-contained HTML report with plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Runs so many simulations at once. Default: one per core. The answer does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Stops at the first wrong line of a trace and at the first job that cannot run, instead of
    /// counting them.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints no tables and no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// What `--loads` says, in thousandths.
pub(crate) fn loads(given: &[String]) -> Result<Vec<u32>, Failure> {
    let load = |load: &String| {
        thousandths(load.trim()).map_err(|why| Failure::Usage(format!("--loads: {why}")))
    };
    given.iter().map(load).collect()
}

impl ManyArgs {
    pub(crate) fn on_bad_line(&self) -> OnBadLine {
        OnBadLine::of(self.strict)
    }

    /// How the log is read, by all that reads it.
    pub(crate) fn reading(&self) -> TraceReading {
        self.on_bad_line().into()
    }

    /// The files, guarded, the policies by name, and all changes of the scenario.
    pub(crate) fn begin(
        &self,
        policies: &[String],
        reading: &TraceReading,
    ) -> Result<(Guard, Vec<String>, Vec<Setting>), Failure> {
        let mut inputs = vec![("log", self.log.as_path())];
        inputs.extend(self.weights.file());
        inputs.extend(self.cluster.file());
        let outputs = [("--json", self.json.file()), ("--report", self.report.as_deref())];
        let files = guard(&outputs, &inputs)?;
        let (names, mut changes) = named(policies)?;
        changes.extend(self.table.with(&self.sets)?);
        let site = (&self.cluster, &self.weights);
        let say = &mut remark_unless(self.quiet);
        let settings = site::before(&self.log, site, changes, reading, say)?;
        Ok((files, names, settings))
    }

    /// Guards what the scenarios read, and says what the first of them takes for granted.
    pub(crate) fn read(&self, files: &mut Guard, scenarios: &[Scenario]) -> Result<(), Failure> {
        scenarios.iter().try_for_each(|scenario| reads_of(files, scenario))?;
        if !self.quiet {
            scenarios[0].warnings.iter().for_each(|warning| remark(warning));
        }
        Ok(())
    }

    /// Runs `count` simulations by `run`, which gets how many at once, and whom to tell how many
    /// are done.
    pub(crate) fn run<T>(
        &self,
        count: usize,
        run: impl FnOnce(usize, &(dyn Fn(usize) + Sync)) -> T,
    ) -> T {
        let template = "{bar:24} {pos} of {len} simulations, {elapsed} gone, {eta} to go";
        let bar = watch::bar(self.quiet, count as u64, template);
        let threads = crate::sweep::threads(self.threads, count, self.quiet);
        let done = run(threads, &|done| bar.set_position(done as u64));
        bar.finish_and_clear();
        done
    }

    /// Writes the report and prints the answer, as far as they are asked for.
    pub(crate) fn show(
        &self,
        files: &mut Guard,
        html: impl FnOnce(&Made) -> String,
        json: impl FnOnce() -> String,
        text: impl FnOnce(&TableOptions) -> String,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.report {
            files.write_text(path, &html(&made(&[&self.log])))?;
        }
        if self.json.write(files, json)? {
            return Ok(());
        }
        if self.quiet {
            return Ok(());
        }
        let options = table_options();
        print_styled(&text(&options), &options)?;
        for (what, path) in [("JSON", self.json.file()), ("Report", self.report.as_deref())] {
            if let Some(path) = path {
                print(&format!("{what}: {}\n", path.display()))?;
            }
        }
        Ok(())
    }
}
