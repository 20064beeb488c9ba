package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// What was said of a state: conditions by object and parent, and what is in force by listener, route and rule.
type verdicts struct {
	policies  map[string]map[string]string
	routes    map[string]map[string]string
	listeners map[string]string
	inForce   map[string]object
}

func newVerdicts() *verdicts {
	return &verdicts{
		policies:  map[string]map[string]string{},
		routes:    map[string]map[string]string{},
		listeners: map[string]string{},
		inForce:   map[string]object{},
	}
}

type named interface {
	GetNamespace() string
	GetName() string
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
	if ref.Kind != nil && *ref.Kind != "" {
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

// One rule has several routes, one for each host and match: the same is in force on all of them.
func (v *verdicts) in(where string, settings object) error {
	if before, ok := v.inForce[where]; ok && flow(before) != flow(settings) {
		return fmt.Errorf("%s: %s is in force, and %s too", where, flow(before), flow(settings))
	}
	v.inForce[where] = settings
	return nil
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

func sorted[T any](all map[string]T) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// What is said of most Gateways' listeners, ListenerSets and their listeners, and left out.
var fine = map[string]bool{
	"Accepted Programmed ResolvedRefs":                              true,
	"Accepted Programmed":                                           true,
	"Accepted Conflicted=False/NoConflicts Programmed ResolvedRefs": true,
}
