package main

// Plain HTTP listeners that share a port: in Envoy they are one, so a ClientTrafficPolicy cannot hold for some of them.
func sharedPorts(name string) theme {
	out := theme{name: name, about: "Plain HTTP listeners that share a port, and ClientTrafficPolicies on some of them."}
	add := func(name, about string, state []object) {
		out.scenarios = append(out.scenarios, scenario{name, about, state})
	}
	p := func(namespace, name string, day, i int, refs ...object) object {
		return aged(on(policy("ClientTrafficPolicy", namespace, name, settings("ClientTrafficPolicy", "same", 0, i)), refs...), day)
	}
	gw := func(all ...listener) object { return aged(gateway("infra", "public", all), 1) }
	set := func(name string, day int, all ...listener) object {
		return aged(listenerSet("shop", name, "infra", "public", all), day)
	}
	plain := func(name string, port int, host string) listener {
		return listener{name, port, "HTTP", host + ".example.com"}
	}
	web, alt := plain("web", 8001, "web"), plain("alt", 8002, "alt")
	extra := set("extra", 2, plain("web", 8001, "extra"), plain("side", 8012, "side"))
	public := p("infra", "gateway", 10, 1, targetRef("Gateway", "public", ""))
	onSet := p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", ""))

	add("ports-set-and-gateway", "a listener of the set has the port of one of the Gateway", []object{gw(web, alt), extra, public, onSet})
	add("ports-set-older-policy", "the policy on the set is the older one", []object{gw(web, alt), extra, public,
		p("shop", "set", 9, 2, targetRef("ListenerSet", "extra", ""))})
	add("ports-set-alone", "nothing is on the Gateway", []object{gw(web, alt), extra, onSet})
	add("ports-all-of-a-set", "all listeners of the set have ports of the Gateway", []object{gw(web, alt),
		set("extra", 2, plain("web", 8001, "extra"), plain("side", 8002, "side")), public, onSet})
	add("ports-two-on-a-set", "two policies on the set", []object{gw(web, alt), extra, public, onSet,
		p("shop", "set-2", 12, 3, targetRef("ListenerSet", "extra", ""))})
	add("ports-two-on-a-whole-set", "two policies on a set of which all listeners have ports of the Gateway", []object{gw(web, alt),
		set("extra", 2, plain("web", 8001, "extra")), public, onSet,
		p("shop", "set-2", 12, 3, targetRef("ListenerSet", "extra", ""))})
	add("ports-two-sets", "two sets share a port, each has a policy", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8012, "side")),
		set("more", 3, plain("web", 8011, "more"), plain("wide", 8013, "wide")), public, onSet,
		p("shop", "more", 12, 3, targetRef("ListenerSet", "more", ""))})
	add("ports-two-sets-one-policy", "two sets share a port, one policy is on both", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8012, "side")),
		set("more", 3, plain("web", 8011, "more"), plain("wide", 8013, "wide")), public,
		p("shop", "sets", 12, 3, targetRef("ListenerSet", "extra", ""), targetRef("ListenerSet", "more", ""))})
	add("ports-set-and-its-gateway", "one policy on the set and its Gateway", []object{
		aged(gateway("shop", "public", []listener{web, alt}), 1),
		aged(listenerSet("shop", "extra", "shop", "public", []listener{plain("web", 8001, "extra"), plain("side", 8012, "side")}), 2),
		p("shop", "both", 11, 2, targetRef("ListenerSet", "extra", ""), targetRef("Gateway", "public", ""))})
	add("ports-set-and-section", "a policy on the listener of the Gateway that has the port", []object{gw(web, alt), extra, public, onSet,
		p("infra", "listener", 12, 3, targetRef("Gateway", "public", "web"))})
	add("ports-set-listener", "a policy on the listener of the set that has the port", []object{gw(web, alt), extra, public, onSet,
		p("shop", "set-listener", 12, 3, targetRef("ListenerSet", "extra", "web"))})
	add("ports-other-set-listener", "a policy on the other listener of the set", []object{gw(web, alt), extra, public, onSet,
		p("shop", "set-listener", 12, 3, targetRef("ListenerSet", "extra", "side"))})
	add("ports-within-a-set", "two listeners of one set share a port", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8011, "side")), public, onSet})
	add("ports-within-a-set-listener", "two listeners of one set share a port, one has a policy", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8011, "side")), public, onSet,
		p("shop", "set-listener", 12, 3, targetRef("ListenerSet", "extra", "web"))})
	add("ports-https", "HTTPS listeners of one port", []object{
		gw(listener{"web", 8443, "HTTPS", "web.example.com"}), public,
		set("extra", 2, listener{"web", 8443, "HTTPS", "extra.example.com"}), onSet,
		p("infra", "listener", 12, 3, targetRef("Gateway", "public", "web"))})
	add("ports-not-accepted", "the listener of the set is not accepted, for the Gateway has its port and hostname", []object{gw(web, alt),
		set("extra", 2, plain("web", 8001, "web"), plain("side", 8012, "side")), public, onSet})
	add("ports-other-not-accepted", "of two sets with the same listener the older has it", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8012, "side")),
		set("more", 3, plain("web", 8011, "extra"), plain("wide", 8013, "wide")), public, onSet,
		p("shop", "more", 12, 3, targetRef("ListenerSet", "more", ""))})
	add("ports-section-of-a-set", "a policy names a listener of the set as one of the Gateway", []object{gw(alt),
		set("extra", 2, plain("web", 8011, "extra"), plain("side", 8012, "side")), public,
		p("infra", "listener", 12, 3, targetRef("Gateway", "public", "side"))})
	return out
}
