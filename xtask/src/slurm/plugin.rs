//! Slurm's plug-in `site_factor/meed`: built from the source package of the Slurm that is here, and
//! loaded. A new job has its place while Meed does not run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::inside;
use super::lab::Lab;
use super::ledger::SHARES;
use super::release::Release;
use crate::tools::{printed, root, runs, target_folder};

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let source = match source(inside::release().as_deref()) {
        Ok(source) => source,
        Err(why) => {
            crate::say(&format!("LEFT OUT: Slurm's plug-in site_factor/meed: {why}"));
            return Ok(());
        }
    };
    let folder = lab.path("plugins");
    fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
    let build = root().join("slurm/site_factor/build.sh").display().to_string();
    let (source, folder) = (source.display().to_string(), folder.display().to_string());
    refuses(lab, &build, &source, &folder)?;
    lab.sh(&format!("{build} {source} {folder}"))?;
    let places = lab.path("meed/places").display().to_string();
    lab.sh(&format!(
        "cat >>slurm.conf <<END\nPluginDir={folder}:$(scontrol show config | sed -n \
         's/^PluginDir *= //p')\nPrioritySiteFactorPlugin=site_factor/meed\n\
         PrioritySiteFactorParameters={places}\nEND"
    ))?;
    lab.end("slurmctld");
    lab.controller()?;
    lab.accounts(SHARES)?;
    for _ in 0..6 {
        lab.submit("games", "-A optics -n8 -t 5 --wrap 'sleep 120'")?;
    }
    let mut meed = lab.meed(&[])?;
    let factors = |user: &str| factors(lab, user);
    lab.until("jobs that wait have factors", || {
        factors("games").is_ok_and(|all| all.len() == 4 && all.iter().all(|factor| *factor > 0))
    })?;
    // The first places may be those of an instant at which nobody has used anything.
    lab.until("a place of who has used nothing before all that wait", || {
        let waiting = factors("games").unwrap_or_default().into_iter().max();
        place_of(lab, "man").is_some_and(|place| Some(place) > waiting)
    })?;
    meed.kill()?;
    // Nobody but the plug-in can set these.
    lab.submit("man", "-A optics -n8 -t 5 --wrap true")?;
    lab.submit("games", "-A optics -n8 -t 5 --wrap true")?;
    let (man, games) = (factors("man")?, factors("games")?);
    let highest = games.iter().max().copied().unwrap_or(0);
    let last = games.iter().min().copied().unwrap_or(0);
    if man.len() != 1 || man[0] <= highest || games.len() != 5 || last <= 0 {
        return Err(format!("new jobs have no place at once: man {man:?}, games {games:?}"));
    }
    lab.sh("meed-slurm reset --state meed")?;
    lab.submit("man", "-A optics -n8 -t 5 --wrap true")?;
    if factors("man")?.iter().any(|factor| *factor != 0) {
        return Err("new jobs have a place after reset".to_owned());
    }
    crate::say(&format!(
        "site_factor/meed: a new job of who used nothing has factor {} at once, over {highest}",
        man[0]
    ));
    Ok(())
}

/// The factor that a new job of a user would get.
fn place_of(lab: &Lab, user: &str) -> Option<i64> {
    let places = fs::read_to_string(lab.path("meed/places")).ok()?;
    let of_user = |line: &&str| line.split_whitespace().last() == Some(user);
    places.lines().skip(1).find(of_user)?.split_whitespace().next()?.parse().ok()
}

/// Site factors of the jobs of a user that wait.
fn factors(lab: &Lab, user: &str) -> Result<Vec<i64>, String> {
    let text = lab.said(&format!("sprio -h -u {user} -o %S"))?;
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

/// Another version's source is refused, with a sentence.
fn refuses(lab: &Lab, build: &str, source: &str, folder: &str) -> Result<(), String> {
    lab.sh(&format!(
        "mkdir other && sed 's/^\\( *Version:\\).*/\\1 1.2.3/' {source}/META >other/META"
    ))?;
    let said = lab.said(&format!("{build} other {folder}")).err().unwrap_or_default();
    match said.contains("of Slurm 1.2.3") && said.contains("take the source of") {
        true => Ok(()),
        false => Err(format!("the source of another version was not refused: {said}")),
    }
}

/// Where the source package is unpacked.
fn folder(release: Option<&str>) -> PathBuf {
    let of = release.map(|name| format!("-{name}")).unwrap_or_default();
    target_folder().join(format!("slurm-source{of}"))
}

/// The source of the Slurm that is installed; why there is none.
fn source(release: Option<&str>) -> Result<PathBuf, String> {
    if !runs("cc", "--version") {
        return Err("there is no C compiler".to_owned());
    }
    let found =
        fs::read_dir(folder(release)).into_iter().flatten().flatten().map(|entry| entry.path());
    let unpacked = found.into_iter().find(|path| path.join("META").is_file());
    unpacked.ok_or_else(|| "its source package could not be fetched".to_owned())
}

/// Fetches that source, if it is not there. Why not is told.
pub(super) fn fetch(release: Option<&Release>) {
    if let Err(why) = source(release.map(Release::name)).or_else(|_| fetch_anew(release)) {
        crate::say(&format!("apt-get source slurm-wlm: {why}"));
    }
}

/// The system's own sources, or those of the release, as lists of their own: nothing of the
/// system's apt is changed. The description of the package may be gone where its source is there.
const FETCH: &str = "\
for file in $FOLDER/etc/apt/sources.list $FOLDER/etc/apt/sources.list.d/*.list; do
    [ ! -f $file ] || sed -n 's/^deb /deb-src /p' $file >parts/$(basename $file)
done
for file in $FOLDER/etc/apt/sources.list.d/*.sources; do
    [ ! -f $file ] || sed 's/^Types:.*/Types: deb-src/' $file >parts/$(basename $file)
done
apt=\"timeout 90 apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$PWD/parts \
     -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root \
     -o Acquire::Check-Valid-Until=false\"
version=$(dpkg-query --admindir=$FOLDER/var/lib/dpkg -W -f '${Version}' slurmctld)
{ $apt update && $apt source --download-only slurm-wlm=$version; } 2>&1
tar -xf slurm-wlm_*.orig.tar.*";

fn fetch_anew(release: Option<&Release>) -> Result<PathBuf, String> {
    let name = release.map(Release::name);
    let folder = folder(name);
    fs::create_dir_all(folder.join("lists/partial")).map_err(|why| why.to_string())?;
    fs::create_dir_all(folder.join("parts")).map_err(|why| why.to_string())?;
    let mut command = Command::new("bash");
    command.args(["-c", FETCH]).current_dir(&folder);
    command.env("FOLDER", release.map_or_else(PathBuf::new, |release| release.folder().into()));
    printed(&mut command, "apt-get source slurm-wlm")?;
    source(name)
}
