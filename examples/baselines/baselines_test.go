// SPDX-License-Identifier: Apache-2.0

package baselines_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func stream(docs ...graphrag.Document) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func owls() iter.Seq2[graphrag.Document, error] {
	return stream(
		graphrag.Document{ID: "a.md", Title: "Barn owl", Text: "# Barn owl\n\nThe barn owl finds a mouse under the snow by ear alone. See [the list](https://birds.example/very/long/target)."},
		graphrag.Document{ID: "b.md", Title: "Eagle owl", Text: "# Eagle owl\n\nThe eagle owl is one of the largest owls and takes prey as large as a hare."},
		graphrag.Document{ID: "c.md", Title: "Tides", Text: "# Tides\n\nThe moon and the sun raise the tides of the sea twice a day."},
	)
}

func offline(t testing.TB) baselines.Kit {
	t.Helper()
	kit, err := baselines.OfflineKit(reader.Open, 1)
	if err != nil {
		t.Fatal(err)
	}
	return kit
}

func systems(t *testing.T, kit baselines.Kit) map[string]graphrag.System {
	t.Helper()
	b, err1 := bm25.New(kit, bm25.Options{})
	n, err2 := naiverag.New(kit, naiverag.Options{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return map[string]graphrag.System{bm25.Name: b, naiverag.Name: n}
}

func TestFlatSystems(t *testing.T) {
	for name, s := range systems(t, offline(t)) {
		t.Run(name, func(t *testing.T) {
			if s.Name() != name {
				t.Errorf("name %q", s.Name())
			}
			if _, err := s.Answer(t.Context(), graphrag.Question{Text: "owl", K: 1}); err == nil {
				t.Error("answers before Index")
			}
			stats, err := s.Index(t.Context(), owls())
			if err != nil || stats.Documents != 3 || stats.Chunks != 3 {
				t.Fatalf("%+v, %v", stats, err)
			}
			a, err := s.Answer(t.Context(), graphrag.Question{Text: "How does the barn owl find a mouse under snow?", K: 1, Depth: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Evidence) != 1 || a.Evidence[0].Chunk.Doc != "a.md" || !strings.Contains(a.Text, "by ear alone") {
				t.Errorf("answer %q from %+v", a.Text, a.Evidence)
			}
			if strings.Contains(a.Evidence[0].Chunk.Text, "https://") {
				t.Error("the target of a link was indexed")
			}
			if len(a.Ranked) < 2 || a.Ranked[0].Chunk.Doc != "a.md" {
				t.Errorf("ranked %d chunks, want as many as match up to Depth", len(a.Ranked))
			}
			for _, q := range []graphrag.Question{{Text: "", K: 3}, {Text: "owl", K: 0}, {Text: "owl", K: 100}} {
				if _, err := s.Answer(t.Context(), q); err != nil {
					t.Errorf("%+v: %v", q, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEmptyCorpus(t *testing.T) {
	for name, s := range systems(t, offline(t)) {
		if stats, err := s.Index(t.Context(), stream()); err != nil || stats.Chunks != 0 {
			t.Errorf("%s: %+v, %v", name, stats, err)
		}
		if a, err := s.Answer(t.Context(), graphrag.Question{Text: "owl", K: 5}); err != nil || len(a.Ranked) != 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestIndexErrors(t *testing.T) {
	broken := errors.New("unreadable page")
	for name, s := range systems(t, offline(t)) {
		_, err := s.Index(t.Context(), func(yield func(graphrag.Document, error) bool) { yield(graphrag.Document{}, broken) })
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Index(ctx, owls()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled: %v", name, err)
		}
	}
	if _, err := bm25.New(offline(t), bm25.Options{Cut: baselines.Cut{Size: 10, Overlap: 10}}); err == nil {
		t.Error("an overlap as large as the chunk is accepted")
	}
}

func TestModelKit(t *testing.T) {
	model := llmtest.NewScript("scripted").Reply(llmtest.Any, "By ear [1].")
	kit, err := baselines.ModelKit(baselines.ModelOptions{Model: model})
	if err != nil {
		t.Fatal(err)
	}
	all := systems(t, kit)
	if all[zeroshot.Name], err = zeroshot.New(kit); err != nil {
		t.Fatal(err)
	}
	for name, s := range all {
		if _, err := s.Index(t.Context(), owls()); err != nil {
			t.Fatal(err)
		}
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "How does the barn owl hunt?", K: 2})
		if err != nil || a.Usage.Calls != 1 || !strings.HasPrefix(a.Text, "By ear") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if name == zeroshot.Name && len(a.Evidence) != 0 {
			t.Errorf("zeroshot has evidence")
		}
	}
	if _, err := zeroshot.New(offline(t)); err == nil {
		t.Error("zeroshot without a model")
	}
	if _, err := baselines.ModelKit(baselines.ModelOptions{}); err == nil {
		t.Error("a model kit without a model")
	}
}

// Equal documents, options and questions give equal answers.
func TestDeterminism(t *testing.T) {
	for name := range systems(t, offline(t)) {
		var answers []graphrag.Answer
		for range 2 {
			s := systems(t, offline(t))[name]
			if _, err := s.Index(t.Context(), owls()); err != nil {
				t.Fatal(err)
			}
			a, err := s.Answer(t.Context(), graphrag.Question{Text: "Which owl takes a hare?", K: 3})
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, a)
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func Example() {
	kit, err := baselines.OfflineKit(reader.Open, 1)
	if err != nil {
		panic(err)
	}
	system, err := bm25.New(kit, bm25.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := system.Index(ctx, owls()); err != nil {
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "How large is the prey of the eagle owl?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	fmt.Println(a.Evidence[0].Chunk.Doc)
	// Output:
	// The eagle owl is one of the largest owls and takes prey as large as a hare.
	// b.md
}
