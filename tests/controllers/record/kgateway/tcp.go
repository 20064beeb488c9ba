package main

// Policies on Gateways and ListenerSets that have listeners for TCP and TLS, with TCPRoutes and TLSRoutes.
func tcp(name string, more int) theme {
	factors := []factor{
		{"policy", []string{"TrafficPolicy", "ListenerPolicy", "HTTPListenerPolicy"}},
		{"on", []string{"gateway", "two", "selected", "section", "gateway-and-section", "set"}},
		{"listeners", []string{"tcp", "tls", "http-and-tcp", "http-and-tls", "all"}},
		{"stand", []string{"gateway", "gateway", "set"}},
		{"routes", []string{"one", "two", "two-rules", "tcp-on-tls", "none"}},
		{"parents", []string{"whole", "listener"}},
		{"tls", []string{"passthrough", "terminate"}},
		{"hosts", []string{"none", "one", "two"}},
		{"age", []string{"above-first", "below-first"}},
		{"settings", []string{"same", "apart", "both"}},
	}
	about := "TrafficPolicy, ListenerPolicy and HTTPListenerPolicy on what has listeners for TCP and TLS"
	return combined(name, about, "", factors, more, func(e *estate) {
		e.kind = e.plan["policy"]
		e.wires()
		e.wireRoutes()
		e.onWires()
	})
}

// The listeners that are not for HTTP. Two for TLS share a port.
func (e *estate) wires() {
	var web, wires []listener
	if e.is("listeners", "http-and-tcp", "http-and-tls", "all") {
		web = append(web, listener{"web", 8001, "HTTP", ""})
	}
	if e.hasTCP() {
		wires = append(wires, listener{"feed", 9001, "TCP", ""})
	}
	if e.hasTLS() {
		host := map[string]string{"one": "*.example.com", "two": "*.example.com"}[e.plan["hosts"]]
		wires = append(wires, listener{"safe", 9443, "TLS", host})
		if e.is("hosts", "two") {
			wires = append(wires, listener{"vault", 9443, "TLS", "*.example.org"})
		}
	}
	decrypt := func(o object) object {
		if e.is("tls", "terminate") {
			return terminating(o)
		}
		return o
	}
	own := append(web, wires...)
	if e.is("stand", "set") {
		own = append(web, listener{"side", 9009, "TCP", ""})
		e.add(aged(decrypt(listenerSet("infra", "extra", "infra", "public", wires)), 2))
	}
	e.add(aged(labelled(decrypt(gateway("infra", "public", own)), "tier", "public"), 1))
}

func (e *estate) hasTCP() bool { return !e.is("listeners", "tls", "http-and-tls") }

func (e *estate) hasTLS() bool { return !e.is("listeners", "tcp", "http-and-tcp") }

func (e *estate) wireRoutes() {
	if e.is("listeners", "http-and-tcp", "http-and-tls", "all") {
		e.add(aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public#web"}, []string{"buy"}), 3))
	}
	if e.is("routes", "none") {
		return
	}
	of := "Gateway/infra/public"
	if e.is("stand", "set") {
		of = "ListenerSet/infra/extra"
	}
	rules := []string{"in"}
	if e.is("routes", "two-rules") {
		rules = append(rules, "out")
	}
	// A TCPRoute on the whole would be on listeners for TLS, too; of two that share a port one could not tell which has it.
	section := func(name string) []string {
		if e.is("parents", "whole") && !(name == "feed" && e.is("hosts", "two")) {
			return []string{of}
		}
		return []string{of + "#" + name}
	}
	if e.hasTCP() {
		e.add(aged(route("TCPRoute", "shop", "feed", section("feed"), rules), 4))
		if e.is("routes", "two") {
			e.add(aged(route("TCPRoute", "shop", "wire", section("feed"), rules), 5))
		}
	}
	if e.hasTLS() {
		e.add(aged(e.named(route("TLSRoute", "shop", "safe", section("safe"), rules)), 6))
		if e.is("routes", "two") {
			e.add(aged(e.named(route("TLSRoute", "shop", "vault", section("safe"), rules)), 7))
		}
		if e.is("routes", "tcp-on-tls") {
			day := map[string]int{"above-first": 5, "below-first": 8}[e.plan["age"]]
			e.add(aged(route("TCPRoute", "shop", "raw", []string{of + "#safe"}, rules), day))
		}
	}
}

// A TLSRoute with a hostname on each of two listeners.
func (e *estate) named(route object) object {
	if e.is("hosts", "two") {
		name := route["metadata"].(object)["name"].(string)
		route["spec"].(object)["hostnames"] = list{name + ".example.com", name + ".example.org"}
	}
	return route
}

func (e *estate) onWires() {
	public := targetRef("Gateway", "public", "")
	port, name := 9001, "feed"
	if !e.hasTCP() {
		port, name = 9443, "safe"
	}
	of := map[string]string{"gateway": "Gateway", "set": "ListenerSet"}[e.plan["stand"]]
	holder := map[string]string{"gateway": "public", "set": "extra"}[e.plan["stand"]]
	if !e.is("on", "section", "set") {
		p := e.policy("infra", "gateway", e.day(true, 1), "", public)
		if e.is("on", "selected") {
			spec := p["spec"].(object)
			delete(spec, "targetRefs")
			spec["targetSelectors"] = list{object{"group": gatewayAPI, "kind": "Gateway", "matchLabels": object{"tier": "public"}}}
		}
	}
	if e.is("on", "two") {
		e.policy("infra", "gateway-2", e.day(false, 1), "", public)
	}
	if !e.is("on", "section", "gateway-and-section", "set") {
		return
	}
	// The schemas take policies of listeners on whole Gateways alone; one of the two kinds has settings for a port.
	switch e.kind {
	case "TrafficPolicy":
		policy := "listener"
		if e.is("on", "set") {
			policy, name = e.plan["stand"]+"-2", ""
		}
		e.policy("infra", policy, e.day(false, 2), "", targetRef(of, holder, name))
	case "ListenerPolicy":
		p := e.policy("infra", "gateway-port", e.day(false, 2), "", public)
		p["spec"].(object)["perPort"] = list{object{"port": port, "listener": object{"perConnectionBufferLimitBytes": 2000 + e.number}}}
	default:
		e.policy("infra", "gateway-3", e.day(false, 2), "", public)
	}
}
