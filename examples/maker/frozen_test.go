// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What answers the questions of the labelled pairs: four systems by simple rules
// that use nothing of the library, so that the answers stay what they were when
// people read them. Nothing in this file may change: a changed answer is one
// without a label.

// systems are the four, by name.
var systems = map[string]func(corpus *corpus, q asked) string{
	// The best sentence of the five best passages.
	"sentence": func(c *corpus, q asked) string { return c.answer(q.Question, c.search(q.Question, 5, nil), 1) },
	// The best three, in the order of the passages.
	"three": func(c *corpus, q asked) string { return c.answer(q.Question, c.search(q.Question, 5, nil), 3) },
	// The best passage as it stands.
	"passage": func(c *corpus, q asked) string {
		return c.answer(q.Question, c.search(q.Question, 1, nil), math.MaxInt)
	},
	// The best three sentences of the pages that hold the answer.
	"given": func(c *corpus, q asked) string { return c.answer(q.Question, c.search(q.Question, 3, q.pages), 3) },
}

// asked is a line of the data set with one gold statement.
type asked struct {
	ID        string
	Question  string
	Reference string
	pages     []string // file names of its evidence
}

// frozenPassage is a run of sentences of one page.
type frozenPassage struct {
	page      string
	sentences []string
	words     map[string]int
	length    int
}

// corpus is the passages of a domain.
type corpus struct {
	passages []frozenPassage
	df       map[string]int
	mean     float64
}

// The limits of a passage and of a sentence, in words.
const (
	passageWords = 90
	leastWords   = 5
	mostWords    = 70
)

func newCorpus(names []string, pages map[string]string) *corpus {
	c := &corpus{df: make(map[string]int)}
	for _, name := range names {
		p := frozenPassage{page: name}
		for _, s := range frozenSentences(pages[name]) {
			p.sentences = append(p.sentences, s)
			if p.length += len(strings.Fields(s)); p.length >= passageWords {
				c.add(p)
				p = frozenPassage{page: name}
			}
		}
		if len(p.sentences) > 0 {
			c.add(p)
		}
	}
	for _, p := range c.passages {
		c.mean += float64(p.length) / float64(len(c.passages))
	}
	return c
}

func (c *corpus) add(p frozenPassage) {
	p.words = make(map[string]int)
	for _, w := range frozenWords(strings.Join(p.sentences, " ")) {
		p.words[w]++
	}
	for w := range p.words {
		c.df[w]++
	}
	c.passages = append(c.passages, p)
}

func (c *corpus) idf(word string) float64 {
	n := float64(c.df[word])
	return math.Log(1 + (float64(len(c.passages))-n+0.5)/(n+0.5))
}

// search ranks by BM25 and returns the k best passages, among the pages if there
// are any.
func (c *corpus) search(query string, k int, pages []string) []frozenPassage {
	type hit struct {
		at    int
		score float64
	}
	var hits []hit
	asked := distinct(frozenWords(query))
	for i, p := range c.passages {
		if len(pages) > 0 && !slices.Contains(pages, p.page) {
			continue
		}
		h := hit{at: i}
		for _, w := range asked {
			tf := float64(p.words[w])
			h.score += c.idf(w) * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(p.length)/c.mean))
		}
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []frozenPassage
	for _, h := range hits[:min(k, len(hits))] {
		out = append(out, c.passages[h.at])
	}
	return out
}

// answer is the n sentences with most of the question's weight, in order.
func (c *corpus) answer(query string, from []frozenPassage, n int) string {
	type candidate struct {
		at    int
		text  string
		score float64
	}
	var all []candidate
	asked := distinct(frozenWords(query))
	for rank, p := range from {
		for _, s := range p.sentences {
			if slices.ContainsFunc(all, func(o candidate) bool { return o.text == s }) {
				continue
			}
			have := frozenWords(s)
			sum := 0.0
			for _, w := range asked {
				if slices.Contains(have, w) {
					sum += c.idf(w)
				}
			}
			all = append(all, candidate{len(all), s, sum / (1 + 0.1*float64(rank))})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b candidate) int { return a.at - b.at })
	var texts []string
	for _, a := range all {
		texts = append(texts, a.text)
	}
	return strings.Join(texts, " ")
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

var (
	frozenImage = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	frozenLink  = regexp.MustCompile(`\[([^\[\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`)
	frozenMark  = regexp.MustCompile("[*_`>|#]+")
	frozenEnd   = regexp.MustCompile(`[.!?]["”’')\]]*\s+`)
	frozenShort = regexp.MustCompile(`(?:\b(?:Mr|Mrs|Ms|Dr|St|No|vs|Gen|Col|Lt|Sgt|Sen|Rep|Gov|Prof|Jr|Sr|Inc|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)|\b[A-Z])\.\s+$`)
)

// frozenSentences are the sentences of a page: its prose without markdown.
func frozenSentences(page string) []string {
	var out []string
	for line := range strings.SplitSeq(page, "\n") {
		line = frozenLink.ReplaceAllString(frozenImage.ReplaceAllString(line, " "), "$1")
		line = strings.Join(strings.Fields(frozenMark.ReplaceAllString(line, " ")), " ")
		from := 0
		for _, end := range append(frozenEnd.FindAllStringIndex(line, -1), []int{0, len(line)}) {
			if frozenShort.MatchString(line[from:end[1]]) && end[1] < len(line) {
				continue
			}
			s := strings.TrimSpace(line[from:end[1]])
			from = end[1]
			if n := len(strings.Fields(s)); n >= leastWords && n <= mostWords && strings.ContainsAny(s[len(s)-1:], ".!?\"')") {
				out = append(out, s)
			}
		}
	}
	return out
}

var frozenStops = setOf(strings.Fields("a an and are as at be by did do does for from had has have how in into is it its of on or that the their they this to was were what when where which who whom whose why will with"))

func setOf(words []string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range words {
		out[w] = true
	}
	return out
}

// frozenWords are the words of a text in small letters, without the commonest and
// without a final s.
func frozenWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if frozenStops[w] {
			continue
		}
		if len(w) > 3 && !strings.HasSuffix(w, "ss") {
			w = strings.TrimSuffix(w, "s")
		}
		out = append(out, w)
	}
	return out
}
