package main

// Situations that circumstances do not combine to: what is missing, misspelt, closed or turned off from above.
func edges(name string) theme {
	out := theme{name: name, about: "What is missing, misspelt, closed, turned off or in the way."}
	web := []listener{{"web", 8001, "HTTP", ""}, {"alt", 8002, "HTTP", "*.example.com"}}
	base := func(parents ...string) []object {
		if len(parents) == 0 {
			parents = []string{"Gateway/infra/public#web"}
		}
		return []object{
			aged(gateway("infra", "public", web), 1),
			aged(labelled(route("HTTPRoute", "shop", "cart", parents, []string{"buy", "look"}), "app", "cart"), 2),
		}
	}
	add := func(name, about string, state []object) {
		out.scenarios = append(out.scenarios, scenario{"edges-" + name, about, state})
	}
	with := func(set object, namespace, name string, day int, refs ...object) object {
		return aged(on(policy("TrafficPolicy", namespace, name, set), refs...), day)
	}
	p := func(namespace, name string, day, i int, refs ...object) object {
		return with(settings("TrafficPolicy", "same", 0, i), namespace, name, day, refs...)
	}
	public := func() object { return p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")) }
	cart := targetRef("HTTPRoute", "cart", "")
	add("no-such-route", "the target is not there", append(base(), public(), p("shop", "route", 11, 2, targetRef("HTTPRoute", "carts", ""))))
	add("no-such-rule", "the rule is not there", append(base(), public(), p("shop", "rule", 11, 2, targetRef("HTTPRoute", "cart", "bye"))))
	add("no-such-listener", "the listener is not there", append(base(), public(), p("infra", "listener", 11, 2, targetRef("Gateway", "public", "wep"))))
	add("other-namespace", "the Gateway is in another namespace", append(base(), p("shop", "gateway", 11, 2, targetRef("Gateway", "public", ""))))
	add("no-such-set", "the set is not there", append(base(), public(), p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", ""))))
	add("listener-set-of-the-standard-channel", "the policy names a ListenerSet, which this release does not read", append(base(), public(),
		p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", ""))))
	add("no-such-set-listener", "the set has no such listener", append(base(), public(),
		aged(listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8011, "HTTP", ""}}), 3),
		p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", "wep"))))
	add("some-there", "one target is there and one is not", append(base(), public(), p("shop", "route", 11, 2, cart, targetRef("HTTPRoute", "carts", ""))))
	add("same-target-twice", "the policy names a target twice", append(base(), public(), p("shop", "route", 11, 2, cart, cart)))
	add("no-parent", "the parent of the route is not there", append(base("Gateway/infra/publick"), public(), p("shop", "route", 11, 2, cart)))
	add("no-parent-listener", "the parent has no such listener", append(base("Gateway/infra/public#wep"), public(), p("shop", "route", 11, 2, cart)))
	add("hostname", "the hostnames of the route fit no listener", []object{
		aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", "other.example.org"}}), 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy", "look"}), 2), public(),
		p("shop", "route", 11, 2, cart)})
	add("three", "three policies of one route", append(base(), public(), p("shop", "c", 13, 2, cart), p("shop", "b", 12, 3, cart), p("shop", "a", 14, 4, cart)))
	add("weights", "the heaviest of three stands", append(base(), public(),
		annotated(p("shop", "c", 12, 2, cart), weight, "-1"), annotated(p("shop", "b", 14, 3, cart), weight, "10"),
		annotated(p("shop", "a", 13, 4, cart), weight, "9")))
	add("weight-that-is-no-number", "the weight of a policy is no number", append(base(), public(), annotated(p("shop", "route", 11, 2, cart), weight, "heavy")))
	add("weight-does-not-cross-levels", "a light policy of a rule, a heavy one of the route", append(base(), annotated(public(), weight, "90"),
		annotated(p("shop", "route", 12, 2, cart), weight, "80"), annotated(p("shop", "rule", 11, 3, targetRef("HTTPRoute", "cart", "buy")), weight, "-5")))
	for _, of := range []string{"extAuth", "jwtAuth", "cors", "basicAuth", "apiKeyAuth", "buffer", "extProc"} {
		first := 0
		for i, sample := range samples["TrafficPolicy"] {
			if _, ok := sample(1)[of]; ok {
				first = i
			}
		}
		set := func(i int) object { return settings("TrafficPolicy", "same", first, i) }
		gatewayRef, web, rule := targetRef("Gateway", "public", ""), targetRef("Gateway", "public", "web"), targetRef("HTTPRoute", "cart", "buy")
		add("off-on-a-rule-"+of, "a rule turns off what the Gateway asks for", append(base(),
			with(set(1), "infra", "gateway", 10, gatewayRef), with(off[of], "shop", "rule", 11, rule)))
		add("off-on-the-gateway-"+of, "the Gateway turns off what a route asks for", append(base(),
			with(off[of], "infra", "gateway", 10, gatewayRef), with(set(1), "shop", "route", 11, cart)))
		add("off-on-the-listener-"+of, "the listener turns off what the Gateway and a route ask for", append(base(),
			with(set(1), "infra", "gateway", 9, gatewayRef), with(off[of], "infra", "listener", 10, web), with(set(2), "shop", "route", 11, cart)))
		add("off-on-the-route-"+of, "the route turns off, its rule asks for another", append(base(),
			with(set(1), "infra", "gateway", 9, gatewayRef), with(off[of], "shop", "route", 10, cart), with(set(2), "shop", "rule", 11, rule)))
	}
	for _, of := range []string{"extAuth", "jwtAuth", "extProc"} {
		ref := map[string]string{"extAuth": "auth%d", "jwtAuth": "jwt%d", "extProc": "proc%d"}[of]
		add("provider-that-is-missing-"+of, "the policy names a provider that is not there", append(base(), public(),
			with(object{of: object{"extensionRef": object{"name": "nobody"}}}, "shop", "route", 11, cart)))
		add("three-providers-"+of, "Gateway, listener and route name different providers", append(base(),
			with(object{of: extensionRef(ref, 1)}, "infra", "gateway", 10, targetRef("Gateway", "public", "")),
			with(object{of: extensionRef(ref, 2)}, "infra", "listener", 11, targetRef("Gateway", "public", "web")),
			with(object{of: extensionRef(ref, 3)}, "shop", "route", 12, cart)))
		add("one-provider-"+of, "Gateway and route name the same provider", append(base(),
			with(object{of: extensionRef(ref, 1)}, "infra", "gateway", 10, targetRef("Gateway", "public", "")),
			with(object{of: extensionRef(ref, 1)}, "shop", "route", 12, cart)))
	}
	both := with(object{"rateLimit": object{
		"local":  settings("TrafficPolicy", "same", 3, 1)["rateLimit"].(object)["local"],
		"global": settings("TrafficPolicy", "same", 5, 1)["rateLimit"].(object)["global"],
	}}, "infra", "gateway", 10, targetRef("Gateway", "public", ""))
	add("limits-of-two-sorts", "the Gateway has both limits, the route one of them", append(base(), both,
		with(settings("TrafficPolicy", "same", 3, 2), "shop", "route", 11, cart)))
	add("limits-of-two-sorts-on-a-route", "two policies of a route have a limit each", append(base(),
		with(settings("TrafficPolicy", "same", 3, 2), "shop", "route", 11, cart), with(settings("TrafficPolicy", "same", 5, 3), "shop", "route-2", 12, cart)))
	named := base()
	named[1]["spec"].(object)["rules"].(list)[0].(object)["filters"] = list{object{
		"type": "ExtensionRef", "extensionRef": object{"group": "gateway.kgateway.dev", "kind": "TrafficPolicy", "name": "named"},
	}}
	filter := aged(policy("TrafficPolicy", "shop", "named", settings("TrafficPolicy", "same", 0, 5)), 12)
	add("named-by-a-filter", "a filter of a rule names a policy without targets", append(named, public(), filter))
	add("named-by-a-filter-and-on-the-route", "a filter of a rule names a policy, another is on the route", append(named, public(), filter, p("shop", "route", 11, 2, cart)))
	closed := gateway("infra", "public", web)
	closed["spec"].(object)["allowedListeners"] = object{"namespaces": object{"from": "None"}}
	add("closed-to-sets", "the Gateway takes no sets", []object{aged(closed, 1),
		aged(listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8011, "HTTP", ""}}), 3),
		aged(route("HTTPRoute", "shop", "cart", []string{"ListenerSet/shop/extra"}, []string{"buy"}), 4), public(),
		p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", "")), p("shop", "route", 12, 3, cart)})
	same := gateway("infra", "public", web)
	for _, l := range same["spec"].(object)["listeners"].(list) {
		l.(object)["allowedRoutes"] = object{"namespaces": object{"from": "Same"}}
	}
	add("routes-of-the-own-namespace", "the listeners take routes of their own namespace alone", []object{aged(same, 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 2), public(), p("shop", "route", 12, 3, cart)})
	add("one-port-two-hosts", "two listeners of one port, a policy on one", []object{
		aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", "cart.example.com"}, {"alt", 8001, "HTTP", "blog.example.com"}}), 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 2),
		aged(route("HTTPRoute", "shop", "blog", []string{"Gateway/infra/public"}, []string{"buy"}), 3), public(),
		p("infra", "listener", 11, 2, targetRef("Gateway", "public", "web"))})
	foreign := gateway("infra", "public", web)
	foreign["spec"].(object)["gatewayClassName"] = "other"
	add("gateway-of-another-class", "a Gateway of a class of another controller", []object{aged(foreign, 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 2), public(), p("shop", "route", 12, 3, cart)})
	add("http-and-grpc-on-a-host", "an HTTPRoute and a GRPCRoute of one hostname", []object{aged(gateway("infra", "public", web), 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public#web"}, []string{"buy"}), 2),
		aged(route("GRPCRoute", "shop", "cart", []string{"Gateway/infra/public#web"}, []string{"buy"}), 3), public(), p("shop", "route", 12, 3, cart)})
	return out
}
