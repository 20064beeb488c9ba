package main

import "fmt"

func themes() []theme {
	return []theme{
		routes("security", "SecurityPolicy", []string{"HTTPRoute", "GRPCRoute", "TCPRoute"}, 60),
		routes("backend-traffic", "BackendTrafficPolicy", []string{"HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"}, 40),
		routes("extension", "EnvoyExtensionPolicy", []string{"HTTPRoute", "GRPCRoute", "TCPRoute"}, 10),
		clients("client-traffic", 10),
		edges("edges"),
		sharedPorts("ports"),
		backendTLS("backend-tls", 20),
	}
}

// Policies of one kind on all that stands over a route and on the route.
func routes(name, kind string, routeKinds []string, more int) theme {
	factors := []factor{
		{"route", routeKinds},
		{"parents", []string{"gateway", "listener", "two-listeners", "set", "set-listener", "gateway-and-set", "two-gateways"}},
		{"upper", []string{"none", "gateway", "listener", "gateway-and-listener", "set", "set-listener", "set-and-listener", "gateway-and-set", "all"}},
		{"lower", []string{"none", "route", "rule", "route-and-rule", "two-rules"}},
		{"merge", []string{"unset", "StrategicMerge", "JSONMerge", "route-only", "rule-only"}},
		{"empty", []string{"none", "gateway", "listeners", "route", "rule", "lower"}},
		{"age", []string{"above-first", "below-first", "same"}},
		{"twice", []string{"none", "gateway", "listener", "set", "route", "rule", "everything"}},
		{"refs", []string{"targetRefs", "targetRef", "several", "selectors", "selectors-granted", "selectors-not-granted"}},
		{"settings", []string{"same", "apart", "both"}},
		{"others", []string{"none", "sibling", "companion", "sibling-and-companion"}},
	}
	return combined(name, fmt.Sprintf("%s on Gateways, ListenerSets, their listeners, routes and their rules", kind), kind, factors, more, func(e *estate) {
		e.topology()
		e.upper()
		e.lower()
		e.companion()
	})
}

func (e *estate) topology() {
	kind := e.plan["route"]
	protocol := map[string]string{"HTTPRoute": "HTTP", "GRPCRoute": "HTTP", "TCPRoute": "TCP", "TLSRoute": "TLS", "UDPRoute": "UDP"}[kind]
	main := []listener{{"web", 8001, protocol, ""}, {"alt", 8002, protocol, ""}}
	if protocol != "HTTP" {
		main = append(main, listener{"plain", 8003, "HTTP", ""})
	}
	e.add(aged(labelled(gateway("infra", "public", main), "tier", "public"), 1))
	if e.is("parents", "two-gateways") {
		e.add(aged(gateway("infra", "internal", []listener{{"web", 8001, protocol, ""}}), 2))
	}
	if e.is("parents", "set", "set-listener", "gateway-and-set") || e.is("upper", "set", "set-listener", "set-and-listener", "gateway-and-set", "all") {
		e.add(aged(listenerSet("shop", "extra", "infra", "public", []listener{
			{"web", 8011, protocol, ""}, {"side", 8012, protocol, ""},
		}), 3))
	}
	parents := map[string][]string{
		"gateway":         {"Gateway/infra/public"},
		"listener":        {"Gateway/infra/public#web"},
		"two-listeners":   {"Gateway/infra/public#web", "Gateway/infra/public#alt"},
		"set":             {"ListenerSet/shop/extra"},
		"set-listener":    {"ListenerSet/shop/extra#web"},
		"gateway-and-set": {"Gateway/infra/public#alt", "ListenerSet/shop/extra#web"},
		"two-gateways":    {"Gateway/infra/public#web", "Gateway/infra/internal"},
	}[e.plan["parents"]]
	rules := []string{"buy", "look", ""}
	if protocol != "HTTP" {
		rules = []string{"buy"}
	}
	e.add(aged(labelled(route(kind, "shop", "cart", parents, rules), "app", "cart"), 4))
	if e.is("others", "sibling", "sibling-and-companion") {
		over, kind := parents, kind
		if protocol != "HTTP" {
			over, kind = []string{"Gateway/infra/public#plain"}, "HTTPRoute"
		}
		e.add(aged(route(kind, "shop", "blog", over, []string{"buy", ""}), 5))
	}
}

// One more policy; the settings are those of the next number, or none.
func (e *estate) policy(namespace, name string, day int, empty bool, refs ...object) object {
	e.number++
	set := object{}
	if !empty {
		set = e.settings(e.number)
	}
	p := aged(on(policy(e.kind, namespace, name, set), refs...), day)
	e.add(p)
	return p
}

