//! Points over their seeds, and which settings are the best and the worst.

use super::results::Results;

/// Points that differ by their seed only.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepGroup {
    /// Values of all parameters but the seed.
    pub setting: Vec<String>,
    /// For each measured column its values, one for each seed at which it exists.
    pub values: Vec<Vec<f64>>,
}

impl SweepGroup {
    /// Mean over the seeds of measured column number `column`; nothing when it exists at no seed.
    pub fn mean(&self, column: usize) -> Option<f64> {
        let values = self.values.get(column)?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Smallest and largest value over the seeds.
    pub fn range(&self, column: usize) -> Option<(f64, f64)> {
        let values = self.values.get(column)?;
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        Some((low, values.iter().copied().max_by(f64::total_cmp)?))
    }
}

/// The points of `results` in groups that differ by their seed only, in order.
pub fn groups(results: &Results) -> Vec<SweepGroup> {
    let mut groups: Vec<SweepGroup> = Vec::new();
    let settings = results.parameters.len() - 1;
    for row in &results.rows {
        let setting = &row.parameters[..settings];
        // Seeds vary fastest: equal settings are neighbours.
        if groups.last().is_none_or(|group| group.setting != setting) {
            groups.push(SweepGroup {
                setting: setting.to_vec(),
                values: vec![Vec::new(); results.measured.len()],
            });
        }
        if let Some(group) = groups.last_mut() {
            let cells = group.values.iter_mut().zip(&row.cells);
            cells.for_each(|(values, cell)| values.extend(cell.parse::<f64>()));
        }
    }
    groups
}

/// Which way is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// More is.
    More,
    /// Less is.
    Less,
}

/// A figure that settings are judged by.
pub struct Judged {
    /// The measured column.
    pub column: &'static str,
    /// What it is called for people, and its unit.
    pub title: &'static str,
    /// The unit of the axis; empty for a ratio.
    pub unit: &'static str,
    /// Its column divided by this is in that unit.
    pub divisor: f64,
    /// Which way is better.
    pub better: Better,
}

impl Judged {
    /// Whether it counts tenants: of one run it is a whole number.
    pub fn counts(&self) -> bool {
        self.column == "tenants_below"
    }
}

const HOUR: f64 = 3600.0;

/// The figures that charts, tables and the best and worst are made of, in order.
pub const JUDGED: [Judged; 12] = [
    Judged {
        column: "psi",
        title: "sharing benefit Psi",
        unit: "",
        divisor: 1.0,
        better: Better::More,
    },
    Judged {
        column: "omega",
        title: "sharing loss Omega",
        unit: "",
        divisor: 1.0,
        better: Better::More,
    },
    Judged {
        column: "jain",
        title: "Jain's index of rho",
        unit: "",
        divisor: 1.0,
        better: Better::More,
    },
    Judged {
        column: "rho_min",
        title: "smallest rho of a tenant",
        unit: "",
        divisor: 1.0,
        better: Better::More,
    },
    Judged {
        column: "tenants_below",
        title: "tenants with rho below 1",
        unit: "",
        divisor: 1.0,
        better: Better::Less,
    },
    Judged {
        column: "mean_job_s",
        title: "mean job time",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "p99_job_s",
        title: "99th percentile of job times",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "tenant_wait_s_p50",
        title: "longest wait of the median tenant",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "light_wait_s",
        title: "mean wait of the lighter half of tenants",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "heavy_wait_s",
        title: "mean wait of the heaviest tenth of tenants",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "wide_wait_s",
        title: "mean wait of the widest tenth of jobs",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
    Judged {
        column: "longest_wait_s",
        title: "longest wait of all",
        unit: "h",
        divisor: HOUR,
        better: Better::Less,
    },
];

/// The best and the worst setting by one figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Extremes {
    /// Where it is best.
    pub best: Extreme,
    /// Where it is worst.
    pub worst: Extreme,
}

/// An extreme value and where it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extreme {
    /// The value.
    pub value: f64,
    /// Index of the first group that has it.
    pub first: usize,
    /// How many groups have it.
    pub count: usize,
}

/// The best and the worst of `groups` by measured column number `column`. Nothing when it exists
/// nowhere.
pub fn extremes(groups: &[&SweepGroup], column: usize, better: Better) -> Option<Extremes> {
    let known =
        || groups.iter().enumerate().filter_map(|(at, group)| Some((group.mean(column)?, at)));
    let extreme = |value: f64| {
        let having = known().filter(|(mean, _)| *mean == value).map(|(_, at)| at);
        Some(Extreme { value, first: having.clone().next()?, count: having.count() })
    };
    let values = || known().map(|(value, _)| value);
    let (low, high) = (values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?);
    let (best, worst) = match better {
        Better::More => (high, low),
        Better::Less => (low, high),
    };
    Some(Extremes { best: extreme(best)?, worst: extreme(worst)? })
}

/// The quantile `q` (0 to 1) of sorted values, interpolated between neighbours; nothing of nothing.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let at = q.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(at.floor() as usize)?, sorted.get(at.ceil() as usize)?);
    Some(low + (high - low) * at.fract())
}
