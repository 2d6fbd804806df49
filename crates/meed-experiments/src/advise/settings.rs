//! The same memory in the words of other schedulers: a row each.
//!
//! Sources: slurm.conf(5) (PriorityDecayHalfLife, PriorityUsageResetPeriod); HTCondor's manual
//! (PRIORITY_HALFLIFE); sched_conf(5) of Grid Engine (halftime); PBS's administrator's guide
//! (fairshare_decay_time, fairshare_decay_factor); IBM's lsb.params (HIST_HOURS: "1 hour of
//! recently-used time is equivalent to 0.1 hours after the specified number of hours", so it is
//! log2(10) half-lives); Kueue's Configuration (usageHalfLifeTime); KAI's SchedulingShard
//! (halfLifePeriod, windowSize); AWS Batch's FairsharePolicy (shareDecaySeconds, at most a week).
//!
//! The same memory is not the same schedule: what each does with what it remembers differs. The
//! remarks say what is known to.

use meed::Span;

use super::memory::Remembers;

/// What to write where, or why it cannot be said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToldSetting {
    /// The lines to write; nothing where the scheduler has no such memory.
    pub lines: Option<String>,
    /// What to know about it; empty where there is nothing.
    pub remark: String,
}

/// One scheduler.
pub struct Scheduler {
    /// Its name.
    pub name: &'static str,
    /// Where the setting stands.
    pub file: &'static str,
    of: fn(Remembers) -> ToldSetting,
}

impl Scheduler {
    /// This memory in its words.
    pub fn setting(&self, memory: Remembers) -> ToldSetting {
        (self.of)(memory)
    }
}

/// All that are known.
pub const SCHEDULERS: [Scheduler; 9] = [
    Scheduler { name: "Meed", file: "[policy]", of: meed },
    Scheduler { name: "Slurm", file: "slurm.conf", of: slurm },
    Scheduler { name: "Kueue", file: "Configuration, admissionFairSharing", of: kueue },
    Scheduler { name: "KAI", file: "SchedulingShard, usageParams", of: kai },
    Scheduler { name: "AWS Batch", file: "scheduling policy, fairsharePolicy", of: aws_batch },
    Scheduler { name: "LSF", file: "lsb.params", of: lsf },
    Scheduler { name: "HTCondor", file: "condor_config", of: htcondor },
    Scheduler { name: "Grid Engine", file: "sched_conf", of: grid_engine },
    Scheduler { name: "PBS", file: "sched_config", of: pbs },
];

fn lines(text: impl Into<String>) -> ToldSetting {
    ToldSetting { lines: Some(text.into()), remark: String::new() }
}

fn none(why: &str) -> ToldSetting {
    ToldSetting { lines: None, remark: why.to_owned() }
}

impl ToldSetting {
    fn but(self, remark: &str) -> ToldSetting {
        ToldSetting { remark: remark.to_owned(), ..self }
    }
}

const SECOND: u64 = 1_000_000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;

/// Whole seconds, at least one.
fn seconds(span: Span) -> u64 {
    (span.as_micros() + SECOND / 2).checked_div(SECOND).unwrap_or(0).max(1)
}

