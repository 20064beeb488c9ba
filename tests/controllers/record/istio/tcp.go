package main

import "fmt"

// Where the policies of Gateways for TCP stand.
var atWires = map[string]placed{
	"namespace":   {"shop", nil, nil},
	"root":        {root, nil, nil},
	"labels":      {"shop", object{gatewayName: "wire"}, nil},
	"gateway":     {"shop", nil, []string{"Gateway/wire"}},
	"other":       {"shop", nil, []string{"Gateway/public"}},
	"both":        {"shop", nil, []string{"Gateway/wire", "Gateway/public"}},
	"elsewhere":   {"mesh", nil, []string{"Gateway/wire"}},
	"service":     {"shop", nil, []string{"Service/wires"}},
	"class-istio": {root, nil, []string{"GatewayClass/istio"}},
}

// Policies of some kinds that reach a Gateway with listeners for HTTP, TCP and TLS, with TCPRoutes and TLSRoutes.
func tcp(name string, more int, kinds, actions []string) theme {
	says := []string{"requests", "connections", "both", "either"}
	providers := []string{""}
	if len(actions) > 1 {
		says = append(says, "nothing")
		providers = []string{"authz", "authz-grpc"}
	}
	factors := []factor{
		{"policy", kinds},
		{"first", []string{"namespace", "root", "labels", "gateway", "other", "both", "elsewhere", "service", "class-istio"}},
		{"second", []string{"none", "namespace", "root", "gateway"}},
		{"says", says},
		{"other-says", says},
		{"action", actions},
		{"other-action", actions},
		{"provider", providers},
		{"listeners", []string{"tcp", "tls", "all"}},
		{"routes", []string{"one", "one", "two", "two-rules", "tcp-on-tls", "none"}},
		{"tls", []string{"passthrough", "terminate"}},
		{"hosts", []string{"none", "one", "two"}},
		{"age", []string{"first-first", "first-last"}},
	}
	about := "Policies by where they stand and what they name, and a Gateway with listeners for HTTP, TCP and TLS"
	return combined(name, about, "", factors, more, func(e *estate) {
		e.kind = e.plan["policy"]
		e.wires()
		e.wireRoutes()
		days := map[string][2]int{"first-first": {10, 11}, "first-last": {11, 10}}[e.plan["age"]]
		e.onWires("first", e.plan["first"], e.plan["says"], e.plan["action"], days[0])
		if second := e.plan["second"]; second != "none" {
			e.onWires("second", second, e.plan["other-says"], e.plan["other-action"], days[1])
		}
	})
}

func (e *estate) wires() {
	all := []listener{{"web", 80, "HTTP", ""}}
	if !e.is("listeners", "tls") {
		all = append(all, listener{"feed", 9001, "TCP", ""})
	}
	if !e.is("listeners", "tcp") {
		host := map[string]string{"one": "*.example.com", "two": "*.example.com"}[e.plan["hosts"]]
		all = append(all, listener{"safe", 9443, "TLS", host})
		if e.is("hosts", "two") {
			all = append(all, listener{"vault", 9443, "TLS", "*.example.org"})
		}
	}
	wire := gateway("shop", "wire", all)
	if e.is("tls", "terminate") {
		wire = terminating(wire)
	}
	wires := service("shop", "wires", "10.96.0.13", nil)
	spec := wires["spec"].(object)
	for port := 9000; port < 9010; port++ {
		spec["ports"] = append(spec["ports"].(list), object{"name": fmt.Sprintf("tcp-%d", port), "port": port, "protocol": "TCP"})
	}
	e.add(namespace("shop", object{}), aged(wire, 4), aged(wires, 5))
}

