//! Whole runs: what tellers read and say, and what comes out.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use meed::{
    Config, Effect, Engine, Event, JobSpec, NodeSpec, Policy, QueueChange, QueueId, QueueSpec,
    Rank, ResourceKinds, Resources, Span, TaskGroup, Time, Unit,
};
use meed_scenario::{Scenario, TraceReading};
use meed_sim::world::{Attendant, WorldSetup};
use meed_sim::{Unwatched, run_one};

use super::rule::{Child, Rule, Seen};
use super::table::{Chosen, RIVALS};
use super::teller::Teller;
use super::{Contest, RivalsRequest, Watcher, Windows, page};

/// Two tenants of a group and one beside it, on ten cores: `a` uses all for an hour, then all want
/// more than there is.
const LENDING: &str = r#"
[cluster]
resources = ["cpu"]
[[cluster.node]]
capacity = { cpu = 10 }
[[queue]]
name = "g"
[[queue]]
name = "g.a"
[[queue]]
name = "g.b"
[[queue]]
name = "c"
[[job]]
queue = "g.a"
tasks = 400
duration = "9min"
demand = { cpu = 1 }
[[job]]
queue = "g.b"
submit = "1h"
tasks = 200
duration = "9min"
demand = { cpu = 1 }
[[job]]
queue = "c"
submit = "1h"
tasks = 200
duration = "7min"
demand = { cpu = 1 }
"#;

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lending.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn request(log: PathBuf) -> RivalsRequest {
    RivalsRequest {
        log,
        settings: Vec::new(),
        orders: Vec::new(),
        baseline: None,
        loads: Vec::new(),
        seeds: 1,
        cadence: None,
        liars: 0,
        reading: TraceReading::default(),
    }
}

/// What a rule was shown: (seconds, capacity, children) at each tick.
type Shown = Rc<RefCell<Vec<(f64, f64, Vec<Child>)>>>;

/// Writes down what it sees, and tells nothing.
struct Spy(Shown);

impl Rule for Spy {
    fn counts_all(&self) -> bool {
        true
    }

    fn tick(&mut self, seen: &Seen<'_>) {
        self.0.borrow_mut().push((seen.seconds, seen.capacity, seen.children.to_vec()));
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        ranks.clear();
        ranks.resize(seen.children.len(), Rank::default());
    }
}

/// What the spy sees over a run with ticks of so many seconds.
fn spied(seconds: u64) -> (Vec<(f64, f64, Vec<Child>)>, meed_sim::record::RunRecord) {
    spied_on(LENDING, seconds)
}

fn spied_on(
    text: &str,
    seconds: u64,
) -> (Vec<(f64, f64, Vec<Child>)>, meed_sim::record::RunRecord) {
    let (_folder, path) = file(text);
    let scenario = Scenario::load_any(&path, &[], meed_workload::OnBadLine::Stop).unwrap();
    let shown = Shown::default();
    let rule = {
        let shown = Rc::clone(&shown);
        move || Box::new(Spy(Rc::clone(&shown))) as Box<dyn Rule>
    };
    let teller = Some(Teller::of(Span::from_secs(seconds).unwrap(), rule));
    let mut watcher = Watcher { teller, windows: Windows::new() };
    let setup = meed_sim::setup(&scenario, "told", 1).unwrap();
    let setup = WorldSetup { attendant: Some(&mut watcher), ..setup };
    let run = run_one("spy", setup, &mut Unwatched).unwrap();
    (shown.take(), run)
}

/// Ticks come at the cadence, and what they tell of use is what the run used, to the last tick.
#[test]
fn ticks_tell_all_that_is_used() {
    for seconds in [1, 60, 100, 3600] {
        let (shown, run) = spied(seconds);
        // There are two families: the root's, and that of `g`.
        let of_root = shown.iter().filter(|(_, capacity, _)| *capacity == 10.0);
        let of_root: Vec<_> = of_root.collect();
        assert_eq!(of_root.len() as f64, (run.end_s / seconds as f64).floor(), "{seconds} s");
        assert_eq!(shown.len(), 2 * of_root.len());
        let used: f64 = of_root.iter().flat_map(|(_, _, all)| all).map(|child| child.used).sum();
        let all: f64 = run.queues.iter().map(|queue| queue.usage["cpu"]).sum();
        assert!(used <= all && all - used <= 10.0 * seconds as f64, "{used} of {all}");
        for (_, _, all) in &of_root {
            assert!(
                all.iter().map(|child| child.used).sum::<f64>() <= 10.0 * seconds as f64 + 1e-6
            );
            assert_eq!((all[0].is_leaf, all[1].is_leaf), (false, true));
        }
        // The group's share is a half of ten cores; what its two use is what it uses.
        let of_group: Vec<_> = shown.iter().filter(|(_, capacity, _)| *capacity == 5.0).collect();
        for (group, root) in of_group.iter().zip(&of_root) {
            let below: f64 = group.2.iter().map(|child| child.used).sum();
            assert!((below - root.2[0].used).abs() < 1e-6);
            assert_eq!(group.2.iter().map(|child| child.wants).sum::<f64>(), root.2[0].wants);
        }
    }
}

