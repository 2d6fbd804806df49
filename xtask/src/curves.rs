//! Draws what `tests/cluster/curves.rs` has seen: who holds what, and who is ahead by how much, as
//! an SVG that follows the reader's light or dark.

use std::path::Path;

const PICTURE: &str = "docs/images/kubernetes-story.svg";

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 445.0;
/// Of one panel, and where the first begins.
const PANEL: (f64, f64) = (370.0, 160.0);
const BEGIN: (f64, f64) = (58.0, 52.0);
/// From one panel to the next.
const STEP: (f64, f64) = (420.0, 205.0);

/// As in the report: Okabe and Ito's blue and orange, for a light and a dark ground.
const STYLE: &str = "\
svg { background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #1b1f24; } .soft { fill: #545d68; font-size: 12px; } .head { font-weight: 600; }
.grid { stroke: #e2e6ea; } .axis { stroke: #8a939d; }
.mark { stroke: #545d68; stroke-dasharray: 5 4; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.alpha { stroke: #0072b2; } .beta { stroke: #d55e00; stroke-dasharray: 7 3; }
.lead { stroke: #008a64; } .name-alpha { fill: #0072b2; } .name-beta { fill: #d55e00; }
@media (prefers-color-scheme: dark) {
svg { background: #14161a; } text { fill: #e6e8eb; } .soft { fill: #a7b0bb; }
.grid { stroke: #2c323a; } .axis { stroke: #7a838d; } .mark { stroke: #a7b0bb; }
.alpha { stroke: #56b4e9; } .beta { stroke: #ff8a3d; } .lead { stroke: #2cc295; }
.name-alpha { fill: #56b4e9; } .name-beta { fill: #ff8a3d; }
}";

/// What one run has shown.
struct Run {
    policy: &'static str,
    came: f64,
    /// Seconds, cores of alpha, cores of beta.
    samples: Vec<[f64; 3]>,
}

/// Draws both runs.
pub(crate) fn draw(samples: &Path, root: &Path) -> Result<(), String> {
    let runs = ["fair", "long-term"].map(|policy| read(samples, policy));
    let [fair, long] = runs;
    let text = picture(&[fair?, long?]);
    let path = root.join(PICTURE);
    std::fs::write(&path, text).map_err(|why| format!("{}: {why}", path.display()))?;
    crate::say(&format!("{PICTURE} is drawn"));
    Ok(())
}

fn read(folder: &Path, policy: &'static str) -> Result<Run, String> {
    let path = folder.join(format!("{policy}.csv"));
    let named = |why: &str| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|why| named(&why.to_string()))?;
    let number = |text: &str| text.parse::<f64>().map_err(|_| named("not a number"));
    let mut lines = text.lines();
    let came = lines.next().and_then(|line| line.strip_prefix("# beta comes "));
    let came = number(came.ok_or_else(|| named("when beta comes stands in the first line"))?)?;
    let row = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
        [at, alpha, beta] => Ok([number(at)?, number(alpha)?, number(beta)?]),
        _ => Err(named("a line has three numbers")),
    };
    let samples = lines.skip(1).map(row).collect::<Result<_, _>>()?;
    Ok(Run { policy, came, samples })
}

impl Run {
    /// Core-seconds by which alpha has used more than beta, over time.
    fn lead(&self) -> Vec<(f64, f64)> {
        let mut sum = 0.0;
        let steps = self.samples.windows(2).map(|pair| {
            sum += (pair[0][1] - pair[0][2]) * (pair[1][0] - pair[0][0]);
            (pair[1][0], sum)
        });
        steps.collect()
    }

    fn held(&self, whose: usize) -> Vec<(f64, f64)> {
        self.samples.iter().map(|sample| (sample[0], sample[whose])).collect()
    }
}

/// One panel: where it is, and what its axes span.
struct Panel {
    at: (f64, f64),
    seconds: f64,
    low: f64,
    high: f64,
}

impl Panel {
    fn x(&self, seconds: f64) -> f64 {
        self.at.0 + PANEL.0 * seconds / self.seconds
    }

    fn y(&self, value: f64) -> f64 {
        self.at.1 + PANEL.1 * (self.high - value) / (self.high - self.low)
    }

    fn frame(&self, ticks: &[f64], came: f64) -> String {
        let (left, right) = (self.at.0, self.at.0 + PANEL.0);
        let (top, bottom) = (self.at.1, self.at.1 + PANEL.1);
        let mut text = String::new();
        let mut add = |part: String| text.push_str(&part);
        for &tick in ticks {
            let (y, class) = (self.y(tick), if tick == 0.0 { "axis" } else { "grid" });
            add(format!(
                "<line class=\"{class}\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" \
                 y2=\"{y:.1}\"/>\n"
            ));
            add(beside("end", (left - 6.0, y + 4.0), tick));
        }
        let mut second = 0.0;
        while second <= self.seconds {
            add(beside("middle", (self.x(second), bottom + 17.0), second));
            second += 20.0;
        }
        let x = self.x(came);
        add(format!(
            "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\n"
        ));
        text
    }

    fn line(&self, points: &[(f64, f64)], class: &str) -> String {
        let point = |&(at, value): &(f64, f64)| format!("{:.1},{:.1}", self.x(at), self.y(value));
        let points: Vec<String> = points.iter().map(point).collect();
        format!("<polyline class=\"line {class}\" points=\"{}\"/>\n", points.join(" "))
    }
}

/// A number at an axis.
fn beside(anchor: &str, (x, y): (f64, f64), number: f64) -> String {
    format!(
        "<text class=\"soft\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{number}</text>\n"
    )
}

fn label(class: &str, at: (f64, f64), text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>\n", at.0, at.1)
}

fn picture(runs: &[Run]) -> String {
    let mut text = String::new();
    let start = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n<title>Two tenants on 20 nodes under \
         fair and long-term</title>\n<style>\n{STYLE}\n</style>\n"
    );
    text.push_str(&start);
    let last = |run: &Run| run.samples.last().map_or(0.0, |sample| sample[0]);
    let seconds = (runs.iter().map(last).fold(1.0, f64::max) / 20.0).ceil() * 20.0;
    let leads: Vec<_> = runs.iter().map(Run::lead).collect();
    let most = leads.iter().flatten().map(|&(_, lead)| lead).fold(1.0, f64::max);
    let step = (most / 3.0 / 500.0).ceil() * 500.0;
    for ((column, run), lead) in (0_u8..).zip(runs).zip(&leads) {
        let left = BEGIN.0 + STEP.0 * f64::from(column);
        let held = Panel { at: (left, BEGIN.1), seconds, low: 0.0, high: 170.0 };
        let ahead =
            Panel { at: (left, BEGIN.1 + STEP.1), seconds, low: -step / 2.0, high: 3.2 * step };
        text += &label("head", (left, 20.0), run.policy);
        text += &label("soft", (left, 40.0), "cores held");
        text += &held.frame(&[0.0, 80.0, 160.0], run.came);
        text += &held.line(&run.held(1), "alpha");
        text += &held.line(&run.held(2), "beta");
        text += &label("name-alpha", (held.x(3.0), held.y(108.0)), "alpha");
        text += &label("name-beta", (held.x(run.came) - 34.0, held.y(8.0)), "beta");
        text += &label("soft", (held.x(run.came) + 5.0, held.y(160.0) - 5.0), "beta comes");
        let what = "core-seconds that alpha has used more than beta";
        text += &label("soft", (left, ahead.at.1 - 8.0), what);
        text += &ahead.frame(&[0.0, step, 2.0 * step, 3.0 * step], run.came);
        text += &ahead.line(lead, "lead");
        let below = (ahead.x(seconds) - 70.0, ahead.at.1 + PANEL.1 + 17.0);
        text += &label("soft", below, "seconds");
    }
    text.push_str("</svg>\n");
    text
}