func (e *estate) settings(i int) object {
	// TCPRoutes take authorization alone; every third scenario says something else all the same.
	if e.kind == "SecurityPolicy" && e.plan["route"] == "TCPRoute" && e.first%3 > 0 {
		return allowed(i)
	}
	return settings(e.kind, e.plan["settings"], e.first, i)
}

func (e *estate) day(above bool, nth int) int {
	switch e.plan["age"] {
	case "same":
		return 10
	case "below-first":
		above = !above
	}
	if above {
		return 10 + nth
	}
	return 20 + nth
}

func (e *estate) upper() {
	all := e.is("upper", "all")
	has := func(values ...string) bool { return all || e.is("upper", values...) }
	again := func(values ...string) bool { return e.is("twice", append(values, "everything")...) }
	if has("gateway", "gateway-and-listener", "gateway-and-set") {
		p := e.policy("infra", "gateway", e.day(true, 1), e.is("empty", "gateway"), targetRef("Gateway", "public", ""))
		e.refer(p, "infra", "Gateway", "tier", "public")
		if again("gateway") {
			e.policy("infra", "gateway-2", e.day(true, 2), false, targetRef("Gateway", "public", ""))
		}
	}
	if has("listener", "gateway-and-listener") {
		e.policy("infra", "listener", e.day(true, 3), e.is("empty", "listeners"), targetRef("Gateway", "public", "web"))
		if again("listener") {
			e.policy("infra", "listener-2", e.day(true, 4), false, targetRef("Gateway", "public", "web"), targetRef("Gateway", "public", "alt"))
		}
	}
	if has("set", "set-and-listener", "gateway-and-set") {
		e.policy("shop", "set", e.day(true, 5), e.is("empty", "gateway"), targetRef("ListenerSet", "extra", ""))
		if again("set") {
			e.policy("shop", "set-2", e.day(true, 6), false, targetRef("ListenerSet", "extra", ""))
		}
	}
	if has("set-listener", "set-and-listener") {
		e.policy("shop", "set-listener", e.day(true, 7), e.is("empty", "listeners"), targetRef("ListenerSet", "extra", "web"))
	}
}

func (e *estate) lower() {
	kind := e.plan["route"]
	again := func(value string) bool { return e.is("twice", value, "everything") }
	merge := func(on string) string {
		switch e.plan["merge"] {
		case "unset":
			return ""
		case "route-only":
			if on == "rule" {
				return ""
			}
			return "StrategicMerge"
		case "rule-only":
			if on == "route" {
				return ""
			}
			return "JSONMerge"
		}
		return e.plan["merge"]
	}
	if e.is("lower", "route", "route-and-rule") {
		p := e.policy("shop", "route", e.day(false, 1), e.is("empty", "route", "lower"), targetRef(kind, "cart", ""))
		merging(p, merge("route"))
		e.refer(p, "shop", kind, "app", "cart")
		if again("route") {
			merging(e.policy("shop", "route-2", e.day(false, 2), false, targetRef(kind, "cart", "")), merge("route"))
		}
	}
	if e.is("lower", "rule", "route-and-rule", "two-rules") {
		p := e.policy("shop", "rule", e.day(false, 3), e.is("empty", "rule", "lower"), targetRef(kind, "cart", "buy"))
		merging(p, merge("rule"))
		if again("rule") {
			merging(e.policy("shop", "rule-2", e.day(false, 4), false, targetRef(kind, "cart", "buy")), merge("rule"))
		}
	}
	if e.is("lower", "two-rules") && (kind == "HTTPRoute" || kind == "GRPCRoute") {
		merging(e.policy("shop", "look", e.day(false, 5), e.is("empty", "lower"), targetRef(kind, "cart", "look")), merge("rule"))
	}
}

// The references of a policy on a whole object in another form.
func (e *estate) refer(p object, namespace, kind, key, value string) {
	spec := p["spec"].(object)
	refs := spec["targetRefs"].(list)
	selector := object{"kind": kind, "matchLabels": object{key: value}}
	switch e.plan["refs"] {
	case "targetRef":
		delete(spec, "targetRefs")
		spec["targetRef"] = refs[0]
	case "several":
		other := "blog"
		if kind == "Gateway" {
			other = "internal"
		}
		spec["targetRefs"] = append(refs, targetRef(kind, other, ""))
	case "selectors":
		delete(spec, "targetRefs")
		spec["targetSelectors"] = list{selector}
	case "selectors-granted", "selectors-not-granted":
		delete(spec, "targetRefs")
		selector["namespaces"] = object{"from": "All"}
		spec["targetSelectors"] = list{selector}
		p["metadata"].(object)["namespace"] = "pay"
		if e.is("refs", "selectors-granted") {
			e.add(grant(namespace, e.kind, "pay", kind))
		}
	}
}