/// Of several resources the largest part counts, of a parent that of the sums.
#[test]
fn dominant_parts_are_those_of_what_is_used() {
    let text = LENDING
        .replace("resources = [\"cpu\"]", "resources = [\"cpu\", \"memory\"]")
        .replace("capacity = { cpu = 10 }", "capacity = { cpu = 10, memory = 40 }")
        .replacen("demand = { cpu = 1 }", "demand = { cpu = 1, memory = 8 }", 1);
    // `a` wants a tenth of the cores and a fifth of the memory for each task, the others no memory.
    let (shown, run) = spied_on(&text, 60);
    let of_root: Vec<_> = shown.iter().filter(|(_, capacity, _)| *capacity == 10.0).collect();
    let of_group: Vec<_> = shown.iter().filter(|(_, capacity, _)| *capacity == 5.0).collect();
    let sum = |all: &[&(f64, f64, Vec<Child>)], child: usize| -> f64 {
        all.iter().map(|(_, _, children)| children[child].part.used * 60.0).sum()
    };
    let used = |name: &str, kind: &str| {
        run.queues.iter().find(|queue| queue.queue == name).unwrap().usage[kind]
    };
    let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 60.0, "{got} {wanted}");
    // Below the group, of its half.
    near(sum(&of_group, 0), used("g.a", "memory") / 20.0);
    near(sum(&of_group, 1), used("g.b", "cpu") / 5.0);
    near(sum(&of_root, 1), used("c", "cpu") / 10.0);
    for (_, _, children) in &of_root {
        let Child { held, wants, part, .. } = children[1];
        assert!((part.held - held / 10.0).abs() < 1e-9 && (part.wants - wants / 10.0).abs() < 1e-9);
    }
    // The group alone holds five tasks of memory for the first hour: all of it.
    assert_eq!((of_root[10].2[0].held, of_root[10].2[0].part.held), (5.0, 1.0));
}

/// Ticks of a minute between ends that are nine minutes apart: a run of them is taken at once, and
/// tells what each would have told.
#[test]
fn what_is_shown_does_not_depend_on_when_it_is_read() {
    let (minutes, _) = spied(60);
    let (seconds, _) = spied(1);
    let root = |shown: &[(f64, f64, Vec<Child>)]| -> Vec<Vec<Child>> {
        let of_root = shown.iter().filter(|(_, capacity, _)| *capacity == 10.0);
        of_root.map(|(_, _, all)| all.clone()).collect()
    };
    for (minute, seconds) in root(&minutes).iter().zip(root(&seconds).chunks(60)) {
        for (child, minute) in minute.iter().enumerate() {
            let used: f64 = seconds.iter().map(|second| second[child].used).sum();
            assert!((used - minute.used).abs() < 1e-6, "{used} {minute:?}");
            let last = seconds.last().unwrap()[child];
            assert_eq!((last.held, last.wants), (minute.held, minute.wants));
        }
    }
}

/// Memory helps who lent: `b` and `c` come before `a` after its hour alone, under each rival.
#[test]
fn every_rival_serves_who_has_used_less() {
    let (_folder, path) = file(LENDING);
    let contest = Contest::prepare(&request(path)).unwrap();
    let standings = contest.run(2, &|_| ()).unwrap();
    assert_eq!(standings.len(), super::OWN.len() + RIVALS.len());
    let (job_time, _) = super::figures::RivalFigure::find("mean_job_s").unwrap();
    for one in &standings {
        let figure = one.figures[job_time].as_ref().expect("jobs end").mean();
        assert!(figure > 0.0, "{}", one.contender.words);
    }
    let page = page::page(&contest, &standings, true, &[]);
    let html = meed_report::page::to_html(&page);
    for rival in RIVALS {
        assert!(html.contains(rival.name), "{}", rival.name);
    }
    // Once more, on one thread.
    let again = contest.run(1, &|_| ()).unwrap();
    assert_eq!(page::to_json(&contest, &again, &[]), page::to_json(&contest, &standings, &[]));
}

