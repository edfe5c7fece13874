// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Limits of prose, without fragments and very long sentences. Others are quoted only if there is no prose.
const (
	minWords    = 5
	maxWords    = 90
	minLetters  = 0.6 // least share of letters among the characters other than blanks
	maxLinkPart = 0.6 // largest share of bytes that belong to the targets of links
)

// sentence is a sentence that may be quoted.
type sentence struct {
	quote string // text without links, on one line
	of    *source
	span  text.Span  // span in the text without links
	terms []weighted // vector of length 1, sorted by term
}

// source is a text and its index among those that are summarized.
type source struct {
	index   int
	clean   string
	mapping text.Mapping
}

// weighted is a component of a sparse vector.
type weighted struct {
	term   int32
	weight float64
}

// reader finds the sentences of the texts of one summary. It is reused, with its buffers and the terms of
// words.
type reader struct {
	numbers     *text.Numbering
	place       []int32 // number of each term in the summary, from 1; 0 between summaries
	seen        []int32 // terms that have a number
	inSentence  []int32 // numbers of the terms of a sentence, less 1
	weights     []weighted
	prose, rest []sentence
}

// maxWordsKept limits the words whose terms a reader keeps for the next summary.
const maxWordsKept = 1 << 17

// reset prepares the reader for the next summary.
func (r *reader) reset() {
	for _, t := range r.seen {
		r.place[t] = 0
	}
	clear(r.prose) // releases the texts
	clear(r.rest)
	r.seen, r.weights, r.prose, r.rest = r.seen[:0], r.weights[:0], r.prose[:0], r.rest[:0]
	r.numbers.Trim(maxWordsKept)
}

// collect returns the sentences of all texts that are prose, or, if there are none, all sentences with words;
// they are valid until reset. The only error is the error of ctx.
func (r *reader) collect(ctx context.Context, texts []string) ([]sentence, error) {
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clean, mapping := text.StripLinks(s)
		of := &source{i, clean, mapping}
		for _, span := range text.Sentences(clean) {
			one := sentence{quote: plain(span.In(clean)), of: of, span: span}
			words := 0
			if words, one.terms = r.count(one.quote); words == 0 {
				continue
			}
			if in := mapping.Span(span); len(one.terms) > 0 && isProse(one.quote, words, in.End-in.Start) {
				r.prose = append(r.prose, one)
			} else {
				r.rest = append(r.rest, one)
			}
		}
	}
	found := r.prose
	if len(found) == 0 {
		found = r.rest
	}
	weigh(found, len(r.seen))
	return found, nil
}

// count returns the number of words of a sentence, and the frequency of each term in it. Terms are numbered by
// their first appearance in the texts of the summary.
func (r *reader) count(s string) (words int, terms []weighted) {
	r.inSentence = r.inSentence[:0]
	r.numbers.Text(s, func(numbers []int32) bool {
		words += len(numbers)
		for _, t := range numbers {
			if t < 0 {
				continue
			}
			if int(t) >= len(r.place) {
				r.place = append(r.place, make([]int32, int(t)+1-len(r.place))...)
			}
			if r.place[t] == 0 {
				r.seen = append(r.seen, t)
				r.place[t] = int32(len(r.seen))
			}
			r.inSentence = append(r.inSentence, r.place[t]-1)
		}
		return true
	})
	slices.Sort(r.inSentence)
	start := len(r.weights)
	for i, t := range r.inSentence {
		if i == 0 || r.inSentence[i-1] != t {
			r.weights = append(r.weights, weighted{term: t})
		}
		r.weights[len(r.weights)-1].weight++
	}
	return words, r.weights[start:len(r.weights):len(r.weights)]
}

// plain returns a sentence as it is quoted: without Markdown marks at its beginning, control characters and
// line breaks.
func plain(s string) string {
	s = strings.TrimLeft(prompts.Printable(s), marks)
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " ")
}

// marks are characters at the beginning of a sentence that are not quoted.
const marks = "#*->+|=•_~` \t\r\n"

// boilerplate are words by which web pages speak about themselves.
var boilerplate = []string{
	"cookie", "privacy policy", "terms of use", "terms of service", "all rights reserved", "copyright ©", "javascript",
	"your browser", "newsletter", "subscribe", "sign up", "sign in", "log in", "click ", "adblock",
}

// isStatement reports whether a sentence ends with a full stop or an exclamation mark, unlike headings,
// captions, titles of links, and questions.
func isStatement(quote string) bool {
	s := strings.TrimRight(quote, "\"'”’»)]*_ ")
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!…。！।۔", last) && !strings.HasPrefix(quote, "Image ")
}

// isProse reports whether a sentence is prose, not navigation, a table or a fragment, by its words and bytes.
func isProse(quote string, words, bytes int) bool {
	if words < minWords || words > maxWords || float64(bytes-len(quote)) > maxLinkPart*float64(bytes) ||
		strings.ContainsRune(quote, '|') || strings.Contains(quote, "](") || !isStatement(quote) {
		return false
	}
	folded := strings.ToLower(quote)
	if slices.ContainsFunc(boilerplate, func(p string) bool { return strings.Contains(folded, p) }) {
		return false
	}
	letters, all := 0, 0
	for _, r := range quote {
		if r != ' ' {
			all++
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			letters++
		}
	}
	return float64(letters) >= minLetters*float64(all)
}

// weigh replaces frequencies by weights, (1 + ln tf)·ln(1 + n/df), and scales each sentence to length 1.
func weigh(sentences []sentence, terms int) {
	rare := make([]float64, terms)
	for _, s := range sentences {
		for _, t := range s.terms {
			rare[t.term]++
		}
	}
	for t, df := range rare {
		if df > 0 {
			rare[t] = math.Log(1 + float64(len(sentences))/df)
		}
	}
	for _, s := range sentences {
		sum := 0.0
		for j, t := range s.terms {
			w := (1 + math.Log(t.weight)) * rare[t.term]
			s.terms[j].weight = w
			sum += float64(w * w)
		}
		length := math.Sqrt(sum)
		for j := range s.terms {
			s.terms[j].weight /= length
		}
	}
}

// centrality returns the cosine of each sentence with the centroid of all sentences.
func centrality(sentences []sentence, terms int) []float64 {
	centroid, sum := make([]float64, terms), 0.0
	for _, s := range sentences {
		for _, t := range s.terms {
			centroid[t.term] += t.weight
		}
	}
	for _, w := range centroid {
		sum += float64(w * w)
	}
	scores := make([]float64, len(sentences))
	if sum == 0 {
		return scores
	}
	for i, s := range sentences {
		for _, t := range s.terms {
			scores[i] += float64(t.weight * centroid[t.term])
		}
		scores[i] /= math.Sqrt(sum)
	}
	return scores
}
