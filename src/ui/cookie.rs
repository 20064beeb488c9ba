//! Reads cookies.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;

/// All values of a cookie: a page of another port on this machine may set one of the same name.
pub(super) fn values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(COOKIE).iter();
    let pairs = all
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'));
    let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    pairs
        .filter(move |(other, _)| *other == name)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; b=2;c=3"));
        headers.append(COOKIE, HeaderValue::from_static("b=4"));
        assert_eq!(values(&headers, "b").collect::<Vec<_>>(), ["2", "4"]);
        assert_eq!(values(&headers, "ab").count(), 0);
    }
}
