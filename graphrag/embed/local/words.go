// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Spans finds the words of a passage that answer a question (Devlin and others 2019, sections 4.2 and 4.3). It
// is safe for concurrent use.
type Spans struct{ scoringModel }

// OpenSpans reads a folder with a BertForQuestionAnswering.
func OpenSpans(dir string, opts Options) (*Spans, error) {
	s := new(Spans)
	return opened(s, s.open(dir, opts, task{"BertForQuestionAnswering", "qa_outputs", false, func([]string) error {
		s.labels = []string{"start", "end"}
		return nil
	}}))
}

// Limits in tokens, as in run_squad.py, which Devlin and others published with the paper.
const (
	questionTokens = 64  // most tokens of a question; the rest is cut off
	spanTokens     = 30  // most tokens of an answer
	overlapTokens  = 128 // tokens shared by two neighbouring windows of a long passage
)

// Find returns the best answer in each passage, in whole words. Its score is the score of the answer minus the
// score of no answer (section 4.3): above 0, a model trained with unanswerable questions says that the passage
// contains the answer. A passage without words has an empty span and the score -Inf.
func (s *Spans) Find(ctx context.Context, question string, passages []string) ([]text.Match, error) {
	var letters letterReader
	asked := s.pieces.tokens(nil, question, min(questionTokens+2, s.net.tokens/2), &letters)
	windows, texts := []window{}, make([]located, len(passages))
	room := s.net.tokens - len(asked) - 1
	for i, p := range passages {
		texts[i] = s.pieces.locate(p, &letters)
		for from, n := 0, len(texts[i].ids); from < n; from += room - min(overlapTokens, room/2) {
			windows = append(windows, window{i, from, min(from+room, n)})
			if from+room >= n {
				break
			}
		}
	}
	best := make([]text.Match, len(windows))
	err := s.inPacks(ctx, len(windows), func(to *scratch, i int) {
		w := windows[i]
		to.ids = append(to.ids, asked...)
		to.seconds = append(to.seconds, len(to.ids))
		to.ids = append(append(to.ids, texts[w.text].ids[w.from:w.to]...), s.pieces.end)
	}, func(i, second int, tokens []float32) (err error) {
		best[i], err = s.best(second, tokens)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]text.Match, len(passages))
	for i := range out {
		out[i].Score = math.Inf(-1)
	}
	for i, w := range windows {
		if t := &texts[w.text]; best[i].Score > out[w.text].Score {
			out[w.text] = text.Match{Start: t.words[t.of[w.from+best[i].Start]][0], End: t.words[t.of[w.from+best[i].End]][1], Score: best[i].Score}
		}
	}
	return out, nil
}

// best returns the best answer in a window: its first and last token. The tokens from second to the last but
// one are the passage.
func (s *Spans) best(second int, tokens []float32) (text.Match, error) {
	hidden := s.net.Hidden
	n := len(tokens) / hidden
	logits := make([]float64, 2*n)
	for i := range n {
		s.out.apply(logits[2*i:2*i+2], tokens[i*hidden:(i+1)*hidden])
	}
	out := text.Match{Score: math.Inf(-1)}
	for i := second; i < n-1; i++ {
		for j := i; j < min(i+spanTokens, n-1); j++ {
			if score := logits[2*i] + logits[2*j+1] - logits[0] - logits[1]; score > out.Score {
				out = text.Match{Start: i - second, End: j - second, Score: score}
			}
		}
	}
	return out, finite(logits)
}

// Names finds names and their types in texts: a token classifier (Devlin and others 2019, section 5.3). It is
// safe for concurrent use.
type Names struct{ scoringModel }

// OpenNames reads a folder with a BertForTokenClassification whose labels are O, B-TYPE and I-TYPE.
func OpenNames(dir string, opts Options) (*Names, error) {
	n := new(Names)
	return opened(n, n.open(dir, opts, task{"BertForTokenClassification", "classifier", false, func(labels []string) error {
		for _, l := range labels {
			if l != "O" && !strings.HasPrefix(l, "B-") && !strings.HasPrefix(l, "I-") {
				return fmt.Errorf("the model has the label %.40q, want O, B-TYPE and I-TYPE", l)
			}
		}
		return nil
	}}))
}

