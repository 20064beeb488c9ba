package main

import (
	"fmt"
	"strings"
)

type (
	object = map[string]any
	list   = []any
)

const gatewayAPI = "gateway.networking.k8s.io"

// What every scenario has.
func common() []object {
	objects := []object{
		{
			"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": "eg"},
			"spec": object{"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
		},
	}
	for _, namespace := range []string{"infra", "shop", "pay"} {
		objects = append(objects, object{
			"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace, "labels": object{"team": namespace}},
		})
		ports := list{
			object{"name": "http", "port": 8080, "protocol": "TCP"},
			object{"name": "tcp", "port": 9000, "protocol": "TCP"},
			object{"name": "udp", "port": 5300, "protocol": "UDP"},
		}
		for _, name := range []string{"backend", "authz"} {
			objects = append(objects, object{
				"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, name),
				"spec": object{"clusterIP": "10.96.0.1", "ports": ports},
			})
		}
		secret := func(name, key, value string) object {
			return object{
				"apiVersion": "v1", "kind": "Secret", "metadata": meta(namespace, name), "data": object{key: value},
			}
		}
		objects = append(objects,
			secret("keys", "client", "a2V5"),
			secret("users", ".htpasswd", "dXNlcjp7U0hBfWZFcU5DY283WXE5aDVaVWdsRDNDWkpUNGxCcz0="),
			secret("oidc", "client-secret", "c2VjcmV0"),
		)
	}
	return objects
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
	if l.protocol == "TLS" {
		o["tls"] = object{"mode": "Passthrough"}
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
			"gatewayClassName": "eg", "listeners": listeners(all),
			"allowedListeners": object{"namespaces": object{"from": "All"}},
		},
	}
}

func listenerSet(namespace, name, parentNamespace, parent string, all []listener) object {
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "ListenerSet", "metadata": meta(namespace, name),
		"spec": object{
			"parentRef": object{"name": parent, "namespace": parentNamespace}, "listeners": listeners(all),
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

func grant(namespace, fromKind, fromNamespace, toKind string) object {
	return object{
		"apiVersion": gatewayAPI + "/v1beta1", "kind": "ReferenceGrant", "metadata": meta(namespace, "policies"),
		"spec": object{
			"from": list{object{"group": "gateway.envoyproxy.io", "kind": fromKind, "namespace": fromNamespace}},
			"to":   list{object{"group": gatewayAPI, "kind": toKind}},
		},
	}
}

func targetRef(kind, name, section string) object {
	ref := object{"group": gatewayAPI, "kind": kind, "name": name}
	if section != "" {
		ref["sectionName"] = section
	}
	return ref
}

// A policy without targets whose settings differ from those of policies with another number.
func policy(kind, namespace, name string, settings object) object {
	spec := object{}
	for key, value := range settings {
		spec[key] = value
	}
	return object{
		"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": kind, "metadata": meta(namespace, name), "spec": spec,
	}
}

func on(p object, refs ...object) object {
	all := list{}
	for _, ref := range refs {
		all = append(all, ref)
	}
	p["spec"].(object)["targetRefs"] = all
	return p
}

func merging(p object, mergeType string) object {
	if mergeType != "" {
		p["spec"].(object)["mergeType"] = mergeType
	}
	return p
}
