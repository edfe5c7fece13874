// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"slices"
	"strings"
)

// frameOf is the part of a question before what it asks: "In addition to the
// boycotts, what did he admit?". It ends with the comma; 0 is no such part.
func frameOf(question string) int {
	first, _, _ := strings.Cut(strings.TrimSpace(question), " ")
	comma := strings.Index(question, ",")
	if comma < 0 || !frameWords[strings.ToLower(first)] || !strings.Contains(question[comma:], " ") {
		return 0
	}
	return comma
}

// frameWords begin what is only the frame of a question, or of a statement.
var frameWords = wordSet("in besides apart aside beyond rather despite although though while whereas following after before during given unlike instead other")

// clauses cut a statement before ", and", ", but", "; " and after a subordinate
// beginning ("While …, "). There is one at least.
func clauses(statement string) []string {
	var out []string
	first, _, _ := strings.Cut(statement, " ")
	if comma := strings.Index(statement, ", "); comma > 0 && frameWords[strings.ToLower(first)] {
		out, statement = append(out, statement[:comma]), statement[comma+2:]
	}
	for {
		at := -1
		for _, mark := range []string{", and ", ", but ", "; ", ", while ", ", although ", ", whereas "} {
			if i := strings.Index(statement, mark); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
		if at < 0 {
			return append(out, statement)
		}
		out, statement = append(out, statement[:at]), statement[at+2:]
	}
}

// release marks as given what of a reference answers only the frame of the
// question: a clause that has words of the frame, and none of those in which
// the question itself goes beyond it. Without another clause left nothing is
// released. A clause that shares nothing with the question goes with the next.
func (r *reader) release(gold *features, question, reference string) {
	at := frameOf(question)
	all := clauses(reference)
	if at == 0 || len(all) < 2 {
		return
	}
	frame, asked := r.read(question[:at]), r.read(question[at:])
	var free, waiting, kept []features
	for _, clause := range all {
		f := r.read(clause)
		inFrame, inAsked := f.meets(&frame, &asked), f.meets(&asked, &frame)
		switch {
		case inFrame > inAsked:
			free = append(append(free, waiting...), f)
			waiting = nil
		case inFrame == 0 && inAsked == 0:
			waiting = append(waiting, f)
		default:
			kept, waiting = append(append(kept, waiting...), f), nil
		}
	}
	if len(kept) == 0 {
		return
	}
	for i := range free {
		gold.give(&free[i])
		for k := range gold.terms {
			t := &gold.terms[k]
			in := func(f features) bool { return f.has(t.hash) }
			t.free = t.free || in(free[i]) && !slices.ContainsFunc(kept, in)
		}
	}
}

// meets is the weight of the words of f that are in one text and not in another.
func (f *features) meets(in, not *features) float64 {
	sum := 0.0
	for _, t := range f.terms {
		if in.has(t.hash) && !not.has(t.hash) {
			sum += float64(t.weight)
		}
	}
	return sum
}
