//! A round: ask whether anything happened, look, tell the ledger, put in order, set what changed.

use std::path::{Path, PathBuf};

use meed_store::{Retention, UnixMillis};

use crate::clock;
use crate::dry::DryRun;
use crate::due::{Accounting, Due, Looks};
use crate::error::ProgramError;
use crate::metrics::Measured;
use crate::out::Out;
use crate::place::{StateArgs, write_whole};
use crate::policy::policy_of;
use crate::read::config::SlurmConfig;
use crate::read::fair::FairRow;
use crate::read::nodes::pool_of;
use crate::read::runs::joined;
use crate::run::{RunArgs, a_second_or_more, time};
use crate::slurm::{Slurm, SlurmError, to_ask_of};
use crate::snapshot::{AUDIT, ClusterSnapshot};
use crate::spread::{FactorChange, Scale};
use crate::suspended::SuspendedTime;
use crate::tree::{ShareMeaning, Tree};
use crate::tres::kinds;
use crate::world::{NewPlace, OpenWorld, SlurmWorld, Turn, changes};

/// Nodes are looked at so often, and the tree; in seconds.
const NODES_EVERY: i64 = 10;
const TREE_EVERY: i64 = 60;

/// What stays between rounds.
pub(crate) struct Looker {
    slurm: Slurm,
    world: SlurmWorld,
    place: StateArgs,
    scale: Scale,
    first: usize,
    changes: usize,
    cluster: String,
    shares: ShareMeaning,
    suspended: SuspendedTime,
    remarks: Vec<String>,
    accounting: Accounting,
    looks: Looks,
    /// What the last look saw.
    seen: ClusterSnapshot,
    away: bool,
    looked_at_nodes: i64,
    looked_at_tree: i64,
    /// What Slurm's own fair share said then.
    fair: Vec<FairRow>,
    pool: meed::Resources,
    /// `None`: site factors are set.
    dry: Option<DryRun>,
    said: Vec<String>,
    measured: Measured,
    metrics: Option<PathBuf>,
    /// Where Slurm's plug-in looks for the places of new jobs, if it is loaded.
    places: Option<PathBuf>,
}

