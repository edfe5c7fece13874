// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrDuplicate is wrapped by errors about a document that occurs twice for one
// query, or a query that is added twice.
var ErrDuplicate = errors.New("occurs twice")

// Hit is one retrieved document.
type Hit struct {
	Doc   string
	Score float64 // higher is better; not NaN
}

// Run is what a system retrieved for a set of queries. The zero Run is empty
// and ready to use. Reading is safe for concurrent use, adding is not.
type Run struct {
	lists lists[Hit]
}

// Add adds the hits of a query in any order and ranks them; the argument is
// not kept. It fails, and adds nothing, if the query is there already, if a
// document occurs twice or if a score is NaN.
func (r *Run) Add(query string, hits []Hit) error {
	hits = slices.Clone(hits)
	if err := checkHits(hits); err != nil {
		return fmt.Errorf("rank: add query %q: %w", query, err)
	}
	order(hits)
	return r.lists.add(query, hits)
}

// AddRanking adds documents that are ranked already, best first. It fails as
// Add does.
func (r *Run) AddRanking(query string, docs []string) error {
	hits := make([]Hit, len(docs))
	for i, d := range docs {
		hits[i] = Hit{d, float64(len(docs) - i)}
	}
	if err := checkHits(hits); err != nil {
		return fmt.Errorf("rank: add query %q: %w", query, err)
	}
	return r.lists.add(query, hits)
}

// Queries are the queries in the order they were added. Do not change it.
func (r *Run) Queries() []string { return r.lists.queries }

// Hits are the hits of a query, best first; nil if there is no such query. Do
// not change it.
func (r *Run) Hits(query string) []Hit { return r.lists.of(query) }

// order sorts as trec_eval does: by score, then by document id, both falling.
func order(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc)) })
}

func checkHits(hits []Hit) error {
	docs := make([]string, len(hits))
	for i, h := range hits {
		if math.IsNaN(h.Score) {
			return fmt.Errorf("document %q: score is not a number", h.Doc)
		}
		docs[i] = h.Doc
	}
	return checkOnce(docs)
}

// checkOnce fails if a document occurs twice; it sorts docs.
func checkOnce(docs []string) error {
	slices.Sort(docs)
	for i := 1; i < len(docs); i++ {
		if docs[i] == docs[i-1] {
			return fmt.Errorf("document %q: %w", docs[i], ErrDuplicate)
		}
	}
	return nil
}

// lists holds one list per query.
type lists[T any] struct {
	queries []string
	items   map[string][]T
}

func (l *lists[T]) add(query string, items []T) error {
	if l.has(query) {
		return fmt.Errorf("rank: add query %q: %w", query, ErrDuplicate)
	}
	if l.items == nil {
		l.items = make(map[string][]T)
	}
	l.queries = append(l.queries, query)
	l.items[query] = items
	return nil
}

func (l *lists[T]) has(query string) bool {
	_, ok := l.items[query]
	return ok
}

func (l *lists[T]) of(query string) []T { return l.items[query] }

// Judgment is how relevant a document is to a query.
type Judgment struct {
	Doc   string
	Level int32 // 0 and below: not relevant
}

// Qrels are relevance judgments for a set of queries. The zero Qrels are empty
// and ready to use. Reading is safe for concurrent use, adding is not.
type Qrels struct {
	lists lists[Judgment] // of a query by document id
}

// Add adds the judgments of a query; the argument is not kept. It fails, and
// adds nothing, if the query is there already or if a document occurs twice.
func (q *Qrels) Add(query string, judgments []Judgment) error {
	judgments = slices.Clone(judgments)
	docs := make([]string, len(judgments))
	for i, j := range judgments {
		docs[i] = j.Doc
	}
	if err := checkOnce(docs); err != nil {
		return fmt.Errorf("rank: add judgments of query %q: %w", query, err)
	}
	slices.SortFunc(judgments, func(a, b Judgment) int { return cmp.Compare(a.Doc, b.Doc) })
	return q.lists.add(query, judgments)
}

// Queries are the queries in the order they were added. Do not change it.
func (q *Qrels) Queries() []string { return q.lists.queries }

func level(judgments []Judgment, doc string) int32 {
	i, ok := slices.BinarySearchFunc(judgments, doc, func(j Judgment, doc string) int { return cmp.Compare(j.Doc, doc) })
	if !ok {
		return 0
	}
	return judgments[i].Level
}
