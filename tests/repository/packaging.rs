//! The manifests, the Dockerfile and the toolchain agree with each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents(path: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// The `group/resource` pairs in a list of rules.
fn resources(rules: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for rule in rules.as_array().unwrap() {
        for group in strings(&rule["apiGroups"]) {
            for resource in strings(&rule["resources"]) {
                all.insert(format!("{group}/{resource}"));
            }
        }
    }
    all
}

fn seconds(args: &[&str], flag: &str) -> u64 {
    args.iter()
        .find_map(|arg| {
            arg.strip_prefix(flag)?
                .strip_prefix('=')?
                .strip_suffix('s')?
                .parse()
                .ok()
        })
        .unwrap_or_else(|| panic!("no {flag}=<n>s in {args:?}"))
}

/// Every policy kind with a built-in profile, as `group/resource`, and those of examples/quickstart.
fn known_kinds() -> BTreeSet<String> {
    let profiles = &testing::builtin().profiles;
    let policies = profiles.iter().filter(|kind| kind.policy != Some(false));
    let resource = |kind: &str| match kind.to_ascii_lowercase() {
        kind if kind.ends_with('y') => format!("{}ies", &kind[..kind.len() - 1]),
        kind if kind.ends_with('s') => format!("{kind}es"),
        kind => format!("{kind}s"),
    };
    let names = policies.map(|kind| {
        let kind = &kind.matches;
        format!("{}/{}", kind.group, resource(&kind.kind))
    });
    let examples =
        ["retrypolicies", "timeoutpolicies"].map(|kind| format!("policies.example.com/{kind}"));
    names.chain(examples).collect()
}

#[test]
fn the_install_reads_the_policy_kinds_that_are_known_and_no_others() {
    let roles = documents("manifests/base/rbac-policies.yaml");
    assert_eq!(resources(&roles[0]["rules"]), known_kinds());
}

/// The rule for all of gateway.networking.k8s.io includes the policy kinds of that group.
#[test]
fn the_install_asks_about_the_policy_kinds_that_are_known_and_no_others() {
    const TARGETS: [&str; 6] = [
        "gateway.networking.k8s.io/*",
        "gateway.networking.x-k8s.io/xlistenersets",
        "/namespaces",
        "/services",
        "apiextensions.k8s.io/customresourcedefinitions",
        "attache.dev/guardrails",
    ];
    let known = known_kinds().into_iter();
    let known: BTreeSet<_> = known
        .filter(|kind| !kind.starts_with("gateway.networking.k8s.io/"))
        .collect();
    for file in ["validating-webhook", "mutating-webhook"] {
        let webhook = &documents(&format!("manifests/base/{file}.yaml"))[0]["webhooks"][0];
        let mut asked = resources(&webhook["rules"]);
        asked.retain(|kind| !TARGETS.contains(&kind.as_str()));
        assert_eq!(asked, known, "{file}");
    }
}

#[test]
fn a_broken_attache_blocks_nobody() {
    for file in ["validating-webhook", "mutating-webhook"] {
        let webhook = &documents(&format!("manifests/base/{file}.yaml"))[0]["webhooks"][0];
        assert_eq!(webhook["failurePolicy"], "Ignore", "{file}");
        assert_eq!(webhook["sideEffects"], "None", "{file}");
        assert!(webhook["timeoutSeconds"].as_u64().unwrap() <= 5, "{file}");
        let excluded = &webhook["namespaceSelector"]["matchExpressions"][0];
        assert_eq!(excluded["operator"], "NotIn", "{file}");
        assert_eq!(
            strings(&excluded["values"]),
            ["attache-system", "kube-system"],
            "{file}"
        );
    }
}

#[test]
fn rights_are_exact_and_read_only() {
    for file in ["rbac", "rbac-policies"] {
        for role in documents(&format!("manifests/base/{file}.yaml")) {
            let Some(rules) = role["rules"].as_array() else {
                continue;
            };
            for rule in rules {
                let named = resources(&Value::Array(vec![rule.clone()]));
                assert!(
                    named
                        .iter()
                        .all(|kind| !kind.contains('*') && kind != "/secrets"),
                    "{file}: {named:?}"
                );
                let review = named
                    .iter()
                    .all(|kind| kind == "authorization.k8s.io/subjectaccessreviews");
                let verbs = strings(&rule["verbs"]);
                let expected: &[&str] = if review {
                    &["create"]
                } else {
                    &["get", "list", "watch"]
                };
                assert_eq!(verbs, expected, "{file}: {named:?}");
            }
        }
    }
}

