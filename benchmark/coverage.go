// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Coverage measures how many of a statement's content words a text holds:
// evidence for a statement written in other words is missed, so even all the
// gold pages together cover only two thirds of WildGraphBench's statements.
type Coverage struct {
	words *text.Standard
}

// NewCoverage takes as content words the lower-cased words of a text without
// the function words of its language and without single letters.
func NewCoverage(language text.Language) (*Coverage, error) {
	words, err := text.New(text.Options{Language: language, NoStems: true})
	if err != nil {
		return nil, fmt.Errorf("benchmark: coverage: %w", err)
	}
	return &Coverage{words}, nil
}

// content tells whether a word is one that counts.
func (c *Coverage) content(word []byte) bool {
	if r, n := utf8.DecodeRune(word); n == len(word) && !unicode.IsDigit(r) && r < 0x2e80 {
		return false
	}
	_, ok := c.words.Term(string(word))
	return ok
}

// Evidence measures how much of the gold statements of a question the evidence
// holds, and is false if there is nothing to measure.
func (c *Coverage) Evidence(it Item, evidence []graphrag.Hit) (float64, bool) {
	return c.hold(it.GoldStatements(), textsOf(evidence)).share()
}

func textsOf(evidence []graphrag.Hit) []string {
	texts := make([]string, len(evidence))
	for i, h := range evidence {
		texts[i] = h.Chunk.Text
	}
	return texts
}

// Statements is the mean over the statements of the largest share of content
// words that one of the texts holds; statements without content words do not
// count. It is false when there is nothing to measure.
func (c *Coverage) Statements(statements, texts []string) (float64, bool) {
	return c.hold(statements, texts).share()
}

// holding says which content words of statements stand in texts.
type holding struct {
	words      *text.Vocabulary // of all statements
	statements [][]int32        // the words of each, in the order in which they come
	texts      [][]bool         // whether each text has each word
}

// hold looks for the words of statements in texts, each of which is read once.
func (c *Coverage) hold(statements, texts []string) holding {
	h := holding{words: text.NewVocabulary(), statements: make([][]int32, len(statements)), texts: make([][]bool, len(texts))}
	var last []int // statement that had each word, from 1
	for i, s := range statements {
		c.words.Words(s, func(word []byte) bool {
			if !c.content(word) {
				return true
			}
			n, added := h.words.Add(word)
			if added {
				last = append(last, 0)
			}
			if last[n] != i+1 {
				last[n] = i + 1
				h.statements[i] = append(h.statements[i], int32(n))
			}
			return true
		})
	}
	for i, s := range texts {
		has := make([]bool, h.words.Len())
		c.words.Words(s, func(word []byte) bool {
			if n := h.words.Find(word); n >= 0 {
				has[n] = true
			}
			return true
		})
		h.texts[i] = has
	}
	return h
}

// share is that of [Coverage.Statements].
func (h holding) share() (float64, bool) {
	var sum float64
	var n int
	for _, words := range h.statements {
		if len(words) == 0 {
			continue
		}
		best := 0
		for _, has := range h.texts {
			common := 0
			for _, w := range words {
				if has[w] {
					common++
				}
			}
			best = max(best, common)
		}
		sum += float64(best) / float64(len(words))
		n++
	}
	return sum / float64(max(n, 1)), n > 0
}
