package main

import "fmt"

// Settings by kind of policy: each function makes one in which policies with different numbers differ.
var samples = map[string][]func(i int) object{
	"TrafficPolicy": {
		func(i int) object { return object{"extAuth": extensionRef("auth%d", i)} },
		func(i int) object {
			return object{"cors": object{"allowOrigins": list{fmt.Sprintf("https://p%d.example.org", i)}}}
		},
		func(i int) object { return object{"jwtAuth": extensionRef("jwt%d", i)} },
		func(i int) object {
			return object{"rateLimit": object{"local": object{"tokenBucket": object{
				"maxTokens": 100 + i, "tokensPerFill": 1, "fillInterval": "30s",
			}}}}
		},
		func(i int) object {
			return object{"rbac": object{"policy": object{
				"matchExpressions": list{fmt.Sprintf("request.headers['x-team'] == 'p%d'", i)},
			}}}
		},
		func(i int) object {
			global := extensionRef("limit%d", i)
			global["descriptors"] = list{object{"entries": list{object{
				"type": "Generic", "generic": object{"key": "shop", "value": fmt.Sprintf("p%d", i)},
			}}}}
			return object{"rateLimit": object{"global": global}}
		},
		func(i int) object {
			return object{"basicAuth": object{"users": list{fmt.Sprintf("p%d:{SHA}fEqNCco3Yq9h5ZUglD3CZJT4lBs=", i)}}}
		},
		func(i int) object {
			return object{"apiKeyAuth": object{
				"keySources": list{object{"header": fmt.Sprintf("x-p%d", i)}}, "secretRef": object{"name": "keys"},
			}}
		},
		func(i int) object {
			return object{"csrf": object{
				"percentageEnabled": 100,
				"additionalOrigins": list{object{"exact": fmt.Sprintf("p%d.example.org", i)}},
			}}
		},
		func(i int) object {
			return object{"transformation": object{"response": object{"set": list{
				object{"name": "x-by", "value": fmt.Sprintf("p%d", i)},
			}}}}
		},
		func(i int) object { return object{"buffer": object{"maxRequestSize": fmt.Sprint(1000 + i)}} },
		func(i int) object { return object{"extProc": extensionRef("proc%d", i)} },
		func(i int) object {
			return object{"headerModifiers": object{"request": object{"set": list{
				object{"name": fmt.Sprintf("x-p%d", i), "value": fmt.Sprintf("p%d", i)},
			}}}}
		},
		func(i int) object { return object{"timeouts": object{"request": fmt.Sprintf("%ds", 10+i)}} },
		func(i int) object { return object{"retry": object{"attempts": 1 + i, "retryOn": list{"5xx"}}} },
	},
	"HTTPListenerPolicy": {
		func(i int) object { return object{"xffNumTrustedHops": 1 + i} },
		func(i int) object { return object{"idleTimeout": fmt.Sprintf("%ds", 10+i)} },
		func(i int) object { return object{"streamIdleTimeout": fmt.Sprintf("%ds", 50+i)} },
		func(i int) object { return object{"maxRequestHeadersKb": 20 + i} },
	},
	"ListenerPolicy": {
		func(i int) object { return inDefault("xffNumTrustedHops", 1+i) },
		func(i int) object { return inDefault("idleTimeout", fmt.Sprintf("%ds", 10+i)) },
		func(i int) object { return inDefault("streamIdleTimeout", fmt.Sprintf("%ds", 50+i)) },
		func(i int) object { return inDefault("maxRequestHeadersKb", 20+i) },
		func(i int) object { return object{"default": object{"perConnectionBufferLimitBytes": 1000 + i}} },
	},
	"BackendConfigPolicy": {
		func(i int) object { return object{"connectTimeout": fmt.Sprintf("%ds", 10+i)} },
		func(i int) object { return object{"perConnectionBufferLimitBytes": 1000 + i} },
		func(i int) object { return object{"circuitBreakers": object{"maxConnections": 100 + i}} },
		func(i int) object { return object{"tcpKeepalive": object{"keepAliveProbes": 1 + i}} },
		func(i int) object {
			return object{"tls": object{"sni": fmt.Sprintf("p%d.example.org", i), "insecureSkipVerify": true}}
		},
	},
}

// What turns a setting off, by the name of the setting.
var off = map[string]object{
	"extAuth":    {"extAuth": object{"disable": object{}}},
	"jwtAuth":    {"jwtAuth": object{"disable": object{}}},
	"cors":       {"cors": object{"disable": object{}}},
	"basicAuth":  {"basicAuth": object{"disable": object{}}},
	"apiKeyAuth": {"apiKeyAuth": object{"disable": object{}}},
	"buffer":     {"buffer": object{"disable": object{}}},
	"extProc":    {"extProc": object{"disable": object{}}},
}

func inDefault(name string, value any) object {
	return object{"default": object{"httpSettings": object{name: value}}}
}

func extensionRef(name string, i int) object {
	return object{"extensionRef": object{"name": fmt.Sprintf(name, i%providers)}}
}
