// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Parameters for the choice of the statements of an overview.
const (
	centralPart  = 2.0  // weight of centrality relative to the score
	summaryFloor = 0.3  // share of the best score that a statement must reach
	sameFact     = 0.7  // similarity from which two statements count as the same fact
	likeLoss     = 0.25 // loss by similarity to a chosen statement, relative to it
	pageLoss     = 1.0  // loss for each chosen statement of the same page
	maxCompared  = 200  // largest number of statements that are compared with each other
	minSentence  = 6    // least number of words of a statement
)

// overview returns the statements of an overview: those with high scores that are similar to many others, no
// two of them the same fact. As in LexRank (Erkan and Radev 2004), a statement is central by its similarities
// to the others, each weighted by the score of the other. On 138 questions of WildGraphBench this has an F1 of
// 2.2; the ten best scores alone had 1.8, a difference that is not significant on so few questions.
func (c *corpus) overview(scores []float64, limit int) []int {
	pool := c.statements(scores)
	rarities := c.rarities()
	weight := func(term int32) float64 { return rarities[term] }
	sizes := make([]float64, len(pool))
	for n, i := range pool {
		terms := c.candidates[i].distinct()
		sizes[n] = shared(weight, terms, terms)
	}
	similar := func(a, b int) float64 {
		x, y := &c.candidates[pool[a]], &c.candidates[pool[b]]
		return shared(weight, x.terms, y.terms) / max(min(sizes[a], sizes[b]), 1e-9)
	}
	central := make([]float64, len(pool))
	for a := range pool {
		for b := range a {
			if s := similar(a, b); s < repeated { // a repetition adds nothing to the centrality
				central[a] += s * scores[pool[b]]
				central[b] += s * scores[pool[a]]
			}
		}
	}
	most := 1e-9
	if len(central) > 0 {
		most = max(most, slices.Max(central))
	}
	worth := make([]float64, len(pool))
	for n, i := range pool {
		worth[n] = scores[i] * (1 + centralPart*central[n]/most)
	}
	closest := make([]float64, len(pool)) // similarity of each statement to the nearest chosen one
	var chosen []int
	taken := make(map[string]int)
	for len(chosen) < limit {
		next, gain := -1, 0.0
		for n := range pool {
			if g := worth[n] * (1 - likeLoss*closest[n]) / (1 + pageLoss*float64(taken[c.pieces[c.candidates[pool[n]].piece].doc])); closest[n] < sameFact && g > gain {
				next, gain = n, g
			}
		}
		if next < 0 {
			break
		}
		chosen = append(chosen, pool[next])
		taken[c.pieces[c.candidates[pool[next]].piece].doc]++
		closest[next] = 1
		for n := range pool {
			closest[n] = max(closest[n], similar(n, next))
		}
	}
	return c.byPage(chosen)
}

// statements returns the candidates for statements of an overview, best first: whole sentences, or other
// candidates if there are none.
func (c *corpus) statements(scores []float64) []int {
	var pool, rest []int
	top := slices.Max(scores)
	for i := range c.candidates {
		x := &c.candidates[i]
		switch {
		case scores[i] < summaryFloor*top || x.list:
		case x.quality == 1 && x.words >= minSentence && ends(x.text) && (x.kind == load.Paragraph || x.kind == load.Item || x.kind == load.Definition):
			pool = append(pool, i)
		default:
			rest = append(rest, i)
		}
	}
	if len(pool) == 0 {
		pool = rest
	}
	slices.SortStableFunc(pool, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return pool[:min(len(pool), maxCompared)]
}

// rarities returns the weights of all terms by the number of candidates that contain them. Terms of the
// question, which all candidates share, have weight 0.
func (c *corpus) rarities() []float64 {
	out := make([]float64, len(c.lexicon.met))
	for i := range c.candidates {
		for _, t := range c.candidates[i].distinct() {
			out[t]++
		}
	}
	for t, df := range out {
		if t < c.q.terms {
			out[t] = 0
			continue
		}
		out[t] = rarity(df, float64(len(c.candidates)))
	}
	return out
}

// shared returns the weight of the terms that two ascending lists share.
func shared(weight func(term int32) float64, a, b []int32) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			sum += weight(a[i])
			i++
			j++
		}
	}
	return sum
}

// byPage groups chosen candidates by page, starting with the page of the best one.
func (c *corpus) byPage(chosen []int) []int {
	first := make(map[string]int)
	for n, i := range chosen {
		if doc := c.pieces[c.candidates[i].piece].doc; first[doc] == 0 {
			first[doc] = n + 1
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		return cmp.Compare(first[c.pieces[c.candidates[a].piece].doc], first[c.pieces[c.candidates[b].piece].doc])
	})
	return chosen
}

// asksWhat matches an English question for what or who something is, with a name of at most four words. A
// question that relates the name to something else ("What is the colour of owls?") asks for a property.
var (
	asksWhat = regexp.MustCompile(`(?i)^\W*(what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?:(?:an?|(the))\s+)?([^\s?]{1,99}(?:\s+[^\s?]{1,99}){0,3})[\s?.!]*$`)
	relating = regexp.MustCompile(`(?i)\b(?:the|of|in|on|at|for|to|by|with|from|than|that|which|this|these|those|there|it|he|she|they|my|your|our|his|her|its|their|not)\b|['’]s\b`)
)

// definition returns a pattern for texts that define the subject of a question, nil if the question does not
// ask for a definition: "Leiden is", "The Leiden algorithm was", "Edmund Carrick (1829–1894), an", "Quoin:", "A
// judge decides", and for a person, or "the X", also "is treasurer".
func definition(question string, language text.Language) *regexp.Regexp {
	m := asksWhat.FindStringSubmatch(question)
	if m == nil || language != text.English || !utf8.ValidString(m[3]) || relating.MatchString(m[3]) {
		return nil
	}
	words := strings.Fields(m[3])
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	name := strings.TrimSuffix(strings.Join(words, `[\s_-]+`), "s") + `(?:e?s)?`
	begins := `^\W*(?:(?:an?|the)\s+)?` + name + `(?:\s*\([^)]*\))?`
	forms := []string{
		begins + `(?:\s+\w+){0,3}(?:\s*\([^)]*\))?(?:,[^,]{0,80},)?\s+(?:is|are|was|were|means|denotes)\b`,
		begins + `\s*(?:[:–—]|\s-)\s+\S`,
		begins + `,\s+(?:an?|the)\s`,
		`^\W*an?\s+` + name + `\s+[a-z]+s\s`, // "A judge decides"
	}
	if strings.EqualFold(m[1], "who") || m[2] != "" {
		forms = append(forms, `\b(?:is|are|was|were)\s+(?:(?:an?|the)\s+)?`+name+`\b`)
	}
	return regexp.MustCompile(`(?i)` + strings.Join(forms, "|"))
}

// defines reports whether a candidate defines the subject of the question. A row of a table does not: any table
// may have names in its first column.
func (c *corpus) defines(x *candidate) bool {
	return c.q.defined != nil && x.kind != load.Row && x.kind != load.Code && (c.q.defined.MatchString(x.text) || c.q.defined.MatchString(c.shown(x)))
}
