//! Writing: records are made only when somebody reads them, so a run without a log pays nothing.

use std::io::{self, Write};

use meed::{Engine, NodeId, QueueId, Time};
use meed_journal::{Fact, Header, Name, Writer};

/// Where a run logs.
pub struct Log<'a> {
    out: Option<Writer<&'a mut dyn Write>>,
}

impl<'a> Log<'a> {
    /// Nowhere.
    pub fn off() -> Log<'a> {
        Log { out: None }
    }

    /// To `out`, which should be buffered.
    pub fn to(out: &'a mut dyn Write) -> Log<'a> {
        Log { out: Some(Writer::new(out)) }
    }

    /// Whether reasons are wanted.
    pub(crate) fn explains(&self) -> bool {
        self.out.is_some()
    }

    #[inline]
    pub(crate) fn write(&mut self, t: Time, fact: impl FnOnce() -> Fact) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        out.append(t, &fact()).map(|_| ())
    }

    /// The first record of a run.
    pub(crate) fn header(&mut self, header: impl FnOnce() -> Header) -> io::Result<()> {
        self.write(Time::ZERO, || Fact::Run(Box::new(header())))
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Writer::flush)
    }
}

/// Names of queues and nodes as records hold them, made once each.
#[derive(Default)]
pub(crate) struct Names {
    queues: Vec<Name>,
    /// Of each part's engine.
    nodes: Vec<Vec<Name>>,
}

impl Names {
    /// The name `text` of queue `id` of the tree.
    pub(crate) fn queue(&mut self, id: QueueId, text: &str) -> Name {
        kept(&mut self.queues, id.index(), text)
    }

    /// The name of a node of part number `part`.
    pub(crate) fn node(&mut self, part: u32, engine: &Engine, id: NodeId) -> Name {
        let part = part as usize;
        if self.nodes.len() <= part {
            self.nodes.resize_with(part + 1, Vec::new);
        }
        kept(&mut self.nodes[part], id.index(), &engine.node(id).0.name)
    }
}

fn kept(names: &mut Vec<Name>, index: usize, text: &str) -> Name {
    if names.len() <= index {
        names.resize_with(index + 1, Name::default);
    }
    if names[index].as_str() != text {
        names[index] = text.into();
    }
    names[index].clone()
}
