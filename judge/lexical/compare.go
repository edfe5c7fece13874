// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
)

// The thresholds of a [Judge], shares of weight. They follow from what the
// parts of a statement are worth and are fitted to no data set.
const (
	// wholeShare is demanded of a statement compared without a question. A
	// short statement, subject + verb + object, is worth about 2 + 1 + 2: seven
	// tenths allow another verb, but not another subject or object.
	wholeShare = 0.7
	// addedShare is demanded of what a reference adds to the question: half of it.
	addedShare = 0.5
	// fewWords is how many of the words that a reference adds, beside names and numbers,
	// must be stated where it adds so many and neither a name nor a number.
	fewWords = 2.0
	// topicShare of the whole reference must be in an answer that says much
	// else: otherwise the answer has another topic.
	topicShare = 0.5
	// terseWeight is how much else a short answer may say, which need not repeat
	// the subject of the question: three words.
	terseWeight = 3.0
)

// finding is the outcome of a comparison.
type finding struct {
	same bool
	// denied: the two say opposite things about the same.
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

// statedIn says whether an answer states the reference f. The question, nil if
// there is none, has marked parts of f as given.
func (f *features) statedIn(answer, question *features) finding {
	fault := f.missing(answer, question)
	if fault == "" && question != nil {
		fault = f.replaced(answer, question)
	}
	if fault != "" {
		return finding{fault: fault}
	}
	all, stated, allAdded, statedAdded := f.shares(answer, question)
	out := finding{share: 1}
	if allAdded > 0 {
		out.share = statedAdded / allAdded
	}
	need, key := wholeShare, f.demands()
	if question != nil {
		need = addedShare
		if stated < topicShare*all && answer.beyond(f, question) > terseWeight {
			return finding{fault: "it speaks of something else"}
		}
	}
	words, statedWords := f.words(answer)
	out.same = out.share >= need && !(question != nil && !key && words >= fewWords && statedWords < fewWords)
	if out.same && f.contradicts(answer) {
		return finding{denied: true, share: out.share, fault: "one side denies it"}
	}
	return out
}

// missing looks for the names, numbers and dates that an answer must have: all
// that the question does not give. An ordinal number may be left out ("first
// described in 1990"), but not be another one.
func (f *features) missing(g, question *features) string {
	for i := range f.dates {
		if d := &f.dates[i]; !d.given && !d.in(g) && !d.completedBy(g, question) {
			return "another date, or none"
		}
	}
	for i := range f.amounts {
		switch a := &f.amounts[i]; {
		case a.given || a.in(g):
		case a.dim != ordinal:
			return "another number, or none"
		case slices.ContainsFunc(g.amounts, func(b amount) bool { return b.dim == ordinal }):
			return "another ordinal number"
		}
	}
	for i := range f.names {
		if n := &f.names[i]; n.strong && !n.given && !n.negated && !n.in(g) {
			return "another name, or none"
		}
	}
	return ""
}

// demands reports whether an answer must have a name, number or date of f.
func (f *features) demands() bool {
	return slices.ContainsFunc(f.dates, func(d date) bool { return !d.given }) ||
		slices.ContainsFunc(f.amounts, func(a amount) bool { return !a.given && a.dim != ordinal }) ||
		slices.ContainsFunc(f.names, func(n name) bool { return n.strong && !n.given && !n.negated })
}

// words are the weight of the words that f adds, names aside, and of those of them that
// the answer states.
func (f *features) words(g *features) (all, stated float64) {
	for i := range f.terms {
		if t := &f.terms[i]; !t.name && !t.given {
			all += float64(t.weight)
			if g.has(t.hash) {
				stated += float64(t.weight)
			}
		}
	}
	return all, stated
}

// replaced looks for dates and numbers that the question gives and the answer
// contradicts: it need not repeat them, but must not put others in their place.
func (f *features) replaced(g, question *features) string {
	for i := range f.dates {
		if d := &f.dates[i]; d.given && !d.in(g) && slices.ContainsFunc(g.dates, func(e date) bool {
			return !d.agrees(e) && !e.known(f) && !e.known(question)
		}) {
			return "another date"
		}
	}
	for i := range f.amounts {
		if a := &f.amounts[i]; a.given && !a.in(g) && slices.ContainsFunc(g.amounts, func(b amount) bool {
			return a.dim == b.dim && !b.in(f) && !b.in(question)
		}) {
			return "another number"
		}
	}
	return ""
}

// shares are the weights of f and of what the answer states of it: of all, and of
// what the question did not give. missing was called before, so a word of a name
// counts as stated if the answer has a shorter form of the name. Given dates and
// numbers need not be repeated.
func (f *features) shares(g, question *features) (all, stated, allAdded, statedAdded float64) {
	count := func(weight float64, has, given bool) {
		all += weight
		if has {
			stated += weight
		}
		if given {
			return
		}
		allAdded += weight
		if has {
			statedAdded += weight
		}
	}
	for i := range f.terms {
		t := &f.terms[i]
		count(float64(t.weight), g.has(t.hash) || t.name && f.shortName(t.hash, g), t.given)
	}
	for i := range f.dates {
		if d := &f.dates[i]; !d.given {
			count(numberWeight, d.in(g) || d.completedBy(g, question), false)
		}
	}
	for i := range f.amounts {
		if a := &f.amounts[i]; !a.given {
			count(numberWeight, a.in(g), false)
		}
	}
	return all, stated, allAdded, statedAdded
}

// shortName reports whether a word belongs to a name that g has in another form.
func (f *features) shortName(hash uint64, g *features) bool {
	return slices.ContainsFunc(f.names, func(n name) bool { return n.has(hash) && n.in(g) })
}

// contradicts reports whether one side denies what the other says: antonyms
// face each other, or a word is denied on one side alone and none on both.
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

// opposes reports whether antonyms face each other. turned tells of antonyms
// that mean the same since one is denied: "fell" and "did not rise"; the denial
// is then accounted for.
func (f *features) opposes(g *features) (opposed, turned bool) {
	for _, p := range f.poles {
		words, mine := sides(f.poles, p.group)
		theirWords, theirs := sides(g.poles, p.group)
		opposed = opposed || theirs != 0 && mine&theirs == 0
		turned = turned || theirs != 0 && mine&theirs != 0 && words&theirWords == 0
	}
	return opposed, turned
}

// sides are the words of a group of antonyms that a statement has, and the sides meant.
func sides(poles []pole, group int8) (words, meant uint8) {
	for _, q := range poles {
		if q.group == group {
			words, meant = words|q.word, meant|q.mask
		}
	}
	return words, meant
}

// beyond is the weight of what g says that neither f nor the question does.
func (g *features) beyond(f, question *features) float64 {
	other := 0.0
	for _, t := range g.terms {
		if !f.has(t.hash) && !question.has(t.hash) {
			other += float64(t.weight)
		}
	}
	return other
}

// give marks what of f the question says already; the answer need not repeat it.
func (f *features) give(question *features) {
	for i := range f.terms {
		f.terms[i].given = question.has(f.terms[i].hash)
	}
	for i := range f.dates {
		f.dates[i].given = f.dates[i].in(question)
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

// giveTopic marks the names, dates and numbers that the question gives: sentences
// of a summary need not repeat them.
func (f *features) giveTopic(question *features) {
	topic := *question
	topic.terms = slices.DeleteFunc(slices.Clone(question.terms), func(t term) bool { return !t.name })
	f.give(&topic)
}

// adds reports whether f says anything beyond the question.
func (f *features) adds() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return !t.given }) ||
		slices.ContainsFunc(f.dates, func(d date) bool { return !d.given }) ||
		slices.ContainsFunc(f.amounts, func(a amount) bool { return !a.given })
}

