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

// key is what tells one item from another. Where the sentence of a triple begins and
// ends is not a part of it.
func (i item) key() item {
	if i.Kind == "triple" {
		i.Start, i.End = 0, 0
	}
	i.Type, i.Sentence = "", ""
	return i
}

// maxGone is the share of the verdicts that may be about what is not found any more.
// The others are still a sample of what is.
const maxGone = 0.05

// cell is what has a precision of its own.
type cell struct{ domain, kind string }

// tally counts the verdicts of a cell.
type tally struct {
	right, total, gone int
	reasons            map[string]int
}

// score prints the precision of what is found, and what was wrong, by the verdicts
// on a sample of it.
func score(out io.Writer, found map[item]bool, in io.Reader, name string) error {
	seen := map[item]bool{}
	tallies := map[cell]*tally{}
	var cells []cell
	for l, err := range jsonl.Read[verdict](in, jsonl.Options{Name: name}) {
		if err != nil {
			return err
		}
		v, n := l.Value, l.Number
		if seen[v.key()] {
			return fmt.Errorf("%s:%d: %s %s at %d of %q has two verdicts", name, n, v.Kind, v.Text, v.Start, v.Page)
		}
		seen[v.key()] = true
		c := cell{v.Domain, v.Kind}
		t := tallies[c]
		if t == nil {
			t = &tally{reasons: map[string]int{}}
			tallies[c], cells = t, append(cells, c)
		}
		switch {
		case v.Verdict != "right" && v.Verdict != "wrong":
			return fmt.Errorf("%s:%d: verdict %q is neither right nor wrong", name, n, v.Verdict)
		case !found[v.key()]:
			t.gone++
			continue
		case v.Verdict == "right":
			t.right++
		default:
			t.reasons[v.Reason]++
		}
		t.total++
	}
	for _, c := range cells {
		if t := tallies[c]; float64(t.gone) > maxGone*float64(t.gone+t.total) {
			return fmt.Errorf("%s: %s, %s: %d of %d verdicts are about what is not found: draw and judge another sample", name, c.domain, c.kind, t.gone, t.gone+t.total)
		}
	}
	return printTallies(out, cells, tallies)
}

func printTallies(out io.Writer, cells []cell, tallies map[cell]*tally) error {
	for _, c := range cells {
		t := tallies[c]
		interval, err := stats.Wilson(t.right, t.total, stats.Options{})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-18s %-7s precision %v, %d others are not found any more\n", c.domain, c.kind, interval, t.gone)
		codes := make([]string, 0, len(t.reasons))
		for code, n := range t.reasons {
			codes = append(codes, fmt.Sprintf("%s %d", code, n))
		}
		slices.Sort(codes)
		if _, err := fmt.Fprintf(out, "%-18s         wrong: %s\n", "", strings.Join(codes, ", ")); err != nil {
			return err
		}
	}
	return nil
}
