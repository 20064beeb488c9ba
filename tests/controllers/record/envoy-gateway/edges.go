package main

// Situations that circumstances do not combine to: what is missing, misspelt, closed or shadowed.
func edges(name string) theme {
	out := theme{name: name, about: "What is missing, misspelt, closed or in the way."}
	kinds := []string{"SecurityPolicy", "BackendTrafficPolicy", "EnvoyExtensionPolicy"}
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
	for _, kind := range kinds {
		short := map[string]string{"SecurityPolicy": "security", "BackendTrafficPolicy": "backend-traffic", "EnvoyExtensionPolicy": "extension"}[kind]
		p := func(namespace, name string, day, i int, refs ...object) object {
			return aged(on(policy(kind, namespace, name, settings(kind, "same", 0, i)), refs...), day)
		}
		public := p("infra", "gateway", 10, 1, targetRef("Gateway", "public", ""))
		add(short+"-no-such-route", "the target is not there", append(base(), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "carts", ""))))
		add(short+"-no-such-rule", "the rule is not there", append(base(), public,
			p("shop", "rule", 11, 2, targetRef("HTTPRoute", "cart", "bye"))))
		add(short+"-no-such-listener", "the listener is not there", append(base(), public,
			p("infra", "listener", 11, 2, targetRef("Gateway", "public", "wep"))))
		add(short+"-other-namespace", "the Gateway is in another namespace", append(base(),
			p("shop", "gateway", 11, 2, targetRef("Gateway", "public", ""))))
		add(short+"-no-such-set", "the ListenerSet is not there", append(base(), public,
			p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", ""))))
		add(short+"-set-without-gateway", "the Gateway of the ListenerSet is not there", append(base(), public,
			aged(listenerSet("shop", "extra", "infra", "publick", []listener{{"web", 8011, "HTTP", ""}}), 3),
			p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", ""))))
		add(short+"-no-such-set-listener", "the ListenerSet has no such listener", append(base(), public,
			aged(listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8011, "HTTP", ""}}), 3),
			p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", "wep"))))
		add(short+"-some-there", "one target is there and one is not", append(base(), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""), targetRef("HTTPRoute", "carts", ""))))
		add(short+"-conflict-on-one", "conflicted on one target and not on the other", append(base(), public,
			aged(route("HTTPRoute", "shop", "blog", []string{"Gateway/infra/public#web"}, []string{"buy"}), 3),
			p("shop", "first", 11, 2, targetRef("HTTPRoute", "cart", "")),
			p("shop", "second", 12, 3, targetRef("HTTPRoute", "cart", ""), targetRef("HTTPRoute", "blog", ""))))
		add(short+"-hostname", "the hostnames of the route fit no listener", append([]object{
			aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", "other.example.org"}}), 1),
			aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy", "look"}), 2)}, public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""))))
		add(short+"-no-parent", "the parent of the route is not there", append(base("Gateway/infra/publick"), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""))))
		add(short+"-no-parent-listener", "the parent has no such listener", append(base("Gateway/infra/public#wep"), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""))))
		add(short+"-three", "the oldest of three stands", append(base(), public,
			p("shop", "c", 13, 2, targetRef("HTTPRoute", "cart", "")),
			p("shop", "b", 12, 3, targetRef("HTTPRoute", "cart", "")),
			p("shop", "a", 14, 4, targetRef("HTTPRoute", "cart", ""))))
		add(short+"-tie", "of one age: the name decides", append(base(), public,
			p("shop", "b", 12, 3, targetRef("HTTPRoute", "cart", "")),
			p("shop", "a", 12, 4, targetRef("HTTPRoute", "cart", ""))))
		add(short+"-rule-without-name", "rule-1 is a name that only Kubernetes objects with names have", append([]object{
			aged(gateway("infra", "public", web), 1),
			aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public#web"}, []string{"", ""}), 2)}, public,
			p("shop", "rule", 11, 2, targetRef("HTTPRoute", "cart", "rule-1"))))
		add(short+"-merge-without-parent", "a merge without anything above it", append(base(),
			merging(p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", "")), "StrategicMerge")))
		add(short+"-merge-conflicted-parent", "the merge is with the oldest of the Gateway", append(base(), public,
			p("infra", "gateway-2", 9, 5, targetRef("Gateway", "public", "")),
			merging(p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", "")), "StrategicMerge")))
		add(short+"-two-routes-one-policy", "one policy on two routes of two parents", append(base("Gateway/infra/public#web", "Gateway/infra/public#alt"), public,
			aged(route("GRPCRoute", "shop", "rpc", []string{"Gateway/infra/public#alt"}, []string{"buy"}), 3),
			merging(p("shop", "routes", 11, 2, targetRef("HTTPRoute", "cart", ""), targetRef("GRPCRoute", "rpc", "")), "JSONMerge")))
		add(short+"-same-target-twice", "one target is named twice", append(base(), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""), targetRef("HTTPRoute", "cart", ""))))
		add(short+"-whole-and-rule", "one policy on a route and on its rule", append(base(), public,
			p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", ""), targetRef("HTTPRoute", "cart", "buy"))))
	}
	rejected(add, base)
	unusual(add)
	return out
}

// Policies that the controller rejects for what they say.
func rejected(add func(string, string, []object), base func(...string) []object) {
	gatewayJWT := func() object {
		return aged(on(policy("SecurityPolicy", "infra", "gateway", settings("SecurityPolicy", "same", 0, 1)), targetRef("Gateway", "public", "")), 10)
	}
	onCart := func(kind string, set object) object {
		return aged(on(policy(kind, "shop", "route", set), targetRef("HTTPRoute", "cart", "")), 11)
	}
	noKeys := object{"apiKeyAuth": object{
		"credentialRefs": list{object{"name": "no-keys"}}, "extractFrom": list{object{"headers": list{"x-p2"}}},
	}}
	add("security-no-such-secret", "the Secret of the keys is not there", append(base(), gatewayJWT(), onCart("SecurityPolicy", noKeys)))
	add("security-no-such-secret-above", "the Secret of the Gateway's keys is not there", append(base(),
		aged(on(policy("SecurityPolicy", "infra", "gateway", noKeys), targetRef("Gateway", "public", "")), 10)))
	add("security-no-such-service", "the Service that authorizes is not there", append(base(), gatewayJWT(), onCart("SecurityPolicy", object{
		"extAuth": object{"http": object{"backendRefs": list{object{"name": "no-authz", "port": 8080}}, "path": "/p2"}},
	})))
	add("security-fail-open", "the Service that authorizes is not there, and that does not matter", append(base(), gatewayJWT(), onCart("SecurityPolicy", object{
		"extAuth": object{"failOpen": true, "http": object{"backendRefs": list{object{"name": "no-authz", "port": 8080}}, "path": "/p2"}},
	})))
	add("backend-traffic-two-limits", "two local limits without selectors", append(base(), onCart("BackendTrafficPolicy", object{
		"rateLimit": object{"local": object{"rules": list{
			object{"limit": object{"requests": 1, "unit": "Minute"}}, object{"limit": object{"requests": 2, "unit": "Minute"}},
		}}},
	})))
	add("extension-lua-syntax", "Lua that cannot be read", append(base(), onCart("EnvoyExtensionPolicy", object{
		"lua": list{object{"type": "Inline", "inline": "function envoy_on_response(h"}},
	})))
}

// States in which other rules of Gateway API decide.
func unusual(add func(string, string, []object)) {
	p := func(namespace, name string, day, i int, refs ...object) object {
		return aged(on(policy("SecurityPolicy", namespace, name, allowed(i)), refs...), day)
	}
	closed := listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8011, "HTTP", ""}})
	gw := gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}})
	gw["spec"].(object)["allowedListeners"] = object{"namespaces": object{"from": "None"}}
	add("listener-set-not-allowed", "the Gateway takes no ListenerSets", []object{aged(gw, 1), aged(closed, 2),
		aged(route("HTTPRoute", "shop", "cart", []string{"ListenerSet/shop/extra"}, []string{"buy"}), 3),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", "")),
	})
	add("two-tcp-routes", "two TCPRoutes on one listener", []object{
		aged(gateway("infra", "public", []listener{{"raw", 9000, "TCP", ""}}), 1),
		aged(route("TCPRoute", "shop", "db", []string{"Gateway/infra/public#raw"}, []string{"buy"}), 2),
		aged(route("TCPRoute", "shop", "cache", []string{"Gateway/infra/public#raw"}, []string{"buy"}), 3),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "cache", 11, 2, targetRef("TCPRoute", "cache", "")),
	})
	add("two-tls-routes", "two TLSRoutes on one listener, a policy on the Gateway", []object{
		aged(gateway("infra", "public", []listener{{"tls", 9443, "TLS", ""}}), 1),
		aged(route("TLSRoute", "shop", "db", []string{"Gateway/infra/public#tls"}, []string{"buy"}), 2),
		aged(route("TLSRoute", "shop", "cache", []string{"Gateway/infra/public#tls"}, []string{"buy"}), 3),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
	})
	add("conflicting-protocols", "HTTP and TCP on one port", []object{
		aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}, {"raw", 8001, "TCP", ""}}), 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public#web"}, []string{"buy"}), 2),
		aged(route("TCPRoute", "shop", "db", []string{"Gateway/infra/public#raw"}, []string{"buy"}), 2),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "route", 11, 2, targetRef("HTTPRoute", "cart", "")),
	})
	add("set-conflicts-with-gateway", "a ListenerSet whose only listener the Gateway has", []object{
		aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}}), 1),
		aged(listenerSet("shop", "extra", "infra", "public", []listener{{"web", 8001, "HTTP", ""}}), 2),
		aged(route("HTTPRoute", "shop", "cart", []string{"ListenerSet/shop/extra"}, []string{"buy"}), 3),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "set", 11, 2, targetRef("ListenerSet", "extra", "")),
		p("shop", "route", 12, 3, targetRef("HTTPRoute", "cart", "")),
	})
	add("http-and-grpc-on-a-host", "an HTTPRoute and a GRPCRoute of one hostname", []object{
		aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}}), 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 2),
		aged(route("GRPCRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 3),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "http", 11, 2, targetRef("HTTPRoute", "cart", "")),
		p("shop", "grpc", 11, 3, targetRef("GRPCRoute", "cart", "")),
	})
	foreign := aged(gateway("infra", "foreign", []listener{{"web", 8001, "HTTP", ""}}), 1)
	foreign["spec"].(object)["gatewayClassName"] = "other"
	add("gateway-of-another-class", "a Gateway of a class of another controller", []object{foreign,
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/foreign"}, []string{"buy"}), 2),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "foreign", "")),
		p("shop", "route", 12, 3, targetRef("HTTPRoute", "cart", "")),
	})
	same := gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}})
	same["spec"].(object)["listeners"].(list)[0].(object)["allowedRoutes"] = object{"namespaces": object{"from": "Same"}}
	add("routes-of-the-own-namespace", "the listener takes routes of its own namespace alone", []object{aged(same, 1),
		aged(route("HTTPRoute", "shop", "cart", []string{"Gateway/infra/public"}, []string{"buy"}), 2),
		p("infra", "gateway", 10, 1, targetRef("Gateway", "public", "")),
		p("shop", "route", 12, 3, targetRef("HTTPRoute", "cart", "")),
	})
}
