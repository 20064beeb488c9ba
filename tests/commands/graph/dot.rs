//! The documented grammar of Graphviz's language.

/// The content of a graph.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) nodes: Vec<String>,
    pub(super) edges: Vec<(String, String)>,
}

#[derive(Debug, PartialEq)]
enum Token {
    Id(String),
    Sign(char),
    Arrow,
}

/// Parses a text; panics if it violates the grammar.
pub(super) fn read(text: &str) -> Read {
    let mut tokens = tokens(text);
    tokens.reverse();
    let mut read = Read::default();
    assert_eq!(id(&mut tokens), "digraph");
    id(&mut tokens);
    statements(&mut tokens, &mut read);
    assert!(tokens.is_empty(), "behind the graph: {tokens:?}");
    read
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '{' | '}' | '[' | ']' | '=' | ';' | ',' => tokens.push(Token::Sign(c)),
            '-' => {
                assert_eq!(chars.next(), Some('>'), "an edge of a digraph");
                tokens.push(Token::Arrow);
            }
            '"' => {
                let mut id = String::new();
                loop {
                    match chars.next().expect("the end of a quoted text") {
                        '"' => break,
                        // Only the quote is escaped; in labels other sequences have a meaning.
                        '\\' => match chars.next().expect("something behind a backslash") {
                            '"' => id.push('"'),
                            '\\' => id.push('\\'),
                            'n' => id.push('\n'),
                            other => panic!("\\{other} may mean something"),
                        },
                        c => {
                            assert!(!c.is_control(), "{c:?} in a text");
                            id.push(c);
                        }
                    }
                }
                tokens.push(Token::Id(id));
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') => {
                let mut id = String::from(c);
                while let Some(c) =
                    chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
                {
                    id.push(c);
                }
                tokens.push(Token::Id(id));
            }
            c => panic!("{c:?} outside quotes"),
        }
    }
    tokens
}

fn id(tokens: &mut Vec<Token>) -> String {
    match tokens.pop() {
        Some(Token::Id(id)) => id,
        other => panic!("an id, not {other:?}"),
    }
}

fn sign(tokens: &mut Vec<Token>, sign: char) {
    assert_eq!(tokens.pop(), Some(Token::Sign(sign)));
}

fn statements(tokens: &mut Vec<Token>, read: &mut Read) {
    sign(tokens, '{');
    while tokens.last() != Some(&Token::Sign('}')) {
        let first = id(tokens);
        match (first.as_str(), tokens.last()) {
            ("subgraph", Some(Token::Id(_))) => {
                id(tokens);
                statements(tokens, read);
                continue;
            }
            (_, Some(Token::Sign('='))) => {
                tokens.pop();
                id(tokens);
            }
            (_, Some(Token::Arrow)) => {
                tokens.pop();
                let to = id(tokens);
                read.edges.push((first, to));
                attributes(tokens);
            }
            ("node" | "edge" | "graph", _) => attributes(tokens),
            _ => {
                read.nodes.push(first);
                attributes(tokens);
            }
        }
        sign(tokens, ';');
    }
    sign(tokens, '}');
}

fn attributes(tokens: &mut Vec<Token>) {
    if tokens.last() != Some(&Token::Sign('[')) {
        return;
    }
    sign(tokens, '[');
    loop {
        id(tokens);
        sign(tokens, '=');
        id(tokens);
        match tokens.pop() {
            Some(Token::Sign(',')) => {}
            Some(Token::Sign(']')) => return,
            other => panic!("the next attribute, not {other:?}"),
        }
    }
}
