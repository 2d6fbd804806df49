//! What can be asked for: one figure as small as can be, others within bounds.

use meed_config::words::did_you_mean;

/// A figure that can be aimed at, or bounded. Less is better of each.
#[derive(Debug)]
pub struct Figure {
    /// What people write.
    pub name: &'static str,
    /// The measured column (docs/sweep.md).
    pub column: &'static str,
    /// In words.
    pub title: &'static str,
    /// Whether it is a time, in seconds; a number of tenants otherwise.
    pub is_time: bool,
}

/// All figures, in the order in which they are shown.
pub const FIGURES: [Figure; 6] = [
    Figure {
        name: "light",
        column: "light_wait_s",
        title: "mean wait of the lighter half of tenants",
        is_time: true,
    },
    Figure {
        name: "heavy",
        column: "heavy_wait_s",
        title: "mean wait of the heaviest tenth of tenants",
        is_time: true,
    },
    Figure { name: "mean", column: "mean_job_s", title: "mean job time", is_time: true },
    Figure {
        name: "longest",
        column: "tenant_wait_s_p90",
        title: "longest wait, 90th percentile of tenants",
        is_time: true,
    },
    Figure {
        name: "wide",
        column: "wide_wait_s",
        title: "mean wait of the widest tenth of jobs",
        is_time: true,
    },
    Figure {
        name: "below",
        column: "tenants_below",
        title: "tenants that got less than their share (rho below 1)",
        is_time: false,
    },
];

/// A bound: the figure may be at most so many times what it is under the baseline.
#[derive(Clone, Copy, Debug)]
pub struct AtMost {
    /// Which figure.
    pub figure: &'static Figure,
    /// In thousandths.
    pub ratio: u32,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Aims {
    /// As small as can be.
    pub aim: &'static Figure,
    /// What must hold.
    pub bounds: Vec<AtMost>,
}

/// The bounds when none are given: those who pay for a memory are the heavy, and the mean.
const DEFAULT_BOUNDS: [(&str, u32); 2] = [("heavy", 1500), ("mean", 1050)];

impl Aims {
    /// From the words of `--aim` and `--at-most`; a bound that is not named keeps its default, and
    /// `none` takes it away.
    pub fn read(aim: Option<&str>, at_most: &[String]) -> Result<Aims, String> {
        let aim = figure(aim.unwrap_or("light")).map_err(|why| format!("--aim: {why}"))?;
        let mut bounds = Vec::new();
        for (name, ratio) in DEFAULT_BOUNDS {
            bounds.push(AtMost { figure: figure(name)?, ratio });
        }
        for text in at_most {
            let fail = |why: String| format!("--at-most {text}: {why}");
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| fail("is not of the form FIGURE=RATIO, as in mean=1.1".into()))?;
            let figure = figure(name.trim()).map_err(fail)?;
            bounds.retain(|bound| bound.figure.name != figure.name);
            if value.trim() != "none" {
                let ratio = thousandths(value.trim()).map_err(fail)?;
                bounds.push(AtMost { figure, ratio });
            }
        }
        bounds.retain(|bound| bound.figure.name != aim.name);
        Ok(Aims { aim, bounds })
    }
}

fn figure(name: &str) -> Result<&'static Figure, String> {
    FIGURES.iter().find(|figure| figure.name == name).ok_or_else(|| {
        let known = || FIGURES.iter().map(|figure| figure.name);
        let all = || format!("known are {}", known().collect::<Vec<_>>().join(", "));
        let hint = did_you_mean(name, known()).unwrap_or_else(all);
        format!("unknown figure `{name}`; {hint}")
    })
}

/// A positive decimal with at most three digits behind the point, in thousandths.
pub fn thousandths(text: &str) -> Result<u32, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let read = || {
        if text.is_empty() || whole.len() > 6 || part.len() > 3 || !digits(whole) || !digits(part) {
            return None;
        }
        let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let part: u32 = format!("{part:0<3}").parse().ok()?;
        Some(whole * 1000 + part).filter(|value| *value > 0)
    };
    read().ok_or_else(|| {
        format!("`{text}` is not a positive number with at most three decimals, as in 1.05")
    })
}
