package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// call runs a function of the tests, follows closures, and writes down what asks the cluster for something.
func (in *interpreter) call(e *ast.CallExpr, s *scope) any {
	if in.depth > 32 {
		return nil
	}
	in.depth++
	defer func() { in.depth-- }()
	switch f := e.Fun.(type) {
	case *ast.Ident:
		if v, ok := s.get(f.Name); ok {
			if c, ok := v.(closure); ok {
				return in.run(c.lit.Type, c.lit.Body, c.in, in.args(e, s))
			}
			return nil
		}
		switch f.Name {
		case "append":
			list, _ := in.eval(e.Args[0], s).([]any)
			for i, arg := range e.Args[1:] {
				v := in.eval(arg, s)
				if more, ok := v.([]any); ok && e.Ellipsis.IsValid() && i == len(e.Args)-2 {
					list = append(list, more...)
				} else {
					list = append(list, v)
				}
			}
			return list
		case "len":
			list, _ := in.eval(e.Args[0], s).([]any)
			return len(list)
		case "make", "new", "panic", "cap", "min", "max":
			return nil
		}
		if decl, ok := in.funcs[in.dir+"."+f.Name]; ok && decl.Body != nil {
			return in.run(decl.Type, decl.Body, nil, in.args(e, s))
		}
		return in.converted(e, s)
	case *ast.SelectorExpr:
		return in.method(f, e, s)
	case *ast.FuncLit:
		return in.run(f.Type, f.Body, s, in.args(e, s))
	case *ast.ParenExpr, *ast.ArrayType, *ast.StarExpr:
		return in.converted(e, s)
	}
	return nil
}

// converted is the value of a conversion.
func (in *interpreter) converted(e *ast.CallExpr, s *scope) any {
	if len(e.Args) == 1 {
		return in.eval(e.Args[0], s)
	}
	return nil
}

func (in *interpreter) args(e *ast.CallExpr, s *scope) []any {
	args := []any{}
	for i, arg := range e.Args {
		v := in.eval(arg, s)
		if more, ok := v.([]any); ok && e.Ellipsis.IsValid() && i == len(e.Args)-1 {
			args = append(args, more...)
			continue
		}
		if r, ok := v.(*returned); ok {
			args = append(args, r.values...)
			continue
		}
		args = append(args, v)
	}
	return args
}

func (in *interpreter) run(t *ast.FuncType, body *ast.BlockStmt, outer *scope, args []any) any {
	inner := newScope(outer)
	at := 0
	for _, field := range t.Params.List {
		_, isVariadic := field.Type.(*ast.Ellipsis)
		for _, name := range field.Names {
			if isVariadic {
				if at < len(args) {
					inner.vars[name.Name] = append([]any{}, args[at:]...)
				}
				at = len(args)
				continue
			}
			inner.vars[name.Name] = nil
			if at < len(args) {
				inner.vars[name.Name] = args[at]
			}
			at++
		}
	}
	r := in.exec(body, inner)
	if r == nil {
		return nil
	}
	if len(r.values) == 1 {
		return r.values[0]
	}
	return r
}

// packages whose functions ask the cluster for something, or send a request.
var asking = map[string]bool{"kubernetes": true, "http": true, "tls": true, "grpc": true, "tcp": true, "udp": true, "meshutils": true, "echo": true, "weight": true}

func (in *interpreter) method(f *ast.SelectorExpr, e *ast.CallExpr, s *scope) any {
	name := f.Sel.Name
	args := func() []any { return in.args(e, s) }
	receiver, _ := f.X.(*ast.Ident)
	if name == "Run" && len(e.Args) == 2 {
		if c, ok := in.eval(e.Args[1], s).(closure); ok {
			return in.run(c.lit.Type, c.lit.Body, c.in, nil)
		}
	}
	if receiver != nil {
		_, isLocal := s.get(receiver.Name)
		switch {
		case isLocal && name == "GetTestCaseName":
			return ""
		case receiver.Name == "fmt" && name == "Sprintf":
			return sprintf(args())
		case receiver.Name == "ptr" || receiver.Name == "new":
			return in.converted(e, s)
		case !isLocal && asking[receiver.Name]:
			return in.asked(receiver.Name+"."+name, args())
		}
		if c, ok := in.eval(f, s).(closure); ok {
			return in.run(c.lit.Type, c.lit.Body, c.in, args())
		}
	}
	switch name {
	case "Update", "Patch", "Create", "Delete", "MustApplyWithCleanup", "MustApplyObjectsWithCleanup", "MustDelete":
		in.calls = append(in.calls, call{"changes", nil})
		return nil
	case "Parallel", "Helper", "Logf", "Log", "Fatalf", "Fatal", "Errorf", "Error", "Skip", "Skipf", "Context", "Cleanup":
		return nil
	}
	// Closures that are handed to something else are run where they are handed over.
	for _, arg := range args() {
		if c, ok := arg.(closure); ok {
			in.run(c.lit.Type, c.lit.Body, c.in, nil)
		}
	}
	return in.converted(e, s)
}

// asked writes a call down. What it returns is the address of the Gateway that it names.
func (in *interpreter) asked(name string, args []any) any {
	if name == "kubernetes.NewGatewayRef" {
		ref := map[string]any{"_type": "GatewayRef", "gateway": nil, "listeners": []any{}}
		if len(args) > 0 {
			ref["gateway"] = args[0]
			ref["listeners"] = args[1:]
		}
		return ref
	}
	if name == "kubernetes.NewResourceRef" {
		ref := map[string]any{"_type": "ResourceRef", "kind": "", "name": nil}
		for _, arg := range args {
			object, _ := arg.(map[string]any)
			switch {
			case object == nil:
			case object["Kind"] != nil:
				ref["kind"] = object["Kind"]
			case object["Name"] != nil:
				ref["name"] = object
			}
		}
		return ref
	}
	if strings.Contains(name, "WithModifications") || strings.HasPrefix(name, "http.Compare") {
		return nil
	}
	kept := []any{}
	var address any
	for _, arg := range args {
		switch arg := arg.(type) {
		case closure:
			in.run(arg.lit.Type, arg.lit.Body, arg.in, nil)
		case map[string]any:
			if arg["_type"] == "GatewayRef" || arg["_type"] == "ResourceRef" {
				address = arg
			}
			kept = append(kept, arg)
		default:
			if arg != nil {
				kept = append(kept, arg)
			}
		}
	}
	if len(kept) > 0 {
		in.calls = append(in.calls, call{name, kept})
	}
	return address
}

func sprintf(args []any) string {
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprintf(fmt.Sprint(args[0]), args[1:]...)
}
