// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

// folders are the folders of a test's stores.
var folders sync.Map

func openArrays(t *testing.T, dir string, o disk.Options) store.Store {
	t.Helper()
	s := check.Of(disk.Open(dir, o)).OK(t)
	folders.Store(s, dir)
	return s
}

func buildSchema() store.Schema {
	return store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 8}}}
}

// factory makes stores. A killed process leaves its files in the folder.
func factory(o disk.Options) graphragtest.StoreFactory {
	return graphragtest.StoreFactory{
		New: func(t *testing.T) store.Store { return openArrays(t, t.TempDir(), o) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			dir, _ := folders.Load(s)
			left := filepath.Join(t.TempDir(), "left")
			check.OK(t, os.CopyFS(left, os.DirFS(dir.(string))))
			return openArrays(t, left, o)
		},
		Reader: func(t *testing.T, s store.Store) store.Store {
			dir, _ := folders.Load(s)
			reading := o
			reading.ReadOnly = true
			return openArrays(t, dir.(string), reading)
		},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	graphragtest.Store(t, factory(disk.Options{}))
}

// With a memory limit that is always reached, and segments that are never merged.
func TestSmall(t *testing.T) {
	t.Parallel()
	graphragtest.Store(t, factory(disk.Options{Memory: 1 << 16, SegmentRows: 100}))
}

// built is a folder with a published generation of some records.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := openArrays(t, dir, disk.Options{})
	c := check.Of(s.Create(t.Context(), "corpus", store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 2}}})).OK(t)
	g := check.Of(c.Write(t.Context(), "first")).OK(t)
	tableName := check.Of(g.Table("chunks")).OK(t)
	check.OK(t, errors.Join(tableName.Put(t.Context(), store.Record{ID: "a", Text: "zeppelin", Vector: []float32{1, 0}}),
		c.Publish(t.Context(), "first", ""), g.Close(), s.Close()))
	return dir
}

// pin opens the published generation.
func pin(t *testing.T, dir string, o disk.Options) error {
	s, err := disk.Open(dir, o)
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := s.Open(t.Context(), "corpus")
	if err != nil {
		return err
	}
	g, err := c.Pin(t.Context())
	if err != nil {
		return err
	}
	return g.Close()
}

// Folders with faults are refused, and named.
func TestDamage(t *testing.T) {
	check.OK(t, pin(t, built(t), disk.Options{}))
	s, err := disk.Open(t.TempDir(), disk.Options{ReadOnly: true})
	check.True(t, s == nil && errors.Is(err, store.ErrNotFound), "%v, %v", s, err)
	edit := func(name string, by func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			check.OK(t, os.WriteFile(filepath.Join(dir, name), by(check.Of(os.ReadFile(filepath.Join(dir, name))).OK(t)), 0o644))
		}
	}
	replace := func(old, by string) func([]byte) []byte {
		return func(b []byte) []byte { return []byte(strings.Replace(string(b), old, by, 1)) }
	}
	for name, x := range map[string]struct {
		damage func(*testing.T, string)
		o      disk.Options
		want   string
	}{
		"another version":             {edit("catalog.json", replace(`"version": 2`, `"version": 99`)), disk.Options{}, "version 99"},
		"no catalog":                  {edit("catalog.json", func([]byte) []byte { return []byte("{") }), disk.Options{}, "catalog.json"},
		"another analyzer":            {func(*testing.T, string) {}, disk.Options{Analyzer: text.Plain()}, "Options.Analyzer"},
		"a cut file":                  {edit("segments/1/rows/small", func(b []byte) []byte { return b[:3] }), disk.Options{}, "rows/small"},
		"a half segment":              {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "segments/1/rows/manifest.json")) }, disk.Options{}, "never completed"},
		"a last byte that is another": {edit("segments/1/words/small", func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b }), disk.Options{}, "build it again"},
		"no segment":                  {func(t *testing.T, dir string) { _ = os.RemoveAll(filepath.Join(dir, "segments/1")) }, disk.Options{}, "segments/1"},
		"a file for a folder": {func(t *testing.T, dir string) {
			_ = os.RemoveAll(dir)
			_ = os.WriteFile(dir, nil, 0o644)
		}, disk.Options{}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := built(t)
			x.damage(t, dir)
			err := pin(t, dir, x.o)
			if err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), dir) && x.o.Analyzer == nil {
				t.Errorf("%v, want an error of %s with %q", err, dir, x.want)
			}
		})
	}
}