func (f *features) empty() bool { return len(f.terms) == 0 && len(f.dates) == 0 && len(f.amounts) == 0 }

// term is the term with a hash, nil if there is none.
func (f *features) term(hash uint64) *term {
	at, ok := slices.BinarySearchFunc(f.terms, hash, func(t term, h uint64) int { return cmp.Compare(t.hash, h) })
	if !ok {
		return nil
	}
	return &f.terms[at]
}

func (f *features) has(hash uint64) bool { return f.term(hash) != nil }

// in reports whether g says the date; 1200 may be a year or a number.
func (d *date) in(g *features) bool {
	return slices.ContainsFunc(g.dates, d.within) ||
		d.bare() && slices.ContainsFunc(g.amounts, func(a amount) bool { return a.dim == noDimension && a.value == float64(d.year) })
}

// completedBy reports whether g names day and month, and the question the year.
func (d *date) completedBy(g, question *features) bool {
	if question == nil || d.year == 0 || d.day == 0 && d.month == 0 ||
		!slices.ContainsFunc(question.dates, func(e date) bool { return e.year == d.year && e.span == 0 }) {
		return false
	}
	short := *d
	short.year = 0
	return slices.ContainsFunc(g.dates, func(e date) bool { return e.year == 0 && short.within(e) })
}

