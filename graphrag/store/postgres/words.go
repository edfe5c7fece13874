// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// words is the index of words of a table: terms, the records that have them, how often.
type words struct {
	analyzer    text.Analyzer
	table       string // in SQL, as rows and sizes
	rows, sizes string
	name        string
	k1, b       float64
}

func (g *generation) words(name string, k1, b float64) words {
	return words{
		analyzer: g.c.store.o.Analyzer, name: name,
		table: g.schema + "." + wordsOf(name), rows: g.schema + "." + rowsOf(name), sizes: g.schema + ".sizes",
		k1: cmp.Or(k1, bm25.DefaultK1), b: cmp.Or(b, bm25.DefaultB),
	}
}

// counter counts the terms of texts; a word is analyzed once.
type counter struct {
	analyzer text.Analyzer
	terms    map[string]string
}

func (w words) counter() counter { return counter{w.analyzer, make(map[string]string)} }

func (c counter) count(to map[string]int32, s string, weight int32) (n int32) {
	if weight == 0 {
		return 0
	}
	c.analyzer.Words(s, func(word []byte) bool {
		term, known := c.terms[string(word)]
		if !known {
			term, _ = c.analyzer.Term(string(word))
			c.terms[string(word)] = term
		}
		if term != "" {
			to[term] += weight
			n += weight
		}
		return true
	})
	return n
}

// posting is a line of the table of words.
type posting struct {
	term, id string
	tf, n    int32
}

// postings appends those of a record.
func postings(to []posting, id string, terms map[string]int32, n int32) []posting {
	for _, term := range slices.Sorted(maps.Keys(terms)) {
		to = append(to, posting{term, id, terms[term], n})
	}
	return to
}

// replace puts the postings of records in the place of those that they had.
func (w words) replace(ctx context.Context, tx pgx.Tx, ids []string, all []posting) error {
	if err := w.remove(ctx, tx, ids); err != nil {
		return err
	}
	into := strings.Split(strings.ReplaceAll(w.table, `"`, ""), ".")
	_, err := tx.CopyFrom(ctx, pgx.Identifier(into), []string{"term", "id", "tf", "len"}, pgx.CopyFromSlice(len(all), func(i int) ([]any, error) {
		p := all[i]
		return []any{p.term, p.id, p.tf, p.n}, nil
	}))
	return err
}

func (w words) remove(ctx context.Context, tx pgx.Tx, ids []string) error {
	_, err := tx.Exec(ctx, `DELETE FROM `+w.table+` WHERE id = ANY($1)`, ids)
	return err
}

// search is the statement that finds the best records for a text, and its arguments:
// BM25 as package bm25 has it. The number of records and their mean length are those of
// the last flush. Sums are in the order of terms, so that equal records have equal
// scores.
func (w words) search(query string, k int, where condition) (string, []any) {
	terms := make(map[string]int32)
	w.counter().count(terms, query, 1)
	list := slices.Sorted(maps.Keys(terms))
	times := make([]float64, len(list))
	for i, t := range list {
		times[i] = float64(terms[t])
	}
	args := append(where.args, list, times, k)
	n := len(where.args)
	join := ""
	if where.sql != "" {
		join = fmt.Sprintf("JOIN %s r ON r.id = w.id WHERE %s", w.rows, where.sql)
	}
	sql := strings.NewReplacer(
		"{terms}", fmt.Sprintf("$%d", n+1), "{times}", fmt.Sprintf("$%d", n+2), "{k}", fmt.Sprintf("$%d", n+3),
		"{sizes}", w.sizes, "{name}", w.name, "{rows}", w.rows, "{words}", w.table, "{join}", join,
		"{k1}", fmt.Sprint(w.k1), "{b}", fmt.Sprint(w.b)).Replace(searchWords)
	return sql, args
}

const searchWords = `
	WITH q AS MATERIALIZED (SELECT * FROM unnest({terms}::text[], {times}::float8[]) AS q (term, times)),
	s AS MATERIALIZED (SELECT n, total / greatest(n, 1) AS mean FROM (
		SELECT n, total FROM {sizes} WHERE name = '{name}'
		UNION ALL
		SELECT count(*), coalesce(sum(len), 0) FROM {rows} WHERE NOT EXISTS (SELECT FROM {sizes} WHERE name = '{name}')
		) x LIMIT 1),
	d AS MATERIALIZED (SELECT q.term, q.times, (SELECT count(*) FROM {words} w WHERE w.term = q.term COLLATE "C")::float8 AS df FROM q)
	SELECT w.id, sum(d.times * ln(1 + greatest(s.n - d.df + .5, .5) / (d.df + .5)) * ({k1} + 1) * w.tf
		/ (w.tf + {k1} * (1 - {b} + {b} * w.len / greatest(s.mean, 1e-9))) ORDER BY d.term) AS score
	FROM d CROSS JOIN s JOIN {words} w ON w.term = d.term COLLATE "C" {join}
	GROUP BY w.id ORDER BY score DESC, w.id LIMIT {k}`
