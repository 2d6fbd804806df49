//! `--policy NAME=POLICY`: a policy under a name of the user's own, as a change of the scenario's
//! `[policies]`.

use std::collections::BTreeMap;

use meed_config::policy::{PolicySpec, STATIC, Words, orders};
use meed_scenario::Setting;

use crate::exit::Failure;

/// Policies by the names that they are called, and the changes that make these known.
pub(crate) fn named(policies: &[String]) -> Result<(Vec<String>, Vec<Setting>), Failure> {
    let (mut names, mut changes) = (Vec::new(), BTreeMap::new());
    for words in policies {
        let Some((name, policy)) = split(words) else {
            names.push(words.clone());
            continue;
        };
        let wrong = |why: String| Failure::Usage(format!("--policy {words}: {why}"));
        let change = change_of(name, policy).map_err(wrong)?;
        match changes.insert(name.to_owned(), change.clone()) {
            Some(before) if before != change => {
                return Err(wrong(format!(
                    "`{name}` is another policy already; name it otherwise"
                )));
            }
            _ => names.push(name.to_owned()),
        }
    }
    Ok((names, changes.into_values().collect()))
}

/// Policies by the names that they are called, each with the policy in the short form; without a
/// name of its own its name is that form.
pub(crate) fn called(policies: &[String]) -> Result<Vec<(String, String)>, Failure> {
    // The same things are wrong about them.
    named(policies)?;
    let pair = |words: &String| match split(words) {
        Some((name, policy)) => (name.to_owned(), policy.trim().to_owned()),
        None => (words.clone(), words.clone()),
    };
    Ok(policies.iter().map(pair).collect())
}

/// At an equals sign before the first comma: keys of a policy stand behind one.
fn split(words: &str) -> Option<(&str, &str)> {
    let (name, policy) = words.split_once('=')?;
    (!name.contains(',')).then_some((name.trim(), policy))
}

fn change_of(name: &str, policy: &str) -> Result<Setting, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err("a name has letters, digits, - and _".to_owned());
    }
    if name == STATIC || name == meed_sim::AS_YOU_PAY || orders().any(|order| order == name) {
        return Err(format!("`{name}` is an order; name it otherwise"));
    }
    let Words { name: order, keys } = Words::parse(policy).map_err(|why| why.to_string())?;
    if !orders().any(|known| known == order) {
        let known: Vec<&str> = orders().collect();
        return Err(format!("behind the name stands an order, of {}", known.join(", ")));
    }
    let all = keys.over(&PolicySpec::order(order));
    Setting::policy(name, &all).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_called_by_its_name_or_by_itself() {
        let words = ["week=long-term,half_life=7d", "fair"].map(str::to_owned);
        let pair = |name: &str, policy: &str| (name.to_owned(), policy.to_owned());
        let both = [pair("week", "long-term,half_life=7d"), pair("fair", "fair")];
        assert_eq!(called(&words).unwrap(), both);
        assert!(called(&["week=nothing".to_owned()]).is_err());
    }

    #[test]
    fn a_name_stands_before_an_equals_sign() {
        let rows = [
            ("long-term,half_life=7d", "long-term,half_life=7d", None),
            (
                "week=long-term,half_life=7d,t_wait=1h",
                "week",
                Some(r#"policies.week={ half_life = "7d", order = "long-term", t_wait = "1h" }"#),
            ),
            ("now = fair", "now", Some(r#"policies.now={ order = "fair" }"#)),
            ("fifo", "fifo", None),
        ];
        for (words, name, change) in rows {
            let (names, told) = named(&[words.to_owned()]).expect(words);
            assert_eq!(names, [name], "{words}");
            let told: Vec<&str> = told.iter().map(Setting::words).collect();
            assert_eq!(told, change.into_iter().collect::<Vec<_>>(), "{words}");
        }
        let (_, told) = named(&["p=fair,prices={cpu=1,memory=2e-10}".to_owned()]).unwrap();
        assert!(told[0].words().contains("prices = { cpu = 1"), "{told:?}");
        for wrong in
            ["=fair", "a b=fair", "fair=long-term", "week=week", "week=static", "w=fair,x=1"]
        {
            assert!(named(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
        let twice = ["w=long-term,half_life=1d", "w=long-term,half_life=7d"].map(str::to_owned);
        assert!(named(&twice).is_err(), "one name for two policies");
        assert_eq!(named(&[&twice[..1], &twice[..1]].concat()).unwrap().0, ["w", "w"]);
    }
}
