//! What is measured of each peer, in the same order and with the same jobs.

use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::fetch::Programs;
use super::found::{Found, Took, Waits};
use super::peer::{Kind, Running};
use crate::tools::{now, until};

/// How much is measured.
pub(super) struct Sizes {
    pub(super) submissions: usize,
    pub(super) runs: usize,
    pub(super) starts: usize,
    pub(super) waiting: usize,
    /// Longest time of one row; what is not done by then is said.
    pub(super) most_s: u64,
    /// The same for the submission of what is to wait.
    pub(super) most_waiting_s: u64,
}

impl Sizes {
    pub(super) const FULL: Sizes = Sizes {
        submissions: 1000,
        runs: 10_000,
        starts: 100,
        waiting: 100_000,
        most_s: 150,
        most_waiting_s: 240,
    };
    /// To see that it runs.
    pub(super) const QUICK: Sizes = Sizes {
        submissions: 50,
        runs: 100,
        starts: 10,
        waiting: 300,
        most_s: 30,
        most_waiting_s: 30,
    };
}

/// How often something is looked for.
const STEP: Duration = Duration::from_millis(2);

/// Clients at once.
const CLIENTS: usize = 8;

/// A step of a peer; what fails is said, and leaves its row empty.
fn row<T>(what: &str, done: Result<T, String>) -> Option<T> {
    match done {
        Ok(found) => Some(found),
        Err(why) => {
            crate::say(&format!("  {what}: {}", why.trim()));
            None
        }
    }
}

pub(super) fn all(kind: &Kind, programs: &Programs, sizes: &Sizes) -> Result<Found, String> {
    let mut found = Found::default();
    let jobs = kind.room.unwrap_or(usize::MAX).min(sizes.submissions);
    {
        let peer = Running::start(kind, programs)?;
        found.starts_ms = row("submit to start", starts(&peer, sizes)).unwrap_or_default();
    }
    {
        let peer = busy(kind, programs)?;
        found.single = row("one by one", single(&peer, jobs, 1, sizes.most_s));
    }
    {
        let peer = busy(kind, programs)?;
        found.at_once = row("at once", single(&peer, jobs, CLIENTS, sizes.most_s));
    }
    if kind.request.is_some() {
        let peer = busy(kind, programs)?;
        let began = now();
        let taken = peer.submit(&["true"], Some(sizes.runs));
        let took = began.elapsed().as_secs_f64();
        found.request = row("in one request", taken.map(|_| sizes.runs as f64 / took));
    }
    found.run_single = row("single jobs run", runs(kind, programs, sizes, false));
    if kind.request.is_some() {
        found.run_request = row("one request runs", runs(kind, programs, sizes, true));
    }
    found.waiting = row("many wait", waits(kind, programs, sizes));
    Ok(found)
}

/// A peer of which both processors are taken.
fn busy<'k>(kind: &'k Kind, programs: &'k Programs) -> Result<Running<'k>, String> {
    let peer = Running::start(kind, programs)?;
    for _ in 0..2 {
        peer.submit(&["sleep", "3600"], None)?;
    }
    std::thread::sleep(Duration::from_secs(2));
    Ok(peer)
}

