package main

import (
	"fmt"
	"strings"
)

func themes() []theme {
	return []theme{
		edges("edges"),
		delegation("delegation", 6),
		delegationEdges("delegation-edges"),
		traffic("traffic", 20),
		listenersOf("http-listener", "HTTPListenerPolicy", 2),
		listenersOf("listener", "ListenerPolicy", 2),
		backends("backend-config", 2, "yes", "no"),
		backendTLS("backend-tls", 6, "HTTPRoute", "GRPCRoute"),
		tcp("tcp", 6),
		backends("tcp-backend-config", 6, "TCPRoute", "TLSRoute"),
		backendTLS("tcp-backend-tls", 6, "TCPRoute", "TLSRoute"),
	}
}

// One more policy; the settings are those of the next number, or none, or what turns the first setting off.
func (e *estate) policy(namespace, name string, day int, how string, refs ...object) object {
	e.number++
	set := object{}
	switch how {
	case "":
		set = settings(e.kind, e.plan["settings"], e.first, e.number)
	case "off":
		for name := range settings(e.kind, "same", e.first, e.number) {
			set = off[name]
		}
	}
	if _, ok := set["retry"]; ok && strings.HasPrefix(name, "gateway") {
		// The schema takes this from listeners and routes alone.
		set = settings(e.kind, "same", 0, e.number)
	}
	p := aged(on(policy(e.kind, namespace, name, set), refs...), day)
	e.add(p)
	return p
}

// Policies that are to be merged are of different ages: the controller does not order those of one age.
func (e *estate) day(above bool, nth int) int {
	if e.is("age", "below-first") {
		above = !above
	}
	if above {
		return 8 + nth
	}
	return 18 + nth
}

// TrafficPolicies on all that stands over a route and on the route.
func traffic(name string, more int) theme {
	factors := []factor{
		{"route", []string{"HTTPRoute", "HTTPRoute", "HTTPRoute", "GRPCRoute"}},
		{"parents", []string{"gateway", "listener", "two-listeners", "set", "set-listener", "gateway-and-set", "two-gateways"}},
		{"upper", []string{"none", "gateway", "listener", "gateway-and-listener", "set", "set-listener", "set-and-listener", "gateway-and-set", "all"}},
		{"lower", []string{"none", "route", "rule", "route-and-rule", "two-rules"}},
		{"empty", []string{"none", "gateway", "listeners", "route", "rule", "lower"}},
		{"off", []string{"none", "none", "gateway", "listeners", "route", "rule"}},
		{"age", []string{"above-first", "below-first"}},
		{"twice", []string{"none", "gateway", "listener", "set", "route", "rule", "everything"}},
		{"weight", []string{"none", "second", "first", "negative"}},
		{"refs", []string{"targetRefs", "several", "selectors", "selectors-elsewhere"}},
		{"settings", []string{"same", "apart", "both"}},
	}
	return combined(name, "TrafficPolicy on Gateways, ListenerSets, their listeners, HTTPRoutes and their rules", "TrafficPolicy", factors, more, func(e *estate) {
		e.topology()
		e.upper()
		e.lower()
	})
}

