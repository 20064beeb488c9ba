package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbac "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	fileaccesslog "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	jwt "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	rbachttp "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/wellknown"
)

// A policy that admission refuses is never there: it is recorded for what it names, or for its Namespace.
func (v *verdicts) refuse(o object) {
	metadata := o["metadata"].(object)
	namespace := metadata["namespace"].(string)
	spec := o["spec"].(object)
	refs, _ := spec["targetRefs"].(list)
	if ref, ok := spec["targetRef"]; ok {
		refs = append(refs, ref)
	}
	by := map[string]string{}
	for _, ref := range refs {
		ref := ref.(object)
		within := namespace
		if ref["kind"] == "GatewayClass" {
			within = ""
		}
		by[fmt.Sprintf("%s/%s/%s", ref["kind"], within, ref["name"])] = "Accepted=False/Invalid"
	}
	if _, selects := spec[selectorOf(o["kind"].(string))]; selects {
		// Nobody knows what it would select.
		return
	}
	if len(by) == 0 {
		by["Namespace//"+namespace] = "Accepted=False/Invalid"
	}
	v.policies[fmt.Sprintf("%s/%s/%s", o["kind"], namespace, metadata["name"])] = by
}

// What is in force at a Gateway, and at what a waypoint stands before.
func (v *verdicts) proxy(server *xds.FakeDiscoveryServer, objects []object, gateway object, address string) error {
	proxy := proxyFor(server, gateway, address)
	metadata := gateway["metadata"].(object)
	self := fmt.Sprintf("Gateway/%s/%s", metadata["namespace"], metadata["name"])
	patches := patchesOf(server.PushContext(), proxy)
	seen := false
	for _, l := range server.Listeners(proxy) {
		if proxy.IsWaypointProxy() && l.Name != "main_internal" {
			continue
		}
		for _, chain := range append(slices.Clone(l.FilterChains), l.DefaultFilterChain) {
			where := self
			if proxy.IsWaypointProxy() && chain.GetName() != "direct-http" {
				where = objectOf(chain.GetName(), objects)
			}
			settings, err := inForce(chain)
			if settings == nil && err == nil && !proxy.IsWaypointProxy() {
				err = v.wire(l, chain, gateway, objects, patches)
			}
			if settings == nil || where == "" || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if len(patches) > 0 {
				settings["envoyFilters"] = patches
			}
			seen = seen || where == self
			if err := v.in(where, settings); err != nil {
				return err
			}
		}
	}
	if !seen {
		return fmt.Errorf("%s has no listener", self)
	}
	return nil
}

// What is in force at a Service before which no waypoint stands: at the sidecar of a workload behind it.
func (v *verdicts) workload(server *xds.FakeDiscoveryServer, service object, address string) error {
	metadata := service["metadata"].(object)
	self := fmt.Sprintf("Service/%s/%s", metadata["namespace"], metadata["name"])
	if _, known := v.inForce[self]; known {
		return nil
	}
	labels := map[string]string{}
	for key, value := range service["spec"].(object)["selector"].(object) {
		labels[key] = value.(string)
	}
	proxy := server.SetupProxy(&model.Proxy{
		Type: model.SidecarProxy, ConfigNamespace: metadata["namespace"].(string), Labels: labels,
		IPAddresses: []string{address}, Metadata: &model.NodeMetadata{Labels: labels},
	})
	patches := patchesOf(server.PushContext(), proxy)
	for _, l := range server.Listeners(proxy) {
		if l.Name != "virtualInbound" {
			continue
		}
		for _, chain := range l.FilterChains {
			if chain.GetFilterChainMatch().GetDestinationPort().GetValue() != 8080 {
				continue
			}
			settings, err := inForce(chain)
			if err != nil {
				return err
			}
			if settings == nil {
				continue
			}
			if len(patches) > 0 {
				settings["envoyFilters"] = patches
			}
			if err := v.in(self, settings); err != nil {
				return err
			}
		}
	}
	if _, known := v.inForce[self]; !known {
		return fmt.Errorf("%s has no listener", self)
	}
	return nil
}

// The Service or ServiceEntry of a filter chain.
func objectOf(chain string, objects []object) string {
	if !strings.HasPrefix(chain, "inbound-vip|") {
		return ""
	}
	_, _, host, _ := model.ParseSubsetKey(chain)
	for _, o := range objects {
		metadata := o["metadata"].(object)
		name := fmt.Sprintf("%s/%s/%s", o["kind"], metadata["namespace"], metadata["name"])
		switch o["kind"] {
		case "Service":
			if string(host) == fmt.Sprintf("%s.%s.svc.cluster.local", metadata["name"], metadata["namespace"]) {
				return name
			}
		case "ServiceEntry":
			if slices.Contains(o["spec"].(object)["hosts"].(list), any(string(host))) {
				return name
			}
		}
	}
	return ""
}

