package main

import "fmt"

// A certificate of an authority whose key is nowhere; it ends in a hundred years.
const authority = `-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUf/tcHcjw2EA8jhHobbTXHOjz7jQwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOY2EuZXhhbXBsZS5vcmcwIBcNMjYxMTI4MDEzMjU1WhgPMjEy
NjExMDQwMTMyNTVaMBkxFzAVBgNVBAMMDmNhLmV4YW1wbGUub3JnMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEe6BMK0VxjO1o0L4jys7XKlGnXkv7PQ78NbQhvfZZ
Acib0nN3ThMIOR880wgDS5PM4V3DMFxO/Uxclvjeuda1wqNTMFEwHQYDVR0OBBYE
FN3HH3/qDpg5QwsCK+Le8ScEgjHdMB8GA1UdIwQYMBaAFN3HH3/qDpg5QwsCK+Le
8ScEgjHdMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAPZa64nU
yeEJS7lRDLYipcwis6QLvvnhQESfQLJwkpLFAiEA5kMy5MfRTlzgE/fpPh4Qr2cD
gF+eVxT3lEXBTzFGskg=
-----END CERTIFICATE-----
`

// BackendTLSPolicies on Services and their ports, to which routes send requests.
func backendTLS(name string, more int, kinds ...string) theme {
	factors := []factor{
		{"route", kinds},
		{"uses", []string{"one-port", "two-ports", "two-services"}},
		{"first", []string{"service", "port", "other-port", "both-ports", "two-services", "group-core", "missing"}},
		{"second", []string{"none", "service", "port", "other-service"}},
		{"age", []string{"first-is-older", "second-is-older"}},
		{"ca", []string{"system", "config-map"}},
	}
	return combined(name, "BackendTLSPolicies on Services and their ports", "BackendTLSPolicy", factors, more, func(e *estate) {
		e.used()
		e.backendTLSPolicies(e.tls)
	})
}

// The route, and the Services till and stock.
func (e *estate) used() {
	e.add(aged(gateway("infra", "public", []listener{{"web", 8001, protocolFor[e.plan["route"]], ""}}), 1))
	e.add(service("shop", "till"), service("shop", "stock"))
	e.add(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("shop", "ca"), "data": object{"ca.crt": authority}})
	refs := list{object{"name": "till", "port": 8080}}
	switch e.plan["uses"] {
	case "two-ports":
		refs = append(refs, object{"name": "till", "port": 9000})
	case "two-services":
		refs = append(refs, object{"name": "stock", "port": 8080})
	}
	cart := route(e.plan["route"], "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"})
	cart["spec"].(object)["rules"].(list)[0].(object)["backendRefs"] = refs
	e.add(aged(cart, 4))
}

func (e *estate) tls(name string, day int, refs ...object) object {
	e.number++
	validation := object{"hostname": fmt.Sprintf("p%d.example.org", e.number)}
	if e.is("ca", "system") {
		validation["wellKnownCACertificates"] = "System"
	} else {
		validation["caCertificateRefs"] = list{object{"group": "", "kind": "ConfigMap", "name": "ca"}}
	}
	return aged(on(object{
		"apiVersion": gatewayAPI + "/v1", "kind": "BackendTLSPolicy", "metadata": meta("shop", name),
		"spec": object{"validation": validation},
	}, refs...), day)
}

// Whether a state has BackendTLSPolicies: then what is in force is recorded for each port of a Service.
func hasBackendTLS(state []object) bool {
	for _, o := range state {
		if o["kind"] == "BackendTLSPolicy" {
			return true
		}
	}
	return false
}
