//! What a site has set: `scontrol show config`.

use std::collections::BTreeMap;
use std::path::Path;

/// Meed's own plug-in, which sets the factors of new jobs alone.
const PLUGIN: &str = "site_factor/meed";

/// Settings by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SlurmConfig(BTreeMap<String, String>);

/// Reads lines of the form `Name = value`; other lines are passed over.
pub(crate) fn parse_config(text: &str) -> SlurmConfig {
    let rows = text.lines().filter_map(|line| line.split_once('='));
    SlurmConfig(rows.map(|(name, value)| (name.trim().into(), value.trim().into())).collect())
}

/// Settings that `slurmctld` keeps to itself: `scontrol show config` prints `(null)` for them
/// whatever they are, in all versions from 22.05 to 25.11. They are read from `slurm.conf`.
const UNTOLD: [&str; 2] = ["PrioritySiteFactorPlugin", "PrioritySiteFactorParameters"];

impl SlurmConfig {
    /// The file that the settings come from.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.get("SLURM_CONF").map(Path::new)
    }

    /// Adds what only the file tells. Files that it includes are not read.
    pub(crate) fn add_file(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once('=') else { continue };
            let untold = UNTOLD.iter().find(|untold| untold.eq_ignore_ascii_case(name.trim()));
            if let Some(&untold) = untold {
                self.0.insert(untold.to_owned(), value.trim().trim_matches('"').to_owned());
            }
        }
    }

    /// The value of a setting, where it is set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| *value != "(null)")
    }

    /// The number at the beginning of a setting: of `300 sec` it is 300; 0 where there is none.
    pub(crate) fn number(&self, name: &str) -> i64 {
        let first = self.get(name).and_then(|value| value.split_whitespace().next());
        first.and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// What is missing for site factors to be the order, a sentence each: errors that no
    /// order can overcome, and remarks.
    pub(crate) fn check(&self) -> (Vec<String>, Vec<String>) {
        let (mut wrong, mut remarks) = (Vec::new(), Vec::new());
        let kind = self.get("PriorityType").unwrap_or("priority/basic");
        if kind != "priority/multifactor" {
            wrong.push(format!(
                "PriorityType is {kind}, which knows no site factor: set \
                 PriorityType=priority/multifactor in slurm.conf and restart slurmctld"
            ));
        }
        match self.get("PrioritySiteFactorPlugin") {
            Some(PLUGIN) if self.places().is_none() => wrong.push(format!(
                "PrioritySiteFactorPlugin is {PLUGIN}, and no file is named for places of new \
                 jobs: set PrioritySiteFactorParameters=/var/lib/meed-slurm/places in slurm.conf \
                 and restart slurmctld"
            )),
            None | Some(PLUGIN) => {}
            Some(plugin) => wrong.push(format!(
                "PrioritySiteFactorPlugin is {plugin}, which would overwrite every factor: remove \
                 it from slurm.conf and restart slurmctld"
            )),
        }
        if self.get("AccountingStorageType") != Some("accounting_storage/slurmdbd") {
            wrong.push(
                "AccountingStorageType is not accounting_storage/slurmdbd, so there are no \
                 accounts with shares: set up slurmdbd"
                    .to_owned(),
            );
        }
        let age = self.number("MinJobAge");
        if (1..60).contains(&age) {
            remarks.push(format!(
                "MinJobAge is {age} s: ends may be forgotten between two looks and are then read \
                 from accounting; 60 s or more would do"
            ));
        }
        for name in ["PriorityWeightQOS", "PriorityWeightPartition"] {
            if self.number(name) > 0 {
                remarks.push(format!(
                    "{name} is {}: it is added to the site factor, so jobs whose factor differs \
                     by it may come before Meed's order",
                    self.number(name)
                ));
            }
        }
        let flags = self.get("PriorityFlags").unwrap_or_default().split(',');
        let unbound: Vec<&str> = flags.filter(|flag| flag.starts_with("NO_NORMAL_")).collect();
        if !unbound.is_empty() {
            remarks.push(format!(
                "PriorityFlags has {}: a factor that is not normalized may be above its weight, so \
                 jobs may come before Meed's order; remove the flag",
                unbound.join(", ")
            ));
        }
        (wrong, remarks)
    }

    /// The file in which Meed's own plug-in looks for the places of new jobs, where it is loaded.
    pub(crate) fn places(&self) -> Option<&Path> {
        self.get("PrioritySiteFactorPlugin").filter(|plugin| *plugin == PLUGIN)?;
        self.get("PrioritySiteFactorParameters").map(Path::new)
    }

    /// What the factors that Meed's order is to overrule can add up to: age, fair share, size,
    /// association, and each resource of `PriorityWeightTRES`.
    pub(crate) fn overruled(&self) -> i64 {
        let names = ["Age", "FairShare", "JobSize", "Assoc"];
        let weights = names.iter().map(|name| self.number(&format!("PriorityWeight{name}")).max(0));
        weights.chain(self.weights_of_tres()).fold(0, i64::saturating_add)
    }

    /// Weights of a list as `CPU=1000,Mem=2000,GRES/gpu=0.5`; fractions are rounded up.
    fn weights_of_tres(&self) -> impl Iterator<Item = i64> {
        let list = self.get("PriorityWeightTRES").unwrap_or_default();
        let weights = list.split(',').filter_map(|row| row.rsplit_once('=')?.1.trim().parse().ok());
        weights.map(|weight: f64| weight.max(0.0).ceil() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
Configuration data as of 2026-11-29T16:45:55
AccountingStorageType   = accounting_storage/slurmdbd
MinJobAge               = 300 sec
PrioritySiteFactorPlugin = (null)
PriorityFlags            = CALCULATE_RUNNING
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
PriorityWeightFairShare = 100000
PriorityWeightQOS       = 0
";

    #[test]
    fn a_site_that_has_all_is_told_nothing() {
        let config = parse_config(GOOD);
        assert_eq!(config.check(), (vec![], vec![]));
        assert_eq!(config.overruled(), 101_000);
    }

    #[test]
    fn each_thing_that_is_missing_has_a_sentence() {
        for (from, to, word) in [
            ("priority/multifactor", "priority/basic", "PriorityType=priority/multifactor"),
            ("FactorPlugin = (null)", "FactorPlugin = site_factor/x", "would overwrite"),
            ("FactorPlugin = (null)", "FactorPlugin = site_factor/meed", "no file is named"),
            ("accounting_storage/slurmdbd", "accounting_storage/none", "set up slurmdbd"),
        ] {
            let (wrong, _) = parse_config(&GOOD.replace(from, to)).check();
            assert!(wrong.len() == 1 && wrong[0].contains(word), "{wrong:?}");
        }
        for (from, to, word) in [
            ("300 sec", "59 sec", "MinJobAge"),
            ("QOS       = 0", "QOS = 500", "PriorityWeightQOS"),
            ("CALCULATE_RUNNING", "CALCULATE_RUNNING,NO_NORMAL_TRES", "NO_NORMAL_TRES"),
        ] {
            let (_, remarks) = parse_config(&GOOD.replace(from, to)).check();
            assert!(remarks.len() == 1 && remarks[0].contains(word), "{remarks:?}");
        }
    }

    #[test]
    fn meeds_own_plug_in_is_no_fault_where_it_has_a_file() {
        assert_eq!(parse_config(GOOD).places(), None);
        let mut config = parse_config(&format!("{GOOD}SLURM_CONF = /etc/slurm/slurm.conf\n"));
        assert_eq!(config.file(), Some(Path::new("/etc/slurm/slurm.conf")));
        config.add_file(
            "#PrioritySiteFactorPlugin=site_factor/x\nPriorityType=priority/basic\n\
             prioritysitefactorplugin = site_factor/meed # ours\n\
             PrioritySiteFactorParameters=/var/lib/meed/places\n",
        );
        assert_eq!(config.check(), (vec![], vec![]));
        assert_eq!(config.places(), Some(Path::new("/var/lib/meed/places")));
    }

    #[test]
    fn weights_of_resources_are_overruled_too() {
        for (list, sum) in [
            ("(null)", 101_000),
            ("CPU=2000,Mem=3000", 106_000),
            ("cpu=0.5,GRES/gpu=10000.00", 111_001),
        ] {
            let config = parse_config(&format!("{GOOD}PriorityWeightTRES      = {list}\n"));
            assert_eq!(config.overruled(), sum, "{list}");
        }
    }
}
