// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// spec declares an OpenSearch index.
type spec struct {
	// Words says that documents have terms, searched by BM25 with K1 and B.
	Words bool
	K1, B float64
	// Dim is the number of components of vectors, compared by the dot product; 0 is no vectors.
	Dim    int
	Fields []string // names of keyword fields
	Of     string   // COLLECTION-TABLE, for people who inspect the cluster
}

type document struct {
	ID     string
	Terms  []string
	Vector []float32
	Fields map[string]any // values are strings or lists of strings
	Body   []byte         // UTF-8 without control characters
}

// query asks for the documents with its Terms, or nearest to its Vector, or else for all in the order of ids.
type query struct {
	Terms  []term
	K1     float64 // for the scores of Terms
	Vector []float32
	Exact  bool     // compare all vectors, without the HNSW graph
	After  string   // skip ids up to this one, if there are no Terms and no Vector
	Where  []object // conditions in OpenSearch's query language
	K      int      // number of documents, 1 to maxK
	Bodies bool     // return the bodies of hits
}

// term is a term of a query and its frequency in the query.
type term struct {
	Text  string
	Times int
}

type result struct {
	ID    string
	Score float64
	Body  []byte
}

// part is the OpenSearch index of one table of a generation, or of its triples.
type part struct {
	c        *cluster
	analyzer text.Analyzer
	index    string
	open     func(ctx context.Context, writing bool) error // an error if the generation cannot be used
	wrap     func(doing string, err error) error
}

// put writes the items that check accepts, converted by doc, and returns an error about the others.
func put[T any](ctx context.Context, p part, items []T, id func(T) string, check func(T) error, doc func(T) (document, error)) error {
	err := p.open(ctx, true)
	good, bad := store.Accept(items, id, check)
	if err == nil {
		err = p.c.bulk(ctx, p.index, "index", len(good), func(i int) (string, object, error) {
			d, err := doc(good[i])
			made := object{"id": d.ID, "body": string(d.Body)}
			if len(d.Terms) > 0 {
				made["words"], made["length"] = strings.Join(d.Terms, " "), len(d.Terms)
			}
			if len(d.Vector) > 0 {
				made["vector"] = d.Vector
			}
			maps.Copy(made, d.Fields)
			return d.ID, made, err
		})
	}
	return p.wrap("put", cmp.Or(err, bad))
}

// remove deletes documents by their ids.
func (p part) remove(ctx context.Context, ids []string) error {
	err := p.open(ctx, true)
	if err == nil {
		ids = slices.Compact(slices.Sorted(slices.Values(ids)))
		err = p.c.bulk(ctx, p.index, "delete", len(ids), func(i int) (string, object, error) { return ids[i], nil, nil })
	}
	return p.wrap("delete", err)
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

// batch is a list of queries sent in one request. Queries that can have no answer are not sent.
type batch struct {
	part
	queries []query
	places  []int // places[i] is the position of queries[i] among all n queries
	n       int
}

// add appends a query. If it is not worth sending, its list of hits is empty.
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

// Lucene cuts terms after 255 characters, and the terms of a text are sent separated by blanks.
const (
	maxTerm = 200
	// maxTerms limits the distinct terms of a query: Lucene allows 1024 clauses.
	maxTerms = 1000
)

// fieldKey returns s, or a hash of s if it is too long for a term or contains blanks.
func fieldKey(s string) string {
	if len(s) > 0 && len(s) <= maxTerm && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return "#" + hash(s)
}

func odd(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' }

// hash returns 32 hexadecimal digits of the SHA-256 of s.
func hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:16])
}

// terms appends the terms of a text to a list, repeated weight times.
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
