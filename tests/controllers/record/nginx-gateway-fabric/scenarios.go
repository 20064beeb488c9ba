package main

import "fmt"

const (
	project        = "NGINX Gateway Fabric"
	gatewayClass   = "nginx"
	controllerName = "gateway.nginx.org/nginx-gateway-controller"
)

// Settings by kind of policy: each function makes one in which policies with different numbers differ.
var samples = map[string][]func(i int) object{
	"ClientSettingsPolicy": {
		func(i int) object { return object{"body": object{"maxSize": fmt.Sprintf("%dm", 10+i)}} },
		func(i int) object { return object{"keepAlive": object{"requests": 100 + i}} },
		func(i int) object { return object{"keepAlive": object{"time": fmt.Sprintf("%ds", 20+i)}} },
	},
	"ProxySettingsPolicy": {
		func(i int) object { return object{"timeout": object{"connect": fmt.Sprintf("%ds", 10+i)}} },
		func(i int) object { return object{"timeout": object{"read": fmt.Sprintf("%ds", 30+i)}} },
		func(i int) object { return object{"buffering": object{"disable": i%2 == 0}} },
	},
	"RateLimitPolicy": {
		func(i int) object { return limit(i, nil) },
		func(i int) object { return limit(i, object{"rejectCode": 430 + i}) },
	},
}

func limit(i int, more object) object {
	settings := object{"local": object{"rules": list{object{"rate": fmt.Sprintf("%dr/s", 5+i), "key": "$binary_remote_addr", "zoneSize": "10m"}}}}
	for key, value := range more {
		settings[key] = value
	}
	return object{"rateLimit": settings}
}

func common() []object {
	return []object{
		{"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": gatewayClass}, "spec": object{"controllerName": controllerName}},
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "infra"}},
		{"apiVersion": "v1", "kind": "Service", "metadata": meta("infra", "backend"), "spec": object{"ports": list{object{"name": "http", "port": 8080, "protocol": "TCP"}}}},
	}
}

func themes() []theme {
	var all []theme
	names := map[string]string{"ClientSettingsPolicy": "client-settings", "ProxySettingsPolicy": "proxy-settings", "RateLimitPolicy": "rate-limit"}
	for _, kind := range []string{"ClientSettingsPolicy", "ProxySettingsPolicy", "RateLimitPolicy"} {
		factors := []factor{
			{"route", []string{"HTTPRoute", "GRPCRoute"}},
			{"parent", []string{"gateway", "set", "both"}},
			{"upper", []string{"none", "one", "two"}},
			{"lower", []string{"none", "one", "two", "missing", "both-routes"}},
			{"neighbour", []string{"none", "shares-path", "other-path"}},
			{"settings", []string{"same", "apart", "both"}},
			{"age", []string{"above-first", "below-first", "same"}},
		}
		all = append(all, combined(names[kind], kind+" on Gateways and routes", kind, factors, 25, build))
	}
	return all
}

func build(e *estate) {
	kind := e.plan["route"]
	e.add(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}}))
	var parents []string
	if e.is("parent", "gateway", "both") {
		parents = append(parents, "Gateway/infra/public")
	}
	if e.is("parent", "set", "both") {
		parents = append(parents, "ListenerSet/infra/extra")
		e.add(object{
			"apiVersion": gatewayAPI + "/v1", "kind": "ListenerSet", "metadata": meta("infra", "extra"),
			"spec": object{"parentRef": parentRef("Gateway/infra/public"), "listeners": listeners([]listener{{"side", 8002, "HTTP", ""}})},
		})
	}
	e.add(route(kind, "infra", "cart", parents, []string{"buy", ""}))
	e.add(route("HTTPRoute", "infra", "blog", []string{"Gateway/infra/public"}, []string{"read"}))
	if !e.is("neighbour", "none") {
		other := route(kind, "infra", "other", parents, []string{"", "more"})
		spec := other["spec"].(object)
		spec["hostnames"] = list{"cart.example.com"}
		rules := spec["rules"].(list)
		// The first rule of the other route has the path of the first rule of the cart, or one of its own.
		at := map[bool]list{true: rules[:1], false: rules[1:]}[e.is("neighbour", "shares-path")]
		if e.is("neighbour", "other-path") {
			match := at[0].(object)["matches"].(list)[0].(object)
			if path, ok := match["path"]; ok {
				path.(object)["value"] = "/other"
			} else {
				match["method"].(object)["method"] = "Other"
			}
		}
		spec["rules"] = at
		e.add(aged(other, 25))
	}
	for _, o := range e.objects {
		defaulted(o)
	}
	cart := targetRef(kind, "cart", "")
	if e.is("upper", "one", "two") {
		e.policy("gateway", true, targetRef("Gateway", "public", ""))
	}
	if e.is("upper", "two") {
		e.policy("gateway-too", true, targetRef("Gateway", "public", ""))
	}
	if e.is("lower", "one", "two") {
		e.policy("route", false, cart)
	}
	if e.is("lower", "two") {
		e.policy("route-too", false, cart)
	}
	if e.is("lower", "missing") {
		e.policy("missing", false, targetRef(kind, "gone", ""))
	}
	if e.is("lower", "both-routes") {
		if e.kind == "ClientSettingsPolicy" {
			e.policy("route", false, cart)
		} else {
			e.policy("routes", false, cart, targetRef("HTTPRoute", "blog", ""))
		}
	}
}

// Fills in what the API server does, and what the controller asks for.
func defaulted(o object) {
	if o["kind"] != "GRPCRoute" {
		return
	}
	for _, rule := range o["spec"].(object)["rules"].(list) {
		for _, match := range rule.(object)["matches"].(list) {
			match.(object)["method"].(object)["type"] = "Exact"
		}
	}
}

// The next policy, above the routes or not.
func (e *estate) policy(name string, above bool, targets ...object) {
	i := e.number
	e.number++
	spec := settings(e.kind, e.plan["settings"], e.first, i)
	p := object{"apiVersion": "gateway.nginx.org/v1alpha1", "kind": e.kind, "metadata": meta("infra", name), "spec": spec}
	if e.kind == "ClientSettingsPolicy" {
		spec["targetRef"] = targets[0]
	} else {
		on(p, targets...)
	}
	e.add(aged(p, map[string]int{"above-first": 10 + i, "below-first": 20 - i, "same": 10}[e.plan["age"]]))
}
