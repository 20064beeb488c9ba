package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/ir"
)

// What was said of a state: conditions by object and parent, and what is in force by listener, route and rule.
type verdicts struct {
	policies  map[string]map[string]string
	routes    map[string]map[string]string
	listeners map[string]string
	inForce   map[string]object
}

func read(result *gatewayapi.TranslateResult) (*verdicts, error) {
	said := &verdicts{
		policies:  map[string]map[string]string{},
		routes:    map[string]map[string]string{},
		listeners: map[string]string{},
		inForce:   map[string]object{},
	}
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

type named interface {
	GetNamespace() string
	GetName() string
}

func (v *verdicts) policy(kind string, p named, ancestors []gwapiv1.PolicyAncestorStatus) {
	by := map[string]string{}
	for _, a := range ancestors {
		by[parent(p.GetNamespace(), a.AncestorRef)] = conditions(a.Conditions)
	}
	v.policies[fmt.Sprintf("%s/%s/%s", kind, p.GetNamespace(), p.GetName())] = by
}

func (v *verdicts) route(kind string, r named, parents []gwapiv1.RouteParentStatus) {
	by := map[string]string{}
	for _, p := range parents {
		by[parent(r.GetNamespace(), p.ParentRef)] = conditions(p.Conditions)
	}
	v.routes[fmt.Sprintf("%s/%s/%s", kind, r.GetNamespace(), r.GetName())] = by
}

func parent(namespace string, ref gwapiv1.ParentReference) string {
	kind := "Gateway"
	if ref.Kind != nil {
		kind = string(*ref.Kind)
	}
	if ref.Namespace != nil {
		namespace = string(*ref.Namespace)
	}
	name := fmt.Sprintf("%s/%s/%s", kind, namespace, ref.Name)
	if ref.SectionName != nil {
		name += "#" + string(*ref.SectionName)
	}
	if ref.Port != nil {
		name += ":" + strconv.Itoa(int(*ref.Port))
	}
	return name
}

// `Accepted` is short for `Accepted=True/Accepted`; a reason that only repeats the type is left out.
func conditions(all []metav1.Condition) string {
	parts := make([]string, 0, len(all))
	for _, c := range all {
		part := c.Type
		if c.Status != metav1.ConditionTrue || c.Reason != c.Type {
			part += "=" + string(c.Status)
			if c.Reason != c.Type {
				part += "/" + c.Reason
			}
		}
		parts = append(parts, part)
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
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
	}
	return nil
}

// One rule has several routes, one for each host and match: the same is in force on all of them.
func (v *verdicts) in(where string, settings object) error {
	if before, ok := v.inForce[where]; ok && flow(before) != flow(settings) {
		return fmt.Errorf("%s: %s is in force, and %s too", where, flow(before), flow(settings))
	}
	v.inForce[where] = settings
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

func (v *verdicts) write(out *strings.Builder) {
	byParent := func(title string, all map[string]map[string]string) {
		fmt.Fprintf(out, "  %s:\n", title)
		for _, name := range sorted(all) {
			parents := object{}
			for parent, conditions := range all[name] {
				parents[parent] = conditions
			}
			fmt.Fprintf(out, "    %s: %s\n", text(name), flow(parents))
		}
	}
	byParent("policies", v.policies)
	byParent("routes", v.routes)
	out.WriteString("  listeners:\n")
	for _, name := range sorted(v.listeners) {
		if !fine[v.listeners[name]] {
			fmt.Fprintf(out, "    %s: %s\n", text(name), text(v.listeners[name]))
		}
	}
	out.WriteString("  inForce:\n")
	for _, name := range sorted(v.inForce) {
		// Rules are listed with nothing too: there they are, and nothing protects them.
		if len(v.inForce[name]) == 0 && !strings.Contains(name, " ") {
			continue
		}
		fmt.Fprintf(out, "    %s: %s\n", text(name), flow(v.inForce[name]))
	}
}

// What is said of most Gateways' listeners, ListenerSets and their listeners, and left out.
var fine = map[string]bool{
	"Accepted Programmed ResolvedRefs":                              true,
	"Accepted Programmed":                                           true,
	"Accepted Conflicted=False/NoConflicts Programmed ResolvedRefs": true,
}

func sorted[T any](all map[string]T) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
