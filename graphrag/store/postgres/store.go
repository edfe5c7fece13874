// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of a store. The zero value searches vectors exactly.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means text.Default.
	Analyzer text.Analyzer
	// HNSW, if set, makes an index of vectors when a generation is flushed.
	HNSW *HNSW
	// Schema is the PostgreSQL schema of the catalog, and the prefix of the schemas of generations
	// ("wildgraph"). Stores with different ones share a database and nothing else.
	Schema string
}

// HNSW are the settings of pgvector's approximate index of vectors.
type HNSW struct {
	// EfSearch is the number of candidates of a search, at least K, up to 1000; 0 is 300, which finds 96 % of
	// the ten nearest of a million vectors; 100 finds 89 % (docs/stores.md).
	EfSearch int
}

// Store implements [store.Store].
type Store struct {
	o    Options
	pool *pgxpool.Pool

	mu     sync.Mutex // guards the fields below
	pins   *pgxpool.Conn
	held   map[int64]int // number of open handles by generation id
	closed bool
}

var _ store.Store = (*Store)(nil)

// version is the version of the layout of the tables.
const version = 3

// Open opens the store in a database, given by a connection string as in libpq, or creates one. The role needs
// the right to create schemas, and the extension pgvector must exist or the role may create it.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o.Analyzer = cmp.Or[text.Analyzer](o.Analyzer, text.Default())
	o.Schema = cmp.Or(o.Schema, "wildgraph")
	if err := store.CheckName("schema", o.Schema); err != nil || len(o.Schema) > 40 {
		return nil, fmt.Errorf("postgres: open: Options.Schema is %q, want a name of at most 40 characters: %w", o.Schema, store.ErrInvalid)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w: the url is not a connection string of PostgreSQL", store.ErrInvalid) // the string may hold a password
	}
	config.MaxConns = max(config.MaxConns, 8)
	config.ConnConfig.RuntimeParams["application_name"] = "wildgraph " + o.Schema
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, wrapError("open", err)
	}
	s := &Store{o: o, pool: pool, held: make(map[int64]int)}
	if err := s.begin(ctx); err != nil {
		pool.Close()
		return nil, wrapError("open", err)
	}
	return s, nil
}

