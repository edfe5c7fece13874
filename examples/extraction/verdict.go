// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// verdict is a person's word on an item of the sample.
type verdict struct {
	item
	Verdict string `json:"verdict"`          // right or wrong
	Reason  string `json:"reason,omitempty"` // why wrong: a short code
}

// key is what tells one item from another.
func (i item) key() item {
	i.Type, i.Sentence = "", ""
	return i
}

// score compares the verdicts with the sample, and prints the precision and
// what was wrong.
func score(out io.Writer, sample []item, in io.Reader, name string) error {
	open := map[item]bool{}
	for _, it := range sample {
		open[it.key()] = true
	}
	type cell struct{ domain, kind string }
	right, total := map[cell]int{}, map[cell]int{}
	reasons := map[cell]map[string]int{}
	var cells []cell
	for l, err := range jsonl.Read[verdict](in, jsonl.Options{Name: name}) {
		if err != nil {
			return err
		}
		v, n := l.Value, l.Number
		if !open[v.key()] {
			return fmt.Errorf("%s:%d: %s %s at %d of %q is not in the sample, or twice in the file", name, n, v.Kind, v.Text, v.Start, v.Page)
		}
		delete(open, v.key())
		c := cell{v.Domain, v.Kind}
		if total[c] == 0 {
			cells = append(cells, c)
			reasons[c] = map[string]int{}
		}
		total[c]++
		switch v.Verdict {
		case "right":
			right[c]++
		case "wrong":
			reasons[c][v.Reason]++
		default:
			return fmt.Errorf("%s:%d: verdict %q is neither right nor wrong", name, n, v.Verdict)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%s: %d of the %d items of the sample have no verdict", name, len(open), len(sample))
	}
	for _, c := range cells {
		interval, err := stats.Wilson(right[c], total[c], stats.Options{})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-18s %-7s precision %v\n", c.domain, c.kind, interval)
		codes := make([]string, 0, len(reasons[c]))
		for code, n := range reasons[c] {
			codes = append(codes, fmt.Sprintf("%s %d", code, n))
		}
		slices.Sort(codes)
		if _, err := fmt.Fprintf(out, "%-18s         wrong: %s\n", "", strings.Join(codes, ", ")); err != nil {
			return err
		}
	}
	return nil
}
