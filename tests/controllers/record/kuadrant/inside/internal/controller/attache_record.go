package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"github.com/kuadrant/policy-machinery/controller"
	"github.com/kuadrant/policy-machinery/machinery"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	kuadrantv1 "github.com/kuadrant/kuadrant-operator/api/v1"
	kuadrantv1alpha1 "github.com/kuadrant/kuadrant-operator/api/v1alpha1"
	kuadrantv1beta1 "github.com/kuadrant/kuadrant-operator/api/v1beta1"
	"github.com/kuadrant/kuadrant-operator/internal/kuadrant"
)

// RecordedPath is the effective policy of a kind on one path: GatewayClass, Gateway, listener, route, rule.
type RecordedPath struct {
	Kind string
	Path []string
	Spec json.RawMessage
}

// Record computes the condition Accepted of every policy, by its locator, and the effective policies of every path, as the
// reconcilers do. Validators and reconcilers are internal to this package.
func Record(objects []controller.Object) (accepted map[string]metav1.Condition, paths []RecordedPath, err error) {
	store := controller.Store{}
	options := []machinery.GatewayAPITopologyOptionsFunc{
		machinery.ExpandGatewayListeners(), machinery.ExpandHTTPRouteRules(), machinery.ExpandGRPCRouteRules(), machinery.ExpandServicePorts(),
	}
	for i, o := range objects {
		store[fmt.Sprint(i)] = o
		switch o := o.(type) {
		case *gwapiv1.GatewayClass:
			options = append(options, machinery.WithGatewayClasses(o))
		case *gwapiv1.Gateway:
			options = append(options, machinery.WithGateways(o))
		case *gwapiv1.HTTPRoute:
			options = append(options, machinery.WithHTTPRoutes(o))
		case *gwapiv1.GRPCRoute:
			options = append(options, machinery.WithGRPCRoutes(o))
		case machinery.Policy:
			options = append(options, machinery.WithGatewayAPITopologyPolicies(o))
		case machinery.Object:
			options = append(options, machinery.WithGatewayAPITopologyObjects(o))
		}
	}
	options = append(options, machinery.WithGatewayAPITopologyLinks(kuadrantv1beta1.LinkKuadrantToGatewayClasses(store)))
	topology, err := machinery.NewGatewayAPITopology(options...)
	if err != nil {
		return nil, nil, err
	}
	ctx := controller.LoggerIntoContext(context.Background(), logr.Discard())
	state := &sync.Map{}
	steps := []func() error{
		func() error {
			v := &AuthPolicyValidator{isGatewayAPIInstalled: true, isAuthorinoOperatorInstalled: true, isGatewayProviderInstalled: true}
			return v.Validate(ctx, nil, topology, nil, state)
		},
		func() error {
			v := &RateLimitPolicyValidator{isGatewayAPIInstalled: true, isLimitadorOperatorInstalled: true, isGatewayProviderInstalled: true}
			return v.Validate(ctx, nil, topology, nil, state)
		},
		func() error {
			v := &TokenRateLimitPolicyValidator{isGatewayAPIInstalled: true, isLimitadorOperatorInstalled: true, isGatewayProviderInstalled: true}
			return v.Validate(ctx, nil, topology, nil, state)
		},
		func() error { return (&EffectiveAuthPolicyReconciler{}).Reconcile(ctx, nil, topology, nil, state) },
		func() error { return (&EffectiveRateLimitPolicyReconciler{}).Reconcile(ctx, nil, topology, nil, state) },
		func() error {
			return (&EffectiveTokenRateLimitPolicyReconciler{}).Reconcile(ctx, nil, topology, nil, state)
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	accepted = map[string]metav1.Condition{}
	note := func(p interface {
		kuadrant.Policy
		machinery.Policy
	}, err error) {
		accepted[p.GetLocator()] = *kuadrant.AcceptedCondition(p, err)
	}
	for _, p := range topology.Policies().Items() {
		switch p := p.(type) {
		case *kuadrantv1.AuthPolicy:
			_, err := authPolicyAcceptedStatusFunc(state)(p)
			note(p, err)
		case *kuadrantv1.RateLimitPolicy:
			_, err := rateLimitPolicyAcceptedStatusFunc(state)(p)
			note(p, err)
		case *kuadrantv1alpha1.TokenRateLimitPolicy:
			_, err := tokenRateLimitPolicyAcceptedStatusFunc(state)(p)
			note(p, err)
		}
	}
	add := func(kind string, path []machinery.Targetable, spec any) {
		locators := make([]string, 0, len(path))
		for _, target := range path {
			locators = append(locators, target.GetLocator())
		}
		text, _ := json.Marshal(spec)
		paths = append(paths, RecordedPath{Kind: kind, Path: locators, Spec: text})
	}
	if all, ok := state.Load(StateEffectiveAuthPolicies); ok {
		for _, p := range all.(EffectiveAuthPolicies) {
			add("AuthPolicy", p.Path, p.Spec.Spec.Proper())
		}
	}
	if all, ok := state.Load(StateEffectiveRateLimitPolicies); ok {
		for _, p := range all.(EffectiveRateLimitPolicies) {
			add("RateLimitPolicy", p.Path, p.Spec.Spec.Proper())
		}
	}
	if all, ok := state.Load(StateEffectiveTokenRateLimitPolicies); ok {
		for _, p := range all.(EffectiveTokenRateLimitPolicies) {
			add("TokenRateLimitPolicy", p.Path, p.Spec.Spec.Proper())
		}
	}
	return accepted, paths, nil
}
