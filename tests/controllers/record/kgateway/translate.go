package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiserverschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient"
	"github.com/kgateway-dev/kgateway/v2/pkg/apiclient/fake"
	"github.com/kgateway-dev/kgateway/v2/test/testutils"
	"github.com/kgateway-dev/kgateway/v2/test/translator"
)

var (
	scheme  = translator.NewScheme(runtime.SchemeBuilder{})
	schemas = readSchemas()
)

// The CRDs of the release. record.sh runs this in its source tree.
func readSchemas() map[schema.GroupVersionKind]*apiserverschema.Structural {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	all, err := testutils.GetStructuralSchemas(testutils.CRDPath)
	if err != nil {
		fail(err)
	}
	return all
}

// What the translator says of a state whose objects the schemas accept.
func translate(objects []object) (*verdicts, error) {
	dir, err := os.MkdirTemp("", "attache-record")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ages := map[string]metav1.Time{}
	documents := []string{}
	for _, o := range append(objects, extensionsFor(objects)...) {
		data, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		read := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &read.Object); err != nil {
			return nil, err
		}
		if read.GetKind() == "GatewayClass" {
			continue // The test client makes it.
		}
		ages[key(read.GetKind(), read)] = read.GetCreationTimestamp()
		documents = append(documents, string(data))
	}
	path := filepath.Join(dir, "state.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(documents, "\n---\n")), 0o644); err != nil {
		return nil, err
	}
	loaded := []client.Object{}
	config := translator.ExtraConfig{
		GVKToStructuralSchema: schemas,
		// The translator's test client ages objects as they come; they are to be as old as they say.
		NewClientFn: func(t *testing.T, all ...client.Object) apiclient.Client {
			for _, o := range all {
				o.SetCreationTimestamp(ages[key(o.GetObjectKind().GroupVersionKind().Kind, o)])
			}
			loaded = all
			return fake.NewClient(t, all...)
		},
	}
	var said *verdicts
	done := make(chan error)
	go func() {
		ended := fmt.Errorf("the translator's test client gave up")
		defer func() { done <- ended }()
		run := translator.TestCase{InputFiles: []string{path}}
		var results map[gatewayName]translator.ActualTestResult
		if results, ended = run.Run(&testing.T{}, context.Background(), scheme, config); ended == nil {
			if len(loaded) != len(documents) {
				ended = fmt.Errorf("%d of %d objects were loaded", len(loaded), len(documents))
				return
			}
			said, ended = read(objects, loaded, results)
		}
	}()
	err = <-done
	return said, err
}

func key(kind string, o client.Object) string {
	return fmt.Sprintf("%s/%s/%s", kind, o.GetNamespace(), o.GetName())
}

// An object as the API server keeps it, with the defaults of its schema: they take part in merges.
func stored(written object) object {
	version := written["apiVersion"].(string)
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		fail(err)
	}
	structural := schemas[gv.WithKind(written["kind"].(string))]
	if structural == nil {
		return written
	}
	data, err := json.Marshal(written)
	if err != nil {
		fail(err)
	}
	_, full, err := testutils.ApplyDefaults(data, structural)
	if err != nil {
		fail(err)
	}
	return parsed(full)
}
