//! A ResourceManager's side of the conversation, in Rust.

use std::collections::BTreeMap;
use std::path::Path;

use meed_yarn::message::{
    ContainerEvent, ContainerStarted, Explain, LedgerOpened, Node, Open, PluginRequest,
    PluginSettings, Queue, Tick,
};
use meed_yarn::{Core, PluginAnswer};

pub(crate) const T0: u64 = 1_760_000_000_000;
pub(crate) const MIB: u64 = 1 << 20;

pub(crate) struct World {
    pub(crate) core: Core,
    /// What ticks have told so far.
    rows: Rows,
}

pub(crate) fn settings(keys: &[(&str, &str)], queues: &[&str]) -> PluginSettings {
    let queue = |name: &&str| Queue { name: name.to_string(), weight: 1000, policy: Vec::new() };
    PluginSettings {
        policy: keys.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        queues: queues.iter().map(queue).collect(),
        keep_days: None,
    }
}

impl World {
    pub(crate) fn new(folder: Option<&Path>, epoch: u64, keys: &[(&str, &str)]) -> World {
        World::of(folder, epoch, keys, &["root.a", "root.b"])
    }

    pub(crate) fn of(
        folder: Option<&Path>,
        epoch: u64,
        keys: &[(&str, &str)],
        queues: &[&str],
    ) -> World {
        World::open_as(folder, epoch, T0, settings(keys, queues)).0
    }

    pub(crate) fn open(
        folder: Option<&Path>,
        epoch: u64,
        now: u64,
        keys: &[(&str, &str)],
    ) -> (World, LedgerOpened) {
        World::open_as(folder, epoch, now, settings(keys, &["root.a", "root.b"]))
    }

    pub(crate) fn open_as(
        folder: Option<&Path>,
        epoch: u64,
        now: u64,
        settings: PluginSettings,
    ) -> (World, LedgerOpened) {
        let folder = folder.map(|folder| folder.display().to_string());
        let protocol = meed_yarn::PROTOCOL;
        let open = Open { protocol, folder, epoch, now, settings, by: "test".to_owned() };
        let (core, opened) = Core::open(PluginRequest::Open(open)).expect("it opens");
        (World { core, rows: Rows::default() }, opened)
    }

    /// A tick: all rows as of now, which are those of the tick before with what the answer tells in
    /// their place. Each time they are held against all rows, asked for at once.
    pub(crate) fn tick(&mut self, now: u64, fill: impl FnOnce(&mut Tick)) -> Rows {
        let mut tick = Tick { now, ..Tick::default() };
        fill(&mut tick);
        let told = rows_of(self.core.answer(&PluginRequest::Tick(tick)));
        let after = Rows::read(&told, &self.rows);
        assert_eq!(after.remarks, Vec::<String>::new(), "nothing is refused");
        let all = Rows::read(&rows_of(self.core.answer(&PluginRequest::Rows {})), &Rows::default());
        assert_eq!(after.queues, all.queues, "queues of the tick at {now}");
        assert_eq!(after.apps, all.apps, "applications of the tick at {now}");
        assert_eq!((after.t_wait, &after.guard), (all.t_wait, &all.guard), "tick at {now}");
        assert_eq!(after.entitled, all.entitled, "tick at {now}");
        self.rows = after.clone();
        after
    }
}

pub(crate) fn rows_of(answer: Result<PluginAnswer, meed_yarn::CoreError>) -> Vec<u8> {
    match answer.expect("it ticks") {
        PluginAnswer::Rows(bytes) => bytes,
        PluginAnswer::Text(text) => panic!("rows, not {text}"),
    }
}

pub(crate) fn explain(app: Option<&str>) -> PluginRequest {
    PluginRequest::Explain(Explain { now: 0, app: app.map(str::to_owned) })
}

pub(crate) fn node(name: &str, memory: u64, cores: u64) -> Node {
    Node { name: name.to_owned(), memory, cores }
}

pub(crate) fn start(id: &str, app: &str, queue: &str, memory: u64, since: u64) -> ContainerEvent {
    let [id, app, queue] = [id, app, queue].map(str::to_owned);
    let node = "n1:1".to_owned();
    ContainerEvent::Start(ContainerStarted { id, app, queue, node, memory, cores: 1, since })
}

pub(crate) fn end(id: &str, at: u64) -> ContainerEvent {
    ContainerEvent::End { id: id.to_owned(), at }
}

