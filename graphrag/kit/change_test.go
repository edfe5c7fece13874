// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

const savedName = "system.wildgraph"

// subset returns a sequence of some documents, possibly of none.
func subset(docs []graphrag.Document) iter.Seq2[graphrag.Document, error] {
	if len(docs) == 0 {
		return nil
	}
	return graphrag.Documents(docs...)
}

// changing are systems whose changes cost as much as what changes, and one that is rebuilt.
func changing(t *testing.T) map[string]func() *kit.System {
	_, _, paid := recording(t)
	frame := func(f kit.Frame) func() *kit.System {
		return func() *kit.System {
			f.Kit, f.Cut = offline(t).WithEmbedder(&letters{dim: 8}), kit.Cut{Size: 30, Overlap: -1}
			return check.Of(kit.New(f)).OK(t)
		}
	}
	return map[string]func() *kit.System{
		"graph": paid,
		"sparse": frame(kit.Frame{Name: "sparse", Flat: true, Common: kit.Common{MaxPerDoc: 2}, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			r, err := retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
			if err != nil {
				return nil, err
			}
			return retrieve.PerDoc(r, c.PerDoc)
		}}),
		"dense": frame(kit.Frame{Name: "dense", Flat: true, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			e, err := c.Embedder(ctx)
			if err != nil {
				return nil, err
			}
			return retrieve.NewDense(ctx, c.Chunks, e)
		}}),
	}
}

// Whatever documents are inserted, deleted, saved and opened, also from a file that a kill cut off between any
// two writes: the answers equal those of a new index.
func TestChangesEqualAnew(t *testing.T) {
	for name, make := range changing(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			docs := map[string]graphrag.Document{}
			random := func(n int) (out []graphrag.Document) {
				for range n {
					i := r.IntN(60)
					text := fmt.Sprintf("Owl %d takes hare", i)
					for range r.IntN(60) {
						text += fmt.Sprintf(" w%d", int(1/(r.Float64()+.02)))
					}
					d := graphrag.Document{ID: fmt.Sprintf("d%02d", i), Text: text, Fields: graphrag.Fields{"n": float64(i), "v": float64(r.IntN(3))}}
					if !slices.ContainsFunc(out, func(o graphrag.Document) bool { return o.ID == d.ID }) {
						out = append(out, d)
						docs[d.ID] = d
					}
				}
				return out
			}
			all := func(of map[string]graphrag.Document) []graphrag.Document {
				return slices.Collect(maps.Values(of))
			}
			same := func(what string, s *kit.System, of map[string]graphrag.Document) {
				t.Helper()
				fresh := make()
				index(t, fresh, all(of)...)
				for _, q := range []graphrag.Question{
					{Text: "w1 w7 owl 12", K: 5}, {Text: "w2 hare", Tokens: 90}, {Text: "w1 w3", K: 8, Where: where(t, "n < 30 and v != 1")}, {Text: "w1", Tokens: 50, Where: where(t, "v = 2 or n > 57")},
				} {
					want, err1 := fresh.Answer(t.Context(), q)
					got, err2 := s.Answer(t.Context(), q)
					if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")); diff != "" || (err1 == nil) != (err2 == nil) {
						t.Fatalf("%s, %d documents, %q (-anew +changed):\n%.2000s %v %v", what, len(of), q.Text, diff, err1, err2)
					}
				}
			}
			dir := t.TempDir()
			s, saved, kills := make(), map[string]graphrag.Document(nil), 0
			index(t, s, random(20)...)
			for step := range 60 {
				what := fmt.Sprintf("step %d", step)
				switch op := r.IntN(8); op {
				case 0, 1, 2:
					check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(random(1+r.IntN(3))...))))
				case 3:
					ids := slices.Sorted(maps.Keys(docs))
					id := ids[r.IntN(len(ids))]
					delete(docs, id)
					check.OK(t, check.Err(s.Update(t.Context(), subset(random(r.IntN(2))), id, "nowhere")))
				case 4, 5, 6:
					before, _ := os.ReadFile(filepath.Join(dir, savedName))
					check.OK(t, s.Save(t.Context(), dir))
					now := check.Of(os.ReadFile(filepath.Join(dir, savedName))).OK(t)
					if grown := strings.TrimPrefix(string(now), string(before)); saved != nil && len(grown) < len(now) && len(grown) > 1 {
						what += ", killed"
						kills++
						cut := t.TempDir()
						check.OK(t, os.WriteFile(filepath.Join(cut, savedName), now[:len(before)+r.IntN(len(grown))], 0o600))
						killed := make()
						check.OK(t, check.Err(killed.Open(t.Context(), cut)))
						same(what, killed, saved)
						more := random(1)
						check.OK(t, check.Err(killed.Insert(t.Context(), graphrag.Documents(more...))))
						if err := killed.Save(t.Context(), cut); err != nil { // the part that was cut off does no harm
							t.Fatal(err)
						}
						again := make()
						check.OK(t, check.Err(again.Open(t.Context(), cut)))
						of := maps.Clone(saved)
						of[more[0].ID] = more[0]
						same(what+", again", again, of)
						check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(more...))))
					}
					if saved = maps.Clone(docs); !strings.Contains(what, "killed") {
						break
					}
					check.OK(t, s.Save(t.Context(), dir))
				case 7:
					if saved == nil {
						continue
					}
					s, docs = make(), maps.Clone(saved)
					check.OK(t, check.Err(s.OpenUpdated(t.Context(), dir, subset(random(r.IntN(2))))))
				}
				same(what, s, docs)
			}
			check.True(t, kills >= 3, "%d kills", kills)
		})
	}
}

