//! What a tick of 10,000 queues costs in the native library, where so many containers start in it:
//! the shortest and the middle one of many. `cargo run --profile yarn -p meed-yarn --example
//! tick_speed -- [STARTS [TICKS]]`. What Java adds is in `cargo xtask yarn bench`.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "measures and prints")]

use std::time::Instant;

use meed_yarn::message::PluginRequest;
use meed_yarn::{Core, PluginAnswer, worker};
use serde_json::{Value, json};

const QUEUES: usize = 10_000;
const T0: u64 = 1_760_000_000_000;

fn open() -> Value {
    let queue = |i| json!({"name": format!("root.q{i}"), "weight": 1000});
    let queues: Vec<Value> = (0..QUEUES).map(queue).collect();
    let settings = json!({"policy": [["quantum", "1s"]], "queues": queues});
    json!({"open": {"protocol": meed_yarn::PROTOCOL, "epoch": 1, "now": T0, "settings": settings}})
}

/// The tick of a second, in which a container starts in each of `starts` queues.
fn tick(second: u64, starts: u64) -> Vec<u8> {
    let now = T0 + 1000 * second;
    let start = |i| {
        json!({"start": {
            "id": format!("container_1760000000000_{i:04}_01_{second:06}"),
            "app": format!("application_1760000000000_{i:04}"), "queue": format!("root.q{i}"),
            "node": "node1.example.org:45454", "memory": 1024, "cores": 1, "since": now,
        }})
    };
    let asks = |i| {
        json!({
            "app": format!("application_1760000000000_{i:04}"), "queue": format!("root.q{i}"),
            "asks": [[1024, 1, 1_000_000]],
        })
    };
    let mut tick = json!({"now": now, "events": [], "pending": [], "gone": []});
    if second == 1 {
        let node = json!({"name": "node1.example.org:45454", "memory": 1 << 30, "cores": 1 << 24});
        tick["nodes"] = json!([node]);
        // What a start explains is not told again.
        tick["pending"] = (0..starts).map(asks).collect();
    }
    if second > 1 {
        tick["events"] = (0..starts).map(start).collect();
    }
    json!({"tick": tick}).to_string().into_bytes()
}

/// Of times: the shortest and the middle one, in microseconds.
fn best(times: impl IntoIterator<Item = f64>) -> String {
    let mut times: Vec<f64> = times.into_iter().collect();
    times.sort_by(f64::total_cmp);
    format!("best {:.0} us, median {:.0}", times[0], times[times.len() / 2])
}

fn main() {
    let mut given = std::env::args().skip(1).map(|word| word.parse().expect("a number"));
    let (starts, ticks) = (given.next().unwrap_or(100), given.next().unwrap_or(50));
    let questions: Vec<Vec<u8>> = (1..=ticks + 1).map(|second| tick(second, starts)).collect();

    let first = serde_json::from_value(open()).expect("a question");
    let (mut core, _) = Core::open(first).expect("it opens");
    let took = questions.iter().map(|question| {
        let began = Instant::now();
        let request: PluginRequest = serde_json::from_slice(question).expect("a question");
        let read = began.elapsed().as_secs_f64() * 1e6;
        let answer = core.answer(&request).expect("it ticks");
        let all = began.elapsed().as_secs_f64() * 1e6;
        let PluginAnswer::Rows(rows) = answer else { panic!("rows, not text") };
        (read, all - read, rows.len())
    });
    let took: Vec<_> = took.skip(1).collect();
    let bytes = (questions[1].len(), took.last().map_or(0, |last| last.2));
    println!("{starts} of {QUEUES} queues start one; bytes asked, answered: {bytes:?}");
    println!("  read the question: {}", best(took.iter().map(|took| took.0)));
    println!("  answer it:         {}", best(took.iter().map(|took| took.1)));

    let opened = worker::ask(0, open().to_string().as_bytes());
    let handle = i64::from_be_bytes(opened[1..9].try_into().expect("8 bytes"));
    let took = questions.iter().map(|question| {
        let began = Instant::now();
        let answer = worker::ask(handle, question);
        assert_eq!(answer[0], worker::ROWS, "{}", String::from_utf8_lossy(&answer));
        began.elapsed().as_secs_f64() * 1e6
    });
    println!("  all, on its thread: {}", best(took.skip(1)));
    worker::close(handle);
}