func (e *estate) topology() {
	kind := e.plan["route"]
	e.add(aged(labelled(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}, {"alt", 8002, "HTTP", ""}}), "tier", "public"), 1))
	if e.is("parents", "two-gateways") {
		e.add(aged(gateway("infra", "internal", []listener{{"web", 8001, "HTTP", ""}}), 2))
	}
	if e.is("parents", "set", "set-listener", "gateway-and-set") || e.is("upper", "set", "set-listener", "set-and-listener", "gateway-and-set", "all") {
		e.add(aged(listenerSet("shop", "extra", "infra", "public", []listener{
			{"web", 8011, "HTTP", ""}, {"side", 8012, "HTTP", ""},
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
	e.add(aged(labelled(route(kind, "shop", "cart", parents, []string{"buy", "look", ""}), "app", "cart"), 4))
}

// How a policy at a level is written, and whether it weighs more or less than others there.
func (e *estate) how(level string) string {
	switch {
	case e.is("empty", level):
		return "empty"
	case e.is("off", level):
		return "off"
	}
	return ""
}

func (e *estate) again(values ...string) bool { return e.is("twice", append(values, "everything")...) }

// Gives the first or the second of two policies of a level its weight.
func (e *estate) weigh(first, second object) {
	switch e.plan["weight"] {
	case "second":
		annotated(second, weight, "5")
	case "first":
		annotated(first, weight, "7")
	case "negative":
		annotated(first, weight, "-3")
	}
}

const weight = "kgateway.dev/policy-weight"

func (e *estate) upper() {
	has := func(values ...string) bool { return e.is("upper", append(values, "all")...) }
	if has("gateway", "gateway-and-listener", "gateway-and-set") {
		p := e.policy("infra", "gateway", e.day(true, 1), e.how("gateway"), targetRef("Gateway", "public", ""))
		e.refer(p, "Gateway", "tier", "public")
		if e.again("gateway") {
			e.weigh(p, e.policy("infra", "gateway-2", e.day(true, 2), "", targetRef("Gateway", "public", "")))
		}
	}
	if has("listener", "gateway-and-listener") {
		p := e.policy("infra", "listener", e.day(true, 3), e.how("listeners"), targetRef("Gateway", "public", "web"))
		if e.again("listener") {
			e.weigh(p, e.policy("infra", "listener-2", e.day(true, 4), "", targetRef("Gateway", "public", "web"), targetRef("Gateway", "public", "alt")))
		}
	}
	if has("set", "set-and-listener", "gateway-and-set") {
		p := e.policy("shop", "set", e.day(true, 5), e.how("gateway"), targetRef("ListenerSet", "extra", ""))
		if e.again("set") {
			e.weigh(p, e.policy("shop", "set-2", e.day(true, 6), "", targetRef("ListenerSet", "extra", "")))
		}
	}
	if has("set-listener", "set-and-listener") {
		e.policy("shop", "set-listener", e.day(true, 7), e.how("listeners"), targetRef("ListenerSet", "extra", "web"))
	}
}

func (e *estate) lower() {
	// The schema takes policies on HTTPRoutes alone.
	if !e.is("route", "HTTPRoute") {
		return
	}
	how := func(level string) string {
		if e.is("empty", "lower") {
			return "empty"
		}
		return e.how(level)
	}
	cart := func(section string) object { return targetRef("HTTPRoute", "cart", section) }
	if e.is("lower", "route", "route-and-rule") {
		p := e.policy("shop", "route", e.day(false, 1), how("route"), cart(""))
		e.refer(p, "HTTPRoute", "app", "cart")
		if e.again("route") {
			e.weigh(p, e.policy("shop", "route-2", e.day(false, 2), "", cart("")))
		}
	}
	if e.is("lower", "rule", "route-and-rule", "two-rules") {
		p := e.policy("shop", "rule", e.day(false, 3), how("rule"), cart("buy"))
		if e.again("rule") {
			e.weigh(p, e.policy("shop", "rule-2", e.day(false, 4), "", cart("buy")))
		}
	}
	if e.is("lower", "two-rules") {
		e.policy("shop", "look", e.day(false, 5), how("rule"), cart("look"))
	}
}

// The references of a policy on a whole object in another form.
func (e *estate) refer(p object, kind, key, value string) {
	spec := p["spec"].(object)
	refs := spec["targetRefs"].(list)
	switch e.plan["refs"] {
	case "several":
		other := "blog"
		if kind == "Gateway" {
			other = "internal"
		}
		spec["targetRefs"] = append(refs, targetRef(kind, other, ""))
	case "selectors", "selectors-elsewhere":
		delete(spec, "targetRefs")
		spec["targetSelectors"] = list{object{"group": gatewayAPI, "kind": kind, "matchLabels": object{key: value}}}
		if e.is("refs", "selectors-elsewhere") {
			p["metadata"].(object)["namespace"] = "pay"
		}
	}
}

// HTTPRoutes that delegate to others, with policies on both.
func delegation(name string, more int) theme {
	factors := []factor{
		{"depth", []string{"one", "one", "two"}},
		{"priority", []string{"none", "ShallowMergePreferChild", "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent"}},
		{"on", []string{"route", "gateway"}},
		{"parent", []string{"none", "route", "rule", "route-and-rule"}},
		{"child", []string{"none", "route", "rule", "route-and-rule"}},
		{"gateway", []string{"none", "gateway", "listener"}},
		{"empty", []string{"none", "parent", "child"}},
		{"off", []string{"none", "none", "parent", "child"}},
		{"age", []string{"above-first", "below-first"}},
		{"child-parents", []string{"none", "route"}},
		{"settings", []string{"same", "apart", "both"}},
	}
	return combined(name, "HTTPRoutes that delegate to others, and TrafficPolicies on both", "TrafficPolicy", factors, more, func(e *estate) {
		e.delegate()
	})
}

const priority = "kgateway.dev/inherited-policy-priority"

func (e *estate) delegate() {
	public := aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}}), 1)
	parent := delegating(route("HTTPRoute", "infra", "shops", []string{"Gateway/infra/public"}, []string{"carts", "rest"}), 0, "shop", "cart")
	if !e.is("priority", "none") {
		on := map[string]object{"route": parent, "gateway": public}[e.plan["on"]]
		annotated(on, priority, e.plan["priority"])
	}
	e.add(public, aged(parent, 2))
	child := below("shop", "cart", "/0/cart")
	e.add(aged(child, 3))
	if e.is("depth", "two") {
		delegating(child, 0, "pay", "till")
		e.add(aged(below("pay", "till", "/0/cart0/till"), 4))
		if e.is("priority", "ShallowMergePreferParent", "DeepMergePreferChild") {
			annotated(child, priority, e.plan["priority"])
		}
	}
	if e.is("child-parents", "route") {
		// Without a group kgateway does not take it for the parent.
		ref := parentRef("HTTPRoute/infra/shops")
		ref["group"] = gatewayAPI
		child["spec"].(object)["parentRefs"] = list{ref}
	}
	how := func(level string) string { return e.how(level) }
	switch e.plan["gateway"] {
	case "gateway":
		e.policy("infra", "gateway", 6, "", targetRef("Gateway", "public", ""))
	case "listener":
		e.policy("infra", "listener", 6, "", targetRef("Gateway", "public", "web"))
	}
	if e.is("parent", "route", "route-and-rule") {
		e.policy("infra", "shops", e.day(true, 1), how("parent"), targetRef("HTTPRoute", "shops", ""))
	}
	if e.is("parent", "rule", "route-and-rule") {
		e.policy("infra", "carts", e.day(true, 2), how("parent"), targetRef("HTTPRoute", "shops", "carts"))
	}
	if e.is("child", "route", "route-and-rule") {
		e.policy("shop", "cart", e.day(false, 1), how("child"), targetRef("HTTPRoute", "cart", ""))
	}
	if e.is("child", "rule", "route-and-rule") {
		e.policy("shop", "buy", e.day(false, 2), how("child"), targetRef("HTTPRoute", "cart", "buy"))
	}
	if e.is("depth", "two") {
		e.policy("pay", "till", e.day(false, 3), "", targetRef("HTTPRoute", "till", ""))
	}
}

