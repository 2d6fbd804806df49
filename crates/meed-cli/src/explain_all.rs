//! All queues at an instant, as a table.

use meed::{ResourceKinds, Unit};
use meed_config::text::clean;
use meed_replay::explain::{QueueAt, QueuesAt};

use crate::columns::columns;
use crate::explain_words::{amount_of, clock, used_of};

const HEADS: [&str; 10] =
    ["QUEUE", "NEXT", "WEIGHT", "SHARE", "HOLDS", "WAITING", "USED", "CHARGED", "BALANCE", "RHO"];

/// Who would be served next comes first, then those of whom nothing waits, as declared.
pub(crate) fn words(told: &QueuesAt, kinds: &ResourceKinds) -> String {
    let mut queues: Vec<&QueueAt> = told.queues.iter().collect();
    queues.sort_by_key(|queue| queue.next.unwrap_or(usize::MAX));
    let measured =
        queues.first().map_or_else(Default::default, |queue| clean(&queue.state.measured));
    let table = columns(&HEADS, queues.iter().map(|queue| row(queue, kinds)));
    format!(
        "All queues under {}, at {}; fairness is measured in {measured}\n{table}\
         next: its place among those of whom something waits; waiting: tasks; balance: lent less \
         borrowed\n",
        clean(&told.policy),
        clock(told.at_s, told.clock_us)
    )
}

fn row(queue: &QueueAt, kinds: &ResourceKinds) -> Vec<String> {
    let state = &queue.state;
    let kind = (0..kinds.len()).find(|&kind| kinds.name(kind) == state.measured);
    let unit = kind.map_or(Unit::Milli, |kind| kinds.unit(kind));
    let used = |seconds: f64| used_of(&state.measured, unit, seconds);
    vec![
        queue.queue.clone(),
        queue.next.map_or_else(String::new, |place| (place + 1).to_string()),
        state.weight.to_string(),
        amount_of(unit, state.share),
        amount_of(unit, state.held),
        state.waiting_tasks.to_string(),
        used(state.usage),
        used(state.charged),
        used(state.balance),
        state.rho.map_or_else(|| "-".to_owned(), |rho| format!("{rho:.3}")),
    ]
}
