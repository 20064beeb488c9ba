// record reads the tables of the Gateway API's conformance suite without compiling it: it walks through the body of each
// test, follows constants, composite literals, loops over tables and helper functions, and writes down each call that makes
// a request or looks at a status, with its arguments. What a test does to the cluster is written down as "changes": what
// follows in it cannot be asked of its manifests alone.
//
//	record MODULE.zip FOLDER
//
// writes FOLDER/calls.json, FOLDER/base.yaml and the manifests of the tests.
package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"go/ast"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// test is what was found of one test.
type test struct {
	Name      string   `json:"name"`
	File      string   `json:"file"`
	Features  []string `json:"features"`
	Manifests []string `json:"manifests"`
	Mesh      bool     `json:"mesh"`
	Calls     []call   `json:"calls"`
}

// call is a call that a test makes.
type call struct {
	Func string `json:"func"`
	Args []any  `json:"args"`
}

func main() {
	if len(os.Args) != 3 {
		fatal(fmt.Errorf("usage: record MODULE.zip FOLDER"))
	}
	files, err := read(os.Args[1])
	if err != nil {
		fatal(err)
	}
	folder := os.Args[2]
	p := parse(files)
	tests := p.tests()
	text, err := json.MarshalIndent(tests, "", " ")
	if err != nil {
		fatal(err)
	}
	keep := map[string][]byte{"calls.json": text}
	for name, text := range files {
		if name == "base/manifests.yaml" || name == "mesh/manifests.yaml" ||
			strings.HasPrefix(name, "tests/") && strings.HasSuffix(name, ".yaml") {
			keep[name] = text
		}
	}
	for name, text := range keep {
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			fatal(err)
		}
	}
	fmt.Printf("%d tests\n", len(tests))
}

// read takes the files of a module out of its archive, by their paths in it.
func read(archive string) (map[string][]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		_, name, ok := strings.Cut(f.Name, "@")
		if ok {
			_, name, ok = strings.Cut(name, "/")
		}
		if !ok || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".yaml") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// tests walks through every variable that is a conformance test.
func (p *program) tests() []test {
	var found []test
	for name, at := range p.vars {
		lit, ok := at.value.(*ast.CompositeLit)
		if !ok || !strings.HasSuffix(typeName(lit.Type), "ConformanceTest") {
			continue
		}
		t := test{Name: name, File: at.file, Mesh: strings.HasPrefix(at.file, "tests/mesh/")}
		in := &interpreter{program: p, dir: path.Dir(at.file)}
		var body *ast.FuncLit
		for _, element := range lit.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch fmt.Sprint(pair.Key) {
			case "ShortName":
				t.Name = text(in.eval(pair.Value, nil))
			case "Features":
				t.Features = texts(in.eval(pair.Value, nil))
			case "Manifests":
				t.Manifests = texts(in.eval(pair.Value, nil))
			case "Test":
				body, _ = pair.Value.(*ast.FuncLit)
			}
		}
		if body != nil {
			in.exec(body.Body, newScope(nil))
		}
		t.Calls = in.calls
		found = append(found, t)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Name < found[j].Name })
	return found
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func texts(v any) []string {
	all := []string{}
	list, _ := v.([]any)
	for _, one := range list {
		all = append(all, text(one))
	}
	return all
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "record:", err)
	os.Exit(1)
}
