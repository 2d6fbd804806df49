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

/// What every answer tells a browser: nothing but this server's own files and answers; nothing
/// inline; in no frame.
pub const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// What a request says of who sends it: a header that is not there once, as text, is empty.
#[derive(Clone, Copy, Debug)]
pub struct AskedFrom<'a> {
    /// `Host`.
    pub host: &'a str,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Sec-Fetch-Site`.
    pub site: Option<&'a str>,
    /// `Sec-Fetch-Mode`.
    pub mode: Option<&'a str>,
    /// Whether it asks for the page itself, which holds nothing of anybody.
    pub is_page: bool,
}

impl AskedFrom<'_> {
    /// Whether it comes from a page of this server, or from no page: those of others are refused.
    /// A link from elsewhere to the page itself is none of theirs.
    ///
    /// ```
    /// use meed_report::dashboard::AskedFrom;
    ///
    /// let own = AskedFrom {
    ///     host: "localhost:8081",
    ///     origin: Some("http://localhost:8081"),
    ///     site: Some("same-origin"),
    ///     mode: None,
    ///     is_page: false,
    /// };
    /// assert!(own.is_own());
    /// assert!(!AskedFrom { origin: Some("http://elsewhere"), ..own }.is_own());
    /// assert!(!AskedFrom { site: Some("cross-site"), ..own }.is_own());
    /// ```
    pub fn is_own(&self) -> bool {
        let by_origin = self.origin.is_none_or(|origin| {
            let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            from.is_some_and(|from| from.eq_ignore_ascii_case(self.host))
        });
        let is_link = self.is_page && self.mode == Some("navigate");
        let by_site =
            self.site.is_none_or(|site| matches!(site, "same-origin" | "none") || is_link);
        by_origin && by_site
    }
}

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
