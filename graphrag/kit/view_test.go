// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// rooms are n documents, every tenth of room 0, and so on; a word occurs in one room only.
func rooms(n int) (docs []graphrag.Document) {
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("d%03d", i), Text: fmt.Sprintf("A light of the room%d shines, it is light %d.", i%10, i), Fields: graphrag.Fields{"room": float64(i % 10), "n": float64(i)}})
	}
	return docs
}

func where(t testing.TB, s string) *graphrag.Condition {
	t.Helper()
	c := check.Of(graphrag.ParseCondition(s)).OK(t)
	return &c
}

// counted is a flat system that counts how often it is built, and calls build before.
func counted(t testing.TB, builds *atomic.Int64, build func(context.Context) error) *kit.System {
	t.Helper()
	s, err := kit.New(kit.Frame{Name: "flat", Kit: offline(t), Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		builds.Add(1)
		if build != nil {
			if err := build(ctx); err != nil {
				return nil, err
			}
		}
		return finding(c, ctx)
	}})
	check.OK(t, err)
	return s
}

// A view is built once, however many callers ask for it, also with another condition for the same documents,
// and not at all if the condition admits all documents and all have text. Unused views are removed when there
// are too many.
func TestViewsAreKept(t *testing.T) {
	var builds atomic.Int64
	s := counted(t, &builds, nil)
	index(t, s, append(rooms(200), graphrag.Document{ID: "empty"})...)
	ask := func(text string) int64 {
		t.Helper()
		before := builds.Load()
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				_, err := s.Retrieve(t.Context(), graphrag.Question{Text: "light", K: 3, Where: where(t, text)})
				check.OK(t, err)
			})
		}
		wait.Wait()
		return builds.Load() - before
	}
	for _, tt := range []struct {
		where string
		want  int64
	}{
		{"room = 1", 1}, {"room = 1", 0}, {"room > 0 and room < 2", 0}, {"room in (0, 1, 2, 3, 4)", 1}, {"all", 0}, {"room >= 0", 0},
		{"room != 1", 1}, {"room != 2", 1}, {"room != 3", 1}, {"room = 1", 1}, {"room != 3", 0},
	} {
		got := ask(tt.where)
		check.Equal(t, got, tt.want, "%s: built %d times", tt.where, got)
	}
	for i := range 200 {
		ask(fmt.Sprintf("n = %d", i))
	}
	check.True(t, ask("n = 199") == 0 && ask("n = 140") == 0 && ask("n = 3") == 1, "the last views are not those that are kept")
}

// A view whose construction is cancelled is built by the next caller; an error or a panic while building fails
// only that question.
func TestViewGivenUp(t *testing.T) {
	var builds atomic.Int64
	entered := make(chan struct{}, 1)
	s := counted(t, &builds, func(ctx context.Context) error {
		switch builds.Load() {
		case 2:
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		case 4, 5:
			return errors.New("the disk is full")
		case 6:
			panic("a bad recipe")
		}
		return nil
	})
	index(t, s, rooms(20)...)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	ask := func(ctx context.Context, room int) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		_, err = s.Answer(ctx, graphrag.Question{Text: "light", K: 3, Where: where(t, fmt.Sprintf("room = %d", room))})
		return err
	}
	go func() { first <- ask(ctx, 1) }()
	<-entered
	go func() { second <- ask(t.Context(), 1) }()
	cancel()
	check.Is(t, <-first, context.Canceled, "the first one")
	err := <-second
	check.True(t, err == nil && builds.Load() == 3, "the second one: %v, built %d times", err, builds.Load())
	for _, want := range []string{"the disk is full", "the disk is full", "a bad recipe"} {
		check.Fails(t, ask(t.Context(), 2), want, "a view that cannot be built")
	}
	check.OK(t, ask(t.Context(), 2))
}

// Fields are checked when the question is asked; neither answers nor errors show anything that a scope hides. A
// number of any type meets conditions on numbers, and a value that is no field is refused: a negation would
// show hidden documents.
func TestFieldsOfAnyKind(t *testing.T) {
	system, err := kit.New(kit.Frame{Name: "flat", Kit: offline(t), Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
	}})
	check.OK(t, err)
	index := func(value any) error {
		_, err := system.Index(t.Context(), graphrag.Documents(graphrag.Document{ID: "a", Text: "The lamp is lit.", Fields: graphrag.Fields{"level": value}}))
		return err
	}
	for _, level := range []any{7, int64(7), uint16(7), float32(7), 7.} {
		check.OK(t, index(level))
		hidden := graphrag.WithScope(t.Context(), graphrag.Not(graphrag.Equal("level", 7)))
		found, err := system.Retrieve(hidden, graphrag.Question{Text: "lamp"})
		check.True(t, err != nil || len(found.Ranked) == 0, "%T is found outside of the scope", level)
	}
	err = index(struct{}{})
	check.Fails(t, err, `"a": field "level" is a struct {}`, "a field of no kind")
}