// Policies of another kind on the same objects, which change nothing for the first.
func (e *estate) companion() {
	if !e.is("others", "companion", "sibling-and-companion") {
		return
	}
	other := "BackendTrafficPolicy"
	if e.kind == other {
		other = "SecurityPolicy"
	}
	e.number++
	e.add(aged(on(policy(other, "infra", "companion", settings(other, "same", 0, e.number)), targetRef("Gateway", "public", "")), 6))
	kind := e.plan["route"]
	if kind != "HTTPRoute" && kind != "GRPCRoute" {
		return
	}
	e.number++
	e.add(aged(on(policy(other, "shop", "companion", settings(other, "same", 1, e.number)), targetRef(kind, "cart", "")), 6))
}

// ClientTrafficPolicies on Gateways, ListenerSets and their listeners.
func clients(name string, more int) theme {
	factors := []factor{
		{"listeners", []string{"ports", "one-port", "tcp-too", "one-port-in-sets"}},
		{"gateway", []string{"none", "one", "two", "selected", "selected-granted", "empty"}},
		{"listener", []string{"none", "one", "two", "both-listeners", "empty"}},
		{"set", []string{"none", "one", "two", "empty"}},
		{"set-listener", []string{"none", "one", "two", "empty"}},
		{"age", []string{"above-first", "below-first", "same"}},
		{"settings", []string{"same", "apart", "both"}},
		{"refs", []string{"targetRefs", "targetRef", "several"}},
	}
	return combined(name, "ClientTrafficPolicy on Gateways, ListenerSets and their listeners", "ClientTrafficPolicy", factors, more, func(e *estate) {
		e.clientTopology()
		e.clientPolicies()
	})
}

func (e *estate) clientTopology() {
	main := []listener{{"web", 8001, "HTTP", ""}, {"alt", 8002, "HTTP", ""}}
	side := []listener{{"web", 8011, "HTTP", ""}, {"side", 8012, "HTTP", ""}}
	switch e.plan["listeners"] {
	case "one-port":
		main = []listener{{"web", 8001, "HTTP", "web.example.com"}, {"alt", 8001, "HTTP", "alt.example.com"}}
	case "tcp-too":
		main = append(main, listener{"raw", 8003, "TCP", ""})
	case "one-port-in-sets":
		main[0].hostname = "web.example.com"
		side = []listener{{"web", 8001, "HTTP", "set.example.com"}, {"side", 8012, "HTTP", ""}}
	}
	e.objects = append(e.objects,
		aged(labelled(gateway("infra", "public", main), "tier", "public"), 1),
		aged(gateway("infra", "internal", []listener{{"web", 8001, "HTTP", ""}}), 2),
		aged(listenerSet("shop", "extra", "infra", "public", side), 3),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public", "ListenerSet/shop/extra"}, []string{"buy"}), 4),
	)
}

func (e *estate) clientPolicies() {
	plan := e.plan
	p := func(namespace, name string, above bool, nth int, empty bool, refs ...object) object {
		return e.policy(namespace, name, e.day(above, nth), empty, refs...)
	}
	if plan["gateway"] != "none" {
		first := p("infra", "gateway", true, 1, plan["gateway"] == "empty", targetRef("Gateway", "public", ""))
		forms := map[string]string{"selected": "selectors", "selected-granted": "selectors-granted"}
		if form, ok := forms[plan["gateway"]]; ok {
			refs := plan["refs"]
			plan["refs"] = form
			e.refer(first, "infra", "Gateway", "tier", "public")
			plan["refs"] = refs
		} else {
			e.refer(first, "infra", "Gateway", "tier", "public")
		}
	}
	if plan["gateway"] == "two" {
		p("infra", "gateway-2", true, 2, false, targetRef("Gateway", "public", ""))
	}
	switch plan["listener"] {
	case "one", "two", "empty":
		p("infra", "listener", true, 3, plan["listener"] == "empty", targetRef("Gateway", "public", "web"))
	case "both-listeners":
		p("infra", "listener", true, 3, false, targetRef("Gateway", "public", "web"), targetRef("Gateway", "public", "alt"))
	}
	if plan["listener"] == "two" {
		p("infra", "listener-2", true, 4, false, targetRef("Gateway", "public", "web"))
	}
	if plan["set"] != "none" {
		p("shop", "set", false, 1, plan["set"] == "empty", targetRef("ListenerSet", "extra", ""))
	}
	if plan["set"] == "two" {
		p("shop", "set-2", false, 2, false, targetRef("ListenerSet", "extra", ""))
	}
	if plan["set-listener"] != "none" {
		p("shop", "set-listener", false, 3, plan["set-listener"] == "empty", targetRef("ListenerSet", "extra", "web"))
	}
	if plan["set-listener"] == "two" {
		p("shop", "set-listener-2", false, 4, false, targetRef("ListenerSet", "extra", "web"))
	}
}
