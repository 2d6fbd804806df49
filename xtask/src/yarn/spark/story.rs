//! The story that CI tells, within five minutes on a machine of its own.
//!
//! A borrower's application holds all four containers and works on; a lender's comes and asks for
//! three. Three times: stock fair sharing, Meed without reclaim, Meed with it. It tells how long it
//! takes until the lender has its share, how many executors the borrower has lost, and how much of
//! the cluster was held meanwhile. Both applications must end well, though the borrower's gives up
//! at the first executor or task that *fails*: those that are taken back are no failures. Each
//! journal must play again as recorded.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::super::daemons::{self, Daemon, Story};
use super::submit::{Application, Spark, ended_well, lost};
use super::{VARIANTS, Variant, keys};
use crate::tools::{now, succeed, until};

/// Containers of the cluster, on nodes of so many megabytes, and those that are the lender's share.
const ALL: u64 = 4;
const NODE: &str = "2048";
const SHARE: u64 = 2;

/// How long a lender is watched that gets nothing, and one that is to get its share.
const WATCHED: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(90)];

const APP: &str = include_str!("loop.py");

/// What a variant came to.
struct Came {
    /// Seconds until the lender had a container, and until it had its share.
    first: Option<f64>,
    share: Option<f64>,
    /// The part of all containers that was held from when the lender came.
    held: f64,
    lost: usize,
}

pub(in super::super) fn run(jar: &Path, version: &str) -> Result<(), String> {
    let Some(spark) = Spark::find()? else { return Ok(()) };
    let mut table = vec![format!(
        "{:<12} {:>9} {:>9} {:>6} {:>5}",
        "variant", "first s", "share s", "held", "lost"
    )];
    let first = Story::prepare("spark", jar, version)?;
    for variant in &VARIANTS {
        let story = first.again(&format!("spark-{}", variant.name))?;
        let came = tell(&story, &spark, variant).inspect_err(|_| story.say_where())?;
        let seconds = |it: Option<f64>| it.map_or("never".to_owned(), |it| format!("{it:.0}"));
        table.push(format!(
            "{:<12} {:>9} {:>9} {:>5.0}% {:>5}",
            variant.name,
            seconds(came.first),
            seconds(came.share),
            100.0 * came.held,
            came.lost
        ));
        if variant.reclaims != came.share.is_some() || variant.reclaims != (came.lost > 0) {
            return Err(format!("{}: not as it should be\n{}", variant.name, table.join("\n")));
        }
    }
    crate::say(&table.join("\n"));
    Ok(())
}

fn tell(story: &Story, spark: &Spark, variant: &Variant) -> Result<Came, String> {
    story.configure_with(&keys(variant, NODE), variant.meed)?;
    let _daemons = story.start()?;
    let mut borrower = submit(story, spark, ("a", 6))?;
    let mut lender = None;
    let came = watch(story, spark, &mut lender, variant.reclaims);
    for queue in ["a", "b"] {
        let stop = story.file(&format!("stop-{queue}"));
        fs::write(&stop, "").map_err(|why| format!("{}: {why}", stop.display()))?;
    }
    let came = came?;
    let all = [Some(&mut borrower), lender.as_mut()];
    for (application, queue) in all.into_iter().zip(["a", "b"]) {
        let Some(Daemon(child)) = application else { continue };
        ended_well(story, child, queue)?;
    }
    if variant.meed {
        let mut replay = daemons::meed();
        let epoch = story.file("ledger").join("epoch-0000000000");
        succeed(replay.arg("replay").arg(epoch).arg("--verify"), "meed replay")?;
    }
    Ok(Came { lost: lost(story, "a")?, ..came })
}

/// The lender comes once the borrower holds all.
fn watch(
    story: &Story,
    spark: &Spark,
    lender: &mut Option<Daemon>,
    reclaims: bool,
) -> Result<Came, String> {
    daemons::wait("the borrower holds all", 240, || daemons::held("root.a") == Some(ALL))?;
    *lender = Some(submit(story, spark, ("b", 3))?);
    daemons::wait("the lender is there", 240, || daemons::applications().len() == 2)?;
    let began = now();
    let mut came = Came { first: None, share: None, held: 0.0, lost: 0 };
    let (mut looks, mut sum) = (0.0, 0.0);
    until(WATCHED[usize::from(reclaims)], Duration::from_millis(500), || {
        let (a, b) = (daemons::held("root.a")?, daemons::held("root.b")?);
        let after = began.elapsed().as_secs_f64();
        (looks, sum) = (looks + 1.0, sum + (a + b).min(ALL) as f64);
        came.first = came.first.or((b > 0).then_some(after));
        came.share = came.share.or((b >= SHARE).then_some(after));
        came.share.map(|_| ())
    });
    came.held = sum / (looks * ALL as f64);
    Ok(came)
}

fn submit(story: &Story, spark: &Spark, (name, tasks): (&str, u32)) -> Result<Daemon, String> {
    let stop = story.file(&format!("stop-{name}")).display().to_string();
    let queue = format!("root.{name}");
    let arguments = vec![name.to_owned(), tasks.to_string(), "1".to_owned(), stop];
    let settings = vec![
        ("spark.executor.instances", "3".to_owned()),
        ("spark.dynamicAllocation.enabled", "false".to_owned()),
    ];
    let application = Application { name, queue: &queue, script: APP, arguments, settings };
    spark.submit(story, &application)
}
