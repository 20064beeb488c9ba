package main

import (
	"fmt"
	"strings"
)

const (
	project      = "Istio"
	gatewayClass = "istio"
	root         = "istio-system"
)

// The versions and groups of the policies.
var policyAPIs = map[string]string{
	"AuthorizationPolicy":   "security.istio.io/v1",
	"RequestAuthentication": "security.istio.io/v1",
	"Telemetry":             "telemetry.istio.io/v1",
	"WasmPlugin":            "extensions.istio.io/v1alpha1",
	"TrafficExtension":      "extensions.istio.io/v1alpha1",
	"EnvoyFilter":           "networking.istio.io/v1alpha3",
}

// What every scenario has.
func common() []object {
	return []object{
		class("istio", "istio.io/gateway-controller"),
		class("istio-waypoint", "istio.io/mesh-controller"),
		class("other", "gateway.envoyproxy.io/gatewayclass-controller"),
		namespace(root, object{}),
		namespace("mesh", object{}),
		aged(gateway("shop", "public", []listener{{"web", 80, "HTTP", ""}}), 1),
		aged(service("shop", "stock", "10.96.0.12", nil), 2),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/shop/public"}, []string{""}), 3),
	}
}

func class(name, controller string) object {
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": name},
		"spec": object{"controllerName": controller},
	}
}

func namespace(name string, labels object) object {
	o := object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name}}
	return withLabels(o, labels)
}

func withLabels(o object, labels object) object {
	if len(labels) > 0 {
		o["metadata"].(object)["labels"] = labels
	}
	return o
}

// A Gateway of another class than that of most, with a listener that takes what is sent to Services.
func meshGateway(namespace, name, class, from string) object {
	l := object{"name": "mesh", "port": 15008, "protocol": "HBONE"}
	if from != "" {
		l["allowedRoutes"] = object{"namespaces": object{"from": from}}
	}
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "Gateway", "metadata": meta(namespace, name),
		"spec": object{"gatewayClassName": class, "listeners": list{l}},
	}
}

func service(namespace, name, address string, labels object) object {
	o := object{
		"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, name),
		"spec": object{
			"clusterIP": address, "clusterIPs": list{address}, "selector": object{"app": name},
			"ports": list{object{"name": "http", "port": 8080, "protocol": "TCP"}},
		},
	}
	return withLabels(o, labels)
}

func serviceEntry(namespace, name string, labels object) object {
	o := object{
		"apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": meta(namespace, name),
		"spec": object{
			"hosts": list{name + ".example.org"}, "addresses": list{"240.0.0.1"}, "resolution": "STATIC",
			"ports":     list{object{"name": "http", "number": 8080, "protocol": "HTTP"}},
			"endpoints": list{object{"address": "203.0.113.1"}},
		},
	}
	return withLabels(o, labels)
}

// A policy without targets.
func policy(kind, namespace, name string, settings object) object {
	spec := object{}
	for key, value := range settings {
		spec[key] = value
	}
	return object{"apiVersion": policyAPIs[kind], "kind": kind, "metadata": meta(namespace, name), "spec": spec}
}

// `Service/cart` as a targetRef; a group before it replaces that of the kind: `example.org:Service/cart`.
func target(text string) object {
	group, named, other := strings.Cut(text, ":")
	if !other {
		named = text
	}
	kind, name, _ := strings.Cut(named, "/")
	if !other {
		group = groupOf(kind)
		if kind == "ServiceEntry" {
			group = "networking.istio.io"
		}
	}
	ref := object{"kind": kind, "name": name}
	if group != "" {
		ref["group"] = group
	}
	return ref
}

// The Service and the workload that Istio makes for a Gateway, and the address that it writes into its status: without
// them there is no proxy. attache does not look at them, and they are not recorded.
func proxyOf(gateway object, number int) []object {
	namespace, name := gateway["metadata"].(object)["namespace"].(string), gateway["metadata"].(object)["name"].(string)
	service, managed := name+"-"+gatewayClass, "istio.io-gateway-controller"
	if isWaypoint(gateway) {
		service, managed = name, "istio.io-mesh-controller"
	}
	labels := object{"gateway.networking.k8s.io/gateway-name": name, "gateway.istio.io/managed": managed}
	gateway["status"] = object{"addresses": list{
		object{"type": "Hostname", "value": fmt.Sprintf("%s.%s.svc.cluster.local", service, namespace)},
	}}
	ports := list{
		object{"name": "http", "port": 80, "protocol": "TCP"},
		object{"name": "mesh", "port": 15008, "protocol": "TCP", "appProtocol": "hbone"},
	}
	var made []object
	known := map[float64]bool{80: true, 15008: true}
	for _, l := range gateway["spec"].(object)["listeners"].(list) {
		l := l.(object)
		if port := l["port"].(float64); !known[port] {
			known[port] = true
			ports = append(ports, object{"name": l["name"], "port": port, "protocol": "TCP"})
		}
		if tls, ok := l["tls"].(object); ok && tls["mode"] == "Terminate" && len(made) == 0 {
			made = append(made, certificateOf(namespace))
		}
	}
	return append(made, []object{
		{
			"apiVersion": "v1", "kind": "Service", "metadata": withLabels(object{"metadata": meta(namespace, service)}, labels)["metadata"],
			"spec": object{
				"clusterIP": fmt.Sprintf("10.97.0.%d", number), "clusterIPs": list{fmt.Sprintf("10.97.0.%d", number)},
				"selector": object{"gateway.networking.k8s.io/gateway-name": name}, "ports": ports,
			},
		},
		{
			"apiVersion": "networking.istio.io/v1", "kind": "WorkloadEntry",
			"metadata": withLabels(object{"metadata": meta(namespace, service)}, labels)["metadata"],
			"spec":     object{"address": addressOf(number), "labels": labels},
		},
	}...)
}

// A workload behind a Service.
func workloadOf(service object, number int) object {
	metadata := service["metadata"].(object)
	labels := service["spec"].(object)["selector"].(object)
	return object{
		"apiVersion": "networking.istio.io/v1", "kind": "WorkloadEntry",
		"metadata": withLabels(object{"metadata": meta(metadata["namespace"].(string), metadata["name"].(string))}, labels)["metadata"],
		"spec":     object{"address": addressOf(number), "labels": labels},
	}
}

func addressOf(number int) string {
	return fmt.Sprintf("10.98.0.%d", number)
}

func isWaypoint(gateway object) bool {
	return gateway["spec"].(object)["gatewayClassName"] == "istio-waypoint"
}