/// When `b` comes after `a` has had all for an hour, ranks steer: it is served first.
#[test]
fn ranks_steer_a_run() {
    let (_folder, path) = file(LENDING);
    let scenario = Scenario::load_any(&path, &[], meed_workload::OnBadLine::Stop).unwrap();
    let job_time = |words: &str| {
        let teller = Chosen::find(words, None).unwrap().map(Teller::new);
        let mut watcher = Watcher { teller, windows: Windows::new() };
        let told = if watcher.teller.is_some() { "told" } else { words };
        let setup = meed_sim::setup(&scenario, told, 1).unwrap();
        let setup = WorldSetup { attendant: Some(&mut watcher), ..setup };
        let run = run_one(words, setup, &mut Unwatched).unwrap();
        run.queues.iter().find(|queue| queue.queue == "g.b").unwrap().mean_job_s.unwrap()
    };
    let fair = job_time("fair");
    for rival in [
        "fair-tree",
        "pbs",
        "volcano",
        "condor,half_life=10h",
        "kueue-afs",
        "kai",
        "karma",
        "sge",
        "mr-karma",
        // Its horizon covers the hour that was lent, and the time to give it back.
        "flexible-lending,horizon=4h",
        "t-period,period=2h",
    ] {
        let time = job_time(rival);
        assert!(time < fair, "{rival}: {time} s, under fair {fair} s");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |words: &str| Chosen::find(words, None).err().expect("it is wrong");
    assert!(wrong("fair-tree,half_live=7d").contains("did you mean `half_life`?"));
    assert!(wrong("fair-tree,half_life=x").starts_with("fair-tree,half_life=x: half_life: "));
    assert!(wrong("karma,alpha=2").contains("a number from 0 to 1"));
    assert!(wrong("kai,k=-1").contains("a number of 0 or more"));
    assert!(wrong("pbs,cadence=0s").contains("must be above zero"));
    assert!(wrong("pbs,factor").contains("form key=value"));
    assert!(Chosen::find("long-term", None).unwrap().is_none());
    let (_folder, path) = file(LENDING);
    let orders = |orders: &[&str]| {
        let orders = orders.iter().map(|order| (*order).to_owned()).collect();
        let request = RivalsRequest { orders, ..request(path.clone()) };
        Contest::prepare(&request).map(|_| ()).unwrap_err().to_string()
    };
    assert!(orders(&["static"]).contains("gives each tenant its own part"));
    assert!(orders(&["fair-trea"]).contains("fair-trea"));
    let none = RivalsRequest { seeds: 0, ..request(path.clone()) };
    assert!(Contest::prepare(&none).err().unwrap().to_string().contains("at least 1"));
}

/// A cadence that is asked for holds for all, and is what a rival's own key would set.
#[test]
fn cadences_are_native_unless_asked_for() {
    let of = |words: &str, cadence: Option<u64>| {
        let cadence = cadence.and_then(Span::from_secs);
        Chosen::find(words, cadence).unwrap().unwrap().cadence.as_secs_f64()
    };
    assert_eq!(of("fair-tree", None), 300.0);
    assert_eq!(of("volcano", None), 1.0);
    assert_eq!(of("volcano", Some(60)), 60.0);
    assert_eq!(of("volcano,cadence=2s", Some(60)), 2.0);
}

/// Queues come, work and go; what is told to those that are there.
struct Flux {
    engine: Engine,
    watcher: Watcher,
    said: Vec<(QueueId, Rank)>,
}

impl Flux {
    fn of(remembered: u32) -> Flux {
        let policy = || Policy::preset("told").unwrap();
        let config = Config {
            kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap(),
            measured: 0,
            queues: ["a", "p", "p.b"].map(|name| QueueSpec::new(name, policy())).to_vec(),
            nodes: vec![NodeSpec::new("n", Resources::new(&[4000]))],
            root: policy(),
        };
        let place = (meed::place::PLACEMENTS[0].new)(1, 0);
        let mut engine = Engine::new(config, place).unwrap();
        engine.set_remembered_queues(remembered);
        let teller = Chosen::find("fair-tree", None).unwrap().map(Teller::new);
        let watcher = Watcher { teller, windows: Windows::new() };
        Flux { engine, watcher, said: Vec::new() }
    }

    /// Time passes to `at`, and ranks are told.
    fn passes(&mut self, at: Time) {
        let first = self.said.len();
        let said = &mut self.said;
        let mut say = |queue, rank| said.push((queue, rank));
        assert!(self.watcher.passes(at, self.engine.view(), &mut say).is_continue());
        for &(queue, rank) in &self.said[first..] {
            let change = QueueChange { rank: Some(rank), ..QueueChange::default() };
            self.engine.apply(at, Event::QueueChanged(queue, change)).unwrap();
        }
    }

    /// Somebody comes, works beside the others, and goes.
    fn turn(&mut self, turn: u64) {
        let at = Time::ZERO + Span::from_secs(turn * 7200).unwrap();
        self.passes(at);
        let name =
            if turn.is_multiple_of(2) { format!("ci-{turn}") } else { format!("p.ci-{turn}") };
        let spec = QueueSpec::new(name, Policy::preset("told").unwrap());
        let come = self.engine.apply(at, Event::QueueAdded(spec));
        let Ok(Effect::Queue(new)) = come else { panic!("{come:?}") };
        let old = ["a", "p.b"].map(|name| self.engine.view().find_queue(name).unwrap());
        for queue in [new, old[0], old[1]] {
            let groups = &[TaskGroup::new(1 + turn as u32 % 3, Resources::new(&[2000]))];
            let job = JobSpec { queue, weight: 1000, groups, open: false, max_attempts: 0 };
            self.engine.apply(at, Event::JobArrived(job)).unwrap();
        }
        self.engine.apply(at, Event::QueueRemoved(new)).unwrap();
        loop {
            let mut starts = Vec::new();
            self.engine.decide(false, |start| starts.push(start.allocation));
            if starts.is_empty() {
                break;
            }
            let end = self.engine.view().now() + Span::from_secs(400).unwrap();
            self.passes(end);
            for start in starts {
                self.engine.apply(end, Event::TaskEnded(start)).unwrap();
            }
        }
    }
}

fn told_while_queues_go(remembered: u32) -> (Vec<(QueueId, Rank)>, usize, f64) {
    let mut flux = Flux::of(remembered);
    (0..60).for_each(|turn| flux.turn(turn));
    flux.passes(Time::ZERO + Span::from_secs(60 * 7200).unwrap());
    (flux.said, flux.engine.view().queue_rows(), flux.watcher.windows.unserved())
}

/// Removed queues that an engine has forgotten are as any that are gone.
#[test]
fn forgotten_queues_change_nothing() {
    let (all, rows, unserved) = told_while_queues_go(u32::MAX);
    assert_eq!(rows, 64);
    let (few, rows, also) = told_while_queues_go(8);
    assert!(rows < 20, "{rows} queues are known");
    assert!(all.len() > 100, "{} ranks were told", all.len());
    assert_eq!(few, all);
    assert_eq!(also, unserved);
}

/// Liars are the same under every order, on any number of threads, and a control is no lie.
#[test]
fn liars_are_paired_with_the_truth() {
    let (_folder, path) = file(LENDING);
    let orders = ["fair", "long-term", "karma"].map(str::to_owned).to_vec();
    let request = RivalsRequest { liars: 2, orders, ..request(path) };
    let contest = Contest::prepare(&request).unwrap();
    assert_eq!(contest.runs(), 3 + 3 * 2 * 4);
    let all = contest.run(2, &|_| ()).unwrap();
    for one in &all {
        assert_eq!(one.lies.iter().map(Vec::len).collect::<Vec<_>>(), [2; 4]);
        let names = |lie: usize| one.lies[lie].iter().map(|lied| lied.tenant.clone());
        assert!(names(0).eq(all[0].lies[3].iter().map(|lied| lied.tenant.clone())));
        for lied in &one.lies[3] {
            assert!(lied.gain.unwrap().abs() < 0.05, "{lied:?}");
        }
        // Who holds what it does not need has less room for its next task, and others pay.
        assert!(one.lies[2].iter().any(|lied| lied.gain.unwrap() < 0.0), "{:?}", one.lies[2]);
        assert!(one.lies[2].iter().any(|lied| lied.others_wait.unwrap() > 0.0));
    }
    let html = meed_report::page::to_html(&page::page(&contest, &all, true, &[]));
    assert!(html.contains("What lies gain"));
    let again = contest.run(1, &|_| ()).unwrap();
    assert_eq!(page::to_json(&contest, &again, &[]), page::to_json(&contest, &all, &[]));
}
