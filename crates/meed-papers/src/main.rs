//! The program `meed-papers`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meed_papers::main()
}
