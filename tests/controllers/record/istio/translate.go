package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/test/xds"
	customresources "istio.io/istio/pkg/config/crd"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/gatewayapi"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

// Waypoints are served with this alone, and it is read before `main`.
const enableAmbient = "PILOT_ENABLE_AMBIENT"

func init() {
	if os.Getenv(enableAmbient) == "true" {
		return
	}
	program, err := os.Executable()
	if err == nil {
		err = syscall.Exec(program, os.Args, append(os.Environ(), enableAmbient+"=true"))
	}
	fail(err)
}

// Policies are recorded as they are written: no field has a default.
func stored(written object) object {
	return written
}

// What the control plane says of a state: what its admission refuses, what it writes into statuses, and what is in the
// configuration that it makes for the proxy of each Gateway and of each Service's workload.
func translate(objects []object) (*verdicts, error) {
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	said := newVerdicts()
	var kept, gateways, services []object
	for _, o := range objects {
		if refused(o) != nil {
			said.refuse(o)
			continue
		}
		kept = append(kept, copied(o))
	}
	var made []object
	for _, o := range kept {
		if o["kind"] == "Gateway" && o["spec"].(object)["gatewayClassName"] != "other" {
			gateways = append(gateways, o)
			made = append(made, proxyOf(o, len(gateways))...)
		}
		if o["kind"] == "Service" {
			services = append(services, o)
			made = append(made, workloadOf(o, 100+len(services)))
		}
	}
	all := append(slices.Clone(kept), made...)
	if err := said.statuses(all); err != nil {
		return nil, err
	}
	var failed error
	err := test.Wrap(func(t test.Failer) {
		server := serve(t, all)
		for i, gateway := range gateways {
			if failed = said.proxy(server, kept, gateway, addressOf(i+1)); failed != nil {
				return
			}
		}
		for i, service := range services {
			if failed = said.workload(server, service, addressOf(101+i)); failed != nil {
				return
			}
		}
	})
	if err == nil {
		err = failed
	}
	return said, err
}

func copied(o object) object {
	return jsonOf(o)
}

func serve(t test.Failer, objects []object) *xds.FakeDiscoveryServer {
	var ofCluster, ofConfig []string
	for _, o := range objects {
		switch o["kind"] {
		case "AuthorizationPolicy", "ServiceEntry", "WorkloadEntry":
			ofCluster = append(ofCluster, written(o))
			ofConfig = append(ofConfig, written(o))
		case "RequestAuthentication", "Telemetry", "WasmPlugin", "TrafficExtension", "EnvoyFilter":
			ofConfig = append(ofConfig, written(o))
		default:
			ofCluster = append(ofCluster, written(o))
		}
	}
	// The CRDs of this server do not say their version, and Istio would not watch them.
	clear(gatewayapi.MinimumCRDVersions)
	return xds.NewFakeDiscoveryServer(t, xds.FakeOptions{
		KubernetesObjectString: strings.Join(ofCluster, "\n---\n"),
		ConfigString:           strings.Join(ofConfig, "\n---\n"),
		MeshConfig:             meshConfig(),
	})
}

func written(o object) string {
	data, err := yaml.Marshal(o)
	if err != nil {
		fail(err)
	}
	return string(data)
}

// The mesh has what policies name: providers of access logs, of traces and of authorization.
func meshConfig() *meshconfig.MeshConfig {
	config := mesh.DefaultMeshConfig()
	const provider, port = "stock.shop.svc.cluster.local", 8080
	for i := range providers {
		name := fmt.Sprintf("log%d", i+1)
		config.ExtensionProviders = append(config.ExtensionProviders, &meshconfig.MeshConfig_ExtensionProvider{
			Name: name,
			Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyFileAccessLog{
				EnvoyFileAccessLog: &meshconfig.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider{Path: "/dev/" + name},
			},
		})
	}
	config.ExtensionProviders = append(config.ExtensionProviders,
		&meshconfig.MeshConfig_ExtensionProvider{
			Name: "traces",
			Provider: &meshconfig.MeshConfig_ExtensionProvider_Opentelemetry{
				Opentelemetry: &meshconfig.MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider{Service: provider, Port: port},
			},
		},
		&meshconfig.MeshConfig_ExtensionProvider{
			Name: "authz",
			Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzHttp{
				EnvoyExtAuthzHttp: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider{
					Service: provider, Port: port,
				},
			},
		},
		&meshconfig.MeshConfig_ExtensionProvider{
			Name: "authz-grpc",
			Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzGrpc{
				EnvoyExtAuthzGrpc: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationGrpcProvider{
					Service: provider, Port: port,
				},
			},
		},
	)
	config.DefaultProviders = &meshconfig.MeshConfig_DefaultProviders{Tracing: []string{"traces"}}
	return config
}

var schemas *customresources.Validator

// Why the API server or Istio's admission refuses a policy.
func refused(o object) error {
	if _, isPolicy := policyAPIs[o["kind"].(string)]; !isPolicy {
		return nil
	}
	if schemas == nil {
		if err := test.Wrap(func(t test.Failer) { schemas = customresources.NewIstioValidator(t) }); err != nil {
			fail(err)
		}
	}
	if err := schemas.ValidateCustomResource(&unstructured.Unstructured{Object: jsonOf(o)}); err != nil {
		return err
	}
	_, _, err := crd.ParseInputs(written(o))
	return err
}

// The proxy that Istio runs for a Gateway.
func proxyFor(server *xds.FakeDiscoveryServer, gateway object, address string) *model.Proxy {
	metadata := gateway["metadata"].(object)
	kind, managed := model.Router, "istio.io-gateway-controller"
	if isWaypoint(gateway) {
		kind, managed = model.Waypoint, "istio.io-mesh-controller"
	}
	return server.SetupProxy(&model.Proxy{
		Type:            kind,
		ConfigNamespace: metadata["namespace"].(string),
		Labels: map[string]string{
			gatewayName:                metadata["name"].(string),
			"gateway.istio.io/managed": managed,
		},
		IPAddresses: []string{address},
	})
}
