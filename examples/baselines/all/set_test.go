// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// systems are all systems, those that go by a graph from elsewhere over a small one.
func systems(t testing.TB) []all.System {
	t.Helper()
	ix, err := triples.New(t.Context(), triples.TSV("graph", strings.NewReader("Fram\tbuilder\tColin Archer\nFram\tcaptain\tFridtjof Nansen\nFridtjof Nansen\tborn in\tOslo")).All(), triples.Options{})
	check.OK(t, err)
	out := all.Systems()
	for i := range out {
		if out[i].Lacks() != "" {
			out[i] = out[i].WithGraph(ix)
		}
	}
	return out
}

func system(t *testing.T, name string) all.System {
	t.Helper()
	s, ok := all.Find(name)
	check.Must(t, ok, "no system %s", name)
	return s
}

// Every option of every system can be set to its default by name, and then the system is made as
// before.
func TestOptions(t *testing.T) {
	k := baselinestest.ModelKit(t, llmtest.NewScript("m"))
	for _, s := range slices.Concat(systems(t), all.Variants(), all.Agents()) {
		options := s.Options()
		check.True(t, len(options) >= 5, "%s has %d options", s.Name, len(options))
		for _, o := range options {
			if o.Default == "" {
				continue
			}
			changed, err := s.With(strings.ToUpper(o.Name), o.Default)
			if err == nil {
				_, err = changed.New(k, kit.Common{})
			}
			check.OK(t, err, "%s.%s=%s", s.Name, o.Name, o.Default)
		}
	}
}

// A value of another system, of the wrong type or out of range is refused before anything is paid,
// all those of a system at once.
func TestBadOptions(t *testing.T) {
	bad, wanted := map[string]all.System{}, map[string][]string{}
	for _, row := range table(t, "bad.tsv") {
		s, ok := bad[row[0]]
		if !ok {
			s = system(t, row[0])
		}
		s, err := s.With(row[1], row[2])
		if err == nil {
			bad[row[0]], wanted[row[0]] = s, append(wanted[row[0]], row[3])
		} else if !strings.Contains(err.Error(), row[3]) {
			t.Errorf("%s.%s=%s: %v, want %q", row[0], row[1], row[2], err, row[3])
		}
	}
	for name, s := range bad {
		_, err := s.New(baselinestest.OfflineKit(t), kit.Common{})
		for _, want := range wanted[name] {
			check.Fails(t, err, want, "%s", name)
		}
	}
}

// table reads the rows of a file below its heading.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/" + name)).OK(t)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// A value that is set is used.
func TestWith(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	s := check.Of(system(t, "hipporag2").With("maxPerDoc", "1")).OK(t)
	made, err := s.New(k, kit.Common{Cut: kit.Cut{Size: 20, Overlap: -1}})
	if err == nil {
		_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
	}
	check.OK(t, err)
	found, err := made.Retrieve(t.Context(), graphrag.Question{Text: "What is told of the Fram?", K: 10})
	seen := make(map[string]bool)
	for _, h := range found.Ranked {
		check.True(t, !seen[h.Chunk.Doc], "two chunks of %s, and one was asked for", h.Chunk.Doc)
		seen[h.Chunk.Doc] = true
	}
	check.True(t, err == nil && len(seen) >= 2 && s.Changes()["maxPerDoc"] == 1, "%d pages, changes %v, %v", len(seen), s.Changes(), err)

	check.Contains(t, system(t, "gear").Lacks(), "-kg", "gear without a graph")
}

// The loop of an agent has options of its own, beside those of the system that it searches by.
func TestOptionsOfAgents(t *testing.T) {
	for _, name := range []string{"agentic:bm25", "files"} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s, err := system(t, name).With("agent.turns", "1")
		if err == nil {
			s, err = s.With("agent.condense", "true")
		}
		check.OK(t, err)
		made, err := s.New(baselinestest.ModelKit(t, m), kit.Common{})
		if err == nil {
			_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
		}
		check.OK(t, err)
		f, err := made.Retrieve(t.Context(), baselinestest.Questions[0])
		last := f.Steps[len(f.Steps)-1]
		check.True(t, err == nil && m.Calls() == 1 && last.Found[0] == "the last step is done", "%s: %d calls, %+v, %v", name, m.Calls(), last, err)
		if bad, err := s.With("agent.calls", "-1"); err == nil {
			_, err = bad.New(baselinestest.ModelKit(t, m), kit.Common{})
			check.Fails(t, err, "Agent.Calls is -1", "%s", name)
		}
		got := s.Changes()
		check.True(t, got["agent.turns"] == 1 && got["agent.condense"] == true, "%s: %v", name, got)
	}
}

// Each option says for itself where its default is from; the values and origins that papers and
// programs state are those of the table. An option without a system's name is every system's.
func TestOrigins(t *testing.T) {
	known := map[string][]string{}
	for _, f := range table(t, "origins.tsv") {
		known[f[0]] = f[1:]
	}
	met := map[string]bool{}
	for _, s := range slices.Concat(all.Systems(), all.Variants(), all.Agents()) {
		for _, o := range s.Options() {
			from := "paper"
			switch {
			case strings.HasPrefix(o.Source, "ours"):
				from = "ours"
			case strings.HasPrefix(o.Source, "its program"):
				from = "program"
			case o.Source == "" || o.Source == "the paper" || !strings.ContainsAny(o.Source, " ,"):
				t.Errorf("%s.%s: the default is from %q: want ours, its program, or a paper with the place in it", s.Name, o.Name, o.Source)
			}
			for _, name := range []string{o.Name, s.Name + "." + o.Name} {
				if want, ok := known[name]; ok {
					met[name] = true
					if from != want[1] || want[0] != "-" && o.Default != want[0] {
						t.Errorf("%s.%s is %s from %q, want %s from %s", s.Name, o.Name, o.Default, o.Source, want[0], want[1])
					}
				}
			}
		}
	}
	for name := range known {
		check.True(t, met[name], "no system has the option %s", name)
	}
}
