//! The wall clock steps by an hour, forward and back, while tasks run and while nobody serves: no
//! limit of time is over too early or too late, the ledger has what truly passed, and the journal's
//! time never goes back.
//!
//! A test may set the clock of a machine of its own only: `cargo xtask guest`. The same without the
//! system's clock, boot by boot, is in `meed-server/src/world/clock.rs`.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::bench::{Server, say, until, verify};

fn steps(seconds: i64) {
    let now = Command::new("date").arg("+%s").output().unwrap();
    let now: i64 = crate::bench::text(&now.stdout).trim().parse().unwrap();
    let set = Command::new("date").args(["-s", &format!("@{}", now + seconds)]).output().unwrap();
    assert!(set.status.success(), "{}", crate::bench::text(&set.stderr));
}

fn used(server: &Server) -> f64 {
    let queues = server.json(&["queues"]);
    queues["queues"][0]["books"]["usage"].as_f64().unwrap()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that compares clocks has one")]
fn the_clock_steps_by_an_hour_either_way() {
    if std::env::var_os("MEED_GUEST").is_none() {
        return say("skipped: a clock that steps needs a machine of its own (cargo xtask guest)");
    }
    let config = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n[cluster]\n\
                  resources = [\"cpu\"]\nnode = [{ capacity = { cpu = 8 } }]\n\
                  [[queue]]\nname = \"a\"\n";
    let mut server = Server::start(Some(config));
    let submit = |server: &Server, args: &[&str]| server.submit(&[&["-q", "a"], args].concat());
    for (hour, is_served) in [(3600, true), (-3600, true), (3600, false), (-3600, false)] {
        let (before, began) = (used(&server), Instant::now());
        let well = submit(&server, &["--time", "60s", "--", "sleep", "3"]);
        let late = submit(&server, &["--time", "2s", "--", "sleep", "60"]);
        until("both run", || (server.supervisors().len() == 2).then_some(()));
        if !is_served {
            server.kill();
        }
        steps(hour);
        if !is_served {
            std::thread::sleep(Duration::from_millis(500));
            server.run();
        }
        server.ok(&["wait", &well]);
        let took = began.elapsed().as_secs_f64();
        assert!((2.9..20.0).contains(&took), "{took} s for 3 s");
        assert_eq!(server.refused(&["wait", &late]).0, Some(1));
        let shown = server.json(&["show", &late]);
        assert_eq!(shown["task"]["0"]["ended"]["cause"], "time", "{shown}");
        let boot = |of: &str| shown["task"]["0"]["ended"][of]["boot_us"].as_f64().unwrap() / 1e6;
        let ran = boot("at") - boot("began");
        assert!((1.9..10.0).contains(&ran), "its limit of 2 s was over after {ran} s");
        // 3 s of one and 2 s of the other, and what it takes to tell that.
        let charged = used(&server) - before;
        assert!((4.9..30.0).contains(&charged), "{charged} processor seconds after {hour} s");
    }
    let journal = server.state().join("journal");
    assert_eq!(server.stop(), Some(0));
    verify(&journal);
}