/// A row, read as Java reads it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    pub(crate) form: u8,
    pub(crate) weight: u64,
    pub(crate) served: u64,
    pub(crate) held: [u64; 2],
    /// As of the last answer: brought along the row's line.
    pub(crate) amounts: [u128; 2],
    pub(crate) rates: [u64; 2],
    pace: usize,
    /// The memory time that the amounts are of.
    time: u64,
    pub(crate) pseudo: u128,
    pub(crate) parts: u64,
    pub(crate) capacity: [u64; 2],
    pub(crate) quantum: u64,
    pub(crate) ahead: u64,
    pub(crate) units: [u64; 2],
    pub(crate) rest: [u64; 6],
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Rows {
    pub(crate) now: u64,
    pub(crate) late: u64,
    pub(crate) missed: u64,
    pub(crate) remarks: Vec<String>,
    /// Whether the answer told all, and how many rows it told.
    pub(crate) whole: bool,
    pub(crate) told: usize,
    pub(crate) queues: Vec<Option<Row>>,
    pub(crate) apps: BTreeMap<String, Option<Row>>,
    pub(crate) t_wait: i64,
    /// Since when each leaf waits, and what the guard compares.
    pub(crate) guard: BTreeMap<usize, (u64, Row)>,
    /// What each leaf under guard is entitled to.
    pub(crate) entitled: BTreeMap<usize, (u128, u128)>,
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_at(N);
        self.0 = rest;
        head.try_into().expect("so many")
    }

    fn long(&mut self) -> u64 {
        u64::from_be_bytes(self.take())
    }

    fn wide(&mut self) -> u128 {
        u128::from_be_bytes(self.take())
    }

    fn count(&mut self) -> usize {
        u32::from_be_bytes(self.take()) as usize
    }

    fn name(&mut self) -> String {
        let length = self.count();
        let (head, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(head.to_vec()).expect("UTF-8")
    }

    /// One of any length, here of at most 128 bits.
    fn number(&mut self) -> u128 {
        (0..self.count()).fold(0, |number, _| number << 8 | u128::from(self.take::<1>()[0]))
    }

    fn longs<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.long())
    }

    fn row(&mut self) -> Option<Row> {
        let [form] = self.take();
        (form > 0).then(|| Row {
            form,
            weight: self.long(),
            served: self.long(),
            held: self.longs(),
            amounts: [self.wide(), self.wide()],
            rates: self.longs(),
            pace: self.count(),
            time: self.long(),
            pseudo: self.wide(),
            parts: self.long(),
            capacity: self.longs(),
            quantum: self.long(),
            ahead: 0,
            units: self.longs(),
            rest: self.longs(),
        })
    }
}

impl Row {
    /// To the memory time of this answer.
    fn advance(&mut self, paces: &[[u64; 2]]) {
        let [time, ahead] = paces[self.pace];
        let passed = u128::from(time - self.time);
        let grown = self.amounts.iter_mut().zip(self.rates);
        grown.for_each(|(amount, rate)| *amount += u128::from(rate) * passed);
        (self.time, self.ahead) = (time, if ahead == u64::MAX { self.quantum } else { ahead });
    }
}

impl Rows {
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        let listed = self.queues.iter_mut().chain(self.apps.values_mut()).flatten();
        listed.chain(self.guard.values_mut().map(|(_, row)| row))
    }

    /// What is known after an answer, and what was known before it.
    pub(crate) fn read(bytes: &[u8], before: &Rows) -> Rows {
        let mut from = Reader(bytes);
        let [now, late, missed] = from.longs();
        let remarks = (0..from.count()).map(|_| from.name()).collect();
        let whole = from.take() == [1];
        let count = from.count();
        let mut rows = if whole { Rows::default() } else { before.clone() };
        rows.queues.resize(count, None);
        (rows.now, rows.late, rows.missed, rows.remarks) = (now, late, missed, remarks);
        (rows.whole, rows.told) = (whole, from.count());
        for _ in 0..rows.told {
            let place = from.count();
            rows.queues[place] = from.row();
        }
        for _ in 0..from.count() {
            rows.apps.remove(&from.name());
        }
        for _ in 0..from.count() {
            rows.told += 1;
            rows.apps.insert(from.name(), from.row());
        }
        rows.t_wait = from.long() as i64;
        let guarded = if rows.t_wait == -1 { 0 } else { from.count() };
        for _ in 0..guarded {
            let (place, since) = (from.count(), from.long());
            let entitled = (from.number(), from.number());
            rows.entitled.insert(place, entitled);
            match from.row() {
                Some(row) => drop(rows.guard.insert(place, (since, row))),
                None => drop(rows.guard.remove(&place)),
            }
        }
        let paces: Vec<[u64; 2]> = (0..from.count()).map(|_| from.longs()).collect();
        rows.all_mut().for_each(|row| row.advance(&paces));
        assert!(from.0.is_empty(), "{} bytes too many", from.0.len());
        rows
    }
}
