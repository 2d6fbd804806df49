//! The job of several rows that a row is of.

/// Which job of several rows a row is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(in super::super) enum Part {
    /// Of none: it is a job by itself.
    #[default]
    Whole,
    /// Of the heterogeneous job of this number.
    Component(u32),
    /// Of the resized job of this number.
    Size(u32),
}
