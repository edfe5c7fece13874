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
	// Terms turns a text into its content words.
	Terms func(text string) []string
}

// NewCoverage takes as content words the lower-cased words of a text without
// the function words of its language and without single letters.
func NewCoverage(language text.Language) (*Coverage, error) {
	words, err := text.New(text.Options{Language: language, NoStems: true})
	if err != nil {
		return nil, fmt.Errorf("benchmark: coverage: %w", err)
	}
	return &Coverage{Terms: func(s string) []string {
		var out []string
		for _, w := range words.Terms(s) {
			if r, n := utf8.DecodeRuneInString(w); n < len(w) || unicode.IsDigit(r) || r >= 0x2e80 {
				out = append(out, w)
			}
		}
		return out
	}}, nil
}

// Evidence measures how much of the gold statements of a question the evidence
// holds, and is false if there is nothing to measure.
func (c *Coverage) Evidence(it Item, evidence []graphrag.Hit) (float64, bool) {
	texts := make([]string, len(evidence))
	for i, h := range evidence {
		texts[i] = h.Chunk.Text
	}
	return c.Statements(it.GoldStatements(), texts)
}

// Statements is the mean over the statements of the largest share of content
// words that one of the texts holds; statements without content words do not
// count. It is false when there is nothing to measure.
func (c *Coverage) Statements(statements, texts []string) (float64, bool) {
	held := make([]map[string]bool, len(texts))
	for i, text := range texts {
		held[i] = set(c.Terms(text))
	}
	var sum float64
	var n int
	for _, s := range statements {
		words := set(c.Terms(s))
		if len(words) == 0 {
			continue
		}
		best := 0
		for _, h := range held {
			best = max(best, common(words, h))
		}
		sum += float64(best) / float64(len(words))
		n++
	}
	return sum / float64(max(n, 1)), n > 0
}

func set(words []string) map[string]bool {
	s := make(map[string]bool, len(words))
	for _, w := range words {
		s[w] = true
	}
	return s
}

func common(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}
