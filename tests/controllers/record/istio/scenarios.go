package main

import "fmt"

// Where a policy stands and what it names. Without names it acts on its namespace, or by labels.
type placed struct {
	namespace string
	labels    object
	targets   []string
}

const gatewayName = "gateway.networking.k8s.io/gateway-name"

var places = map[string]placed{
	"namespace":            {"shop", nil, nil},
	"root":                 {root, nil, nil},
	"mesh":                 {"mesh", nil, nil},
	"labels":               {"shop", object{gatewayName: "public"}, nil},
	"root-labels":          {root, object{gatewayName: "public"}, nil},
	"labels-of-waypoint":   {"shop", object{gatewayName: "waypoint"}, nil},
	"labels-of-workload":   {"shop", object{"app": "backend"}, nil},
	"gateway":              {"shop", nil, []string{"Gateway/public"}},
	"waypoint":             {"shop", nil, []string{"Gateway/waypoint"}},
	"central":              {"mesh", nil, []string{"Gateway/central"}},
	"central-elsewhere":    {"shop", nil, []string{"Gateway/central"}},
	"other-class":          {"shop", nil, []string{"Gateway/foreign"}},
	"service":              {"shop", nil, []string{"Service/backend"}},
	"sibling":              {"shop", nil, []string{"Service/stock"}},
	"service-elsewhere":    {"mesh", nil, []string{"Service/backend"}},
	"service-from-root":    {root, nil, []string{"Service/backend"}},
	"no-such-service":      {"shop", nil, []string{"Service/nowhere"}},
	"entry":                {"shop", nil, []string{"ServiceEntry/rates"}},
	"class":                {root, nil, []string{"GatewayClass/istio-waypoint"}},
	"class-istio":          {root, nil, []string{"GatewayClass/istio"}},
	"class-elsewhere":      {"shop", nil, []string{"GatewayClass/istio-waypoint"}},
	"service-and-entry":    {"shop", nil, []string{"Service/backend", "ServiceEntry/rates"}},
	"service-and-gateway":  {"shop", nil, []string{"Service/backend", "Gateway/public"}},
	"service-and-waypoint": {"shop", nil, []string{"Service/backend", "Gateway/waypoint"}},
	"everything":           {"shop", nil, []string{"Service/backend", "Service/stock", "ServiceEntry/rates", "Gateway/public", "Gateway/waypoint"}},
	"route":                {"shop", nil, []string{gatewayAPI + ":HTTPRoute/cart"}},
	"istio-gateway":        {"shop", nil, []string{"networking.istio.io:Gateway/public"}},
	"gateway-no-group":     {"shop", nil, []string{":Gateway/public"}},
	"service-core":         {"shop", nil, []string{"core:Service/backend"}},
	"twice":                {"shop", nil, []string{"Service/backend", "Service/backend"}},
}

func themes() []theme {
	all := []string{
		"namespace", "root", "mesh", "labels", "root-labels", "labels-of-waypoint", "labels-of-workload", "gateway", "waypoint",
		"central", "central-elsewhere", "other-class", "service", "sibling", "service-elsewhere", "service-from-root",
		"no-such-service", "entry", "class", "class-istio", "class-elsewhere", "service-and-entry", "service-and-gateway",
		"service-and-waypoint", "everything", "route", "istio-gateway", "gateway-no-group", "service-core", "twice",
	}
	some := []string{
		"namespace", "root", "mesh", "labels", "labels-of-waypoint", "gateway", "waypoint", "central", "service",
		"service-from-root", "entry", "class", "class-istio", "class-elsewhere", "service-and-gateway", "everything",
	}
	return []theme{
		policies("authorization", "AuthorizationPolicy", all, []string{"ALLOW", "DENY", "CUSTOM", "AUDIT"}),
		policies("authentication", "RequestAuthentication", some, []string{""}),
		policies("telemetry", "Telemetry", some, []string{""}),
		policies("wasm", "WasmPlugin", some, []string{""}),
		policies("traffic-extension", "TrafficExtension", some, []string{""}),
		policies("envoy-filter", "EnvoyFilter", some, []string{""}),
		tcp("tcp", 6, []string{"RequestAuthentication", "Telemetry", "WasmPlugin", "TrafficExtension", "EnvoyFilter"}, []string{""}),
		tcp("tcp-authorization", 12, []string{"AuthorizationPolicy"}, []string{"ALLOW", "DENY", "CUSTOM", "AUDIT"}),
	}
}

