package main

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A value as YAML on one line, the names that everybody looks for first.
func flow(value any) string {
	switch value := value.(type) {
	case object:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		sort.Slice(keys, func(i, j int) bool {
			a, b := rank(keys[i]), rank(keys[j])
			if a != b {
				return a < b
			}
			return keys[i] < keys[j]
		})
		parts := make([]string, 0, len(keys))
		for _, key := range keys {
			parts = append(parts, text(key)+": "+flow(value[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case list:
		parts := make([]string, 0, len(value))
		for _, item := range value {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return text(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		return fmt.Sprint(value)
	}
}

var first = []string{"apiVersion", "kind", "metadata", "name", "namespace", "creationTimestamp"}

func rank(key string) int {
	for i, name := range first {
		if name == key {
			return i
		}
	}
	return len(first)
}

var (
	plain  = regexp.MustCompile(`^[A-Za-z/][-A-Za-z0-9_./#]*$`)
	others = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)
)

// Quoted where YAML would read something else.
func text(value string) string {
	if plain.MatchString(value) && !others.MatchString(value) {
		return value
	}
	return fmt.Sprintf("%q", value)
}
