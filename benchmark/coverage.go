// SPDX-License-Identifier: Apache-2.0

package benchmark

// Coverage measures how many of a statement's content words a text holds.
type Coverage struct {
	// Terms turns a text into its content words: normalised words without
	// function words.
	Terms func(text string) []string
}

// Statements is the mean over the statements of the largest share of content
// words that one of the texts holds; statements without content words do not
// count. It is 0 when there is nothing to measure.
func (c *Coverage) Statements(statements, texts []string) float64 {
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
	if n == 0 {
		return 0
	}
	return sum / float64(n)
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
