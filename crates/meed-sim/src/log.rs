//! The log: a record for each event and each decision, with its time and its reason (docs/log.md).
//!
//! It is written as it happens. Records are made only when somebody reads them, so a run without a
//! log pays nothing. `meed_scenario::log` reads it back.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use meed::Time;
use meed_driver::Journal;
use meed_journal::{Fact, Header, Writer};

/// Where a run logs.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed_sim::log::Log;
/// use meed_sim::world::WorldSetup;
/// use meed_sim::{Unwatched, run_one, setup};
/// let mut lines = Vec::new();
/// let logged = WorldSetup { log: Log::to(&mut lines), ..setup(&scenario, "fair", 1)? };
/// run_one("fair", logged, &mut Unwatched)?;
/// assert!(String::from_utf8(lines)?.contains("\"job_end\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Log<'a> {
    out: Option<Writer<&'a mut dyn Write>>,
}

/// The log of all drivers of a run.
pub type SharedLog<'a> = Rc<RefCell<Log<'a>>>;

impl<'a> Log<'a> {
    /// Nowhere.
    pub fn off() -> Log<'a> {
        Log { out: None }
    }

    /// To `out`, which should be buffered.
    pub fn to(out: &'a mut dyn Write) -> Log<'a> {
        Log { out: Some(Writer::new(out)) }
    }

    /// The first record of a run.
    pub fn header(&mut self, header: impl FnOnce() -> Header) -> io::Result<()> {
        match self.out {
            Some(_) => self.append(Time::ZERO, &Fact::Run(Box::new(header()))),
            None => Ok(()),
        }
    }

    /// All is written out.
    pub fn finish(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Writer::flush)
    }
}

impl Journal for Log<'_> {
    fn is_on(&self) -> bool {
        self.out.is_some()
    }

    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.append(at, fact).map(|_| ()))
    }
}
