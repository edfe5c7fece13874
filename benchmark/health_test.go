// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// odd is a parrot with faults.
type odd struct {
	benchtest.Parrot
	index, ask func()                  // called at the start of Index and Answer; may panic
	stats      func() []graphrag.Stage // stages with what went wrong while indexing
	graph      *kg.Graph
	claims     graphrag.IndexStats // statistics of its graph
}

func (o *odd) Graph() *kg.Graph { return o.graph }

func (o *odd) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	if o.index != nil {
		o.index()
	}
	stats, err := o.Parrot.Index(ctx, docs)
	o.claims.Documents, o.claims.Chunks = stats.Documents, stats.Chunks
	stats = o.claims
	if o.stats != nil {
		stats.Stages = o.stats()
	}
	return stats, err
}

func (o *odd) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if o.ask != nil && strings.Contains(q.Text, "owl") {
		o.ask()
	}
	return o.Parrot.Answer(ctx, q)
}

// oddly replaces the first system of the test data by an odd one.
func oddly(dir string, calls *atomic.Int64, o *odd) *benchmark.Runner {
	r := benchtest.Runner(dir, calls, nil)
	r.Systems[0].New = func(string) (benchmark.System, error) {
		made := *o
		made.Parrot = benchtest.Parrot{Calls: calls}
		return &made, nil
	}
	return r
}

// A panic fails one question, or one index, and nothing else: its row is marked, the others equal those of a
// healthy run, and it is repeated on request.
func TestPanics(t *testing.T) {
	var calls atomic.Int64
	healthy := reported(t, benchtest.Runner("", &calls, nil))
	count := func(wings map[string]int) { wings["owl"] = 2 }
	fault := func() { count(nil) }
	for _, tt := range []struct {
		name           string
		odd            odd
		scored, failed int
		want           string
	}{
		{"at a question", odd{ask: fault}, 6, 1, "1 panic, the first at question birds/1: panic: assignment to entry in nil map"},
		{"while indexing", odd{index: fault}, 0, 7, "no index of birds: panic: assignment to entry in nil map"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for range 2 { // the second start must repeat nothing
				rep := reported(t, oddly(dir, &calls, &tt.odd))
				s := rep.Systems[0]
				check.Contains(t, strings.Join(s.NotCompared, "; "), tt.want, "the row says")
				if got := s.Stages[0]; got.Name != "answer" || got.Asked != 7 || got.Failed != tt.failed {
					t.Errorf("%+v", s.Stages)
				}
				if v := s.Overall.Types[benchmark.All].Verdicts(); v.Unscored != float64(tt.failed)/7 {
					t.Errorf("%v unscored, want %d of 7", v.Unscored, tt.failed)
				}
				check.True(t, len(rep.Pairs) <= 0, "it is compared: %+v", rep.Pairs)
				if got, want := *rep.Systems[1].Overall.Types[benchmark.All].Accuracy, *healthy.Systems[1].Overall.Types[benchmark.All].Accuracy; got != want {
					t.Errorf("the other system: %v, want %v", got, want)
				}
				detail := benchtest.Files(t, dir)["/judgments.jsonl"]
				check.True(t, tt.odd.ask == nil || strings.Contains(detail, "health_test.go:"), "judgments.jsonl does not say where it happened")
			}
			mended := oddly(dir, &calls, &odd{})
			mended.Options.Retry = true
			rep := reported(t, mended)
			check.True(t, rep.Systems[0].NotCompared == nil, "after the fault is mended: %q", rep.Systems[0].NotCompared)
			alone := t.TempDir()
			reported(t, benchtest.Runner(alone, &calls, nil))
			got, want := benchtest.Files(t, dir)["/report.json"], benchtest.Files(t, alone)["/report.json"]
			check.Equal(t, got, want, "the mended report is not that of a healthy run")
		})
	}
}

// shouting is a judge that panics at some answers.
type shouting struct{ benchtest.Exact }

func (shouting) Fact(context.Context, judge.Case) (judge.FactJudgment, error) { panic("no") }

func TestPanicOfTheJudge(t *testing.T) {
	var calls atomic.Int64
	r := benchtest.Runner("", &calls, nil)
	r.Judge = shouting{}
	rep := reported(t, r)
	v := rep.Systems[0].Overall.Types[benchmark.All].Verdicts()
	check.True(t, v.Accuracy == nil && v.Reasons["the judge failed"] == 5 && *v.Recall == 0.5, "%+v", v)
}

