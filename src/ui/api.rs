//! The routes: the files of the page, its data, and its events.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt as _, Limited};
use tower_http::compression::CompressionLayer;

use super::events::Listeners;
use super::question::Parameters;
use super::{Answers, ExplainQuery, LARGEST_CHANGE, Question, Refusal, page};
use crate::today::today;

/// The header with the generation of an answer.
const GENERATION: HeaderName = HeaderName::from_static("attache-generation");
/// The folder of the data.
const API: &str = "api/";

/// Serves the page and its data below the root. The gate in front of it has put the [`Answers`] for the reader into the
/// request.
pub(super) fn router() -> Router {
    let listeners = Listeners::default();
    Router::new()
        .fallback(move |request: Request| {
            let listeners = listeners.clone();
            async move { respond(&listeners, request).await }
        })
        .layer(DefaultBodyLimit::disable())
        .layer(CompressionLayer::new())
}

/// The reader of the answers, in the extensions of a request.
#[derive(Clone)]
pub(super) struct Reader(pub(super) Arc<dyn Answers>);

/// Whether a path is that of data. Everything else is the same for everybody.
pub(super) fn is_data(path: &str) -> bool {
    path.trim_start_matches('/').starts_with(API)
}

async fn respond(listeners: &Listeners, request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let Some(what) = path.strip_prefix(API) else {
        return match (page::file(&path), is_read(request.method())) {
            (Some(file), true) => file,
            (Some(_), false) => Refusal::method("only GET is allowed").into_response(),
            (None, _) => Refusal::absent("there is no such path").into_response(),
        };
    };
    let Some(Reader(answers)) = request.extensions().get::<Reader>().cloned() else {
        return Refusal::unknown("nobody is signed in").into_response();
    };
    if what == "events" {
        return if is_read(request.method()) {
            listeners.add(&answers)
        } else {
            Refusal::method("only GET is allowed").into_response()
        };
    }
    let answered = answer(answers, what, request).await;
    answered.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(
    answers: Arc<dyn Answers>,
    what: &str,
    request: Request,
) -> Result<Response, Refusal> {
    let generation = *answers.generations().borrow();
    let before = tag(&*answers, generation);
    let asked = request.headers().get(IF_NONE_MATCH).cloned();
    let question = question(what, request).await?;
    let is_kept = question.is_kept();
    if is_kept && asked.as_ref().is_some_and(|asked| names(asked, &before)) {
        let headers = [(ETAG, before), (GENERATION, HeaderValue::from(generation))];
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let reply = Arc::clone(&answers).answer(question).await?;
    let mut response = Body::from(reply.json).into_response();
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(GENERATION, HeaderValue::from(reply.generation));
    if is_kept {
        headers.insert(ETAG, tag(&*answers, reply.generation));
    }
    Ok(response)
}

/// The tag of all answers of a generation. The day is part of it: exceptions of guardrails end on one.
fn tag(answers: &dyn Answers, generation: u64) -> HeaderValue {
    let tag = format!("\"{}-{generation}-{}\"", answers.instance(), today());
    HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""))
}

/// Whether a list of tags names this one. Compression makes a tag weak.
fn names(asked: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(asked), Ok(tag)) = (asked.to_str(), tag.to_str()) else {
        return false;
    };
    let mut asked = asked.split(',').map(str::trim);
    asked.any(|one| one.strip_prefix("W/").unwrap_or(one) == tag)
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The question of a request.
async fn question(what: &str, request: Request) -> Result<Question, Refusal> {
    let mut given = Parameters::read(request.uri().query())?;
    let is_change = what == "change";
    match (is_change, request.method()) {
        (true, &Method::POST) => {}
        (true, _) => {
            return Err(Refusal::method(
                "only POST is allowed: send the objects as YAML",
            ));
        }
        (false, method) if is_read(method) => {}
        (false, _) => return Err(Refusal::method("only GET is allowed")),
    }
    let question = match what {
        "state" => Question::State { user: None },
        "graph" => Question::Graph,
        "details" => Question::Details(given.needed("object", "HTTPRoute/shop/cart")?),
        "policies" => Question::Policies,
        "object" => Question::Object(given.needed("name", "httproute/shop/cart")?),
        "explain" => Question::Explain(ExplainQuery {
            url: given.needed("url", "https://shop.example.com/checkout")?,
            method: given.one("method")?.filter(|method| !method.is_empty()),
            headers: given.all("header"),
        }),
        "guardrails" => Question::Guardrails,
        "history" => Question::History,
        "kinds" => Question::Kinds,
        "change" => {
            let delete = match given.one("delete")?.as_deref() {
                None | Some("false") => false,
                Some("true") => true,
                Some(_) => return Err(Refusal::wrong("delete is true or false")),
            };
            given.end()?;
            let text = text(request).await?;
            return Ok(Question::Change { text, delete });
        }
        _ => return Err(Refusal::absent("there is no such path")),
    };
    given.end()?;
    Ok(question)
}

/// The body of a request.
async fn text(request: Request) -> Result<String, Refusal> {
    let too_large = || {
        let mebibytes = LARGEST_CHANGE >> 20;
        Refusal::too_large(format!(
            "the change is larger than {mebibytes} MiB: use attache impact -f FILE"
        ))
    };
    let length = request.headers().get(axum::http::header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| usize::try_from(length).map_or(true, |n| n > LARGEST_CHANGE)) {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), LARGEST_CHANGE);
    let bytes = body.collect().await.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            too_large()
        } else {
            Refusal::wrong("the body could not be read")
        }
    })?;
    let text = String::from_utf8(bytes.to_bytes().to_vec());
    text.map_err(|_| Refusal::unusable("the change is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::{HeaderValue, names};

    #[test]
    fn a_tag_is_found_in_a_list_and_weak() {
        let tag = HeaderValue::from_static("\"a-1\"");
        for (asked, is_it) in [
            ("\"a-1\"", true),
            ("W/\"a-1\"", true),
            ("\"b\", \"a-1\"", true),
            ("\"a-2\"", false),
            ("*", false),
        ] {
            assert_eq!(
                names(&HeaderValue::from_static(asked), &tag),
                is_it,
                "{asked}"
            );
        }
    }
}
