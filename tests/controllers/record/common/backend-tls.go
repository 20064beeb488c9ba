package main

// Adds two BackendTLSPolicies, which `tls` makes, on the Services till and stock: those of the plan.
func (e *estate) backendTLSPolicies(tls func(name string, day int, refs ...object) object) {
	days := map[string][2]int{"first-is-older": {10, 11}, "second-is-older": {11, 10}, "same": {10, 10}}[e.plan["age"]]
	service := func(name, section string) object { return targetRef("Service", name, section) }
	first := map[string][]object{
		"service":      {service("till", "")},
		"port":         {service("till", "http")},
		"other-port":   {service("till", "tcp")},
		"port-number":  {service("till", "8080")},
		"both-ports":   {service("till", "http"), service("till", "tcp")},
		"two-services": {service("till", ""), service("stock", "")},
		"group-core":   {object{"group": "core", "kind": "Service", "name": "till"}},
		"missing":      {service("tills", "")},
	}[e.plan["first"]]
	e.add(tls("first", days[0], first...))
	switch e.plan["second"] {
	case "service":
		e.add(tls("second", days[1], service("till", "")))
	case "port":
		e.add(tls("second", days[1], service("till", "http")))
	case "other-service":
		e.add(tls("second", days[1], service("stock", "")))
	}
}
