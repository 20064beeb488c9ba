//! The words that name kinds and objects on the command line.

/// Parses `KIND`, `KIND/NAME` or `KIND NAME`.
///
/// # Errors
/// If there are more words.
pub(in crate::cli) fn split(words: &[String]) -> Result<(&str, Option<&str>), String> {
    match words {
        [one] => Ok(match one.split_once('/') {
            Some((kind, name)) => (kind, Some(name)),
            None => (one, None),
        }),
        [kind, name] if !kind.contains('/') && !name.contains('/') => Ok((kind, Some(name))),
        _ => Err("write KIND/NAME, or KIND NAME".to_owned()),
    }
}

/// Parses several subjects, as kubectl does: `KIND/NAME KIND/NAME`, `KIND NAME NAME`, or `KIND,KIND` with or without
/// names.
///
/// # Errors
/// If both forms are mixed.
pub(in crate::cli) fn each(words: &[String]) -> Result<Vec<(&str, Option<&str>)>, String> {
    let Some((first, others)) = words.split_first() else {
        return Ok(Vec::new());
    };
    let with_slash = words.iter().filter(|word| word.contains('/')).count();
    if with_slash == words.len() {
        let pairs = words.iter().filter_map(|word| word.split_once('/'));
        return Ok(pairs.map(|(kind, name)| (kind, Some(name))).collect());
    }
    if with_slash > 0 {
        return Err("write KIND/NAME for each object, or KIND NAME NAME".to_owned());
    }
    let kinds = first.split(',').filter(|kind| !kind.is_empty());
    if others.is_empty() {
        return Ok(kinds.map(|kind| (kind, None)).collect());
    }
    let pairs = kinds.flat_map(|kind| others.iter().map(move |name| (kind, Some(name.as_str()))));
    Ok(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::{each, split};

    #[test]
    fn kind_and_name_are_one_word_or_two() {
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert_eq!(split(&words(&["a/b"])), Ok(("a", Some("b"))));
        assert_eq!(split(&words(&["a", "b"])), Ok(("a", Some("b"))));
        assert_eq!(split(&words(&["a"])), Ok(("a", None)));
        assert!(split(&words(&["a/b", "c"])).is_err());
    }

    #[test]
    fn several_are_named_as_for_kubectl() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, named) in [
            ("httproute cart catalog", "httproute/cart httproute/catalog"),
            ("httproute/cart gateway/edge", "httproute/cart gateway/edge"),
            ("httproute,grpcroute cart", "httproute/cart grpcroute/cart"),
            ("httproute", "httproute"),
            ("httproute,grpcroute", "httproute grpcroute"),
        ] {
            let words = words(line);
            let pairs = each(&words)
                .unwrap()
                .into_iter()
                .map(|(kind, name)| match name {
                    Some(name) => format!("{kind}/{name}"),
                    None => kind.to_owned(),
                });
            assert_eq!(pairs.collect::<Vec<_>>().join(" "), named);
        }
        assert!(each(&words("httproute/cart catalog")).is_err());
    }
}