// Policies of one kind, one to three a scenario.
func policies(name, kind string, where, actions []string) theme {
	factors := []factor{
		{"first", where},
		{"second", []string{"none", "namespace", "root", "gateway", "waypoint", "service", "class"}},
		{"third", []string{"none", "none", "service", "entry", "same"}},
		{"binding", []string{"service", "namespace", "namespace-but-none", "central", "central-closed", "missing", "other-class", "none"}},
		{"waypoint-for", []string{"unset", "service", "all", "workload", "none"}},
		{"age", []string{"first-first", "first-last", "same"}},
		{"empty", []string{"none", "none", "first", "second"}},
		{"action", actions},
		{"other-action", actions},
		{"settings", []string{"same", "apart"}},
		{"refs", []string{"targetRefs", "targetRefs", "targetRef"}},
	}
	return combined(name, fmt.Sprintf("%s by where it stands and what it names", kind), kind, factors, 0, func(e *estate) {
		e.topology()
		e.policies()
	})
}

func (e *estate) topology() {
	const by, of = "istio.io/use-waypoint", "istio.io/use-waypoint-namespace"
	ofNamespace, ofService := object{}, object{}
	switch e.plan["binding"] {
	case "service":
		ofService = object{by: "waypoint"}
	case "namespace":
		ofNamespace = object{by: "waypoint"}
	case "namespace-but-none":
		ofNamespace, ofService = object{by: "waypoint"}, object{by: "none"}
	case "central", "central-closed":
		ofService = object{by: "central", of: "mesh"}
	case "missing":
		ofService = object{by: "nowhere"}
	case "other-class":
		ofService = object{by: "foreign"}
	}
	e.objects = append(e.objects, namespace("shop", ofNamespace))
	waypoint := meshGateway("shop", "waypoint", "istio-waypoint", "")
	if of := e.plan["waypoint-for"]; of != "unset" {
		waypoint = labelled(waypoint, "istio.io/waypoint-for", of)
	}
	e.add(aged(waypoint, 4))
	from := "All"
	if e.plan["binding"] == "central-closed" {
		from = "Same"
	}
	e.add(aged(meshGateway("mesh", "central", "istio-waypoint", from), 5))
	if e.plan["binding"] == "other-class" || e.plan["first"] == "other-class" {
		e.add(aged(meshGateway("shop", "foreign", "other", ""), 6))
	}
	e.add(aged(service("shop", "backend", "10.96.0.11", ofService), 7))
	e.add(aged(serviceEntry("shop", "rates", ofService), 8))
}

func (e *estate) policies() {
	days := map[string][3]int{"first-first": {10, 11, 12}, "first-last": {12, 11, 10}, "same": {10, 10, 10}}[e.plan["age"]]
	e.policy("first", e.plan["first"], days[0])
	if second := e.plan["second"]; second != "none" {
		e.policy("second", second, days[1])
	}
	if third := e.plan["third"]; third == "same" {
		e.policy("third", e.plan["first"], days[2])
	} else if third != "none" {
		e.policy("third", third, days[2])
	}
}

func (e *estate) policy(name, where string, day int) {
	at := places[where]
	e.number++
	set := object{}
	if e.plan["empty"] != name {
		set = settings(e.kind, e.plan["settings"], e.first, e.number)
	}
	p := policy(e.kind, at.namespace, name, set)
	spec := p["spec"].(object)
	action := e.plan["action"]
	if name != "first" {
		action = e.plan["other-action"]
	}
	if action != "" && action != "ALLOW" {
		spec["action"] = action
	}
	if action == "CUSTOM" {
		spec["provider"] = object{"name": "authz"}
	}
	if at.labels != nil {
		spec[selectorOf(e.kind)] = object{labelsOf(e.kind): at.labels}
	}
	refs := list{}
	for _, named := range at.targets {
		refs = append(refs, target(named))
	}
	single := e.plan["refs"] == "targetRef" && len(refs) == 1 && e.kind != "EnvoyFilter" && e.kind != "TrafficExtension"
	if single {
		spec["targetRef"] = refs[0]
	} else if len(refs) > 0 {
		spec["targetRefs"] = refs
	}
	e.add(aged(p, day))
}

func selectorOf(kind string) string {
	if kind == "EnvoyFilter" {
		return "workloadSelector"
	}
	return "selector"
}

func labelsOf(kind string) string {
	if kind == "EnvoyFilter" {
		return "labels"
	}
	return "matchLabels"
}
