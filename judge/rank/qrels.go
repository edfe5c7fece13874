// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"fmt"
	"slices"
)

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
