//! How a table is to be read: all choices of its reader, and what each can be.

use std::collections::BTreeMap;

use super::day_order::TableDates;
use super::decimals::TableDecimal;
use super::presets::{self, Preset};
use crate::partitions::PARTITION;

/// The mapping as settings give it: keys with what they say.
pub type TableMap = BTreeMap<String, String>;

/// How the values of a table are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableForm {
    /// Separated by commas, tabs, semicolons or bars.
    #[default]
    Separated,
    /// An object of JSON on each line.
    JsonLines,
    /// Lines of an accounting log of PBS: `DATE;TYPE;JOB;KEY=VALUE ...`.
    Accounting,
    /// Lines of an accounting log of LSF: fields between blanks.
    Lsf,
    /// Lines of an accounting file of Grid Engine: fields between colons.
    GridEngine,
    /// `sacct --json`: the document, or one job of it on each line.
    SlurmJson,
}

/// Tables whose columns are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownTable {
    /// `sacct --parsable2`, and `sacct --json` of the form [`TableForm::SlurmJson`].
    Slurm,
    /// Accounting logs of PBS; of the form [`TableForm::Accounting`].
    Pbs,
    /// `lsb.acct` of LSF; of the form [`TableForm::Lsf`].
    Lsf,
    /// The accounting file of Grid Engine; of the form [`TableForm::GridEngine`].
    GridEngine,
    /// `condor_history -jsonl`; of the form [`TableForm::JsonLines`].
    Condor,
    /// Pods of Alibaba's GPU cluster of 2023.
    Openb,
    /// batch_task of Alibaba's trace of 2018.
    Alibaba2018,
    /// vmtable of Azure's traces of virtual machines.
    AzureVms,
}

/// What `K`, `M`, `G` behind a size are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableSizes {
    /// Powers of 1000.
    Decimal,
    /// Powers of 1024.
    Binary,
}

/// Whose the amounts of a row are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableAmounts {
    /// Those of each task.
    PerTask,
    /// Those of all tasks of the job together.
    PerJob,
}

/// What a dot in the name of a tenant is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableDots {
    /// A letter like others; it becomes `_`, for in names of queues it has a meaning.
    #[default]
    Flat,
    /// It stands between parent and child.
    Path,
}

/// All choices of the reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableAssumptions {
    /// How values are written.
    pub form: TableForm,
    /// Whether its columns are known.
    pub known: Option<KnownTable>,
    /// What is where, by key; `-` says that there is none. Every column that it names must be
    /// there.
    pub map: TableMap,
    /// The same for keys that `map` leaves out, before what is known of the table: of alternatives
    /// those that are there.
    pub usual: TableMap,
    /// The byte between values; when not given the one that the first line has most often.
    pub separator: Option<u8>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// The zone of dates that have none; when not given UTC.
    pub time_zone: Option<String>,
    /// In which order dates name day and month, where they are not of ISO 8601.
    pub dates: TableDates,
    /// What stands between whole numbers and their decimals.
    pub decimal: TableDecimal,
    /// What letters behind sizes are.
    pub sizes: Option<TableSizes>,
    /// Whose the amounts of a row are.
    pub amounts: Option<TableAmounts>,
    /// Whether jobs name the partitions on whose nodes they may run ([`crate::partitions`]).
    pub partitions: bool,
    /// What a dot in the name of a tenant is.
    pub dots: TableDots,
    /// What accounts, the first part of a tenant's path, are called instead: `physics.optics` for
    /// `optics`. Where it ends in `/` the next part follows at once: `physics.plasma/ann`.
    pub accounts: BTreeMap<String, String>,
}

impl TableAssumptions {
    /// Whether jobs name the partitions on whose nodes they may run: as `partitions` or the mapping
    /// says.
    pub fn names_partitions(&self) -> bool {
        self.partitions || self.map.contains_key(PARTITION)
    }

    /// What is known of the table, where its columns are.
    pub(super) fn preset(&self) -> Option<&'static Preset> {
        self.known.map(|known| match known {
            KnownTable::Slurm => &presets::SLURM,
            KnownTable::Pbs => &presets::PBS,
            KnownTable::Lsf => &presets::LSF,
            KnownTable::GridEngine => &presets::GRID_ENGINE,
            KnownTable::Condor => &presets::CONDOR,
            KnownTable::Openb => &presets::OPENB,
            KnownTable::Alibaba2018 => &presets::ALIBABA_2018,
            KnownTable::AzureVms => &presets::AZURE_VMS,
        })
    }
}
