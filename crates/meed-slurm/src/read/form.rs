//! Which columns are asked of Slurm's commands: a row for each version whose form differs.
//!
//! The parsable text of 22.05 is what the newer versions still print under the same names (their
//! manual pages). Jobs, runs and nodes can be read as JSON instead (`--read json`).

/// What is asked of the commands from a version on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlurmForm {
    /// The first version of this form: year and month.
    pub from: (u32, u32),
    /// How it prints JSON.
    pub json: JsonForm,
    /// `squeue -O`, each as wide as what is printed (`.0`), and the bar behind it.
    pub jobs: &'static str,
    /// `sacct -P -o`.
    pub runs: &'static str,
    /// `sprio -o`: job, site factor, priority.
    pub priorities: &'static str,
    /// `sacctmgr -P show assoc format=`.
    pub shares: &'static str,
    /// `sshare -P -o`.
    pub fair: &'static str,
}

/// How a version prints JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JsonForm {
    /// The version of `data_parser` that this version of Slurm has first.
    pub parser: &'static str,
    /// The option that asks for it. 23.02 takes no name of a parser.
    pub option: &'static str,
    /// `scontrol` has it, too.
    pub has_nodes: bool,
}

const FIRST: SlurmForm = SlurmForm {
    from: (22, 5),
    json: JsonForm { parser: "v0.0.38", option: "--json", has_nodes: false },
    jobs: "JobID:.0|,JobArrayID:.0|,Account:.0|,UserName:.0|,State:.0|,SubmitTime:.0|,\
           StartTime:.0|,EndTime:.0|,TimeUsed:.0|,Reason:.0|,tres-alloc:.0|,Partition:.0",
    runs: "JobIDRaw,JobID,Account,User,Submit,Start,End,ElapsedRaw,AllocTRES,State",
    priorities: "%i|%S|%Y",
    shares: "Account,User,Partition,Share,ParentName",
    fair: "Account,User,FairShare",
};

const fn json(from: (u32, u32), parser: &'static str, option: &'static str) -> SlurmForm {
    SlurmForm { from, json: JsonForm { parser, option, has_nodes: true }, ..FIRST }
}

/// The forms, oldest first.
pub(crate) const FORMS: [SlurmForm; 8] = [
    FIRST,
    json((23, 2), "v0.0.39", "--json"),
    json((23, 11), "v0.0.40", "--json=v0.0.40"),
    json((24, 5), "v0.0.41", "--json=v0.0.41"),
    json((24, 11), "v0.0.42", "--json=v0.0.42"),
    json((25, 5), "v0.0.43", "--json=v0.0.43"),
    json((25, 11), "v0.0.44", "--json=v0.0.44"),
    json((26, 5), "v0.0.45", "--json=v0.0.45"),
];

/// The form of a version such as `slurm-wlm 22.05.8`; in a sentence why there is none.
pub(crate) fn form_of(version: &str) -> Result<SlurmForm, String> {
    let number = version.split_whitespace().next_back().unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    let (Some(Some(year)), Some(Some(month))) = (parts.next(), parts.next()) else {
        return Err(format!("`{version}` is not a version of Slurm such as `slurm 22.05.8`"));
    };
    let fits = FORMS.iter().rfind(|form| form.from <= (year, month));
    fits.copied().ok_or_else(|| {
        let (least_year, least_month) = FORMS[0].from;
        format!(
            "Slurm {year}.{month:02} is older than {least_year}.{least_month:02}, the first \
             version whose output meed slurm reads"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_forms() {
        for (version, parser) in [
            ("slurm-wlm 22.05.8", "v0.0.38"),
            ("slurm 23.02.7", "v0.0.39"),
            ("slurm 24.08.1", "v0.0.41"),
            ("slurm 25.11.0-1", "v0.0.44"),
            ("slurm-wlm 26.05.5", "v0.0.45"),
            ("slurm 27.05.0", "v0.0.45"),
        ] {
            assert_eq!(form_of(version).unwrap().json.parser, parser, "{version}");
        }
        assert!(form_of("slurm 20.11.9").unwrap_err().contains("older than 22.05"));
        assert!(form_of("bash: scontrol: not found").is_err());
    }
}
