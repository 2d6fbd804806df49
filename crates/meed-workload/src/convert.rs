//! Any source to Meed's own format.

use std::io::Write;

use meed::ResourceKinds;

use crate::canonical::CanonicalWriter;
use crate::{JobSource, SourceCounts, TraceError};

/// Writes all jobs of `source`, whose demands are over `kinds`, to `out` (called `name` in
/// messages).
///
/// Streams: one job in memory. A file should be a [`meed_files::create::Output`], to be finished by
/// the caller.
pub fn convert<W: Write>(
    source: &mut dyn JobSource,
    kinds: &ResourceKinds,
    out: W,
    name: &str,
) -> Result<(W, SourceCounts), TraceError> {
    let mut writer = CanonicalWriter::since(out, name, kinds, source.queues(), source.clock_us())?;
    while let Some(job) = source.next_job()? {
        writer.write(&job)?;
    }
    Ok((writer.into_inner()?, source.counts()))
}
