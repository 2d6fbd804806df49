//! Machines of Google's cell: the published mix, and machine_events files.
//!
//! Both are in the scale of the trace: the largest machine has 1000 natural units of cpu and of
//! memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed::{Labels, MAX_MICROS, NodeSpec, ResourceKinds, Resources, Unit};
use meed_config::decimal::{Rounding, parse_scaled};

use super::{AFTER_THE_END, MACHINE};
use crate::error::{BadLines, BadRow};
use crate::fields::{Column, time};
use crate::generate::Stream;
use crate::machines::{MachineChange, Machines};
use crate::{OnBadLine, TraceError};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

/// One configuration of machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MachineClass {
    /// How many the cell has.
    pub count: u32,
    /// The hardware platform: machines of different ones are not alike in what is not counted here.
    pub platform: &'static str,
    /// CPUs and memory in hundredths of the largest machine's, as printed.
    pub share: [u64; 2],
}

const fn class(count: u32, platform: &'static str, cpu: u64, memory: u64) -> MachineClass {
    MachineClass { count, platform, share: [cpu, memory] }
}

/// The ten configurations of the cell, 12,583 machines. Counts, CPUs and memory: Wang, Liang, Li,
/// "Multi-Resource Fair Allocation in Heterogeneous Cloud Computing Systems" (DRFH), IEEE TPDS
/// 2015, Table 1, and Reiss et al., "Heterogeneity and Dynamicity of Clouds at Scale", SoCC 2012,
/// Table 1, which has the platforms too.
pub const PUBLISHED_MACHINES: [MachineClass; 10] = [
    class(6732, "B", 50, 50),
    class(3863, "B", 50, 25),
    class(1001, "B", 50, 75),
    class(795, "C", 100, 100),
    class(126, "A", 25, 25),
    class(52, "B", 50, 12),
    class(5, "B", 50, 3),
    class(5, "B", 50, 97),
    class(3, "C", 100, 50),
    class(1, "B", 50, 6),
];

/// How a number of machines is taken from the published mix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Each at random and independently, as likely as it is common; the stream `cluster.machines`
    /// under this seed.
    Random {
        /// The seed.
        seed: u64,
    },
    /// In the very proportions, by largest remainder; rare configurations may go missing.
    Exact,
}

/// `count` machines of the published mix; with [`Draw::Exact`] and 12,583 the cell itself. The
/// cluster's kinds must include `cpu` or `memory`, and nothing else, for nothing else was
/// published.
pub fn published_mix(
    kinds: &ResourceKinds,
    count: u32,
    draw: Draw,
) -> Result<Machines, TraceError> {
    let found = resolve(kinds)?;
    let counts: Vec<u32> = PUBLISHED_MACHINES.iter().map(|class| class.count).collect();
    let classes: Vec<usize> = match draw {
        Draw::Random { seed } => {
            let mut stream = Stream::new(seed, "cluster.machines");
            (0..count).map(|_| stream.weighted(&counts)).collect()
        }
        Draw::Exact => {
            let shares = largest_remainder(&counts, count);
            shares
                .iter()
                .enumerate()
                .flat_map(|(class, &n)| std::iter::repeat_n(class, n as usize))
                .collect()
        }
    };
    let node = |(number, class): (usize, usize)| {
        let MachineClass { platform, share, .. } = PUBLISHED_MACHINES[class];
        let mut capacity = Resources::zero(kinds.len());
        for (kind, share) in found.iter().zip(share) {
            if let Some(kind) = kind {
                capacity.as_mut_slice()[*kind] = share * (MACHINE / 100);
            }
        }
        let labels = Labels::from([("platform".to_owned(), platform.to_owned())]);
        NodeSpec { labels, ..NodeSpec::new(format!("google-{number}"), capacity) }
    };
    Ok(Machines {
        nodes: classes.into_iter().enumerate().map(node).collect(),
        ..Machines::default()
    })
}

/// Parts of `total` in proportion to `counts`: rounded down, and the rest to the largest remainders
/// (ties: the first).
fn largest_remainder(counts: &[u32], total: u32) -> Vec<u32> {
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let product = |count: u32| u64::from(count) * u64::from(total);
    let mut parts: Vec<u32> = counts.iter().map(|count| (product(*count) / sum) as u32).collect();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|class| std::cmp::Reverse(product(counts[*class]) % sum));
    let missing = total - parts.iter().sum::<u32>();
    order.iter().take(missing as usize).for_each(|class| parts[*class] += 1);
    parts
}

