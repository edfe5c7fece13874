// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/judge"
)

// The thresholds of a [Judge], shares of weight. They follow from what the
// parts of a statement are worth and are fitted to no data set.
const (
	// wholeShare is demanded of a statement compared without a question. A
	// short statement, subject + verb + object, is worth about 2 + 1 + 2: seven
	// tenths let the verb be another, but not the subject or the object.
	wholeShare = 0.7
	// wordShare is demanded of what a reference adds to the question when that
	// is words alone: half of them, and two if there are two.
	wordShare = 0.5
	// keyShare is demanded when it has names, numbers or dates. These must be
	// there anyway, and the words around them are mostly said otherwise.
	keyShare = 0.4
	// topicShare of the whole reference must be in an answer that says much
	// else: so much of it is about something else.
	topicShare = 0.5
	// terseWeight is how much else an answer may say and still be a short
	// answer, which need not repeat the subject: three words.
	terseWeight = 3.0
	// fewWords is how many words a reference must add, beside names and numbers, for
	// one of them to be demanded.
	fewWords = 2.0
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
// there is none, has been marked as given.
func (f *features) statedIn(answer, question *features) finding {
	key, fault := f.missing(answer, question)
	if fault == "" && question != nil {
		fault = f.replaced(answer, question)
	}
	if fault != "" {
		return finding{fault: fault}
	}
	asked := question != nil
	all, held, allAsked, heldAsked := f.shares(answer, question)
	words, heldWords := f.words(answer)
	out := finding{share: 1}
	need := wholeShare
	if asked {
		need = wordShare
		if key {
			need = keyShare
		}
		if f.perhapsOther(answer) {
			need = wholeShare
		}
	}
	if allAsked > 0 {
		out.share = heldAsked / allAsked
	}
	out.same = out.share >= need && !(asked && !key && words >= fewWords && heldWords < fewWords)
	// Names and numbers are the topic; a statement about it has other words too.
	switch {
	case f.echo && heldWords < wholeShare*words,
		asked && key && question.asks == 0 && words >= fewWords && heldWords == 0 && answer.beyond(f, question) > terseWeight:
		out.same, out.fault = false, "it names the same and says something else"
	}
	if asked && held < topicShare*all && answer.beyond(f, question) > terseWeight {
		out.same, out.fault = false, "it speaks of something else"
	}
	if out.same && f.contradicts(answer) {
		out.same, out.denied, out.fault = false, true, "one side denies it"
	}
	return out
}

// missing looks for the names, numbers and dates that an answer must have; key
// tells whether there are any.
func (f *features) missing(g, question *features) (key bool, fault string) {
	demanded := f.demanded(question)
	for i := range f.dates {
		if d := &f.dates[i]; !d.given && demanded&askedTime != 0 {
			key = true
			if !d.heldBy(g) && !d.completedBy(g, question) {
				return key, "another date, or none"
			}
		}
	}
	for i := range f.amounts {
		a := &f.amounts[i]
		if a.given || a.dim != ordinal && demanded&askedNumber == 0 {
			continue
		}
		held := a.heldBy(g)
		if a.dim == ordinal { // "first described in 1990": often left out, but not another one
			if !held && g.hasOrdinal() {
				return key, "another ordinal number"
			}
			continue
		}
		key = true
		if !held {
			return key, "another number, or none"
		}
	}
	for i := range f.names {
		if n := &f.names[i]; n.strong && !n.given && !n.negated && demanded&askedName != 0 {
			key = true
			if !n.heldBy(g) {
				return key, "another name, or none"
			}
		}
	}
	return key, ""
}

// demanded are the kinds of detail that an answer must have. A question for a
// number does not ask for a time or a name, nor the other way round; one that names
// no kind, or none that the reference adds, asks for all.
func (f *features) demanded(question *features) kinds {
	const all = askedNumber | askedTime | askedName
	if question == nil || question.asks == 0 {
		return all
	}
	has := kinds(0)
	if slices.ContainsFunc(f.dates, func(d date) bool { return !d.given }) {
		has |= askedTime
	}
	if slices.ContainsFunc(f.amounts, func(a amount) bool { return !a.given && a.dim != ordinal }) {
		has |= askedNumber
	}
	if slices.ContainsFunc(f.names, func(n name) bool { return n.strong && !n.given && !n.negated }) {
		has |= askedName
	}
	if question.asks&has == 0 {
		return all
	}
	return question.asks
}

// words are the weight of what f adds, or of all of it without a question, that is
// no name, and of what of it is held.
func (f *features) words(g *features) (all, held float64) {
	for i := range f.terms {
		if t := &f.terms[i]; !t.name && !t.given {
			all += float64(t.weight)
			if g.has(t.hash) {
				held += float64(t.weight)
			}
		}
	}
	return all, held
}

// perhapsOther reports whether the first word of f, which may be a name or
// just begin a sentence, is neither given nor in the answer.
func (f *features) perhapsOther(g *features) bool {
	return slices.ContainsFunc(f.names, func(n name) bool { return !n.strong && !n.given && !n.heldBy(g) })
}

// replaced looks for dates and numbers that the question gives and the answer
// says otherwise: it need not repeat them, but must not put others in their
// place.
func (f *features) replaced(g, question *features) string {
	for i := range f.dates {
		if d := &f.dates[i]; d.given && !d.heldBy(g) {
			for k := range g.dates {
				if e := &g.dates[k]; !d.agrees(*e) && !e.known(f) && !e.known(question) {
					return "another date"
				}
			}
		}
	}
	for i := range f.amounts {
		if a := &f.amounts[i]; a.given && !a.heldBy(g) {
			for k := range g.amounts {
				if b := &g.amounts[k]; a.dim == b.dim && !b.heldBy(f) && !b.heldBy(question) {
					return "another number"
				}
			}
		}
	}
	return ""
}

func (f *features) hasOrdinal() bool {
	return slices.ContainsFunc(f.amounts, func(a amount) bool { return a.dim == ordinal })
}

// shares are the weights of f and of what the answer holds of it, over all and
// over what the question did not give. missing has passed before, so names that
// the answer shortens count as held.
func (f *features) shares(g, question *features) (all, held, allAsked, heldAsked float64) {
	demanded := f.demanded(question)
	k := 0
	for i := range f.terms {
		t := &f.terms[i]
		if t.free {
			continue
		}
		for k < len(g.terms) && g.terms[k].hash < t.hash {
			k++
		}
		w := float64(t.weight)
		h := 0.0
		if k < len(g.terms) && g.terms[k].hash == t.hash || t.name && f.shortName(t.hash, g) {
			h = w
		}
		all += w
		held += h
		if !t.given && (!t.name || demanded&askedName != 0) {
			allAsked += w
			heldAsked += h
		}
	}
	// What the question gives of dates and numbers must not be replaced, and need
	// not be repeated; what it does not ask for, neither.
	count := func(has bool) {
		all += numberWeight
		allAsked += numberWeight
		if has {
			held += numberWeight
			heldAsked += numberWeight
		}
	}
	for i := range f.dates {
		if d := &f.dates[i]; !d.given && demanded&askedTime != 0 {
			count(d.heldBy(g) || d.completedBy(g, question))
		}
	}
	for i := range f.amounts {
		if a := &f.amounts[i]; !a.given && (a.dim == ordinal || demanded&askedNumber != 0) {
			count(a.heldBy(g))
		}
	}
	return all, held, allAsked, heldAsked
}

// shortName reports whether a word belongs to a name that g has in another
// form.
func (f *features) shortName(hash uint64, g *features) bool {
	return slices.ContainsFunc(f.names, func(n name) bool {
		return n.has(hash) && n.heldBy(g)
	})
}

// contradicts reports whether one side denies what the other says: antonyms
// face each other, or a word is denied on one side alone and none on both.
func (f *features) contradicts(g *features) bool {
	opposed, turned := f.opposes(g)
	if opposed || turned {
		return opposed
	}
	one, both := false, false
	for i, k := 0, 0; i < len(f.terms) && k < len(g.terms); {
		a, b := &f.terms[i], &g.terms[k]
		switch {
		case a.hash < b.hash:
			i++
		case a.hash > b.hash:
			k++
		default:
			one = one || a.mask&b.mask == 0
			both = both || a.mask&b.mask&denied != 0
			i++
			k++
		}
	}
	return one && !both
}

// opposes reports whether antonyms face each other. turned tells of antonyms
// that mean the same since one is denied: "fell" and "did not rise"; the denial
// is then accounted for.
func (f *features) opposes(g *features) (opposed, turned bool) {
	for _, p := range f.poles {
		var words, mine, theirWords, theirs uint8
		for _, q := range f.poles {
			if q.group == p.group {
				words, mine = words|q.word, mine|q.mask
			}
		}
		for _, q := range g.poles {
			if q.group == p.group {
				theirWords, theirs = theirWords|q.word, theirs|q.mask
			}
		}
		opposed = opposed || theirs != 0 && mine&theirs == 0
		turned = turned || theirs != 0 && mine&theirs != 0 && words&theirWords == 0
	}
	return opposed, turned
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
