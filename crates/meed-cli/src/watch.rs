//! Progress on a terminal, and remarks about skipped lines.

use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meed_config::text::clean;
use meed_sim::Watch;
use meed_sim::world::Progress;

use crate::output::remark;

/// A line of progress on standard error while it is a terminal; `template` is indicatif's.
pub fn bar(quiet: bool, steps: u64, template: &str) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shows a line on standard error while it is a terminal.
pub(crate) struct Terminal {
    bar: ProgressBar,
    remarked: bool,
}

impl Terminal {
    pub(crate) fn new(quiet: bool) -> Terminal {
        Terminal { bar: bar(quiet, 1000, "{prefix} {bar:24} {msg}"), remarked: false }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Terminal {
    fn begins(&mut self, policy: &str) {
        self.bar.set_prefix(clean(policy).into_owned());
        self.bar.set_position(0);
        self.bar.set_message("");
    }

    fn goes_on(&mut self, progress: Progress) -> ControlFlow<()> {
        if let Some(fraction) = progress.fraction {
            self.bar.set_position((fraction * 1000.0) as u64);
        }
        let days = progress.now.as_secs_f64() / 86_400.0;
        self.bar.set_message(format!("{} jobs ended, day {days:.1}", progress.jobs_ended));
        ControlFlow::Continue(())
    }

    fn skipped(&mut self, _: &str, bad_lines: &[String]) {
        // Each policy reads the same trace: the messages are the same.
        if std::mem::replace(&mut self.remarked, true) {
            return;
        }
        self.bar.suspend(|| bad_lines.iter().for_each(|line| remark(&format!("skipped {line}"))));
    }
}
