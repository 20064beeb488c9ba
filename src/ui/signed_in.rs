//! The page on a port that others reach: each request for data carries a token of the cluster.
//!
//! The files of the page are the same for everybody and tell nothing. There is no cookie, so that no other site can ask
//! in a user's name.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderName, HeaderValue, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;

use super::api::{Reader, is_data, router};
use super::token::bearer;
use super::{Answers, Refusal, headers};

/// Carries the token where `Authorization` does not arrive: the proxy of the API server removes it.
const TOKEN: HeaderName = HeaderName::from_static("attache-token");
/// The most bytes of a token.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Authenticates users, and returns the answers that each of them may see.
pub trait Authenticator: Send + Sync {
    /// The answers for the user with this token.
    fn authenticate(&self, token: String) -> BoxFuture<'_, Result<Arc<dyn Answers>, Refusal>>;
}

/// Serves the page below `/ui/`.
pub fn below_ui(authenticator: Arc<dyn Authenticator>) -> Router {
    let page = router().layer(from_fn_with_state(authenticator, guard));
    Router::new()
        .nest_service("/ui/", page)
        .route("/ui", axum::routing::get(to_page))
        .layer(from_fn(headers::add))
}

/// The page uses relative addresses, which need the slash. So does this one, because of the prefix of a proxy.
async fn to_page() -> Response {
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static("ui/"));
    response
}

async fn guard(
    State(authenticator): State<Arc<dyn Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_data(request.uri().path()) {
        return next.run(request).await;
    }
    let authenticated = match token(request.headers()) {
        Ok(token) => authenticator.authenticate(token).await,
        Err(refusal) => Err(refusal),
    };
    match authenticated {
        Ok(answers) => {
            request.extensions_mut().insert(Reader(answers));
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

/// The token of a request: that for attache, else the bearer token.
fn token(headers: &HeaderMap) -> Result<String, Refusal> {
    let missing = || {
        Refusal::unknown(
            "sign in: send a token of the cluster in the header Attache-Token, or as Authorization: Bearer; \
             kubectl create token NAME makes one for a service account",
        )
    };
    let one = |name: &HeaderName| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (Some(value), None) => Ok(Some(value.to_str().map_err(|_| missing())?)),
            (None, _) => Ok(None),
            (Some(_), Some(_)) => Err(Refusal::wrong(format!("the header {name} is sent twice"))),
        }
    };
    let token = match one(&TOKEN)? {
        Some(token) => Some(token),
        None => one(&AUTHORIZATION)?.and_then(bearer),
    };
    let token = token.map(str::trim);
    let token = token.filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN_BYTES);
    token.map(str::to_owned).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::{AUTHORIZATION, TOKEN, token};

    #[test]
    fn the_token_for_attache_comes_before_that_of_a_proxy() {
        let mut headers = HeaderMap::new();
        assert!(token(&headers).is_err());
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Basic a"));
        assert!(token(&headers).is_err());
        headers.insert(AUTHORIZATION, HeaderValue::from_static("bearer a"));
        assert_eq!(token(&headers).unwrap(), "a");
        headers.insert(TOKEN, HeaderValue::from_static("b"));
        assert_eq!(token(&headers).unwrap(), "b");
        headers.append(TOKEN, HeaderValue::from_static("c"));
        assert!(token(&headers).is_err());
    }
}
