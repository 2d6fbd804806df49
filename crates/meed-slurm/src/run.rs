//! `meed slurm run`: look, tell the ledger, put in order, set what changed; again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use meed_config::policy::PolicySpec;
use meed_config::units::parse_span;
use meed_store::{Retention, StoreError, UnixMillis};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::clock;
use crate::error::ProgramError;
use crate::out::Out;
use crate::place::StateArgs;
use crate::read::config::SlurmConfig;
use crate::read::nodes::pool_of;
use crate::read::runs::joined;
use crate::slurm::{Slurm, SlurmError, to_ask_of};
use crate::snapshot::{AUDIT, ClusterSnapshot};
use crate::spread::{FactorChange, Scale};
use crate::tree::Tree;
use crate::tres::kinds;
use crate::world::{LedgerError, OpenWorld, SlurmWorld, Turn, changes};

/// What `run` is told.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    place: StateArgs,
    /// Sets site factors. Without it the program says what it would set, and sets nothing.
    #[arg(long)]
    apply: bool,
    /// The order among tenants, as everywhere in Meed: `long-term,half_life=7d`,
    /// `long-term,resource=billing`.
    #[arg(long, value_name = "POLICY", default_value = "long-term")]
    policy: String,
    /// How often to look at the cluster, at least 1s.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    every: String,
    /// So many of the first jobs get a place in the order; all others have factor 0.
    #[arg(long, value_name = "JOBS", default_value_t = 100)]
    first: usize,
    /// At most so many changes in one round, those of the first jobs first.
    #[arg(long, value_name = "CHANGES", default_value_t = 400)]
    changes: usize,
    /// A new ledger begins with what accounting knows of so long before.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    history: String,
    /// How long the journal is kept.
    #[arg(long, value_name = "TIME", default_value = "90d")]
    keep: String,
    /// How long one command of Slurm's may take.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    limit: String,
    /// Ends after so many rounds.
    #[arg(long, value_name = "ROUNDS")]
    rounds: Option<u64>,
}

/// Nodes are looked at so often, and the tree; in seconds.
const NODES_EVERY: i64 = 10;
const TREE_EVERY: i64 = 60;

/// The longest pause while Slurm does not answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a signal is looked for during a pause.
const LISTENS: Duration = Duration::from_millis(200);

/// Runs until a signal.
///
/// # Errors
///
/// A site that lacks something, a folder that another instance holds, a journal that cannot be
/// written. Slurm that does not answer is waited for.
pub(crate) fn run(args: &RunArgs, out: &mut Out) -> Result<(), ProgramError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|why| ProgramError::Run(format!("signal {signal}: {why}")))?;
    }
    let every = time("--every", &args.every)?.max(Duration::from_secs(1));
    let mut looker = Looker::open(args, out)?;
    let mut pause = every;
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        let began = clock::monotonic();
        match looker.round(out) {
            Ok(()) => pause = every,
            Err(ProgramError::Slurm(why)) => {
                looker.slurm_is_away(&why, out);
                pause = (pause * 2).min(PATIENCE);
            }
            Err(other) => return Err(other),
        }
        rounds += 1;
        if args.rounds.is_some_and(|most| rounds >= most) {
            break;
        }
        while !stop.load(Ordering::Relaxed)
            && let Some(left) = pause.checked_sub(began.elapsed())
        {
            std::thread::sleep(left.min(LISTENS));
        }
    }
    Ok(())
}

fn time(option: &str, text: &str) -> Result<Duration, ProgramError> {
    let span = parse_span(text);
    let span = span.map_err(|why| ProgramError::Input(format!("{option} {text}: {why}")))?;
    Ok(Duration::from_micros(span.as_micros()))
}

fn whole_seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// When accounting is asked for all runs: in the first seconds after it was not listened to, since
/// it hears of ends some seconds late, and each minute for runs that began and ended between two
/// looks.
#[derive(Clone, Copy, Debug, Default)]
struct Accounting {
    /// All until then is told.
    since: i64,
    /// The first look after it was not listened to.
    first: Option<i64>,
    last: i64,
    /// It did not answer the last question.
    is_away: bool,
}

