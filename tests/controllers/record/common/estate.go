package main

import "fmt"

// The objects of a plan; policies are numbered as they come.
type estate struct {
	kind    string
	plan    plan
	first   int
	number  int
	objects []object
}

func (e *estate) is(factor string, values ...string) bool {
	for _, v := range values {
		if e.plan[factor] == v {
			return true
		}
	}
	return false
}

func (e *estate) add(objects ...object) { e.objects = append(e.objects, objects...) }

// A scenario for each plan over the factors: every two circumstances occur together at least once. `build` adds the objects.
func combined(name, about, kind string, factors []factor, more int, build func(e *estate)) theme {
	out := theme{name: name, about: about + ", every two circumstances together at least once."}
	for i, p := range pairwise(factors, more) {
		e := &estate{kind: kind, plan: p, first: i}
		build(e)
		out.scenarios = append(out.scenarios, scenario{
			name: fmt.Sprintf("%s-%03d", name, i+1), about: p.String(factors), state: e.objects,
		})
	}
	return out
}

// Settings number i of a kind: one that all have (`same`), another for each (`apart`), or both. Each project has its `samples`.
func settings(kind, how string, first, i int) object {
	all := samples[kind]
	at := func(n int) func(int) object { return all[n%len(all)] }
	switch how {
	case "same":
		return at(first)(i)
	case "apart":
		return at(first + i)(i)
	case "both":
		out := at(first)(i)
		for key, value := range at(first + 1 + i%(len(all)-1))(i) {
			if _, there := out[key]; !there {
				out[key] = value
			}
		}
		return out
	}
	return object{}
}
