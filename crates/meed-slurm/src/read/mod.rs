//! What Slurm's commands print, read. Pure: text in, facts out.
//!
//! | file | command |
//! |---|---|
//! | [`mod@form`] | which columns are asked for, by version |
//! | [`jobs`] | `squeue`, `sprio`, and of few jobs `scontrol show job` |
//! | [`json`] | the same and `scontrol show node` as JSON, of later versions |
//! | [`runs`] | `sacct`: runs that ended while nobody looked |
//! | [`nodes`] | `scontrol show node` |
//! | [`shares`] | `sacctmgr show assoc` |
//! | [`fair`] | `sshare`: what Slurm's own fair share says |
//! | [`config`] | `scontrol show config` |
//! | [`signs`] | `sdiag`: whether anything has happened |

pub(crate) mod config;
pub(crate) mod fair;
pub(crate) mod form;
pub(crate) mod jobs;
pub(crate) mod json;
pub(crate) mod nodes;
pub(crate) mod runs;
pub(crate) mod shares;
pub(crate) mod signs;

/// A fact that is not printed: `N/A`, `None`, `Unknown`, `NONE`, nothing.
fn missing(text: &str) -> bool {
    matches!(text, "" | "N/A" | "None" | "Unknown" | "NONE" | "(null)" | "INVALID")
}

/// Seconds since 1970, as `SLURM_TIME_FORMAT=%s` has them printed; `None`: it is not known.
fn instant(text: &str) -> Result<Option<i64>, String> {
    if missing(text) {
        return Ok(None);
    }
    let number = text.parse::<i64>().map_err(|_| {
        format!("`{text}` is not an instant in seconds, which SLURM_TIME_FORMAT=%s asks for")
    })?;
    Ok(Some(number).filter(|number| *number > 0))
}

/// `[DAYS-][HOURS:]MINUTES:SECONDS` in seconds.
fn duration(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is not a duration of the form [D-][HH:]MM:SS");
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let days: i64 = days.parse().map_err(|_| wrong())?;
    // Fractions of a second, which sacct prints of some columns, count for nothing.
    let rest = rest.split('.').next().unwrap_or_default();
    let mut seconds: i64 = 0;
    for part in rest.split(':') {
        let part: i64 = part.parse().map_err(|_| wrong())?;
        seconds = seconds.saturating_mul(60).saturating_add(part);
    }
    Ok(days.saturating_mul(86_400).saturating_add(seconds))
}

/// The columns of a line, as many as were asked for.
fn columns<'a, const N: usize>(line: &'a str, command: &str) -> Result<[&'a str; N], String> {
    let mut found = [""; N];
    let mut parts = line.split('|');
    for place in &mut found {
        *place = parts.next().map(str::trim).ok_or_else(|| {
            format!("{command} printed a line with fewer than {N} columns: `{line}`")
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_slurm_prints_them() {
        for (text, seconds) in
            [("0:02", 2), ("1:00:00", 3600), ("2-01:00:00", 176_400), ("00:00.003", 0)]
        {
            assert_eq!(duration(text).unwrap(), seconds, "{text}");
        }
        assert_eq!(instant("1795970750").unwrap(), Some(1_795_970_750));
        assert_eq!(instant("N/A").unwrap(), None);
        assert!(instant("2026-11-29T16:45:50").unwrap_err().contains("SLURM_TIME_FORMAT"));
        assert!(duration("soon").is_err());
    }
}