func TestUnknownFields(t *testing.T) {
	s := counted(t, new(atomic.Int64), nil)
	docs := rooms(20)
	docs[3].Fields = graphrag.Fields{"secret": "x", "room": 3.}
	index(t, s, docs...)
	if _, err := s.Retrieve(t.Context(), graphrag.Question{Where: where(t, "rom = 3")}); !errors.Is(err, kit.ErrField) || !strings.Contains(err.Error(), `no document has the field "rom"; the fields are n, room, secret`) {
		t.Errorf("error %v", err)
	}
	ctx := graphrag.WithScope(t.Context(), *where(t, "n < 10"))
	_, err := s.Retrieve(ctx, graphrag.Question{Where: where(t, `secret = "x"`)})
	check.True(t, errors.Is(err, kit.ErrField) && strings.HasSuffix(err.Error(), "the fields are n, room"), "a field of a hidden document: %v", err)
	if found, err := s.Retrieve(graphrag.WithScope(ctx, *where(t, "nobody = 1")), graphrag.Question{Text: "light", K: 5, Where: where(t, "room = 3")}); err != nil || len(found.Ranked) != 0 {
		t.Errorf("a scope that permits nothing: %+v, %v", found, err)
	}
	found, err := s.Retrieve(ctx, graphrag.Question{Text: "room3 room7", K: 20})
	check.Must(t, err == nil && len(found.Ranked) != 0, "%v", err)
	for _, h := range found.Ranked {
		n, ok := h.Chunk.Fields["n"].(float64)
		check.True(t, ok && n < 10, "found %s with the fields %v", h.Chunk.ID, h.Chunk.Fields)
	}
}

// A scope with an empty condition is still a scope, and a scope that cannot be written as text is refused: no
// caller gets another caller's view.
func TestOddScopes(t *testing.T) {
	s := counted(t, new(atomic.Int64), nil)
	docs := rooms(20)
	docs[3].Fields = graphrag.Fields{"n": 3.}
	index(t, s, docs...)
	all := func(ctx context.Context) int {
		found, err := s.Retrieve(ctx, graphrag.Question{Text: "light", K: 50, Where: where(t, "n >= 0 and n < 19")})
		if err != nil {
			return -1
		}
		return len(found.Ranked)
	}
	has := graphrag.WithScope(t.Context(), graphrag.Or(graphrag.Between("room", 0, nil)))
	open, scoped := all(t.Context()), all(has)
	check.True(t, open == 19 && scoped == 18, "%d found without a scope and %d within one", open, scoped)
	for _, c := range []graphrag.Condition{graphrag.Between("room", nil, nil), graphrag.Equal("n` >= 0 or `n", 1), graphrag.In("room", []string{"1"})} {
		check.Equal(t, all(graphrag.WithScope(t.Context(), c)), -1, "found within a scope that says nothing")
	}
	for room := range 3 { // adds texts of equal length
		found, err := s.Retrieve(graphrag.WithScope(t.Context(), graphrag.Equal("room", room)), graphrag.Question{Text: "light", K: 50})
		check.True(t, err == nil && len(found.Ranked) == 2 &&
			found.Ranked[0].Chunk.Fields["room"] == float64(room), "room %d: %+v, %v", room, found.Ranked, err)
	}
}

// Views show the present state: changes are visible at once, also in a saved system, and questions are answered
// while documents are inserted and deleted.
func TestViewsChange(t *testing.T) {
	s := counted(t, new(atomic.Int64), nil)
	index(t, s, rooms(50)...)
	count := func(s *kit.System) int {
		t.Helper()
		found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "room4", K: 100, Where: where(t, "room = 4")})).OK(t)
		return len(found.Ranked)
	}
	before := count(s)
	more := graphrag.Document{ID: "x", Text: "Another light of room4.", Fields: graphrag.Fields{"room": 4.}}
	_, err := s.Insert(t.Context(), graphrag.Documents(more))
	check.True(t, err == nil && count(s) == before+1, "%d found before and %d after an insert, error %v", before, count(s), err)
	dir := t.TempDir()
	opened := counted(t, new(atomic.Int64), nil)
	check.OK(t, s.Save(t.Context(), dir))
	_, err = opened.Open(t.Context(), dir)
	check.True(t, err == nil && count(opened) == before+1, "opened: error %v", err)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for j := range 50 {
				q := graphrag.Question{Text: "light", K: 50, Where: where(t, fmt.Sprintf("room = %d", (i+j)%10))}
				found, err := s.Retrieve(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range found.Ranked {
					check.True(t, q.Where.Compile()(h.Chunk.Fields), "%s found where %s", h.Chunk.ID, q.Where)
				}
			}
		})
	}
	for i := range 10 {
		check.OK(t, check.Err(s.Update(t.Context(), graphrag.Documents(more), fmt.Sprintf("d%03d", i))))
	}
	wait.Wait()
	err = s.Close()
	check.OK(t, err)
}

// Saved files do not depend on the conditions of earlier questions.
func TestViewsAreNotSaved(t *testing.T) {
	s, err := kit.New(kit.Frame{Name: "flat", Kit: offline(t).WithEmbedder(&letters{dim: 4}), Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		e, err := c.Embedder(ctx)
		if err == nil {
			_, err = e.EmbedDocuments(ctx, []string{fmt.Sprintf("what %d chunks say", len(c.Chunks))}) // a text derived from the documents, such as a report
		}
		return graphrag.RetrieverFunc(func(context.Context, graphrag.Question) (graphrag.Found, error) { return graphrag.Nothing(), nil }), err
	}})
	check.OK(t, err)
	docs := append([]graphrag.Document(nil), owls...)
	docs[0].Fields = graphrag.Fields{"team": "a"}
	index(t, s, docs...)
	saved := func() string {
		t.Helper()
		dir := t.TempDir()
		check.OK(t, s.Save(t.Context(), dir))
		data := check.Of(os.ReadFile(filepath.Join(dir, "system.wildgraph"))).OK(t)
		return string(data)
	}
	before := saved()
	check.OK(t, check.Err(s.Retrieve(t.Context(), graphrag.Question{Text: "owl", K: 2, Where: where(t, `team = "a"`)})))
	check.Equal(t, saved(), before, "a question changed what is saved")
}
