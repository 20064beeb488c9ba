package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/go-logr/logr"
	apiv1 "k8s.io/api/core/v1"
	discoveryV1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	ngfAPIv1alpha1 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha1"
	ngfAPIv1alpha2 "github.com/nginx/nginx-gateway-fabric/v2/apis/v1alpha2"
	ngfcfg "github.com/nginx/nginx-gateway-fabric/v2/internal/controller/config"
	ngxcfg "github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/clientsettings"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/proxysettings"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/policies/ratelimit"
	ngxvalidation "github.com/nginx/nginx-gateway-fabric/v2/internal/controller/nginx/config/validation"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/dataplane"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/graph"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/resolver"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/state/validation"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/controller/status"
	"github.com/nginx/nginx-gateway-fabric/v2/internal/framework/waf/fetch"
)

// Every Service has one endpoint.
type endpoints struct{}

func (endpoints) Resolve(
	context.Context, logr.Logger, types.NamespacedName, apiv1.ServicePort, []discoveryV1.AddressType,
) ([]resolver.Endpoint, error) {
	return []resolver.Endpoint{{Address: "10.0.0.1", Port: 8080}}, nil
}

// No scenario has a bundle to fetch.
type bundles struct{ fetch.Fetcher }

func translate(objects []object) (*verdicts, error) {
	said := newVerdicts()
	state, err := clusterState(objects)
	if err != nil {
		return nil, err
	}
	generic := ngxvalidation.GenericValidator{}
	manager := policies.NewManager(gvkOf,
		policies.ManagerConfig{GVK: gvkOf(&ngfAPIv1alpha1.ClientSettingsPolicy{}), Validator: clientsettings.NewValidator(generic)},
		policies.ManagerConfig{GVK: gvkOf(&ngfAPIv1alpha1.ProxySettingsPolicy{}), Validator: proxysettings.NewValidator(generic)},
		policies.ManagerConfig{GVK: gvkOf(&ngfAPIv1alpha1.RateLimitPolicy{}), Validator: ratelimit.NewValidator(generic)},
	)
	g := graph.BuildGraph(context.Background(), state, controllerName, gatewayClass, "cluster.local", nil, bundles{}, nil, nil, nil,
		validation.Validators{
			HTTPFieldsValidator: ngxvalidation.HTTPValidator{}, GenericValidator: generic,
			AuthFieldsValidator: ngxvalidation.AuthFieldValidator{}, PolicyValidator: manager,
		},
		logr.Discard(), graph.FeatureFlags{Experimental: true})
	if err := said.statuses(g); err != nil {
		return nil, err
	}
	generator := ngxcfg.NewGeneratorImpl(false, &ngfcfg.UsageReportConfig{}, logr.Discard())
	for _, gateway := range g.Gateways {
		config := dataplane.BuildConfiguration(context.Background(), logr.Discard(), g, gateway, endpoints{}, false, ngfAPIv1alpha2.Dual)
		files := map[string]string{}
		for _, file := range generator.Generate(config) {
			files[file.Meta.Name] = string(file.Contents)
		}
		servers := servers(files)
		for _, place := range placesOfRules(objects) {
			said.inForce[place.name] = servers.at(place)
		}
	}
	return said, nil
}

// The statuses that the controller writes for its policies.
func (v *verdicts) statuses(g *graph.Graph) error {
	for _, request := range status.PrepareNGFPolicyRequests(g.NGFPolicies, metav1.Now(), controllerName) {
		o := request.ResourceType.DeepCopyObject().(client.Object)
		request.Setter(o)
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		var written struct {
			Status struct {
				Ancestors []gatewayv1.PolicyAncestorStatus
			}
		}
		if err := json.Unmarshal(text, &written); err != nil {
			return err
		}
		o.SetNamespace(request.NsName.Namespace)
		o.SetName(request.NsName.Name)
		v.policy(gvkOf(o).Kind, o, written.Status.Ancestors)
	}
	return nil
}

// The path of the location in which requests of a rule are.
func pathOf(rule object) string {
	match := rule["matches"].(list)[0].(object)
	if path, ok := match["path"]; ok {
		return path.(object)["value"].(string) + "/"
	}
	method := match["method"].(object)
	return "= /" + strings.Join([]string{method["service"].(string), method["method"].(string)}, "/")
}

// Nothing is stored otherwise than it is written.
func stored(o object) object { return o }