// found returns all answers of a store as text.
func found(t *testing.T, dir string) (string, error) {
	s, err := disk.Open(dir, disk.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer s.Close()
	c, err := s.Open(t.Context(), "corpus")
	if err != nil {
		return "", err
	}
	g, err := c.Pin(t.Context())
	if err != nil {
		return "", err
	}
	defer g.Close()
	tableName, err := g.Table("chunks")
	if err != nil {
		return "", err
	}
	out := fmt.Sprint(g.Name(), c.Schema())
	for r, err := range tableName.All(t.Context(), "") {
		if err != nil {
			return "", err
		}
		out += fmt.Sprint(r)
	}
	for triple, err := range g.Triples().AllTriples(t.Context(), "") {
		if err != nil {
			return "", err
		}
		out += fmt.Sprint(triple)
	}
	byWords, err1 := tableName.SearchText(t.Context(), store.TextQuery{Text: "zeppelin a3", K: 9, Where: graphrag.Between("n", 1, 300)})
	byVectors, err2 := tableName.SearchVectors(t.Context(), store.VectorQuery{Vector: []float32{.5, .3}, K: 9, Where: graphrag.Not(graphrag.Equal("s", "x3"))})
	near, err3 := g.Triples().Neighbors(t.Context(), []string{"hub"}, store.Near{Limit: 9})
	return out + fmt.Sprint(byWords, byVectors, near), errors.Join(err1, err2, err3)
}

// Whatever is damaged, a store returns what was written, or an error that names the folder.
func TestAnyDamage(t *testing.T) {
	dir := built(t)
	s := openArrays(t, dir, disk.Options{})
	c := check.Of(s.Open(t.Context(), "corpus")).OK(t)
	for part := range 2 {
		g := check.Of(c.Write(t.Context(), "first")).OK(t)
		tableName := check.Of(g.Table("chunks")).OK(t)
		for i := range 400 {
			r := store.Record{ID: fmt.Sprint("r", part*200+i), Scope: "doc", Title: "title", Text: fmt.Sprintf("zeppelin a%d b%d part %d", i%7, i, part),
				Vector: []float32{float32(i), 100}, Data: []byte{byte(i)}, Fields: graphrag.Fields{"n": float64(i), "s": fmt.Sprint("x", i%5)}}
			check.OK(t, tableName.Put(t.Context(), r))
			check.OK(t, g.Triples().PutTriples(t.Context(), store.Triple{Source: r.ID, Triple: triples.Triple{
				Head: triples.Entity{ID: "hub", Label: "hub"}, Relation: triples.Entity{ID: "of", Label: "of"}, Tail: triples.Entity{ID: r.ID, Label: r.ID}}}))
		}
		check.OK(t, errors.Join(tableName.Delete(t.Context(), "r7"), g.Flush(t.Context()), g.Close()))
	}
	check.OK(t, s.Close())
	want, err := found(t, dir)
	check.Must(t, err == nil && len(want) >= 50_000, "%d bytes, %v", len(want), err)
	var files []string
	check.OK(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, name)
		}
		return err
	}))
	r, refused := rand.New(rand.NewPCG(5, 5)), 0
	for round := range max(240, 3*len(files)) {
		name := files[round%len(files)]
		sound := check.Of(os.ReadFile(name)).OK(t)
		data := slices.Clone(sound)
		switch at := r.IntN(len(data)); round % 3 {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			clear(data[at:min(at+512, len(data))])
		default:
			data = data[:at]
		}
		check.OK(t, os.WriteFile(name, data, 0o644))
		got, err := found(t, dir)
		check.OK(t, os.WriteFile(name, sound, 0o644))
		check.True(t, (err != nil || got == want) && (err == nil || strings.Contains(err.Error(), dir)),
			"round %d, %s: an answer of %d bytes, want %d; %v", round, name, len(got), len(want), err)
		if err != nil {
			refused++
		}
	}
	check.True(t, refused >= 200, "%d damaged stores were refused", refused)
}

