//! What headers say, and what every answer tells a browser.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// See [`tell_browser`].
const TOLD: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Adds what every answer tells a browser: nothing but this server's own files and answers, nothing
/// inline, in no frame.
pub fn tell_browser(headers: &mut HeaderMap) {
    for (name, value) in TOLD {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The kind of content of a page of metrics, as Prometheus reads it.
pub const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A header that is there once, as text.
pub fn one(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

/// The token of `Authorization: Bearer TOKEN`; nothing where the header says something else.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = one(headers, header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What the cookie of this name holds.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim())
}

/// A cookie for a browser that is signed in for so many seconds: scripts cannot read it, and other
/// sites cannot send it. `None` where `value` is none that a header can hold.
pub fn session_cookie(
    name: &str,
    value: &str,
    seconds: u64,
    is_secure: bool,
) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(HeaderName, &'static str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_header_that_is_there_twice_says_nothing() {
        let mut all = headers(&[(header::HOST, "a")]);
        assert_eq!(one(&all, header::HOST), Some("a"));
        all.append(header::HOST, HeaderValue::from_static("b"));
        assert_eq!(one(&all, header::HOST), None);
        assert_eq!(one(&all, "origin"), None);
    }

    #[test]
    fn tokens_and_cookies_are_found_among_others() {
        let of = |text| headers(&[(header::AUTHORIZATION, text)]);
        assert_eq!(bearer(&of("bearer  abc ")), Some("abc"));
        for none in ["abc", "Basic abc", ""] {
            assert_eq!(bearer(&of(none)), None, "{none}");
        }
        let shown = headers(&[(header::COOKIE, "a=1; meed = x=y ;b=2")]);
        assert_eq!(cookie(&shown, "meed"), Some("x=y"));
        assert_eq!(cookie(&shown, "b"), Some("2"));
        assert_eq!(cookie(&shown, "c"), None);
        let secure = session_cookie("meed", "x", 60, true).expect("a header");
        let text = "meed=x; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure";
        assert_eq!(secure, text);
        assert!(session_cookie("meed", "\n", 60, false).is_none());
    }
}
