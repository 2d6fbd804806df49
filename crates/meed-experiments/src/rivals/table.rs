//! The rivals: a row for each, with its cadence and parameters, and how users name one.
//!
//! > fair-tree,half_life=14d,cadence=1min
//!
//! A name, and keys after it as in a policy's short form.

use meed::Span;
use meed_config::units::{format_span, parse_span};
use meed_config::words::did_you_mean;

use super::rule::Rule;
use super::rules::{
    Condor, FairTree, FlexibleLending, Kai, Karma, KueueAfs, MrKarma, Pbs, Sge, TPeriod, Volcano,
};

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterForm {
    /// A time, as in `7d`; 0 is allowed.
    Time,
    /// A number that is not negative.
    Number,
    /// A number from 0 to 1.
    Part,
}

/// A parameter of a rival.
#[derive(Debug)]
pub struct Parameter {
    /// As users write it.
    pub name: &'static str,
    /// What it is.
    pub form: ParameterForm,
    /// What it is when nobody says.
    pub default: &'static str,
    /// What it is called at the source.
    pub about: &'static str,
}

/// Parameters in the order of their row: times in seconds.
type Values<'v> = &'v [f64];

/// A scheduler whose order can be compared.
pub struct Rival {
    /// As users write it.
    pub name: &'static str,
    /// Whose.
    pub of: &'static str,
    /// One line.
    pub about: &'static str,
    /// How often it recomputes ranks, and why so often.
    pub cadence: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    make: fn(Values<'_>) -> Box<dyn Rule>,
}

const fn time(name: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { name, form: ParameterForm::Time, default, about }
}

/// Of Karma, over one resource and over several.
const ALPHA: Parameter = Parameter {
    name: "alpha",
    form: ParameterForm::Part,
    default: "0.5",
    about: "the part of the fair share that is guaranteed",
};

/// All of them.
pub const RIVALS: &[Rival] = &[
    Rival {
        name: "fair-tree",
        of: "Slurm",
        about: "decayed use, ranked level by level",
        cadence: "5min",
        parameters: &[
            time("half_life", "7d", "PriorityDecayHalfLife; 0 for none"),
            time("reset", "0", "PriorityUsageResetPeriod; 0 for none"),
        ],
        make: |values| Box::new(FairTree::new(values[0], values[1])),
    },
    Rival {
        name: "condor",
        of: "HTCondor",
        about: "slices in proportion to 1 / effective user priority",
        cadence: "1min",
        parameters: &[time("half_life", "1d", "PRIORITY_HALFLIFE")],
        make: |values| Box::new(Condor::new(values[0])),
    },
    Rival {
        name: "kueue-afs",
        of: "Kueue",
        about: "moving average of what is held, with penalties of entry",
        cadence: "5min",
        parameters: &[time("half_life", "7d", "usageHalfLifeTime; Kueue's default 0 is off")],
        make: |values| Box::new(KueueAfs::new(values[0])),
    },
    Rival {
        name: "pbs",
        of: "OpenPBS",
        about: "use over target, halved in steps",
        cadence: "10min",
        parameters: &[
            Parameter {
                name: "factor",
                form: ParameterForm::Part,
                default: "0.5",
                about: "fairshare_decay_factor",
            },
            time("decay_time", "1d", "fairshare_decay_time"),
        ],
        make: |values| Box::new(Pbs::new(values[0], values[1])),
    },
    Rival {
        name: "karma",
        of: "Karma, OSDI'23",
        about: "credits for what was donated and borrowed",
        cadence: "5min",
        parameters: &[ALPHA],
        make: |values| Box::new(Karma::new(values[0])),
    },
    Rival {
        name: "mr-karma",
        of: "Meed, after Karma",
        about: "Karma's credits in dominant shares over all resources",
        cadence: "5min",
        parameters: &[ALPHA],
        make: |values| Box::new(MrKarma::new(values[0])),
    },
    Rival {
        name: "flexible-lending",
        of: "SIGMETRICS'18",
        about: "tokens for a horizon; all of the capacity is paid for",
        cadence: "5min",
        parameters: &[time("horizon", "7d", "T; then tokens are given anew")],
        make: |values| Box::new(FlexibleLending::new(values[0])),
    },
    Rival {
        name: "t-period",
        of: "SIGMETRICS'18",
        about: "lends in the first half of a period, repays in the second",
        cadence: "5min",
        parameters: &[time("period", "7d", "the whole period")],
        make: |values| Box::new(TPeriod::new(values[0])),
    },
    Rival {
        name: "kai",
        of: "KAI-Scheduler",
        about: "fair shares by weights that use over a window lowers",
        cadence: "1min",
        parameters: &[
            Parameter { name: "k", form: ParameterForm::Number, default: "1", about: "kValue" },
            time("window", "7d", "windowSize"),
            Parameter {
                name: "deserved",
                form: ParameterForm::Part,
                default: "0",
                about: "the quota, as a part of the static share",
            },
        ],
        make: |values| Box::new(Kai::new(values[0], values[1], values[2])),
    },
    Rival {
        name: "sge",
        of: "Grid Engine",
        about: "share tree: targets that fall with decayed use, and compensation",
        cadence: "1min",
        parameters: &[
            time("halftime", "7d", "halftime; 0 for none"),
            Parameter {
                name: "compensation",
                form: ParameterForm::Number,
                default: "5",
                about: "compensation_factor; 0 for none",
            },
        ],
        make: |values| Box::new(Sge::new(values[0], values[1])),
    },
    Rival {
        name: "volcano",
        of: "Volcano",
        about: "decayed use without weights",
        cadence: "1s",
        parameters: &[time("half_life", "4h", "half-life of the fairshare plugin")],
        make: |values| Box::new(Volcano::new(values[0])),
    },
];

/// A rival with its parameters.
#[derive(Clone)]
pub struct Chosen {
    /// Which.
    pub rival: &'static Rival,
    /// As it was named.
    pub words: String,
    /// How often it ticks.
    pub cadence: Span,
    values: Vec<f64>,
}

impl Chosen {
    /// The rival that `words` name, if it is one.
    pub fn find(words: &str, cadence: Option<Span>) -> Result<Option<Chosen>, String> {
        let (name, keys) = words.split_once(',').unwrap_or((words, ""));
        let Some(rival) = RIVALS.iter().find(|rival| rival.name == name.trim()) else {
            return Ok(None);
        };
        let fail = |why: String| format!("{words}: {why}");
        let own = |parameter: &Parameter| read(parameter.form, parameter.default);
        let values = rival.parameters.iter().map(own).collect::<Result<Vec<f64>, _>>();
        let mut chosen = Chosen {
            rival,
            words: words.to_owned(),
            cadence: span(rival.cadence).map_err(fail)?,
            values: values.map_err(fail)?,
        };
        chosen.cadence = cadence.unwrap_or(chosen.cadence);
        for key in keys.split(',').filter(|key| !key.trim().is_empty()) {
            chosen.set(key).map_err(fail)?;
        }
        Ok(Some(chosen))
    }

