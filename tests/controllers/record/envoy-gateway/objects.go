package main

const (
	project      = "Envoy Gateway"
	gatewayClass = "eg"
)

// What every scenario has.
func common() []object {
	objects := []object{
		{
			"apiVersion": gatewayAPI + "/v1", "kind": "GatewayClass", "metadata": object{"name": gatewayClass},
			"spec": object{"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
		},
	}
	for _, namespace := range []string{"infra", "shop", "pay"} {
		objects = append(objects, object{
			"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace, "labels": object{"team": namespace}},
		})
		ports := list{
			object{"name": "http", "port": 8080, "protocol": "TCP"},
			object{"name": "tcp", "port": 9000, "protocol": "TCP"},
			object{"name": "udp", "port": 5300, "protocol": "UDP"},
		}
		for _, name := range []string{"backend", "authz"} {
			objects = append(objects, object{
				"apiVersion": "v1", "kind": "Service", "metadata": meta(namespace, name),
				"spec": object{"clusterIP": "10.96.0.1", "ports": ports},
			})
		}
		secret := func(name, key, value string) object {
			return object{
				"apiVersion": "v1", "kind": "Secret", "metadata": meta(namespace, name), "data": object{key: value},
			}
		}
		objects = append(objects,
			secret("keys", "client", "a2V5"),
			secret("users", ".htpasswd", "dXNlcjp7U0hBfWZFcU5DY283WXE5aDVaVWdsRDNDWkpUNGxCcz0="),
			secret("oidc", "client-secret", "c2VjcmV0"),
		)
	}
	return objects
}

func listenerSet(namespace, name, parentNamespace, parent string, all []listener) object {
	return object{
		"apiVersion": gatewayAPI + "/v1", "kind": "ListenerSet", "metadata": meta(namespace, name),
		"spec": object{
			"parentRef": object{"name": parent, "namespace": parentNamespace}, "listeners": listeners(all),
		},
	}
}

func grant(namespace, fromKind, fromNamespace, toKind string) object {
	return object{
		"apiVersion": gatewayAPI + "/v1beta1", "kind": "ReferenceGrant", "metadata": meta(namespace, "policies"),
		"spec": object{
			"from": list{object{"group": "gateway.envoyproxy.io", "kind": fromKind, "namespace": fromNamespace}},
			"to":   list{object{"group": gatewayAPI, "kind": toKind}},
		},
	}
}

// A policy without targets whose settings differ from those of policies with another number.
func policy(kind, namespace, name string, settings object) object {
	spec := object{}
	for key, value := range settings {
		spec[key] = value
	}
	return object{
		"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": kind, "metadata": meta(namespace, name), "spec": spec,
	}
}

func merging(p object, mergeType string) object {
	if mergeType != "" {
		p["spec"].(object)["mergeType"] = mergeType
	}
	return p
}
