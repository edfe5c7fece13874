// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// chooser answers multiple choice without a model: it takes the option whose words, together with the
// question's, are best covered by two consecutive sentences of the evidence. The other reader answers
// other questions.
type chooser struct {
	reader.Reader
	words *text.Standard
}

func newChooser(other reader.Reader) (reader.Reader, error) {
	words, err := text.New(text.Options{NoStems: true})
	return chooser{other, words}, err
}

// Name implements [reader.Reader].
func (c chooser) Name() string { return "chooser+" + c.Reader.Name() }

var option = regexp.MustCompile(`(?m)^([A-D])\. (.+)$`)

// Read implements [reader.Reader].
func (c chooser) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	options := option.FindAllStringSubmatchIndex(q.Text, -1)
	if len(options) < 2 || len(evidence)+len(derived) == 0 {
		return c.Reader.Read(ctx, q, evidence, derived)
	}
	var windows []string
	for _, h := range evidence {
		windows = append(windows, pairs(h.Chunk.Text)...)
	}
	for _, d := range derived {
		windows = append(windows, d.Text)
	}
	stem := q.Text[:options[0][0]]
	best, answer := -1.0, ""
	for _, at := range options {
		held := 0.0
		for _, w := range windows {
			held = max(held, c.share(q.Text[at[4]:at[5]], w)*(1+c.share(stem, w)))
		}
		if held > best {
			best, answer = held, q.Text[at[0]:at[1]]
		}
	}
	return graphrag.Answer{Text: answer, Found: graphrag.Found{Evidence: evidence, Derived: derived}}, ctx.Err()
}

// share returns the share of the distinct words of a text, without function words and single letters,
// that a window contains.
func (c chooser) share(s, window string) float64 {
	has := make(map[string]bool)
	c.words.Words(window, func(word []byte) bool { has[string(word)] = true; return true })
	all, here := make(map[string]bool), 0
	c.words.Words(s, func(word []byte) bool {
		r, n := utf8.DecodeRune(word)
		single := n == len(word) && !unicode.IsDigit(r) && r < 0x2e80
		if _, ok := c.words.Term(string(word)); ok && !single && !all[string(word)] {
			all[string(word)] = true
			if has[string(word)] {
				here++
			}
		}
		return true
	})
	return float64(here) / float64(max(len(all), 1))
}

// pairs returns the sentences of a text, each with the next one.
func pairs(s string) []string {
	var out []string
	sentences := text.Sentences(s)
	for i, p := range sentences {
		window := p.In(s)
		if i+1 < len(sentences) {
			window += " " + sentences[i+1].In(s)
		}
		out = append(out, strings.TrimSpace(window))
	}
	return out
}