// What failed while indexing is in the report. Above the permitted share the system is not compared, and its
// index is built again at the next start.
func TestFailedStages(t *testing.T) {
	failed := 0
	for _, tt := range []struct {
		name     string
		failed   int // failed pieces of 20 in each domain
		max      float64
		compared bool
	}{
		{"none", 0, 0, true},
		{"as many as allowed", 1, 0, true},
		{"more", 2, 0, false},
		{"more, and allowed", 2, 0.1, true},
		{"one, and none allowed", 1, -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int64
			dir := t.TempDir()
			runner := func() *benchmark.Runner {
				r := oddly(dir, &calls, &odd{stats: func() []graphrag.Stage {
					return []graphrag.Stage{{Name: "extract", Asked: 20, Failed: failed, Refused: failed, Repaired: 3}}
				}})
				r.Options.MaxFailed = tt.max
				return r
			}
			failed = tt.failed
			rep := reported(t, runner())
			s := rep.Systems[0]
			if want := (graphrag.Stage{Name: "extract", Asked: 40, Failed: 2 * tt.failed, Refused: 2 * tt.failed, Repaired: 6}); s.Stages[0] != want {
				t.Errorf("%+v, want %+v", s.Stages[0], want)
			}
			got := len(s.NotCompared) == 0
			check.True(t, got == tt.compared && got == (len(rep.Pairs) > 0), "%q, %d pairs", s.NotCompared, len(rep.Pairs))
			text := benchtest.Files(t, dir)["/report.md"]
			check.True(t, strings.Contains(text, "What failed") && strings.Contains(text, "parrot †") != tt.compared, "report.md:\n%s", text)
			failed = 0
			calls.Store(0)
			rep = reported(t, runner())
			check.True(t, len(rep.Systems[0].NotCompared) == 0, "after the next start: %q", rep.Systems[0].NotCompared)
			want := int64(0)
			if !tt.compared {
				want = 7
			}
			check.Equal(t, calls.Load(), want, "questions were asked again")
		})
	}
}

// A graph without an entity over a corpus with chunks is no graph.
func TestEmptyGraph(t *testing.T) {
	base := check.Of(kg.NewBase(kg.Options{})).OK(t)
	empty := check.Of(base.Graph(t.Context())).OK(t)
	var calls atomic.Int64
	for graph, want := range map[*kg.Graph]string{nil: "", empty: "the graph of birds is empty: 4 chunks, no entity; the graph of fish is empty: 3 chunks, no entity"} {
		check.Equal(t, strings.Join(reported(t, oddly("", &calls, &odd{graph: graph})).Systems[0].NotCompared, "; "), want)
	}
	r := oddly("", &calls, &odd{graph: empty})
	for i := range r.Dataset.Domains { // the domains lose their documents and questions
		r.Dataset.Domains[i].Documents = func() iter.Seq2[graphrag.Document, error] {
			return func(func(graphrag.Document, error) bool) {}
		}
	}
	got := reported(t, r).Systems[0].NotCompared
	check.True(t, got == nil, "without documents: %q", got)
}

// If a system shows its graph, all figures are of that graph, whatever its own statistics say: here three
// names, two of them joined in both directions.
func TestGraphFiguresAreTheGraphs(t *testing.T) {
	base := check.Of(kg.NewBase(kg.Options{})).OK(t)
	fact := func(head, tail string) kg.Fact {
		return kg.Fact{Triple: graphrag.Triple{Head: head, Relation: "knows", Tail: tail}}
	}
	check.OK(t, base.Insert(kg.Extraction{Chunk: "c", Doc: "d", Mentions: []kg.Mention{{Name: "Owl"}, {Name: "Hawk"}, {Name: "Jay"}}, Facts: []kg.Fact{fact("Owl", "Hawk"), fact("Hawk", "Owl")}}))
	graph := check.Of(base.Graph(t.Context())).OK(t)
	var calls atomic.Int64
	rep := reported(t, oddly("", &calls, &odd{graph: graph, claims: graphrag.IndexStats{Entities: 12614, Relations: 9, MaxDegree: 2002, AverageDegree: 7.41, IsolatedShare: 0.9}}))
	got := rep.Systems[0].Domains[0].Index
	check.Equal(t, []int{got.Entities, int(got.Edges), got.Relations, got.MaxDegree, got.Chunks}, []int{3, 1, 2, 1, 4}, "entities, edges, relations, degree, chunks")
	check.Equal(t, []float64{got.AverageDegree, got.IsolatedShare}, []float64{2.0 / 3, 1.0 / 3}, "degree, isolated")
}

