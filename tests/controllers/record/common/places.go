package main

import "fmt"

// A rule of a route at a listener.
type placeOfRule struct {
	// `Gateway/infra/public#web HTTPRoute/infra/cart#buy`; a rule without a name has its number.
	name string
	// The listener, the route and the rule.
	listener, route, rule object
}

// The rules of the routes of a state at the listeners of the Gateways and ListenerSets that they name: each has a hostname for all of them.
func placesOfRules(objects []object) (places []placeOfRule) {
	listeners := map[string]list{}
	for _, o := range objects {
		if o["kind"] == "Gateway" || o["kind"] == "ListenerSet" {
			own := o["metadata"].(object)
			listeners[fmt.Sprintf("%s/%s/%s", o["kind"], own["namespace"], own["name"])] = o["spec"].(object)["listeners"].(list)
		}
	}
	for _, o := range objects {
		if o["kind"] != "HTTPRoute" && o["kind"] != "GRPCRoute" {
			continue
		}
		spec, own := o["spec"].(object), o["metadata"].(object)
		for _, ref := range spec["parentRefs"].(list) {
			ref := ref.(object)
			kind, ok := ref["kind"]
			if !ok {
				kind = "Gateway"
			}
			parent := fmt.Sprintf("%s/%s/%s", kind, ref["namespace"], ref["name"])
			for _, l := range listeners[parent] {
				l := l.(object)
				if section, ok := ref["sectionName"]; ok && section != l["name"] {
					continue
				}
				for i, rule := range spec["rules"].(list) {
					rule := rule.(object)
					label, ok := rule["name"]
					if !ok {
						label = fmt.Sprintf("rule-%d", i+1)
					}
					places = append(places, placeOfRule{
						name:     fmt.Sprintf("%s#%s %s/%s/%s#%s", parent, l["name"], o["kind"], own["namespace"], own["name"], label),
						listener: l, route: o, rule: rule,
					})
				}
			}
		}
	}
	return places
}