// A route that others delegate to: no hostnames, paths below those of the rule.
func below(namespace, name, path string) object {
	child := route("HTTPRoute", namespace, name, nil, []string{"buy", "look"})
	spec := child["spec"].(object)
	delete(spec, "parentRefs")
	delete(spec, "hostnames")
	for i, r := range spec["rules"].(list) {
		r.(object)["matches"] = list{object{"path": object{"type": "PathPrefix", "value": fmt.Sprintf("%s%d", path, i)}}}
	}
	return child
}

// Policies of listeners on Gateways.
func listenersOf(name, kind string, more int) theme {
	factors := []factor{
		{"gateway", []string{"one", "two", "three", "selected", "empty-and-one"}},
		{"set", []string{"no", "yes", "same-port"}},
		{"other", []string{"none", "other-gateway", "other-kind", "missing-too"}},
		{"age", []string{"above-first", "below-first"}},
		{"settings", []string{"same", "apart", "both"}},
		{"port", []string{"none", "first", "second", "both"}},
		{"weight", []string{"none", "second"}},
	}
	if kind != "ListenerPolicy" {
		factors = append(factors[:5], factors[6:]...)
	}
	return combined(name, kind+" on Gateways", kind, factors, more, func(e *estate) {
		e.listeners()
	})
}

