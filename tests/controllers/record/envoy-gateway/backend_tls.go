package main

import (
	"fmt"

	"github.com/envoyproxy/gateway/internal/ir"
)

// BackendTLSPolicies on Services and their ports, to which routes of several kinds send requests.
func backendTLS(name string, more int) theme {
	factors := []factor{
		{"route", []string{"HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"}},
		{"parents", []string{"gateway", "listener", "two-gateways", "set"}},
		{"backend", []string{"own", "granted", "not-granted"}},
		{"uses", []string{"named-port", "unnamed-port", "two-ports", "two-services"}},
		{"first", []string{"service", "port", "other-port", "port-number", "both-ports", "two-services", "group-core", "missing"}},
		{"second", []string{"none", "service", "port", "other-service"}},
		{"age", []string{"first-is-older", "second-is-older", "same"}},
		{"ca", []string{"system", "config-map", "secret"}},
		{"merge", []string{"alone", "with-traffic-policy"}},
	}
	about := "BackendTLSPolicies on Services and their ports"
	return combined(name, about, "BackendTLSPolicy", factors, more, func(e *estate) {
		e.used()
		e.backendTLSPolicies(e.tls)
		e.trafficPolicy()
	})
}

// The routes, and the backends that they use: the Services backend and till, with a port for each protocol, and one without
// a name.
func (e *estate) used() {
	kind := e.plan["route"]
	protocol := protocolFor[kind]
	e.add(aged(gateway("infra", "public", []listener{{"web", 8001, protocol, ""}, {"alt", 8002, protocol, ""}}), 1))
	parents := []string{"Gateway/infra/public"}
	switch e.plan["parents"] {
	case "listener":
		parents = []string{"Gateway/infra/public#alt"}
	case "two-gateways":
		parents = append(parents, "Gateway/infra/internal")
		e.add(aged(gateway("infra", "internal", []listener{{"web", 8001, protocol, ""}}), 2))
	case "set":
		parents = []string{"ListenerSet/shop/extra"}
		e.add(aged(listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8011, protocol, ""}}), 3))
	}
	namespace := e.backendNamespace()
	ports := list{object{"name": "http", "port": 8080, "protocol": "TCP"}, object{"name": "tcp", "port": 9000, "protocol": "TCP"}}
	if e.is("uses", "unnamed-port") {
		ports = list{object{"port": 8080, "protocol": "TCP"}}
	}
	if kind == "UDPRoute" {
		for _, port := range ports {
			port.(object)["protocol"] = "UDP"
		}
	}
	for _, name := range []string{"till", "stock"} {
		e.add(object{
			"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, name),
			"spec": object{"clusterIP": "10.96.0.1", "ports": ports},
		})
	}
	e.add(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(namespace, "ca"), "data": object{"ca.crt": "certificate"}})
	e.add(object{"apiVersion": "v1", "kind": "Secret", "metadata": meta(namespace, "ca"), "data": object{"ca.crt": "Y2VydGlmaWNhdGU="}})
	refs := list{e.backendRef("till", 8080)}
	switch e.plan["uses"] {
	case "two-ports":
		refs = append(refs, e.backendRef("till", 9000))
	case "two-services":
		refs = append(refs, e.backendRef("stock", 8080))
	}
	r := aged(route(kind, "shop", "cart", parents, []string{"buy"}), 4)
	r["spec"].(object)["rules"].(list)[0].(object)["backendRefs"] = refs
	e.add(r)
	if e.is("backend", "granted") {
		e.add(object{
			"apiVersion": gatewayAPI + "/v1beta1", "kind": "ReferenceGrant", "metadata": meta(namespace, "routes"),
			"spec": object{
				"from": list{object{"group": gatewayAPI, "kind": kind, "namespace": "shop"}},
				"to":   list{object{"group": "", "kind": "Service"}},
			},
		})
	}
}

func (e *estate) backendNamespace() string {
	if e.is("backend", "own") {
		return "shop"
	}
	return "pay"
}

func (e *estate) backendRef(name string, port int) object {
	ref := object{"name": name, "port": port}
	if namespace := e.backendNamespace(); namespace != "shop" {
		ref["namespace"] = namespace
	}
	return ref
}

// A policy of another kind, which changes nothing for the first.
func (e *estate) trafficPolicy() {
	if e.is("merge", "with-traffic-policy") {
		e.add(aged(on(policy("BackendTrafficPolicy", "infra", "traffic", settings("BackendTrafficPolicy", "same", 0, 1)), targetRef("Gateway", "public", "")), 6))
	}
}

func (e *estate) tls(name string, day int, refs ...object) object {
	e.number++
	validation := object{"hostname": fmt.Sprintf("p%d.example.org", e.number)}
	switch e.plan["ca"] {
	case "system":
		validation["wellKnownCACertificates"] = "System"
	case "config-map":
		validation["caCertificateRefs"] = list{object{"group": "", "kind": "ConfigMap", "name": "ca"}}
	case "secret":
		validation["caCertificateRefs"] = list{object{"group": "", "kind": "Secret", "name": "ca"}}
	}
	return aged(on(object{
		"apiVersion": gatewayAPI + "/v1", "kind": "BackendTLSPolicy", "metadata": meta(e.backendNamespace(), name),
		"spec": object{"validation": validation},
	}, refs...), day)
}

// The hostname for TLS at each port, by number, of a Service that a route sends requests to.
func (v *verdicts) backends(destination *ir.RouteDestination) error {
	if destination == nil {
		return nil
	}
	for _, setting := range destination.Settings {
		m := setting.Metadata
		if m == nil || (m.Name != "till" && m.Name != "stock") {
			continue
		}
		settings := object{}
		if setting.TLS != nil && setting.TLS.SNI != nil {
			settings["hostname"] = *setting.TLS.SNI
		}
		where := fmt.Sprintf("Service/%s/%s#%s", m.Namespace, m.Name, m.SectionName)
		if err := v.in(where, settings); err != nil {
			return err
		}
	}
	return nil
}
