//! A date as people say it of a run whose first and last instants are known.
//!
//! By ISO 8601 (`2026-03-03T14:30+01:00`, `2026-03-03 14:30`, `2026-03-03`), or with the name of a
//! month (`Mar 3 14:30`, `3 March 2026`, `Tue Mar 3 14:30:00 UTC 2026`). Without a zone it is in
//! UTC, without a time the day's beginning. Without a year it is the one instant of the run that
//! fits; where there is none, or several, that is said, and so is a day of the week that is not the
//! date's.

use jiff::tz::TimeZone;

use super::times::{date, format_date, zone};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A date without its meaning yet.
#[derive(Default)]
struct Said {
    year: Option<i32>,
    month: Option<usize>,
    day: Option<u32>,
    time: Option<String>,
    zone: Option<TimeZone>,
    /// Days since Monday.
    weekday: Option<usize>,
}

/// The instant that `text` says of a run from `first` to `last`, in microseconds since 1970; `None`
/// where it is no date, and what is wrong where it is none of the run.
pub fn date_of_run(text: &str, first: u64, last: u64) -> Option<Result<u64, String>> {
    // People read instants to the second: what they were told is one of the run.
    let second = first / 1_000_000 * 1_000_000;
    let dates = match iso(text) {
        Some(at) => vec![at],
        None => match said(text)?.instants(second, last) {
            Ok(dates) => dates,
            Err(wrong) => return Some(Err(wrong)),
        },
    };
    if dates.is_empty() {
        return None;
    }
    let is_of_run = |at: &u64| (second..=last).contains(at);
    let fits: Vec<u64> = dates.iter().filter(|at| is_of_run(at)).map(|&at| at.max(first)).collect();
    let shown = |at: u64| people(at);
    Some(match fits[..] {
        [at] => Ok(at),
        [] => Err(format!(
            "is not a time of the run, which goes from {} to {}",
            shown(first),
            shown(last)
        )),
        [one, other, ..] => Err(format!(
            "comes more than once in the run, as in {} and {}; say the year",
            shown(one),
            shown(other)
        )),
    })
}

/// A time since 1970, to the second, as people read it: `2026-03-03 14:30:00 UTC`.
pub fn people(micros: u64) -> String {
    let whole = format_date(micros / 1_000_000 * 1_000_000);
    whole.replacen('T', " ", 1).replacen('Z', " UTC", 1)
}

fn year_of(micros: u64) -> i32 {
    format_date(micros).get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970)
}

/// A date by ISO 8601, with a zone behind it or in it, or none.
fn iso(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(at) = date(text.as_bytes(), &TimeZone::UTC) {
        return Some(at);
    }
    let (before, last) = text.rsplit_once(' ')?;
    date(before.trim().as_bytes(), &zone(last)?).ok()
}

/// What the words of a date say, each once, a month and a day among them.
fn said(text: &str) -> Option<Said> {
    let mut said = Said::default();
    let words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    for word in words {
        let is_new = if let Some(month) = named(word, &MONTHS) {
            said.month.replace(month + 1).is_none()
        } else if let Some(day) = named(word, &DAYS) {
            said.weekday.replace(day).is_none()
        } else if word.contains(':') && word.starts_with(|first: char| first.is_ascii_digit()) {
            said.time.replace(word.to_owned()).is_none()
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = word.parse::<u32>().ok()?;
            match word.len() {
                1 | 2 => said.day.replace(number).is_none(),
                4 => said.year.replace(i32::try_from(number).ok()?).is_none(),
                _ => return None,
            }
        } else {
            said.zone.replace(zone(word)?).is_none()
        };
        if !is_new {
            return None;
        }
    }
    (said.month.is_some() && said.day.is_some()).then_some(said)
}

/// Which of the names a word is, by its first three letters or more.
fn named(word: &str, names: &[&str]) -> Option<usize> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let is = |name: &&str| word.len() >= 3 && name.starts_with(&word);
    names
        .iter()
        .position(is)
        .or_else(|| (word == "sept").then_some(8).filter(|_| names.len() == 12))
}

impl Said {
    /// The instants that it may be of a run; what is wrong where the day of the week is.
    fn instants(&self, first: u64, last: u64) -> Result<Vec<u64>, String> {
        // A zone may put the ends of a run into the year beside.
        let years = match self.year {
            Some(year) => year..=year,
            None => year_of(first) - 1..=year_of(last) + 1,
        };
        let dates = years.filter_map(|year| Some((year, self.of(year)?)));
        let falls =
            |&(year, _): &(i32, u64)| self.weekday.is_none_or(|day| self.falls(year) == day);
        let (right, wrong): (Vec<_>, Vec<_>) = dates.partition(falls);
        let is_of_run = |date: &&(i32, u64)| (first..=last).contains(&date.1);
        // Another year's date may fall on that day; people mean one of the run.
        let slip = wrong.iter().find(is_of_run).filter(|_| right.iter().find(is_of_run).is_none());
        match (slip.or(wrong.first().filter(|_| right.is_empty())), self.weekday) {
            (Some(&(year, _)), Some(said)) => Err(format!(
                "names a {}, but {year:04}-{:02}-{:02} is a {}",
                DAYS[said],
                self.month.unwrap_or(0),
                self.day.unwrap_or(0),
                DAYS[self.falls(year)]
            )),
            _ => Ok(right.into_iter().map(|(_, at)| at).collect()),
        }
    }

    /// On which day of the week its date falls in that year, in days since Monday; 0 where it is
    /// no date.
    fn falls(&self, year: i32) -> usize {
        let date = || {
            let (month, day) = (self.month?.try_into().ok()?, self.day?.try_into().ok()?);
            jiff::civil::Date::new(year.try_into().ok()?, month, day).ok()
        };
        date().map_or(0, |date| date.weekday().to_monday_zero_offset() as usize)
    }

