//! Assumptions of a page: those that begin alike, as `Slurm: ...` do, stand in one line.

/// A beginning is one or two words before a colon.
const WORDS: usize = 2;

fn head(note: &str) -> Option<(&str, &str)> {
    let (head, rest) = note.split_once(": ")?;
    (head.split(' ').count() <= WORDS).then_some((head, rest))
}

/// The notes in their order, each beginning once.
pub(super) fn grouped(notes: &[String]) -> Vec<String> {
    let mut lines: Vec<(Option<&str>, String)> = Vec::new();
    for note in notes {
        let Some((head, rest)) = head(note) else {
            lines.push((None, note.clone()));
            continue;
        };
        match lines.iter_mut().find(|(known, _)| *known == Some(head)) {
            Some((_, line)) => {
                line.push_str("; ");
                line.push_str(rest);
            }
            None => lines.push((Some(head), note.clone())),
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

/// How many there are, in words.
pub(super) fn title(notes: &[String]) -> String {
    match notes.len() {
        1 => "1 assumption".to_owned(),
        many => format!("{many} assumptions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_begin_alike_stand_in_one_line() {
        let notes =
            ["Slurm: a is b", "backfilling: EASY", "Slurm: c is d", "no colon", "none: too"];
        let notes = notes.map(str::to_owned);
        let lines = ["Slurm: a is b; c is d", "backfilling: EASY", "no colon", "none: too"];
        assert_eq!(grouped(&notes), lines);
        assert_eq!(title(&notes), "5 assumptions");
        assert_eq!(title(&notes[..1]), "1 assumption");
    }
}
