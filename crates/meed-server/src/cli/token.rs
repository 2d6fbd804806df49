//! `meed token` and `meed dashboard`.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use meed_cli::exit::Failure;
use meed_cli::output::{print, print_data, remark};
use meed_config::units::parse_span;

use super::table::columns;
use super::{AskArgs, print_json};
use crate::protocol::{Request, TokenMade, TokenQuery, TokenView, TokenWish};
use crate::settings::Role;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed token create --name laptop
  meed token create --name prometheus --role operator --read-only --output /etc/meed/prometheus
  meed token create --name ci --user ann --expires 30d
  meed token list
  meed token revoke 0f1e2d3c4b5a6978";

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token, and prints it: it is shown this once.
    Create(CreateArgs),
    /// Lists your tokens, of an admin all.
    List(AskArgs),
    /// A token is good for nothing any more, nor are browsers that came in by it.
    Revoke {
        /// Its number, as `meed token list` shows it.
        token: String,
        #[command(flatten)]
        ask: AskArgs,
    },
}

#[derive(Args)]
pub(crate) struct CreateArgs {
    /// What it is for.
    #[arg(long)]
    name: String,
    /// The highest role that it allows; never more than its user has.
    #[arg(long, value_enum, default_value_t = RoleName::Tenant)]
    role: RoleName,
    /// Whose it is: only an admin may name another. Default: you.
    #[arg(long)]
    user: Option<String>,
    /// How long it is good for, as in 12h or 30d. Default: until it is revoked.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// It changes nothing: no jobs can be submitted or cancelled with it.
    #[arg(long)]
    read_only: bool,
    /// Writes it to a new file that only you can read, instead of printing it.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    Tenant,
    Operator,
    Admin,
}

pub(crate) fn run(command: &TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::List(args) => list(args),
        TokenCommand::Revoke { token, ask } => {
            let query = TokenQuery { token: token.clone() };
            let answer = ask.connect()?.ask(&Request::RevokeToken(query))?;
            if ask.json { print_json(&answer) } else { Ok(()) }
        }
    }
}

fn create(args: &CreateArgs) -> Result<(), Failure> {
    let role = match args.role {
        RoleName::Tenant => Role::Tenant,
        RoleName::Operator => Role::Operator,
        RoleName::Admin => Role::Admin,
    };
    let span = args.expires.as_deref().map(parse_span).transpose();
    let span = span.map_err(|why| Failure::Usage(format!("--expires: {why}")))?;
    let wish = TokenWish {
        name: args.name.clone(),
        role,
        user: args.user.clone(),
        expires_s: span.map(|span| span.as_micros().div_ceil(1_000_000)),
        reads_only: args.read_only,
    };
    // That the file can be written is known before there is a token.
    let file = args.output.as_deref().map(|path| new_file(path).map(|file| (path, file)));
    let file = file.transpose()?;
    let made: TokenMade = args.ask.connect()?.ask_for(&Request::CreateToken(wish))?;
    if let Some((path, mut file)) = file {
        writeln!(file, "{}", made.secret).map_err(|why| unwritable(path, &why))?;
        return match args.ask.json {
            true => print_json(&made.token),
            false => Ok(()),
        };
    }
    if args.ask.json {
        return print_json(&made);
    }
    print_data(&format!("{}\n", made.secret))?;
    remark(&format!("token {} is shown this once; keep it where only you can read", made.token.id));
    Ok(())
}

fn new_file(path: &Path) -> Result<std::fs::File, Failure> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.map_err(|why| unwritable(path, &why))
}

fn unwritable(path: &Path, why: &std::io::Error) -> Failure {
    Failure::File(format!("{}: cannot be written: {why}", path.display()))
}

fn list(args: &AskArgs) -> Result<(), Failure> {
    let answer = args.connect()?.ask(&Request::Tokens {})?;
    if args.json {
        return print_json(&answer);
    }
    let tokens: Vec<TokenView> = serde_json::from_value(answer["tokens"].clone())
        .map_err(|why| Failure::NoServer(format!("the answer cannot be read: {why}")))?;
    let now = crate::clock::wall_us();
    let row = |token: &TokenView| {
        let ends = match token.expires_us {
            None => "never".to_owned(),
            Some(end) if end <= now => "has ended".to_owned(),
            Some(end) => format!("in {:.1} d", (end - now) as f64 / 86_400e6),
        };
        let kind = if token.reads_only { "reads" } else { "" };
        let role = token.role.word().to_owned();
        vec![token.id.clone(), token.name.clone(), token.user.clone(), role, kind.into(), ends]
    };
    let heads = ["TOKEN", "NAME", "USER", "ROLE", "ONLY", "ENDS"];
    print(&columns(&heads, tokens.iter().map(row)))
}

pub(crate) fn dashboard(args: &AskArgs) -> Result<(), Failure> {
    let answer = args.connect()?.ask(&Request::Dashboard {})?;
    if args.json {
        return print_json(&answer);
    }
    print_data(&format!("{}\n", answer["url"].as_str().unwrap_or_default()))?;
    let seconds = answer["seconds"].as_u64().unwrap_or(0);
    remark(&format!("the link works once, within {seconds} s, and is yours: it signs in as you"));
    Ok(())
}
