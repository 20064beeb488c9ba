//! The subset of Mermaid flowcharts that attache writes. Quoted text must contain nothing that Mermaid, Markdown or
//! HTML would interpret.

/// Parses a flowchart; returns its numbers of nodes and edges.
pub(super) fn read(text: &str) -> (usize, usize) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flowchart LR"));
    let (mut nodes, mut edges, mut depth) = (0, 0, 0);
    for line in lines {
        let line = line.trim();
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first {
            "subgraph" => {
                let (name, label) = rest.split_once('[').unwrap();
                is_name(name, 's');
                is_label(label.strip_suffix(']').unwrap());
                depth += 1;
            }
            "end" => {
                assert!(rest.is_empty() && depth > 0);
                depth -= 1;
            }
            "classDef" => {}
            "class" => rest
                .split_once(' ')
                .unwrap()
                .0
                .split(',')
                .for_each(|n| is_name(n, 'n')),
            _ if is_edge(rest) => {
                is_name(first, 'n');
                edges += 1;
            }
            _ => {
                let node_form = line
                    .find(['[', '(', '>'])
                    .unwrap_or_else(|| panic!("{line}"));
                is_name(&line[..node_form], 'n');
                let label = &line[node_form + 1..line.len() - 1];
                is_label(label);
                nodes += 1;
            }
        }
    }
    assert_eq!(depth, 0);
    (nodes, edges)
}

fn is_edge(rest: &str) -> bool {
    let Some((arrow, to)) = rest.rsplit_once(' ') else {
        return false;
    };
    match arrow {
        "---" | "-->" | "-.->" => {}
        _ => match arrow
            .strip_prefix("-. ")
            .and_then(|a| a.strip_suffix(" .-x"))
        {
            Some(label) => is_label(label),
            None => return false,
        },
    }
    is_name(to, 'n');
    true
}

fn is_name(name: &str, letter: char) {
    let number = name.strip_prefix(letter);
    let is = number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    assert!(is, "{name:?}");
}

fn is_label(label: &str) {
    let text = label.strip_prefix('"').and_then(|l| l.strip_suffix('"'));
    let text = text
        .unwrap_or_else(|| panic!("{label}"))
        .replace("<br/>", " ");
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('#') {
        is_plain(before);
        let (code, after) = after.split_once(';').unwrap();
        assert!(
            !code.is_empty() && code.chars().all(|c| c.is_ascii_digit()),
            "#{code};"
        );
        rest = after;
    }
    is_plain(rest);
}

fn is_plain(text: &str) {
    let is = |c: char| c.is_alphanumeric() || " ./-:,()".contains(c);
    assert!(text.chars().all(is), "{text:?}");
}