/// Which of the cluster's kinds CPUs and memory are.
fn resolve(kinds: &ResourceKinds) -> Result<[Option<usize>; 2], TraceError> {
    let fail = |why: String| Err(TraceError::settings("Google's machines", why));
    let found = ["cpu", "memory"].map(|name| kinds.find(name));
    for kind in 0..kinds.len() {
        let name = kinds.name(kind);
        if !found.contains(&Some(kind)) {
            return fail(format!(
                "what they have of \"{name}\" was not published; only cpu and memory were"
            ));
        }
        if kinds.unit(kind) == Unit::Bytes {
            return fail(format!(
                "\"{name}\" is counted in bytes, but they have shares of the largest machine; \
                 declare {{ name = \
                 \"{name}\", unit = \"milli\" }}"
            ));
        }
    }
    Ok(found)
}

const COLUMNS: usize = 6;
const TIME: Column = Column(1, "time");
const ID: Column = Column(2, "machine id");
const EVENT: Column = Column(3, "event type");
const PLATFORM: Column = Column(4, "platform");
const CAPACITY: [Column; 2] = [Column(5, "CPUs"), Column(6, "memory")];

/// Longest name of a platform, in bytes.
const MAX_PLATFORM: usize = 200;
/// Most that a machine can have: a thousand times the largest.
const MAX_CAPACITY: u64 = 1000 * MACHINE;

/// Reads a machine_events file as published: time, machine id, event (0 ADD, 1 REMOVE, 2 UPDATE),
/// platform, CPUs, memory. Machines added at 0 are there at the start; all else is a change, also
/// when one leaves at 0 and comes back. Machines are called `m` and their id, and have a label
/// `platform`.
pub fn read_machine_events(
    origin: &Origin,
    kinds: &ResourceKinds,
    on_bad_line: OnBadLine,
) -> Result<Machines, TraceError> {
    let found = resolve(kinds)?;
    let mut lines = Lines::new(origin.open()?, LINE_LIMIT);
    let mut cell = Cell::default();
    cell.machines.bad = BadLines::new(on_bad_line);
    while let Some(line) = lines.next_line()? {
        if line.is_empty() {
            continue;
        }
        cell.machines.lines += 1;
        match parse(line, &found, kinds).and_then(|event| cell.take(event)) {
            Ok(used) => cell.machines.ignored += u64::from(!used),
            Err(problem) => {
                let (name, number) = (Arc::clone(lines.input().name()), lines.number());
                cell.machines.bad.note(&name, number, problem)?;
            }
        }
    }
    let mut machines = cell.machines;
    if machines.nodes.is_empty() {
        let why = match machines.bad.first().first() {
            Some(first) => {
                format!("no line adds a machine at time 0; the first wrong line: {first}")
            }
            None => {
                "no line adds a machine at time 0; machine_events has 6 columns separated by commas"
                    .into()
            }
        };
        return Err(TraceError::NoMachines { file: Arc::clone(origin.name()), why });
    }
    if machines.ignored > 0 {
        let count = machines.ignored;
        machines.assumptions.push(format!(
            "machines: {count} lines without capacity, about machines that are not there, or after \
             the trace are left \
             out"
        ));
    }
    Ok(machines)
}

/// What column 3 says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Remove,
    Update,
}

struct Event {
    time: u64,
    id: u64,
    kind: Kind,
    platform: String,
    /// `None` when any of it is missing or nothing.
    capacity: Option<Resources>,
}

fn parse(line: &[u8], found: &[Option<usize>; 2], kinds: &ResourceKinds) -> Result<Event, BadRow> {
    let columns: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
    if columns.len() != COLUMNS {
        return Err(BadRow::line(format!(
            "{} columns; a line of machine_events has {COLUMNS}, separated by commas: time, \
             machine id, event type, \
             platform, CPUs, memory",
            columns.len()
        )));
    }
    let value = |column: Column| columns[column.0 - 1];
    let time = TIME.whole(value(TIME), AFTER_THE_END)?;
    if time > MAX_MICROS && time != AFTER_THE_END {
        return Err(TIME
            .wrong(value(TIME), "is too large; wanted are microseconds, up to 2^53, or 2^63 - 1"));
    }
    let kind = match EVENT.whole(value(EVENT), 2)? {
        0 => Kind::Add,
        1 => Kind::Remove,
        _ => Kind::Update,
    };
    let platform = value(PLATFORM);
    if platform.len() > MAX_PLATFORM || !platform.iter().all(u8::is_ascii_graphic) {
        return Err(
            PLATFORM.wrong(platform, "is no platform; wanted are up to 200 printable letters")
        );
    }
    let mut capacity = Resources::zero(kinds.len());
    let mut whole = true;
    for (kind, column) in found.iter().zip(CAPACITY) {
        let text = value(column);
        let amount = match text {
            b"" => 0,
            _ => parse_scaled(text, MACHINE, MAX_CAPACITY, Rounding::Nearest).map_err(|_| {
                column.wrong(
                    text,
                    "is no capacity; wanted is a share of the largest machine, 0 to 1000",
                )
            })?,
        };
        if let Some(kind) = kind {
            capacity.as_mut_slice()[*kind] = amount;
            whole &= amount > 0;
        }
    }
    // Printable ASCII, as checked.
    let platform = String::from_utf8_lossy(platform).into_owned();
    Ok(Event {
        time,
        id: ID.whole(value(ID), u64::MAX)?,
        kind,
        platform,
        capacity: whole.then_some(capacity),
    })
}

