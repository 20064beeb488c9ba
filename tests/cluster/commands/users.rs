//! Commands in the name of somebody else, and completion in the rights of who types.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::harness::{Cluster, Said};

/// Members of the group may read the shop; alice may stand for olga, and for nobody else.
const GROUP: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: shop-team, namespace: shop}
subjects: [{kind: Group, name: team-shop, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: Role, name: shop, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: as-olga}
rules: [{apiGroups: [''], resources: [users], resourceNames: [olga], verbs: [impersonate]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: as-olga}
subjects: [{kind: User, name: alice, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: ClusterRole, name: as-olga, apiGroup: rbac.authorization.k8s.io}
";

fn same(one: &Said, other: &Said) {
    let seen = |output: &Said| (output.code, super::ageless(&output.out), output.err.clone());
    assert_eq!(seen(one), seen(other), "{one}");
}

/// `--as` and `--as-group` show what that user would see, as far as the API server lets one ask so.
#[test]
fn one_who_stands_for_another_sees_what_that_one_sees() {
    let Some(cluster) = &*super::STATE else {
        return;
    };
    cluster.kubectl().run_with(["apply", "-f", "-"], GROUP).ok();
    let admin = |args: &str| cluster.attache(None).run(args.split(' '));
    for command in [
        "policies -A",
        "describe httproute/cart -n shop",
        "kinds",
        "explain --host cart.shop.example",
    ] {
        for user in ["olga", "ulla", "sven"] {
            let own = cluster.attache(Some(user)).run(command.split(' '));
            same(&admin(&format!("{command} --as {user}")), &own);
        }
    }
    // By the group alone.
    let sven = cluster
        .attache(Some("sven"))
        .run(["policies", "-n", "shop", "-o", "name"]);
    assert!(!sven.out.is_empty(), "{sven}");
    let group = admin("policies -n shop -o name --as nobody --as-group team-shop");
    assert_eq!(group.out, sven.out, "{group}");
    let nobody = admin("policies -n shop -o name --as nobody --as-group team-blog");
    assert_eq!(nobody.out, "", "{nobody}");
    // Who has no rights of her own may be let to stand for one who has some.
    let alice = |args: &str| cluster.attache_as("alice").run(args.split(' '));
    let olga = cluster.attache(Some("olga")).run(["policies", "-A"]);
    same(&alice("policies -A --as olga"), &olga);
    for command in [
        "policies -A --as sven",
        "policies -A --as olga --as-group system:masters",
    ] {
        let output = alice(command).fails(2);
        assert!(
            output.out.is_empty() && output.err.lines().count() == 1,
            "{output}"
        );
        output
            .warns("does not allow impersonation: ")
            .warns("User \"alice\" cannot impersonate");
    }
}

/// The completions of kubectl for a line, by the program that it finds on the PATH.
fn offered(cluster: &Cluster, line: &str) -> Vec<String> {
    let words = ["__complete", "attache"].into_iter().chain(line.split(' '));
    let output = cluster.kubectl_with_plugin().run(words).ok();
    let lines: Vec<String> = output.out.lines().map(str::to_owned).collect();
    let Some((directive, candidates)) = lines.split_last() else {
        panic!("{output}");
    };
    assert_eq!(directive, ":4", "{output}");
    candidates.to_vec()
}

#[test]
fn kubectl_completes_what_the_plugin_takes() {
    let Some(cluster) = &*super::STATE else {
        return;
    };
    let folder = cluster.plugins();
    let completer = folder.join("kubectl_complete-attache");
    // As it comes under another name, and as `attache completions kubectl` prints it.
    for as_script in [false, true] {
        let _ = fs::remove_file(&completer);
        if as_script {
            let script = cluster
                .attache(None)
                .run(["completions", "kubectl"])
                .ok()
                .out;
            fs::write(&completer, script).expect("a writable folder");
            fs::set_permissions(&completer, fs::Permissions::from_mode(0o755)).expect("ours");
        } else {
            symlink(env!("CARGO_BIN_EXE_attache"), &completer).expect("a link");
        }
        let at = |line: &str| offered(cluster, line);
        assert_eq!(at("desc"), ["describe"]);
        assert_eq!(at("describe -n shop httproute/ca"), ["httproute/cart"]);
        assert_eq!(at("describe -n shop httproute ca"), ["cart"]);
        assert_eq!(at("describe grpcr"), ["grpcroutes"]);
        assert_eq!(at("policies -n sho"), ["shop"]);
        assert_eq!(at("policies -o yam"), ["yaml"]);
        assert!(at("describe -n infra gateway/").contains(&"gateway/edge".to_owned()));
        // In the rights of the one it would run for.
        assert_eq!(at("describe -n infra --as sven gateway/"), [""; 0]);
    }
}
