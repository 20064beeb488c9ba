package main

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbactcp "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	tcpproxy "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/wellknown"
)

// What is in force where a Gateway hands connections on without a look at HTTP: at a listener and the rule of the route
// that is served there.
func (v *verdicts) wire(
	listener *listenerv3.Listener, chain *listenerv3.FilterChain, gateway object, objects []object, patches list,
) error {
	port := listener.GetAddress().GetSocketAddress().GetPortValue()
	settings, cluster, err := onConnections(chain)
	if port == 0 || cluster == "" || err != nil {
		// Listeners without a port hand on to other proxies of the mesh.
		return err
	}
	if len(patches) > 0 {
		settings["envoyFilters"] = patches
	}
	metadata := gateway["metadata"].(object)
	name := listenerOf(gateway, port, chain.GetFilterChainMatch().GetServerNames())
	rule := ruleTo(cluster, objects)
	if name == "" || rule == "" {
		return fmt.Errorf("no listener and rule has the filter chain to %s", cluster)
	}
	return v.in(fmt.Sprintf("Gateway/%s/%s#%s %s", metadata["namespace"], metadata["name"], name, rule), settings)
}

// What is in force on a filter chain that does not speak HTTP, and the cluster that it leads to.
func onConnections(chain *listenerv3.FilterChain) (settings object, cluster string, err error) {
	settings = object{}
	for _, filter := range chain.GetFilters() {
		if extension(filter.Name, settings) {
			continue
		}
		switch filter.Name {
		case wellknown.RoleBasedAccessControl:
			rules := &rbactcp.RBAC{}
			if err := filter.GetTypedConfig().UnmarshalTo(rules); err != nil {
				return nil, "", err
			}
			authorization(rules.Rules, rules.ShadowRules, settings)
		case wellknown.TCPProxy:
			proxy := &tcpproxy.TcpProxy{}
			if err := filter.GetTypedConfig().UnmarshalTo(proxy); err != nil {
				return nil, "", err
			}
			cluster = proxy.GetCluster()
			if err := accessLogs(proxy.AccessLog, settings); err != nil {
				return nil, "", err
			}
		}
	}
	return settings, cluster, nil
}

// The listener of a Gateway that has a port and, of several, the one whose hostname covers the names best.
func listenerOf(gateway object, port uint32, names []string) string {
	found, most := "", -1
	for _, l := range gateway["spec"].(object)["listeners"].(list) {
		l := l.(object)
		host, _ := l["hostname"].(string)
		covers := host == "" || (len(names) > 0 && (names[0] == host || strings.HasSuffix(names[0], strings.TrimPrefix(host, "*"))))
		if l["port"] == float64(port) && covers && len(host) > most {
			found, most = l["name"].(string), len(host)
		}
	}
	return found
}

// The rule that leads to a cluster: every rule has a port of its own.
func ruleTo(cluster string, objects []object) string {
	_, _, host, port := model.ParseSubsetKey(cluster)
	for _, o := range objects {
		if o["kind"] != "TCPRoute" && o["kind"] != "TLSRoute" {
			continue
		}
		metadata := o["metadata"].(object)
		for _, rule := range o["spec"].(object)["rules"].(list) {
			rule := rule.(object)
			ref := rule["backendRefs"].(list)[0].(object)
			to := fmt.Sprintf("%s.%s.svc.cluster.local", ref["name"], metadata["namespace"])
			if to == string(host) && ref["port"] == float64(port) {
				return fmt.Sprintf("%s/%s/%s#%s", o["kind"], metadata["namespace"], metadata["name"], rule["name"])
			}
		}
	}
	return ""
}
