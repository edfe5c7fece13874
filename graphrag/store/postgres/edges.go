// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// edges implements [store.Triples].
type edges struct {
	g     *generation
	words words
}

func (e edges) wrap(doing string, err error) error { return wrapError("triples: "+doing, err) }

// PutTriples implements [store.Triples] in one transaction.
func (e edges) PutTriples(ctx context.Context, ts ...store.Triple) error {
	if err := e.g.open(ctx, true); err != nil {
		return e.wrap("put", err)
	}
	good, bad := store.Accept(ts, store.Triple.ID, func(t store.Triple) error {
		return cmp.Or(store.CheckTriple(t), noNUL(t.Head.ID, t.Head.Label, t.Relation.ID, t.Relation.Label, t.Tail.ID, t.Tail.Label, t.Source))
	})
	return e.wrap("put", cmp.Or(e.put(ctx, good), bad))
}

func (e edges) put(ctx context.Context, list []store.Triple) error {
	if len(list) == 0 {
		return nil
	}
	ts := make(map[string]store.Triple, len(list))
	for _, t := range list {
		ts[t.ID()] = t
	}
	ids := slices.Sorted(maps.Keys(ts))
	var heads, relations, tails, sources []string
	var literals []bool
	var weights []float64
	var lengths []int32
	var said [][]byte // the labels in the index of words; later labels do not change them
	texts := make(map[string]counted, len(ids))
	total := 0.0
	names := make(map[[2]string]string)
	for _, id := range ids {
		t := ts[id]
		labels := strings.Join([]string{t.Head.Label, t.Relation.Label, t.Tail.Label}, "\n")
		texts[id] = e.words.counted("", labels)
		said = append(said, []byte(labels))
		total += float64(texts[id].n)
		heads, relations, tails, sources = append(heads, t.Head.ID), append(relations, t.Relation.ID), append(tails, t.Tail.ID), append(sources, t.Source)
		literals, weights, lengths = append(literals, t.Literal), append(weights, t.Weight), append(lengths, texts[id].n)
		names[[2]string{"e", t.Head.ID}], names[[2]string{"e", t.Tail.ID}], names[[2]string{"r", t.Relation.ID}] = t.Head.Label, t.Tail.Label, t.Relation.Label
	}
	var kinds, called, labels []string // in the order of the keys, so that two writers cannot deadlock
	for _, key := range slices.SortedFunc(maps.Keys(names), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		kinds, called, labels = append(kinds, key[0]), append(called, key[1]), append(labels, names[key])
	}
	return e.g.c.store.write(ctx, func(tx pgx.Tx) error {
		err := e.words.refer(ctx, tx, total/float64(len(ids)))
		if err != nil {
			return err
		}
		old, err := e.words.held(ctx, tx, fmt.Sprintf(`SELECT doc, ''::bytea, said FROM %s WHERE id = ANY($1) ORDER BY id FOR UPDATE`, e.words.rows), ids)
		if err == nil {
			_, err = tx.Exec(ctx, fmt.Sprintf(`
				INSERT INTO %s.names AS n SELECT k::"char", i, l FROM unnest($1::text[], $2::text[], $3::text[]) AS x (k, i, l)
				ON CONFLICT (kind, id) DO UPDATE SET label = excluded.label WHERE n.label <> excluded.label`, e.g.schema), kinds, called, labels)
		}
		if err != nil {
			return err
		}
		return e.words.replace(ctx, tx, old, texts, fmt.Sprintf(`
			INSERT INTO %s (id, head, relation, tail, literal, source, weight, len, said)
			SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::float8[], $8::int[], $9::bytea[])
			ON CONFLICT (id) DO UPDATE SET weight = excluded.weight, len = excluded.len, said = excluded.said`, e.words.rows),
			[]any{ids, heads, relations, tails, literals, sources, weights, lengths, said})
	})
}

func (e edges) DeleteTriples(ctx context.Context, ids ...string) error {
	err := e.g.open(ctx, true)
	if err == nil {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return noNUL(id) != nil })
		err = e.g.c.store.write(ctx, func(tx pgx.Tx) error {
			old, err := e.words.held(ctx, tx, `DELETE FROM `+e.words.rows+` WHERE id = ANY($1) RETURNING doc, ''::bytea, said`, ids)
			if err != nil {
				return err
			}
			return e.words.remove(ctx, tx, old)
		})
	}
	return e.wrap("delete", err)
}

