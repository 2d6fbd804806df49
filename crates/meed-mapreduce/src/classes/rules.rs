//! The rules that users can name: Hadoop's, and those of the paper.

use super::Slots;

/// How a rule looks at where the data lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locality {
    /// Not at all: the next block of the job, wherever it lies.
    None,
    /// A job takes a block on the node if there is one, else any.
    First,
    /// A job without a block on the node is passed over, for a time (Zaharia et al., EuroSys 2010).
    Delay,
    /// A classified job takes a block from elsewhere only where that is faster (JAS, Eq. 6).
    IfItPays,
}

/// A rule: choices that are independent of each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// What users write.
    pub name: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// Whether map slots are split in two classes, half of a node's each at first.
    pub splits: bool,
    /// Whether slots of a class follow what nodes are capable of (Algorithms 2 and 3).
    pub by_capability: bool,
    /// Whether a slot of one class takes jobs of the other when its own has none (Algorithms 4 and
    /// 5, line 11).
    pub fills_other: bool,
    /// See [`Locality`].
    pub locality: Locality,
    /// Whether slots are set anew when nodes overload (Algorithm 10).
    pub adapts: bool,
}

const HADOOP: Rule = Rule {
    name: "hadoop",
    source: "JAS (TCC 2018), Sec. 2.1",
    splits: false,
    by_capability: false,
    fills_other: false,
    locality: Locality::First,
    adapts: false,
};

const JAS: Rule = Rule {
    name: "jas",
    source: "JAS (TCC 2018), Algorithms 1 to 6",
    splits: true,
    by_capability: true,
    fills_other: true,
    locality: Locality::None,
    adapts: false,
};

/// All rules.
pub const RULES: &[Rule] = &[
    HADOOP,
    Rule {
        name: "delay",
        source: "Zaharia et al. (EuroSys 2010)",
        locality: Locality::Delay,
        ..HADOOP
    },
    Rule {
        name: "dmr",
        source: "Tian et al. (GCC 2009); JAS (TCC 2018), Sec. 2.4",
        splits: true,
        ..HADOOP
    },
    JAS,
    Rule {
        name: "jasl",
        source: "JAS (TCC 2018), Algorithms 7 to 9",
        locality: Locality::IfItPays,
        ..JAS
    },
    Rule {
        name: "djasl",
        source: "JAS (TCC 2018), Algorithm 10",
        locality: Locality::IfItPays,
        adapts: true,
        ..JAS
    },
];

impl Rule {
    /// The rule of this name.
    pub fn find(name: &str) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.name == name)
    }

    /// How many slots of each kind a node has before it is measured: all for all, or half for each
    /// class, an odd one for CPU-bound jobs.
    pub fn usual_slots(&self, map_slots: u32) -> Slots {
        if self.splits {
            Slots { any: 0, cpu: map_slots.div_ceil(2), io: map_slots / 2 }
        } else {
            Slots { any: map_slots, ..Slots::default() }
        }
    }
}
