package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	project      = "kgateway"
	gatewayClass = "kgateway"

	policyAPI = "gateway.kgateway.dev/v1alpha1"
	// How many providers of each kind a namespace has, so that every policy of a scenario can name another.
	providers = 24
)

// What every scenario has.
func common() []object {
	objects := []object{
		{
			"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": gatewayClass},
			"spec": object{"controllerName": "kgateway.dev/kgateway"},
		},
	}
	for _, namespace := range []string{"infra", "shop", "pay"} {
		objects = append(objects, object{
			"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace, "labels": object{"team": namespace}},
		})
		for _, name := range []string{"backend", "authz", "other"} {
			objects = append(objects, service(namespace, name))
		}
		objects = append(objects, object{
			"apiVersion": "v1", "kind": "Secret", "metadata": meta(namespace, "keys"), "type": "Opaque",
			"data": object{"client": "a2V5"},
		})
	}
	return objects
}

func service(namespace, name string) object {
	return object{
		"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, name),
		"spec": object{"clusterIP": "10.96.0.1", "ports": list{
			object{"name": "http", "port": 8080, "protocol": "TCP"},
			object{"name": "tcp", "port": 9000, "protocol": "TCP"},
		}},
	}
}

// What the policies of a state name as providers of authentication and of limits, and its listeners as certificates. attache
// does not look at these: they are made for the translator and not recorded.
func extensionsFor(state []object) (named []object) {
	text, err := json.Marshal(state)
	if err != nil {
		fail(err)
	}
	if strings.Contains(string(text), `"name":"certificate"`) {
		named = append(named, certificateOf("infra"), certificateOf("shop"))
	}
	for _, namespace := range []string{"infra", "shop", "pay"} {
		service := object{"grpcService": object{"backendRef": object{"name": "authz", "port": 9000}}}
		for i := range providers {
			for kind, spec := range map[string]object{
				"auth":  {"type": "ExtAuth", "extAuth": service},
				"proc":  {"type": "ExtProc", "extProc": service},
				"limit": {"type": "RateLimit", "rateLimit": object{"domain": "shop", "grpcService": service["grpcService"]}},
				"jwt": {"type": "JWT", "jwt": object{"providers": list{object{
					"name": "p", "issuer": "https://id.example.org", "jwks": object{"local": object{"inline": publicKey}},
				}}}},
			} {
				name := fmt.Sprintf("%s%d", kind, i)
				if strings.Contains(string(text), `"`+name+`"`) {
					named = append(named, extension(namespace, name, spec))
				}
			}
		}
	}
	return named
}

func extension(namespace, name string, spec object) object {
	return object{"apiVersion": policyAPI, "kind": "GatewayExtension", "metadata": meta(namespace, name), "spec": spec}
}

func listenerSet(namespace, name, parentNamespace, parent string, all []listener) object {
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "ListenerSet", "metadata": meta(namespace, name),
		"spec": object{
			"parentRef": object{
				"group": gatewayAPI, "kind": "Gateway", "name": parent, "namespace": parentNamespace,
			},
			"listeners": listeners(all),
		},
	}
}

// A policy without targets.
func policy(kind, namespace, name string, settings object) object {
	spec := object{}
	for key, value := range settings {
		spec[key] = value
	}
	return object{"apiVersion": policyAPI, "kind": kind, "metadata": meta(namespace, name), "spec": spec}
}

func annotated(o object, key, value string) object {
	o["metadata"].(object)["annotations"] = object{key: value}
	return o
}

// A rule that leads to another HTTPRoute.
func delegating(route object, rule int, namespace, name string) object {
	rules := route["spec"].(object)["rules"].(list)
	rules[rule].(object)["backendRefs"] = list{object{
		"group": gatewayAPI, "kind": "HTTPRoute", "name": name, "namespace": namespace,
	}}
	return route
}

// Of a key that nobody has.
const publicKey = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAz+ycozC5sOdEuZw96XaV
LkcGxsCb4g8SEk1X87VchCfaXhHdjPteiWdCCBd1BdHA/z3je15VUn3vhTLTDGKP
plAWeCUXjy1Z5YjPv6FaunXt4KTPs38T6aVwbFEAHJ3TAY1kO/O8Qj2zPBX9TNxH
ZBJgPZaE6psICnbaSgrXbk8Cv197aAyQv78xOTHJGcClNRZJC7gWpDnFxbVBnO8P
xitTAUaMFh+lirp5QGwxmfxcWGzk4r6h2zwrYqIZ4SBvz76e38KlnLBVWGfiTKXo
uG5JVQMyDziakbpdw9l3CEk1qoylhI5QozXmIAKsCCShdmHGN2P8no1F+uo1Dpu/
DQIDAQAB
-----END PUBLIC KEY-----
`
