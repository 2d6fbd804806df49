//! Tables of jobs: the first byte chooses the form and the settings, the rest is the file.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::format::TraceFormat;
use meed_workload::size::assumed_size;
use meed_workload::table::{
    KnownTable, TableAmounts, TableAssumptions, TableDates, TableDecimal, TableDots, TableForm,
    TableSizes, TableSource, WeightTable, read_weights, table_resources, weights_of,
};
use meed_workload::{JobSource, OnBadLine, Origin};

/// Mappings that say more than the guess does.
const MAPS: [&[(&str, &str)]; 4] = [
    &[],
    &[("tenant", "a/b"), ("submit", "s"), ("duration", "d"), ("memory", "m:MiB")],
    &[("tenant", "#1"), ("submit", "#2"), ("duration", "#3|#4"), ("cpu", "#4*#5")],
    &[("tenant", "=all"), ("count", "n"), ("gang", "g"), ("cpu", "t[cpu]"), ("limit", "l:min")],
];

fn options(choice: u8) -> TableAssumptions {
    let map = MAPS[usize::from(choice >> 4 & 3)].iter();
    let known = match choice >> 1 & 7 {
        1 => Some(KnownTable::Slurm),
        2 => Some(KnownTable::Openb),
        3 if choice & 64 == 0 => Some(KnownTable::Alibaba2018),
        3 => Some(KnownTable::AzureVms),
        4 if choice & 1 == 1 => Some(KnownTable::GridEngine),
        5 => Some(KnownTable::Pbs),
        6 => Some(KnownTable::Condor),
        7 => Some(KnownTable::Lsf),
        _ => None,
    };
    let often = choice & 64 == 0;
    TableAssumptions {
        form: match (choice & 1, known) {
            (_, Some(KnownTable::Pbs)) => TableForm::Accounting,
            (_, Some(KnownTable::Lsf)) => TableForm::Lsf,
            (_, Some(KnownTable::GridEngine)) => TableForm::GridEngine,
            (1, Some(KnownTable::Slurm)) => TableForm::SlurmJson,
            (_, Some(KnownTable::Condor)) => TableForm::JsonLines,
            (0, _) => TableForm::Separated,
            _ => TableForm::JsonLines,
        },
        known,
        map: map.map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect(),
        usual: MAPS[usize::from(choice & 3)].iter().map(|(key, text)| {
            ((*key).to_owned(), (*text).to_owned())
        }).collect(),
        separator: None,
        header: (choice >> 1 & 7 == 4).then_some(false),
        time_zone: (!often).then(|| "America/New_York".to_owned()),
        sizes: (!often).then_some(TableSizes::Binary),
        amounts: (!often).then_some(TableAmounts::PerJob),
        dots: if choice & 128 == 0 { TableDots::Flat } else { TableDots::Path },
        partitions: often,
        dates: TableDates::default(),
        decimal: if choice & 32 == 0 { TableDecimal::Point } else { TableDecimal::Comma },
        accounts: [("a".to_owned(), "x.y/".to_owned()), ("b".to_owned(), "x.b".to_owned())].into(),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let _ = TraceFormat::of_content(file);
    let (options, kinds) = (options(*choice), kinds());
    let origin = Origin::bytes("f.csv", file);
    if let Ok(found) = table_resources(&origin, &options) {
        assert!(!found.is_empty());
    }
    if let Ok(WeightTable { rows, .. }) = read_weights(&origin) {
        let names = rows.iter().flat_map(|row| row.names.iter().chain(&row.plain));
        let queues: BTreeSet<String> = names.step_by(2).cloned().collect();
        match weights_of(&origin, &rows, &queues) {
            Ok(found) => {
                assert!(found.weights.len() + found.others <= rows.len(), "no row counts twice");
                for (queue, weight) in &found.weights {
                    assert!(queues.contains(*queue), "weights are of queues");
                    let says = rows.iter().filter(|row| row.weight == **weight);
                    let mut names = says.flat_map(|row| row.names.iter().chain(&row.plain));
                    assert!(names.any(|name| name == queue), "a row says so");
                }
            }
            Err(error) => assert!(error.to_string().contains(" weight"), "{error}"),
        }
    }
    let open = |policy| TableSource::open(&origin, &kinds, &options, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            let again = &mut open(OnBadLine::Skip).expect("it was opened before");
            let size = assumed_size(again, kinds.len()).expect("what was opened can be read");
            assert_eq!(size.amounts.len(), kinds.len());
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("what was opened can be \
                read") };
            assert!(!jobs.is_empty());
            assert_eq!(strict.is_ok(), source.bad_lines().is_empty(), "strict fails on wrong lines \
                only");
            for queue in 0..source.queues().len() as u32 {
                assert!(jobs.iter().any(|job| job.queue == queue), "every queue has a job");
            }
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
