//! Tables on terminals of several widths.

use super::{Style, Table};

fn on(width: usize) -> Style {
    Style {
        width: Some(width),
        ..Style::default()
    }
}

fn table() -> Table {
    let mut table = Table::new(&["POLICY", "FROM", "STATE", "REASON", "AGE"])
        .sentences(&["REASON"])
        .dropping(&["AGE"]);
    table.row([
        "infra/edge-retries".into(),
        "Gateway infra/edge".into(),
        "Overridden".into(),
        "overridden by shop/cart-retries".into(),
        "3d".into(),
    ]);
    table.row([
        "shop/cart-retries".into(),
        "this HTTPRoute".into(),
        "Enforced".into(),
        "".into(),
        "2d".into(),
    ]);
    table
}

#[test]
fn columns_are_aligned_and_escaped() {
    let mut table = Table::new(&["POLICY", "FROM"]);
    table.row([
        "infra/edge-retries-of-everything".into(),
        "Gateway a/b".into(),
    ]);
    table.row(["x\u{1b}[31m\ny".into(), "ü".into()]);
    assert_eq!(
        table.show(Style::default(), ""),
        "POLICY                             FROM\n\
         infra/edge-retries-of-everything   Gateway a/b\n\
         x\\u{1b}[31m\\u{a}y                  ü\n"
    );
}

#[test]
fn sentences_go_below_before_columns_are_dropped_and_cells_wrapped() {
    for (width, shown) in [
        (
            90,
            "POLICY              FROM                STATE       REASON                           AGE\n\
             infra/edge-retries  Gateway infra/edge  Overridden  overridden by shop/cart-retries  3d\n\
             shop/cart-retries   this HTTPRoute      Enforced                                     2d\n",
        ),
        (
            64,
            "POLICY               FROM                 STATE        AGE\n\
             infra/edge-retries   Gateway infra/edge   Overridden   3d\n    \
                 reason: overridden by shop/cart-retries\n\
             shop/cart-retries    this HTTPRoute       Enforced     2d\n",
        ),
        (
            50,
            "POLICY              FROM                STATE\n\
             infra/edge-retries  Gateway infra/edge  Overridden\n    \
                 reason: overridden by shop/cart-retries\n\
             shop/cart-retries   this HTTPRoute      Enforced\n",
        ),
        (
            44,
            "POLICY              FROM          STATE\n\
             infra/edge-retries  Gateway       Overridden\n                    \
                                 infra/edge\n    \
                 reason: overridden by shop/cart-retries\n\
             shop/cart-retries   this          Enforced\n                    \
                                 HTTPRoute\n",
        ),
        (
            30,
            "POLICY  infra/edge-retries\n\
             FROM    Gateway infra/edge\n\
             STATE   Overridden\n\
             REASON  overridden by\n        \
                     shop/cart-retries\n\
             AGE     3d\n\
             \n\
             POLICY  shop/cart-retries\n\
             FROM    this HTTPRoute\n\
             STATE   Enforced\n\
             AGE     2d\n",
        ),
    ] {
        assert_eq!(table().show(on(width), ""), shown, "{width}");
    }
    assert_eq!(table().dropped(on(50), ""), ["AGE"]);
    assert!(table().dropped(on(64), "").is_empty());
}

#[test]
fn what_is_below_a_row_is_cut_unless_all_is_wanted() {
    let mut table = Table::new(&[]);
    table.row(["jwt.providers".into(), "infra/jwt".into()]);
    table.below(["- issuer: https://login.example.com".to_owned()]);
    assert_eq!(
        table.show(on(30), ""),
        "jwt.providers   infra/jwt\n    - issuer: https://login.e…\n"
    );
    let full = Style {
        full: true,
        ..on(30)
    };
    assert!(
        table
            .show(full, "")
            .ends_with("https://login.example.com\n")
    );
}
