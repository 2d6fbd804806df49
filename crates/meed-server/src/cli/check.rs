//! What `meed check` says of a configuration of `meed serve`.

use std::path::Path;

use meed_cli::exit::Failure;
use meed_cli::output::{print, remark};

use crate::group::{Groups, NO_GROUPS, Walls};
use crate::settings::{Settings, ThisMachine};

pub(super) fn run(file: &Path) -> Result<(), Failure> {
    let machine = ThisMachine::look().map_err(|why| Failure::Run(format!("/proc: {why}")))?;
    let settings = Settings::read(Some(file), &machine, None)
        .map_err(|why| Failure::Input(why.to_string()))?;
    settings.remarks.iter().for_each(|it| remark(&format!("{}: {it}", file.display())));
    settings.not_bounded(&walls(&settings)).iter().for_each(|it| remark(it));
    let queues = match settings.queues.len() {
        0 => "one for each user".to_owned(),
        count => count.to_string(),
    };
    print(&format!("a configuration of meed serve; queues: {queues}\n"))
}

/// What the kernel would bound for a server of this user on this machine.
fn walls(settings: &Settings) -> Walls {
    match settings.control_groups {
        true => Groups::look(),
        false => Groups::none(NO_GROUPS).walls().clone(),
    }
}