func (e *estate) wireRoutes() {
	if e.is("routes", "none") {
		return
	}
	port := 9000
	add := func(kind, name, section string, day int) {
		rules := []string{"in"}
		// A TLSRoute has one rule.
		if e.is("routes", "two-rules") && kind == "TCPRoute" {
			rules = append(rules, "out")
		}
		r := route(kind, "shop", name, []string{"Gateway/shop/wire#" + section}, rules)
		spec := r["spec"].(object)
		for _, rule := range spec["rules"].(list) {
			rule.(object)["backendRefs"] = list{object{"name": "wires", "port": port}}
			port++
		}
		if kind == "TLSRoute" && e.is("hosts", "two") {
			spec["hostnames"] = list{name + ".example.com", name + ".example.org"}
			spec["parentRefs"] = list{parentRef("Gateway/shop/wire")}
		}
		e.add(aged(r, day))
	}
	if !e.is("listeners", "tls") {
		add("TCPRoute", "feed", "feed", 6)
		if e.is("routes", "two") {
			add("TCPRoute", "wire", "feed", 7)
		}
	}
	if !e.is("listeners", "tcp") {
		add("TLSRoute", "safe", "safe", 7)
		if e.is("routes", "two") {
			add("TLSRoute", "vault", "safe", 8)
		}
		if e.is("routes", "tcp-on-tls") {
			add("TCPRoute", "raw", "safe", map[string]int{"first-first": 6, "first-last": 8}[e.plan["age"]])
		}
	}
}

func (e *estate) onWires(name, where, says, action string, day int) {
	at := atWires[where]
	e.number++
	p := policy(e.kind, at.namespace, name, saying(e.kind, says, e.number))
	spec := p["spec"].(object)
	if action != "" && action != "ALLOW" {
		spec["action"] = action
		if action == "CUSTOM" {
			spec["provider"] = object{"name": e.plan["provider"]}
		}
	}
	if at.labels != nil {
		spec[selectorOf(e.kind)] = object{labelsOf(e.kind): at.labels}
	}
	refs := list{}
	for _, named := range at.targets {
		refs = append(refs, target(named))
	}
	if len(refs) > 0 {
		spec["targetRefs"] = refs
	}
	e.add(aged(p, day))
}

// Settings about requests, about connections, about both at once, about either, or none.
func saying(kind, says string, i int) object {
	url := fmt.Sprintf("oci://example.org/p%d", i)
	// Without a type a plugin is for HTTP.
	plugin := map[string]object{
		"requests": {"url": url, "type": "HTTP"}, "connections": {"url": url, "type": "NETWORK"},
	}[says]
	if plugin == nil {
		plugin = object{"url": url}
	}
	switch kind {
	case "AuthorizationPolicy":
		if says == "nothing" {
			return object{}
		}
		ports := object{"to": list{object{"operation": object{"ports": list{fmt.Sprint(9000 + i)}}}}}
		paths := allowsPath(i)
		both := object{"from": list{object{"source": object{"ipBlocks": list{fmt.Sprintf("10.%d.0.0/16", i)}}}}, "to": paths["to"]}
		return object{"rules": map[string]list{"requests": {paths}, "connections": {ports}, "both": {both}, "either": {paths, ports}}[says]}
	case "RequestAuthentication":
		return object{"jwtRules": list{jwtRule(i)}}
	case "Telemetry":
		logs, traces := samples[kind][0](i), samples[kind][1](i)
		switch says {
		case "connections":
			return logs
		case "requests":
			return traces
		}
		return object{"accessLogging": logs["accessLogging"], "tracing": traces["tracing"]}
	case "WasmPlugin":
		return plugin
	case "TrafficExtension":
		if says == "either" {
			return samples[kind][1](i)
		}
		return object{"wasm": plugin}
	}
	filter := object{
		"applyTo": "NETWORK_FILTER", "match": object{"context": "GATEWAY", "listener": object{"filterChain": object{"filter": object{
			"name": "envoy.filters.network.tcp_proxy",
		}}}},
		"patch": object{"operation": "INSERT_BEFORE", "value": object{"name": fmt.Sprintf("p%d", i)}},
	}
	http := samples[kind][0](i)["configPatches"].(list)
	return object{"configPatches": map[string]list{
		"requests": http, "connections": {filter}, "both": append(http, filter), "either": append(http, filter),
	}[says]}
}