// EnvoyFilters are chosen for a proxy as a whole.
func patchesOf(push *model.PushContext, proxy *model.Proxy) list {
	merged := push.EnvoyFilters(proxy)
	if merged == nil {
		return nil
	}
	names := []string{}
	for _, patches := range merged.Patches {
		for _, patch := range patches {
			names = append(names, patch.Namespace+"/"+patch.Name)
		}
	}
	return once(names)
}

// Sorted, each once.
func once(names []string) list {
	slices.Sort(names)
	out := list{}
	for _, name := range slices.Compact(names) {
		out = append(out, name)
	}
	return out
}

// What is in force on a filter chain; nothing where it does not speak HTTP: see `onConnections`.
func inForce(chain *listenerv3.FilterChain) (object, error) {
	settings := object{}
	for _, filter := range chain.GetFilters() {
		// Extensions for connections come before those for requests.
		if extension(filter.Name, settings) || filter.Name != wellknown.HTTPConnectionManager {
			continue
		}
		manager := &hcm.HttpConnectionManager{}
		if err := filter.GetTypedConfig().UnmarshalTo(manager); err != nil {
			return nil, err
		}
		for _, http := range manager.HttpFilters {
			if err := ofFilter(http, settings); err != nil {
				return nil, err
			}
		}
		return settings, telemetry(manager, settings)
	}
	return nil, nil
}

const (
	extensionPrefix = "extensions.istio.io/trafficextension/"
	pluginSuffix    = "~istio-translated-wasmplugin"
)

func ofFilter(filter *hcm.HttpFilter, settings object) error {
	if extension(filter.Name, settings) {
		return nil
	}
	switch filter.Name {
	case wellknown.HTTPRoleBasedAccessControl:
		rules := &rbachttp.RBAC{}
		if err := filter.GetTypedConfig().UnmarshalTo(rules); err != nil {
			return err
		}
		authorization(rules.Rules, rules.ShadowRules, settings)
	case "envoy.filters.http.jwt_authn":
		rules := &jwt.JwtAuthentication{}
		if err := filter.GetTypedConfig().UnmarshalTo(rules); err != nil {
			return err
		}
		issuers := []string{}
		for _, provider := range rules.Providers {
			issuers = append(issuers, provider.Issuer)
		}
		settings["jwt"] = once(issuers)
	}
	return nil
}

// Whether a filter is an extension; it is added to the settings then.
func extension(filter string, settings object) bool {
	name, ok := strings.CutPrefix(filter, extensionPrefix)
	if !ok {
		return false
	}
	name = strings.Replace(name, ".", "/", 1)
	key := "trafficExtensions"
	if plugin, ok := strings.CutSuffix(name, pluginSuffix); ok {
		name, key = plugin, "wasmPlugins"
	}
	more, _ := settings[key].(list)
	settings[key] = append(more, name)
	return true
}

var (
	policyName = regexp.MustCompile(`ns\[(.*)\]-policy\[(.*)\]-rule\[`)
	actions    = map[rbac.RBAC_Action]string{rbac.RBAC_ALLOW: "allow", rbac.RBAC_DENY: "deny", rbac.RBAC_LOG: "audit"}
)

// The policies by what they do: those whose rules are only looked at call somebody else.
func authorization(rules, shadow *rbac.RBAC, settings object) {
	add := func(action string, policies map[string]*rbac.Policy) {
		names := []string{}
		for name := range policies {
			parts := policyName.FindStringSubmatch(name)
			names = append(names, parts[1]+"/"+parts[2])
		}
		settings[action] = once(names)
	}
	if rules != nil {
		add(actions[rules.Action], rules.Policies)
	}
	if shadow != nil {
		add("custom", shadow.Policies)
	}
}

// What of the telemetry does not stand in every mesh.
func telemetry(manager *hcm.HttpConnectionManager, settings object) error {
	if err := accessLogs(manager.AccessLog, settings); err != nil {
		return err
	}
	if sampling := manager.GetTracing().GetRandomSampling().GetValue(); sampling > 1 {
		settings["tracing.randomSamplingPercentage"] = sampling
	}
	tags := []string{}
	for _, tag := range manager.GetTracing().GetCustomTags() {
		if strings.HasPrefix(tag.Tag, "tag") {
			tags = append(tags, tag.Tag)
		}
	}
	if len(tags) > 0 {
		settings["tracing.customTags"] = once(tags)
	}
	return nil
}

func accessLogs(all []*accesslogv3.AccessLog, settings object) error {
	logs := []string{}
	for _, entry := range all {
		file := &fileaccesslog.FileAccessLog{}
		if entry.GetTypedConfig().MessageIs(file) {
			if err := entry.GetTypedConfig().UnmarshalTo(file); err != nil {
				return err
			}
			logs = append(logs, strings.TrimPrefix(file.Path, "/dev/"))
		}
	}
	if len(logs) > 0 {
		settings["accessLogging"] = once(logs)
	}
	return nil
}

// As JSON reads it: whole numbers are of one type.
func jsonOf(o object) object {
	data, err := json.Marshal(o)
	if err != nil {
		fail(err)
	}
	read := object{}
	if err := json.Unmarshal(data, &read); err != nil {
		fail(err)
	}
	return read
}
