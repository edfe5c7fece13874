// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
)

// The thresholds of a [Judge] are shares of a statement's weight, except briefWeight. They follow from the
// weights of words and names, and are fitted to no data set.
const (
	// wholeShare is the share that must be found if there is no question. A short statement of subject, verb
	// and object weighs about 2 + 1 + 2: seven tenths allow another verb, but not another subject or object.
	wholeShare = 0.7
	// addedShare is the share that must be found of the part of a reference that is not in the question.
	addedShare = 0.5
	// briefWeight is the largest weight of the words beside yes or no in a brief answer: three words.
	briefWeight = 3.0
)

// finding is the result of comparing a statement with an answer.
type finding struct {
	same bool
	// denied is true if the two statements contradict each other.
	denied bool
	share  float64
	fault  string
}

func (f finding) verdict() judge.Verdict {
	if f.fault != "" {
		return judge.Score(0, f.fault)
	}
	v := 0.0
	if f.same {
		v = 1
	}
	return judge.Score(v, fmt.Sprintf("%.0f %% of the reference", 100*f.share))
}

// statedIn compares the reference f with an answer. If question is not nil, it has marked parts of f as given.
func (f *features) statedIn(answer, question *features) finding {
	if fault := f.missing(answer); fault != "" {
		return finding{fault: fault}
	}
	need := wholeShare
	if question != nil {
		if need = addedShare; f.replaced(answer, question) {
			return finding{fault: "another date or number than the question has"}
		}
	}
	out := finding{share: f.share(answer)}
	out.same = out.share >= need
	if out.same && f.swaps(answer) {
		return finding{denied: true, share: out.share, fault: "the names have changed places"}
	}
	if out.same && f.contradicts(answer) {
		return finding{denied: true, share: out.share, fault: "one side denies it"}
	}
	return out
}

// missing returns a fault if the answer g lacks a name, number, date or qualifier of f that the question does
// not contain, else "". An ordinal number ("first described in 1990") may be missing if the words are present,
// but must not differ.
func (f *features) missing(g *features) string {
	for _, a := range f.amounts {
		switch {
		case a.given || a.in(g):
		case a.dim == dated:
			return "another date, or none"
		case a.dim != ordinal:
			return "another number, or none"
		case slices.ContainsFunc(g.amounts, func(b amount) bool { return b.dim == ordinal }):
			return "another ordinal number"
		case 2*f.words(g) < f.words(f):
			return "no ordinal number"
		}
	}
	for i := range f.names {
		n := &f.names[i]
		if n.country && slices.ContainsFunc(g.names, func(m name) bool { return m.country && !m.in(f) }) ||
			n.strong && !n.country && !n.given && !n.in(g) {
			return "another name, or none"
		}
	}
	for i := range f.terms {
		if t := &f.terms[i]; t.decisive && !t.given && !g.has(t.hash) {
			return "another qualifier, or none"
		}
	}
	return ""
}

// replaced reports whether the answer g contradicts dates or numbers of the question by others. It need not
// repeat them.
func (f *features) replaced(g, question *features) bool {
	return slices.ContainsFunc(f.amounts, func(a amount) bool {
		return a.given && !a.in(g) && slices.ContainsFunc(g.amounts, func(b amount) bool { return a.dim == b.dim && !b.in(f) && !b.in(question) })
	})
}

// words returns the weight of the words of f that g contains, without names and given words.
func (f *features) words(g *features) float64 {
	weight := 0.0
	for i := range f.terms {
		if t := &f.terms[i]; !t.name && !t.given && g.says(t) {
			weight += float64(t.weight)
		}
	}
	return weight
}

// share returns which share of the weight of f is in g, given parts aside; 1 if all parts are given. A word of
// a name counts if g has a shorter form of the name.
func (f *features) share(g *features) float64 {
	all, found := 0.0, 0.0
	count := func(weight float64, has, given bool) {
		if given {
			return
		}
		if all += weight; has {
			found += weight
		}
	}
	for i := range f.terms {
		t := &f.terms[i]
		shorter := t.name && slices.ContainsFunc(f.names, func(n name) bool { return n.has(t.hash) && n.in(g) })
		count(float64(t.weight), shorter || g.says(t), t.given)
	}
	for _, a := range f.amounts {
		count(numberWeight, a.in(g), a.given)
	}
	if all == 0 {
		return 1
	}
	return found / all
}

