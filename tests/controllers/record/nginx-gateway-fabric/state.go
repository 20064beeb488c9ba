package main

import (
	"encoding/json"
	"fmt"

	apiv1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	inference "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	ngfAPIv1alpha1 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha1"
	ngfAPIv1alpha2 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha2"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/graph"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/framework/kinds"
)

type key = types.NamespacedName

var (
	scheme = runtime.NewScheme()
	gvkOf  kinds.MustExtractGVK
)

func init() {
	utilruntime.Must(gatewayv1.Install(scheme))
	utilruntime.Must(apiv1.AddToScheme(scheme))
	utilruntime.Must(ngfAPIv1alpha1.AddToScheme(scheme))
	utilruntime.Must(ngfAPIv1alpha2.AddToScheme(scheme))
	utilruntime.Must(inference.Install(scheme))
	gvkOf = kinds.NewMustExtractGKV(scheme)
}

// The state of the cluster as the controller keeps it.
func clusterState(objects []object) (graph.ClusterState, error) {
	st := graph.ClusterState{
		GatewayClasses: map[key]*gatewayv1.GatewayClass{}, Gateways: map[key]*gatewayv1.Gateway{},
		HTTPRoutes: map[key]*gatewayv1.HTTPRoute{}, GRPCRoutes: map[key]*gatewayv1.GRPCRoute{},
		TLSRoutes: map[key]*gatewayv1.TLSRoute{}, TCPRoutes: map[key]*gatewayv1.TCPRoute{}, UDPRoutes: map[key]*gatewayv1.UDPRoute{},
		Services: map[key]*apiv1.Service{}, Namespaces: map[key]*apiv1.Namespace{}, ReferenceGrants: map[key]*gatewayv1.ReferenceGrant{},
		Secrets: map[key]*apiv1.Secret{}, CRDMetadata: map[key]*metav1.PartialObjectMetadata{}, ConfigMaps: map[key]*apiv1.ConfigMap{},
		BackendTLSPolicies: map[key]*gatewayv1.BackendTLSPolicy{}, NginxProxies: map[key]*ngfAPIv1alpha2.NginxProxy{},
		NGFPolicies: map[graph.PolicyKey]policies.Policy{}, SnippetsFilters: map[key]*ngfAPIv1alpha1.SnippetsFilter{},
		AuthenticationFilters: map[key]*ngfAPIv1alpha1.AuthenticationFilter{}, InferencePools: map[key]*inference.InferencePool{},
		ListenerSets: map[key]*gatewayv1.ListenerSet{}, APPolicies: map[key]*unstructured.Unstructured{},
		APLogConfs: map[key]*unstructured.Unstructured{}, ExternalLoadBalancer: map[key]*ngfAPIv1alpha1.ExternalLoadBalancer{},
	}
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return st, err
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(text); err != nil {
			return st, err
		}
		into, err := scheme.New(u.GroupVersionKind())
		if err != nil {
			return st, err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return st, fmt.Errorf("%s: %w", text, err)
		}
		into.GetObjectKind().SetGroupVersionKind(u.GroupVersionKind())
		k := key{Namespace: u.GetNamespace(), Name: u.GetName()}
		switch o := into.(type) {
		case *gatewayv1.GatewayClass:
			st.GatewayClasses[k] = o
		case *gatewayv1.Gateway:
			st.Gateways[k] = o
		case *gatewayv1.HTTPRoute:
			st.HTTPRoutes[k] = o
		case *gatewayv1.GRPCRoute:
			st.GRPCRoutes[k] = o
		case *gatewayv1.ListenerSet:
			st.ListenerSets[k] = o
		case *apiv1.Service:
			st.Services[k] = o
		case *apiv1.Namespace:
			st.Namespaces[k] = o
		case policies.Policy:
			st.NGFPolicies[graph.PolicyKey{NsName: k, GVK: gvkOf(o)}] = o
		default:
			return st, fmt.Errorf("objects of type %T are not read", into)
		}
	}
	return st, nil
}
