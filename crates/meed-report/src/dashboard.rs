//! The dashboard's files, for worlds that serve it: the same for everybody, without anything of
//! anybody. What the page shows it asks for, by the routes of docs/http.md.
//!
//! | world | says so in `/v1/me` | then the page |
//! |---|---|---|
//! | one machine | | shows jobs, their output and what has ended |
//! | a Kubernetes cluster | `"world": "kubernetes"` | calls jobs pods, and leaves out what a cluster does not keep |

use crate::parts;

/// The page.
pub const PAGE: &str = include_str!("../assets/dashboard/index.html");

/// Styles and scripts by their name below `/assets/`, with their kind: those of the report, then
/// the dashboard's own.
pub fn file(name: &str) -> Option<(&'static str, String)> {
    let script = "text/javascript; charset=utf-8";
    let style = "text/css; charset=utf-8";
    Some(match name {
        "look.css" => (style, parts::look() + include_str!("../assets/dashboard/dashboard.css")),
        "plot.js" => (script, parts::library()),
        "dashboard.js" => (script, parts::scripts() + &scripts()),
        _ => return None,
    })
}

/// The dashboard's scripts, in the order in which they build on one another.
fn scripts() -> String {
    [
        include_str!("../assets/dashboard/js/ask.js"),
        include_str!("../assets/dashboard/js/words.js"),
        include_str!("../assets/dashboard/js/held.js"),
        include_str!("../assets/dashboard/js/jobs.js"),
        include_str!("../assets/dashboard/js/views.js"),
        include_str!("../assets/dashboard/js/sign.js"),
        include_str!("../assets/dashboard/js/main.js"),
    ]
    .join("\n")
}