// known reports whether f has a date that agrees with d, or the number.
func (d *date) known(f *features) bool {
	return slices.ContainsFunc(f.dates, d.agrees) || d.bare() && d.in(f)
}

// in reports whether g says the amount, as a number or as a year.
func (a *amount) in(g *features) bool {
	return slices.ContainsFunc(g.amounts, a.is) ||
		a.dim != ordinal && slices.ContainsFunc(g.dates, func(d date) bool { return d.bare() && a.value == float64(d.year) })
}

// in reports whether g speaks of the same one: all of the name's words are there,
// or the name itself (not every part of it is a term: NO.O), an acronym, or a
// shorter form of it (Obama, B. Obama).
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

// mostTogether is how many statements may state a gold one together. Gold statements are
// often composite: who, when and where stand in two or three sentences of an answer.
const mostTogether = 3

// matches finds for every gold statement the predicted ones that state it, alone or
// together, and which predicted ones the gold ones support: those, and what a gold
// statement states.
func (r *reader) matches(gold, predicted []features) (matches []judge.Match, supported []bool) {
	supported = make([]bool, len(predicted))
	for g := range gold {
		for _, p := range r.stated(&gold[g], predicted) {
			matches = append(matches, judge.Match{Gold: g, Predicted: p})
			supported[p] = true
		}
	}
	for p := range predicted {
		supported[p] = supported[p] || predicted[p].statedByOneOf(gold)
	}
	return matches, supported
}

// stated finds the statements that state a gold one: each that does so alone, or
// else the few that do so together.
func (r *reader) stated(gold *features, predicted []features) []int {
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
	return r.together(gold, predicted)
}

// together adds the statement that covers most of the rest until the gold one is
// stated. Only statements about the same thing take part.
func (r *reader) together(gold *features, predicted []features) []int {
	var chosen []int
	var joined []features
	best := 0.0
	for len(chosen) < mostTogether {
		next := -1
		for p := range predicted {
			if slices.Contains(chosen, p) || !predicted[p].partOf(gold) {
				continue
			}
			whole := r.join(append(slices.Clip(joined), predicted[p]))
			if all, stated, _, _ := gold.shares(&whole, nil); all > 0 && stated/all > best {
				best, next = stated/all, p
			}
		}
		if next < 0 {
			return nil
		}
		chosen, joined = append(chosen, next), append(joined, predicted[next])
		whole := r.join(joined)
		if gold.statedIn(&whole, nil).same {
			slices.Sort(chosen)
			return chosen
		}
	}
	return nil
}

// partOf reports whether f names something that the gold statement names and says
// something else of it too, or, where that names nothing, shares two words with it;
// and denies none of it.
func (f *features) partOf(gold *features) bool {
	names := 0
	_, words := gold.words(f)
	for i := range gold.names {
		if gold.names[i].in(f) {
			names++
		}
	}
	for i := range gold.dates {
		if gold.dates[i].in(f) {
			words++
		}
	}
	for i := range gold.amounts {
		if gold.amounts[i].in(f) {
			words++
		}
	}
	if names == 0 && (len(gold.names) > 0 || words < 2) || words == 0 {
		return false
	}
	return !gold.contradicts(f)
}
