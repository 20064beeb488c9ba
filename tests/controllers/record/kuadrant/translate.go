package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kuadrant/policy-machinery/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	kuadrantv1 "github.com/kuadrant/kuadrant-operator/api/v1"
	kuadrantv1alpha1 "github.com/kuadrant/kuadrant-operator/api/v1alpha1"
	kuadrantv1beta1 "github.com/kuadrant/kuadrant-operator/api/v1beta1"
	controllers "github.com/kuadrant/kuadrant-operator/internal/controller"
)

// Where the settings of each kind are in the effective policy. `*` is every entry of a map or list.
var recorded = map[string]map[string]string{
	"AuthPolicy": {
		"authentication": "rules.authentication.*.jwt.issuerUrl",
		"authorization":  "rules.authorization.*.opa.rego",
		"metadata":       "rules.metadata.*.http.url",
		"auth.when":      "when.*.predicate",
	},
	"RateLimitPolicy":      {"limits": "limits.*.rates.*.limit", "limits.when": "when.*.predicate"},
	"TokenRateLimitPolicy": {"tokens": "limits.*.rates.*.limit", "tokens.when": "when.*.predicate"},
}

func typed(kind string) controller.Object {
	switch kind {
	case "GatewayClass":
		return &gwapiv1.GatewayClass{}
	case "Gateway":
		return &gwapiv1.Gateway{}
	case "HTTPRoute":
		return &gwapiv1.HTTPRoute{}
	case "GRPCRoute":
		return &gwapiv1.GRPCRoute{}
	case "AuthPolicy":
		return &kuadrantv1.AuthPolicy{}
	case "RateLimitPolicy":
		return &kuadrantv1.RateLimitPolicy{}
	case "TokenRateLimitPolicy":
		return &kuadrantv1alpha1.TokenRateLimitPolicy{}
	case "Kuadrant":
		return &kuadrantv1beta1.Kuadrant{}
	}
	return nil
}

func translate(objects []object) (*verdicts, error) {
	said := newVerdicts()
	kuadrant := object{"apiVersion": "kuadrant.io/v1beta1", "kind": "Kuadrant", "metadata": meta("kuadrant-system", "kuadrant")}
	var all []controller.Object
	for _, o := range append([]object{kuadrant}, objects...) {
		into := typed(o["kind"].(string))
		if into == nil {
			continue
		}
		text, err := json.Marshal(withStatus(o))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		all = append(all, into)
	}
	accepted, paths, err := controllers.Record(all)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		kind := o["kind"].(string)
		if recorded[kind] == nil {
			continue
		}
		name := o["metadata"].(object)
		locator := fmt.Sprintf("%s.kuadrant.io:%s/%s", strings.ToLower(kind), name["namespace"], name["name"])
		target := o["spec"].(object)["targetRef"].(object)
		at := fmt.Sprintf("%s/%s/%s", target["kind"], name["namespace"], target["name"])
		if section, ok := target["sectionName"]; ok {
			at += "#" + section.(string)
		}
		condition := accepted[locator]
		said.policies[fmt.Sprintf("%s/%s/%s", kind, name["namespace"], name["name"])] = map[string]string{
			at: conditions([]metav1.Condition{condition}),
		}
	}
	for _, place := range placesOfRules(objects) {
		said.inForce[place.name] = object{}
	}
	for _, p := range paths {
		place := fmt.Sprintf("Gateway/%s %s/%s", name(p.Path[2]), kindOf(p.Path[3]), name(p.Path[4]))
		settings, ok := said.inForce[place]
		if !ok {
			return nil, fmt.Errorf("no rule at %s", place)
		}
		var spec any
		if err := json.Unmarshal(p.Spec, &spec); err != nil {
			return nil, err
		}
		for setting, path := range recorded[p.Kind] {
			if values := collect(spec, strings.Split(path, ".")); len(values) > 0 {
				settings[setting] = values
			}
		}
	}
	return said, nil
}

// An object with the status that Kuadrant asks for: programmed Gateways and accepted routes.
func withStatus(o object) object {
	condition := func(kind string) object {
		return object{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
	}
	out := object{}
	for key, value := range o {
		out[key] = value
	}
	switch o["kind"] {
	case "Gateway":
		states := list{}
		for _, l := range o["spec"].(object)["listeners"].(list) {
			states = append(states, object{
				"name": l.(object)["name"], "attachedRoutes": 1, "supportedKinds": list{}, "conditions": list{condition("Accepted"), condition("Programmed")},
			})
		}
		out["status"] = object{"listeners": states, "conditions": list{condition("Accepted"), condition("Programmed")}}
	case "HTTPRoute", "GRPCRoute":
		parents := list{}
		for _, ref := range o["spec"].(object)["parentRefs"].(list) {
			parents = append(parents, object{"parentRef": ref, "controllerName": controllerName, "conditions": list{condition("Accepted")}})
		}
		out["status"] = object{"parents": parents}
	}
	return out
}

// `infra/public#web` of a locator `gateway.gateway.networking.k8s.io:infra/public#web`.
func name(locator string) string {
	_, name, _ := strings.Cut(locator, ":")
	return name
}

func kindOf(locator string) string {
	if strings.HasPrefix(locator, "grpcroute") {
		return "GRPCRoute"
	}
	return "HTTPRoute"
}

func collect(value any, path []string) list {
	if len(path) == 0 {
		return list{value}
	}
	out := list{}
	switch value := value.(type) {
	case object:
		for _, key := range sorted(value) {
			if path[0] == "*" || path[0] == key {
				out = append(out, collect(value[key], path[1:])...)
			}
		}
	case list:
		for _, item := range value {
			out = append(out, collect(item, path[1:])...)
		}
	}
	return out
}

// Nothing is stored otherwise than it is written.
func stored(o object) object { return o }
