package main

import (
	"fmt"
	"strings"
)

// Objects of Gateway API, as the scenarios of every project have them. Each project names its `gatewayClass`.

type (
	object = map[string]any
	list   = []any
)

const gatewayAPI = "gateway.networking.k8s.io"

func groupOf(kind string) string {
	if kind == "Service" {
		return ""
	}
	return gatewayAPI
}

func meta(namespace, name string) object {
	return object{"namespace": namespace, "name": name}
}

// A day of January 2026, and no time for day 0.
func aged(o object, day int) object {
	if day > 0 {
		o["metadata"].(object)["creationTimestamp"] = fmt.Sprintf("2026-01-%02dT00:00:00Z", day)
	}
	return o
}

func labelled(o object, key, value string) object {
	o["metadata"].(object)["labels"] = object{key: value}
	return o
}

type listener struct {
	name     string
	port     int
	protocol string
	hostname string
}

func (l listener) object() object {
	o := object{
		"name": l.name, "port": l.port, "protocol": l.protocol,
		"allowedRoutes": object{"namespaces": object{"from": "All"}},
	}
	if l.hostname != "" {
		o["hostname"] = l.hostname
	}
	switch l.protocol {
	case "TLS":
		o["tls"] = object{"mode": "Passthrough"}
	case "HTTPS":
		o["tls"] = object{"certificateRefs": list{object{"name": "certificate"}}}
	}
	return o
}

// The protocol of listeners for routes of a kind.
var protocolFor = map[string]string{
	"HTTPRoute": "HTTP", "GRPCRoute": "HTTP", "TCPRoute": "TCP", "TLSRoute": "TLS", "UDPRoute": "UDP",
}

// Lets the TLS listeners of a Gateway, or of a set, decrypt.
func terminating(o object) object {
	for _, l := range o["spec"].(object)["listeners"].(list) {
		if l := l.(object); l["protocol"] == "TLS" {
			l["tls"] = object{"mode": "Terminate", "certificateRefs": list{object{"name": "certificate"}}}
		}
	}
	return o
}

func listeners(all []listener) list {
	out := list{}
	for _, l := range all {
		out = append(out, l.object())
	}
	return out
}

func gateway(namespace, name string, all []listener) object {
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "Gateway", "metadata": meta(namespace, name),
		"spec": object{
			"gatewayClassName": gatewayClass, "listeners": listeners(all),
			"allowedListeners": object{"namespaces": object{"from": "All"}},
		},
	}
}

// `Gateway/infra/public#web` as a parentRef.
func parentRef(text string) object {
	text, section, _ := strings.Cut(text, "#")
	parts := strings.Split(text, "/")
	ref := object{"name": parts[2], "namespace": parts[1]}
	if parts[0] != "Gateway" {
		ref["kind"] = parts[0]
	}
	if group := groupOf(parts[0]); group != gatewayAPI {
		ref["group"] = group
	}
	if section != "" {
		ref["sectionName"] = section
	}
	return ref
}

var routeVersions = map[string]string{
	"HTTPRoute": "v1", "GRPCRoute": "v1", "TLSRoute": "v1", "TCPRoute": "v1", "UDPRoute": "v1",
}

// A route whose rules have these names; "" is a rule without name.
func route(kind, namespace, name string, parents []string, rules []string) object {
	refs := list{}
	for _, p := range parents {
		refs = append(refs, parentRef(p))
	}
	spec := object{"parentRefs": refs}
	if kind == "HTTPRoute" || kind == "GRPCRoute" || kind == "TLSRoute" {
		spec["hostnames"] = list{name + ".example.com"}
	}
	port := map[string]int{"HTTPRoute": 8080, "GRPCRoute": 8080, "UDPRoute": 5300}[kind]
	if port == 0 {
		port = 9000
	}
	out := list{}
	for i, rule := range rules {
		r := object{"backendRefs": list{object{"name": "backend", "port": port}}}
		if rule != "" {
			r["name"] = rule
		}
		switch kind {
		case "HTTPRoute":
			r["matches"] = list{object{"path": object{"type": "PathPrefix", "value": fmt.Sprintf("/%d", i)}}}
		case "GRPCRoute":
			r["matches"] = list{object{"method": object{"service": "shop.Cart", "method": fmt.Sprintf("M%d", i)}}}
		}
		out = append(out, r)
	}
	spec["rules"] = out
	return object{
		"apiVersion": gatewayAPI + "/" + routeVersions[kind], "kind": kind, "metadata": meta(namespace, name), "spec": spec,
	}
}

func targetRef(kind, name, section string) object {
	ref := object{"group": groupOf(kind), "kind": kind, "name": name}
	if section != "" {
		ref["sectionName"] = section
	}
	return ref
}

func on(p object, refs ...object) object {
	all := list{}
	for _, ref := range refs {
		all = append(all, ref)
	}
	p["spec"].(object)["targetRefs"] = all
	return p
}