// Find returns the names in each text, in order. A word has the label of its first token.
func (n *Names) Find(ctx context.Context, texts []string) ([][]text.Match, error) {
	var letters letterReader
	windows, at := []window{}, make([]located, len(texts))
	tagged := make([][]text.Match, len(texts)) // a word each, O is ""
	for i, t := range texts {
		at[i] = n.pieces.locate(t, &letters)
		tagged[i] = make([]text.Match, len(at[i].words))
		for from := 0; from < len(at[i].ids); {
			to := at[i].cut(from, n.net.tokens-2)
			windows = append(windows, window{i, from, to})
			from = to
		}
	}
	err := n.inPacks(ctx, len(windows), func(to *scratch, i int) {
		w := windows[i]
		to.ids = append(append(append(to.ids, n.pieces.begin), at[w.text].ids[w.from:w.to]...), n.pieces.end)
		to.seconds = append(to.seconds, len(to.ids))
	}, func(i, _ int, tokens []float32) error {
		w := windows[i]
		return n.tag(tagged[w.text], at[w.text], w, tokens[n.net.Hidden:])
	})
	if err != nil {
		return nil, err
	}
	for i := range tagged {
		tagged[i] = joined(tagged[i])
	}
	return tagged, nil
}

// tag writes the labels of the words that begin in a window.
func (n *Names) tag(out []text.Match, l located, w window, tokens []float32) error {
	p := make([]float64, len(n.labels))
	for i := w.from; i < w.to; i++ {
		word := l.of[i]
		if i > 0 && l.of[i-1] == word {
			continue
		}
		n.out.apply(p, tokens[(i-w.from)*n.net.Hidden:(i-w.from+1)*n.net.Hidden])
		if err := finite(p); err != nil {
			return err
		}
		softmax64(p)
		best := slices.Index(p, slices.Max(p))
		out[word] = text.Match{Start: l.words[word][0], End: l.words[word][1], Score: p[best], Kind: strings.TrimPrefix(n.labels[best], "O")}
	}
	return nil
}

// joined joins tagged words to names: B- begins a name, I- continues one of the same type.
func joined(words []text.Match) []text.Match {
	out, length, open := []text.Match{}, 0., false
	for _, w := range words {
		if w.Kind == "" {
			open = false
			continue
		}
		begins, kind := w.Kind[0] == 'B', w.Kind[2:]
		if last := len(out) - 1; open && !begins && out[last].Kind == kind {
			length++
			out[last].End = w.End
			out[last].Score += (w.Score - out[last].Score) / length
			continue
		}
		length, open = 1, true
		out = append(out, text.Match{Start: w.Start, End: w.End, Score: w.Score, Kind: kind})
	}
	return out
}

// window is a range of the tokens of a text.
type window struct{ text, from, to int }

// located holds the tokens of a text and the words that they are pieces of.
type located struct {
	ids   []int32
	of    []int32  // index in words, by token
	words [][2]int // first byte of each word in the text, and the byte after it
}

// cut returns the end of a window of at most n tokens that ends between two words if possible.
func (l *located) cut(from, n int) int {
	to := min(from+n, len(l.ids))
	for end := to; end > from && to < len(l.ids); end-- {
		if l.of[end-1] != l.of[end] {
			return end
		}
	}
	return to
}

// locate returns the tokens of a text, without begin and end tokens, and the places of their words.
func (w *wordPiece) locate(text string, s *letterReader) (l located) {
	w.walk(text, s, func(special string, start, end int) bool {
		l.add(w.word(l.ids, special, s), start, end)
		return true
	})
	return l
}

// add appends the tokens of one more word.
func (l *located) add(ids []int32, start, end int) {
	for range ids[len(l.ids):] {
		l.of = append(l.of, int32(len(l.words)))
	}
	if len(ids) > len(l.ids) {
		l.words = append(l.words, [2]int{start, end})
	}
	l.ids = ids
}