// Questions with equal keys in records are refused, and named.
func TestAmbiguousQuestions(t *testing.T) {
	for _, tt := range []struct {
		change func(*benchmark.Dataset)
		want   string
	}{
		{func(d *benchmark.Dataset) { d.Domains[0].Items[1].Question.ID = "birds/1" },
			`two questions of domain "birds" have the ID "birds/1": "What does the owl eat?" and "What does the hawk eat?"`},
		{func(d *benchmark.Dataset) { d.Domains[1].Items[2].Question.ID = "" }, `question 3 of domain "fish" has no ID: "What does the ray eat?"`},
		{func(d *benchmark.Dataset) { d.Domains[1].Name = "birds" }, `two domains are named "birds"`},
		{func(d *benchmark.Dataset) { d.Domains[1].Documents = nil }, `domain "fish" has no documents`},
	} {
		var calls atomic.Int64
		r := benchtest.Runner("", &calls, nil)
		tt.change(r.Dataset)
		_, err := r.Run(t.Context())
		check.True(t, err != nil && strings.Contains(err.Error(), tt.want) && calls.Load() <= 0, "error %v, want %q", err, tt.want)
	}
}

// Files that hold no records are reported by name, and not changed.
func TestHostileRecords(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"noise": func(file string) error {
			return os.WriteFile(file, []byte(strings.Repeat("\x00\xff{\"a\"", 999)), 0o600)
		},
		"a folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"JSON":     func(file string) error { return os.WriteFile(file, []byte(`{"schema": "wildgraph-run/3"}`), 0o600) },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, record.JournalName)
		check.OK(t, put(file))
		before, _ := os.ReadFile(file)
		log, err := record.Open(dir)
		check.Fails(t, err, record.JournalName, "%s: %v", name, log)
		after, _ := os.ReadFile(file)
		check.Equal(t, string(after), string(before), "%s: the file was changed", name)
	}
}

// lookUp resolves every name to the same addresses.
type lookUp []netip.Addr

func (l lookUp) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return l, nil }

// A host is never connected to if one of its addresses is private, even if another is public.
func TestHostileNames(t *testing.T) {
	outside, inside := netip.MustParseAddr("203.0.114.9"), netip.MustParseAddr("127.0.0.2")
	for _, names := range []lookUp{{inside}, {outside, inside}, {netip.MustParseAddr("::ffff:127.0.0.2")}, {netip.MustParseAddr("fd00::1")}, nil} {
		f := check.Of(fetch.New(fetch.Options{Agent: "test", NoRobots: true, Resolver: names, Tries: 1})).OK(t)
		for _, address := range []string{"http://owl.example/", "https://owl.example:65536/", "http://owl.example:22/", "http://0x7f.1/", "http://%zz/", "//owl.example/"} {
			var e *fetch.Error
			if page, err := f.Page(t.Context(), address); !errors.As(err, &e) || e.Kind != fetch.Refused && len(names) > 0 && !strings.Contains(address, "65536") {
				t.Errorf("%s at %v: %+v, %v", address, names, page, err)
			}
		}
	}
}

// Published rows are shown only beside their own questions: all of them, none twice, and none that is the same
// under another name. Rows about all domains need all domains.
func TestPublishedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d *benchmark.Dataset)
		want   string // domains of the rows that are shown, and reasons for the others
	}{
		"released": {func(*benchmark.Dataset) {}, "[ birds fish] map[]"},
		"edited":   {func(d *benchmark.Dataset) { d.Domains[0].Altered = "these are edited" }, "[fish] map[:they are about all 7 questions of the release, these are 7, not all of them released ones birds:they are about 4 released questions of birds, and these are edited]"},
		"cut":      {func(d *benchmark.Dataset) { *d = *d.Limited(1) }, "[fish] map[:they are about all 7 questions of the release, these are 6, not all of them released ones birds:they are about 4 questions, this run asks 3]"},
		"twice": {func(d *benchmark.Dataset) {
			d.Domains[1].Items[0].Question.Text = d.Domains[1].Items[1].Question.Text
			d.Domains[1].Items[0].Reference = d.Domains[1].Items[1].Reference
		}, "[birds] map[:they are about all 7 questions of the release, these are 7, not all of them released ones fish:they are about 3 questions, of these 1 repeat an earlier one]"},
		"one domain":  {func(d *benchmark.Dataset) { d.Domains = d.Domains[:1] }, "[birds] map[:they are about all 7 questions of the release, these are 4]"},
		"one of ours": {func(d *benchmark.Dataset) { d.Domains[0].Name = "insects" }, "[fish] map[:they are about all 7 questions of the release, these are 7, not all of them released ones]"},
	} {
		d := benchtest.Dataset()
		p := &benchmark.Published{Rows: []benchmark.PublishedRow{{Questions: 7}, {Domain: "birds", Questions: 4}, {Domain: "fish", Questions: 3}}}
		tt.change(d)
		p = p.Beside(d)
		var stand []string
		for _, r := range p.Rows {
			stand = append(stand, r.Domain)
		}
		got := fmt.Sprint(stand, " ", p.Absent)
		check.Equal(t, got, tt.want, "%s: %s", name, got)
		p.Withhold("of a whim")
		check.True(t, len(p.Rows) == 0, "%s: withheld, it has %+v", name, p)
		if p = p.Beside(d); len(stand) > 0 && len(p.Rows) > 0 || strings.Count(fmt.Sprint(p.Absent), "whim") != len(stand) {
			t.Errorf("%s: withheld and asked again, it has %+v", name, p)
		}
	}
}

