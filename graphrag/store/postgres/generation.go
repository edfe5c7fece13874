// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// generation implements [store.Generation].
type generation struct {
	c      *collection
	id     int64
	name   string
	pinned bool
	schema string // in SQL
	closed atomic.Bool
}

func (c *collection) handle(ctx context.Context, id int64, name string, pinned bool) (*generation, error) {
	if err := c.store.hold(ctx, id); err != nil {
		return nil, wrap("open generation "+name, err)
	}
	return &generation{c: c, id: id, name: name, pinned: pinned, schema: c.store.generationSchema(id)}, nil
}

// edgesTable is the name of the triples' tables; those of records cannot be called so.
const edgesTable = "_triples"

// tables makes the tables of a generation. Fields have columns by their place among the
// sorted names, which leaves names to the catalog.
func (c *collection) tables(id int64) string {
	g := c.store.generationSchema(id)
	var b strings.Builder
	fmt.Fprintf(&b, `CREATE SCHEMA %s;
		CREATE TABLE %[1]s.sizes (name text COLLATE "C" PRIMARY KEY, n float8 NOT NULL, total float8 NOT NULL, analyzed float8 NOT NULL);`, g)
	words := func(name string) {
		fmt.Fprintf(&b, `
		CREATE TABLE %s.%s (term text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, tf int NOT NULL, len int NOT NULL, PRIMARY KEY (term, id) INCLUDE (tf, len));
		CREATE INDEX ON %[1]s.%[2]s (id);`, g, wordsOf(name))
	}
	for _, name := range slices.Sorted(maps.Keys(c.schema.Tables)) {
		t := c.schema.Tables[name]
		fmt.Fprintf(&b, `
		CREATE TABLE %s.%s (id text COLLATE "C" PRIMARY KEY, scope text COLLATE "C" NOT NULL, title bytea NOT NULL, body bytea NOT NULL, data bytea NOT NULL, len int NOT NULL`, g, rowsOf(name))
		for i, f := range fieldsOf(t) {
			kind := `text COLLATE "C"`
			if t.Fields[f] == store.Number {
				kind = "float8"
			}
			fmt.Fprintf(&b, ", f%d %s", i, kind)
		}
		if t.Dim > 0 {
			fmt.Fprintf(&b, ", vec vector(%d)", t.Dim)
		}
		fmt.Fprintf(&b, "); CREATE INDEX ON %s.%s (scope);", g, rowsOf(name))
		if t.Text {
			words(name)
		}
	}
	fmt.Fprintf(&b, `
		CREATE TABLE %s.names (kind "char", id text COLLATE "C", label text NOT NULL, PRIMARY KEY (kind, id));
		CREATE TABLE %[1]s.%[2]s (id text COLLATE "C" PRIMARY KEY, head text COLLATE "C" NOT NULL, relation text COLLATE "C" NOT NULL, tail text COLLATE "C" NOT NULL,
			literal boolean NOT NULL, source text COLLATE "C" NOT NULL, weight float8 NOT NULL, len int NOT NULL);
		CREATE INDEX ON %[1]s.%[2]s (head, id); CREATE INDEX ON %[1]s.%[2]s (tail, id);`, g, rowsOf(edgesTable))
	words(edgesTable)
	return b.String()
}

func rowsOf(table string) string  { return pgx.Identifier{"r_" + short(table)}.Sanitize() }
func wordsOf(table string) string { return pgx.Identifier{"w_" + short(table)}.Sanitize() }

// short keeps a name within the 63 bytes of an identifier.
func short(name string) string {
	if len(name) <= 56 {
		return name
	}
	h := uint32(0)
	for _, c := range []byte(name) {
		h = h*131 + uint32(c)
	}
	return fmt.Sprintf("%s%08x", name[:48], h)
}

func fieldsOf(t store.TableSchema) []string { return slices.Sorted(maps.Keys(t.Fields)) }