/// Milliseconds from before the client is started to the first thing that the job does.
fn starts(peer: &Running<'_>, sizes: &Sizes) -> Result<Vec<f64>, String> {
    let (mut all, start) = (Vec::new(), now());
    for number in 0..sizes.starts + 3 {
        if start.elapsed().as_secs() > sizes.most_s {
            break;
        }
        let file = peer.folder.join(format!("began-{number}"));
        let script = peer.folder.join(format!("job-{number}"));
        let text = format!("#!/bin/sh\ndate +%s%N > {0}.new\nmv {0}.new {0}\n", file.display());
        write_program(&script, &text)?;
        let began = wall_ns()?;
        peer.submit(&[&script.display().to_string()], None)?;
        let told = until(Duration::from_secs(60), STEP, || std::fs::read_to_string(&file).ok())
            .ok_or("a job did not begin in a minute")?;
        let at: u128 = told.trim().parse().map_err(|_| format!("no time: {told}"))?;
        // The first ones find nothing in the machine's caches.
        if number >= 3 {
            all.push(at.saturating_sub(began) as f64 / 1e6);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    all.sort_by(f64::total_cmp);
    Ok(all)
}

fn write_program(path: &Path, text: &str) -> Result<(), String> {
    let failed = |why: std::io::Error| format!("{}: {why}", path.display());
    std::fs::write(path, text).map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(failed)
}

/// The wall clock, as `date` has it.
fn wall_ns() -> Result<u128, String> {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.map(|since| since.as_nanos()).map_err(|why| why.to_string())
}

/// Jobs a second.
fn single(peer: &Running<'_>, jobs: usize, clients: usize, most_s: u64) -> Result<f64, String> {
    let began = now();
    let (done, _) = fill(peer, jobs, clients, most_s)?;
    Ok(done as f64 / began.elapsed().as_secs_f64())
}

/// Submits so many, or as many as there is time for: how many, and the number of the last one.
fn fill(
    peer: &Running<'_>,
    jobs: usize,
    clients: usize,
    most_s: u64,
) -> Result<(usize, String), String> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (stop, last) = (AtomicBool::new(false), Mutex::new((0, String::new(), String::new())));
    let began = now();
    let client = || {
        while !stop.load(Ordering::Relaxed) && began.elapsed().as_secs() < most_s {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                return;
            }
            let taken = submit_in_time(peer, Duration::from_secs(10));
            let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match taken {
                Ok(job) => {
                    done.fetch_add(1, Ordering::Relaxed);
                    let place: u64 = job.parse().unwrap_or(number as u64);
                    if place >= last.0 {
                        (last.0, last.1) = (place, job);
                    }
                }
                Err(why) => {
                    stop.store(true, Ordering::Relaxed);
                    last.2 = why;
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..clients).for_each(|_| drop(scope.spawn(client)));
    });
    let done = done.into_inner();
    let (_, job, why) = last.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if done < jobs && !why.is_empty() {
        crate::say(&format!("  after {done} submissions: {}", why.trim()));
    }
    if done == 0 { Err(why) } else { Ok((done, job)) }
}

/// A peer may have no room for one more, and let its client wait.
fn submit_in_time(peer: &Running<'_>, most: Duration) -> Result<String, String> {
    let mut command = peer.submission(&["true"], None);
    let failed = |why: std::io::Error| why.to_string();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut wait = Duration::from_micros(200);
    let began = now();
    while child.try_wait().map_err(failed)?.is_none() {
        if began.elapsed() > most {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("not taken within {} s", most.as_secs()));
        }
        std::thread::sleep(wait);
        wait = (wait * 3 / 2).min(Duration::from_millis(20));
    }
    // Jobs may keep the pipes of their client open: what is there is read, and no more.
    let status = child.wait().map_err(failed)?;
    let mut said = vec![0; 4096];
    let mut read = |from: &mut dyn std::io::Read| from.read(&mut said).unwrap_or(0);
    let count = match (status.success(), &mut child.stdout, &mut child.stderr) {
        (true, Some(out), _) => read(out),
        (false, _, Some(out)) => read(out),
        _ => 0,
    };
    let text = String::from_utf8_lossy(&said[..count]).trim().to_owned();
    if status.success() { Ok(text) } else { Err(text) }
}

/// From the first submission to the end of the last job.
fn runs(kind: &Kind, programs: &Programs, sizes: &Sizes, request: bool) -> Result<Took, String> {
    let peer = Running::start(kind, programs)?;
    let began = now();
    let (done, job) = match request {
        true => (sizes.runs, peer.submit(&["true"], Some(sizes.runs))?),
        false => fill(&peer, sizes.runs, 2, sizes.most_s)?,
    };
    let mut wait = peer.command(&(kind.wait)(&job));
    let mut wait = wait
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|why| format!("waiting: {why}"))?;
    let left = (sizes.most_s as f64 - began.elapsed().as_secs_f64()).max(5.0);
    let over = until(Duration::from_secs_f64(left), STEP, || wait.try_wait().ok().flatten());
    let took = began.elapsed().as_secs_f64();
    let _ = wait.kill();
    let _ = wait.wait();
    Ok(match over.is_some() && done == sizes.runs {
        true => Took::Seconds(took),
        false => Took::Short(done, took),
    })
}

fn waits(kind: &Kind, programs: &Programs, sizes: &Sizes) -> Result<Waits, String> {
    let peer = busy(kind, programs)?;
    let (jobs, _) = fill(&peer, sizes.waiting, CLIENTS, sizes.most_waiting_s)?;
    std::thread::sleep(Duration::from_secs(2));
    let processes = peer.processes();
    let bytes = processes.iter().map(|number| proportional(*number)).sum();
    let words: Vec<String> = kind.list.iter().map(|word| (*word).to_owned()).collect();
    let mut times = Vec::new();
    for _ in 0..3 {
        let began = now();
        let mut list = peer.command(&words);
        let status = list.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("the list failed".to_owned());
        }
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(Waits { jobs, bytes, processes: processes.len(), list_ms: times[1] })
}

/// What a process holds, shared pages in parts.
fn proportional(process: u32) -> u64 {
    let path = format!("/proc/{process}/smaps_rollup");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