// memory is a system that knows a single sentence.
type memory struct{}

func (memory) Close() error { return nil }
func (memory) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}
func (memory) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: "Barn owls hunt by ear."}, nil
}

// A data set in memory, a system of the caller, the lexical judge, and the main table of the report.
func Example() {
	owls := benchmark.Domain{
		Name: "owls",
		Documents: func() iter.Seq2[graphrag.Document, error] {
			return graphrag.Documents(graphrag.Document{ID: "owls.md", Text: "Barn owls hunt by ear."})
		},
		Items: []benchmark.Item{{
			Type:      "fact",
			Question:  graphrag.Question{ID: "owls/1", Text: "How do barn owls hunt?"},
			Reference: "Barn owls hunt by ear.",
		}, {
			Type:      "fact",
			Question:  graphrag.Question{ID: "owls/2", Text: "How do barn owls fly?"},
			Reference: "Barn owls fly without a sound.",
		}},
	}
	byWords, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	set := &benchmark.Dataset{
		Name:    "Owls",
		Types:   []benchmark.Type{{Key: "fact", Title: "Fact", Short: "Fact", Plural: "questions about facts", K: 5}},
		Domains: []benchmark.Domain{owls},
	}
	run, err := (&benchmark.Runner{
		Dataset: set,
		Systems: []benchmark.Entry{{Name: "memory", New: func(string) (benchmark.System, error) { return memory{}, nil }}},
		Judge:   byWords,
		Options: benchmark.Options{Kit: "offline"},
	}).Run(context.Background())
	if err != nil {
		panic(err)
	}
	r, err := report.New(run)
	if err != nil {
		panic(err)
	}
	types := r.Systems[0].Overall.Types
	fmt.Printf("%d questions, lexical accuracy %.2f\n", types[benchmark.All].N, *types["fact"].Lexical.Accuracy)
	// Output:
	// 2 questions, lexical accuracy 0.50
}

// A retriever of the caller, by the words of titles, in the offline kit.
func ExampleEntry() {
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		panic(err)
	}
	build := func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			scores := make([]float64, len(c.Chunks))
			for i, chunk := range c.Chunks {
				for word := range strings.FieldsSeq(chunk.Title) {
					scores[i] += float64(strings.Count(q.Text, word) * len(word))
				}
			}
			hits, err := c.ByScore(ctx, scores, q.Want(), "title")
			return graphrag.Found{Ranked: hits}, err
		}), nil
	}
	byTitle := benchmark.Entry{Name: "by-title", New: func(string) (benchmark.System, error) {
		return kit.New(kit.Frame{Name: "by-title", Kit: offline, Build: build})
	}}

	set, err := wildgraph.Load(os.DirFS("../examples/wildgraphbench/bench/sample"), benchmark.LoadOptions{Domains: []string{"seafaring"}})
	if err != nil {
		panic(err)
	}
	byWords, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	run, err := (&benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{byTitle}, Judge: byWords}).Run(context.Background())
	if err != nil {
		panic(err)
	}
	report, err := report.New(run)
	if err != nil {
		panic(err)
	}
	all := report.Systems[0].Overall.Types[benchmark.All]
	fmt.Printf("%d questions, evidence recall at 5 of %.2f\n", all.N, *all.RecallAt5)
	// Output:
	// 12 questions, evidence recall at 5 of 0.43
}
