//! Lists of host names as Slurm writes them: `n[01-04,07],m1`.
//!
//! Checked against `scontrol show hostnames` of Slurm 22.05.8: names are separated by commas or
//! white space; a range has the width of its first number (`[01-003]` is 01, 02, 03); brackets may
//! follow each other, and the last varies fastest; text behind the last bracket is refused, and so
//! is a range that falls. What is not closed is refused here; Slurm makes the name `n]` of `n[1-2`.

/// Names that a list stands for, in order, at most `most` of them; in words what is wrong.
pub fn expand_hosts(list: &str, most: usize) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for word in words(list) {
        let room = most.saturating_sub(names.len());
        names.extend(expand(word, room).map_err(|why| format!("host list `{word}`: {why}"))?);
    }
    Ok(names)
}

/// The parts of a list: at commas and white space outside of brackets.
fn words(list: &str) -> impl Iterator<Item = &str> {
    let mut open = false;
    let parts = list.split(move |letter: char| {
        match letter {
            '[' => open = true,
            ']' => open = false,
            _ => {}
        }
        !open && (letter == ',' || letter.is_whitespace())
    });
    parts.filter(|part| !part.is_empty())
}

fn expand(word: &str, most: usize) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('[') {
        let (ranges, behind) = after.split_once(']').ok_or("a bracket is not closed")?;
        let numbers = numbers(ranges, most)?;
        if names.len().saturating_mul(numbers.len()) > most {
            return Err(format!("more than {most} names"));
        }
        let each = |name: &String| {
            let begin = format!("{name}{before}");
            numbers.iter().map(move |number| format!("{begin}{number}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(each).collect();
        rest = behind;
    }
    match (names.len() > most, rest.is_empty(), word.contains('[')) {
        (true, ..) => Err(format!("more than {most} names")),
        (_, _, false) => Ok(vec![word.to_owned()]),
        (_, true, true) => Ok(names),
        (_, false, true) => Err(format!("`{rest}` stands behind the last bracket")),
    }
}

/// `01-04,07`, each in the width of its first number.
fn numbers(ranges: &str, most: usize) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for range in ranges.split(',').map(str::trim) {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (from.trim(), to.trim());
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        let bounds = number(from).zip(number(to)).filter(|(from, to)| from <= to);
        let (low, high) = bounds.ok_or_else(|| {
            format!("`{range}` is no range; right are 7 and 01-04, where the second is no less")
        })?;
        if high - low >= most.saturating_sub(all.len()) as u64 {
            return Err(format!("more than {most} names"));
        }
        let width = from.len();
        all.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of `scontrol show hostnames` of Slurm 22.05.8.
    #[test]
    fn lists_mean_what_they_mean_to_slurm() {
        for (list, expected) in [
            ("n[01-04,07]", "n01 n02 n03 n04 n07"),
            ("a[1-2]b[3-4]", "a1b3 a1b4 a2b3 a2b4"),
            ("n[1-2],m1", "n1 n2 m1"),
            ("n[09-11]", "n09 n10 n11"),
            ("n[001-3]", "n001 n002 n003"),
            ("n[1,1]", "n1 n1"),
            ("n[8-12]", "n8 n9 n10 n11 n12"),
            ("n[1-2],,m", "n1 n2 m"),
            ("n[1-2] m", "n1 n2 m"),
            ("[1-3]", "1 2 3"),
            ("n[01-003]", "n01 n02 n03"),
            ("n[1-2][1-2]", "n11 n12 n21 n22"),
            ("n[99-101]", "n99 n100 n101"),
            ("n[1- 2]", "n1 n2"),
            ("n{1-2}", "n{1-2}"),
        ] {
            assert_eq!(
                expand_hosts(list, 100).map(|names| names.join(" ")).as_deref(),
                Ok(expected)
            );
        }
        for list in ["n[3-1]", "n[]", "n[a-b]", "rack[0-1]n[1-2]-ib", "n[1-2]x,y", "n[1-2"] {
            assert!(expand_hosts(list, 100).is_err(), "{list}");
        }
        for list in ["n[1-101]", "n[1-18446744073709551615]", "a[1-11]b[1-11]", "n[1-50],m[1-51]"] {
            let why = expand_hosts(list, 100).unwrap_err();
            assert!(why.contains("more than"), "{list}: {why}");
        }
    }
}
