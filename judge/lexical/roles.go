// SPDX-License-Identifier: Apache-2.0

package lexical

import "strings"

// relations finds names that only identify a relative, as in "Carrick's brother" and "the brother of Edmund
// Carrick", and records the relation at each of their tokens.
func (r *reader) relations() {
	s := &r.scan
	r.relation = make([]uint64, len(s.tokens))
	for i, t := range s.tokens {
		if !kin[t.word] {
			continue
		}
		from, step := i-2, -1
		switch {
		case s.word(i-1) == "s" && strings.ContainsAny(s.gap(i-1), "'’"):
		case s.word(i+1) == "of" || s.word(i+1) == "to":
			if from, step = i+2, 1; s.word(from) == "the" {
				from++
			}
		default:
			continue
		}
		for k := from; k >= 0 && k < len(s.tokens) && r.owner(k, from, k+(1-step)/2); k += step {
			r.relation[k] = hashOf(t.stem)
		}
	}
}

// owner reports whether the token at k belongs to the name that begins or ends at first; gap is the token
// after the gap to the previous one.
func (r *reader) owner(k, first, gap int) bool {
	if k == first {
		return !r.scan.tokens[k].stop
	}
	return r.nameWord(k) && r.nameWord(first) && nameGap(r.scan.gap(gap))
}

// link is a connection of two successive names.
type link struct {
	from, to uint64 // the last words of the names
	by       uint64 // the words between them
	passive  bool   // "was built by"
}

// mostBetween is the largest number of words between two names that are connected.
const mostBetween = 8

// links finds the connections of a statement's names that are not symmetric: by a verb, or by words like
// before and than.
func (r *reader) links(names []name) (out []link) {
	s := &r.scan
	for n := 1; n < len(names); n++ {
		a, b := &names[n-1], &names[n]
		l := link{from: a.parts[len(a.parts)-1].hash, to: b.parts[len(b.parts)-1].hash}
		ok := b.first-a.last-1 <= mostBetween && !clauseMark(s.gap(b.first))
		for k := a.last + 1; k < b.first && ok; k++ {
			w := s.word(k)
			ok = !mutual[w] && !clauseMark(s.gap(k))
			l.passive = l.passive || w == "by"
			if directed[w] || !s.tokens[k].stop && !passives[w] {
				l.by += hashOf(s.tokens[k].stem)
			}
		}
		if ok && l.by != 0 && l.from != l.to {
			out = append(out, l)
		}
	}
	return out
}

// swaps reports whether g connects two names of f in exchanged places, and nowhere as in f.
func (f *features) swaps(g *features) bool {
	swapped := false
	for _, a := range f.links {
		for _, b := range g.links {
			same, turned := a.from == b.from && a.to == b.to, a.from == b.to && a.to == b.from
			if a.by != b.by || !same && !turned {
				continue
			}
			if same == (a.passive == b.passive) {
				return false
			}
			swapped = true
		}
	}
	return swapped
}
