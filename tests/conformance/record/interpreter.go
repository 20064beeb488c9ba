package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// interpreter walks through one test.
type interpreter struct {
	*program
	dir   string
	calls []call
	depth int
}

// scope has the variables of a block.
type scope struct {
	outer *scope
	vars  map[string]any
}

// closure is a function literal with what it sees.
type closure struct {
	lit *ast.FuncLit
	in  *scope
}

// returned is what a function gives back.
type returned struct{ values []any }

func newScope(outer *scope) *scope { return &scope{outer, map[string]any{}} }

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *scope) set(name string, v any) {
	for at := s; at != nil; at = at.outer {
		if _, ok := at.vars[name]; ok {
			at.vars[name] = v
			return
		}
	}
	s.vars[name] = v
}

// exec runs a statement; not nil where it returns.
func (in *interpreter) exec(stmt ast.Stmt, s *scope) *returned {
	switch stmt := stmt.(type) {
	case *ast.BlockStmt:
		if stmt == nil {
			return nil
		}
		inner := newScope(s)
		for _, one := range stmt.List {
			if r := in.exec(one, inner); r != nil {
				return r
			}
		}
	case *ast.ExprStmt:
		in.eval(stmt.X, s)
	case *ast.AssignStmt:
		in.assign(stmt, s)
	case *ast.DeclStmt:
		decl, _ := stmt.Decl.(*ast.GenDecl)
		if decl == nil {
			return nil
		}
		for _, spec := range decl.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range value.Names {
				s.vars[name.Name] = nil
				if i < len(value.Values) {
					s.vars[name.Name] = in.eval(value.Values[i], s)
				}
			}
		}
	case *ast.RangeStmt:
		in.loop(stmt, s)
	case *ast.ForStmt:
		// A test that waits or repeats: once is enough.
		in.exec(stmt.Body, s)
	case *ast.IfStmt:
		// Faults do not happen here.
		if stmt.Else != nil {
			return in.exec(stmt.Else, s)
		}
	case *ast.ReturnStmt:
		r := &returned{}
		for _, result := range stmt.Results {
			r.values = append(r.values, in.eval(result, s))
		}
		return r
	}
	return nil
}

func (in *interpreter) assign(stmt *ast.AssignStmt, s *scope) {
	var values []any
	for _, right := range stmt.Rhs {
		v := in.eval(right, s)
		if r, ok := v.(*returned); ok {
			values = append(values, r.values...)
		} else {
			values = append(values, v)
		}
	}
	for i, left := range stmt.Lhs {
		var v any
		if i < len(values) {
			v = values[i]
		}
		switch left := left.(type) {
		case *ast.Ident:
			if left.Name == "_" {
				continue
			}
			if stmt.Tok == token.DEFINE {
				s.vars[left.Name] = v
			} else {
				s.set(left.Name, v)
			}
		case *ast.SelectorExpr:
			if object, ok := in.eval(left.X, s).(map[string]any); ok {
				object[left.Sel.Name] = v
			}
		}
	}
}

func (in *interpreter) loop(stmt *ast.RangeStmt, s *scope) {
	bind := func(inner *scope, to ast.Expr, v any) {
		if name, ok := to.(*ast.Ident); ok && name.Name != "_" {
			inner.vars[name.Name] = v
		}
	}
	switch over := in.eval(stmt.X, s).(type) {
	case []any:
		for i, v := range over {
			inner := newScope(s)
			bind(inner, stmt.Key, i)
			bind(inner, stmt.Value, v)
			in.exec(stmt.Body, inner)
		}
	case map[string]any:
		for key, v := range over {
			inner := newScope(s)
			bind(inner, stmt.Key, key)
			bind(inner, stmt.Value, v)
			in.exec(stmt.Body, inner)
		}
	}
}

func (in *interpreter) eval(e ast.Expr, s *scope) any {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			v, _ := strconv.Unquote(e.Value)
			return v
		}
		n, err := strconv.Atoi(e.Value)
		if err != nil {
			return e.Value
		}
		return n
	case *ast.Ident:
		return in.named(e.Name, s)
	case *ast.SelectorExpr:
		return in.selected(e, s)
	case *ast.CompositeLit:
		return in.literal(e, e.Type, s)
	case *ast.UnaryExpr:
		return in.eval(e.X, s)
	case *ast.StarExpr:
		return in.eval(e.X, s)
	case *ast.ParenExpr:
		return in.eval(e.X, s)
	case *ast.FuncLit:
		return closure{e, s}
	case *ast.IndexExpr:
		list, _ := in.eval(e.X, s).([]any)
		if at, ok := in.eval(e.Index, s).(int); ok && at >= 0 && at < len(list) {
			return list[at]
		}
		if object, ok := in.eval(e.X, s).(map[string]any); ok {
			return object[fmt.Sprint(in.eval(e.Index, s))]
		}
	case *ast.BinaryExpr:
		one, other := in.eval(e.X, s), in.eval(e.Y, s)
		if a, ok := one.(string); ok && e.Op == token.ADD {
			return a + fmt.Sprint(other)
		}
	case *ast.CallExpr:
		return in.call(e, s)
	}
	return nil
}

func (in *interpreter) named(name string, s *scope) any {
	if v, ok := s.get(name); ok {
		return v
	}
	switch name {
	case "true":
		return true
	case "false":
		return false
	case "nil":
		return nil
	}
	if value, ok := in.consts[name]; ok {
		return in.eval(value, nil)
	}
	if at, ok := in.vars[name]; ok {
		return in.eval(at.value, nil)
	}
	return nil
}

// selected is a field, or a constant of a package. Names of the API's own constants end in what they are.
func (in *interpreter) selected(e *ast.SelectorExpr, s *scope) any {
	if x, ok := e.X.(*ast.Ident); ok {
		if v, known := s.get(x.Name); known {
			if object, ok := v.(map[string]any); ok {
				return object[e.Sel.Name]
			}
			return nil
		}
		name := e.Sel.Name
		for _, word := range []string{"Condition", "Reason", "Support"} {
			if at := strings.LastIndex(name, word); at >= 0 && at+len(word) < len(name) {
				return name[at+len(word):]
			}
		}
		if value, ok := in.consts[name]; ok {
			return in.eval(value, nil)
		}
		return name
	}
	if object, ok := in.eval(e.X, s).(map[string]any); ok {
		return object[e.Sel.Name]
	}
	return nil
}

func (in *interpreter) literal(e *ast.CompositeLit, t ast.Expr, s *scope) any {
	switch t := t.(type) {
	case *ast.ArrayType:
		list := []any{}
		for _, element := range e.Elts {
			list = append(list, in.element(element, t.Elt, s))
		}
		return list
	case *ast.MapType:
		object := map[string]any{}
		for _, element := range e.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				object[fmt.Sprint(in.eval(pair.Key, s))] = in.element(pair.Value, t.Value, s)
			}
		}
		return object
	}
	object := map[string]any{}
	for _, element := range e.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				object[key.Name] = in.element(pair.Value, nil, s)
			}
		}
	}
	object["_type"] = typeName(t)
	return object
}

// element is an element of a literal, which may leave its type out.
func (in *interpreter) element(e, t ast.Expr, s *scope) any {
	if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
		return in.literal(lit, t, s)
	}
	return in.eval(e, s)
}