/// Accounting hears of ends that late, and is asked so often after that; in seconds.
const HEARS: i64 = 20;
const AUDIT_EVERY: i64 = 60;

impl Accounting {
    /// From when on it is to be asked, if now.
    fn is_due(&self, at: i64) -> Option<i64> {
        let is_new = self.first.is_none_or(|first| at - first < HEARS);
        match is_new {
            true => Some(self.since),
            false => (at - self.last >= AUDIT_EVERY).then_some(at - AUDIT),
        }
    }

    fn asked(&mut self, snapshot: &ClusterSnapshot) {
        if snapshot.is_accounted && self.is_due(snapshot.at).is_some() {
            self.first.get_or_insert(snapshot.at);
            self.last = snapshot.at;
        }
    }

    /// Why it failed, or that it did not, where it was asked; what is new of that, in words.
    fn heard(&mut self, asked: Option<Option<&SlurmError>>) -> Option<String> {
        let failed = asked?;
        let was_away = std::mem::replace(&mut self.is_away, failed.is_some());
        match failed {
            Some(why) if !was_away => {
                Some(format!("accounting does not answer, and is asked again: {why}"))
            }
            None if was_away => Some("accounting answers again".to_owned()),
            _ => None,
        }
    }

    fn catch_up(&mut self, through: i64) {
        if self.first.take().is_some() {
            self.since = through;
        }
    }
}

/// What stays between rounds.
struct Looker {
    slurm: Slurm,
    world: SlurmWorld,
    place: StateArgs,
    scale: Scale,
    first: usize,
    changes: usize,
    apply: bool,
    cluster: String,
    remarks: Vec<String>,
    accounting: Accounting,
    away: bool,
    looked_at_nodes: i64,
    looked_at_tree: i64,
    pool: meed::Resources,
    /// In a dry run: factors as they would be.
    pretended: std::collections::BTreeMap<u32, i64>,
    said: Vec<String>,
}

impl Looker {
    fn open(args: &RunArgs, out: &mut Out) -> Result<Looker, ProgramError> {
        let input = |why: String| ProgramError::Input(format!("--policy {}: {why}", args.policy));
        let spec: PolicySpec = args.policy.parse().map_err(|why| input(format!("{why}")))?;
        let policy = spec.policy(&kinds()).map_err(|why| input(why.to_string()))?;
        let slurm = Slurm::find(time("--limit", &args.limit)?)?;
        let config = slurm.config()?;
        let remarks = checked(&slurm, &config, args.apply)?;
        let scale = Scale::new(config.overruled(), args.first).map_err(ProgramError::Input)?;
        let history = whole_seconds(time("--history", &args.history)?);
        let open = OpenWorld {
            folder: &args.place.state,
            policy,
            by: format!("meed-slurm {}", env!("CARGO_PKG_VERSION")),
            now: clock::seconds(),
            history,
            keep: Retention { max_age: Some(time("--keep", &args.keep)?), ..Retention::default() },
        };
        let (world, more) = SlurmWorld::open(&open).map_err(|why| held(&args.place, why))?;
        args.place.hold()?;
        let accounting = Accounting { since: world.through(), ..Accounting::default() };
        for remark in remarks.iter().chain(&more) {
            out.line(&format!("note: {remark}"));
        }
        if !args.apply {
            out.line("dry run: nothing is set; --apply sets what is said here");
        }
        let cluster = config.get("ClusterName").unwrap_or("cluster").to_owned();
        Ok(Looker {
            slurm,
            world,
            place: args.place.clone(),
            scale,
            first: args.first,
            changes: args.changes,
            apply: args.apply,
            cluster,
            remarks,
            accounting,
            away: false,
            looked_at_nodes: 0,
            looked_at_tree: 0,
            pool: meed::Resources::zero(kinds().len()),
            pretended: std::collections::BTreeMap::new(),
            said: Vec::new(),
        })
    }