#[derive(Default)]
struct Cell {
    machines: Machines,
    last: u64,
    /// Capacity of each machine that is there.
    there: BTreeMap<u64, Resources>,
    /// Machines of the start that left at time 0 too: they are in `nodes`, so when they are added
    /// once more, that is a change.
    left_at_start: BTreeSet<u64>,
}

impl Cell {
    /// Takes in one event; false when it is left out.
    fn take(&mut self, event: Event) -> Result<bool, BadRow> {
        if event.time == AFTER_THE_END {
            return Ok(false);
        }
        if event.time < self.last {
            return Err(TIME.wrong(
                event.time.to_string().as_bytes(),
                &format!(
                    "is before the preceding row's {}; machine_events is in order of time",
                    self.last
                ),
            ));
        }
        let name = format!("m{}", event.id);
        let known = self.there.get(&event.id);
        let change = match (event.kind, known, event.capacity) {
            (Kind::Add, Some(_), _) => {
                return Err(
                    ID.wrong(event.id.to_string().as_bytes(), "is added, but it is there already")
                );
            }
            (Kind::Add, None, Some(capacity)) => {
                let labels = match event.platform.is_empty() {
                    true => Labels::new(),
                    false => Labels::from([("platform".to_owned(), event.platform)]),
                };
                self.there.insert(event.id, capacity);
                MachineChange::Joins(NodeSpec { labels, ..NodeSpec::new(name, capacity) })
            }
            (Kind::Remove, Some(_), _) => {
                self.there.remove(&event.id);
                if event.time == 0 {
                    self.left_at_start.insert(event.id);
                }
                MachineChange::Leaves(name)
            }
            (Kind::Update, Some(old), Some(new)) if *old != new => {
                self.there.insert(event.id, new);
                MachineChange::Resized(name, new)
            }
            // Updates of attributes that are not in the file.
            (Kind::Update, Some(_), Some(_)) => return Ok(true),
            (Kind::Add, None, None)
            | (Kind::Remove | Kind::Update, None, _)
            | (Kind::Update, _, None) => {
                return Ok(false);
            }
        };
        self.last = event.time;
        match change {
            MachineChange::Joins(node)
                if event.time == 0 && !self.left_at_start.contains(&event.id) =>
            {
                self.machines.nodes.push(node);
            }
            change => self.machines.changes.push((time(event.time), change)),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(memory: Unit) -> ResourceKinds {
        ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), memory)]).unwrap()
    }

    #[test]
    fn the_published_cell() {
        let kinds = kinds(Unit::Milli);
        let cell = published_mix(&kinds, 12_583, Draw::Exact).unwrap();
        let mut total = Resources::zero(2);
        cell.nodes.iter().for_each(|node| total.add(&node.capacity));
        // Sums of Table 1: in hundredths of the largest machine.
        let sum = |share: fn(&MachineClass) -> u64| -> u64 {
            PUBLISHED_MACHINES.iter().map(|class| u64::from(class.count) * share(class)).sum()
        };
        assert_eq!((sum(|class| class.share[0]), sum(|class| class.share[1])), (665_900, 592_180));
        assert_eq!(total, Resources::new(&[6_659_000_000, 5_921_800_000]));
        assert_eq!((cell.nodes.len(), cell.nodes[12_582].name.as_str()), (12_583, "google-12582"));
        assert_eq!(cell.nodes[6732 + 3863 + 1001].labels["platform"], "C");
    }

    #[test]
    fn draws_are_of_the_mix_and_repeat() {
        let kinds = kinds(Unit::Milli);
        let random = |seed| published_mix(&kinds, 2000, Draw::Random { seed }).unwrap().nodes;
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        let of_first = |nodes: &[NodeSpec]| {
            nodes.iter().filter(|node| node.capacity == Resources::new(&[500_000, 500_000])).count()
        };
        // 2000 x 6732 / 12583 = 1070, with a deviation of 22.
        assert!((1000..1140).contains(&of_first(&random(1))), "{}", of_first(&random(1)));
        assert_eq!(of_first(&published_mix(&kinds, 2000, Draw::Exact).unwrap().nodes), 1070);
        assert_eq!(largest_remainder(&[1, 1, 1], 2), [1, 1, 0]);
        assert_eq!(largest_remainder(&[3, 1], 4), [3, 1]);
        assert_eq!(largest_remainder(&[3, 1], 0), [0, 0]);
    }

    #[test]
    fn only_what_was_published_and_in_its_unit() {
        let bytes = published_mix(&kinds(Unit::Bytes), 1, Draw::Exact).unwrap_err().to_string();
        assert!(bytes.contains("declare { name = \"memory\", unit = \"milli\" }"), "{bytes}");
        let gpu =
            ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("gpu".into(), Unit::Milli)])
                .unwrap();
        let error = published_mix(&gpu, 1, Draw::Exact).unwrap_err().to_string();
        assert!(error.contains("\"gpu\" was not published"), "{error}");
    }

    #[test]
    fn machines_come_change_and_go() {
        let text = "0,5,0,HofLG,0.5,0.2493\n0,6,0,,0.25,0.25\n0,7,0,x,,\n\n1000,5,2,HofLG,0.5,0.24\
            93\n\
                    2000,5,2,HofLG,0.5,0.749\n3000,6,1,,0.25,0.25\n3000,9,1,,0.25,0.25\n4000,6,0,y\
                        ,0.25,0.25\n\
                    9223372036854775807,5,1,,,\n";
        let read = |text: &str, policy| {
            read_machine_events(
                &Origin::bytes("m.csv", text.as_bytes()),
                &kinds(Unit::Milli),
                policy,
            )
        };
        let machines = read(text, OnBadLine::Stop).unwrap();
        let names: Vec<&str> = machines.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["m5", "m6"]);
        assert_eq!(machines.nodes[0].capacity, Resources::new(&[500_000, 249_300]));
        assert_eq!(machines.nodes[0].labels["platform"], "HofLG");
        assert!(machines.nodes[1].labels.is_empty());
        let changes: Vec<(u64, &MachineChange)> =
            machines.changes.iter().map(|(at, change)| (at.as_micros(), change)).collect();
        assert_eq!(
            changes[..2],
            [
                (2000, &MachineChange::Resized("m5".into(), Resources::new(&[500_000, 749_000]))),
                (3000, &MachineChange::Leaves("m6".into())),
            ]
        );
        assert!(matches!(changes[2], (4000, MachineChange::Joins(
                node)) if node.labels["platform"] == "y"));
        assert_eq!((machines.lines, machines.ignored, machines.bad()), (9, 3, 0));
        let rows = [
            ("0,5,0", "3 columns; a line of machine_events has 6"),
            (
                "0,5,3,x,1,1",
                "column 3 (event type): \"3\" is too large; wanted is a whole number from 0 to 2",
            ),
            ("0,5,0,x,lots,1", "column 5 (CPUs): \"lots\" is no capacity"),
            ("0,1,0,x,1,1", "column 2 (machine id): \"1\" is added, but it is there already"),
            ("x,1,0,x,1,1", "column 1 (time): \"x\" is not a number"),
        ];
        for (line, expected) in rows {
            let text = format!("0,1,0,p,1,1\n{line}\n");
            let strict = read(&text, OnBadLine::Stop).unwrap_err().to_string();
            assert!(strict.starts_with(&format!("m.csv:2: {expected}")), "{strict}");
            let lenient = read(&text, OnBadLine::Skip).unwrap();
            assert_eq!((lenient.bad(), lenient.nodes.len()), (1, 1), "{line}");
        }
        let back = "0,6,0,,0.5,0.5\n0,6,1,,,\n0,6,0,,0.25,0.5\n0,6,1,,,\n0,6,0,,0.5,0.25\n";
        let machines = read(back, OnBadLine::Stop).unwrap();
        assert_eq!((machines.nodes.len(), machines.nodes[0].name.as_str()), (1, "m6"));
        assert_eq!(machines.changes.len(), 4, "a node that comes back is no second node");
        let empty = read("", OnBadLine::Skip).unwrap_err().to_string();
        assert!(
            empty.starts_with("m.csv: no machines: no line adds a machine at time 0"),
            "{empty}"
        );
    }
}
