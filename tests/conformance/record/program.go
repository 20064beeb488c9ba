package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strings"
)

// program is what the suite declares.
type program struct {
	// vars are the package variables of the tests.
	vars map[string]declared
	// consts are constants, of the tests and of the packages of the suite, by name.
	consts map[string]ast.Expr
	// funcs are the functions of the tests, by folder and name.
	funcs map[string]*ast.FuncDecl
}

type declared struct {
	file  string
	value ast.Expr
}

func parse(files map[string][]byte) *program {
	p := &program{vars: map[string]declared{}, consts: map[string]ast.Expr{}, funcs: map[string]*ast.FuncDecl{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, files[name], parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		p.declare(name, file)
	}
	return p
}

func (p *program) declare(name string, file *ast.File) {
	isTest := strings.HasPrefix(name, "tests/")
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if isTest && decl.Recv == nil {
				p.funcs[path.Dir(name)+"."+decl.Name.Name] = decl
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, ident := range value.Names {
					if i >= len(value.Values) {
						continue
					}
					if decl.Tok == token.CONST {
						if _, known := p.consts[ident.Name]; !known || isTest {
							p.consts[ident.Name] = value.Values[i]
						}
					} else if isTest {
						p.vars[ident.Name] = declared{name, value.Values[i]}
					} else if _, known := p.consts[ident.Name]; !known {
						p.consts[ident.Name] = value.Values[i]
					}
				}
			}
		}
	}
}

// typeName is the last name of a type.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.StarExpr:
		return typeName(t.X)
	}
	return ""
}