#[test]
fn write_access_is_two_objects_by_name() {
    for kind in ["validating", "mutating"] {
        let folder = format!("manifests/webhook-rights/{kind}");
        let rights = documents(&format!("{folder}/rbac.yaml"));
        let rules = rights[0]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 1);
        let resource = format!("{kind}webhookconfigurations");
        assert_eq!(strings(&rules[0]["resources"]), [&resource]);
        assert_eq!(strings(&rules[0]["verbs"]), ["get", "patch"]);
        assert_eq!(strings(&rules[0]["resourceNames"]), ["attache"]);
        assert!(rights[1..].iter().all(|other| other["rules"].is_null()));
        // And the API server limits what may be written to it.
        let guard = documents(&format!("{folder}/guard.yaml"));
        let asked = &guard[0]["spec"]["matchConstraints"]["resourceRules"][0];
        assert_eq!(strings(&asked["resources"]), [&resource]);
        assert_eq!(guard[0]["spec"]["failurePolicy"], "Fail");
        assert_eq!(guard[1]["spec"]["policyName"], guard[0]["metadata"]["name"]);
        assert_eq!(strings(&guard[1]["spec"]["validationActions"]), ["Deny"]);
    }
}

/// attache reads and changes one Secret, its own, by name.
#[test]
fn the_right_to_secrets_is_one_name_in_one_namespace() {
    let rights = documents("manifests/own-certificates/rbac.yaml");
    assert_eq!(rights[0]["kind"], "Role");
    assert_eq!(rights[0]["metadata"]["namespace"], "attache-system");
    for rule in rights[0]["rules"].as_array().unwrap() {
        assert_eq!(strings(&rule["resources"]), ["secrets"]);
        match &*strings(&rule["verbs"]) {
            // RBAC cannot limit it to a name.
            ["create"] => assert!(rule["resourceNames"].is_null()),
            ["get", "update"] => assert_eq!(strings(&rule["resourceNames"]), ["attache-certs"]),
            other => panic!("{other:?}"),
        }
    }
}

/// The audit has its own account, with only the read rights of attache.
#[test]
fn the_audit_reads_and_that_is_all() {
    let own = documents("manifests/audit/rbac.yaml");
    let base = documents("manifests/base/rbac.yaml");
    let reads = |rules: &Value| {
        let rules = rules.as_array().unwrap().iter();
        let of_policies = |rule: &&Value| rule["verbs"] != serde_json::json!(["create"]);
        rules.filter(of_policies).cloned().collect::<Vec<Value>>()
    };
    assert_eq!(
        own[1]["rules"].as_array().unwrap(),
        &reads(&base[0]["rules"])
    );
    let job = &documents("manifests/audit/cronjob.yaml")[0];
    let pod = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], own[0]["metadata"]["name"]);
    for binding in &own[2..] {
        assert_eq!(binding["subjects"][0]["name"], "attache-audit");
    }
}

/// No pod of attache may connect anywhere except to the stated addresses of the API server.
#[test]
fn the_network_is_closed_but_for_what_is_stated() {
    let policies = documents("manifests/network-policy/network-policy.yaml");
    let egress = policies
        .iter()
        .find(|policy| policy["spec"]["policyTypes"][0] == "Egress");
    let spec = &egress.unwrap()["spec"];
    let selected = &spec["podSelector"]["matchExpressions"][0]["values"];
    assert_eq!(strings(selected), ["attache", "attache-audit"]);
    for rule in spec["egress"].as_array().unwrap() {
        assert!(!rule["to"].as_array().unwrap().is_empty(), "{rule}");
    }
    let stated = &spec["egress"][1]["to"][0]["ipBlock"]["cidr"];
    assert_eq!(stated, "state-the-addresses-of-the-api-server");
}

#[test]
fn a_pod_has_time_to_drain() {
    let pod = &documents("manifests/base/deployment.yaml")[0]["spec"]["template"]["spec"];
    let args = strings(&pod["containers"][0]["args"]);
    let drain = seconds(&args, "--drain-delay") + seconds(&args, "--drain-timeout");
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > drain, "grace {grace} s, drain {drain} s");
}

/// Clusters use IPv4, IPv6, or both.
#[test]
fn a_pod_listens_on_all_addresses() {
    let pod = &documents("manifests/base/deployment.yaml")[0]["spec"]["template"]["spec"];
    let args = strings(&pod["containers"][0]["args"]);
    for flag in ["--listen=[::]:8443", "--admin=[::]:9090"] {
        assert!(args.contains(&flag), "no {flag} in {args:?}");
    }
}

#[test]
fn a_pod_has_no_needless_privileges() {
    let pod = &documents("manifests/base/deployment.yaml")[0]["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        pod["securityContext"]["seccompProfile"]["type"],
        "RuntimeDefault"
    );
    let container = &pod["containers"][0]["securityContext"];
    assert_eq!(container["allowPrivilegeEscalation"], false);
    assert_eq!(container["readOnlyRootFilesystem"], true);
    assert_eq!(strings(&container["capabilities"]["drop"]), ["ALL"]);
    for open in ["hostNetwork", "hostPID", "hostIPC"] {
        assert!(pod[open].is_null(), "{open}");
    }
}

