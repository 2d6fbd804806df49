//! Hosts: what several machines share, as virtual machines do the processors, the disk and the
//! network card below them.
//!
//! > part(h) = min(1, capacity(N) / sum over its machines v of own(n_v))
//!
//! where own(n_v) is what machine v takes by itself with n_v tasks there
//! ([`super::sharing::Law::full`]), N the sum
//! of n_v, and capacity(N) the same of the host. Each machine gets that part of its own rate: so
//! whoever asks for twice as much gets twice as much, nobody gets more than its own, and a host
//! that could give all of it changes nothing. A core of a machine takes one processor of its host.
//!
//! Invariant: the part of each machine's server is that of its host, at every instant. How far each
//! machine is by then: [`super::pools`].

/// What machines share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Its name, distinct.
    pub name: String,
    /// Processors.
    pub cores: Option<u32>,
    /// Of its disk with one stream.
    pub disk_bytes_per_s: Option<u64>,
    /// What that loses for each further stream, in thousandths.
    pub seek_penalty: u32,
    /// Of the network into it.
    pub network_bytes_per_s: Option<u64>,
    /// Where its machines' files are kept ([`super::AsHadoop::page_cache`]).
    pub memory_bytes: Option<u64>,
}

/// What of a machine is of which host, by number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HostsOf {
    /// Whose processors its cores take.
    pub cores: Option<u32>,
    /// Where its disk lies.
    pub disk: Option<u32>,
    /// Whose card its link is on.
    pub network: Option<u32>,
    /// Whose memory keeps its files.
    pub memory: Option<u32>,
}

#[cfg(test)]
pub(super) mod tests;
