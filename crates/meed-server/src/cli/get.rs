//! `meed get`: a question to the HTTP interface, with a token from a file.
//!
//! A token on a command line can be read by everybody on the machine; so it comes from a file, and
//! one that others can read is refused. It goes to this machine only: without TLS, and elsewhere,
//! it would be read on the way.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::output::print_data;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed get /v1/queues --token-file ~/.config/meed/token
  meed get '/v1/jobs?state=waiting' --token-file token --at 127.0.0.1:7433";

/// The server answers within this time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most bytes of a token's file.
const MAX_TOKEN: u64 = 4096;

#[derive(Args)]
pub(crate) struct GetArgs {
    /// The path, as in /v1/jobs (docs/http.md).
    path: String,
    /// The file that holds your token; only you may be able to read it.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Where the interface listens, on this machine.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7433")]
    at: SocketAddr,
}

pub(crate) fn run(args: &GetArgs) -> Result<(), Failure> {
    if !args.at.ip().is_loopback() {
        let why = format!("{} is another machine: a token would go there without TLS", args.at);
        return Err(Failure::Usage(why));
    }
    let is_path = args.path.starts_with('/') && args.path.bytes().all(|b| b.is_ascii_graphic());
    if !is_path {
        return Err(Failure::Usage(format!("`{}` is no path; it begins with `/`", args.path)));
    }
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let (status, body) = ask(args, token.as_deref())
        .map_err(|why| Failure::NoServer(format!("no server answers at {}: {why}", args.at)))?;
    if status < 300 {
        return print_data(&body);
    }
    let problem: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
    let detail = problem["detail"].as_str().unwrap_or("the server gives no reason").to_owned();
    Err(match status {
        401 | 403 => Failure::Forbidden(detail),
        404 => Failure::Usage(detail),
        400..500 => Failure::Input(detail),
        _ => Failure::Run(detail),
    })
}

/// What a file holds that nobody else can read.
fn read_token(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let unreadable = |why: std::io::Error| Failure::File(format!("{shown}: {why}"));
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return Err(Failure::File(format!(
            "{shown}: others can read this token (mode {mode:o}); make it yours alone with \
             `chmod 600`, and a new token if somebody may have"
        )));
    }
    let mut text = String::new();
    file.take(MAX_TOKEN).read_to_string(&mut text).map_err(unreadable)?;
    let token = text.trim();
    match token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        true => Err(Failure::File(format!("{shown}: holds no token"))),
        false => Ok(token.to_owned()),
    }
}

/// Status and body. The older version of the protocol: an answer ends with its connection.
fn ask(args: &GetArgs, token: Option<&str>) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&args.at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!("GET {} HTTP/1.0\r\nHost: {}\r\n", args.path, args.at);
    if let Some(token) = token {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let none = || std::io::Error::other("the answer is none of HTTP");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(none)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(none)?, body.to_owned()))
}