#[test]
fn the_image_is_built_with_the_toolchain_of_the_project_and_runs_as_the_pod_says() {
    let toolchain = text("rust-toolchain.toml");
    let channel = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'))
        .unwrap();
    let dockerfile = text("Dockerfile");
    assert!(
        dockerfile.contains(&format!("FROM rust:{channel}-")),
        "rust-toolchain.toml says {channel}"
    );
    let pod = &documents("manifests/base/deployment.yaml")[0]["spec"]["template"]["spec"];
    let user = &pod["securityContext"]["runAsUser"];
    assert!(
        dockerfile.contains(&format!("USER {user}:{user}")),
        "the pod runs as {user}"
    );
}

/// Docker sends to the build only what `.dockerignore` lets through.
#[test]
fn what_the_image_copies_is_let_through() {
    let ignore = text(".dockerignore");
    let through: Vec<&str> = ignore.lines().filter_map(|l| l.strip_prefix('!')).collect();
    let dockerfile = text("Dockerfile");
    let copies = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"));
    let mut sources = 0;
    for copy in copies {
        let words: Vec<&str> = copy.split_whitespace().collect();
        for source in &words[..words.len() - 1] {
            let open = |path: &&&str| *source == **path || source.starts_with(&format!("{path}/"));
            assert!(
                through.iter().find(open).is_some(),
                "the Dockerfile copies {source}, which .dockerignore keeps out"
            );
            sources += 1;
        }
    }
    assert!(sources > 3, "no COPY found");
    let cargo = text("Cargo.toml");
    let members = cargo
        .lines()
        .find_map(|line| line.strip_prefix("members = "));
    let members: Vec<String> = serde_saphyr::from_str(members.unwrap()).unwrap();
    for member in members {
        let manifest = format!("COPY {member}/Cargo.toml {member}/");
        assert!(dockerfile.contains(&manifest), "the image lacks {member}");
    }
}

#[test]
fn each_request_to_try_is_the_review_of_its_manifest() {
    for (review, manifest, place) in [
        ("cart-route", "cart-route", 0),
        ("bad-section", "bad-section", 0),
        ("bad-strategy", "bad-strategy", 0),
        ("gateway-and-policy-1", "gateway-and-policy", 0),
        ("gateway-and-policy-2", "gateway-and-policy", 1),
    ] {
        let review: Value =
            serde_json::from_str(&text(&format!("examples/requests/{review}.json"))).unwrap();
        let manifest = documents(&format!("examples/requests/{manifest}.yaml"));
        assert_eq!(review["request"]["object"], manifest[place]);
    }
}

/// A lost node takes at most one replica, and neither a node drain nor a rollout takes the last one.
#[test]
fn one_replica_always_remains() {
    let deployment = &documents("manifests/base/deployment.yaml")[0]["spec"];
    assert!(deployment["replicas"].as_u64().unwrap() >= 2);
    let roll = &deployment["strategy"]["rollingUpdate"];
    assert_eq!(roll["maxUnavailable"], 0);
    assert!(roll["maxSurge"].as_u64().unwrap() >= 1);
    let labels = &deployment["template"]["metadata"]["labels"];
    let spread = &deployment["template"]["spec"]["topologySpreadConstraints"];
    let over: Vec<&str> = spread
        .as_array()
        .unwrap()
        .iter()
        .map(|constraint| {
            assert_eq!(&constraint["labelSelector"]["matchLabels"], labels);
            constraint["topologyKey"].as_str().unwrap()
        })
        .collect();
    assert_eq!(
        over,
        ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    );
    let budget = &documents("manifests/base/pod-disruption-budget.yaml")[0]["spec"];
    assert_eq!(budget["minAvailable"], 1);
    assert_eq!(&budget["selector"]["matchLabels"], labels);
    let priority = &deployment["template"]["spec"]["priorityClassName"];
    assert_eq!(priority, "system-cluster-critical");
    // Clusters may limit this priority class to namespaces with a quota: it covers all replicas, and one more during a
    // rollout.
    let quota = &documents("manifests/base/resource-quota.yaml")[0]["spec"];
    let scope = &quota["scopeSelector"]["matchExpressions"][0];
    assert_eq!(scope["values"], serde_json::json!([priority]));
    let pods: u64 = quota["hard"]["pods"].as_str().unwrap().parse().unwrap();
    assert!(pods > deployment["replicas"].as_u64().unwrap());
    // An unready pod must not block the drain of its node.
    assert_eq!(budget["unhealthyPodEvictionPolicy"], "AlwaysAllow");
}

