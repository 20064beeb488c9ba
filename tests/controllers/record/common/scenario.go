package main

import "strings"

// A state with a name.
type scenario struct {
	name, about string
	state       []object
}

// Scenarios of one file.
type theme struct {
	name, about string
	scenarios   []scenario
}

// The circumstances of a plan, as the file tells them.
func (p plan) String(factors []factor) string {
	parts := []string{}
	for _, f := range factors {
		parts = append(parts, f.name+" "+p[f.name])
	}
	return strings.Join(parts, ", ")
}
