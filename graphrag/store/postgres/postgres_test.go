// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Systems find here the same as in memory.
func TestSystems(t *testing.T) {
	s := open(t, postgres.Options{})
	defer s.Close()
	for _, x := range all.Systems() {
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Stored(t, x.New, s, s) })
		}
	}
}

// No system with an index here shows anything of documents that a question excludes.
func TestNothingLeaks(t *testing.T) {
	s := open(t, postgres.Options{})
	defer s.Close()
	questions := 8
	if n, err := strconv.Atoi(os.Getenv("WILDGRAPH_LEAKS")); err == nil {
		questions = n
	}
	for _, x := range all.Systems() {
		if slices.Contains(baselinestest.Storable, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Leaks(t, baselinestest.InStore(t, x.New, s), questions) })
		}
	}
}

var sampleSchema = store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, TitleWeight: 2, Dim: 8}}}

// filled writes a sample, in two parts, to a generation.
func filled(t *testing.T, s store.Store) store.Generation {
	t.Helper()
	c, err := s.Create(t.Context(), "corpus", sampleSchema)
	check.OK(t, err)
	g := check.Of(c.Write(t.Context(), "first")).OK(t)
	table := check.Of(g.Table("chunks")).OK(t)
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 3, 400)
	for part := range 2 {
		var records []store.Record
		for i := range 1500 {
			words := make([]string, 10+r.IntN(80))
			for j := range words {
				words[j] = fmt.Sprintf("w%dx", zipf.Uint64())
			}
			v := make([]float32, 8)
			for j := range v {
				v[j] = float32(r.NormFloat64())
			}
			records = append(records, store.Record{ID: fmt.Sprintf("r%d", 3000*part+i), Title: words[0], Text: strings.Join(words, " "), Vector: v, Fields: graphrag.Fields{"color": []string{"red", "green", "blue"}[i%3]}})
			if i%50 == 7 { // so few that the server looks up each
				records[i].Fields["color"] = "violet"
			}
		}
		check.OK(t, errors.Join(table.Put(t.Context(), records...), g.Flush(t.Context())))
	}
	return g
}

// Words are ranked as in an embedded store with the same records, with the same scores, and so are vectors:
// also after changes, with conditions, and for words that nearly all records have.
func TestRanks(t *testing.T) {
	served := open(t, postgres.Options{})
	defer served.Close()
	g := filled(t, served)
	defer g.Close()
	table := check.Of(g.Table("chunks")).OK(t)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 3 {
		words, vectors := queries(r)
		want, got := answers(t, embedded(t, table), words, vectors), answers(t, table, words, vectors)
		for i := range want {
			if diff := cmp.Diff(ids(want[i]), ids(got[i])); diff != "" {
				t.Errorf("round %d, query %d (-embedded +postgres)\n%s", round, i, diff)
				continue
			}
			for j := range want[i] {
				if a, b := want[i][j].Score, got[i][j].Score; math.Abs(a-b) > 1e-6 {
					t.Errorf("round %d, query %d, hit %d: a score of %v, embedded %v", round, i, j, b, a)
				}
			}
		}
		// Some records are deleted, some change, and the mean length changes too.
		var gone []string
		for range 300 {
			gone = append(gone, fmt.Sprintf("r%d", 3000*r.IntN(2)+r.IntN(1500)))
		}
		other := []store.Record{{ID: "new", Text: "w1x w390x"}, {ID: gone[0], Text: strings.Repeat("w1x w2x w399x ", 300)}}
		for i := range 100 {
			other = append(other, store.Record{ID: fmt.Sprintf("r%d", r.IntN(1500)), Text: fmt.Sprintf("w%dx w1x w%dx", i, i%7)})
		}
		check.OK(t, errors.Join(table.Delete(t.Context(), gone...), table.Put(t.Context(), other...), g.Flush(t.Context())))
	}
}

// queries are searches by words, with many and few hits, with and without conditions, and searches by vectors.
func queries(r *rand.Rand) (words []store.TextQuery, vectors []store.VectorQuery) {
	for i := range 60 {
		q := store.TextQuery{Text: fmt.Sprintf("w%dx w%dx w%dx w1x w%dx", r.IntN(10), r.IntN(100), r.IntN(400), r.IntN(4)), K: 1 + r.IntN(20)}
		switch i % 6 {
		case 0:
			q.Text = "w0x w1x w2x w1x"
		case 1:
			q.Where = graphrag.Equal("color", "red")
		case 2:
			q.Where = graphrag.Not(graphrag.Equal("color", "blue"))
		case 3:
			q.K = 5000
		case 4:
			q.Where = graphrag.Equal("color", []string{"violet", "none"}[r.IntN(2)])
		}
		words = append(words, q)
		v := make([]float32, 8)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		vectors = append(vectors, store.VectorQuery{Vector: v, K: 10, Effort: 1})
	}
	return words, vectors
}

func answers(t *testing.T, table store.Table, words []store.TextQuery, vectors []store.VectorQuery) [][]store.Hit {
	t.Helper()
	hits, err := table.SearchText(t.Context(), words...)
	check.OK(t, err)
	near := check.Of(table.SearchVectors(t.Context(), vectors...)).OK(t)
	return append(hits, near...)
}

