//! `cargo xtask browser`: the dashboard and a report in a real browser, without a window, and the
//! HTTP interface under requests made up from its own description.
//!
//! The first needs Node with npm, and Chromium, the second Python; where one of them is missing it
//! says what it leaves out, and that is no failure. playwright-core, which steers the browser, and
//! axe-core, which finds barriers, come from npm, and schemathesis, which makes requests up, from
//! PyPI, into the user's cache: nothing of them is in the repository. Pictures are left in
//! target/browser.

mod bench;
mod fuzz;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{built_for, cache, root, runs, succeed};
use bench::Bench;

/// The version that the check was written for.
const PLAYWRIGHT: &str = "playwright-core@1";
/// What finds barriers in a page.
const AXE: &str = "axe-core@4";

/// A run that ends early: under a static split only `narrow` ends a job, else only `wide`.
const EARLY: &str = r#"
[cluster]
resources = ["cpu"]
node = [{ name = "n", capacity = { cpu = 2 } }]

[run]
until = 15

[[queue]]
name = "wide"

[[queue]]
name = "narrow"

[[queue]]
name = "never"

[[job]]
queue = "wide"
demand = { cpu = 2 }
duration = "10s"

[[job]]
queue = "narrow"
demand = { cpu = 0.5 }
duration = "10s"
"#;

/// A day on which one tenant has work all the time, and the other comes with much at once.
const LENDER: &str = include_str!("../../../crates/meed-experiments/src/advise/lender.toml");

/// A table of 679 tenants' jobs over a year that began with 2024, made up.
fn jobs_of_many() -> String {
    const TENANTS: u64 = 679;
    const JOBS: u64 = 12_000;
    const YEAR_S: u64 = 366 * 86_400;
    const BEGIN_S: u64 = 1_704_067_200;
    let mut state = 1u64;
    // The high bits of a linear congruential generator.
    let mut below = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut text = String::from("tenant,submit_time,duration_s,cpus\n");
    for job in 0..JOBS {
        // Each has a job; then the first have most.
        let tenant = if job < TENANTS { job } else { below(TENANTS) * below(TENANTS) / TENANTS };
        let submit = BEGIN_S + job * YEAR_S / JOBS;
        let (seconds, cpus) = (60 + below(400) * below(400), 1 + below(16));
        text += &format!("user{tenant},{submit},{seconds},{cpus}\n");
    }
    text
}

pub(crate) fn run() -> Result<(), String> {
    let program = built_for("server", "meed-server", "/meed-server")?;
    pages(&program)?;
    fuzz::run(&program)
}

fn pages(program: &Path) -> Result<(), String> {
    let (chromium, playwright) = match found() {
        Ok(found) => found,
        Err(missing) => {
            crate::say(&format!(
                "LEFT OUT: dashboard and report are not tested in a browser (xtask/browser), for \
                 there is no {missing} here"
            ));
            return Ok(());
        }
    };
    let pictures = root().join("target/browser");
    fs::create_dir_all(&pictures).map_err(|why| format!("{}: {why}", pictures.display()))?;
    let bench = Bench::start(program)?;
    bench.load()?;
    let check = |script: &str, what: &str, own: &[(&str, &Path)]| {
        let mut node = Command::new("node");
        node.arg(root().join("xtask/browser").join(script))
            .env("CHROMIUM", &chromium)
            .env("PLAYWRIGHT", &playwright)
            .env("PICTURES", &pictures)
            .env("PROFILE", bench.folder.join(format!("profile-{script}")))
            .envs(own.iter().copied())
            .stdin(Stdio::null());
        succeed(&mut node, what)
    };
    let (socket, url) = (bench.folder.join("meed.sock"), Path::new(&bench.url));
    let of_server = [("MEED", &*bench.program), ("MEED_SOCKET", &*socket), ("MEED_URL", url)];
    check("check.mjs", "the dashboard in a browser", &of_server)?;
    let (report, early) = (bench.folder.join("report.html"), bench.folder.join("early.html"));
    let meed = built_for("suite", "meed", "/meed")?;
    let scenario = bench.folder.join("early.toml");
    fs::write(&scenario, EARLY).map_err(|why| format!("{}: {why}", scenario.display()))?;
    for (scenario, report) in [(root().join("examples/lending.toml"), &report), (scenario, &early)]
    {
        let mut simulate = Command::new(&meed);
        simulate.arg("simulate").arg(scenario).arg("--quiet").arg("--report").arg(report);
        succeed(&mut simulate, "a simulation with a report")?;
    }
    let (table, many) = (bench.folder.join("jobs.csv"), bench.folder.join("many.html"));
    fs::write(&table, jobs_of_many()).map_err(|why| format!("{}: {why}", table.display()))?;
    let mut simulate = Command::new(&meed);
    simulate.arg("simulate").arg(&table).arg("--quiet").arg("--report").arg(&many);
    succeed(&mut simulate, "a simulation of many tenants")?;
    let (lender, advice) = (bench.folder.join("lender.toml"), bench.folder.join("advice.html"));
    fs::write(&lender, LENDER).map_err(|why| format!("{}: {why}", lender.display()))?;
    let mut advise = Command::new(&meed);
    advise.arg("advise").arg(&lender).args(["--at-most", "heavy=none", "--at-most", "mean=none"]);
    advise.args(["--baseline", "fair-tree,half_life=1min"]).arg("--report").arg(&advice);
    succeed(&mut advise, "advice with a report")?;
    let page = bench.folder.join("audit.html");
    let mut audit = Command::new(built_for("papers", "meed-papers", "/meed-papers")?);
    audit.args(["audit", "--trials", "2", "--quiet", "--report"]).arg(&page);
    succeed(&mut audit, "an audit with a report")?;
    let reports: [(&str, &Path); 5] = [
        ("REPORT", &report),
        ("EARLY", &early),
        ("MANY", &many),
        ("PAGE", &page),
        ("ADVICE", &advice),
    ];
    check("report.mjs", "the report in a browser", &reports)?;
    crate::say(&format!("dashboard and report are well; pictures in {}", pictures.display()));
    Ok(())
}

/// The browser, and the folder of what steers it; or what is missing.
fn found() -> Result<(PathBuf, PathBuf), &'static str> {
    if !runs("node", "--version") || !runs("npm", "--version") {
        return Err("Node with npm");
    }
    let named = std::env::var("CHROMIUM").ok();
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    let mut programs = named.into_iter().chain(usual);
    let program = programs.find(|program| runs(program, "--version")).ok_or("Chromium")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(&program));
    let chromium = places.find(|place| place.is_file()).unwrap_or_else(|| program.into());
    Ok((
        chromium,
        playwright().map_err(|why| {
            crate::say(&why);
            "playwright-core"
        })?,
    ))
}

/// The folder of playwright-core and axe-core, which npm brings where they are not there.
fn playwright() -> Result<PathBuf, String> {
    let folder = cache("browser");
    if !folder.join("node_modules/playwright-core/package.json").is_file()
        || !folder.join("node_modules/axe-core/axe.min.js").is_file()
    {
        fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix"]);
        let status = npm.arg(&folder).args([PLAYWRIGHT, AXE]).stdin(Stdio::null()).status();
        if !status.map_err(|why| format!("npm: {why}"))?.success() {
            return Err("npm cannot install playwright-core and axe-core".to_owned());
        }
    }
    Ok(folder)
}
