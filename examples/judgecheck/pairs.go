// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// pair is one labelled line.
type pair struct {
	Question  string `json:"question"`
	Reference string `json:"reference"`
	Answer    string `json:"answer"`
	Label     *int   `json:"label"`
	Label2    *int   `json:"label2"`
	// Kind groups the pairs in the report; may be empty.
	Kind string `json:"kind"`
	line int
}

// maxFaults is how many lines are complained about.
const maxFaults = 20

// readPairs reads the lines and reports every bad one by its number.
func readPairs(name string, r io.Reader) ([]pair, error) {
	var out []pair
	var faults []error
	for l, err := range jsonl.Read[pair](r, jsonl.Options{Name: name}) {
		if err == nil {
			err = l.Value.check(name, l.Number)
		}
		if err != nil {
			if faults = append(faults, err); len(faults) == maxFaults {
				break
			}
			continue
		}
		l.Value.line = l.Number
		out = append(out, l.Value)
	}
	if len(faults) == 0 && len(out) == 0 {
		faults = append(faults, fmt.Errorf("%s: no pair in it", name))
	}
	return out, errors.Join(faults...)
}

func (p pair) check(name string, line int) error {
	var missing []string
	for _, f := range []struct {
		key string
		has bool
	}{{"reference", strings.TrimSpace(p.Reference) != ""}, {"label", p.Label != nil}} {
		if !f.has {
			missing = append(missing, f.key)
		}
	}
	if len(missing) > 0 {
		return &jsonl.Error{File: name, Line: line, Err: fmt.Errorf("keys missing: %s", strings.Join(missing, ", "))}
	}
	for _, l := range []*int{p.Label, p.Label2} {
		if l != nil && *l != 0 && *l != 1 {
			return &jsonl.Error{File: name, Line: line, Err: fmt.Errorf("label %d is neither 0 nor 1", *l)}
		}
	}
	return nil
}
