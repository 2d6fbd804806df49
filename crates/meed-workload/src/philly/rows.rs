//! Philly lines to rows.

use std::sync::Arc;

use meed::{MAX_AMOUNT, Resources, Span, Time, Unit};
use meed_config::words::suggest;

use super::PhillyShape;
use crate::error::BadRow;
use crate::fields::{Column, MAX_NAME, span, time};
use crate::whole::Whole;
use crate::{JobLabel, MAX_TASKS, OnBadLine, TraceError};
use meed_files::lines::Lines;

/// The columns that are read, by the names that the header must give.
pub(crate) const NAMES: [&str; 4] = ["vc", "arrival_s", "gpus", "duration_s"];
/// Most columns of a line that are looked at.
const MAX_COLUMNS: usize = 200;

/// One job. Small: all of a file are kept.
pub(super) struct Row {
    pub(super) submit: Time,
    pub(super) duration: Span,
    /// Its line in the file, where a job has no other name.
    pub(super) label: JobLabel,
    pub(super) queue: u32,
    pub(super) gpus: u32,
}

/// All rows of a file, in its order, with times by the clock of their own virtual cluster.
pub(super) fn read(
    mut lines: Lines,
    shape: PhillyShape,
    on_bad_line: OnBadLine,
) -> Result<Whole<Row>, TraceError> {
    let file = Arc::clone(lines.input().name());
    let mut read = Whole::new(&file, on_bad_line);
    let mut header = None;
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next_line()? else {
            crate::records::end(lines.input(), number, &mut read.bad)?;
            return Ok(read);
        };
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let Some(columns) = &header else {
            let found = Columns::of_header(line);
            header = Some(found.map_err(|why| TraceError::Header {
                file: Arc::clone(&file),
                line: number,
                why,
            })?);
            continue;
        };
        let found = columns.parse(line, shape).map(|found| {
            let (name, row) = found?;
            Some(Row { label: JobLabel::Number(number), queue: read.number_of(name), ..row })
        });
        read.add(number, found)?;
    }
}

/// So many GPUs, of the kind `gpu` among `kinds`. At most [`MAX_AMOUNT`]: rows are checked.
pub(super) fn demand(gpus: u64, gpu: usize, kinds: usize) -> Resources {
    let mut demand = Resources::zero(kinds);
    demand.as_mut_slice()[gpu] = gpus.saturating_mul(Unit::Milli.scale()).min(MAX_AMOUNT);
    demand
}

/// Where the columns are.
struct Columns {
    /// Number of columns of the header.
    count: usize,
    vc: Column,
    arrival: Column,
    gpus: Column,
    duration: Column,
}

impl Columns {
    fn of_header(line: &[u8]) -> Result<Columns, String> {
        let text = String::from_utf8_lossy(line);
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let quoted: String = text.chars().take(60).collect();
        if names.len() > MAX_COLUMNS {
            return Err(format!("{} columns; a Philly file has {}", names.len(), NAMES.join(", ")));
        }
        let find = |wanted: usize| {
            let name = NAMES[wanted];
            match names.iter().filter(|&&found| found == name).count() {
                1 => {}
                0 => {
                    let hint = suggest(name, names.iter().copied());
                    let hint =
                        if hint.starts_with("did") { format!("; {hint}") } else { String::new() };
                    return Err(format!(
                        "the first line, {quoted:?}, names no column {name}{hint}; a Philly file \
                         begins with {}",
                        NAMES.join(",")
                    ));
                }
                _ => return Err(format!("the first line names the column {name} twice")),
            }
            let at = names.iter().position(|&found| found == name).unwrap_or(0);
            Ok(Column(at + 1, name))
        };
        Ok(Columns {
            count: names.len(),
            vc: find(0)?,
            arrival: find(1)?,
            gpus: find(2)?,
            duration: find(3)?,
        })
    }

    /// One line: the virtual cluster and the job; `None` for a job that is left out.
    fn parse<'a>(
        &self,
        line: &'a [u8],
        shape: PhillyShape,
    ) -> Result<Option<(&'a str, Row)>, BadRow> {
        if line.contains(&b'"') {
            return Err(BadRow::line(
                "has a quote; values are plain, without quotes or commas in them",
            ));
        }
        let mut values = [&line[..0]; MAX_COLUMNS];
        let mut count = 0;
        for value in line.split(|byte| *byte == b',') {
            if let Some(place) = values.get_mut(count) {
                *place = value.trim_ascii();
            }
            count += 1;
        }
        if count != self.count {
            return Err(BadRow::line(format!(
                "{count} columns; the first line names {}",
                self.count
            )));
        }
        let value = |column: Column| values[column.0 - 1];
        let name = value(self.vc);
        let name = match std::str::from_utf8(name) {
            Ok(text) if !text.is_empty() && text.len() <= MAX_NAME => text,
            _ => {
                return Err(self.vc.wrong(
                    name,
                    &format!("is no name; wanted are 1 to {MAX_NAME} bytes of text"),
                ));
            }
        };
        meed_config::queues::check_bounds(name)
            .map_err(|why| self.vc.wrong(name.as_bytes(), &why))?;
        let submit = time(self.arrival.seconds(value(self.arrival))?);
        let most = match shape {
            PhillyShape::Rigid => u64::from(u32::MAX),
            PhillyShape::Split | PhillyShape::Gang => u64::from(MAX_TASKS),
        };
        let gpus = self.gpus.whole(value(self.gpus), most)? as u32;
        let duration = span(self.duration.seconds(value(self.duration))?);
        if gpus == 0 {
            return Ok(None);
        }
        Ok(Some((name, Row { submit, duration, label: JobLabel::Number(0), queue: 0, gpus })))
    }
}
