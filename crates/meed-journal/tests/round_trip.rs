//! Every record, of every kind, survives the way to a line and back, and is then the same line.

mod draw;

use meed_journal::{Fact, Kind, Record};
use proptest::prelude::*;

proptest! {
    #[test]
    fn records_survive_their_lines(record in draw::record()) {
        let mut line = Vec::new();
        record.encode(&mut line);
        let text = String::from_utf8_lossy(&line).into_owned();
        prop_assert!(!text.contains('\n'), "{}", text);
        let fail = |why| TestCaseError::fail(format!("{why}: {text}"));
        let back = Record::decode(&line).map_err(fail)?;
        prop_assert_eq!(&back, &record, "{}", text);
        let mut again = Vec::new();
        back.encode(&mut again);
        prop_assert_eq!(String::from_utf8_lossy(&again), text);
    }

    /// The quick way writes what the serializer writes.
    #[test]
    fn common_records_are_written_alike(
        micros in prop_oneof![
            0..100_000_000u64,
            0..=meed::MAX_MICROS,
            0..20u64,
            (0..9999u64).prop_map(|s| s * 1000),
        ],
        record in draw::record(),
        tasks in draw::about_tasks(),
    ) {
        let t = meed::Time::from_micros(micros).expect("in range");
        for fact in [record.fact, tasks] {
            let record = Record { seq: record.seq, t, fact };
            let (mut quick, mut plain) = (b"x".to_vec(), b"x".to_vec());
            record.encode(&mut quick);
            record.encode_plainly(&mut plain);
            prop_assert_eq!(String::from_utf8(quick), String::from_utf8(plain));
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_a_sentence(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Err(wrong) = Record::decode(&bytes) {
            prop_assert!(!wrong.to_string().is_empty());
        }
    }

    #[test]
    fn a_line_cut_short_is_known_as_such(record in draw::record(), part in 0.0..1.0f64) {
        let mut line = Vec::new();
        record.encode(&mut line);
        let cut = ((line.len() as f64 * part) as usize).max(1);
        let wrong = Record::decode(&line[..cut]).expect_err("half a line");
        prop_assert!(wrong.cut, "{}", wrong);
    }
}

#[test]
fn every_kind_is_drawn() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: Vec<Kind> = Vec::new();
    for _ in 0..4000 {
        let record = draw::record().new_tree(&mut runner).expect("it can be drawn").current();
        assert!(!matches!(record.fact, Fact::Other(_)));
        seen.push(record.fact.kind());
    }
    for kind in Kind::ALL {
        assert!(seen.contains(kind), "{kind:?}");
    }
}
