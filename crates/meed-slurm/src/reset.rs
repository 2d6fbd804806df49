//! `meed slurm reset`: Slurm orders as without Meed.

use std::path::Path;
use std::time::Duration;

use crate::clock;
use crate::error::ProgramError;
use crate::out::Out;
use crate::place::StateArgs;
use crate::read::jobs::JobStage;
use crate::slurm::{ReadAs, Slurm};
use crate::spread::FactorChange;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Without the file, Slurm's plug-in gives new jobs nothing.
fn remove(places: &Path) -> Result<(), ProgramError> {
    match std::fs::remove_file(places) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            Err(ProgramError::File(format!("{}: {why}", places.display())))
        }
        _ => Ok(()),
    }
}

/// Sets all site factors back to 0, so that Slurm orders as without Meed.
///
/// # Errors
///
/// An instance that would set them again; Slurm that does not answer.
pub(crate) fn reset(place: &StateArgs, out: &mut Out) -> Result<(), ProgramError> {
    let journal = place.state.join("journal");
    // Held until all is set back: no instance begins meanwhile.
    let _held = match journal.is_dir() {
        false => None,
        true => {
            let opened = meed_store::FileStore::open_folder(&journal, Default::default());
            Some(opened.map_err(|why| place.held(why.into()))?)
        }
    };
    let slurm = Slurm::find(LIMIT, ReadAs::Text)?;
    let config = slurm.config()?;
    if let Some(why) = slurm.lacks_rights(&config)? {
        return Err(ProgramError::Run(why));
    }
    let ((jobs, _), priorities) = (slurm.jobs(clock::seconds())?, slurm.priorities()?);
    let is_zero = |id: &u32| priorities.get(id).is_some_and(|of| of.site_factor == 0);
    // Of a job that runs nobody can say which factor it has.
    let back: Vec<FactorChange> = jobs
        .values()
        .filter(|job| job.stage != JobStage::Ended && !is_zero(&job.id))
        .map(|job| FactorChange { job: job.id, site_factor: 0 })
        .collect();
    // First, so that no new job gets a factor meanwhile.
    if let Some(places) = config.places() {
        remove(places)?;
    }
    let complaints = slurm.set(&back)?;
    for said in complaints {
        out.line(&format!("scontrol: {said}"));
    }
    let left = slurm.priorities()?.values().filter(|of| of.site_factor != 0).count();
    if left > 0 {
        return Err(ProgramError::Run(format!(
            "{left} jobs still have a site factor; an operator's rights are needed"
        )));
    }
    let live = jobs.values().filter(|job| job.stage != JobStage::Ended).count();
    out.line(&format!("the site factors of {live} jobs are 0"));
    Ok(())
}
