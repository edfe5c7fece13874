// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag"
)

// library is the chunks of documents, by the ID of the document. A copy shares what neither has
// changed since, so a change costs what it changes.
type library struct {
	docs    *btree.Map[string, []graphrag.Chunk]
	lengths *btree.Map[int, int] // the number of chunks by their tokens
	chunks  int
}

func newLibrary() *library {
	return &library{docs: btree.NewMap[string, []graphrag.Chunk](0), lengths: btree.NewMap[int, int](0)}
}

// copy returns a library that can be changed while l is read.
func (l *library) copy() *library { return &library{l.docs.Copy(), l.lengths.Copy(), l.chunks} }

// put adds a document, or replaces the one with its ID.
func (l *library) put(id string, chunks []graphrag.Chunk) {
	before, _ := l.docs.Set(id, chunks)
	l.count(before, -1)
	l.count(chunks, 1)
}

// delete removes a document, and returns its chunks.
func (l *library) delete(id string) []graphrag.Chunk {
	chunks, _ := l.docs.Delete(id)
	l.count(chunks, -1)
	return chunks
}

func (l *library) count(chunks []graphrag.Chunk, sign int) {
	l.chunks += sign * len(chunks)
	for _, c := range chunks {
		tokens := max(1, c.Tokens)
		n, _ := l.lengths.Get(tokens)
		if n += sign; n == 0 {
			l.lengths.Delete(tokens)
		} else {
			l.lengths.Set(tokens, n)
		}
	}
}

// within returns how many of the shortest chunks have at most a number of tokens
// together.
func (l *library) within(tokens int) (n int) {
	l.lengths.Scan(func(length, of int) bool {
		fit := min(of, tokens/length)
		n, tokens = n+fit, tokens-fit*length
		return fit == of
	})
	return n
}

// all are the documents in the order of their IDs.
func (l *library) all() iter.Seq2[string, []graphrag.Chunk] {
	return func(yield func(string, []graphrag.Chunk) bool) { l.docs.Scan(yield) }
}

// sorted are all chunks, in the order of their IDs.
func (l *library) sorted() []graphrag.Chunk {
	all := make([]graphrag.Chunk, 0, l.chunks)
	for _, chunks := range l.all() {
		all = append(all, chunks...)
	}
	slices.SortFunc(all, func(a, b graphrag.Chunk) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// distinct sorts a list and keeps each entry once.
func distinct[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
