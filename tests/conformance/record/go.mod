module attache.dev/tests/conformance/record

go 1.21
