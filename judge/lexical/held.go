// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"cmp"
	"slices"
	"strings"
)

func (d *date) heldBy(g *features) bool {
	return slices.ContainsFunc(g.dates, d.in) ||
		d.bare() && slices.ContainsFunc(g.amounts, func(a amount) bool { // 1200 may be a year or a number
			return a.dim == noDimension && a.value == float64(d.year)
		})
}

// completedBy reports whether g names day and month, and the question the year.
func (d *date) completedBy(g, question *features) bool {
	if question == nil || d.year == 0 || d.day == 0 && d.month == 0 ||
		!slices.ContainsFunc(question.dates, func(e date) bool { return e.year == d.year && e.span == 0 }) {
		return false
	}
	short := *d
	short.year = 0
	return slices.ContainsFunc(g.dates, func(e date) bool { return e.year == 0 && short.in(e) })
}

func (a *amount) heldBy(g *features) bool {
	return slices.ContainsFunc(g.amounts, a.is) ||
		a.dim != ordinal && slices.ContainsFunc(g.dates, func(d date) bool { return d.bare() && a.value == float64(d.year) })
}

// known reports whether f speaks of a date that agrees, or of the number.
func (d *date) known(f *features) bool {
	return slices.ContainsFunc(f.dates, d.agrees) || d.bare() && d.heldBy(f)
}

// heldBy reports whether g speaks of the same one: all of the name's words are
// there, or the name itself (not every part of it is a term: NO.O), an acronym,
// or a shorter form of it (Obama, B. Obama).
func (n *name) heldBy(g *features) bool {
	all := true
	for _, p := range n.parts {
		all = all && g.has(p.hash)
	}
	if all || n.initials != 0 && g.has(n.initials) || n.acronym != "" && strings.Contains(g.letters, n.acronym) {
		return true
	}
	for i := range g.names {
		m := &g.names[i]
		if len(n.parts) == 1 && m.initials == n.parts[0].hash || slices.Equal(n.parts, m.parts) || n.shortened(m) {
			return true
		}
	}
	return false
}

// shortened reports whether m is a shorter form of n: its words in order, or
// their initials, with the last word or most of the words.
func (n *name) shortened(m *name) bool {
	if len(m.parts) > len(n.parts) {
		return false
	}
	at, whole := 0, 0
	last := false
	for _, p := range m.parts {
		for ; at < len(n.parts); at++ {
			q := n.parts[at]
			if p.hash == q.hash || p.initial && p.first == q.first || q.initial && p.first == q.first {
				break
			}
		}
		if at == len(n.parts) {
			return false
		}
		if !p.initial {
			whole++
			last = last || at == len(n.parts)-1
		}
		at++
	}
	return last || 2*whole > len(n.parts)
}

// has reports whether a word is among the terms.
func (f *features) has(hash uint64) bool {
	_, ok := slices.BinarySearchFunc(f.terms, hash, func(t term, h uint64) int { return cmp.Compare(t.hash, h) })
	return ok
}
