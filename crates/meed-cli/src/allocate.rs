//! `meed allocate`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};
use meed_config::policy::{Value, Words, unknown_word};
use meed_config::text::clean;
use meed_level::document::{Format, read, to_json};
use meed_level::verify::{Verified, verify};
use meed_level::{Allocation, AllocationPolicy, POLICIES, Problem, allocate};

use crate::exit::Failure;
use crate::output::{guard, print, print_data, remark};

/// Users and servers listed in the table; JSON has all.
const LISTED: usize = 40;

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed allocate examples/drfh.json
  meed allocate examples/drfh.json --policy per-server-drf
  meed allocate pool.toml --policy slots,slots_per_server=20
  meed allocate pool.json --policy long-term-drf --json -
  meed allocate examples/paid.json --policy as-you-pay";

#[derive(Args)]
pub(crate) struct AllocateArgs {
    /// Servers and users (docs/allocate.md): JSON or TOML.
    file: PathBuf,
    /// drf, drfh, long-term-drf, sdrf, mr-karma, as-you-pay, per-server-drf or slots; slots may be
    /// followed by `,slots_per_server=N`.
    #[arg(long, short, value_name = "POLICY", default_value = "drfh")]
    policy: String,
    /// Writes the result as JSON (docs/allocate.md); `-` for standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Prints no table.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &AllocateArgs) -> Result<(), Failure> {
    let (policy, slots) = policy(&args.policy)?;
    let file = args.json.as_deref().filter(|path| *path != Path::new("-"));
    let mut files = guard(&[("--json", file)], &[("input", &args.file)])?;
    let mut problem = load(&args.file)?;
    if let Some(slots) = slots {
        problem.slots_per_server = slots;
    }
    let allocation = allocate(&problem, policy)
        .map_err(|why| Failure::Input(format!("{}: {why}", args.file.display())))?;
    let verified = verify(&problem, policy, &allocation).map_err(|why| {
        Failure::Run(format!(
            "the result did not pass its own check ({why}); please report this with the input"
        ))
    })?;
    if !args.quiet {
        allocation.remarks.iter().for_each(|text| remark(text));
    }
    if args.json.is_some() {
        let text = to_json(&problem, policy, &allocation);
        match file {
            Some(path) => files.write_text(path, &text)?,
            None => return print_data(&text),
        }
    }
    if args.quiet {
        return Ok(());
    }
    print(&table(&problem, policy, &allocation, &verified))
}

/// The policy and, for slots, how many there are in the largest server.
fn policy(text: &str) -> Result<(AllocationPolicy, Option<f64>), Failure> {
    let wrong = |why: String| Failure::Input(format!("--policy {text}: {why}"));
    let Words { name, keys } = Words::parse(text).map_err(|why| wrong(why.to_string()))?;
    let policy = AllocationPolicy::of_name(name).ok_or_else(|| {
        wrong(unknown_word("policy", name, POLICIES.iter().map(|(name, _)| *name)))
    })?;
    if keys.is_empty() {
        return Ok((policy, None));
    }
    match (policy, keys.names().eq(["slots_per_server"]), keys.get("slots_per_server")) {
        (AllocationPolicy::Slots, true, Some(Value::Count(number @ 1..=1_000_000))) => {
            Ok((policy, Some(f64::from(*number))))
        }
        (AllocationPolicy::Slots, true, _) => {
            Err(wrong("slots_per_server must be a whole number from 1 to 1000000".to_owned()))
        }
        _ => Err(wrong(
            "the only key is slots_per_server, of slots, as in slots,slots_per_server=20"
                .to_owned(),
        )),
    }
}

fn load(path: &Path) -> Result<Problem, Failure> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound => "No such file or directory".to_owned(),
            _ => error.to_string(),
        };
        Failure::File(format!("{name}: cannot be read: {why}"))
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Input(format!("{name}: is not text in UTF-8")))?;
    read(&text, Format::of(&name.to_string(), &text))
        .map_err(|error| Failure::Input(format!("{name}:{error}")))
}

/// The result for people.
fn table(
    problem: &Problem,
    policy: AllocationPolicy,
    allocation: &Allocation,
    verified: &Verified,
) -> String {
    let mut out = match allocation.level {
        Some(level) => format!("policy {}: level {}\n", policy.name(), figure(level)),
        None => format!("policy {}: everybody has all tasks served\n", policy.name()),
    };
    let mut users = columns(&["user", "dominant share", "tasks", "of"]);
    for (user, share) in problem.users.iter().zip(&allocation.users).take(LISTED) {
        let of = user.tasks.map_or_else(|| "-".to_owned(), figure);
        users.add_row(row(&user.name, [figure(share.dominant_share), figure(share.tasks), of]));
    }
    out += &format!("{users}\n");
    out += &more(problem.users.len(), "users");
    let pool = [meed_level::Server { count: 1.0, capacity: problem.totals() }];
    let entries: &[meed_level::Server] =
        if policy == AllocationPolicy::Drf { &pool } else { &problem.servers };
    let mut names = vec!["servers".to_owned(), "count".to_owned()];
    let used = |resource: &String| format!("{} used", clean(resource));
    names.extend(problem.resources.iter().map(used));
    names.push("users".to_owned());
    let mut servers = columns(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for (number, (server, served)) in
        entries.iter().zip(&allocation.servers).enumerate().take(LISTED)
    {
        let used = (0..problem.resources.len()).map(|r| {
            let used: f64 =
                served.iter().map(|(user, tasks)| tasks * problem.users[*user].demand[r]).sum();
            let all = server.count * server.capacity[r];
            if all > 0.0 { format!("{:.1} %", 100.0 * used / all) } else { "-".to_owned() }
        });
        let name =
            if policy == AllocationPolicy::Drf { "pool".to_owned() } else { format!("[{number}]") };
        let cells =
            std::iter::once(figure(server.count)).chain(used).chain([served.len().to_string()]);
        servers.add_row(row(&name, cells));
    }
    out += &format!("{servers}\n");
    out += &more(entries.len(), "servers");
    out += &match &allocation.certificate {
        Some(certificate) => {
            let gap = verified.short.max(verified.unsold).max(verified.rise).max(certificate.gap);
            let gap = if gap < 1e-12 { "rounding".to_owned() } else { format!("{gap:.0e}") };
            format!(
                "Checked: it fits, and by the certificate's prices nobody can have more (up to \
                 {gap}).\n"
            )
        }
        None => "Checked: it fits. This policy seeks no optimum over the pool.\n".to_owned(),
    };
    out
}

fn columns(names: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
    table.force_no_tty();
    table.set_header(names.to_vec());
    table
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) -> Vec<Cell> {
    let cells = cells.into_iter().map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
    std::iter::once(Cell::new(clean(name))).chain(cells).collect()
}

fn more(all: usize, what: &str) -> String {
    if all > LISTED { format!("... {all} {what} in all: --json has them\n") } else { String::new() }
}

/// Six digits that mean something.
fn figure(value: f64) -> String {
    let text = match value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        true => return format!("{value:.4e}"),
        false => format!("{value:.6}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