// contradicts reports whether one statement denies the other: by antonyms, or by a word that only one of them
// denies while they deny no word in common.
func (f *features) contradicts(g *features) bool {
	opposed, turned := f.opposes(g)
	if opposed || turned {
		return opposed
	}
	one, both := false, false
	for i := range f.terms {
		if b := g.term(f.terms[i].hash); b != nil {
			one = one || f.terms[i].mask&b.mask == 0
			both = both || f.terms[i].mask&b.mask&denied != 0
		}
	}
	return one && !both
}

// opposes reports whether the statements have opposite antonyms. turned reports antonyms that agree because one
// is denied, as in "fell" and "did not rise": then the denial is no contradiction.
func (f *features) opposes(g *features) (opposed, turned bool) {
	for _, p := range f.poles {
		words, mine := sides(f.poles, p.group)
		theirWords, theirs := sides(g.poles, p.group)
		opposed = opposed || theirs != 0 && mine&theirs == 0
		turned = turned || theirs != 0 && mine&theirs != 0 && words&theirWords == 0
	}
	return opposed, turned
}

// sides returns which sides of a pair of antonyms a statement uses, and which sides it means after denials.
func sides(poles []pole, group int8) (words, meant uint8) {
	for _, q := range poles {
		if q.group == group {
			words, meant = words|q.word, meant|q.mask
		}
	}
	return words, meant
}

// give marks the parts of f that the question contains as given: the answer need not repeat them.
func (f *features) give(question *features) {
	for i := range f.terms {
		f.terms[i].given = question.says(&f.terms[i])
	}
	for i := range f.amounts {
		f.amounts[i].given = f.amounts[i].in(question)
	}
	for i := range f.names {
		n := &f.names[i]
		n.given = n.in(question)
		for k := range f.terms {
			t := &f.terms[k]
			t.given = t.given || n.given && t.name && n.has(t.hash)
		}
	}
}

func (f *features) empty() bool { return len(f.terms) == 0 && len(f.amounts) == 0 }

// term returns the term with the given hash, nil if there is none.
func (f *features) term(hash uint64) *term {
	at, ok := slices.BinarySearchFunc(f.terms, hash, func(t term, h uint64) int { return cmp.Compare(t.hash, h) })
	if !ok {
		return nil
	}
	return &f.terms[at]
}

func (f *features) has(hash uint64) bool { return f.term(hash) != nil }

// says reports whether f has the word t, or one with the same root; a part of a name must be the word itself.
func (f *features) says(t *term) bool {
	if f.has(t.hash) {
		return true
	}
	_, ok := slices.BinarySearch(f.roots, t.root)
	return ok && !t.name
}

// in reports whether g mentions the name: all its words, the same name (its words may be no terms, as the NO of
// NO.O), its acronym, or a shorter form (Obama, B. Obama).
func (n *name) in(g *features) bool {
	if !slices.ContainsFunc(n.parts, func(p namePart) bool { return !g.has(p.hash) }) ||
		n.initials != 0 && g.has(n.initials) || n.acronym != "" && strings.Contains(g.letters, n.acronym) {
		return true
	}
	return slices.ContainsFunc(g.names, func(m name) bool {
		return len(n.parts) == 1 && m.initials == n.parts[0].hash || slices.Equal(n.parts, m.parts) || n.shortened(&m)
	})
}

// has reports whether a word is a part of the name.
func (n *name) has(hash uint64) bool {
	return slices.ContainsFunc(n.parts, func(p namePart) bool { return p.hash == hash })
}

// shortened reports whether m is a shorter form of n: words or initials of n in their order, with the last word
// or more than half of the words whole.
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

// mostTogether limits the statements that together state a gold one. A gold statement often joins facts, such
// as person, date and place, that an answer puts into two or three sentences.
const mostTogether = 3

// matches returns for every gold statement the indices of the predicted ones that state it, alone or together.
// supported is true for these predicted statements, and for those that a gold statement states.
func matches(gold, predicted []features) (by [][]int, supported []bool) {
	by, supported = make([][]int, len(gold)), make([]bool, len(predicted))
	for g := range gold {
		by[g] = stated(&gold[g], predicted)
		for _, p := range by[g] {
			supported[p] = true
		}
	}
	for p := range predicted {
		supported[p] = supported[p] || predicted[p].statedByOneOf(gold)
	}
	return by, supported
}

