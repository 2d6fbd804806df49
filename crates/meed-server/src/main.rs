//! The program `meed-server`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meed_server::main()
}
