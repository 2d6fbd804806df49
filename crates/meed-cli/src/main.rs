//! The program `meed`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meed_cli::main()
}
