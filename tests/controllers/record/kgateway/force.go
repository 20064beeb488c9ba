package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	envoyroute "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

// The configuration of the proxy of a Gateway.
type proxy struct {
	state   []object
	gateway gatewayName
	result  translator.ActualTestResult
}

// What is in force on every listener, rule and Service of the translated configuration.
func (p proxy) force(said *verdicts) error {
	served := servedBy(p.state, p.gateway)
	filters := map[string]map[string]bool{}
	for _, l := range p.result.Proxy.Listeners {
		config := fields(l)
		for _, chain := range items(config, "filterChains") {
			manager := object{}
			for _, filter := range items(chain, "filters") {
				switch filter["name"] {
				case "envoy.filters.network.http_connection_manager":
					manager = filter["typedConfig"].(object)
				case "envoy.filters.network.tcp_proxy":
				default:
					return fmt.Errorf("the filter %s is not known", filter["name"])
				}
			}
			if len(manager) == 0 {
				if err := p.onChain(said, served, config, chain); err != nil {
					return err
				}
				continue
			}
			name, _ := chain["name"].(string)
			filters[name] = map[string]bool{}
			for _, filter := range items(manager, "httpFilters") {
				filters[name][filter["name"].(string)] = true
			}
			for _, listener := range served {
				if name == listener.routes() {
					if err := said.in(listener.name, p.client(config, manager)); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, routes := range p.result.Proxy.Routes {
		for _, host := range routes.VirtualHosts {
			listener, ok := taker(served, routes.Name, host.Domains[0])
			if !ok {
				return fmt.Errorf("no listener has virtual host %s", host.Name)
			}
			if err := p.onHost(said, listener, filters[routes.Name], routes, host); err != nil {
				return err
			}
		}
	}
	for _, cluster := range p.result.Clusters {
		parts := strings.Split(cluster.Name, "_")
		if len(parts) != 4 || parts[0] != "kube" {
			continue
		}
		where := fmt.Sprintf("Service/%s/%s", parts[1], parts[2])
		settings := backend(fields(cluster))
		if hasBackendTLS(p.state) {
			where += "#" + parts[3]
			settings = object{}
			for _, name := range texts(fields(cluster), "transportSocket.typedConfig.sni") {
				settings["hostname"] = name
			}
		}
		if err := said.in(where, settings); err != nil {
			return err
		}
	}
	return nil
}

// The route configuration that has the virtual hosts of a listener.
func (s served) routes() string {
	if s.protocol == "HTTP" {
		return fmt.Sprintf("listener~%d", s.port)
	}
	return s.chain
}

func taker(all []served, routes, domain string) (served, bool) {
	best, most := served{}, 0
	for _, s := range all {
		if s.routes() != routes {
			continue
		}
		if takes := s.takes(domain); domain == "*" || takes > most {
			best, most = s, max(takes, 1)
		}
	}
	return best, most > 0
}

func (p proxy) onHost(
	said *verdicts, listener served, filters map[string]bool,
	routes *envoyroute.RouteConfiguration, host *envoyroute.VirtualHost,
) error {
	if len(host.Routes) == 1 && host.Routes[0].GetDirectResponse() != nil && host.Routes[0].Name == "" {
		// The host was replaced: all its rules are answered so.
		for _, rule := range p.rulesOn(listener) {
			said.inForce[listener.name+" "+rule.place] = object{"response": int(host.Routes[0].GetDirectResponse().Status)}
		}
		return nil
	}
	for _, route := range host.Routes {
		rule, ok := p.rule(route.Name)
		if !ok {
			return fmt.Errorf("no rule has route %s", route.Name)
		}
		where := listener.name + " " + rule
		if err := said.in(where, onRoute(filters, fields(routes), fields(host), fields(route))); err != nil {
			return err
		}
	}
	return nil
}

type rule struct {
	place string
	// What the name of its Envoy routes has.
	parts []string
	// The end of the name of its filter chain, if the route is none of HTTP.
	chain     string
	parents   list
	namespace string
}

// Every rule of the state.
func (p proxy) rules() (all []rule) {
	for _, o := range p.state {
		kind := o["kind"].(string)
		if !strings.HasSuffix(kind, "Route") {
			continue
		}
		meta, spec := o["metadata"].(object), o["spec"].(object)
		route := fmt.Sprintf("%s/%s/%s", kind, meta["namespace"], meta["name"])
		parents, _ := spec["parentRefs"].(list)
		for i, r := range spec["rules"].(list) {
			r := r.(object)
			place := fmt.Sprintf("%s[%d]", route, i)
			if name, ok := r["name"].(string); ok {
				place = route + "#" + name
			}
			// The number is that among the rules which a rule that delegates hands requests on to; the name is the rule's own.
			prefix := fmt.Sprintf("-%s-%s-%s-", strings.ToLower(kind), meta["name"], meta["namespace"])
			part, name := fmt.Sprintf("%s%d-", prefix, i), "-matcher-"
			if named, ok := r["name"].(string); ok {
				part, name = prefix, "-"+named+name
			}
			all = append(all, rule{
				place:     place,
				parts:     []string{part, name},
				chain:     fmt.Sprintf("-%s.%s-rule-%d", meta["namespace"], meta["name"], i),
				parents:   parents,
				namespace: meta["namespace"].(string),
			})
		}
	}
	return all
}

func (p proxy) rule(envoyRoute string) (string, bool) {
	for _, r := range p.rules() {
		if strings.Contains(envoyRoute, r.parts[0]) && strings.Contains(envoyRoute, r.parts[1]) {
			return r.place, true
		}
	}
	return "", false
}

// The rules of routes that name a listener or all that has it.
func (p proxy) rulesOn(listener served) (all []rule) {
	object, section, _ := strings.Cut(listener.name, "#")
	for _, r := range p.rules() {
		for _, ref := range r.parents {
			ref := ref.(map[string]any)
			kind, ok := ref["kind"]
			if !ok {
				kind = "Gateway"
			}
			namespace, ok := ref["namespace"]
			if !ok {
				namespace = r.namespace
			}
			named, ok := ref["sectionName"]
			if fmt.Sprintf("%s/%s/%s", kind, namespace, ref["name"]) == object && (!ok || named == section) {
				all = append(all, r)
			}
		}
	}
	return all
}

// A message as JSON. `ATTACHE_RECORD_DUMP` writes it to the standard error too.
func fields(message proto.Message) object {
	data, err := protojson.Marshal(message)
	if err != nil {
		fail(err)
	}
	if os.Getenv("ATTACHE_RECORD_DUMP") != "" {
		fmt.Fprintln(os.Stderr, string(data))
	}
	out := object{}
	if err := json.Unmarshal(data, &out); err != nil {
		fail(err)
	}
	return out
}

func items(o object, name string) (all []object) {
	values, _ := o[name].(list)
	for _, value := range values {
		if value, ok := value.(object); ok {
			all = append(all, value)
		}
	}
	return all
}