    /// Its instant in that year, if there is one.
    fn of(&self, year: i32) -> Option<u64> {
        let (month, day) = (self.month?, self.day?);
        let time = self.time.as_deref().unwrap_or("00:00");
        // One digit of an hour is one too few for ISO.
        let time = if time.find(':') == Some(1) { format!("0{time}") } else { time.to_owned() };
        let text = format!("{year:04}-{month:02}-{day:02}T{time}");
        date(text.as_bytes(), self.zone.as_ref().unwrap_or(&TimeZone::UTC)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(iso: &str) -> u64 {
        date(iso.as_bytes(), &TimeZone::UTC).expect("a date")
    }

    #[test]
    fn dates_of_a_run() {
        let (first, last) = (at("2026-02-10T00:00:00"), at("2026-11-20T00:00:00"));
        let wanted = at("2026-03-03T14:30:00");
        for text in [
            "2026-03-03T14:30",
            "2026-03-03 14:30:00",
            "2026-03-03T14:30Z",
            "2026-03-03T15:30+01:00",
            "2026-03-03 15:30 +01:00",
            "2026-03-03 15:30 Europe/Berlin",
            "Mar 3 14:30",
            "March 3, 14:30",
            "3 mar 2026 14:30",
            "Mar 3 2026 14:30:00",
            "Tue Mar  3 14:30:00 UTC 2026",
            "Mar 3 15:30 Europe/Berlin",
            "Mar 3 15:30 +01:00",
            "Tue, 3 Mar 2026 15:30:00 +0100",
            "Mar 3 16:30 +02",
            "Mar 3 11:00 -0330",
            "Tuesday, Mar 3 14:30",
        ] {
            assert_eq!(date_of_run(text, first, last), Some(Ok(wanted)), "{text}");
        }
        let days = ["Mar 3", "2026-03-03", "3 March", "March 3 2026"];
        for text in days {
            let day = Some(Ok(at("2026-03-03T00:00:00")));
            assert_eq!(date_of_run(text, first, last), day, "{text}");
        }
        assert_eq!(date_of_run("Mar 3 9:05", first, last), Some(Ok(at("2026-03-03T09:05:00"))));
        for text in [
            "2h",
            "90",
            "1d 3h",
            "tomorrow",
            "Mar",
            "Mar 3 3",
            "Tue Wed Mar 3",
            "Mar 32",
            "Feb 30",
            "",
            ":",
            "Mar 3 25:00",
            "Mar 3 2026 2027",
            "3:00",
            "Mar 3 Nowhere/Town",
            "mars 3 x",
        ] {
            assert_eq!(date_of_run(text, first, last), None, "{text}");
        }
        for text in ["Jan 1", "Dec 24 18:00", "2025-03-03", "Mar 3 2025"] {
            let wrong = date_of_run(text, first, last).expect("a date").unwrap_err();
            let range = "goes from 2026-02-10 00:00:00 UTC to 2026-11-20 00:00:00 UTC";
            assert!(wrong.contains(range), "{text}: {wrong}");
        }
    }

    /// A slip of the day would otherwise explain another day than was meant.
    #[test]
    fn the_day_of_the_week_is_the_date_s() {
        let (first, last) = (at("2024-12-01T00:00:00"), at("2026-01-15T00:00:00"));
        let of = |text: &str| date_of_run(text, first, last).expect("a date");
        for text in ["Mon Mar 3 14:30", "Monday, 3 March 2025 14:30", "Mon Mar 3 15:30 +01:00"] {
            assert_eq!(of(text), Ok(at("2025-03-03T14:30:00")), "{text}");
        }
        for text in ["Tue Mar 3 14:30", "tuesday 3 mar 2025"] {
            let wrong = "names a tuesday, but 2025-03-03 is a monday";
            assert_eq!(of(text), Err(wrong.to_owned()), "{text}");
        }
        // The first instant of a run, as people read it.
        let (first, last) = (at("2025-03-03T14:30:00.4"), at("2026-04-01T00:00:00"));
        assert_eq!(date_of_run("Mon Mar 3 14:30:00", first, last), Some(Ok(first)));
        // It tells the years apart.
        assert_eq!(of("Fri Jan 3"), Ok(at("2025-01-03T00:00:00")));
        assert_eq!(of("Sat Jan 3"), Ok(at("2026-01-03T00:00:00")));
    }

    /// A run over two new years has some dates twice.
    #[test]
    fn the_year_is_that_of_the_run() {
        let (first, last) = (at("2024-12-01T00:00:00"), at("2026-01-15T00:00:00"));
        let of = |text: &str| date_of_run(text, first, last).expect("a date");
        assert_eq!(of("Mar 3 14:30"), Ok(at("2025-03-03T14:30:00")));
        assert_eq!(of("Jan 20"), Ok(at("2025-01-20T00:00:00")));
        assert!(of("Jan 3").unwrap_err().ends_with("say the year"));
        assert_eq!(of("Jan 3 2026"), Ok(at("2026-01-03T00:00:00")));
        // Only leap years have it: none of this run.
        assert!(of("Feb 29").unwrap_err().starts_with("is not a time of the run"));
        let (first, last) = (at("2024-01-01T00:00:00"), at("2024-12-15T00:00:00"));
        assert_eq!(date_of_run("Feb 29", first, last), Some(Ok(at("2024-02-29T00:00:00"))));
        // In its zone the run began in the year before.
        let wanted = Some(Ok(at("2024-01-01T01:00:00")));
        assert_eq!(date_of_run("Dec 31 20:00 -05:00", first, last), wanted);
    }
}
