//! The description of the interface (OpenAPI 3.1).
//!
//! It is made from the routes and the types of answers, by a test, and kept beside this file: the
//! program holds the text alone, and not the code that makes it (three times as long).

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// As the test below makes it.
const TEXT: &str = include_str!("openapi.json");

/// This description. Needs no token.
#[utoipa::path(get, path = "/v1/openapi.json", tag = "service", security(()),
    responses((status = 200, body = Object)))]
pub(crate) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.trim_end()).into_response()
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::security::{
        ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme,
    };
    use utoipa::{Modify, OpenApi};

    use super::super::gate::COOKIE;
    use super::super::{events, jobs, metrics, queues, session};
    use super::*;

    #[derive(OpenApi)]
    #[openapi(
    info(title = "Meed", description = "A scheduler for a machine that a team shares. Errors are \
        problem details (RFC 9457); every answer has the version of its form in `schema`."),
    paths(
        jobs::list, jobs::submit, jobs::show, jobs::why, jobs::cancel, jobs::hold, jobs::release,
        jobs::log, queues::list, queues::show, queues::cluster, queues::history, queues::me,
        queues::health, queues::ready, session::sign_in, session::sign_out, events::events,
        metrics::page, openapi,
    ),
    security(("token" = []), ("browser" = [])),
    modifiers(&Ways),
)]
    struct Description;

    struct Ways;

    impl Modify for Ways {
        fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
            let components = api.components.get_or_insert_default();
            let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
            components.add_security_scheme("token", SecurityScheme::Http(token));
            let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(COOKIE)));
            components.add_security_scheme("browser", cookie);
        }
    }

    /// Where the text is kept, and whether it shall be written anew.
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/openapi.json");
    const WRITE: &str = "MEED_WRITE";

    #[test]
    fn the_text_is_that_of_the_routes_and_types() {
        let made = Description::openapi().to_json().unwrap();
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(FILE, format!("{made}\n")).unwrap();
            return;
        }
        assert!(
            made == TEXT.trim_end(),
            "{FILE} is not what routes and types say: run this test with {WRITE}=1"
        );
    }

    #[test]
    fn the_description_is_whole() {
        let text = Description::openapi().to_json().unwrap();
        let api: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(api["openapi"].as_str().unwrap().starts_with("3.1"), "{}", api["openapi"]);
        // Every reference leads somewhere.
        let mut rest = text.as_str();
        let mut seen = 0;
        while let Some(at) = rest.find("\"#/") {
            rest = &rest[at + 2..];
            let name = &rest[..rest.find('"').unwrap()];
            assert!(api.pointer(name).is_some(), "{name} is nowhere");
            seen += 1;
        }
        assert!(seen > 30, "{seen} references");
    }
}
