// Records what the own translator of a project says of generated scenarios.
//
// Every project has its `project`, `gatewayClass`, `common`, `samples`, `themes`, `translate` and `stored`. The program is built
// inside the source tree of the release (see ../record.sh), since the translators are internal to it.
//
//	record DIR RELEASE    write the scenarios and what was said of them into DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: record DIR RELEASE"))
	}
	dir, release := os.Args[1], os.Args[2]
	for _, theme := range themes() {
		var out strings.Builder
		fmt.Fprintf(&out, "# %s\n", theme.about)
		out.WriteString("# Made by `make record-controllers`; not edited by hand.\n")
		fmt.Fprintf(&out, "project: %s\nrelease: %s\n", project, release)
		out.WriteString("common:\n")
		for _, object := range common() {
			fmt.Fprintf(&out, "- %s\n", flow(object))
		}
		out.WriteString("scenarios:\n")
		for _, scenario := range theme.scenarios {
			objects := append(common(), scenario.state...)
			said, err := translate(objects)
			if err != nil {
				fail(fmt.Errorf("%s: %w", scenario.name, err))
			}
			fmt.Fprintf(&out, "- name: %s\n", scenario.name)
			if scenario.about != "" {
				fmt.Fprintf(&out, "  about: %s\n", flow(scenario.about))
			}
			out.WriteString("  state:\n")
			for _, object := range scenario.state {
				fmt.Fprintf(&out, "  - %s\n", flow(stored(object)))
			}
			said.write(&out)
		}
		path := filepath.Join(dir, theme.name+".yaml")
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "record:", err)
	os.Exit(1)
}
