//! Where a request comes from: a page of this server's own, a page of others, or no page.

use http::{HeaderMap, Method, header};

use crate::headers::one;

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

impl<'a> AskedFrom<'a> {
    /// What these headers say of a request to this path.
    pub fn of(method: &Method, path: &str, headers: &'a HeaderMap) -> AskedFrom<'a> {
        let said =
            |name: &str| headers.contains_key(name).then(|| one(headers, name).unwrap_or_default());
        AskedFrom {
            host: said(header::HOST.as_str()).unwrap_or_default(),
            origin: said(header::ORIGIN.as_str()),
            site: said("sec-fetch-site"),
            mode: said("sec-fetch-mode"),
            is_page: *method == Method::GET && path == "/",
        }
    }

    /// Whether it comes from a page of this server, or from no page: those of others are refused.
    /// A link from elsewhere to the page itself is none of theirs.
    ///
    /// ```
    /// use meed_http::AskedFrom;
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
