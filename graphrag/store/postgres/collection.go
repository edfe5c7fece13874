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

// collection implements [store.Collection].
type collection struct {
	store  *Store
	name   string
	id     int64
	schema store.Schema
}

func (c *collection) Schema() store.Schema { return c.schema }

func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	if err := store.CheckName("generation", name); err != nil {
		return nil, wrapError("write", err)
	}
	var id int64
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, c.store.named(`SELECT id FROM {s}.generations WHERE collection = $1 AND name = $2 AND NOT gone`), c.id, name).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		err = tx.QueryRow(ctx, c.store.named(`INSERT INTO {s}.generations (collection, name) VALUES ($1, $2) RETURNING id`), c.id, name).Scan(&id)
		if err == nil {
			_, err = tx.Exec(ctx, c.tables(id))
		}
		return err
	})
	if err != nil {
		return nil, wrapError("write generation "+name, err)
	}
	return c.handle(ctx, id, name, false)
}

// Fork implements [store.Collection]: the server copies.
func (c *collection) Fork(ctx context.Context, next, from string) (store.Generation, error) {
	g, err := store.Fork(ctx, c, next, from, func(old, g store.Generation) error {
		from, to := old.(*generation).schema, g.(*generation).schema
		return c.store.write(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, c.copied(from, to))
			return err
		})
	})
	return g, wrapError("fork", err)
}

// copied returns the statements that copy the tables of one PostgreSQL schema into the empty tables of another.
func (c *collection) copied(from, to string) string {
	var b strings.Builder
	add := func(name string) {
		fmt.Fprintf(&b, "INSERT INTO %[2]s.%[3]s SELECT * FROM %[1]s.%[3]s;\n", from, to, name)
	}
	add("sizes")
	add("names")
	for _, name := range append(slices.Sorted(maps.Keys(c.schema.Tables)), edgesTable) {
		rows := rowsOf(name)
		add(rows)
		fmt.Fprintf(&b, "SELECT setval(pg_get_serial_sequence('%[1]s.%[2]s', 'doc'), (SELECT coalesce(max(doc), 0) + 1 FROM %[1]s.%[2]s), false);\n", to, rows)
		if name == edgesTable || c.schema.Tables[name].Text {
			add(wordsOf(name))
		}
	}
	return b.String()
}

// lock makes concurrent changes of a collection wait for each other, or returns ErrNotFound if it was dropped.
func (c *collection) lock(ctx context.Context, tx pgx.Tx) error {
	var one int
	err := tx.QueryRow(ctx, c.store.named(`SELECT 1 FROM {s}.collections WHERE id = $1 FOR UPDATE`), c.id).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("collection %q: %w: it was dropped", c.name, store.ErrNotFound)
	}
	return err
}

func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	for {
		id, name, err := c.published(ctx)
		if err != nil {
			return nil, wrapError("pin", err)
		}
		g, err := c.handle(ctx, id, name, true)
		if err != nil {
			return nil, err
		}
		// The generation may have been discarded after its id was read and before it was locked.
		var gone bool
		err = c.store.pool.QueryRow(ctx, c.store.named(`SELECT coalesce((SELECT gone FROM {s}.generations WHERE id = $1), true)`), id).Scan(&gone)
		if err == nil && !gone {
			return g, nil
		}
		if err = errors.Join(err, g.Close()); err != nil {
			return nil, wrapError("pin", err)
		}
	}
}

func (c *collection) published(ctx context.Context) (id int64, name string, err error) {
	err = c.store.pool.QueryRow(ctx, c.store.named(`
		SELECT g.id, g.name FROM {s}.collections c JOIN {s}.generations g ON g.id = c.published WHERE c.id = $1`), c.id).Scan(&id, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("collection %q: %w: nothing is published", c.name, store.ErrNotFound)
	}
	return id, name, err
}

func (c *collection) Publish(ctx context.Context, name, was string) error {
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRow(ctx, c.store.named(`SELECT id FROM {s}.generations WHERE collection = $1 AND name = $2 AND NOT gone`), c.id, name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		var now string
		err = tx.QueryRow(ctx, c.store.named(`
			SELECT coalesce(g.name, '') FROM {s}.collections c LEFT JOIN {s}.generations g ON g.id = c.published WHERE c.id = $1`), c.id).Scan(&now)
		if err == nil && now != was {
			err = fmt.Errorf("%w: the published generation is %q, not %q", store.ErrConflict, now, was)
		}
		if err == nil {
			_, err = tx.Exec(ctx, c.store.named(`UPDATE {s}.collections SET published = $2 WHERE id = $1`), c.id, id)
		}
		return err
	})
	return wrapError("publish", err)
}

