//! The Slurm of another release of Debian, in a folder of its own (mmdebstrap): the stories run in
//! it, with the programs that are built here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{printed, runs, succeed_quietly, target_folder};

/// A release of Debian, and the folder with its Slurm.
pub(super) struct Release {
    name: String,
    folder: PathBuf,
}

/// What the stories need of it; a C compiler for the plug-in.
const PACKAGES: &str = "slurm-wlm,slurm-wlm-basic-plugins,slurmdbd,mariadb-server,munge,iproute2,\
                        mount,gcc,libc6-dev";

impl Release {
    /// Makes the folder where it is not there. A minute or two, 1 GB.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    pub(super) fn find(name: &str) -> Result<Release, String> {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`{name}` is not a release of Debian such as `trixie`"));
        }
        let folder = target_folder().join(format!("slurm-{name}"));
        let release = Release { name: name.to_owned(), folder };
        if !release.folder.join("usr/sbin/slurmctld").is_file() {
            release.make()?;
        }
        Ok(release)
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its root.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The version of its Slurm.
    ///
    /// # Errors
    ///
    /// A folder that is not whole.
    pub(super) fn version(&self) -> Result<String, String> {
        let mut ask = Command::new("chroot");
        let said = printed(ask.arg(&self.folder).args(["slurmctld", "-V"]), "slurmctld -V")?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    fn make(&self) -> Result<(), String> {
        if !runs("mmdebstrap", "--version") {
            return Err("there is no mmdebstrap, which makes a folder of another release".into());
        }
        let mut make = Command::new("mmdebstrap");
        make.args(["--variant=apt", "--mode=root", &format!("--include={PACKAGES}")]);
        make.arg("--aptopt=APT::Install-Recommends \"false\"");
        // A copy of the archive that is kept says it is too old for use after a week.
        make.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
        make.arg(&self.name).arg(&self.folder);
        let log = std::env::temp_dir().join(format!("meed-slurm-{}.log", self.name));
        succeed_quietly(&mut make, "mmdebstrap", &log, |_| true)
    }
}
