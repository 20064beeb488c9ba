// What is recorded is what this release says. See ../record.sh.
module attache.dev/tests/controllers/record/istio

go 1.26

require istio.io/istio v0.0.0-20260827124520-eed52ebb66ad
