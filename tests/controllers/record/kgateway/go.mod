// What is recorded is what this release says. See ../record.sh.
module attache.dev/tests/controllers/record/kgateway

go 1.26

require github.com/kgateway-dev/kgateway/v2 v2.4.2
