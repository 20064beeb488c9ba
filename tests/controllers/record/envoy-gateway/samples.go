package main

import "fmt"

// Settings by kind of policy: each function makes one in which policies with different numbers differ.
var samples = map[string][]func(i int) object{
	"SecurityPolicy": {
		func(i int) object {
			return object{"jwt": object{"providers": list{object{
				"name":       fmt.Sprintf("p%d", i),
				"remoteJWKS": object{"uri": fmt.Sprintf("https://p%d.example.org/jwks", i)},
			}}}}
		},
		func(i int) object {
			return object{"cors": object{"allowOrigins": list{fmt.Sprintf("https://p%d.example.org", i)}}}
		},
		allowed,
		func(i int) object {
			return object{"apiKeyAuth": object{
				"credentialRefs": list{object{"name": "keys"}},
				"extractFrom":    list{object{"headers": list{fmt.Sprintf("x-p%d", i)}}},
			}}
		},
		func(i int) object {
			return object{"basicAuth": object{
				"users": object{"name": "users"}, "forwardUsernameHeader": fmt.Sprintf("x-p%d", i),
			}}
		},
		func(i int) object {
			return object{"extAuth": object{"http": object{
				"backendRefs": list{object{"name": "authz", "port": 8080}}, "path": fmt.Sprintf("/p%d", i),
			}}}
		},
		func(i int) object {
			return object{"csrf": object{"additionalOrigins": list{fmt.Sprintf("https://p%d.example.org", i)}}}
		},
		func(i int) object {
			return object{"oidc": object{
				"provider": object{
					"issuer":                "https://id.example.org",
					"authorizationEndpoint": "https://id.example.org/auth",
					"tokenEndpoint":         "https://id.example.org/token",
				},
				"clientID": fmt.Sprintf("p%d", i), "clientSecret": object{"name": "oidc"},
			}}
		},
	},
	"BackendTrafficPolicy": {
		func(i int) object {
			return object{"rateLimit": object{"local": object{"rules": list{
				object{"limit": object{"requests": 100 + i, "unit": "Minute"}},
			}}}}
		},
		func(i int) object {
			return object{"circuitBreaker": object{"maxConnections": 100 + i}}
		},
		func(i int) object {
			return object{"circuitBreaker": object{"maxPendingRequests": 200 + i}}
		},
		func(i int) object {
			return object{"timeout": object{"http": object{"requestTimeout": fmt.Sprintf("%ds", 10+i)}}}
		},
		func(i int) object {
			return object{"timeout": object{"tcp": object{"connectTimeout": fmt.Sprintf("%ds", 10+i)}}}
		},
		func(i int) object {
			return object{"retry": object{"numRetries": 1 + i}}
		},
		func(i int) object {
			return object{"tcpKeepalive": object{"probes": 1 + i}}
		},
		func(i int) object {
			return object{"loadBalancer": object{"type": []string{"RoundRobin", "Random", "LeastRequest"}[i%3]}}
		},
		func(i int) object {
			return object{"rateLimit": object{"global": object{"rules": list{
				object{"limit": object{"requests": 300 + i, "unit": "Hour"}},
			}}}}
		},
	},
	"EnvoyExtensionPolicy": {
		func(i int) object {
			return object{"lua": list{object{
				"type": "Inline", "inline": fmt.Sprintf("function envoy_on_response(h) h:logInfo('p%d') end", i),
			}}}
		},
		func(i int) object {
			return object{"extProc": list{object{
				"backendRefs": list{object{"name": "authz", "port": 9000}}, "messageTimeout": fmt.Sprintf("%ds", 10+i),
			}}}
		},
	},
	"ClientTrafficPolicy": {
		func(i int) object {
			return object{"timeout": object{"http": object{"requestReceivedTimeout": fmt.Sprintf("%ds", 10+i)}}}
		},
		func(i int) object {
			return object{"clientIPDetection": object{"xForwardedFor": object{"numTrustedHops": 1 + i}}}
		},
		func(i int) object {
			return object{"connection": object{"connectionLimit": object{"value": 100 + i}}}
		},
		func(i int) object {
			return object{"tcpKeepalive": object{"probes": 1 + i}}
		},
	},
}

func allowed(i int) object {
	return object{"authorization": object{
		"defaultAction": "Deny",
		"rules": list{object{
			"name": fmt.Sprintf("p%d", i), "action": "Allow", "principal": object{"clientCIDRs": list{fmt.Sprintf("10.0.%d.0/24", i)}},
		}},
	}}
}
