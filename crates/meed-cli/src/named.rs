//! `--policy NAME=POLICY`: a policy under a name of the user's own, as a change of the scenario's
//! `[policies]`.

use meed_config::policy::{STATIC, Words, orders};

use crate::exit::Failure;

/// Policies by the names that they are called, and the changes that make these known.
pub(crate) fn named(policies: &[String]) -> Result<(Vec<String>, Vec<String>), Failure> {
    let (mut names, mut changes) = (Vec::new(), Vec::new());
    for words in policies {
        match split(words) {
            None => names.push(words.clone()),
            Some((name, policy)) => {
                changes.extend(
                    changes_of(name, policy)
                        .map_err(|why| Failure::Usage(format!("--policy {words}: {why}")))?,
                );
                names.push(name.to_owned());
            }
        }
    }
    Ok((names, changes))
}

/// At an equals sign before the first comma: keys of a policy stand behind one.
fn split(words: &str) -> Option<(&str, &str)> {
    let (name, policy) = words.split_once('=')?;
    (!name.contains(',')).then_some((name.trim(), policy))
}

fn changes_of(name: &str, policy: &str) -> Result<Vec<String>, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err("a name has letters, digits, - and _".to_owned());
    }
    if name == STATIC || orders().any(|order| order == name) {
        return Err(format!("`{name}` is an order; name it otherwise"));
    }
    let Words { name: order, keys } = Words::parse(policy).map_err(|why| why.to_string())?;
    if !orders().any(|known| known == order) {
        let known: Vec<&str> = orders().collect();
        return Err(format!("behind the name stands an order, of {}", known.join(", ")));
    }
    let keys: Vec<&str> = keys.names().collect();
    let given = parts(policy).into_iter().skip(1).filter_map(|pair| pair.split_once('='));
    let change = |(key, value): (&str, &str)| format!("policies.{name}.{}={value}", key.trim());
    let mut changes = vec![format!("policies.{name}.order={order}")];
    changes.extend(given.filter(|(key, _)| keys.contains(&key.trim())).map(change));
    Ok(changes)
}

/// At the commas that stand in no quotes and no braces.
fn parts(policy: &str) -> Vec<&str> {
    let (mut quote, mut depth) = (None, 0_i32);
    let split = policy.split(|letter: char| {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            (None, ',') => return depth == 0,
            _ => {}
        }
        false
    });
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_before_an_equals_sign() {
        let rows: [(&str, &str, &[&str]); 5] = [
            ("long-term,half_life=7d", "long-term,half_life=7d", &[]),
            (
                "week=long-term,half_life=7d,t_wait=1h",
                "week",
                &[
                    "policies.week.order=long-term",
                    "policies.week.half_life=7d",
                    "policies.week.t_wait=1h",
                ],
            ),
            ("now = fair", "now", &["policies.now.order=fair"]),
            ("fifo", "fifo", &[]),
            (
                "p=fair,prices={cpu=1,memory=2e-10},t_wait=never",
                "p",
                &[
                    "policies.p.order=fair",
                    "policies.p.prices={cpu=1,memory=2e-10}",
                    "policies.p.t_wait=never",
                ],
            ),
        ];
        for (words, name, changes) in rows {
            let (names, told) = named(&[words.to_owned()]).ok().expect(words);
            assert_eq!(names, [name], "{words}");
            assert_eq!(told, changes, "{words}");
        }
        for wrong in
            ["=fair", "a b=fair", "fair=long-term", "week=week", "week=static", "w=fair,x=1"]
        {
            assert!(named(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