/// As `168h0m0s` of Go is usually written: hours where they are whole, else seconds.
fn go_duration(span: Span) -> String {
    match seconds(span) {
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// `D-HH:MM:SS`.
fn slurm_time(span: Span) -> String {
    let minutes = ((seconds(span) + 30) / 60).max(1);
    let (days, rest) = (minutes / 1440, minutes % 1440);
    format!("{days}-{:02}:{:02}:00", rest / 60, rest % 60)
}

/// Whole hours of `numerator / 1,000,000` times this span, rounded, at least one.
fn hours(span: Span, millionths: u64) -> u64 {
    let hours = u128::from(span.as_micros()) * u128::from(millionths) / u128::from(SECOND);
    u64::try_from((hours + u128::from(HOUR / 2)) / u128::from(HOUR)).unwrap_or(u64::MAX).max(1)
}

fn meed(memory: Remembers) -> ToldSetting {
    let span = meed_config::units::format_span;
    let key = |key: &str, value: Span| {
        lines(format!("order = \"long-term\"\n{key} = \"{}\"", span(value)))
    };
    match memory {
        Remembers::Nothing => lines("order = \"fair\""),
        Remembers::HalfLife(half_life) => key("half_life", half_life),
        Remembers::Round(round) => key("round", round),
        Remembers::Forever => lines("order = \"long-term\""),
    }
}

fn slurm(memory: Remembers) -> ToldSetting {
    let reset =
        |period: &str| lines(format!("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod={period}"));
    match memory {
        Remembers::Nothing => none("its fair-share factor always remembers"),
        Remembers::HalfLife(half_life) => {
            lines(format!("PriorityDecayHalfLife={}", slurm_time(half_life)))
                .but("whole minutes; with priority/multifactor and PriorityWeightFairshare above 0")
        }
        Remembers::Round(round) => match round.as_micros() {
            DAY => reset("DAILY"),
            micros if micros == 7 * DAY => reset("WEEKLY"),
            micros if (28 * DAY..=31 * DAY).contains(&micros) => reset("MONTHLY"),
            _ => none("it resets daily, weekly, monthly, quarterly or yearly"),
        },
        Remembers::Forever => reset("NONE"),
    }
}

fn kueue(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::Nothing => none("leave admission fair sharing off"),
        Remembers::HalfLife(half_life) => {
            lines(format!("usageHalfLifeTime: \"{}\"", go_duration(half_life)))
                .but("queues below one ClusterQueue; deleting a LocalQueue deletes its history")
        }
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => none("it always forgets; 0 turns it off"),
    }
}

/// A window that holds so many half-lives has all but a 256th of what is remembered.
const WINDOW: u64 = 8;

fn kai(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::Nothing => none("leave the usage database out"),
        Remembers::HalfLife(half_life) => {
            let window = half_life.as_micros().saturating_mul(WINDOW);
            let window = Span::from_micros(window).unwrap_or(Span::MAX);
            let (half_life, window) = (go_duration(half_life), go_duration(window));
            lines(format!("halfLifePeriod: {half_life}\nwindowSize: {window}"))
                .but("the window cuts off what is older; it needs Prometheus to keep so much")
        }
        Remembers::Round(_) => none("its window slides unless it is told to tumble: not tried"),
        Remembers::Forever => none("it looks back over a window"),
    }
}

/// AWS takes no more than a week.
const AWS_MOST: u64 = 604_800;

fn aws_batch(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::Nothing => lines("shareDecaySeconds: 0"),
        Remembers::HalfLife(half_life) => {
            lines(format!("shareDecaySeconds: {}", seconds(half_life).min(AWS_MOST)))
                .but("how usage decays within that time is not documented; at most a week")
        }
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => none("at most a week"),
    }
}

/// log2(10), in millionths: what a half-life is in times after which a tenth is left.
const TENTH_IN_HALF_LIVES: u64 = 3_321_928;

fn lsf(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::Nothing => none("set the factors of used time to 0"),
        Remembers::HalfLife(half_life) => {
            lines(format!("HIST_HOURS={}", hours(half_life, TENTH_IN_HALF_LIVES)))
                .but("the time after which a tenth counts: 3.32 half-lives")
        }
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => lines("HIST_HOURS=0"),
    }
}

fn htcondor(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::HalfLife(half_life) => {
            lines(format!("PRIORITY_HALFLIFE = {}", seconds(half_life)))
                .but("it remembers a mean rate of use, and shares in proportion to its inverse")
        }
        Remembers::Nothing => none("its user priority always remembers"),
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => none("it always forgets"),
    }
}

fn grid_engine(memory: Remembers) -> ToldSetting {
    match memory {
        Remembers::HalfLife(half_life) => lines(format!("halftime {}", hours(half_life, SECOND)))
            .but("whole hours; with a share tree and weight_tickets_share above 0"),
        Remembers::Nothing => none("use functional tickets instead of the share tree"),
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => lines("halftime 0"),
    }
}

fn pbs(memory: Remembers) -> ToldSetting {
    let every = |time: String, factor: &str| {
        lines(format!("fairshare_decay_time: {time}\nfairshare_decay_factor: {factor}"))
    };
    match memory {
        Remembers::HalfLife(half_life) => {
            let all = seconds(half_life);
            let time = format!("{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
            every(time, "0.5").but("usage is halved in steps, not little by little")
        }
        Remembers::Nothing => none("leave fair_share off"),
        Remembers::Round(_) => none("it has no rounds"),
        Remembers::Forever => none("its factor lies below 1, so it always forgets"),
    }
}
