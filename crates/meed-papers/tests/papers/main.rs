//! `meed-papers` as users run it. One program, so that it is linked once.

mod audit;
mod common;
mod files;
mod manual;
mod quanta;
mod real_traces;
