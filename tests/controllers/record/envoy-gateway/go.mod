// What is recorded is what this release says. See ../record.sh.
module attache.dev/tests/controllers/record/envoy-gateway

go 1.26

require github.com/envoyproxy/gateway v1.9.1
