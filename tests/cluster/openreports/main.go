// Command openreports reads a list of reports with the types of openreports.io, as a consumer would, and prints a line for each.
// A field that the types do not have is an error.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/openreports/reports-api/apis/openreports.io/v1alpha1"
	sigs "sigs.k8s.io/json"
)

type list struct {
	Items []json.RawMessage `json:"items"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all list
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, item := range all.Items {
		var kind struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(item, &kind); err != nil {
			return err
		}
		// A ClusterReport has the same fields.
		report := v1alpha1.Report{}
		var into any = &report
		cluster := v1alpha1.ClusterReport{}
		if kind.Kind == "ClusterReport" {
			into = &cluster
		}
		strict, err := sigs.UnmarshalStrict(item, into)
		if err != nil {
			return err
		}
		if len(strict) > 0 {
			return fmt.Errorf("%s: %v", kind.Kind, strict)
		}
		if kind.Kind == "ClusterReport" {
			print(kind.Kind, cluster.Name, cluster.Summary, cluster.Results)
		} else {
			print(kind.Kind, report.Namespace+"/"+report.Name, report.Summary, report.Results)
		}
	}
	return nil
}

func print(kind, name string, summary v1alpha1.ReportSummary, results []v1alpha1.ReportResult) {
	fmt.Printf("%s %s: %d results, %d fail, %d warn, %d error\n", kind, name, len(results), summary.Fail, summary.Warn, summary.Error)
	for _, result := range results {
		for _, subject := range result.Subjects {
			fmt.Printf("  %s %s %s/%s at %d\n", result.Policy, result.Severity, subject.Namespace, subject.Name, result.Timestamp.Seconds)
		}
	}
}