// Name implements [store.Generation].
func (g *generation) Name() string { return g.name }

// Table implements [store.Generation].
func (g *generation) Table(name string) (store.Table, error) {
	schema, ok := g.c.schema.Tables[name]
	if !ok {
		return nil, fmt.Errorf("postgres: table %q: %w: there are %q", name, store.ErrNotFound, slices.Sorted(maps.Keys(g.c.schema.Tables)))
	}
	return &table{g: g, name: name, schema: schema, words: g.words(name, schema.K1, schema.B)}, nil
}

// Triples implements [store.Generation].
func (g *generation) Triples() store.Triples {
	return edges{g: g, words: g.words(edgesTable, 0, 0)}
}

// open tells why a handle cannot be used.
func (g *generation) open(ctx context.Context, writing bool) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case g.closed.Load():
		return errors.New("it is closed")
	case writing && g.pinned:
		return store.ErrReadOnly
	}
	return nil
}

// Flush implements [store.Generation]: it counts what BM25 needs, and makes indexes of
// vectors. What was put is durable already.
func (g *generation) Flush(ctx context.Context) error {
	err := g.open(ctx, true)
	if err == nil {
		err = g.c.store.write(ctx, func(tx pgx.Tx) error { return g.flush(ctx, tx) })
	}
	return wrap("flush", err)
}

func (g *generation) flush(ctx context.Context, tx pgx.Tx) error {
	names := append(slices.Sorted(maps.Keys(g.c.schema.Tables)), edgesTable)
	for _, name := range names {
		var n, analyzed float64
		err := tx.QueryRow(ctx, fmt.Sprintf(`
			INSERT INTO %s.sizes AS s SELECT $1, count(*), coalesce(sum(len), 0), 0 FROM %[1]s.%s
			ON CONFLICT (name) DO UPDATE SET n = excluded.n, total = excluded.total RETURNING n, s.analyzed`, g.schema, rowsOf(name)), name).Scan(&n, &analyzed)
		if err != nil {
			return err
		}
		if n > 2*analyzed {
			if err := g.analyze(ctx, tx, name, n); err != nil {
				return err
			}
		}
		if t := g.c.schema.Tables[name]; t.Dim > 0 && g.c.store.o.HNSW != nil {
			if err := g.indexVectors(ctx, tx, name, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// analyze tells the planner how the tables look, whenever they have doubled.
func (g *generation) analyze(ctx context.Context, tx pgx.Tx, name string, n float64) error {
	tables := []string{g.schema + "." + rowsOf(name)}
	if name == edgesTable || g.c.schema.Tables[name].Text {
		tables = append(tables, g.schema+"."+wordsOf(name))
	}
	if _, err := tx.Exec(ctx, "ANALYZE "+strings.Join(tables, ", ")); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, fmt.Sprintf(`UPDATE %s.sizes SET analyzed = $2 WHERE name = $1`, g.schema), name, n)
	return err
}

func (g *generation) indexVectors(ctx context.Context, tx pgx.Tx, name string, t store.TableSchema) error {
	ops := "vector_cosine_ops"
	if t.Dot {
		ops = "vector_ip_ops"
	}
	var with []string
	if h := g.c.store.o.HNSW; h.M > 0 {
		with = append(with, fmt.Sprintf("m = %d", h.M))
	}
	if h := g.c.store.o.HNSW; h.EfConstruction > 0 {
		with = append(with, fmt.Sprintf("ef_construction = %d", h.EfConstruction))
	}
	sql := fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON %s.%s USING hnsw (vec %s)`, pgx.Identifier{"h_" + short(name)}.Sanitize(), g.schema, rowsOf(name), ops)
	if len(with) > 0 {
		sql += " WITH (" + strings.Join(with, ", ") + ")"
	}
	_, err := tx.Exec(ctx, sql)
	return err
}

// Close implements [store.Generation].
func (g *generation) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return wrap("close generation", g.c.store.release(g.id))
}
