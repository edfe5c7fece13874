// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// spec declares an index of documents.
type spec struct {
	// Words: documents have terms, searched by BM25 with K1 and B.
	Words bool
	K1, B float64
	// Dim is the number of components of vectors, compared by the dot product; 0 is none.
	Dim    int
	Fields []string // of keywords
	Of     string   // COLLECTION-TABLE, for people
}

type document struct {
	ID     string
	Terms  []string
	Vector []float32
	Fields map[string]any // strings, or lists of them
	Body   []byte         // UTF-8 without control characters
}

// query asks for documents: by terms, or else by a vector, or else in the order of ids.
type query struct {
	Terms  []term
	K1     float64 // of Terms
	Vector []float32
	Exact  bool     // compute all similarities
	After  string   // skip ids up to this one, in the order of ids
	Where  []object // conditions, as the server takes them
	K      int      // 1 to maxK
	Bodies bool     // return the bodies of hits
}

// term is a term of a query with its frequency there.
type term struct {
	Text  string
	Times int
}

// result is a document found.
type result struct {
	ID    string
	Score float64
	Body  []byte
}

// part is one index of a generation.
type part struct {
	c        *cluster
	analyzer text.Analyzer
	index    string
	open     func(ctx context.Context, writing bool) error // the reason why it cannot be used
	wrap     func(doing string, err error) error
}

// put writes the items that check accepts as documents, and reports the others.
func put[T any](ctx context.Context, p part, items []T, id func(T) string, check func(T) error, doc func(T) (document, error)) error {
	err := p.open(ctx, true)
	good, bad := store.Accept(items, id, check)
	docs := make([]document, len(good))
	for i, item := range good {
		if err == nil {
			docs[i], err = doc(item)
		}
	}
	if err == nil {
		err = p.c.put(ctx, p.index, docs)
	}
	return p.wrap("put", cmp.Or(err, bad))
}

// allOf reads all documents, converted by of.
func allOf[T any](ctx context.Context, p part, after string, of func(result) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		fail := func(err error) { yield(none, p.wrap("read all", err)) }
		if err := p.open(ctx, false); err != nil {
			fail(err)
			return
		}
		for h, err := range p.c.all(ctx, p.index, after) {
			var v T
			if err == nil {
				v, err = of(h)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				fail(err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// batch is a list of queries sent together, without those that can have no answer.
type batch struct {
	part
	queries []query
	places  []int // of the queries sent among all n
	n       int
}

// add appends a query. One that is not worth sending finds nothing.
func (b *batch) add(q query, worth bool) {
	b.n++
	if !worth || q.K <= 0 {
		return
	}
	q.K = min(q.K, b.c.maxK)
	b.queries = append(b.queries, q)
	b.places = append(b.places, b.n-1)
}

func (b *batch) search(ctx context.Context) ([][]result, error) {
	if err := b.open(ctx, false); err != nil {
		return nil, err
	}
	out := make([][]result, b.n)
	if len(b.queries) == 0 {
		return out, nil
	}
	lists, err := b.c.search(ctx, b.index, b.queries)
	if err != nil {
		return nil, err
	}
	for i, list := range lists {
		q := b.queries[i]
		if q.Terms != nil || q.Vector != nil {
			slices.SortStableFunc(list, func(a, b result) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
		}
		out[b.places[i]] = list[:min(len(list), q.K)]
	}
	return out, nil
}

// Lucene cuts terms of more than 255 letters, and terms are split at blanks.
const (
	maxTerm = 200
	// maxTerms bounds the distinct terms of a query: Lucene's limit of clauses is 1024.
	maxTerms = 1000
)

// fieldKey is s, or a hash of it where s is too long for a term or has blanks.
func fieldKey(s string) string {
	if len(s) > 0 && len(s) <= maxTerm && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return "#" + hash(s)
}

func odd(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' }

// hash is 32 hexadecimal digits of the SHA-256 of s.
func hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:16])
}

// terms appends the terms of a text, weight times.
func terms(to []string, a text.Analyzer, s string, weight int) []string {
	once := store.Terms(a, s)
	for i, t := range once {
		once[i] = fieldKey(t)
	}
	return append(to, slices.Repeat(once, weight)...)
}

// queryTerms returns the distinct terms of a query in the order of first occurrence.
func queryTerms(a text.Analyzer, s string) (list []term) {
	place := make(map[string]int)
	for _, t := range terms(nil, a, s, 1) {
		i, known := place[t]
		if !known {
			if len(list) == maxTerms {
				continue
			}
			i = len(list)
			place[t] = i
			list = append(list, term{Text: t})
		}
		list[i].Times++
	}
	return list
}