func (c *collection) Generations(ctx context.Context) (names []string, published string, err error) {
	rows, _ := c.store.pool.Query(ctx, c.store.named(`SELECT name FROM {s}.generations WHERE collection = $1 AND NOT gone ORDER BY name`), c.id) // rows have its error
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err == nil {
		if _, published, err = c.published(ctx); errors.Is(err, store.ErrNotFound) {
			err = nil
		}
	}
	return names, published, wrapError("generations", err)
}

func (c *collection) Discard(ctx context.Context, name string) error {
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, c.store.named(`
			UPDATE {s}.generations g SET gone = true FROM {s}.collections c
			WHERE c.id = $1 AND g.collection = c.id AND g.name = $2 AND NOT g.gone AND g.id IS DISTINCT FROM c.published`), c.id, name)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		if _, now, err := c.published(ctx); err == nil && now == name {
			return fmt.Errorf("%w: generation %q is published: publish another first", store.ErrConflict, name)
		}
		return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
	})
	if err == nil {
		err = c.store.sweep(ctx)
	}
	return wrapError("discard", err)
}

// generation implements [store.Generation].
type generation struct {
	c      *collection
	id     int64
	name   string
	pinned bool
	schema string // name in SQL
	closed atomic.Bool
}

func (c *collection) handle(ctx context.Context, id int64, name string, pinned bool) (*generation, error) {
	if err := c.store.hold(ctx, id); err != nil {
		return nil, wrapError("open generation "+name, err)
	}
	return &generation{c: c, id: id, name: name, pinned: pinned, schema: c.store.generationSchema(id)}, nil
}

// edgesTable is the name of the table of triples; tables of records have names that begin with a letter.
const edgesTable = "_triples"

// tables returns the statements that create the tables of a generation. The fields of a record are stored as
// JSON, and as an array of terms ([graphrag.Fields.Terms]) for conditions.
func (c *collection) tables(id int64) string {
	g := c.store.generationSchema(id)
	var b strings.Builder
	fmt.Fprintf(&b, `CREATE SCHEMA %s;
		CREATE TABLE %[1]s.sizes (name text COLLATE "C" PRIMARY KEY, n float8 NOT NULL, total float8 NOT NULL, analyzed float8 NOT NULL, reference float8 NOT NULL);`, g)
	made := generation{c: c, schema: g}
	addWords := func(name string, t store.TableSchema) { b.WriteString(made.words(name, t).sql(createWords)) }
	for _, name := range slices.Sorted(maps.Keys(c.schema.Tables)) {
		t := c.schema.Tables[name]
		fmt.Fprintf(&b, `
		CREATE TABLE %s.%s (id text COLLATE "C" PRIMARY KEY, doc int GENERATED BY DEFAULT AS IDENTITY UNIQUE, scope text COLLATE "C" NOT NULL, title bytea NOT NULL, body bytea NOT NULL, data bytea NOT NULL, len int NOT NULL, fields bytea NOT NULL, terms text[] COLLATE "C" NOT NULL`, g, rowsOf(name))
		if t.Dim > 0 {
			fmt.Fprintf(&b, ", vec vector(%d)", t.Dim)
		}
		fmt.Fprintf(&b, "); CREATE INDEX ON %s.%s (scope); CREATE INDEX ON %[1]s.%[2]s USING gin (terms);", g, rowsOf(name))
		if t.Text {
			addWords(name, t)
		}
	}
	fmt.Fprintf(&b, `
		CREATE TABLE %s.names (kind "char", id text COLLATE "C", label text NOT NULL, PRIMARY KEY (kind, id));
		CREATE TABLE %[1]s.%[2]s (id text COLLATE "C" PRIMARY KEY, doc int GENERATED BY DEFAULT AS IDENTITY UNIQUE, head text COLLATE "C" NOT NULL, relation text COLLATE "C" NOT NULL, tail text COLLATE "C" NOT NULL,
			literal boolean NOT NULL, source text COLLATE "C" NOT NULL, weight float8 NOT NULL, len int NOT NULL, said bytea NOT NULL);
		CREATE INDEX ON %[1]s.%[2]s (head, id); CREATE INDEX ON %[1]s.%[2]s (tail, id);`, g, rowsOf(edgesTable))
	addWords(edgesTable, store.TableSchema{})
	return b.String()
}

