package main

// How a rule finds the routes that it delegates to, and which requests it hands on to them.
func delegationEdges(name string) theme {
	out := theme{name: name, about: "How a rule of an HTTPRoute finds the routes that it delegates to, and which requests it hands on to them."}
	add := func(name, about string, objects ...object) {
		public := aged(gateway("infra", "public", []listener{{"web", 8001, "HTTP", ""}, {"alt", 8002, "HTTP", ""}}), 1)
		state := append([]object{public}, objects...)
		day := 10
		for _, o := range objects {
			// Every route has a policy with settings of its own.
			if o["kind"] == "HTTPRoute" {
				m := o["metadata"].(object)
				set := settings("TrafficPolicy", "same", len(out.scenarios)%2*2, day-8)
				state = append(state, aged(on(policy("TrafficPolicy", m["namespace"].(string), m["name"].(string), set), targetRef("HTTPRoute", m["name"].(string), "")), day))
				day++
			}
		}
		out.scenarios = append(out.scenarios, scenario{name, about, state})
	}
	named := func(name, about string, objects ...object) { add("delegation-edges-"+name, about, objects...) }

	ref := func(namespace, name string) object {
		return object{"group": gatewayAPI, "kind": "HTTPRoute", "name": name, "namespace": namespace}
	}
	byLabel := func(namespace, value string) object {
		return object{"group": "delegation.kgateway.dev", "kind": "label", "name": value, "namespace": namespace}
	}
	backends := func(o object, rule int, refs ...object) object {
		all := list{}
		for _, r := range refs {
			all = append(all, r)
		}
		o["spec"].(object)["rules"].(list)[rule].(object)["backendRefs"] = all
		return o
	}
	matches := func(o object, rule int, all ...object) object {
		found := list{}
		for _, m := range all {
			found = append(found, m)
		}
		o["spec"].(object)["rules"].(list)[rule].(object)["matches"] = found
		return o
	}
	path := func(kind, value string) object { return object{"path": object{"type": kind, "value": value}} }
	with := func(m object, key string, value any) object {
		m[key] = value
		return m
	}
	header := func(name, value string) list { return list{object{"name": name, "value": value}} }
	shops := func(refs ...object) object {
		parent := route("HTTPRoute", "infra", "shops", []string{"Gateway/infra/public#web"}, []string{"carts", "rest"})
		return aged(backends(parent, 0, refs...), 2)
	}
	cart := func() object { return aged(below("shop", "cart", "/0/cart"), 3) }
	till := func(prefix string) object { return aged(below("pay", "till", prefix), 4) }
	toParent := func(o object, parents ...string) object {
		refs := list{}
		for _, p := range parents {
			r := parentRef(p)
			r["group"] = gatewayAPI
			refs = append(refs, r)
		}
		o["spec"].(object)["parentRefs"] = refs
		return o
	}
	label := func(o object, value string) object { return labelled(o, "delegation.kgateway.dev/label", value) }
	inherit := func(o object, value string) object {
		return annotated(o, "delegation.kgateway.dev/inherit-parent-matcher", value)
	}

	named("all-of-a-namespace", "the rule delegates to all routes of a namespace", shops(ref("shop", "*")), cart(), aged(below("shop", "blog", "/0/blog"), 5), till("/0/till"))
	named("all-but-those-with-other-parents", "one route of the namespace has another parent", shops(ref("shop", "*")), cart(),
		toParent(aged(below("shop", "blog", "/0/blog"), 5), "HTTPRoute/infra/other"))
	named("by-label", "the rule delegates to the routes with a label", shops(byLabel("shop", "carts")), label(cart(), "carts"),
		label(aged(below("shop", "blog", "/0/blog"), 5), "blogs"), label(till("/0/till"), "carts"))
	named("by-label-anywhere", "the rule delegates to the routes with a label in all namespaces", shops(byLabel("all", "carts")), label(cart(), "carts"), label(till("/0/till"), "carts"))
	named("missing", "the route is not there", shops(ref("shop", "cart")))
	named("missing-beside-another", "one of two routes is not there", shops(ref("shop", "cart"), ref("pay", "till")), cart())
	named("two-routes", "the rule delegates to two routes", shops(ref("shop", "cart"), ref("pay", "till")), cart(), till("/0/till"))
	named("beside-a-service", "the rule has a Service as a backend, too", shops(ref("shop", "cart"), object{"name": "backend", "port": 8080}), cart())
	named("with-hostnames", "the route below has a hostname", shops(ref("shop", "cart")), func() object {
		child := cart()
		child["spec"].(object)["hostnames"] = list{"cart.example.com"}
		return child
	}())
	named("other-parent", "the route below has another parent", shops(ref("shop", "cart")), toParent(cart(), "HTTPRoute/infra/other"))
	named("parent-of-two", "the route below has two parents", shops(ref("shop", "cart")), toParent(cart(), "HTTPRoute/infra/other", "HTTPRoute/infra/shops"))
	named("gateway-too", "the route below is attached to a listener, too", shops(ref("shop", "cart")), toParent(cart(), "Gateway/infra/public#alt", "HTTPRoute/infra/shops"))
	named("gateway-alone", "the route below is attached to a listener, and does not name the route above", shops(ref("shop", "cart")), toParent(cart(), "Gateway/infra/public#alt"))
	named("two-above", "two routes delegate to one", shops(ref("shop", "cart")), aged(backends(route("HTTPRoute", "pay", "malls", []string{"Gateway/infra/public#alt"}, []string{"carts", "rest"}), 0, ref("shop", "cart")), 5), cart())
	named("detached", "the route above is attached nowhere", toParent(shops(ref("shop", "cart")), "Gateway/infra/missing"), cart())
	named("three-deep", "the route below delegates to another, and that to a third", shops(ref("shop", "cart")), backends(cart(), 0, ref("pay", "till")),
		backends(till("/0/cart0/till"), 0, ref("pay", "coin")), aged(below("pay", "coin", "/0/cart0/till0/coin"), 5))
	named("cycle", "two routes delegate to each other", shops(ref("shop", "cart")), backends(cart(), 0, ref("pay", "till")),
		backends(till("/0/cart0/till"), 0, ref("shop", "cart")))
	named("to-itself", "a route delegates to itself", shops(ref("shop", "cart")), backends(cart(), 0, ref("shop", "cart")))
	named("all-of-its-own-namespace", "a route without parents delegates to all routes of its namespace", shops(ref("shop", "cart")), backends(cart(), 0, ref("shop", "*")), aged(below("shop", "blog", "/0/cart0/blog"), 5))
	named("all-of-its-own-namespace-with-parent", "a route with a parent delegates to all routes of its namespace", shops(ref("shop", "cart")), backends(toParent(cart(), "HTTPRoute/infra/shops"), 0, ref("shop", "*")), aged(below("shop", "blog", "/0/cart0/blog"), 5))
	named("cycle-beside-another", "of two routes that a rule delegates to, one leads back", shops(ref("shop", "cart")), backends(cart(), 0, ref("pay", "till"), ref("infra", "shops")), till("/0/cart0/till"))
	named("some-outside", "one rule of the route below has a path outside that of the rule above", shops(ref("shop", "cart")), matches(cart(), 1, path("PathPrefix", "/1/cart")))
	named("all-outside", "no rule of the route below has a path below that of the rule above", shops(ref("shop", "cart")), till("/1/till"), matches(matches(cart(), 0, path("PathPrefix", "/1/a")), 1, path("PathPrefix", "/1/b")))
	named("prefix-of-a-word", "a path goes on in the middle of a word", shops(ref("shop", "cart")), matches(cart(), 0, path("PathPrefix", "/0cart")))
	named("exact-above", "the rule above has an exact path", matches(shops(ref("shop", "cart")), 0, path("Exact", "/0/cart0")), cart())
	named("exact-below", "the rules below have other types of paths", shops(ref("shop", "cart")), matches(matches(cart(), 0, path("Exact", "/0/buy")), 1, path("RegularExpression", "/0/look.*")))
	// The API server fills in this match where a rule has none.
	root := path("PathPrefix", "/")
	named("root-below", "a rule below matches every path", shops(ref("shop", "cart")), matches(cart(), 0, root))
	named("root-everywhere", "the rule above and one below match every path", matches(shops(ref("shop", "cart")), 0, root), matches(cart(), 0, root))
	named("header-above", "the rule above asks for a header, one below does, too", matches(shops(ref("shop", "cart")), 0, with(path("PathPrefix", "/0"), "headers", header("x-team", "web"))),
		matches(cart(), 0, with(path("PathPrefix", "/0/cart0"), "headers", header("x-team", "web"))))
	named("other-header-below", "a rule below asks for another value of the header", matches(shops(ref("shop", "cart")), 0, with(path("PathPrefix", "/0"), "headers", header("x-team", "web"))),
		matches(matches(cart(), 0, with(path("PathPrefix", "/0/cart0"), "headers", header("x-team", "app"))), 1, with(path("PathPrefix", "/0/cart1"), "headers", list{object{"name": "x-team", "value": "web"}, object{"name": "x-stage", "value": "a"}})))
	named("query-and-method", "the rule above asks for a parameter and a method", matches(shops(ref("shop", "cart")), 0, with(with(path("PathPrefix", "/0"), "queryParams", header("q", "1")), "method", "GET")),
		matches(matches(cart(), 0, with(with(path("PathPrefix", "/0/cart0"), "queryParams", header("q", "1")), "method", "GET")), 1, with(path("PathPrefix", "/0/cart1"), "queryParams", header("q", "1"))))
	named("two-matches-above", "the rule above has two matches, and each has rules below", matches(shops(ref("shop", "cart")), 0, path("PathPrefix", "/a"), path("PathPrefix", "/b")),
		matches(matches(cart(), 0, path("PathPrefix", "/a/x")), 1, path("PathPrefix", "/b/x"), path("PathPrefix", "/c")))
	named("inherited-matches", "the route below takes over the matches above", shops(ref("shop", "cart")), inherit(matches(matches(cart(), 0, path("PathPrefix", "/x")), 1, path("Exact", "/y")), "true"))
	named("inherited-matches-exact", "the route below takes over an exact path", matches(shops(ref("shop", "cart")), 0, path("Exact", "/0")), inherit(matches(cart(), 0, path("PathPrefix", "/x")), "Yes"))
	named("inherited-matches-otherwise", "the annotation has another value", shops(ref("shop", "cart")), inherit(matches(cart(), 0, path("PathPrefix", "/x")), "sure"))
	named("inherited-matches-twice", "two routes below each other take over the matches above", shops(ref("shop", "cart")), inherit(backends(matches(cart(), 0, path("PathPrefix", "/x")), 0, ref("pay", "till")), "true"),
		inherit(matches(till("/q"), 0, path("PathPrefix", "/y")), "enabled"))
	named("below-inherited-matches", "a route below one that takes over matches", shops(ref("shop", "cart")), inherit(backends(matches(cart(), 0, path("PathPrefix", "/x")), 0, ref("pay", "till")), "true"),
		matches(matches(till("/q"), 0, path("PathPrefix", "/x/y")), 1, path("PathPrefix", "/0/x/y")))
	return out
}