    fn set(&mut self, key: &str) -> Result<(), String> {
        let Some((name, value)) = key.split_once('=') else {
            return Err(format!("`{}` is not of the form key=value", key.trim()));
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "cadence" {
            self.cadence = span(value).map_err(|why| format!("cadence: {why}"))?;
            return Ok(());
        }
        let all = self.rival.parameters;
        let Some(at) = all.iter().position(|parameter| parameter.name == name) else {
            let names = || all.iter().map(|parameter| parameter.name).chain(["cadence"]);
            let known = || format!("known are {}", names().collect::<Vec<_>>().join(", "));
            let near = did_you_mean(name, names()).unwrap_or_else(known);
            return Err(format!("unknown key `{name}`; {near}"));
        };
        self.values[at] = read(all[at].form, value).map_err(|why| format!("{name}: {why}"))?;
        Ok(())
    }

    /// The rule of one parent's children.
    pub(crate) fn rule(&self) -> Box<dyn Rule> {
        (self.rival.make)(&self.values)
    }

    /// How often it ticks, in words.
    pub fn pace(&self) -> String {
        format_span(self.cadence)
    }
}

/// How often a rule ticks.
pub fn span(text: &str) -> Result<Span, String> {
    match parse_span(text) {
        Ok(Span::ZERO) => Err("must be above zero".to_owned()),
        Ok(span) => Ok(span),
        Err(why) => Err(why.to_string()),
    }
}

fn read(form: ParameterForm, text: &str) -> Result<f64, String> {
    if form == ParameterForm::Time {
        let span = parse_span(text).map_err(|why| why.to_string())?;
        return Ok(span.as_secs_f64());
    }
    let most = if form == ParameterForm::Part { 1.0 } else { f64::MAX };
    let fits = |number: &f64| (0.0..=most).contains(number);
    let number = text.parse::<f64>().ok().filter(fits);
    number.ok_or_else(|| match form {
        ParameterForm::Part => format!("`{text}` is not a number from 0 to 1"),
        _ => format!("`{text}` is not a number of 0 or more"),
    })
}
