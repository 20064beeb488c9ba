// Command flux applies files as Flux's kustomize-controller does: with its library, a dry run of every
// object first. It prints what changed on stdout and its log on stderr.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run applies the files, with the kubeconfig of $KUBECONFIG.
func run(files []string) error {
	if len(files) == 0 {
		return errors.New("no files")
	}
	log.SetLogger(funcr.New(func(_, line string) { fmt.Fprintln(os.Stderr, line) }, funcr.Options{}))
	objects, err := read(files)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := ctrl.New(config, ctrl.Options{})
	if err != nil {
		return err
	}
	owner := ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}
	manager := ssa.NewResourceManager(client, nil, owner)
	changes, err := manager.ApplyAllStaged(context.Background(), objects, ssa.DefaultApplyOptions())
	if err != nil {
		return err
	}
	for _, entry := range changes.Entries {
		fmt.Println(entry.String())
	}
	return nil
}

func read(files []string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		objects, err := utils.ReadObjects(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}
