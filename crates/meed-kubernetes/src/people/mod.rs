//! What people ask a cluster: `meed queues`, `meed why pod` and `meed top`, or by the names of this
//! program, `meed kubernetes queues` and `why`.
//!
//! Read only, through the kubeconfig, with the rights of who asks; all of it stands in objects that
//! the leader writes. Texts of others are shown as one short line (`shown`).

mod place;
mod queues;
mod top;
mod why;

use crate::error::KubernetesError;
use place::Place;
pub use place::PlaceArgs;

/// Most characters of a foreign text.
const MOST: usize = 300;

/// All queues, as a table or as JSON.
///
/// # Errors
///
/// No cluster; no right to read queues.
pub fn queues(place: &PlaceArgs, json: bool) -> Result<String, KubernetesError> {
    asked(place, !json, async |at| queues::told(&at.client, json).await)
}

/// Queues and pods at one instant, as `meed top --json` tells those of a server.
///
/// # Errors
///
/// No cluster; no right to read queues, or pods.
pub fn top(place: &PlaceArgs) -> Result<String, KubernetesError> {
    let because = place.because().map(|why| format!("; {why}")).unwrap_or_default();
    asked(place, false, async |at| top::told(&at.client, &format!("{}{because}", at.name)).await)
}

/// Why a pod waits, or what became of it: `NAMESPACE/NAME`, or `NAME` in the namespace of the
/// kubeconfig.
///
/// # Errors
///
/// No cluster; no such pod; no right to read it.
pub fn why(place: &PlaceArgs, pod: &str, json: bool) -> Result<String, KubernetesError> {
    asked(place, !json, async |at| why::told(&at.client, pod, json).await)
}

/// The answer; where nobody has said which cluster is meant and it is `for_people`, below the name
/// of the one that was asked.
fn asked(
    place: &PlaceArgs,
    for_people: bool,
    ask: impl AsyncFnOnce(&Place) -> Result<String, KubernetesError>,
) -> Result<String, KubernetesError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| KubernetesError::Settings(why.to_string()))?;
    runtime.block_on(async {
        let at = place.connect().await?;
        let answer = ask(&at).await?;
        Ok(match place.because() {
            Some(why) if for_people => format!("{}; {why}\n{answer}", at.name),
            _ => answer,
        })
    })
}

/// A text of somebody else, on one line: no control characters, and not too long.
fn shown(text: &str) -> String {
    let clean = |one: char| if one.is_control() { ' ' } else { one };
    let mut all: String = text.chars().take(MOST).map(clean).collect();
    if text.chars().nth(MOST).is_some() {
        all.push('…');
    }
    all
}

/// Rows below their heads, each column as wide as it must be.
fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(heads.get(column).map_or(0, |head| head.chars().count()))
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        let line: Vec<String> = padded.collect();
        format!("{}\n", line.join("  ").trim_end())
    };
    let mut text = line(&mut heads.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_one_short_line() {
        assert_eq!(shown("two\nlines\u{1b}[31m"), "two lines [31m");
        let long = shown(&"ä".repeat(MOST + 1));
        assert_eq!((long.chars().count(), long.chars().last()), (MOST + 1, Some('…')));
        assert_eq!(shown(&"x".repeat(MOST)).chars().count(), MOST);
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["long".to_owned(), String::new()]];
        assert_eq!(table(&["Q", "N"], &rows), "Q     N\na     1\nlong\n");
    }
}
