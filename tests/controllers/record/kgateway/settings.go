package main

import (
	"encoding/json"
	"strings"
)

// Settings of the translated configuration, each by one value in which every generated policy differs.

// What is in force on a route: of each filter that the listener has, the configuration of the most specific level
// counts, as in Envoy. Header mutations of all levels count, the most specific last.
func onRoute(filters map[string]bool, levels ...object) object {
	into := object{}
	route := levels[len(levels)-1]
	if answer, ok := route["directResponse"].(object); ok {
		into["response"] = answer["status"]
	}
	inForce := map[string]object{}
	mutations := list{}
	for _, level := range levels {
		config, _ := level["typedPerFilterConfig"].(object)
		for name, config := range config {
			config := config.(object)
			if !filters[name] {
				continue
			}
			inForce[name] = config
			if name == "envoy.extensions.filters.http.header_mutation" {
				mutations = append(mutations, texts(config, "mutations.requestMutations.append.header.value")...)
			}
		}
	}
	byProvider := map[string]list{}
	for _, name := range sorted(inForce) {
		config := inForce[name]
		if disabled, _ := config["disabled"].(bool); disabled {
			continue
		}
		prefix, provider, _ := strings.Cut(name, "/")
		switch {
		case name == "envoy.filters.http.cors" && isOn(config):
			into["cors"] = texts(config, "allowOriginStringMatch.exact")
		case name == "envoy.filters.http.csrf" && isOn(config):
			into["csrf"] = texts(config, "additionalOrigins.exact")
		case name == "envoy.filters.http.basic_auth":
			users, _, _ := strings.Cut(strings.Join(strs(texts(config, "users.inlineString")), " "), ":")
			into["basicAuth"] = users
		case name == "envoy.filters.http.api_key_auth":
			into["apiKeyAuth"] = texts(config, "keySources.header")
		case name == "envoy.filters.http.rbac":
			into["rbac"] = constants(config)
		case name == "envoy.filters.http.buffer":
			into["buffer"] = texts(config, "buffer.maxRequestBytes")
		case name == "ratelimit/local":
			into["rateLimit.local"] = texts(config, "tokenBucket.maxTokens")
		case prefix == "ratelimit":
			into["rateLimit.global"] = append(asList(into["rateLimit.global"]), texts(config, "rateLimits.actions.genericKey.descriptorValue")...)
		case name == "dynamic_modules/simple_mutations":
			into["transformation"] = transformed(config)
		case prefix == "ext_auth", prefix == "jwt", prefix == "ext_proc":
			byProvider[prefix] = append(byProvider[prefix], provider[strings.LastIndex(provider, "/")+1:])
		}
	}
	for prefix, setting := range map[string]string{"ext_auth": "extAuth", "jwt": "jwtAuth", "ext_proc": "extProc"} {
		if _, off := inForce["global_disable/"+prefix]; !off && len(byProvider[prefix]) > 0 {
			into[setting] = byProvider[prefix]
		}
	}
	if len(mutations) > 0 {
		into["headerModifiers"] = mutations
	}
	action, _ := route["route"].(object)
	for _, value := range texts(action, "timeout") {
		into["timeouts"] = value
	}
	retries := texts(action, "retryPolicy.numRetries")
	if len(retries) == 0 {
		retries = texts(levels[1], "retryPolicy.numRetries")
	}
	for _, value := range retries {
		into["retry"] = value
	}
	for _, value := range texts(action, "regexRewrite.substitution") {
		into["urlRewrite"] = value
	}
	return into
}

// What is in force on a listener, under the kind of the policies of the state that have the setting.
func (p proxy) client(listener, manager object) object {
	into := object{}
	first := func(name string, from object, path string) {
		for _, value := range texts(from, path) {
			into[p.kindWith(name)+"."+name] = value
		}
	}
	first("xffNumTrustedHops", manager, "xffNumTrustedHops")
	first("idleTimeout", manager, "commonHttpProtocolOptions.idleTimeout")
	first("streamIdleTimeout", manager, "streamIdleTimeout")
	first("maxRequestHeadersKb", manager, "maxRequestHeadersKb")
	first("defaultHostForHttp10", manager, "httpProtocolOptions.defaultHostForHttp10")
	first("perConnectionBufferLimitBytes", listener, "perConnectionBufferLimitBytes")
	return into
}

// The kind of policies that have a setting: no scenario has it in policies of several kinds.
func (p proxy) kindWith(setting string) string {
	for _, o := range p.state {
		if o["apiVersion"] != policyAPI {
			continue
		}
		if data, err := json.Marshal(o["spec"]); err == nil && strings.Contains(string(data), `"`+setting+`"`) {
			return o["kind"].(string)
		}
	}
	return ""
}

// What is in force towards a Service.
func backend(cluster object) object {
	into := object{}
	first := func(name, path string) {
		for _, value := range texts(cluster, path) {
			into[name] = value
		}
	}
	// kgateway gives every cluster five seconds.
	if timeout := cluster["connectTimeout"]; timeout != "5s" {
		first("connectTimeout", "connectTimeout")
	}
	first("perConnectionBufferLimitBytes", "perConnectionBufferLimitBytes")
	first("circuitBreakers", "circuitBreakers.thresholds.maxConnections")
	first("tcpKeepalive", "upstreamConnectionOptions.tcpKeepalive.keepaliveProbes")
	first("tls", "transportSocket.typedConfig.sni")
	return into
}

// Whether a filter with a share of requests is on.
func isOn(config object) bool {
	enabled, ok := config["filterEnabled"].(object)
	if !ok {
		return true
	}
	return len(texts(enabled, "defaultValue.numerator")) > 0
}

// The values at a path of names; lists are passed through.
func texts(from any, path string) list {
	if path == "" {
		switch from := from.(type) {
		case list:
			all := list{}
			for _, item := range from {
				all = append(all, texts(item, "")...)
			}
			return all
		case nil:
			return list{}
		}
		return list{from}
	}
	name, rest, _ := strings.Cut(path, ".")
	switch from := from.(type) {
	case object:
		return texts(from[name], rest)
	case list:
		all := list{}
		for _, item := range from {
			all = append(all, texts(item, path)...)
		}
		return all
	}
	return list{}
}

func strs(all list) (out []string) {
	for _, value := range all {
		if value, ok := value.(string); ok {
			out = append(out, value)
		}
	}
	return out
}

func asList(value any) list {
	all, _ := value.(list)
	return all
}

// The strings that a CEL expression compares with, but for names of headers.
func constants(value any) list {
	found := list{}
	switch value := value.(type) {
	case object:
		for _, name := range sorted(value) {
			if text, ok := value[name].(string); ok && name == "stringValue" {
				if strings.HasPrefix(text, "p") {
					found = append(found, text)
				}
				continue
			}
			found = append(found, constants(value[name])...)
		}
	case list:
		for _, item := range value {
			found = append(found, constants(item)...)
		}
	}
	return found
}

// The values of headers that a transformation sets.
func transformed(config object) list {
	all := list{}
	for _, text := range strs(texts(config, "filterConfig.value")) {
		all = append(all, texts(parsed([]byte(text)), "response.set.value")...)
	}
	return all
}
