// Command health runs health checks of policies with the code that Argo CD and Flux run: gopher-lua with the libraries that Argo
// CD opens, and Flux's evaluator of expressions. It reads a JSON list of checks with their objects and prints a JSON list of
// results.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type check struct {
	Object  json.RawMessage `json:"object"`
	Lua     string          `json:"lua"`
	Failed  string          `json:"failed"`
	Current string          `json:"current"`
}

type result struct {
	ArgoCD  string `json:"argocd"`
	Message string `json:"message"`
	Flux    string `json:"flux"`
	Error   string `json:"error"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	var checks []check
	if err := json.NewDecoder(os.Stdin).Decode(&checks); err != nil {
		return err
	}
	results := make([]result, 0, len(checks))
	for _, c := range checks {
		// Numbers become int64, as they do when a client reads an object.
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(c.Object); err != nil {
			return err
		}
		var r result
		var err error
		if r.ArgoCD, r.Message, err = argocd(c.Lua, object.Object); err != nil {
			return fmt.Errorf("%s: %w", c.Object, err)
		}
		evaluator, err := cel.NewStatusEvaluator(&kustomize.HealthCheckExpressions{Failed: c.Failed, Current: c.Current})
		if err != nil {
			return fmt.Errorf("%s: %w", c.Object, err)
		}
		if found, err := evaluator.Evaluate(context.Background(), &object); err != nil {
			r.Flux, r.Error = "Unknown", err.Error()
		} else {
			r.Flux = found.Status.String()
		}
		results = append(results, r)
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

// argocd runs a script as Argo CD does: with the base, package and table libraries; its os library has only harmless functions
// and is left out here.
func argocd(script string, object map[string]any) (health, message string, err error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), NRet: 0, Protect: true}, lua.LString(name)); err != nil {
			return "", "", err
		}
	}
	l.SetGlobal("obj", value(l, object))
	if err := l.DoString(script); err != nil {
		return "", "", err
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", errors.New("the script returned no table")
	}
	return table.RawGetString("status").String(), table.RawGetString("message").String(), nil
}

func value(l *lua.LState, json any) lua.LValue {
	switch json := json.(type) {
	case bool:
		return lua.LBool(json)
	case int64:
		return lua.LNumber(json)
	case float64:
		return lua.LNumber(json)
	case string:
		return lua.LString(json)
	case []any:
		table := l.CreateTable(len(json), 0)
		for _, item := range json {
			table.Append(value(l, item))
		}
		return table
	case map[string]any:
		table := l.CreateTable(0, len(json))
		for name, member := range json {
			table.RawSetString(name, value(l, member))
		}
		return table
	default:
		return lua.LNil
	}
}
