// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// What a sentence must be like to be quoted. Navigation, cookie banners and
// tables are shorter, longer, or made of links and digits.
const (
	minWords    = 5
	maxWords    = 90
	minLetters  = 0.6 // share of letters among the characters that are not blank
	maxLinkPart = 0.6 // share of bytes that stripping the links takes away
)

// candidate is a sentence that may be quoted.
type candidate struct {
	quote    string // without links, on one line
	evidence int    // index into the evidence, -1 for derived text
	rank     int    // of its piece among all pieces
	span     text.Span
	words    int
	terms    []int32 // distinct, rising
	shape    shape
}

// shape is what kinds of answers a sentence can hold, one bit each.
type shape uint8

const (
	hasNumber shape = 1 << iota
	hasDate
	hasName // a capital letter inside the sentence
)

// corpus are the candidates of all evidence, and their terms as numbers.
type corpus struct {
	analyzer   text.Analyzer
	numbers    *text.Numbering
	candidates []candidate
	idf        []float64 // weight of each term among the candidates
	absent     float64   // that of a term of no candidate

	// The text that terms is reading.
	ids   []int32
	words int
	add   func(word []byte) bool
}

// collect reads all material. The one error is that of ctx.
func collect(ctx context.Context, a text.Analyzer, evidence []graphrag.Hit, derived []graphrag.Derived) (*corpus, error) {
	c := &corpus{analyzer: a, numbers: text.NewNumbering(a)}
	for i, h := range evidence {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.read(h.Chunk.Text, i, i)
	}
	for i, d := range derived {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.read(d.Text[min(max(d.Heading, 0), len(d.Text)):], -1, len(evidence)+i)
	}
	// The weight of BM25, which stays positive.
	n := float64(len(c.candidates))
	weight := func(df float64) float64 { return math.Log(1 + (n-df+0.5)/(df+0.5)) }
	c.idf = make([]float64, c.numbers.Terms().Len())
	for _, x := range c.candidates {
		for _, t := range x.terms {
			c.idf[t]++
		}
	}
	for t, df := range c.idf {
		c.idf[t] = weight(df)
	}
	c.absent = weight(0)
	return c, ctx.Err()
}

// read adds the quotable sentences of one piece.
func (c *corpus) read(s string, evidence, rank int) {
	for _, p := range text.Sentences(s) {
		quote, ok := quotable(p.In(s))
		if !ok {
			continue
		}
		x := candidate{quote: quote, evidence: evidence, rank: rank, span: p}
		x.terms, x.words = c.terms(quote)
		if x.words < minWords || x.words > maxWords || len(x.terms) == 0 {
			continue
		}
		x.shape = shapeOf(quote)
		c.candidates = append(c.candidates, x)
	}
}

// quotable returns a sentence as it would be quoted, without links, marks of
// markdown at its beginning, and line breaks; false for what is no prose.
func quotable(raw string) (string, bool) {
	clean, _ := text.StripLinks(raw)
	if float64(len(raw)-len(clean)) > maxLinkPart*float64(len(raw)) {
		return "", false
	}
	clean = strings.TrimLeft(clean, "#*->+|=•_~` \t\r\n")
	clean = strings.Join(strings.Fields(strings.ReplaceAll(clean, "**", "")), " ")
	if caption, ok := strings.CutPrefix(clean, "Image "); ok && caption != "" && unicode.IsNumber(rune(caption[0])) {
		return "", false // what scrapers make of an image without a caption
	}
	if strings.HasSuffix(clean, "?") || strings.HasSuffix(clean, "？") {
		return "", false // a question answers nothing
	}
	letters, all := 0, 0
	for _, r := range clean {
		if r == '|' {
			return "", false // a table row
		}
		if r != ' ' {
			all++
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			letters++
		}
	}
	return clean, float64(letters) >= minLetters*float64(all)
}

// terms returns the distinct terms of s as rising numbers, and how many words
// it has.
func (c *corpus) terms(s string) (ids []int32, words int) {
	c.ids, c.words = c.ids[:0], 0
	if c.add == nil { // bound once: it escapes into the analyzer
		c.add = func(word []byte) bool {
			c.words++
			if id := c.numbers.Number(word); id >= 0 {
				c.ids = append(c.ids, id)
			}
			return true
		}
	}
	c.analyzer.Words(s, c.add)
	slices.Sort(c.ids)
	return slices.Clone(slices.Compact(c.ids)), c.words
}

// overlap returns the summed weight of the terms that are in both lists.
func (c *corpus) overlap(a, b []int32) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			if int(a[i]) < len(c.idf) {
				sum += c.idf[a[i]]
			} else {
				sum += c.absent
			}
			i++
			j++
		}
	}
	return sum
}

// weight returns the summed weight of terms.
func (c *corpus) weight(terms []int32) float64 { return c.overlap(terms, terms) }

// expected returns which shapes answer a question; 0 if none is asked for.
func expected(question string) shape {
	q := " " + strings.ToLower(strings.Join(strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")) + " "
	has := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(q, " "+p+" ") })
	}
	var s shape
	if has("when", "what year", "which year", "what date", "which date", "what month", "what day") {
		s |= hasDate
	}
	if has("how many", "how much", "how long", "how old", "how far", "how large", "how often", "what number", "number of", "percentage",
		"percent", "proportion", "what share", "score", "scoreline", "amount", "population", "total", "rate") {
		s |= hasNumber
	}
	if has("who", "whom", "whose", "which person", "which country", "which team", "which company", "where", "what city", "which city", "name of") {
		s |= hasName
	}
	return s
}

// months as they are written in English.
var months = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

// shapeOf returns the shapes of a sentence.
func shapeOf(s string) shape {
	var out shape
	for i, word := range strings.Fields(s) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if word == "" {
			continue
		}
		digits := 0
		for _, r := range word {
			if unicode.IsNumber(r) {
				digits++
			}
		}
		switch {
		case digits == len(word) && digits == 4 && (word[0] == '1' || word[0] == '2'):
			out |= hasDate | hasNumber
		case digits > 0:
			out |= hasNumber
		case i > 0 && unicode.IsUpper([]rune(word)[0]):
			out |= hasName
			if slices.Contains(months, word) {
				out |= hasDate
			}
		}
	}
	return out
}
