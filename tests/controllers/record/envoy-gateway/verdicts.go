package main

import (
	"fmt"
	"strings"

	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/ir"
)

func read(result *gatewayapi.TranslateResult) (*verdicts, error) {
	said := newVerdicts()
	for _, p := range result.SecurityPolicies {
		said.policy("SecurityPolicy", p, p.Status.Ancestors)
	}
	for _, p := range result.BackendTrafficPolicies {
		said.policy("BackendTrafficPolicy", p, p.Status.Ancestors)
	}
	for _, p := range result.ClientTrafficPolicies {
		said.policy("ClientTrafficPolicy", p, p.Status.Ancestors)
	}
	for _, p := range result.EnvoyExtensionPolicies {
		said.policy("EnvoyExtensionPolicy", p, p.Status.Ancestors)
	}
	for _, p := range result.BackendTLSPolicies {
		said.policy("BackendTLSPolicy", p, p.Status.Ancestors)
	}
	for _, r := range result.HTTPRoutes {
		said.route("HTTPRoute", r, r.Status.Parents)
	}
	for _, r := range result.GRPCRoutes {
		said.route("GRPCRoute", r, r.Status.Parents)
	}
	for _, r := range result.TLSRoutes {
		said.route("TLSRoute", r, r.Status.Parents)
	}
	for _, r := range result.TCPRoutes {
		said.route("TCPRoute", r, r.Status.Parents)
	}
	for _, r := range result.UDPRoutes {
		said.route("UDPRoute", r, r.Status.Parents)
	}
	for _, g := range result.Gateways {
		for _, l := range g.Status.Listeners {
			name := fmt.Sprintf("Gateway/%s/%s#%s", g.Namespace, g.Name, l.Name)
			said.listeners[name] = conditions(l.Conditions)
		}
	}
	for _, s := range result.ListenerSets {
		said.listeners[fmt.Sprintf("ListenerSet/%s/%s", s.Namespace, s.Name)] = conditions(s.Status.Conditions)
		for _, l := range s.Status.Listeners {
			name := fmt.Sprintf("ListenerSet/%s/%s#%s", s.Namespace, s.Name, l.Name)
			said.listeners[name] = conditions(l.Conditions)
		}
	}
	for _, xds := range result.XdsIR {
		if err := said.force(xds); err != nil {
			return nil, err
		}
	}
	return said, nil
}

// What is in force on every listener and rule of the translated configuration.
func (v *verdicts) force(xds *ir.Xds) error {
	for _, l := range xds.HTTP {
		listener := listenerName(l.Name)
		if err := v.in(listener, clientHTTP(l)); err != nil {
			return err
		}
		for _, r := range l.Routes {
			where := listener + " " + ruleOf(r.Metadata, r.Name)
			settings := object{}
			security(settings, r.Security)
			traffic(settings, r.Traffic)
			extensions(settings, r.EnvoyExtensions)
			if r.DirectResponse != nil && r.DirectResponse.StatusCode != nil {
				settings["response"] = int(*r.DirectResponse.StatusCode)
			}
			if err := v.in(where, settings); err != nil {
				return err
			}
			if err := v.backends(r.Destination); err != nil {
				return err
			}
		}
	}
	for _, l := range xds.TCP {
		listener := listenerName(l.Name)
		if err := v.in(listener, clientTCP(l)); err != nil {
			return err
		}
		for _, r := range l.Routes {
			where := listener + " " + ruleOf(r.Destination.Metadata, r.Destination.Name)
			settings := object{}
			authorization(settings, r.Authorization)
			circuitBreaker(settings, r.CircuitBreaker)
			timeout(settings, r.Timeout)
			keepalive(settings, r.TCPKeepalive)
			loadBalancer(settings, r.LoadBalancer)
			if err := v.in(where, settings); err != nil {
				return err
			}
			if err := v.backends(r.Destination); err != nil {
				return err
			}
		}
	}
	for _, l := range xds.UDP {
		if l.Route == nil {
			continue
		}
		where := listenerName(l.Name) + " " + ruleOf(l.Route.Destination.Metadata, l.Route.Destination.Name)
		settings := object{}
		loadBalancer(settings, l.Route.LoadBalancer)
		if err := v.in(where, settings); err != nil {
			return err
		}
		if err := v.backends(l.Route.Destination); err != nil {
			return err
		}
	}
	return nil
}

// `NAMESPACE/GATEWAY/LISTENER`, or `NAMESPACE/GATEWAY/NAMESPACE/SET/LISTENER`.
func listenerName(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) == 5 {
		return fmt.Sprintf("ListenerSet/%s/%s#%s", parts[2], parts[3], parts[4])
	}
	return fmt.Sprintf("Gateway/%s/%s#%s", parts[0], parts[1], parts[2])
}

// The rule by its name, else by its place: `HTTPRoute/shop/cart#buy`, `HTTPRoute/shop/cart[1]`.
func ruleOf(m *ir.ResourceMetadata, name string) string {
	route := fmt.Sprintf("%s/%s/%s", m.Kind, m.Namespace, m.Name)
	if m.SectionName != "" {
		return route + "#" + m.SectionName
	}
	parts := strings.Split(name, "/")
	if len(parts) > 4 && parts[3] == "rule" && parts[4] != "-1" {
		return fmt.Sprintf("%s[%s]", route, parts[4])
	}
	return route
}
