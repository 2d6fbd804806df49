//! Writing: records are numbered and go out as whole lines.

use std::io::{self, Write};

use meed::Time;

use crate::record::{Fact, LineMaker};

/// Writes records as lines.
///
/// ```
/// use meed::Time;
/// use meed_journal::{Fact, NodeMark, Writer};
///
/// let mut writer = Writer::new(Vec::new());
/// let fact = Fact::NodeLeft(NodeMark::of("n1".into()));
/// assert_eq!(writer.append(Time::ZERO, &fact)?, 0); // the number of the record
/// assert_eq!(writer.next_seq(), 1);
/// assert_eq!(writer.into_inner().iter().filter(|&&byte| byte == b'\n').count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W> {
    out: W,
    next: u64,
    lines: LineMaker,
}

impl<W: Write> Writer<W> {
    /// A new journal; `out` should be buffered.
    pub fn new(out: W) -> Writer<W> {
        Writer::going_on(out, 0)
    }

    /// A journal that goes on with number `next`.
    pub fn going_on(out: W, next: u64) -> Writer<W> {
        Writer { out, next, lines: LineMaker::default() }
    }

    /// Writes a record and returns its number. A header begins a run: numbers start anew with it.
    pub fn append(&mut self, t: Time, fact: &Fact) -> io::Result<u64> {
        if let Fact::Run(_) = fact {
            self.next = 0;
        }
        let seq = self.next;
        // In one piece: whatever is behind it never sees half a line for a whole one.
        self.out.write_all(self.lines.whole_line(seq, t, fact))?;
        self.next += 1;
        Ok(seq)
    }

    /// The number of the next record.
    pub fn next_seq(&self) -> u64 {
        self.next
    }

    /// Passes on what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Where it wrote to.
    pub fn into_inner(self) -> W {
        self.out
    }
}
