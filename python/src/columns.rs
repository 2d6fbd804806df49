//! Cells of Arrow's columns as what jobs are made of: microseconds, whole numbers, amounts, texts.
//!
//! A column's type is looked at once; what is left reads a cell where it stands. A cell may be
//! missing (null, not a number, not a time): that is `None`, and whoever asks says whether it may.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};

/// Reads the cell of a row.
pub(crate) type Cells<T> = Box<dyn Fn(usize) -> Option<T> + Send + Sync>;

const MICROS: i128 = 1_000_000;

/// Cells of a column of this primitive type, through a function.
fn cells<T: arrow_array::ArrowPrimitiveType, R>(
    column: &ArrayRef,
    of: impl Fn(T::Native) -> Option<R> + Send + Sync + 'static,
) -> Option<Cells<R>> {
    let column: PrimitiveArray<T> = column.as_primitive_opt::<T>()?.clone();
    Some(Box::new(move |row| if column.is_valid(row) { of(column.value(row)) } else { None }))
}

/// Whole numbers of any width; truth is 1.
pub(crate) fn whole(column: &ArrayRef) -> Option<Cells<i128>> {
    match column.data_type() {
        DataType::Boolean => {
            let column = column.as_boolean_opt()?.clone();
            Some(Box::new(move |row| column.is_valid(row).then(|| column.value(row).into())))
        }
        DataType::Int8 => cells::<Int8Type, _>(column, |n| Some(n.into())),
        DataType::Int16 => cells::<Int16Type, _>(column, |n| Some(n.into())),
        DataType::Int32 => cells::<Int32Type, _>(column, |n| Some(n.into())),
        DataType::Int64 => cells::<Int64Type, _>(column, |n| Some(n.into())),
        DataType::UInt8 => cells::<UInt8Type, _>(column, |n| Some(n.into())),
        DataType::UInt16 => cells::<UInt16Type, _>(column, |n| Some(n.into())),
        DataType::UInt32 => cells::<UInt32Type, _>(column, |n| Some(n.into())),
        DataType::UInt64 => cells::<UInt64Type, _>(column, |n| Some(n.into())),
        _ => None,
    }
}

/// Numbers of any kind, in parts of which `scale` are one, rounded to the nearest.
pub(crate) fn scaled(column: &ArrayRef, scale: u64) -> Option<Cells<i128>> {
    let parts = move |number: f64| {
        // A cast of what is too large stops at the ends of its range, where it is refused.
        number.is_finite().then(|| (number * scale as f64).round() as i128)
    };
    match column.data_type() {
        DataType::Float32 => cells::<Float32Type, _>(column, move |n| parts(n.into())),
        DataType::Float64 => cells::<Float64Type, _>(column, parts),
        _ => {
            let whole = whole(column)?;
            Some(Box::new(move |row| whole(row).map(|number| number * i128::from(scale))))
        }
    }
}

/// The nearest microsecond.
fn nanos(number: i64) -> i128 {
    (i128::from(number) + 500).div_euclid(1000)
}

/// A column of times.
pub(crate) struct Times {
    /// Microseconds.
    pub(crate) cells: Cells<i128>,
    /// Of a calendar: since 1970.
    pub(crate) are_dates: bool,
}

/// Instants: seconds as numbers, or times of a calendar.
pub(crate) fn instants(column: &ArrayRef) -> Option<Times> {
    let cells = match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            cells::<TimestampSecondType, _>(column, |n| Some(i128::from(n) * MICROS))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            cells::<TimestampMillisecondType, _>(column, |n| Some(i128::from(n) * 1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            cells::<TimestampMicrosecondType, _>(column, |n| Some(n.into()))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            cells::<TimestampNanosecondType, _>(column, |n| Some(nanos(n)))
        }
        DataType::Date32 => {
            cells::<Date32Type, _>(column, |days| Some(i128::from(days) * 86_400 * MICROS))
        }
        _ => {
            let cells = scaled(column, MICROS as u64)?;
            return Some(Times { cells, are_dates: false });
        }
    };
    cells.map(|cells| Times { cells, are_dates: true })
}

/// Durations in microseconds: seconds as numbers, or durations.
pub(crate) fn spans(column: &ArrayRef) -> Option<Cells<i128>> {
    match column.data_type() {
        DataType::Duration(TimeUnit::Second) => {
            cells::<DurationSecondType, _>(column, |n| Some(i128::from(n) * MICROS))
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            cells::<DurationMillisecondType, _>(column, |n| Some(i128::from(n) * 1000))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            cells::<DurationMicrosecondType, _>(column, |n| Some(n.into()))
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            cells::<DurationNanosecondType, _>(column, |n| Some(nanos(n)))
        }
        _ => scaled(column, MICROS as u64),
    }
}

/// A column of names: texts, texts by number (categories), or whole numbers.
pub(crate) enum Names {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    Whole(Cells<i128>),
    ByNumber { numbers: Cells<i128>, names: Box<Names> },
}

impl Names {
    pub(crate) fn of(column: &ArrayRef) -> Option<Names> {
        match column.data_type() {
            DataType::Utf8 => Some(Names::Small(column.as_string().clone())),
            DataType::LargeUtf8 => Some(Names::Large(column.as_string().clone())),
            DataType::Utf8View => Some(Names::View(column.as_string_view().clone())),
            DataType::Dictionary(_, _) => {
                let by_number = column.as_any_dictionary_opt()?;
                let names = Box::new(Names::of(by_number.values())?);
                let numbers: ArrayRef = arrow_array::make_array(by_number.keys().to_data());
                Some(Names::ByNumber { numbers: whole(&numbers)?, names })
            }
            _ => whole(column).map(Names::Whole),
        }
    }

    /// Whether the names are numbers.
    pub(crate) fn number(&self, row: usize) -> Option<u64> {
        match self {
            Names::Whole(cells) => cells(row).and_then(|number| u64::try_from(number).ok()),
            _ => None,
        }
    }

    /// Looks at the name in that row, if there is one.
    pub(crate) fn look<R>(&self, row: usize, with: impl FnOnce(&str) -> R) -> Option<R> {
        match self {
            Names::Small(column) => column.is_valid(row).then(|| with(column.value(row))),
            Names::Large(column) => column.is_valid(row).then(|| with(column.value(row))),
            Names::View(column) => column.is_valid(row).then(|| with(column.value(row))),
            Names::Whole(cells) => cells(row).map(|number| with(&number.to_string())),
            Names::ByNumber { numbers, names } => {
                let number = numbers(row).and_then(|number| usize::try_from(number).ok())?;
                names.look(number, with)
            }
        }
    }
}

/// Names by number, in order of their first appearance.
#[derive(Default)]
pub(crate) struct Numbered {
    pub(crate) names: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Numbered {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
