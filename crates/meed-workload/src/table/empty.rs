//! Tables without a row: what is said of them.

use meed_files::open::Origin;

use super::{KnownTable, TableAssumptions, TableForm};
use crate::TraceError;
use crate::error::no_jobs_in;

/// The error of a table without a row.
pub(super) fn no_rows(origin: &Origin, options: &TableAssumptions) -> TraceError {
    let start = origin.beginning(1 << 10).unwrap_or_default();
    let title = options.preset().map(|preset| preset.title);
    let why = match (options.form, title) {
        (_, Some(title)) if start.trim_ascii().is_empty() => {
            return no_jobs_in(
                origin.name(),
                &format!("the file is empty; wanted are jobs of {title}"),
            );
        }
        _ if start.trim_ascii().is_empty() => {
            "the file is empty; a table has a line that names its columns, and a job on each other"
        }
        (TableForm::GridEngine, _) => {
            "the accounting file of Grid Engine has comments only; wanted is a line for each job \
             that has ended"
        }
        _ if options.known == Some(KnownTable::Slurm) => {
            "sacct has listed no jobs; ask it for the time in which some ended (-S and -E), and \
             for those of all users (-a)"
        }
        (TableForm::Separated, _) => {
            "a line names the columns of the table, and no row follows; wanted is a job on each \
             line"
        }
        _ => "no line holds a job",
    };
    no_jobs_in(origin.name(), why)
}