    fn round(&mut self, out: &mut Out) -> Result<(), ProgramError> {
        self.look_at_tree(out)?;
        let mut snapshot = self.look(out)?;
        let wall = UnixMillis::new(clock::millis());
        self.world.tell(&snapshot, wall)?;
        self.accounting.asked(&snapshot);
        if std::mem::take(&mut self.away) {
            out.line("Slurm answers again");
        }
        self.say_oddities(out);
        if !self.apply {
            snapshot.factors.extend(self.pretended.iter().map(|(job, factor)| (*job, *factor)));
        }
        let Turn { order, mut standings } = self.world.turn(&snapshot)?;
        let mut wanted = changes(&order, &snapshot, self.scale, self.first);
        wanted.truncate(self.changes);
        match self.apply {
            true => self.set(&wanted, out)?,
            false => self.pretend(&snapshot, &wanted, out),
        }
        standings.remarks = self.remarks.clone();
        standings.remarks.extend_from_slice(self.world.remarks());
        self.place.leave(&standings)
    }

    fn look_at_tree(&mut self, out: &mut Out) -> Result<(), ProgramError> {
        let now = clock::seconds();
        if now - self.looked_at_tree < TREE_EVERY {
            return Ok(());
        }
        let tree = Tree::of(&self.slurm.shares(&self.cluster)?);
        if tree.remarks() != self.world.remarks() {
            tree.remarks().iter().for_each(|remark| out.line(&format!("note: {remark}")));
        }
        self.world.configure(tree)?;
        self.looked_at_tree = now;
        Ok(())
    }

    fn look(&mut self, out: &mut Out) -> Result<ClusterSnapshot, ProgramError> {
        // All that happened before this second is in what is asked from here on.
        let at = clock::seconds();
        if at - self.looked_at_nodes >= NODES_EVERY {
            self.pool = pool_of(&self.slurm.nodes()?);
            self.looked_at_nodes = at;
        }
        let jobs = self.slurm.jobs()?;
        let mut snapshot =
            ClusterSnapshot { at, pool: self.pool, jobs, ..ClusterSnapshot::default() };
        for job in to_ask_of(&snapshot.jobs, at, |job| self.world.ran(job, at)) {
            if let Some(told) = self.slurm.suspension(job)? {
                snapshot.suspensions.insert(job, told);
            }
        }
        let missing = self.world.missing(&snapshot);
        let runs = match (self.accounting.is_due(at), missing.is_empty()) {
            (Some(since), _) => Some(self.slurm.runs_since(since).and_then(|mut runs| {
                runs.extend(self.slurm.runs_of(&missing)?);
                Ok(runs)
            })),
            (None, false) => Some(self.slurm.runs_of(&missing)),
            (None, true) => None,
        };
        if let Some(said) = self.accounting.heard(runs.as_ref().map(|runs| runs.as_ref().err())) {
            out.line(&said);
        }
        // Without accounting the order still holds; ends that nobody knows are asked for again.
        snapshot.is_accounted = !matches!(runs, Some(Err(_)));
        snapshot.runs = joined(runs.and_then(Result::ok).unwrap_or_default());
        snapshot.factors = self.slurm.factors()?;
        Ok(snapshot)
    }

    fn set(&mut self, wanted: &[FactorChange], out: &mut Out) -> Result<(), ProgramError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let began = clock::monotonic();
        let complaints = self.slurm.set(wanted)?;
        let took = began.elapsed().as_millis();
        out.line(&format!("{} site factors set in {took} ms", wanted.len()));
        self.say_once(complaints.iter().map(|said| format!("scontrol: {said}")).collect(), out);
        Ok(())
    }

    fn pretend(&mut self, snapshot: &ClusterSnapshot, wanted: &[FactorChange], out: &mut Out) {
        for change in wanted {
            let job = snapshot.jobs.iter().find(|job| job.id == change.job);
            let name = job.map_or_else(|| change.job.to_string(), |job| job.name.clone());
            let user = job.map_or("", |job| job.user.as_str());
            let before = snapshot.factors.get(&change.job).copied().unwrap_or(0);
            out.line(&format!(
                "would set SiteFactor of {name} ({user}) from {before} to {}",
                change.site_factor
            ));
            self.pretended.insert(change.job, change.site_factor);
        }
        self.pretended.retain(|job, _| snapshot.factors.contains_key(job));
    }

    fn say_oddities(&mut self, out: &mut Out) {
        let odd = self.world.take_oddities();
        let mut said = odd.refused;
        if odd.late > 0 {
            said.push(format!("{} ends came late and are charged to the next second", odd.late));
        }
        if odd.lost > 0 {
            said.push(format!(
                "{} runs have no end in slurmctld or in accounting; they count as ended now",
                odd.lost
            ));
        }
        self.say_once(said, out);
    }

    /// What was said in the round before is not said again.
    fn say_once(&mut self, said: Vec<String>, out: &mut Out) {
        said.iter()
            .filter(|line| !self.said.contains(line))
            .for_each(|line| out.line(&format!("note: {line}")));
        if !said.is_empty() {
            self.said = said;
        }
    }

    fn slurm_is_away(&mut self, why: &SlurmError, out: &mut Out) {
        if !std::mem::replace(&mut self.away, true) {
            out.line(&format!("Slurm does not answer, and is asked again: {why}"));
        }
        self.accounting.catch_up(self.world.through());
    }
}

