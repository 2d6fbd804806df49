//! Who gains by what under prices and plans: cases small enough to work out by hand
//! (docs/prices-and-plans.md, the audit), each as a scenario.
//!
//! Two hours, instances of one unit, tasks of a minute; who wants work has more than fits. What a
//! tenant receives is compared to within a few tasks.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

/// A tenant that contributes: from and until (hours), price, and when it wants work.
struct Tenant {
    name: &'static str,
    rents: &'static [(u64, u64, &'static str)],
    wants: &'static [u64],
}

fn scenario(tenants: &[Tenant], accounts: &str) -> String {
    let mut text = format!(
        "[cluster]\nresources = [\"slot\"]\n[accounts]\nevery = 60\n{accounts}\n[run]\nuntil = \
         7200\n"
    );
    for tenant in tenants {
        text += &format!("[[queue]]\nname = \"{}\"\n", tenant.name);
        for (from, until, price) in tenant.rents {
            text += &format!(
                "[[contribution]]\ntenant = \"{}\"\nplan = \"on-demand\"\ncount = 10\nfrom = \
                 {}\nuntil = {}\nprice = {price}\ncapacity = {{ slot = 1 }}\n",
                tenant.name,
                from * 3600,
                until * 3600
            );
        }
        // An hour's work for all that there ever is.
        for hour in tenant.wants {
            for minute in 0..60 {
                text += &format!(
                    "[[job]]\nqueue = \"{}\"\nsubmit = {}\ntasks = 20\nduration = \
                     60\ndemand = {{ slot = 1 }}\n",
                    tenant.name,
                    hour * 3600 + minute * 60
                );
            }
        }
    }
    text
}

/// Hours that each tenant has received, by name.
fn received(tenants: &[Tenant], accounts: &str, policy: &str) -> Vec<f64> {
    let text = scenario(tenants, accounts);
    let scenario = Scenario::parse("s.toml", &text, Path::new("."), &[], OnBadLine::Stop);
    let scenario = scenario.unwrap_or_else(|why| panic!("{why}\n{text}"));
    let policies = vec![policy.to_owned()];
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let runs = simulate(&scenario, &options, None, &mut Unwatched).unwrap().runs;
    runs[0].queues.iter().map(|queue| queue.usage["slot"] / 3600.0).collect()
}

#[track_caller]
fn near(got: &[f64], expected: &[f64]) {
    let same = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 0.7);
    assert!(same && got.len() == expected.len(), "{got:?} is not {expected:?}");
}

/// One pays 3 for the first hour, the other 1 for the second. By amounts alone the second falls
/// below what it brought; by the price of the moment neither does.
#[test]
fn amounts_in_proportion_to_payment_break_the_sharing_incentive() {
    let tenants = [
        Tenant { name: "dear", rents: &[(0, 1, "3")], wants: &[0, 1] },
        Tenant { name: "cheap", rents: &[(1, 2, "1")], wants: &[0, 1] },
    ];
    near(&received(&tenants, "", "as-you-pay,value=resource"), &[15.0, 5.0]);
    near(&received(&tenants, "", "as-you-pay"), &[10.0, 10.0]);
}

/// Both rent at one price that rises from 1 to 4; one lends the cheap hour and wants the dear one.
/// By amounts it gets an hour of 4 for an hour of 1; by price it gets what it paid: a with
/// 4 a = 20 + 4 (20 - a).
#[test]
fn who_lends_cheap_hours_is_not_owed_dear_ones() {
    const RENTS: &[(u64, u64, &str)] = &[(0, 2, "[[0, 1], [3600, 4]]")];
    let tenants = [
        Tenant { name: "lender", rents: RENTS, wants: &[1] },
        Tenant { name: "steady", rents: RENTS, wants: &[0, 1] },
    ];
    near(&received(&tenants, "", "as-you-pay,value=resource"), &[20.0, 20.0]);
    near(&received(&tenants, "", "as-you-pay"), &[12.5, 27.5]);
    // Without memory what was lent is forgotten.
    near(&received(&tenants, "", "fair"), &[10.0, 30.0]);
}

/// Who pays nothing uses what is idle, and finds it in its account when it begins to pay; without
/// memory it is a gift.
#[test]
fn buying_late_gains_nothing_from_the_idle_hours_of_others() {
    let tenants = [
        Tenant { name: "late", rents: &[(1, 2, "1")], wants: &[0, 1] },
        Tenant { name: "early", rents: &[(0, 2, "1")], wants: &[1] },
    ];
    near(&received(&tenants, "", "as-you-pay"), &[10.0, 20.0]);
    near(&received(&tenants, "", "fair"), &[20.0, 10.0]);
}

