// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
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

const (
	maxLine   = 16 << 20 // bytes of a line
	maxFaults = 20       // lines that are complained about
)

// readPairs reads the lines and reports every bad one by its number.
func readPairs(name string, r io.Reader) ([]pair, error) {
	var out []pair
	var faults []error
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for scanner.Scan() && len(faults) < maxFaults {
		n++
		text := bytes.TrimSpace(bytes.TrimPrefix(scanner.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		p, err := readPair(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", name, n, err))
			continue
		}
		p.line = n
		out = append(out, p)
	}
	if err := scanner.Err(); err != nil {
		faults = append(faults, fmt.Errorf("%s:%d: %w", name, n+1, err))
	}
	if len(faults) == 0 && len(out) == 0 {
		faults = append(faults, fmt.Errorf("%s: no pair in it", name))
	}
	return out, errors.Join(faults...)
}

func readPair(text []byte) (pair, error) {
	var p pair
	if !utf8.Valid(text) {
		return p, errors.New("not UTF-8")
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, err
	}
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
		return p, fmt.Errorf("keys missing: %s", strings.Join(missing, ", "))
	}
	for _, l := range []*int{p.Label, p.Label2} {
		if l != nil && *l != 0 && *l != 1 {
			return p, fmt.Errorf("label %d is neither 0 nor 1", *l)
		}
	}
	return p, nil
}