// stated returns the indices of the statements that state a gold one: each alone, or else some together.
func stated(gold *features, predicted []features) []int {
	if gold.empty() {
		return nil
	}
	var alone []int
	for p := range predicted {
		if gold.statedIn(&predicted[p], nil).same {
			alone = append(alone, p)
		}
	}
	if alone != nil {
		return alone
	}
	return together(gold, predicted)
}

// together joins statements, always the one that adds most, until they state the gold one, and returns their
// indices. It only uses statements on the same subject.
func together(gold *features, predicted []features) []int {
	var chosen []int
	var joined []features
	best := 0.0
	for range mostTogether {
		next, joint := -1, features{}
		for p := range predicted {
			if slices.Contains(chosen, p) || !predicted[p].partOf(gold) {
				continue
			}
			with := join(append(slices.Clip(joined), predicted[p]))
			if share := gold.share(&with); share > best {
				best, next, joint = share, p, with
			}
		}
		if next < 0 {
			return nil
		}
		chosen, joined = append(chosen, next), append(joined, predicted[next])
		if gold.statedIn(&joint, nil).same {
			slices.Sort(chosen)
			return chosen
		}
	}
	return nil
}

// partOf reports whether f does not contradict the gold statement and has in common with it a name and a word
// or amount, or two of the latter if the gold statement has no names.
func (f *features) partOf(gold *features) bool {
	words := gold.words(f)
	for _, a := range gold.amounts {
		if a.in(f) {
			words++
		}
	}
	named := slices.ContainsFunc(gold.names, func(n name) bool { return n.in(f) })
	return words > 0 && (named || len(gold.names) == 0 && words >= 2) && !gold.contradicts(f)
}

// relations finds names that only identify a relative, such as Carrick in "Carrick's brother" and in "the
// brother of Edmund Carrick", and records the relation for each token of the name.
func (r *reader) relations() {
	r.relation = make([]uint64, len(r.tokens))
	for i, t := range r.tokens {
		if !kin[t.word] {
			continue
		}
		from, step := i-2, -1
		switch {
		case r.word(i-1) == "s" && strings.ContainsAny(r.gap(i-1), "'’"):
		case r.word(i+1) == "of" || r.word(i+1) == "to":
			if from, step = i+2, 1; r.word(from) == "the" {
				from++
			}
		default:
			continue
		}
		for k := from; k >= 0 && k < len(r.tokens) && r.owner(k, from, k+(1-step)/2); k += step {
			r.relation[k] = hashOf(t.stem)
		}
	}
}

// owner reports whether token k belongs to the name that begins or ends at token first; gap is the token after
// the gap between k and the token read before it.
func (r *reader) owner(k, first, gap int) bool {
	if k == first {
		return !r.tokens[k].stop
	}
	return r.nameWord(k) && r.nameWord(first) && nameGap(r.gap(gap))
}

// link is a connection between two successive names, such as "was built by".
type link struct {
	from, to uint64 // hashes of the last words of the names
	by       uint64 // sum of the hashes of the words between the names
	passive  bool   // "was built by"
}

// mostBetween is the largest number of words between two names that are connected.
const mostBetween = 8

// links finds the connections between a statement's names that change their meaning if the names are exchanged:
// verbs, and words such as before and than.
func (r *reader) links(names []name) (out []link) {
	for n := 1; n < len(names); n++ {
		a, b := &names[n-1], &names[n]
		l := link{from: a.parts[len(a.parts)-1].hash, to: b.parts[len(b.parts)-1].hash}
		ok := b.first-a.last-1 <= mostBetween && !clauseMark(r.gap(b.first))
		for k := a.last + 1; k < b.first && ok; k++ {
			w := r.word(k)
			ok = !mutual[w] && !clauseMark(r.gap(k))
			l.passive = l.passive || w == "by"
			if directed[w] || !r.tokens[k].stop && !passives[w] {
				l.by += hashOf(r.tokens[k].stem)
			}
		}
		if ok && l.by != 0 && l.from != l.to {
			out = append(out, l)
		}
	}
	return out
}

// swaps reports whether g connects two names of f in the other direction, and no names in the same direction.
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
