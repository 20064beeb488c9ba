//go:build tools

// Package tools keeps the Gateway API module, of which only the CRD files are used, in go.mod.
package tools

import _ "sigs.k8s.io/gateway-api/apis/v1"
