//! Circles of files: files that need each other can only be read together.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Named, module_of, names, tokens, without_text};
use super::sources;

/// The circles that stay, each by its files in alphabetical order.
const NATURAL: [&[&str]; 2] = [
    // An expression has quantifiers, and these have expressions.
    &["engine::kinds::cel::eval", "engine::kinds::cel::quantifier"],
    // A CRD is an object, and what is kept of it are the facts that its schemas give about the
    // kind.
    &["engine::model::object::crd", "engine::model::object::json"],
];

type Module = Vec<String>;

/// The imports of a file, by the names that they have there.
type Imports = BTreeMap<String, Module>;

/// The modules of the packages: the paths that each names, and its imports.
struct Modules(BTreeMap<Module, (Vec<Module>, Imports)>);

#[test]
fn no_files_need_each_other() {
    let circles = Modules::of(&sources()).circles();
    let unknown: Vec<&Vec<String>> = circles
        .iter()
        .filter(|circle| !NATURAL.iter().any(|known| known == circle))
        .collect();
    assert!(
        unknown.is_empty(),
        "these files import each other; move what they share to a file of its own: {unknown:#?}"
    );
    assert_eq!(
        circles.len(),
        NATURAL.len(),
        "a line of NATURAL is not needed any more"
    );
}

#[test]
fn a_circle_is_found_through_headers_and_modules() {
    let file = |path: &str, text: &str| (path.to_owned(), format!("//! A file.\n{text}\n"));
    let files = [
        file("src/a.rs", "mod b; mod c; mod d;\npub use b::B;"),
        file("src/a/b.rs", "use super::c;\npub struct B(c::C);"),
        // By the name that the header gives it.
        file("src/a/c.rs", "use crate::a::B;\npub struct C(Box<B>);"),
        // Parents and children may name each other, and tests may name everything.
        file(
            "src/a/d.rs",
            "use super::B;\n#[cfg(test)]\nmod tests { use super::super::c::C; }",
        ),
    ];
    assert_eq!(Modules::of(&files).circles(), [["a::b", "a::c"]]);
}

// === impl Modules ===

impl Modules {
    fn of(files: &[(String, String)]) -> Self {
        let files = files.iter().filter(|(path, _)| !path.contains("/tests"));
        let own: BTreeMap<Module, &String> =
            files.map(|(path, text)| (module_of(path), text)).collect();
        let modules = own.iter().map(|(module, text)| {
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
            let named = names(&tokens(&without_text(text)), module);
            let mut imports = Imports::new();
            let mut paths = Vec::new();
            for Named {
                path, is_import, ..
            } in named
            {
                let Some(path) = from_root(&path, module, &own, &imports) else {
                    continue;
                };
                if let (true, Some(name)) = (is_import, path.last()) {
                    imports.insert(name.clone(), path.clone());
                }
                paths.push(path);
            }
            (module.clone(), (paths, imports))
        });
        Self(modules.collect())
    }

    /// The file that has an item, through the imports of the headers on the way; `None` if the path names a file.
    fn owner(&self, path: &[String], depth: usize) -> Option<&Module> {
        let lengths = (0..path.len()).rev();
        let found = lengths.filter_map(|length| self.0.get_key_value(&path[..length]));
        let (module, (_, imports)) = found.into_iter().next()?;
        let rest = &path[module.len()..];
        match imports.get(&rest[0]) {
            Some(imported) if depth > 0 && imported != path => {
                self.owner(&[imported, &rest[1..]].concat(), depth - 1)
            }
            _ => Some(module),
        }
    }

    /// The files that each file needs, besides those above and below it.
    fn needs(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let needs = self.0.iter().map(|(module, (paths, _))| {
            let named = paths.iter().filter(|path| !self.0.contains_key(*path));
            let owners = named.filter_map(|path| self.owner(path, 5));
            let others = owners.filter(|o| !o.starts_with(module) && !module.starts_with(o));
            (module, others.collect())
        });
        needs.collect()
    }

    fn circles(&self) -> Vec<Vec<String>> {
        let needs = self.needs();
        let reach = |from: &Module| {
            let mut seen: BTreeSet<&Module> = BTreeSet::new();
            let mut next: Vec<&Module> = needs.get(from).into_iter().flatten().copied().collect();
            while let Some(module) = next.pop() {
                if seen.insert(module) {
                    next.extend(needs.get(module).into_iter().flatten());
                }
            }
            seen
        };
        let reached: BTreeMap<&Module, BTreeSet<&Module>> = needs
            .keys()
            .map(|module| (*module, reach(module)))
            .collect();
        let circles = reached.iter().filter(|(module, to)| to.contains(*module));
        let circles = circles.map(|(module, to)| {
            let circle = to.iter().filter(|other| reached[**other].contains(module));
            circle.map(|module| module.join("::")).collect()
        });
        let circles: BTreeSet<Vec<String>> = circles.collect();
        circles.into_iter().collect()
    }
}

/// A path from the root of its package; `None` if it is in another package.
fn from_root(
    path: &[String],
    module: &Module,
    modules: &BTreeMap<Module, &String>,
    imports: &Imports,
) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    if first == "crate" {
        let is_engine = module.first().is_some_and(|own| own == "engine");
        let is_whole = rest.first().is_some_and(|first| first == "engine");
        let package: &[String] = if is_engine && !is_whole {
            &module[..1]
        } else {
            &[]
        };
        return Some([package, rest].concat());
    }
    let child = [&module[..], std::slice::from_ref(first)].concat();
    if modules.contains_key(&child) {
        return Some([&child[..], rest].concat());
    }
    Some([imports.get(first)?, rest].concat())
}