/// While a configuration exists, the API server calls the webhook, even if it is gone.
#[test]
fn uninstalling_removes_the_configurations_first() {
    let readme = text("README.md");
    let (_, uninstall) = readme.split_once("\n## Uninstall\n").unwrap();
    let at = |what: &str| {
        let found = uninstall.find(what);
        found.unwrap_or_else(|| panic!("no {what}"))
    };
    let configurations =
        "kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration attache";
    assert!(at(configurations) < at("kubectl delete -k manifests"));
    for file in ["validating-webhook", "mutating-webhook"] {
        let name = &documents(&format!("manifests/base/{file}.yaml"))[0]["metadata"]["name"];
        assert_eq!(name, "attache", "{file}");
    }
}

/// A row of the table of projects in docs/reference/versions.md.
struct Row<'a> {
    project: &'a str,
    releases: &'a str,
    kinds: usize,
    file: &'a str,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        let [_, project, releases, kinds, file, _, _] = cells[..] else {
            return None;
        };
        let (_, file) = file.strip_suffix(')')?.split_once("](../../")?;
        let kinds = kinds
            .parse()
            .unwrap_or_else(|_| panic!("{project}: {kinds} kinds"));
        Some(Row {
            project,
            releases,
            kinds,
            file,
        })
    };
    page.lines().filter_map(row).collect()
}

/// Words that name a release or a commit.
fn releases(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "(),;".contains(c));
    words.filter(|word| {
        let is_date = word.len() == 10 && word.matches('-').count() == 2;
        word.chars().any(|c| c.is_ascii_digit()) && !is_date && word.len() > 3
    })
}

/// The releases after the addresses of repositories in the comments of a profile.
fn read_from(profile: &str) -> Vec<&str> {
    let comments = profile
        .lines()
        .filter_map(|line| line.trim().strip_prefix('#'));
    let words: Vec<&str> = comments.flat_map(str::split_whitespace).collect();
    let addresses = ["github.com/", "istio.io/istio", "sigs.k8s.io/"];
    let pairs = words.windows(2);
    let found = pairs.filter(|pair| addresses.iter().any(|start| pair[0].starts_with(start)));
    found.flat_map(|pair| releases(pair[1])).collect()
}

#[test]
fn docs_versions_name_every_project_with_the_release_that_its_profile_says() {
    let page = text("docs/reference/versions.md");
    let rows = rows(&page);
    let folder = "engine/src/kinds/profile/builtin";
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut faults = Vec::new();
    // These are not profiles: they cover the kinds of all projects and name their own sources.
    let of_all = ["versions.yaml", "names.yaml"];
    for file in files.filter(|file| !of_all.contains(&file.as_str())) {
        let path = format!("{folder}/{file}");
        let profile = text(&path);
        let rows: Vec<&Row<'_>> = rows.iter().filter(|row| row.file == path).collect();
        for row in &rows {
            for release in releases(row.releases).filter(|release| !profile.contains(release)) {
                faults.push(format!("{path} does not name {release} of {}", row.project));
            }
        }
        let read = read_from(&profile);
        if read.is_empty() {
            faults.push(format!(
                "{path} does not say which release it was read from"
            ));
        }
        for release in read {
            if !rows.iter().any(|row| row.releases.contains(release)) {
                faults.push(format!(
                    "docs/reference/versions.md has no row with {release} for {path}"
                ));
            }
        }
        let parsed: Value = serde_saphyr::from_str(&profile).unwrap();
        let profiles = parsed["profiles"].as_array().unwrap().iter();
        let kinds = profiles
            .filter(|kind| kind["policy"] != Value::Bool(false))
            .count();
        let output: usize = rows.iter().map(|row| row.kinds).sum();
        if output != kinds {
            faults.push(format!(
                "{path} has {kinds} policy kinds, docs/reference/versions.md says {output}"
            ));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let readme = text("README.md");
    let kinds: usize = rows.iter().map(|row| row.kinds).sum();
    let output = format!("{kinds} policy kinds of {} projects", rows.len());
    assert!(
        readme.contains(&output) && readme.contains("(docs/reference/versions.md)"),
        "README: {output}"
    );
}

#[test]
fn every_policy_kind_that_is_known_has_its_versions() {
    let profiles = &testing::builtin().profiles;
    let policies = profiles.iter().filter(|kind| kind.policy != Some(false));
    let without = policies.filter(|kind| kind.versions.is_none());
    let names: Vec<String> = without
        .map(|kind| format!("{} {}", kind.matches.group, kind.matches.kind))
        .collect();
    assert!(names.is_empty(), "not in builtin/versions.yaml: {names:#?}");
}