/// What the site lacks: errors where factors are set, else remarks.
fn checked(slurm: &Slurm, config: &SlurmConfig, apply: bool) -> Result<Vec<String>, ProgramError> {
    let (mut wrong, mut remarks) = config.check();
    if let Some(why) = slurm.lacks_rights(config)? {
        wrong.push(why);
    }
    if apply && !wrong.is_empty() {
        return Err(ProgramError::Run(wrong.join("; ")));
    }
    remarks.extend(wrong);
    Ok(remarks)
}

/// A folder that another instance holds: with its name.
fn held(place: &StateArgs, why: LedgerError) -> ProgramError {
    let is_held = matches!(&why, LedgerError::Store(StoreError::InUse { .. }));
    match place.holder().filter(|_| is_held) {
        Some(holder) => ProgramError::File(format!(
            "{}: {holder} holds this state and orders the cluster; stop it first, or give another \
             folder by --state for a dry run beside it",
            place.state.display()
        )),
        None => why.into(),
    }
}

/// Sets all site factors back to 0, so that Slurm orders as without Meed.
///
/// # Errors
///
/// An instance that would set them again; Slurm that does not answer.
pub(crate) fn reset(place: &StateArgs, out: &mut Out) -> Result<(), ProgramError> {
    let journal = place.state.join("journal");
    // Held until all is set back: no instance begins meanwhile.
    let _held = match journal.is_dir() {
        false => None,
        true => {
            let opened = meed_store::FileStore::open_folder(&journal, Default::default());
            Some(opened.map_err(|why| held(place, why.into()))?)
        }
    };
    let slurm = Slurm::find(PATIENCE)?;
    let jobs = slurm.jobs()?;
    let live = jobs.iter().filter(|job| job.stage != crate::read::jobs::JobStage::Ended);
    let back: Vec<FactorChange> =
        live.map(|job| FactorChange { job: job.id, site_factor: 0 }).collect();
    let complaints = slurm.set(&back)?;
    complaints.iter().for_each(|said| out.line(&format!("scontrol: {said}")));
    let left = slurm.factors()?.values().filter(|factor| **factor != 0).count();
    if left > 0 {
        return Err(ProgramError::Run(format!(
            "{left} jobs still have a site factor; an operator's rights are needed"
        )));
    }
    out.line(&format!("the site factors of {} jobs are 0", back.len()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounting_that_fails_is_said_once_and_so_is_its_return() {
        let mut accounting = Accounting::default();
        let failed = SlurmError::Form("slurmdbd: Connection refused".to_owned());
        assert_eq!(accounting.heard(Some(None)), None);
        let said = accounting.heard(Some(Some(&failed))).unwrap();
        assert!(said.contains("Connection refused"), "{said}");
        assert_eq!(accounting.heard(Some(Some(&failed))), None);
        assert_eq!(accounting.heard(None), None, "nobody asked");
        assert_eq!(accounting.heard(Some(None)).unwrap(), "accounting answers again");
        assert_eq!(accounting.heard(Some(None)), None);
    }
}
