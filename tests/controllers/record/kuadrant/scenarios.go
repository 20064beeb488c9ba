package main

import "fmt"

const (
	project        = "Kuadrant"
	gatewayClass   = "istio"
	controllerName = "istio.io/gateway-controller"
)

// Entries of policies by kind: `how` says whether two policies use the same names.
var samples = map[string][]func(i int) object{
	"AuthPolicy": {
		func(i int) object {
			return entry("authentication", "jwt", object{"issuerUrl": fmt.Sprintf("https://p%d.example.org", i)})
		},
		func(i int) object { return entry("authorization", "opa", object{"rego": fmt.Sprintf("allow = %d", i)}) },
		func(i int) object {
			return entry("metadata", "http", object{"url": fmt.Sprintf("https://m%d.example.org", i)})
		},
	},
}

func entry(part, how string, settings object) object {
	return object{part: object{"": object{how: settings}}}
}

func common() []object {
	return []object{
		{"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": gatewayClass}, "spec": object{"controllerName": controllerName}},
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "infra"}},
		{"apiVersion": "v1", "kind": "Service", "metadata": meta("infra", "backend"), "spec": object{"ports": list{object{"name": "http", "port": 8080, "protocol": "TCP"}}}},
	}
}

func factors() []factor {
	return []factor{
		{"route", []string{"HTTPRoute", "GRPCRoute"}},
		{"upper", []string{"gateway", "listener", "both", "gateway-twice"}},
		{"lower", []string{"route", "rule", "both", "route-twice", "missing"}},
		{"above", []string{"bare", "defaults", "overrides"}},
		{"above-strategy", []string{"unset", "atomic", "merge"}},
		{"below", []string{"bare", "defaults", "overrides"}},
		{"below-strategy", []string{"unset", "atomic", "merge"}},
		{"age", []string{"above-first", "below-first", "same"}},
		{"names", []string{"same", "apart", "both"}},
		{"when", []string{"no", "above", "below", "all"}},
		{"empty", []string{"no", "above", "below"}},
	}
}

func themes() []theme {
	var all []theme
	names := map[string]string{"AuthPolicy": "auth", "RateLimitPolicy": "rate-limit", "TokenRateLimitPolicy": "token-rate-limit"}
	for _, kind := range []string{"AuthPolicy", "RateLimitPolicy", "TokenRateLimitPolicy"} {
		about := kind + " on Gateways, listeners, routes and rules"
		all = append(all, combined(names[kind], about, kind, factors(), 25, build))
	}
	return all
}

func build(e *estate) {
	gateways := []listener{{"web", 8001, "HTTP", ""}, {"side", 8002, "HTTP", "*.example.com"}}
	e.add(gateway("infra", "public", gateways))
	kind := e.plan["route"]
	if e.kind == "TokenRateLimitPolicy" {
		// Its CRD takes no GRPCRoutes.
		kind = "HTTPRoute"
	}
	e.add(
		route(kind, "infra", "cart", []string{"Gateway/infra/public"}, []string{"buy", ""}),
		route("HTTPRoute", "infra", "blog", []string{"Gateway/infra/public#web"}, []string{"read"}),
		route("GRPCRoute", "infra", "calls", []string{"Gateway/infra/public#web"}, []string{"one"}),
	)
	if e.is("upper", "gateway", "both", "gateway-twice") {
		e.policy("gateway", targetRef("Gateway", "public", ""), true)
	}
	if e.is("upper", "gateway-twice") {
		e.policy("gateway-too", targetRef("Gateway", "public", ""), true)
	}
	if e.is("upper", "listener", "both") {
		e.policy("listener", targetRef("Gateway", "public", "side"), true)
	}
	if e.is("lower", "route", "both", "route-twice") {
		e.policy("route", targetRef(kind, "cart", ""), false)
	}
	if e.is("lower", "route-twice") {
		e.policy("route-too", targetRef(kind, "cart", ""), false)
	}
	if e.is("lower", "rule", "both") {
		e.policy("rule", targetRef(kind, "cart", "rule-2"), false)
	}
	if e.is("lower", "missing") {
		e.policy("missing", targetRef(kind, "cart", "rule-9"), false)
	}
}

// The next policy, above the routes or not.
func (e *estate) policy(name string, target object, above bool) {
	i := e.number
	e.number++
	side := map[bool]string{true: "above", false: "below"}[above]
	body := object{}
	if !e.is("empty", side) {
		body = e.entries(i)
	}
	if e.is("when", side, "all") {
		body["when"] = list{object{"predicate": fmt.Sprintf("request.path != '/p%d'", i)}}
	}
	spec := object{"targetRef": target}
	if form := e.plan[side]; form == "bare" {
		for key, value := range body {
			spec[key] = value
		}
	} else {
		if strategy := e.plan[side+"-strategy"]; strategy != "unset" {
			body["strategy"] = strategy
		}
		spec[form] = body
	}
	version := map[string]string{"TokenRateLimitPolicy": "v1alpha1"}[e.kind]
	if version == "" {
		version = "v1"
	}
	p := object{"apiVersion": "kuadrant.io/" + version, "kind": e.kind, "metadata": meta("infra", name), "spec": spec}
	day := map[string]int{"above-first": 10 + i, "below-first": 20 - i, "same": 10}[e.plan["age"]]
	e.add(aged(p, day))
}

// The entries of policy number i: with the names of the others, with names of its own, or one of each.
func (e *estate) entries(i int) object {
	own, shared := fmt.Sprintf("p%d", i), "shared"
	var names []string
	switch e.plan["names"] {
	case "same":
		names = []string{shared}
	case "apart":
		names = []string{own}
	default:
		names = []string{shared, own}
	}
	if e.kind != "AuthPolicy" {
		limits := object{}
		for n, name := range names {
			limits[name] = object{"rates": list{object{"limit": 100 + 10*i + n, "window": "10s"}}}
		}
		return object{"limits": limits}
	}
	rules := object{}
	for n, sample := range samples[e.kind] {
		// Every policy has authentication, and every other one of the rest.
		if n > 0 && (e.first+i+n)%2 == 0 {
			continue
		}
		for m, name := range names {
			for part, entry := range sample(10*i + m) {
				if rules[part] == nil {
					rules[part] = object{}
				}
				rules[part].(object)[name] = entry.(object)[""]
			}
		}
	}
	return object{"rules": rules}
}