// begin creates the catalog, and checks its version.
func (s *Store) begin(ctx context.Context) error {
	err := s.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext($1))`, "wildgraph:"+s.o.Schema) // one process at a time
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.named(`
			CREATE EXTENSION IF NOT EXISTS vector;
			CREATE SCHEMA IF NOT EXISTS {s};
			CREATE TABLE IF NOT EXISTS {s}.version (version int NOT NULL);
			INSERT INTO {s}.version SELECT {v} WHERE NOT EXISTS (SELECT FROM {s}.version);
			CREATE TABLE IF NOT EXISTS {s}.collections (
				name text COLLATE "C" PRIMARY KEY, id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, schema jsonb NOT NULL, published bigint);
			CREATE TABLE IF NOT EXISTS {s}.generations (
				id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection bigint, name text COLLATE "C" NOT NULL, gone boolean NOT NULL DEFAULT false);
			CREATE UNIQUE INDEX IF NOT EXISTS generation_names ON {s}.generations (collection, name) WHERE NOT gone;`))
		return err
	})
	if err != nil {
		return err
	}
	var v int
	if err := s.pool.QueryRow(ctx, s.named(`SELECT version FROM {s}.version`)).Scan(&v); err != nil {
		return err
	}
	if v != version {
		return fmt.Errorf("%w: the tables in schema %s have version %d, this release needs %d: open them with the release that wrote them, or set another Options.Schema", store.ErrMismatch, s.o.Schema, v, version)
	}
	s.pins, err = s.pool.Acquire(ctx)
	return err
}

// Can implements [store.Store].
func (s *Store) Can() store.Capabilities {
	return store.Capabilities{Durable: true, OwnWords: true}
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, name string, schema store.Schema) (store.Collection, error) {
	if err := errors.Join(store.CheckName("collection", name), schema.Check()); err != nil {
		return nil, wrapError("create collection", err)
	}
	schema.Analyzer = cmp.Or(schema.Analyzer, s.o.Analyzer.Name())
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, wrapError("create collection", err)
	}
	_, err = s.pool.Exec(ctx, s.named(`INSERT INTO {s}.collections (name, schema) VALUES ($1, $2) ON CONFLICT DO NOTHING`), name, data)
	if err != nil {
		return nil, wrapError("create collection", err)
	}
	c, err := s.open(ctx, name)
	if err == nil {
		err = c.schema.CheckSame(schema)
	}
	if err != nil {
		return nil, wrapError(fmt.Sprintf("create collection %q", name), err)
	}
	return c, nil
}

// Open implements [store.Store].
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, wrapError(fmt.Sprintf("open collection %q", name), err)
	}
	return c, nil
}

func (s *Store) open(ctx context.Context, name string) (*collection, error) {
	c := &collection{store: s, name: name}
	var data []byte
	err := s.pool.QueryRow(ctx, s.named(`SELECT id, schema FROM {s}.collections WHERE name = $1`), name).Scan(&c.id, &data)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%w: there is no such collection: create it first", store.ErrNotFound)
	}
	if err == nil {
		err = json.Unmarshal(data, &c.schema)
	}
	if err == nil {
		err = c.schema.CheckAnalyzer(s.o.Analyzer.Name())
	}
	return c, err
}

// Collections implements [store.Store].
func (s *Store) Collections(ctx context.Context) ([]string, error) {
	rows, _ := s.pool.Query(ctx, s.named(`SELECT name FROM {s}.collections ORDER BY name`)) // rows have its error
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, wrapError("collections", err)
}

// Drop implements [store.Store].
func (s *Store) Drop(ctx context.Context, name string) error {
	err := s.write(ctx, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, s.named(`DELETE FROM {s}.collections WHERE name = $1 RETURNING id`), name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("collection %q: %w", name, store.ErrNotFound)
		}
		if err == nil {
			_, err = tx.Exec(ctx, s.named(`UPDATE {s}.generations SET gone = true WHERE collection = $1`), id)
		}
		return err
	})
	if err == nil {
		err = s.sweep(ctx)
	}
	return wrapError("drop collection", err)
}

// hold counts a handle of a generation; the first one takes a lock that keeps the generation from being
// removed.
func (s *Store) hold(ctx context.Context, id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := s.alive(ctx); err != nil {
		return err
	}
	if s.held[id] == 0 {
		if _, err := s.pins.Exec(ctx, `SELECT pg_advisory_lock_shared($1)`, s.lockKey(id)); err != nil {
			return err
		}
	}
	s.held[id]++
	return nil
}

// alive replaces a lost connection and acquires its locks again. A generation that was discarded meanwhile may
// be gone; its readers get an error.
func (s *Store) alive(ctx context.Context) error {
	if s.pins.Ping(ctx) == nil {
		return nil
	}
	pins, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	s.pins.Release()
	s.pins = pins
	for id := range s.held {
		if _, err := pins.Exec(ctx, `SELECT pg_advisory_lock_shared($1)`, s.lockKey(id)); err != nil {
			return err
		}
	}
	return nil
}

// release ends a handle; the last handle of a discarded generation removes the generation.
func (s *Store) release(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[id]--; s.held[id] > 0 || s.closed {
		return nil
	}
	ctx := context.Background()
	err := s.alive(ctx)
	delete(s.held, id)
	if err != nil {
		return err
	}
	if _, err := s.pins.Exec(ctx, `SELECT pg_advisory_unlock_shared($1)`, s.lockKey(id)); err != nil {
		return err
	}
	return s.sweep(ctx)
}

// lockKey returns a lock key that differs between generations, also of other stores in the database.
func (s *Store) lockKey(id int64) int64 {
	h := int64(0)
	for _, c := range []byte(s.o.Schema) {
		h = h*131 + int64(c)
	}
	return h<<32 ^ id
}

// sweep removes the discarded generations that no handle locks.
func (s *Store) sweep(ctx context.Context) error {
	rows, _ := s.pool.Query(ctx, s.named(`SELECT id FROM {s}.generations WHERE gone`)) // rows have its error
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := s.write(ctx, func(tx pgx.Tx) error {
			var free bool
			if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, s.lockKey(id)).Scan(&free); err != nil || !free {
				return err
			}
			_, err := tx.Exec(ctx, fmt.Sprintf(`DROP SCHEMA IF EXISTS %s CASCADE`, s.generationSchema(id)))
			if err == nil {
				_, err = tx.Exec(ctx, s.named(`DELETE FROM {s}.generations WHERE id = $1`), id)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements [store.Store]. Puts are durable even without a flush.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	_ = s.pins.Conn().Close(context.Background()) // this ends its locks
	s.pins.Release()
	s.pool.Close()
	return nil
}

// named inserts the name of the catalog's schema and the layout version into a statement.
func (s *Store) named(sql string) string {
	return strings.NewReplacer("{s}", pgx.Identifier{s.o.Schema}.Sanitize(), "{v}", strconv.Itoa(version)).Replace(sql)
}

// generationSchema returns the name of the PostgreSQL schema of a generation.
func (s *Store) generationSchema(id int64) string {
	return pgx.Identifier{fmt.Sprintf("%s_g%d", s.o.Schema, id)}.Sanitize()
}

// tries is the number of attempts at a transaction that conflicts with others.
const tries = 5

// write runs a transaction, and retries it if it conflicts with others.
func (s *Store) write(ctx context.Context, do func(pgx.Tx) error) error {
	var err error
	for n := range tries {
		if err = pgx.BeginFunc(ctx, s.pool, do); !lost(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(n+1) * 10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// errLost ends a transaction that must be retried.
var errLost = errors.New("another transaction changed the same records")

// lost reports whether the error is a serialization failure or a deadlock, so that a retry may succeed.
func lost(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, errLost) || errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

var errClosed = errors.New("the store is closed")

// busyAfter is the pause before a retry at an overloaded server, which asks for none itself.
const busyAfter = time.Second

// wrapError adds the operation to an error, and maps errors of the server to errors of package store.
func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	var e *pgconn.PgError
	var network net.Error
	switch {
	case errors.Is(err, errLost):
		err = fmt.Errorf("%w: %d attempts failed: %w", &store.ThrottledError{After: busyAfter}, tries, err)
	case errors.As(err, &e):
		switch {
		case e.Code == "3F000" || e.Code == "42P01" || e.Code == "42883": // the schema, table or function is gone
			err = fmt.Errorf("%w: the generation was discarded, its tables are gone: %s", store.ErrNotFound, e.Message)
		case e.Code == "53100" || e.Code == "57P03" || strings.HasPrefix(e.Code, "57P0"):
			err = fmt.Errorf("%w: the server reports: %s", store.ErrUnavailable, e.Message)
		case strings.HasPrefix(e.Code, "53") || lost(err):
			err = fmt.Errorf("%w: the server reports: %s", &store.ThrottledError{After: busyAfter}, e.Message)
		case e.Code == "42501" || strings.HasPrefix(e.Code, "28"): // no right; unknown role or wrong password
			err = fmt.Errorf("%w: grant the right, or name another role: %s", store.ErrDenied, e.Message)
		case e.Code == "57014":
			err = fmt.Errorf("%w: the server reports: %s", context.Canceled, e.Message)
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
	case errors.As(err, &network) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "unexpected EOF"):
		err = fmt.Errorf("%w: the connection failed: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %s: %w", doing, err)
}
