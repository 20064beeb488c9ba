package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/internal/gatewayapi"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/logging"
)

const controllerNamespace = "envoy-gateway-system"

// What the translator says of a state whose objects the schemas accept.
func translate(objects []object) (*verdicts, error) {
	resources, err := load(objects)
	if err != nil {
		return nil, err
	}
	translator := &gatewayapi.Translator{
		GatewayControllerName:   string(resources.GatewayClass.Spec.ControllerName),
		GatewayClassName:        gwapiv1.ObjectName(resources.GatewayClass.Name),
		GlobalRateLimitEnabled:  true,
		EndpointRoutingDisabled: true,
		EnvoyPatchPolicyEnabled: true,
		BackendEnabled:          true,
		ControllerNamespace:     controllerNamespace,
		Logger:                  logging.DefaultLogger(io.Discard, egv1a1.LogLevelError),
	}
	result, err := translator.Translate(context.Background(), resources)
	if result == nil {
		return nil, err
	}
	// An error of a policy is in its status too.
	return read(result)
}

// The objects as the API server hands them out: checked, with defaults, ordered as the provider orders them.
func load(objects []object) (*resource.Resources, error) {
	resources := resource.NewResources()
	for _, object := range objects {
		data, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		if err := add(resources, data); err != nil {
			return nil, fmt.Errorf("%s: %w", data, err)
		}
	}
	hmac := &corev1.Secret{Data: map[string][]byte{"hmac-secret": []byte("0123456789abcdef0123456789abcdef")}}
	hmac.Namespace, hmac.Name = controllerNamespace, "envoy-oidc-hmac"
	resources.Secrets = append(resources.Secrets, hmac)
	resources.Secrets = append(resources.Secrets, ofListeners...)
	resources.Sort()
	return resources, nil
}

func add(resources *resource.Resources, data []byte) error {
	full, kind, err := admit(data)
	if err != nil {
		return err
	}
	switch kind {
	case "GatewayClass":
		return one(full, &resources.GatewayClass)
	case "Gateway":
		return more(full, &resources.Gateways)
	case "ListenerSet":
		return more(full, &resources.ListenerSets)
	case "HTTPRoute":
		return more(full, &resources.HTTPRoutes)
	case "GRPCRoute":
		return more(full, &resources.GRPCRoutes)
	case "TLSRoute":
		return more(full, &resources.TLSRoutes)
	case "TCPRoute":
		return more(full, &resources.TCPRoutes)
	case "UDPRoute":
		return more(full, &resources.UDPRoutes)
	case "ReferenceGrant":
		return more(full, &resources.ReferenceGrants)
	case "Namespace":
		return more(full, &resources.Namespaces)
	case "Service":
		return more(full, &resources.Services)
	case "Secret":
		return more(full, &resources.Secrets)
	case "ConfigMap":
		return more(full, &resources.ConfigMaps)
	case "BackendTLSPolicy":
		return more(full, &resources.BackendTLSPolicies)
	case "SecurityPolicy":
		return more(full, &resources.SecurityPolicies)
	case "BackendTrafficPolicy":
		return more(full, &resources.BackendTrafficPolicies)
	case "ClientTrafficPolicy":
		return more(full, &resources.ClientTrafficPolicies)
	case "EnvoyExtensionPolicy":
		return more(full, &resources.EnvoyExtensionPolicies)
	}
	return fmt.Errorf("kind %s is not loaded", kind)
}

// A policy as the API server keeps it, with the defaults of its schema: they take part in merges. Other objects as
// they are written.
func stored(written object) object {
	if !strings.HasPrefix(written["apiVersion"].(string), egv1a1.GroupName+"/") {
		return written
	}
	data, err := json.Marshal(written)
	if err != nil {
		fail(err)
	}
	full, _, err := admit(data)
	if err != nil {
		fail(err)
	}
	kept := object{}
	if err := json.Unmarshal(full, &kept); err != nil {
		fail(err)
	}
	return kept
}

var admitted = map[string][]byte{}

// An object with its defaults, if its schema accepts it; each is looked at once.
func admit(data []byte) (full []byte, kind string, err error) {
	read := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &read.Object); err != nil {
		return nil, "", err
	}
	kind = read.GetKind()
	if full, ok := admitted[string(data)]; ok {
		return full, kind, nil
	}
	group := read.GroupVersionKind().Group
	if group == egv1a1.GroupName || group == gwapiv1.GroupName {
		if err := resource.GetDefaultValidator().Validate(data); err != nil {
			return nil, "", err
		}
		if read, err = resource.GetGatewaySchemaDefaulter().ApplyDefault(read); err != nil {
			return nil, "", err
		}
	}
	if full, err = json.Marshal(read.Object); err != nil {
		return nil, "", err
	}
	admitted[string(data)] = full
	return full, kind, nil
}

func one[T any](data []byte, into **T) error {
	*into = new(T)
	return yaml.UnmarshalStrict(data, *into)
}

func more[T any](data []byte, into *[]*T) error {
	var item *T
	if err := one(data, &item); err != nil {
		return err
	}
	*into = append(*into, item)
	return nil
}
