// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/short"
)

// strict is BM25 over title and text as runs of a-z and 0-9, k1 1.5, b 0.75: the
// reference's.
type strict struct {
	index *bm25.Index
	docs  []graphrag.Document
}

func (s *strict) Close() error { return nil }

func (s *strict) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	var texts []string
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		s.docs = append(s.docs, d)
		texts = append(texts, runs(d.Title+"\n"+d.Text))
	}
	o := bm25.Plain()
	o.K1, o.B = 1.5, .75
	var err error
	s.index, err = bm25.BuildTexts(ctx, texts, o)
	return graphrag.IndexStats{Documents: len(s.docs), Chunks: len(s.docs)}, err
}

func (s *strict) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	var a graphrag.Answer
	for _, f := range s.index.Search(runs(q.Text), q.Want(), nil) {
		d := s.docs[f.ID]
		a.Ranked = append(a.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID}, Score: float64(f.Score)})
	}
	return a, nil
}

func runs(s string) string {
	s = strings.ReplaceAll(s, "İ", "i\u0307") // as Unicode's full mapping has it, and the reference
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.ToLower(s))
}

// Loaded and run as the program does it, MuSiQue's sample gives the rows that the
// tests of graphrag/bm25 and examples/baselines/hipporag state with the same settings:
// an independent implementation's, of BM25 over plain words, and of HippoRAG over
// recorded triples and names, without synonyms and fall-back.
func TestGoldenRows(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	dir := os.Getenv("MUSIQUE_DIR")
	set, err := multihop.Load(os.DirFS(dir), benchmark.LoadOptions{})
	check.OK(t, err)
	var golden struct {
		Questions []struct {
			Nodes []string `json:"query_nodes"`
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "../../golden/musique_train_runs.json"))
	if err != nil {
		t.Skip("the golden file does not stand beside the data")
	}
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(golden.Questions) == len(set.Domains[0].Items), "%d questions, %v", len(golden.Questions), err)
	nodes := make(map[string][]string)
	for i, it := range set.Domains[0].Items {
		nodes[it.Question.Text] = golden.Questions[i].Nodes
	}
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	j := check.Of(short.New(short.Options{Schemes: multihop.Schemes()})).OK(t)
	records, err := (&benchmark.Runner{
		Dataset: set, Judge: j, Options: benchmark.Options{Kit: "offline", Depth: set.Depth},
		Systems: []benchmark.Entry{
			{Name: "bm25", New: func(string) (benchmark.System, error) { return &strict{}, nil }},
			{Name: "hipporag", New: func(string) (benchmark.System, error) {
				return hipporag.New(k, hipporag.Options{
					Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples, NoSynonyms: true, ASCIIPhrases: true,
					Entities: func(_ context.Context, q string) ([]string, error) { return nodes[q], nil }, Fallback: hipporag.None,
				})
			}},
		},
	}).Run(t.Context())
	check.OK(t, err)
	r := check.Of(report.New(records)).OK(t)
	for i, want := range []map[string]float64{
		{"evidence_recall_at_2": 41.9, "evidence_recall_at_5": 49.9, "evidence_recall_at_10": 58.5, "all_at_5": 15},
		{"evidence_recall_at_2": 44.6, "evidence_recall_at_5": 55.1, "evidence_recall_at_10": 62.0, "all_at_5": 29},
	} {
		for key, v := range want {
			if got, ok := r.Systems[i].Overall.Types[benchmark.All].Figure(key); !ok || math.Abs(100*got-v) > .1 {
				t.Errorf("%s: %s is %.2f, want %.1f", r.Systems[i].System, key, 100*got, v)
			}
		}
		at20 := 0.0
		for _, res := range records.Systems[i].Domains[0].Results {
			var docs []string
			for _, h := range res.Answer.Ranked {
				docs = append(docs, h.Doc)
			}
			at20 += res.Item.Recall(docs[:min(20, len(docs))])
		}
		if want := []float64{69.7, 65.2}[i]; math.Abs(at20-want) > .1 {
			t.Errorf("%s: recall at 20 is %.2f, want %.1f", r.Systems[i].System, at20, want)
		}
	}
}