// A file grows by the new records, and is rewritten when half of it is obsolete; the file of another process is
// not taken for the own one.
func TestSaveAppends(t *testing.T) {
	s := changing(t)["sparse"]()
	docs := rooms(2000)
	index(t, s, docs...)
	dir := t.TempDir()
	save := func(s *kit.System) int64 {
		t.Helper()
		check.OK(t, s.Save(t.Context(), dir))
		info := check.Of(os.Stat(filepath.Join(dir, savedName))).OK(t)
		return info.Size()
	}
	whole := save(s)
	again := save(s)
	check.Equal(t, again, whole, "nothing new takes %d bytes", again-whole)
	size := whole
	for i := range 300 {
		check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(docs[i%7]))))
		now := save(s)
		grown := now - size
		check.Must(t, grown >= 100 && grown <= 600, "insert %d: the file grew by %d bytes", i, grown)
		size = now
	}
	for range 3 {
		check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(docs...))))
		size = save(s)
		check.True(t, size <= 3*whole+1<<16, "the file has %d bytes where %d would do", size, whole)
	}
	other := changing(t)["sparse"]()
	index(t, other, docs[0])
	save(other)
	check.OK(t, check.Err(s.Delete(t.Context(), docs[1].ID)))
	save(s)
	opened := changing(t)["sparse"]()
	stats, err := opened.Open(t.Context(), dir)
	check.True(t, err == nil && stats.Documents == len(docs)-1, "%d documents, %v", stats.Documents, err)
	check.OK(t, check.Err(s.Delete(t.Context(), docs[2].ID)))
	size = save(s)
	for _, cut := range []int64{1, 64, 65, 66} { // also at the end of a part, where the file has an earlier state
		check.OK(t, os.Truncate(filepath.Join(dir, savedName), size-cut))
		check.Fails(t, check.Err(opened.Open(t.Context(), dir)), "the file was cut off", "cut by %d bytes", cut)
	}
}

// Changes that wait for another change are made in one build, with the results of separate ones: if one fails,
// is cancelled or panics the others succeed, and questions are answered meanwhile.
func TestChangesTogether(t *testing.T) {
	var builds atomic.Int64
	var broken atomic.Value // the document whose build fails
	broken.Store("")
	held, free := make(chan struct{}), make(chan struct{})
	s := counted(t, &builds, nil)
	frame := s.Frame()
	build := frame.Builder()
	frame.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		if len(c.Chunks) == 2 { // holds the first insert
			close(held)
			<-free
		}
		for _, chunk := range c.Chunks {
			if chunk.Doc == broken.Load() {
				return nil, errors.New("it cannot be built")
			}
			if chunk.Doc == "panics" {
				panic("a bad recipe")
			}
		}
		return build(ctx, c)
	}
	s = check.Of(kit.New(frame)).OK(t)
	docs := rooms(40)
	index(t, s, docs[0])
	insert := func(ctx context.Context, d graphrag.Document) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		_, err = s.Insert(ctx, graphrag.Documents(d))
		return err
	}
	first := make(chan error, 1)
	go func() { first <- insert(t.Context(), docs[1]) }()
	<-held
	errs := make([]error, len(docs))
	var wait, queued sync.WaitGroup
	cancelled, cancel := context.WithCancel(t.Context())
	for i := 2; i < len(docs); i++ {
		ctx, d := t.Context(), docs[i]
		if i == 5 {
			ctx = cancelled
		}
		queued.Add(1)
		wait.Go(func() {
			queued.Done()
			errs[i] = insert(ctx, d)
		})
	}
	queued.Wait()
	time.Sleep(300 * time.Millisecond) // by now most of them wait, also on a busy machine
	cancel()
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "light", K: 50})
	check.True(t, err == nil && len(found.Ranked) == 1, "%d found meanwhile, %v", len(found.Ranked), err)
	close(free)
	wait.Wait()
	err = <-first
	check.OK(t, err)
	for i, err := range errs {
		check.True(t, (i != 5 || errors.Is(err, context.Canceled)) && (i == 5 || err == nil), "%d: %v", i, err)
	}
	ids, err := s.List(t.Context())
	check.True(t, builds.Load() <= 15 && len(ids) == len(docs)-1 && err == nil, "%d documents after %d builds, %v", len(ids), builds.Load(), err)
	for _, bad := range []string{"bad", "panics"} {
		broken.Store("bad")
		check.OK(t, insert(t.Context(), docs[2]))
		results := make([]error, 12)
		for i := range results {
			wait.Go(func() {
				d := graphrag.Document{ID: fmt.Sprint(bad, i), Text: "light"}
				if i == 6 {
					d.ID = bad
				}
				results[i] = insert(t.Context(), d)
			})
		}
		wait.Wait()
		failed := 0
		for i, err := range results {
			if err != nil {
				failed++
			}
			check.True(t, i != 6 || err != nil, "%s: no error", bad)
		}
		check.True(t, bad != "bad" || failed == 1, "%d changes failed for one: %v", failed, results)
	}
	if err := insert(t.Context(), docs[5]); err != nil { // no lock is left held
		t.Error(err)
	}
}
