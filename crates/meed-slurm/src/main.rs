//! The program `meed-slurm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meed_slurm::main()
}
