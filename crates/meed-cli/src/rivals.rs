//! `meed rivals`.

use clap::Args;
use meed_experiments::rivals::table::{RIVALS, span};
use meed_experiments::rivals::{Contest, RivalsRequest, page};
use meed_report::page::{to_html_made, to_text};

use crate::baseline::BaselineArgs;
use crate::exit::Failure;
use crate::many::{ManyArgs, loads};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed rivals CTC-SP2.swf.gz
  meed rivals CTC-SP2.swf.gz -p long-term -p fair-tree,half_life=14d -p condor
  meed rivals sacct.txt --baseline fair-tree,half_life=14d -p long-term,half_life=7d
  meed rivals sacct.txt --weights shares.txt --loads 0.97,1,1.03 --report rivals.html
  meed rivals cluster.toml --cadence 5min --set policy.when_blocked=reserve --json";

/// What `--policy` takes besides Meed's own policies, from the table of rivals.
fn rivals_help() -> String {
    let names: Vec<&str> = RIVALS.iter().map(|rival| rival.name).collect();
    format!(
        "A rival ({}) or a policy as in `meed simulate`, with `,key=value` to change its keys. May \
         be given several times. Default: all rivals, fair, and long-term with some memories",
        names.join(", ")
    )
}

/// The same, with all keys.
fn rivals_keys() -> String {
    let rows = RIVALS.iter().flat_map(|rival| {
        let head = format!("  {} ({}): {}", rival.name, rival.of, rival.about);
        let keys = rival.parameters.iter().map(|parameter| {
            format!("      {}={}: {}", parameter.name, parameter.default, parameter.about)
        });
        let cadence = format!("      cadence={}: how often it recomputes ranks", rival.cadence);
        std::iter::once(head).chain(keys).chain([cadence])
    });
    format!("{}.\n\nRivals:\n{}", rivals_help(), rows.collect::<Vec<_>>().join("\n"))
}

#[derive(Args)]
pub(crate) struct RivalsArgs {
    #[arg(long, short, value_name = "ORDER", help = rivals_help(), long_help = rivals_keys())]
    pub(crate) policy: Vec<String>,
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// How often all rivals recompute ranks, instead of each at its own cadence.
    #[arg(long, value_name = "TIME")]
    pub(crate) cadence: Option<String>,
    /// The loads at which each is run, against the log's own. Default: the log's own.
    #[arg(long, value_name = "L1,L2,..", value_delimiter = ',')]
    pub(crate) loads: Vec<String>,
    /// Lets so many tenants lie, each by itself and in four ways, under every order: what that
    /// gains, and who pays. Costs four simulations for each order and liar.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) liars: usize,
    #[command(flatten)]
    pub(crate) many: ManyArgs,
}

pub(crate) fn run(args: &RivalsArgs) -> Result<(), Failure> {
    let (many, loads) = (&args.many, loads(&args.loads)?);
    let cadence = args.cadence.as_deref().map(span).transpose();
    let cadence = cadence.map_err(|why| Failure::Usage(format!("--cadence: {why}")))?;
    let reading = many.reading();
    let (mut files, orders, settings) = many.begin(&args.policy, &reading)?;
    let contest = Contest::prepare(&RivalsRequest {
        log: many.log.clone(),
        settings,
        orders,
        baseline: args.baseline.baseline.clone(),
        loads,
        seeds: many.seeds,
        cadence,
        liars: args.liars,
        reading,
    })?;
    many.read(&mut files, &contest.scenarios)?;
    let standings = many.run(contest.runs(), |threads, done| contest.run(threads, done))?;
    let first = contest.scenarios[0].source(contest.seeds[0], many.on_bad_line())?;
    let notes = first.assumptions();
    let page_of = |is_whole| page::page(&contest, &standings, is_whole, &notes);
    many.show(
        &mut files,
        |made| to_html_made(&page_of(true), made),
        || page::to_json(&contest, &standings, &notes),
        |options| to_text(&page_of(false), options),
    )
}