// triple lists the columns of a triple r and of its labels.
const triple = `r.head, h.label, r.relation, p.label, r.tail, t.label, r.literal, r.source, r.weight`

func (e edges) named() string {
	return fmt.Sprintf(` JOIN %s.names h ON h.kind = 'e' AND h.id = r.head JOIN %[1]s.names p ON p.kind = 'r' AND p.id = r.relation JOIN %[1]s.names t ON t.kind = 'e' AND t.id = r.tail `, e.g.schema)
}

func tripleTargets(t *store.Triple) []any {
	return []any{&t.Head.ID, &t.Head.Label, &t.Relation.ID, &t.Relation.Label, &t.Tail.ID, &t.Tail.Label, &t.Literal, &t.Source, &t.Weight}
}

func scanTriple(row pgx.CollectableRow) (t store.Triple, err error) {
	err = row.Scan(tripleTargets(&t)...)
	return t, err
}

func (e edges) SearchTriples(ctx context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	var b pgx.Batch
	for _, q := range queries {
		if err := store.CheckTriples(q); err != nil {
			return nil, e.wrap("search", err)
		}
		sql, args := e.words.find(q.Text, max(q.K, 0), condition{}, false)
		b.Queue(fmt.Sprintf(`SELECT %s, s.score FROM (%s) s JOIN %s r ON r.id = s.id %s ORDER BY s.score DESC, s.id`, triple, sql, e.words.rows, e.named()), args...)
	}
	hits, err := collect(ctx, e.g, &b, 0, func(row pgx.CollectableRow) (h store.TripleHit, err error) {
		err = row.Scan(append(tripleTargets(&h.Triple), &h.Score)...)
		return h, err
	})
	return hits, e.wrap("search", err)
}

func (e edges) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	var b pgx.Batch
	for _, entity := range entities {
		sql, args := e.near(entity, o)
		b.Queue(sql, args...)
	}
	found, err := collect(ctx, e.g, &b, 0, scanTriple)
	return found, e.wrap("neighbors", err)
}

// near returns the statement for the neighbors of an entity: with Like, the results of that search come first.
func (e edges) near(entity string, o store.Near) (string, []any) {
	if noNUL(entity, o.Relation) != nil {
		entity = "" // no triple has an empty id
	}
	var c condition
	at := map[store.End]string{store.Head: "r.head = %[1]s", store.Tail: "r.tail = %[1]s", store.Either: "(r.head = %[1]s OR r.tail = %[1]s)"}[o.End]
	c.sql = fmt.Sprintf(at, c.arg(entity)+`::text COLLATE "C"`)
	if o.Relation != "" {
		c.sql += fmt.Sprintf(` AND r.relation = %s::text COLLATE "C"`, c.arg(o.Relation))
	}
	where := c.sql
	like, order := "", "r.id"
	if o.Like != "" {
		sql, args := e.words.find(o.Like, 1<<31-1, c, false)
		like, order = fmt.Sprintf("LEFT JOIN (%s) s ON s.id = r.id", sql), "s.score DESC NULLS LAST, r.id"
		c.args = args
	}
	limit := ""
	if o.Limit > 0 {
		limit = "LIMIT " + c.arg(o.Limit)
	}
	return fmt.Sprintf(`SELECT %s FROM %s r %s %s WHERE %s ORDER BY %s %s`, triple, e.words.rows, e.named(), like, where, order, limit), c.args
}

func (e edges) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	sql := fmt.Sprintf(`SELECT %s FROM %s r %s WHERE r.id > $1 ORDER BY r.id`, triple, e.words.rows, e.named())
	return all(ctx, e.g, sql, after, scanTriple, func(err error) error { return e.wrap("read all", err) })
}

func (e edges) CountTriples(ctx context.Context) (n int, err error) {
	if err = e.g.open(ctx, false); err == nil {
		err = e.g.c.store.pool.QueryRow(ctx, `SELECT count(*) FROM `+e.words.rows).Scan(&n)
	}
	return n, e.wrap("count", err)
}
