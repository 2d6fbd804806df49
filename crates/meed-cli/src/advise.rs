//! `meed advise`.

use clap::Args;
use meed_experiments::advise::{self, AdviceRequest, Aims, Baseline, Question};
use meed_report::page;

use crate::baseline::BaselineArgs;
use crate::exit::Failure;
use crate::many::{ManyArgs, loads};

pub(crate) const EXAMPLES: &str = "\
Examples:
  meed advise CTC-SP2.swf.gz
  meed advise sacct.txt --cluster slurm.conf --weights shares.txt --report setting.html
  meed advise sacct.txt --baseline fair-tree,half_life=14d
  meed advise jobs.csv --map tenant=team,submit=created,duration=took:min --aim longest
  meed advise CTC-SP2.swf.gz --at-most heavy=1.2 --at-most mean=none
  meed advise cluster.toml -p long-term,half_life=7d -p long-term,round=7d --seeds 5 --json

Figures (--aim, --at-most): light, mean wait of the lighter half of tenants; heavy, of the \
heaviest tenth; mean, mean job time; longest, longest wait at the 90th percentile of tenants; \
wide, mean wait of the widest tenth of jobs; below, tenants with rho below 1. See \
docs/advise.md.";

#[derive(Args)]
pub(crate) struct AdviseArgs {
    /// The figure that is to be as small as can be. Default: light.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) aim: Option<String>,
    /// Default: what the site has now, by --cluster slurm.conf or by the format of the log; else
    /// fair.
    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,
    /// A figure may be at most so many times what it is under the baseline; `none` for no bound.
    /// May be given several times. Default: heavy=1.5, mean=1.05.
    #[arg(long, value_name = "FIGURE=RATIO")]
    pub(crate) at_most: Vec<String>,
    /// A candidate, as in `meed simulate`. May be given several times. Default: half-lives from 1 h
    /// to 30 d, rounds of 1, 7 and 30 d, and memory without end.
    #[arg(long, short, value_name = "POLICY")]
    pub(crate) policy: Vec<String>,
    /// The loads at which each is run, against the log's own. Default: 0.97,1,1.03.
    #[arg(long, value_name = "L1,L2,..", value_delimiter = ',')]
    pub(crate) loads: Vec<String>,
    #[command(flatten)]
    pub(crate) many: ManyArgs,
}

pub(crate) fn run(args: &AdviseArgs) -> Result<(), Failure> {
    let aims = Aims::read(args.aim.as_deref(), &args.at_most).map_err(Failure::Usage)?;
    let (many, loads) = (&args.many, loads(&args.loads)?);
    let reading = many.reading();
    let (mut files, policies, settings) = many.begin(&args.policy, &reading)?;
    let baseline = match &args.baseline.baseline {
        Some(words) => Some(Baseline::asked(words)),
        None => many.cluster.baseline()?,
    };
    let mut question = Question::prepare(&AdviceRequest {
        log: many.log.clone(),
        settings,
        baseline,
        policies,
        loads,
        seeds: many.seeds,
        aims,
        reading,
    })?;
    question.ranked_by_slurm(many.weights.standings(&question.scenarios[0])?)?;
    many.read(&mut files, &question.scenarios)?;
    let answer = many.run(question.count(), |threads, done| question.answer(threads, done))?;
    let first = question.scenarios[0].source(question.seeds[0], many.on_bad_line())?;
    let notes = first.assumptions();
    let page_of = |charts| advise::page::page(&question, &answer, charts, &notes);
    many.show(
        &mut files,
        |made| page::to_html_made(&page_of(true), made),
        || advise::page::to_json(&question, &answer, &notes),
        |options| page::to_text(&page_of(false), options),
    )
}