// A folder can be opened for writing only once at a time.
func TestTwo(t *testing.T) {
	dir := built(t)
	s := openArrays(t, dir, disk.Options{})
	check.Is(t, check.Err(disk.Open(dir, disk.Options{})), store.ErrConflict, "opened twice")
	check.OK(t, s.Close())
	check.OK(t, pin(t, dir, disk.Options{}), "opened after it was closed")
	check.True(t, check.Err(s.Create(t.Context(), "late", buildSchema())) != nil, "a closed store makes a collection")
}

// A store that is closed during a flush releases the folder only after the flush.
func TestCloseWhileFlushing(t *testing.T) {
	dir := t.TempDir()
	for round := range 12 {
		s := check.Of(disk.Open(dir, disk.Options{})).OK(t)
		c := check.Of(s.Create(t.Context(), "corpus", buildSchema())).OK(t)
		g := check.Of(c.Write(t.Context(), "first")).OK(t)
		tableName := check.Of(g.Table("chunks")).OK(t)
		before, err := tableName.Count(t.Context(), graphrag.Condition{})
		if err != nil || before < round { // each round has flushed at least once
			t.Fatalf("round %d: %d records, %v", round, before, err)
		}
		flushed := make(chan int)
		go func() {
			defer close(flushed)
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", round, i)
				if errors.Join(tableName.Put(t.Context(), store.Record{ID: id, Text: "zeppelin"}), g.Flush(t.Context())) != nil {
					return
				}
				flushed <- i + 1
			}
		}()
		done := <-flushed
		last := make(chan int)
		go func() {
			for n := range flushed {
				done = n
			}
			last <- done
		}()
		check.OK(t, s.Close())
		next := check.Of(disk.Open(dir, disk.Options{})).OK(t)
		n := <-last
		c = check.Of(next.Open(t.Context(), "corpus")).OK(t)
		again := check.Of(c.Write(t.Context(), "first")).OK(t)
		tableName = check.Of(again.Table("chunks")).OK(t)
		have, err := tableName.Count(t.Context(), graphrag.Condition{})
		check.Must(t, have == before+n && err == nil, "round %d: %d records of %d and %d, %v", round, have, before, n, err)
		check.OK(t, next.Close())
	}
}

// The files in a folder that is not a store are not changed.
func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "segments", "mine")
	check.OK(t, os.MkdirAll(mine, 0o755))
	_, err := disk.Open(dir, disk.Options{})
	check.True(t, errors.Is(err, store.ErrMismatch) && strings.Contains(err.Error(), dir), "it is opened as a store: %v", err)
	_, err = os.Stat(mine)
	check.OK(t, err)
}

// Files that a killed flush left are removed; other unknown files are kept.
func TestSweep(t *testing.T) {
	dir := built(t)
	left := filepath.Join(dir, "segments", "99", "rows")
	check.OK(t, os.MkdirAll(left, 0o755))
	check.OK(t, pin(t, dir, disk.Options{}))
	check.Is(t, check.Err(os.Stat(left)), os.ErrNotExist, "%s is still there", left)
}

func TestOptions(t *testing.T) {
	_, err := disk.Open(t.TempDir(), disk.Options{Memory: -1, SegmentRows: -1})
	for _, want := range []string{"Memory", "SegmentRows"} {
		check.Fails(t, err, want, "the error")
	}
}
