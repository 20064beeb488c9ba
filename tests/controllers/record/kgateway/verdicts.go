package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

type gatewayName = types.NamespacedName

const controller = "kgateway.dev/kgateway"

func read(state []object, loaded []client.Object, results map[gatewayName]translator.ActualTestResult) (*verdicts, error) {
	said := newVerdicts()
	ctx := context.Background()
	for name, result := range results {
		for key := range result.ReportsMap.Policies {
			status := result.ReportsMap.BuildPolicyStatus(ctx, key, controller, gwapiv1.PolicyStatus{})
			policy := fmt.Sprintf("%s/%s/%s", key.Kind, key.Namespace, key.Name)
			if said.policies[policy] == nil {
				said.policies[policy] = map[string]string{}
			}
			for _, a := range status.Ancestors {
				said.policies[policy][parent(key.Namespace, a.AncestorRef)] = conditions(a.Conditions)
			}
		}
		for _, o := range loaded {
			switch o := o.(type) {
			case *gwapiv1.HTTPRoute, *gwapiv1.GRPCRoute, *gwapiv1.TCPRoute, *gwapiv1.TLSRoute:
				status := result.ReportsMap.BuildRouteStatus(ctx, o, controller)
				if status == nil || len(status.Parents) == 0 {
					continue
				}
				route := key(o.GetObjectKind().GroupVersionKind().Kind, o)
				if said.routes[route] == nil {
					said.routes[route] = map[string]string{}
				}
				for _, p := range status.Parents {
					said.routes[route][parent(o.GetNamespace(), p.ParentRef)] = conditions(p.Conditions)
				}
			case *gwapiv1.ListenerSet:
				said.ofSet(ctx, o, result)
			}
		}
		gateway := result.Gateways[name]
		if status := result.ReportsMap.BuildGWStatus(ctx, *gateway, nil); status != nil {
			for _, l := range status.Listeners {
				said.listeners[fmt.Sprintf("Gateway/%s/%s#%s", name.Namespace, name.Name, l.Name)] = conditions(l.Conditions)
			}
		}
		served := proxy{state: state, gateway: name, result: result}
		if err := served.force(said); err != nil {
			return nil, err
		}
	}
	return said, nil
}

func (v *verdicts) ofSet(ctx context.Context, set *gwapiv1.ListenerSet, result translator.ActualTestResult) {
	status := result.ReportsMap.BuildListenerSetStatus(ctx, *set)
	if status == nil {
		return
	}
	name := key("ListenerSet", set)
	v.listeners[name] = conditions(status.Conditions)
	for _, l := range status.Listeners {
		v.listeners[name+"#"+string(l.Name)] = conditions(l.Conditions)
	}
}

// A listener of a Gateway or of one of its sets.
type served struct {
	name, hostname, protocol string
	port                     int
	chain                    string
}

// The listeners of a Gateway and of its sets.
func servedBy(state []object, gateway gatewayName) (all []served) {
	for _, o := range state {
		meta := o["metadata"].(object)
		namespace, _ := meta["namespace"].(string)
		name := meta["name"].(string)
		prefix := ""
		switch o["kind"] {
		case "Gateway":
			if namespace != gateway.Namespace || name != gateway.Name {
				continue
			}
		case "ListenerSet":
			parent := o["spec"].(object)["parentRef"].(object)
			if parent["name"] != gateway.Name || parent["namespace"] != gateway.Namespace {
				continue
			}
			prefix = fmt.Sprintf("%s/%s/", namespace, name)
		default:
			continue
		}
		for _, l := range o["spec"].(object)["listeners"].(list) {
			l := l.(object)
			hostname, _ := l["hostname"].(string)
			all = append(all, served{
				name:     fmt.Sprintf("%s/%s/%s#%s", o["kind"], namespace, name, l["name"]),
				hostname: hostname, protocol: l["protocol"].(string), port: l["port"].(int),
				chain: prefix + l["name"].(string),
			})
		}
	}
	return all
}

// Of several listeners of one port, the one with the most exact hostname takes a virtual host.
func (s served) takes(domain string) int {
	switch {
	case s.hostname == "" || domain == s.hostname:
		return len(s.hostname) + 1
	case strings.HasPrefix(s.hostname, "*.") && strings.HasSuffix(domain, s.hostname[1:]):
		return len(s.hostname)
	}
	return 0
}

func parsed(text []byte) object {
	out := object{}
	if err := yaml.Unmarshal(text, &out); err != nil {
		fail(err)
	}
	return out
}
