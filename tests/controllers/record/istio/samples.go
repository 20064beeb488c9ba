package main

import "fmt"

// How many providers of access logs the mesh has, so that every policy of a scenario can name another.
const providers = 9

// Settings by kind of policy: each function makes one in which policies with different numbers differ.
var samples = map[string][]func(i int) object{
	"AuthorizationPolicy": {
		func(i int) object { return object{"rules": list{allowsPath(i)}} },
		func(i int) object { return object{"rules": list{allowsPath(i), allowsPath(100 + i)}} },
	},
	"RequestAuthentication": {
		func(i int) object { return object{"jwtRules": list{jwtRule(i)}} },
		func(i int) object { return object{"jwtRules": list{jwtRule(i), jwtRule(100 + i)}} },
	},
	"Telemetry": {
		func(i int) object {
			return object{"accessLogging": list{object{"providers": list{object{"name": fmt.Sprintf("log%d", i)}}}}}
		},
		func(i int) object {
			return object{"tracing": list{object{"randomSamplingPercentage": 10 + i}}}
		},
		func(i int) object {
			return object{"tracing": list{object{"customTags": object{
				fmt.Sprintf("tag%d", i): object{"literal": object{"value": fmt.Sprintf("tag%d", i)}},
			}}}}
		},
	},
	"WasmPlugin": {
		func(i int) object { return object{"url": fmt.Sprintf("oci://example.org/p%d", i)} },
		func(i int) object {
			return object{"url": fmt.Sprintf("oci://example.org/p%d", i), "phase": "AUTHN", "priority": i}
		},
	},
	"TrafficExtension": {
		func(i int) object { return object{"wasm": object{"url": fmt.Sprintf("oci://example.org/p%d", i)}} },
		func(i int) object {
			return object{"lua": object{"inlineCode": fmt.Sprintf("-- p%d", i)}, "phase": "AUTHZ", "priority": i}
		},
	},
	"EnvoyFilter": {
		func(i int) object {
			return object{"configPatches": list{object{
				"applyTo": "HTTP_FILTER",
				"match": object{"context": "ANY", "listener": object{"filterChain": object{"filter": object{
					"name": "envoy.filters.network.http_connection_manager",
				}}}},
				"patch": object{"operation": "INSERT_FIRST", "value": object{"name": fmt.Sprintf("p%d", i)}},
			}}}
		},
	},
}

func allowsPath(i int) object {
	return object{"to": list{object{"operation": object{"paths": list{fmt.Sprintf("/p%d", i)}}}}}
}

func jwtRule(i int) object {
	return object{"issuer": fmt.Sprintf("https://p%d.example.org", i), "jwks": `{"keys":[]}`}
}