func rowsOf(tableName string) string   { return pgx.Identifier{"r_" + short(tableName)}.Sanitize() }
func wordsOf(tableName string) string  { return pgx.Identifier{"w_" + short(tableName)}.Sanitize() }
func searchOf(tableName string) string { return pgx.Identifier{"s_" + short(tableName)}.Sanitize() }

// short shortens a name to the 63 bytes that PostgreSQL allows for an identifier.
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

func (g *generation) Name() string { return g.name }

func (g *generation) Table(name string) (store.Table, error) {
	schema, ok := g.c.schema.Tables[name]
	if !ok {
		return nil, fmt.Errorf("postgres: table %q: %w: the collection has the tables %q", name, store.ErrNotFound, slices.Sorted(maps.Keys(g.c.schema.Tables)))
	}
	return &table{g: g, name: name, schema: schema, words: g.words(name, schema)}, nil
}

func (g *generation) Triples() store.Triples {
	return edges{g: g, words: g.words(edgesTable, store.TableSchema{})}
}

// open returns an error if the handle cannot be used.
func (g *generation) open(ctx context.Context, writing bool) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case g.closed.Load():
		return errors.New("the generation was closed")
	case writing && g.pinned:
		return store.ErrReadOnly
	}
	return nil
}

// Flush implements [store.Generation]: it counts records and terms for BM25, and makes indexes of vectors. Puts
// are durable without it.
func (g *generation) Flush(ctx context.Context) error {
	grown := make(map[string]float64)
	err := g.open(ctx, true)
	if err == nil {
		err = g.c.store.write(ctx, func(tx pgx.Tx) error { return g.flush(ctx, tx, grown) })
	}
	for _, name := range slices.Sorted(maps.Keys(grown)) {
		if err == nil {
			err = g.analyze(ctx, name, grown[name])
		}
	}
	return wrapError("flush", err)
}

// flush stores in grown the number of rows of each table that has doubled since it was analyzed.
func (g *generation) flush(ctx context.Context, tx pgx.Tx, grown map[string]float64) error {
	names := append(slices.Sorted(maps.Keys(g.c.schema.Tables)), edgesTable)
	for _, name := range names {
		var n, analyzed float64
		err := tx.QueryRow(ctx, fmt.Sprintf(`
			INSERT INTO %s.sizes AS s SELECT $1, count(*), coalesce(sum(len), 0), 0, greatest(avg(len), 1) FROM %[1]s.%s
			ON CONFLICT (name) DO UPDATE SET n = excluded.n, total = excluded.total RETURNING n, s.analyzed`, g.schema, rowsOf(name)), name).Scan(&n, &analyzed)
		if err != nil {
			return err
		}
		if n > 2*analyzed {
			grown[name] = n
		}
		if t := g.c.schema.Tables[name]; t.Dim > 0 && g.c.store.o.HNSW != nil {
			_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON %s.%s USING hnsw (vec vector_cosine_ops)`, pgx.Identifier{"h_" + short(name)}.Sanitize(), g.schema, rowsOf(name)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// analyze updates the statistics of the planner and the visibility map, which lets a filter be answered from an
// index alone. VACUUM cannot run in a transaction.
func (g *generation) analyze(ctx context.Context, name string, n float64) error {
	tables := []string{g.schema + "." + rowsOf(name)}
	if name == edgesTable || g.c.schema.Tables[name].Text {
		tables = append(tables, g.schema+"."+wordsOf(name))
	}
	if _, err := g.c.store.pool.Exec(ctx, "VACUUM (ANALYZE, INDEX_CLEANUP OFF, TRUNCATE OFF) "+strings.Join(tables, ", ")); err != nil {
		return err
	}
	_, err := g.c.store.pool.Exec(ctx, fmt.Sprintf(`UPDATE %s.sizes SET analyzed = $2 WHERE name = $1`, g.schema), name, n)
	return err
}

func (g *generation) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return wrapError("close generation", g.c.store.release(g.id))
}