// embedded is a table in a folder with the records of another table.
func embedded(t *testing.T, of store.Table) store.Table {
	t.Helper()
	s, err := disk.Open(t.TempDir(), disk.Options{})
	check.OK(t, err)
	t.Cleanup(func() { _ = s.Close() })
	c := check.Of(s.Create(t.Context(), "corpus", sampleSchema)).OK(t)
	g := check.Of(c.Write(t.Context(), "first")).OK(t)
	t.Cleanup(func() { _ = g.Close() })
	table := check.Of(g.Table("chunks")).OK(t)
	for record, err := range of.All(t.Context(), "") {
		check.OK(t, err)
		check.OK(t, table.Put(t.Context(), record))
	}
	check.OK(t, g.Flush(t.Context()))
	return table
}

func ids(hits []store.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestUnavailable(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://me:secret@127.0.0.1:1/db", postgres.Options{})
	check.True(t, errors.Is(err, store.ErrUnavailable) && !strings.Contains(err.Error(), "secret"), "no server: %v", err)
	_, err = postgres.Open(t.Context(), "postgres://me:secret@[", postgres.Options{})
	check.True(t, errors.Is(err, store.ErrInvalid) && !strings.Contains(err.Error(), "secret"), "no connection string: %v", err)
	_, err = postgres.Open(t.Context(), "", postgres.Options{Schema: "Robert'; DROP"})
	check.Is(t, err, store.ErrInvalid, "a wrong schema")
}

// A connection that is closed during a call is an error with a kind, and the next call gets another connection.
func TestCut(t *testing.T) {
	s := open(t, postgres.Options{})
	defer s.Close()
	g := filled(t, s)
	defer g.Close()
	table, err := g.Table("chunks")
	check.OK(t, err)
	admin(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wildgraph `+schemaOf(s)+`'`)
	failed := 0
	for range 20 {
		if err = table.Put(t.Context(), store.Record{ID: "late", Text: "zeppelin"}); err == nil {
			break
		}
		failed++
		check.Is(t, err, store.ErrUnavailable, "a cut connection")
	}
	check.Must(t, err == nil && failed != 0, "%d calls failed, %v", failed, err)
	// The lock on the generation is taken again.
	c := check.Of(s.Open(t.Context(), "corpus")).OK(t)
	again := check.Of(c.Write(t.Context(), "first")).OK(t)
	defer again.Close()
	check.OK(t, c.Discard(t.Context(), "first"))
	n, err := table.Count(t.Context(), graphrag.Condition{})
	check.True(t, n == 3001 && err == nil, "%d records, %v", n, err)
}

func schemaOf(s store.Store) string {
	o, _ := schemas.Load(s)
	return o.(postgres.Options).Schema
}

func admin(t *testing.T, sql string) {
	t.Helper()
	db := connect(t)
	defer db.Close(context.Background())
	check.OK(t, check.Err(db.Exec(t.Context(), sql)))
}

// Tables of another version are refused, and so are texts that the server cannot store.
func TestMismatch(t *testing.T) {
	s := open(t, postgres.Options{})
	g := filled(t, s)
	table, err := g.Table("chunks")
	check.OK(t, err)
	var bad *store.ItemsError
	err = table.Put(t.Context(), store.Record{ID: "a\x00b"}, store.Record{ID: "c", Fields: graphrag.Fields{"color": "r\x00d"}}, store.Record{ID: "good", Text: "nul\x00text"})
	check.True(t, errors.As(err, &bad) && len(bad.Items) == 1 && errors.Is(err, store.ErrInvalid), "NUL: %v", err)
	got, err := table.Get(t.Context(), "good", "c", "a\x00b")
	check.True(t, err == nil && len(got) == 2 && got[0].Text == "nul\x00text" && got[1].Fields["color"] == "r\x00d", "%v, %v", got, err)
	err = errors.Join(g.Close(), s.Close(), s.Close())
	check.OK(t, err)
	check.True(t, check.Err(s.Collections(t.Context())) != nil, "a store that is closed answers")
	admin(t, `UPDATE `+schemaOf(s)+`.version SET version = 99`)
	check.Is(t, check.Err(postgres.Open(t.Context(), server(t), postgres.Options{Schema: schemaOf(s)})), store.ErrMismatch, "another version")
}

// A discarded generation is deleted when its last handle is closed.
func TestSweep(t *testing.T) {
	s := open(t, postgres.Options{})
	defer s.Close()
	g := filled(t, s)
	c := check.Of(s.Open(t.Context(), "corpus")).OK(t)
	generations := func() (n int) {
		db := connect(t)
		defer db.Close(context.Background())
		check.OK(t, db.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname LIKE $1`, strings.ReplaceAll(schemaOf(s), "_", `\_`)+`\_g%`).Scan(&n))
		return n
	}
	check.OK(t, c.Discard(t.Context(), "first"))
	check.Equal(t, generations(), 1, "generations while one is open")
	check.OK(t, g.Close())
	check.Equal(t, generations(), 0, "generations are left")
}

// server returns the connection string of a server for tests.
func server(t testing.TB) string {
	url := os.Getenv("WILDGRAPH_POSTGRES")
	if url == "" {
		t.Skip("WILDGRAPH_POSTGRES names no server")
	}
	return url
}

var stores atomic.Int64

// schemas returns the schemas of a test's stores.
var schemas sync.Map

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	if o.Schema == "" {
		o.Schema = fmt.Sprintf("wgtest_%d_%d", os.Getpid(), stores.Add(1))
		t.Cleanup(func() { drop(t, o.Schema) })
	}
	s := check.Of(postgres.Open(t.Context(), server(t), o)).OK(t)
	schemas.Store(s, o)
	return s
}

func connect(t testing.TB) *pgx.Conn {
	t.Helper()
	return check.Of(pgx.Connect(context.Background(), server(t))).OK(t)
}

// drop deletes all schemas of a store.
func drop(t testing.TB, schema string) {
	ctx := context.Background()
	db := connect(t)
	defer db.Close(ctx)
	_, err := db.Exec(ctx, fmt.Sprintf(`DO $$ DECLARE n text; BEGIN
		FOR n IN SELECT nspname FROM pg_namespace WHERE nspname = '%[1]s' OR nspname LIKE '%[1]s\_g%%' LOOP
			EXECUTE format('DROP SCHEMA %%I CASCADE', n);
		END LOOP; END $$`, schema))
	check.OK(t, err)
}

func factory(o postgres.Options) graphragtest.StoreFactory {
	return graphragtest.StoreFactory{
		New: func(t *testing.T) store.Store { return open(t, o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			o, _ := schemas.Load(s)
			return open(t, o.(postgres.Options))
		},
	}
}

func TestStore(t *testing.T) { graphragtest.Store(t, factory(postgres.Options{})) }

func TestHNSW(t *testing.T) {
	graphragtest.Store(t, factory(postgres.Options{HNSW: &postgres.HNSW{}}))
}

// The server of WILDGRAPH_POSTGRES_SMALL has a disk of its own.
func TestFull(t *testing.T) {
	fill, free := graphragtest.Program(t, "WILDGRAPH_FILL"), graphragtest.Program(t, "WILDGRAPH_FREE")
	t.Setenv("WILDGRAPH_POSTGRES", os.Getenv("WILDGRAPH_POSTGRES_SMALL"))
	s := open(t, postgres.Options{})
	defer s.Close()
	graphragtest.FullStore(t, s, fill, free)
}

// refusing is a server that speaks the protocol and answers with an error: to each connection, or to the first
// statement.
func refusing(t *testing.T, code string, connecting bool) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				refuse(pgproto3.NewBackend(c, c), code, connecting)
			}()
		}
	}()
	return fmt.Sprintf("postgres://me@%s/db?sslmode=disable", l.Addr())
}

func refuse(b *pgproto3.Backend, code string, connecting bool) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	no := &pgproto3.ErrorResponse{Severity: "ERROR", Code: code, Message: "a test refuses"}
	if connecting {
		b.Send(no)
		_ = b.Flush()
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			if strings.HasPrefix(strings.ToLower(m.String), "begin") {
				b.Send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
				b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
				continue
			}
			b.Send(no)
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Parse:
			b.Send(no)
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

// The server's errors become errors of package store.
func TestRefused(t *testing.T) {
	for _, x := range []struct {
		what, code string
		connecting bool
		want       error
	}{
		{"the disk is full", "53100", false, store.ErrUnavailable},
		{"it starts", "57P03", true, store.ErrUnavailable},
		{"it stops", "57P01", false, store.ErrUnavailable},
		{"a password is wrong", "28P01", true, store.ErrDenied},
		{"a right is missing", "42501", false, store.ErrDenied},
		{"too many connections", "53300", true, nil},
		{"no memory is left", "53200", false, nil},
	} {
		_, err := postgres.Open(t.Context(), refusing(t, x.code, x.connecting), postgres.Options{})
		var throttled *store.ThrottledError
		if x.want != nil && !errors.Is(err, x.want) || x.want == nil && (!errors.As(err, &throttled) || throttled.After <= 0) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}

// A role that may not create schemas gets an error that says so, and leaves nothing behind.
func TestRoleWithoutRights(t *testing.T) {
	role := fmt.Sprintf("wgtest_role_%d", os.Getpid())
	admin(t, `CREATE EXTENSION IF NOT EXISTS vector`)
	admin(t, `CREATE ROLE `+role+` LOGIN`)
	defer admin(t, `DROP ROLE `+role)
	url := strings.Replace(server(t), "://postgres@", "://"+role+"@", 1)
	if url == server(t) {
		t.Skip("the connection string names no role to replace")
	}
	schema := role + "_schema"
	check.Is(t, check.Err(postgres.Open(t.Context(), url, postgres.Options{Schema: schema})), store.ErrDenied, "a role without rights")
	db := connect(t)
	defer db.Close(context.Background())
	var n int
	err := db.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname = $1`, schema).Scan(&n)
	check.True(t, err == nil && n == 0, "%d schemas are left, %v", n, err)
}