impl Looker {
    /// Opens the ledger for a site that has what is needed.
    ///
    /// # Errors
    ///
    /// What the site lacks, a policy that is none, a folder that another instance holds.
    pub(crate) fn open(args: &RunArgs, out: &mut Out) -> Result<Looker, ProgramError> {
        let input = |why: String| ProgramError::Input(format!("--policy {}: {why}", args.policy));
        let policy = policy_of(&args.policy).map_err(input)?;
        let slurm = Slurm::find(a_second_or_more("--limit", &args.limit)?, args.read)?;
        let config = slurm.config()?;
        let remarks = checked(&slurm, &config, args.apply)?;
        let scale =
            Scale::new(config.overruled(), args.first.get()).map_err(ProgramError::Input)?;
        let history = time("--history", &args.history)?;
        let open = OpenWorld {
            folder: &args.place.state,
            policy,
            by: format!("meed-slurm {}", env!("CARGO_PKG_VERSION")),
            now: clock::seconds(),
            history: i64::try_from(history.as_secs()).unwrap_or(i64::MAX),
            keep: Retention { max_age: Some(time("--keep", &args.keep)?), ..Retention::default() },
        };
        let (world, more) = SlurmWorld::open(&open).map_err(|why| args.place.held(why))?;
        args.place.hold()?;
        let accounting = Accounting::since(world.floor());
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
            first: args.first.get(),
            changes: args.changes.get(),
            cluster,
            shares: args.shares,
            suspended: args.suspended,
            remarks,
            accounting,
            looks: Looks::default(),
            seen: ClusterSnapshot::default(),
            away: false,
            looked_at_nodes: 0,
            looked_at_tree: 0,
            fair: Vec::new(),
            pool: meed::Resources::zero(kinds().len()),
            dry: (!args.apply).then(DryRun::default),
            said: Vec::new(),
            measured: Measured::default(),
            metrics: args.metrics.clone(),
            places: config.places().map(Path::to_owned),
        })
    }

    /// One round.
    ///
    /// # Errors
    ///
    /// Slurm that does not answer; a journal or a file that cannot be written.
    pub(crate) fn round(&mut self, out: &mut Out) -> Result<(), ProgramError> {
        self.look_at_tree(out)?;
        let (began, at) = (clock::monotonic(), clock::seconds());
        // Before jobs are read, so that what happens meanwhile is a sign in the next round.
        let signs = self.slurm.signs()?;
        let is_asked = self.accounting.is_due(at).is_some();
        let due = if is_asked { Due::Look } else { self.looks.due(signs.as_ref(), at) };
        match due {
            Due::Look => {
                let snapshot = self.look(at, out)?;
                self.world.tell(&snapshot, UnixMillis::new(clock::millis()))?;
                self.accounting.asked(&snapshot);
                if std::mem::take(&mut self.away) {
                    out.line("Slurm answers again");
                }
                self.say_oddities(out);
                let is_missed = !self.world.missing(&snapshot).is_empty();
                self.seen = snapshot;
                let set = self.order(out)?;
                self.looks.looked(signs.filter(|_| !is_missed), at, began.elapsed());
                self.looks.updated(set);
            }
            Due::Turn if self.seen.may_turn() => {
                self.seen.at = at;
                let set = self.order(out)?;
                self.looks.turned(at, began.elapsed());
                self.looks.updated(set);
            }
            Due::Turn | Due::Nothing => {}
        }
        self.measured.round(due, began.elapsed());
        self.leave_metrics()
    }

    /// Puts in order what was seen, and sets what changed; how many jobs.
    fn order(&mut self, out: &mut Out) -> Result<u64, ProgramError> {
        let mut snapshot = self.seen.clone();
        if let Some(dry) = &self.dry {
            dry.pretend(&mut snapshot);
        }
        let Turn { order, mut standings, queues } = self.world.turn(&snapshot)?;
        let mut wanted = changes(&order, &snapshot, self.scale, self.first);
        wanted.truncate(self.changes);
        let mut set = 0;
        match &mut self.dry {
            None => {
                self.set(&wanted, out)?;
                set = wanted.len() as u64;
                // What went wrong shows in the next look.
                wanted.iter().for_each(|to| self.seen.set_factor(to.job, to.site_factor));
                self.leave_places(&order)?;
            }
            Some(dry) => {
                let said = dry.compare(&snapshot, &order, &wanted);
                for line in &said {
                    out.line(line);
                }
            }
        }
        standings.add_fair(&self.fair, |account, user| self.world.leaf(account, user));
        standings.remarks = self.remarks.clone();
        standings.remarks.extend_from_slice(self.world.remarks());
        self.measured.stands(&standings, queues);
        self.place.leave(&standings)?;
        Ok(set)
    }

    /// Leaves the places of new jobs for Slurm's plug-in, where it is loaded.
    fn leave_places(&self, order: &[u32]) -> Result<(), ProgramError> {
        let Some(path) = &self.places else { return Ok(()) };
        let first = order.iter().take(self.first);
        let factors: Vec<i64> = first.map(|job| self.seen.site_factor(*job)).collect();
        let new = self.world.places(&self.seen, order)?;
        let new: Vec<NewPlace> =
            new.into_iter().take_while(|place| place.before < self.first).collect();
        let before: Vec<usize> = new.iter().map(|place| place.before).collect();
        let factors = self.scale.between(&factors, &before);
        let rows = new.iter().zip(factors).map(|(place, factor)| place.line(factor));
        let text: String = std::iter::once(format!("meed-places 1 {}\n", clock::seconds()))
            .chain(rows.flatten())
            .collect();
        write_whole(path, text.as_bytes())
    }

    fn look_at_tree(&mut self, out: &mut Out) -> Result<(), ProgramError> {
        let now = clock::seconds();
        if now - self.looked_at_tree < TREE_EVERY {
            return Ok(());
        }
        let tree = Tree::of(&self.slurm.shares(&self.cluster)?, self.shares);
        if tree.remarks() != self.world.remarks() {
            for remark in tree.remarks() {
                out.line(&format!("note: {remark}"));
            }
        }
        self.fair = self.slurm.fair()?;
        if self.world.configure(tree)? {
            self.looks.forget();
        }
        self.looked_at_tree = now;
        Ok(())
    }

    /// Reads the cluster. All that happened before the second `at` is in what is asked from here
    /// on.
    fn look(&mut self, at: i64, out: &mut Out) -> Result<ClusterSnapshot, ProgramError> {
        if at - self.looked_at_nodes >= NODES_EVERY {
            self.pool = pool_of(&self.slurm.nodes()?);
            self.looked_at_nodes = at;
        }
        let (jobs, suspensions) = self.suspended.jobs(self.slurm.jobs(at)?, at);
        let pool = self.pool;
        let mut snapshot =
            ClusterSnapshot { at, pool, jobs, suspensions, ..ClusterSnapshot::default() };
        for job in to_ask_of(&snapshot.jobs, at, |job| self.world.ran(job, at)) {
            if !snapshot.suspensions.contains_key(&job)
                && let Some(told) = self.slurm.suspension(job)?
            {
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
        let runs = runs.and_then(Result::ok).unwrap_or_default();
        snapshot.runs = joined(self.suspended.runs(runs));
        if snapshot.waits() {
            snapshot.priorities = self.slurm.priorities()?;
        }
        Ok(snapshot)
    }

    fn set(&mut self, wanted: &[FactorChange], out: &mut Out) -> Result<(), ProgramError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let began = clock::monotonic();
        let complaints = self.slurm.set(wanted)?;
        let took = began.elapsed().as_millis();
        self.measured.factors += wanted.len() as u64;
        out.line(&format!("{} site factors set in {took} ms", wanted.len()));
        self.say_once(complaints.iter().map(|said| format!("scontrol: {said}")).collect(), out);
        Ok(())
    }

    fn say_oddities(&mut self, out: &mut Out) {
        let odd = self.world.take_oddities();
        let mut said = odd.refused;
        if odd.late > 0 {
            said.push(format!(
                "{} ends came late, by up to {} s, and are charged to the next second",
                odd.late, odd.latest
            ));
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
        for line in said.iter().filter(|line| !self.said.contains(line)) {
            out.line(&format!("note: {line}"));
        }
        if !said.is_empty() {
            self.said = said;
        }
    }

    /// Slurm did not answer in this round.
    ///
    /// # Errors
    ///
    /// The file of metrics, which cannot be written.
    pub(crate) fn slurm_is_away(
        &mut self,
        why: &SlurmError,
        out: &mut Out,
    ) -> Result<(), ProgramError> {
        if !std::mem::replace(&mut self.away, true) {
            out.line(&format!("Slurm does not answer, and is asked again: {why}"));
        }
        self.looks.forget();
        self.accounting.catch_up(self.world.floor().max(self.world.through() - AUDIT));
        self.leave_metrics()
    }

    /// The last word of a dry run.
    pub(crate) fn end(&self, out: &mut Out) {
        if let Some(said) = self.dry.as_ref().and_then(DryRun::sum) {
            out.line(&said);
        }
    }

    fn leave_metrics(&mut self) -> Result<(), ProgramError> {
        let Some(path) = &self.metrics else { return Ok(()) };
        let counted = self.world.counted();
        let page = self.measured.page(!self.away, !self.accounting.is_away(), &counted);
        write_whole(path, page.as_bytes())
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