/// A counterexample: under two names, one that uses what is idle and one that pays, what was used
/// is held against nobody. It gets 10 + 20 / 3 instead of 10.
#[test]
fn splitting_into_two_names_gains() {
    let tenants = [
        Tenant { name: "late-idle", rents: &[], wants: &[0] },
        Tenant { name: "late-pays", rents: &[(1, 2, "1")], wants: &[1] },
        Tenant { name: "early", rents: &[(0, 2, "1")], wants: &[1] },
    ];
    near(&received(&tenants, "", "as-you-pay"), &[10.0, 20.0 / 3.0, 40.0 / 3.0]);
}

/// Splitting a payment among names that are used alike changes nothing.
#[test]
fn splitting_alike_gains_nothing() {
    let whole = [
        Tenant { name: "a", rents: &[(0, 2, "1"), (0, 2, "1")], wants: &[0, 1] },
        Tenant { name: "b", rents: &[(0, 2, "1")], wants: &[0, 1] },
    ];
    let split = [
        Tenant { name: "a1", rents: &[(0, 2, "1")], wants: &[0, 1] },
        Tenant { name: "a2", rents: &[(0, 2, "1")], wants: &[0, 1] },
        Tenant { name: "b", rents: &[(0, 2, "1")], wants: &[0, 1] },
    ];
    // 20 tasks a minute for each name: nobody runs dry.
    near(&received(&whole, "", "as-you-pay"), &[40.0, 20.0]);
    near(&received(&split, "", "as-you-pay"), &[20.0, 20.0, 20.0]);
}

/// Who pays more for the same instances, and has it given back behind the pool's back, gains where
/// payment counts; not where what was contributed counts. And the other falls below what it
/// brought: with mixed prices no order gives both what they brought and what they paid for.
#[test]
fn a_price_that_is_too_high_buys_a_larger_part_unless_contributions_count() {
    let tenants = |price: &'static [(u64, u64, &'static str)]| {
        [
            Tenant { name: "high", rents: price, wants: &[0, 1] },
            Tenant { name: "low", rents: &[(0, 2, "1")], wants: &[0, 1] },
        ]
    };
    let (two, four) = (tenants(&[(0, 2, "2")]), tenants(&[(0, 2, "4")]));
    near(&received(&two, "", "as-you-pay"), &[80.0 / 3.0, 40.0 / 3.0]);
    near(&received(&four, "", "as-you-pay"), &[32.0, 8.0]);
    for tenants in [two, four] {
        let contributed = received(&tenants, "", "as-you-pay,entitled=contributed");
        near(&contributed, &[20.0, 20.0]);
        near(&received(&tenants, "entitled = \"contributed\"", "fair"), &[20.0, 20.0]);
    }
}

/// The day of docs/prices-and-plans.md: what each has received, in money.
#[test]
fn a_day_with_spikes_is_as_the_page_says() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/spot.toml");
    let scenario = Scenario::load(&example, &[], OnBadLine::Stop).unwrap();
    let rows = [
        ("fair", [9.46, 14.26, 8.93]),
        ("long-term", [6.84, 9.97, 15.84]),
        ("as-you-pay", [6.30, 15.01, 11.34]),
        ("as-you-pay,value=resource", [6.25, 12.06, 14.33]),
        ("as-you-pay,entitled=contributed", [11.65, 11.67, 9.33]),
    ];
    let policies = rows.iter().map(|row| row.0.to_owned()).collect();
    let options = SimulateOptions { policies, ..SimulateOptions::default() };
    let runs = simulate(&scenario, &options, None, &mut Unwatched).unwrap().runs;
    let page = include_str!("../../../../docs/prices-and-plans.md");
    for (run, (policy, expected)) in runs.iter().zip(rows) {
        let accounts = run.accounts.as_ref().unwrap();
        let hundredths = |money: f64| (money * 100.0).round() / 100.0;
        let worth: Vec<f64> = accounts.accounts.iter().map(|one| hundredths(one.worth)).collect();
        assert_eq!(worth, expected, "{policy}");
        let row: Vec<String> = worth.iter().map(|worth| format!("{worth:.2}")).collect();
        assert!(page.contains(&row.join(" | ")), "{policy}: {row:?} is not on the page");
    }
}
