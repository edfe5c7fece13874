// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Words holds the document frequencies of the content words of a corpus: the lower-cased
// words without function words and single letters. It is safe for concurrent use.
type Words struct {
	analyzer  *text.Standard
	documents int
	words     *text.Vocabulary
	frequency []int32 // documents that contain each word
}

// CountWords counts the words of a corpus. It stops at the first error of the stream, and
// when ctx ends.
func CountWords(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (*Words, error) {
	analyzer, err := text.New(text.Options{NoStems: true})
	if err != nil {
		return nil, fmt.Errorf("benchmark: words: %w", err)
	}
	w := &Words{analyzer: analyzer, words: text.NewVocabulary()}
	var last []int32 // number of the last document that contained each word, from 1
	for doc, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("benchmark: words: %w", err)
		}
		w.documents++
		analyzer.Words(doc.Text, func(word []byte) bool {
			n, added := w.words.Add(word)
			if added {
				last, w.frequency = append(last, 0), append(w.frequency, 0)
			}
			if last[n] != int32(w.documents) {
				last[n] = int32(w.documents)
				w.frequency[n]++
			}
			return true
		})
	}
	return w, nil
}

// idf is the inverse document frequency of a word, as in BM25.
func (w *Words) idf(word []byte) float64 {
	all, with := float64(w.documents), 0.0
	if n := w.words.Find(word); n >= 0 {
		with = float64(w.frequency[n])
	}
	return math.Log(1 + (all-with+.5)/(with+.5))
}

// content adds the distinct content words of a text to a vocabulary and lists them in the
// order of their bytes, so that sums over them do not depend on the order of a sentence.
func (w *Words) content(of *text.Vocabulary, s string) []int {
	var out []int
	w.analyzer.Words(s, func(word []byte) bool {
		if r, n := utf8.DecodeRune(word); n == len(word) && !unicode.IsDigit(r) && r < 0x2e80 {
			return true
		}
		if _, ok := w.analyzer.Term(string(word)); ok {
			n, _ := of.Add(word)
			out = append(out, n)
		}
		return true
	})
	slices.SortFunc(out, func(a, b int) int { return bytes.Compare(of.At(a), of.At(b)) })
	return slices.Compact(out)
}

// foundShare is the share of a statement that a chunk must contain.
const foundShare = 0.5

// Found is the share of the gold statements of a question that are found: one chunk of
// the evidence, of a gold document, contains at least half of the statement's content
// words, weighted by idf. Recall of documents alone rewards many short chunks, this
// figure rewards the right ones. Statements in other words are missed. It is false if
// the question has no gold documents, or no statement with a content word.
func (w *Words) Found(it Item, evidence []graphrag.Hit) (float64, bool) {
	if len(it.Gold) == 0 {
		return 0, false
	}
	known := text.NewVocabulary() // words of the statements
	var statements [][]int
	for _, s := range it.GoldStatements() {
		if words := w.content(known, s); len(words) > 0 {
			statements = append(statements, words)
		}
	}
	idf := make([]float64, known.Len())
	for i := range idf {
		idf[i] = w.idf(known.At(i))
	}
	covered := make([]bool, len(statements))
	for _, e := range evidence {
		if !slices.ContainsFunc(it.Gold, func(u Unit) bool { return slices.Contains(u, e.Chunk.Doc) }) {
			continue
		}
		has := make([]bool, known.Len())
		w.analyzer.Words(e.Chunk.Text, func(word []byte) bool {
			if n := known.Find(word); n >= 0 {
				has[n] = true
			}
			return true
		})
		for i, words := range statements {
			var all, here float64
			for _, word := range words {
				all += idf[word]
				if has[word] {
					here += idf[word]
				}
			}
			covered[i] = covered[i] || here/all >= foundShare
		}
	}
	found := 0
	for _, c := range covered {
		if c {
			found++
		}
	}
	return float64(found) / float64(max(len(statements), 1)), len(statements) > 0
}
