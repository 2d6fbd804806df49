//! Capacity left idle while a task waited that would have fitted.
//!
//! > integral over t of min(R - sum g_i(t), what waits in tasks of at most that width), over R T
//!
//! Exact: between two instants nothing changes. One node, so what is free is free in one piece.
//! Cost: linear in the steps of the course, times the jobs.

use super::course::{Course, CourseJob};

/// The idle part of `capacity` x the run's time during which a waiting task would have fitted.
pub(super) fn idle_while_wanted(course: &Course, capacity: f64, end_s: f64) -> f64 {
    let mut waiting = vec![0; course.jobs.len()];
    let (mut held, mut at, mut idle) = (0.0, 0.0, 0.0);
    for step in &course.steps {
        idle += (step.at - at) * wanted(&course.jobs, &waiting, capacity - held);
        at = step.at;
        waiting[step.job] += step.waits;
        held += step.runs as f64 * course.jobs[step.job].width;
    }
    idle += (end_s - at) * wanted(&course.jobs, &waiting, capacity - held);
    idle / (capacity * end_s)
}

/// What of `free` slots waiting tasks could have.
fn wanted(jobs: &[CourseJob], waiting: &[i64], free: f64) -> f64 {
    let all = jobs.iter().zip(waiting).filter(|(job, _)| job.width <= free);
    all.map(|(job, &tasks)| job.width * tasks as f64).sum::<f64>().min(free)
}
