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
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// Records that are none are told by their file, and stay as they are.
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

// lookUp leads every name to the same addresses.
type lookUp []netip.Addr

func (l lookUp) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return l, nil }

// A name that leads inside, also beside an address outside, is never asked.
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

// Published rows stand beside their own questions alone: all of them, none twice, and none that
// is known to be another one; what is about all domains needs each.
func TestPublishedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d *benchmark.Dataset)
		want   string // domains of the rows that stand, and why the others are absent
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

// memory is a system that knows one sentence.
type memory struct{}

func (memory) Close() error { return nil }
func (memory) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}
func (memory) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: "Barn owls hunt by ear."}, nil
}

// A data set in memory, a system of one's own, the lexical judge, and the main
// table of the report.
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
		Options: benchmark.Options{Kit: report.Offline},
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

// A retriever of one's own, by the words of titles, with the offline kit around
// it.
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
