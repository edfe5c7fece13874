// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// table implements [store.Table].
type table struct {
	g      *generation
	name   string
	schema store.TableSchema
	words  words
}

func (t *table) wrap(doing string, err error) error {
	return wrapError(fmt.Sprintf("table %q: %s", t.name, doing), err)
}

func (t *table) rows() string { return t.words.rows }

// Put implements [store.Records] in one transaction.
func (t *table) Put(ctx context.Context, records ...store.Record) error {
	if err := t.g.open(ctx, true); err != nil {
		return t.wrap("put", err)
	}
	good, bad := store.Accept(records, func(r store.Record) string { return r.ID }, func(r store.Record) error {
		return cmp.Or(t.schema.CheckRecord(r), noNUL(r.ID, r.Scope))
	})
	return t.wrap("put", cmp.Or(t.put(ctx, good), bad))
}

// noNUL returns an error for a text with a NUL character, which PostgreSQL cannot store.
func noNUL(texts ...string) error {
	for _, s := range texts {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("%w: %.40q has a NUL character, which PostgreSQL does not hold in ids, scopes and labels", store.ErrInvalid, s)
		}
	}
	return nil
}

// put writes records in the order of their ids, so that two writers cannot deadlock.
func (t *table) put(ctx context.Context, records []store.Record) error {
	if len(records) == 0 {
		return nil
	}
	slices.SortFunc(records, func(a, b store.Record) int { return strings.Compare(a.ID, b.ID) })
	ids := make([]string, len(records))
	c := t.columns(len(ids))
	texts := make(map[string]counted, len(ids))
	total := 0.0
	for i, r := range records {
		ids[i] = r.ID
		if t.schema.Text {
			texts[r.ID] = t.words.counted(r.Title, r.Text)
		}
		total += float64(texts[r.ID].n)
		c.add(r, texts[r.ID].n)
	}
	return t.g.c.store.write(ctx, func(tx pgx.Tx) error {
		if !t.schema.Text {
			_, err := tx.Exec(ctx, c.statement(t.rows()), c.values...)
			return err
		}
		err := t.words.refer(ctx, tx, total/float64(len(ids)))
		if err != nil {
			return err
		}
		old, err := t.words.held(ctx, tx, `SELECT doc, title, body FROM `+t.rows()+` WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
		if err != nil {
			return err
		}
		return t.words.replace(ctx, tx, old, texts, c.statement(t.rows()), c.values)
	})
}

// selected returns the columns of a record in the order in which scan reads them.
func (t *table) selected() string {
	s := "r.id, r.scope, r.title, r.body, r.data, r.fields"
	if t.schema.Dim > 0 {
		s += ", r.vec::real[]"
	}
	return s
}

func (t *table) scan(row pgx.CollectableRow) (r store.Record, err error) {
	var title, body, fields []byte
	into := []any{&r.ID, &r.Scope, &title, &body, &r.Data, &fields}
	if t.schema.Dim > 0 {
		into = append(into, &r.Vector)
	}
	if err := row.Scan(into...); err != nil {
		return r, err
	}
	r.Title, r.Text = string(title), string(body)
	if len(r.Data) == 0 {
		r.Data = nil
	}
	if len(fields) > 0 {
		err = json.Unmarshal(fields, &r.Fields)
	}
	return r, err
}

func (t *table) Get(ctx context.Context, ids ...string) ([]store.Record, error) {
	if err := t.g.open(ctx, false); err != nil {
		return nil, t.wrap("get", err)
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return noNUL(id) != nil })
	rows, _ := t.g.c.store.pool.Query(ctx, fmt.Sprintf(`
		SELECT %s FROM unnest($1::text[]) WITH ORDINALITY AS q (id, n) JOIN %s r ON r.id = q.id COLLATE "C" ORDER BY q.n`, t.selected(), t.rows()), ids) // rows have its error
	records, err := pgx.CollectRows(rows, t.scan)
	return records, t.wrap("get", err)
}

func (t *table) Delete(ctx context.Context, ids ...string) error {
	return t.delete(ctx, "delete", "id = ANY($1)", slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return noNUL(id) != nil }))
}

func (t *table) DeleteScope(ctx context.Context, scope string) error {
	if noNUL(scope) != nil {
		return nil // a scope with NUL has no records
	}
	return t.delete(ctx, "delete scope", "scope = $1", scope)
}

func (t *table) delete(ctx context.Context, doing, where string, arg any) error {
	err := t.g.open(ctx, true)
	if err == nil {
		err = t.g.c.store.write(ctx, func(tx pgx.Tx) error {
			sql := fmt.Sprintf(`DELETE FROM %s WHERE %s`, t.rows(), where)
			if !t.schema.Text {
				_, err := tx.Exec(ctx, sql, arg)
				return err
			}
			old, err := t.words.held(ctx, tx, sql+" RETURNING doc, title, body", arg)
			if err != nil {
				return err
			}
			return t.words.remove(ctx, tx, old)
		})
	}
	return t.wrap(doing, err)
}

func (t *table) All(ctx context.Context, after string) iter.Seq2[store.Record, error] {
	sql := fmt.Sprintf(`SELECT %s FROM %s r WHERE r.id > $1 ORDER BY r.id`, t.selected(), t.rows())
	return all(ctx, t.g, sql, after, t.scan, func(err error) error { return t.wrap("read all", err) })
}

// all yields the rows of a statement as the server sends them.
func all[T any](ctx context.Context, g *generation, sql, after string, scan pgx.RowToFunc[T], wrap func(error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := g.open(ctx, false); err != nil {
			yield(none, wrap(err))
			return
		}
		rows, err := g.c.store.pool.Query(ctx, sql, after)
		if err != nil {
			yield(none, wrap(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(none, wrap(err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, wrap(err))
		}
	}
}

func (t *table) Count(ctx context.Context, where graphrag.Condition) (n int, err error) {
	if err = cmp.Or(t.g.open(ctx, false), store.CheckCondition(where)); err == nil {
		c := compile(where)
		err = t.g.c.store.pool.QueryRow(ctx, `SELECT count(*) FROM `+t.rows()+` r WHERE `+cmp.Or(c.sql, "true"), c.args...).Scan(&n)
	}
	return n, t.wrap("count", err)
}

func (t *table) SearchText(ctx context.Context, queries ...store.TextQuery) ([][]store.Hit, error) {
	var b pgx.Batch
	for _, q := range queries {
		if err := t.schema.CheckText(q); err != nil {
			return nil, t.wrap("search", err)
		}
		sql, args := t.words.find(q.Text, max(q.K, 0), compile(q.Where), true)
		b.Queue(sql, args...)
	}
	hits, err := collect(ctx, t.g, &b, 0, scanHit)
	return hits, t.wrap("search", err)
}

func scanHit(row pgx.CollectableRow) (h store.Hit, err error) {
	err = row.Scan(&h.ID, &h.Score)
	return h, err
}

// collect sends a batch in one round trip, and reads the rows of each statement except the first ones, which
// only change settings.
func collect[T any](ctx context.Context, g *generation, b *pgx.Batch, settings int, scan pgx.RowToFunc[T]) (out [][]T, err error) {
	if err := g.open(ctx, false); err != nil {
		return nil, err
	}
	if b.Len() == settings {
		return [][]T{}, nil
	}
	results := g.c.store.pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range settings {
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	for range b.Len() - settings {
		rows, _ := results.Query() // rows have its error
		list, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return nil, err
		}
		out = append(out, list)
	}
	return out, nil
}

// maxEf is pgvector's limit of the candidates of a search.
const maxEf = 1000

func (t *table) SearchVectors(ctx context.Context, queries ...store.VectorQuery) ([][]store.Hit, error) {
	hits, err := t.schema.Nearest(queries, t.g.c.store.o.HNSW == nil, func(asked []store.VectorQuery) ([][]store.Candidate, error) {
		var b pgx.Batch
		b.Queue(t.settings(asked))
		for _, q := range asked {
			sql, args := t.nearest(q)
			b.Queue(sql, args...)
		}
		return collect(ctx, t.g, &b, 1, func(row pgx.CollectableRow) (c store.Candidate, err error) {
			err = row.Scan(&c.ID, &c.Score, &c.Vector)
			return c, err
		})
	})
	return hits, t.wrap("search vectors", err)
}

// settings returns the statement that chooses between an exact search of vectors and a search by HNSW.
func (t *table) settings(queries []store.VectorQuery) string {
	h := t.g.c.store.o.HNSW
	if h == nil || len(queries) == 0 || slices.ContainsFunc(queries, func(q store.VectorQuery) bool { return q.Effort == 1 }) {
		return `SELECT set_config('enable_indexscan', 'off', true)`
	}
	k := slices.MaxFunc(queries, func(a, b store.VectorQuery) int { return cmp.Compare(a.K, b.K) }).K
	ef := max(k, cmp.Or(h.EfSearch, 300))
	scan := "relaxed_order"
	if slices.ContainsFunc(queries, func(q store.VectorQuery) bool { return compile(q.Where).sql != "" }) {
		ef, scan = max(2*ef, 20*k), "off"
	}
	// Without sorting the planner always searches the graph, whatever it estimates for a filter, so one plan
	// fits all calls.
	return fmt.Sprintf(`SELECT set_config('hnsw.ef_search', '%d', true), set_config('hnsw.iterative_scan', '%s', true), set_config('enable_sort', 'off', true),
		set_config('plan_cache_mode', 'force_generic_plan', true), set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`, min(maxEf, ef), scan)
}

// nearest returns the statement that finds the candidates of a query, and its arguments. A vector of zeros is
// similar to none, which is a distance of 1.
func (t *table) nearest(q store.VectorQuery) (string, []any) {
	c := compile(q.Where)
	v, k := c.arg(vectorText(q.Vector)), c.arg(q.K)
	where := ""
	if c.sql != "" {
		where = " AND (" + c.sql + ")"
	}
	near := func(where, order string) string {
		return fmt.Sprintf("SELECT r.id, coalesce(nullif(r.vec <=> %s::vector, 'NaN'), 1) AS far, r.vec FROM %s r WHERE r.vec IS NOT NULL%s ORDER BY %s LIMIT %s", v, t.rows(), where, order, k)
	}
	byOne, graph := "far, r.id", fmt.Sprintf("r.vec <=> %s::vector", v)
	found := ""
	switch {
	case t.g.c.store.o.HNSW == nil || q.Effort == 1:
		found = near(where, byOne)
	case where == "":
		found = near("", graph)
	default:
		some := t.words.sql(fmt.Sprintf(`(SELECT %d * sqrt(n) FROM {sizes} WHERE name = '{name}')`, fewRoots))
		many := fmt.Sprintf(` AND (SELECT count(*) FROM (SELECT FROM %s r WHERE %s LIMIT 1 + %[3]s) few) > %[3]s`, t.rows(), c.sql, some)
		found = fmt.Sprintf(`WITH many AS MATERIALIZED (%s), found AS MATERIALIZED (SELECT count(*) >= %s AS enough FROM many)
			SELECT * FROM many WHERE (SELECT enough FROM found) UNION ALL (%s)`,
			near(where+many, graph), k, near(where+" AND NOT (SELECT enough FROM found)", byOne))
	}
	return "SELECT id, 1 - far, vec::real[] FROM (" + found + ") found", c.args
}

// Records that meet a condition are compared one by one if they are few, at most fewRoots times the square root
// of the number of records, or if fewer than K candidates of the graph meet it: following the graph further
// costs more, and finds records that are not the nearest.
const fewRoots = 5

// columns holds records as columns, the parameters of one statement.
type columns struct {
	schema store.TableSchema
	names  []string // column names in SQL; types has array types and casts
	types  []string
	values []any
}

func (t *table) columns(n int) *columns {
	c := &columns{schema: t.schema}
	add := func(name, kind string, v any) {
		c.names, c.types, c.values = append(c.names, name), append(c.types, kind), append(c.values, v)
	}
	add("id", "text", make([]string, 0, n))
	add("scope", "text", make([]string, 0, n))
	add("title", "bytea", make([][]byte, 0, n))
	add("body", "bytea", make([][]byte, 0, n))
	add("data", "bytea", make([][]byte, 0, n))
	add("len", "int", make([]int32, 0, n))
	add("fields", "bytea", make([][]byte, 0, n))
	add("terms", "text", make([]string, 0, n))
	if t.schema.Dim > 0 {
		add("vec", "text", make([]*string, 0, n))
	}
	return c
}

func (c *columns) add(r store.Record, length int32) {
	push(&c.values[0], r.ID)
	push(&c.values[1], r.Scope)
	push(&c.values[2], []byte(r.Title))
	push(&c.values[3], []byte(r.Text))
	push(&c.values[4], append([]byte{}, r.Data...))
	push(&c.values[5], length)
	fields := []byte{}
	if len(r.Fields) > 0 {
		fields, _ = json.Marshal(r.Fields) // CheckRecord accepted them
	}
	terms, _ := json.Marshal(append([]string{}, r.Fields.Terms()...))
	push(&c.values[6], fields)
	push(&c.values[7], string(terms))
	if c.schema.Dim > 0 {
		var v *string
		if len(r.Vector) > 0 {
			s := vectorText(r.Vector)
			v = &s
		}
		push(&c.values[len(c.values)-1], v)
	}
}

func push[T any](to *any, v T) { *to = append((*to).([]T), v) }

func (c *columns) statement(tableName string) string {
	var from, set []string
	selected := slices.Clone(c.names)
	for i, name := range c.names {
		from = append(from, fmt.Sprintf("$%d::%s[]", i+1, c.types[i]))
		switch name {
		case "vec":
			selected[i] = "vec::vector"
		case "terms":
			selected[i] = "ARRAY(SELECT jsonb_array_elements_text(terms::jsonb))"
		}
		if name != "id" {
			set = append(set, name+" = excluded."+name)
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS x (%[2]s) ON CONFLICT (id) DO UPDATE SET %[5]s",
		tableName, strings.Join(c.names, ", "), strings.Join(selected, ", "), strings.Join(from, ", "), strings.Join(set, ", "))
}

func vectorText(v []float32) string {
	b := make([]byte, 0, 12*len(v))
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// condition is a condition in SQL and its arguments, numbered from $1; an empty text is always true.
type condition struct {
	sql  string
	args []any
}

// compile translates a valid condition to SQL.
func compile(where graphrag.Condition) (c condition) {
	if where.String() != everything {
		c.sql = graphrag.Translate(where, c.within, join)
	}
	return c
}

var everything = graphrag.Condition{}.String()

func (c *condition) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

// within returns SQL that is true for records with a term in a span. Single terms use the index.
func (c *condition) within(spans []graphrag.Span) string {
	var parts []string
	var single []string
	for _, s := range spans {
		if s.Low == s.High {
			single = append(single, s.Low)
		} else {
			parts = append(parts, fmt.Sprintf(`EXISTS (SELECT FROM unnest(r.terms) x WHERE x COLLATE "C" BETWEEN %s AND %s)`, c.arg(s.Low), c.arg(s.High)))
		}
	}
	if len(single) > 0 {
		parts = append(parts, fmt.Sprintf("r.terms && %s::text[]", c.arg(single)))
	}
	return join("or", parts)
}

func join(op string, parts []string) string {
	switch {
	case op == "not":
		return "NOT (" + parts[0] + ")"
	case len(parts) == 0:
		return strconv.FormatBool(op == "and")
	}
	return "(" + strings.Join(parts, ") "+op+" (") + ")"
}
