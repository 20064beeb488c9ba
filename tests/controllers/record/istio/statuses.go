package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	networkingclient "istio.io/client-go/pkg/apis/networking/v1"
	securityclient "istio.io/client-go/pkg/apis/security/v1"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/serviceregistry/ambient"
	kubelib "istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/krt"
)

// The condition `WaypointAccepted` for every target of an AuthorizationPolicy: Istio writes them as one.
func (v *verdicts) statuses(objects []object) error {
	typed, err := decoded(objects)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	opts := krt.NewOptionsBuilder(stop, "", krt.GlobalDebugHandler)
	namespaces := collection[*corev1.Namespace](typed)
	gateways := collection[*gatewayv1.Gateway](typed)
	classes := collection[*gatewayv1.GatewayClass](typed)
	config := krt.NewStatic(&ambient.MeshConfig{MeshConfig: meshConfig()}, true)
	builder := ambient.Builder{
		DomainSuffix: "cluster.local",
		ClusterID:    "Kubernetes",
		Networks: ambient.BuildNetworkCollections(namespaces, gateways, ambient.Options{
			SystemNamespace: root, ClusterID: "Kubernetes",
		}, opts),
	}
	waypoints := builder.WaypointsCollection("Kubernetes", gateways, classes, collection[*corev1.Pod](typed), opts)
	all := ambient.WaypointPolicyStatusCollection(
		collection[*securityclient.AuthorizationPolicy](typed), waypoints, collection[*corev1.Service](typed),
		collection[*networkingclient.ServiceEntry](typed), classes, config,
		model.ServiceEntryVisibilityCollection(config.AsCollection(), opts), namespaces, opts,
	)
	all.WaitUntilSynced(stop)
	for _, status := range all.List() {
		by := map[string]string{}
		for _, c := range status.Conditions {
			// `Kind.group:namespace/name`
			kind, rest, _ := strings.Cut(c.Ancestor, ".")
			_, name, _ := strings.Cut(rest, ":")
			said := metav1.Condition{Type: "WaypointAccepted", Status: metav1.ConditionFalse, Reason: c.Status.Reason}
			if c.Bound {
				said.Status = metav1.ConditionTrue
			}
			if kind == "GatewayClass" {
				_, name, _ = strings.Cut(name, "/")
				name = "/" + name
			}
			by[kind+"/"+name] = conditions([]metav1.Condition{said})
		}
		v.policies[fmt.Sprintf("AuthorizationPolicy/%s", status.Source.NamespacedName)] = by
	}
	return nil
}

func decoded(objects []object) ([]runtime.Object, error) {
	decoder := kubelib.IstioCodec.UniversalDeserializer()
	var out []runtime.Object
	for _, o := range objects {
		switch o["kind"] {
		case "Namespace", "Gateway", "GatewayClass", "AuthorizationPolicy", "Service", "ServiceEntry":
			typed, _, err := decoder.Decode([]byte(written(o)), nil, nil)
			if err != nil {
				return nil, err
			}
			out = append(out, typed)
		}
	}
	return out, nil
}

func collection[T any](objects []runtime.Object) krt.Collection[T] {
	var of []T
	for _, o := range objects {
		if o, ok := any(o).(T); ok {
			of = append(of, o)
		}
	}
	return krt.NewStaticCollection[T](nil, of)
}
