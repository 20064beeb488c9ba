//go:build !kuadrant

package main

import (
	"fmt"

	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// The policies of Kuadrant have conditions alone, and its release of Gateway API does not have this type.
func (v *verdicts) policy(kind string, p named, ancestors []gwapiv1.PolicyAncestorStatus) {
	by := map[string]string{}
	for _, a := range ancestors {
		by[parent(p.GetNamespace(), a.AncestorRef)] = conditions(a.Conditions)
	}
	v.policies[fmt.Sprintf("%s/%s/%s", kind, p.GetNamespace(), p.GetName())] = by
}
