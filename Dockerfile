# A static binary in an empty image: no shell, no package manager, not root.
# A release pins the base by digest, see release/README.md.
# The tag is the channel of rust-toolchain.toml.
FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# The list of crates becomes part of the binary, where scanners of images find it.
RUN cargo install cargo-auditable --locked --version 0.7.7

# Linked against glibc statically: with musl's allocator parsing takes three times as long. The
# target is named so that the flag reaches the binary only, not build scripts and derive macros.
ENV RUSTFLAGS="-C target-feature=+crt-static"

# The dependencies, in a layer of their own: built again only when these files change.
COPY Cargo.toml Cargo.lock ./
COPY engine/Cargo.toml engine/
COPY guardrails/Cargo.toml guardrails/
COPY testing/Cargo.toml testing/
RUN mkdir -p src engine/src guardrails/src testing/src \
 && touch engine/src/lib.rs guardrails/src/lib.rs testing/src/lib.rs \
 && echo 'fn main() {}' > src/main.rs \
 && touch src/lib.rs \
 && mkdir benches \
 && sed -n '/^\[\[bench\]\]/,/^name/s/^name = "\(.*\)"/\1/p' Cargo.toml \
  | while read -r bench; do echo 'fn main() {}' > "benches/$bench.rs"; done \
 && cargo auditable build --release --locked --target "$(rustc --print host-tuple)" \
 && rm -r src engine/src guardrails/src

# The pages of the findings and the page of `attache ui` are part of the program.
COPY docs/findings docs/findings
COPY ui/dist ui/dist
COPY engine engine
COPY guardrails guardrails
COPY src src
# Newer than the stubs, so that cargo sees the change.
RUN find engine guardrails src -name '*.rs' -exec touch {} + \
 && cargo auditable build --release --locked --target "$(rustc --print host-tuple)" \
 && cp "target/$(rustc --print host-tuple)/release/attache" /attache

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /attache /attache
USER 65532:65532
EXPOSE 8443 9090
ENTRYPOINT ["/attache"]
CMD ["serve"]