func (e *estate) listeners() {
	e.add(aged(labelled(gateway("infra", "public", []listener{{"web", 8001, "HTTP", "*.example.com"}, {"alt", 8002, "HTTP", "alt.example.com"}}), "tier", "public"), 1))
	parents := []string{"Gateway/infra/public"}
	if !e.is("set", "no") {
		port := 8011
		if e.is("set", "same-port") {
			port = 8002
		}
		e.add(aged(listenerSet("infra", "extra", "infra", "public", []listener{{"side", port, "HTTP", "side.example.com"}}), 3))
		parents = append(parents, "ListenerSet/infra/extra")
	}
	if e.is("other", "other-gateway") {
		e.add(aged(gateway("infra", "internal", []listener{{"web", 8001, "HTTP", ""}}), 2))
		parents = append(parents, "Gateway/infra/internal")
	}
	cart := route("HTTPRoute", "shop", "cart", parents, []string{"buy"})
	cart["spec"].(object)["hostnames"] = list{"side.example.com", "alt.example.com"}
	e.add(aged(cart, 4))
	refs := []object{targetRef("Gateway", "public", "")}
	switch e.plan["other"] {
	case "other-gateway":
		refs = append(refs, targetRef("Gateway", "internal", ""))
	case "missing-too":
		refs = append(refs, targetRef("Gateway", "missing", ""))
	case "other-kind":
		// With a setting that the others do not have.
		other, set := "HTTPListenerPolicy", object{"defaultHostForHttp10": "old.example.com", "acceptHttp10": true}
		if e.kind == other {
			other, set = "ListenerPolicy", object{"default": object{"perConnectionBufferLimitBytes": 5000}}
		}
		e.add(aged(on(policy(other, "infra", "other", set), refs[0]), 5))
	}
	how := ""
	if e.is("gateway", "empty-and-one") {
		how = "empty"
	}
	first := e.policy("infra", "first", e.day(true, 1), how, refs...)
	if e.is("gateway", "selected") {
		spec := first["spec"].(object)
		delete(spec, "targetRefs")
		spec["targetSelectors"] = list{object{"group": gatewayAPI, "kind": "Gateway", "matchLabels": object{"tier": "public"}}}
	}
	e.perPort(first, e.is("port", "first", "both"))
	if e.is("gateway", "two", "three", "selected", "empty-and-one") {
		second := e.policy("infra", "second", e.day(false, 1), "", targetRef("Gateway", "public", ""))
		e.perPort(second, e.is("port", "second", "both"))
		e.weigh(first, second)
	}
	if e.is("gateway", "three") {
		e.policy("infra", "third", e.day(false, 3), "", targetRef("Gateway", "public", ""))
	}
}

// What a policy says of one port: that counts there, and not what it says of all.
func (e *estate) perPort(p object, wanted bool) {
	if !wanted {
		return
	}
	e.number++
	set := settings(e.kind, "same", e.first+e.number, e.number)
	p["spec"].(object)["perPort"] = list{object{"port": 8002, "listener": set["default"]}}
}

// BackendConfigPolicies on Services.
func backends(name string, more int, routes ...string) theme {
	factors := []factor{
		{"service", []string{"one", "two", "three", "empty-and-one"}},
		{"refs", []string{"targetRefs", "several", "missing-too", "selectors"}},
		{"route", routes},
		{"age", []string{"above-first", "below-first"}},
		{"weight", []string{"none", "second"}},
		{"settings", []string{"same", "apart", "both"}},
	}
	return combined(name, "BackendConfigPolicy on Services", "BackendConfigPolicy", factors, more, func(e *estate) {
		e.backend()
	})
}

func (e *estate) backend() {
	kind := e.plan["route"]
	if e.is("route", "yes", "no") {
		kind = "HTTPRoute"
	}
	e.add(aged(gateway("infra", "public", []listener{{"web", 8001, protocolFor[kind], ""}}), 1))
	e.add(aged(labelled(service("shop", "till"), "app", "till"), 2))
	if !e.is("route", "no") {
		cart := route(kind, "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"})
		cart["spec"].(object)["rules"].(list)[0].(object)["backendRefs"] = list{object{"name": "till", "port": 8080}}
		e.add(aged(cart, 4))
	}
	refs := []object{targetRef("Service", "till", "")}
	switch e.plan["refs"] {
	case "several":
		refs = append(refs, targetRef("Service", "other", ""))
	case "missing-too":
		refs = append(refs, targetRef("Service", "missing", ""))
	}
	how := ""
	if e.is("service", "empty-and-one") {
		how = "empty"
	}
	first := e.policy("shop", "first", e.day(true, 1), how, refs...)
	if e.is("refs", "selectors") {
		spec := first["spec"].(object)
		delete(spec, "targetRefs")
		spec["targetSelectors"] = list{object{"group": "", "kind": "Service", "matchLabels": object{"app": "till"}}}
	}
	if e.is("service", "two", "three", "empty-and-one") {
		second := e.policy("shop", "second", e.day(false, 1), "", targetRef("Service", "till", ""))
		e.weigh(first, second)
	}
	if e.is("service", "three") {
		e.policy("shop", "third", e.day(false, 3), "", targetRef("Service", "till", ""))
	}
}
