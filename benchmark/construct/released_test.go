// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"
)

func released(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	return dir
}

func readLines[T any](t *testing.T, fsys fs.FS, name string) []T {
	t.Helper()
	var out []T
	check.OK(t, journal.EachLine(fsys, name, journal.DefaultMaxLine, func(_ int, v T) error { out = append(out, v); return nil }))
	return out
}

// The stages without a model find the sections, source sentences and references of the released data set byte
// for byte, except references that are in none of its articles: of a later version of an article, links that
// are no references, formulas whose pictures were counted again.
func TestReleased(t *testing.T) {
	fsys := os.DirFS(released(t))
	residual := map[string]int{"human_activities": 1, "mathematics": 7, "nature": 15}
	topics, err := fs.Glob(fsys, "corpus/*/*")
	check.Must(t, err == nil && len(topics) != 0, "no topics: %v", err)
	sections, triples, facts, overlap := 0, 0, 0, 0
	for _, dir := range topics {
		topic, domain := path.Base(dir), path.Base(path.Dir(dir))
		text := check.Of(fs.ReadFile(fsys, path.Join(dir, topic+".txt"))).OK(t)
		a := Parse(string(text), topic, Options{Released: true})
		refs := readLines[Reference](t, fsys, path.Join(dir, "references.jsonl"))
		found, missing := a.References(), 0
		for _, r := range refs {
			if !slices.Contains(found, r) {
				missing++
			}
		}
		check.True(t, missing <= residual[domain], "%s: %d of %d references are not found", domain, missing, len(refs))
		join := joined(t, fsys, dir, refs)
		grounds := NewGrounds(a.Citations(), func(url string) bool { return len(join.Pages(url)) > 0 })
		bodies := make(map[string]string)
		for _, s := range a.Sections() {
			bodies[strings.Join(s.Path, "\x00")] = s.Body
		}
		for _, g := range readLines[Gold](t, fsys, path.Join("extracted_data", domain, topic, "valid_triples.jsonl")) {
			if sections++; bodies[strings.Join(g.Path, "\x00")] != g.Body {
				t.Errorf("%s: section %q differs", domain, g.Path)
			}
			for _, want := range g.Triples {
				got, ok := grounds.Triple(Stated{Sentence: want.Sentence})
				if triples++; !ok || !slices.Equal(got.URLs, want.URLs) {
					t.Errorf("%s: the sources of %q differ", domain, want.Sentence)
				}
			}
		}
		questions := readLines[Question](t, fsys, path.Join("QA", domain, "questions.jsonl"))
		for _, q := range questions {
			if q.Answer != "" {
				facts++
			}
		}
		overlap += overlaps(questions)
	}
	if facts != 323 || overlap != 202 { // numbers by an independent program
		t.Errorf("%d of %d answers overlap", overlap, facts)
	}
	check.True(t, sections >= 187 && triples >= 802, "%d sections and %d triples", sections, triples)
}

func joined(t *testing.T, fsys fs.FS, dir string, refs []Reference) *wildgraph.Join {
	t.Helper()
	pages := check.Of(fs.ReadDir(fsys, path.Join(dir, "reference_pages"))).OK(t)
	var files []string
	for _, p := range pages {
		files = append(files, p.Name())
	}
	var known []wildgraph.Reference
	for _, r := range refs {
		known = append(known, wildgraph.Reference{Title: r.Title, URL: r.URL})
	}
	return wildgraph.NewJoin(known, files)
}

// Questions that are accepted, and questions that copy their source, give away the answer or name nothing: one
// a line.
func TestFault(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/questions.tsv")).OK(t)
	for line := range strings.Lines(strings.TrimSpace(string(table))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		d := Draft{Title: f[0], Type: wildgraph.SingleFact}
		if f[1] == wildgraph.Summary {
			d.Type = f[1]
		}
		for s := range strings.SplitSeq(f[2], " | ") {
			d.Triples = append(d.Triples, Triple{Statement: s})
		}
		reason, got := questionFault(f[3], d)
		if f[1] != "kind" && (got != f[4] || (reason == "") != (f[4] == "")) {
			t.Errorf("%s\n%s\ngot %s\nwant %q", f[2], f[3], got, f[4])
		}
	}
}

func FuzzArticle(f *testing.F) {
	f.Add("# Owl\n\nOwls hunt by ear.[^a]\n\n[^a]: Owls, https://owls.example/world\n")
	f.Add("Owl\n===\n\nText.[[1]](https://w.example/Owl_(bird)#cite_note-a-1)\n\nReferences\n----------\n\n1.  ^ [_**a**_](#cite_ref-a_1-0)[\"A [b] c\"](https://x.example/a_(b) \"t\"). [Archived](https://y.example)\n\nBibliography\n---\n*   [x](http://z)\n")
	f.Add("# \n## References\n1. [[](https://a)\n[^1]: \n[^1] [^")
	f.Fuzz(func(t *testing.T, source string) {
		for _, o := range []Options{{}, {Released: true}} {
			a := Parse(source, "name", o)
			refs := a.References()
			for _, r := range refs {
				check.True(t, r.Title != "" && strings.HasPrefix(r.URL, "http"), "reference %+v", r)
			}
			files := make(map[string]bool)
			for _, r := range Sources(refs) {
				if files[fileKey(r.Title)] {
					t.Errorf("two pages in %s", wildgraph.Slug(r.Title))
				}
				files[fileKey(r.Title)] = true
			}
			g := NewGrounds(a.Citations(), func(string) bool { return true })
			for _, s := range a.Sections() {
				check.True(t, strings.TrimSpace(s.Body) != "" && len(s.Path) != 0, "section %+v", s)
				stated := check.Of(Rules{}.State(t.Context(), a, s)).OK(t)
				gold, dropped := g.Ground(a, s, stated)
				for _, d := range dropped {
					check.True(t, d.Reason != "the section does not say so", "%q is not in %q", d.What, s.Body)
				}
				for _, tr := range gold.Triples {
					check.True(t, tr.Count != 0 && tr.Statement != "", "%+v", tr)
				}
			}
		}
	})
}

func TestSources(t *testing.T) {
	long := strings.Repeat("owl ", 40)
	refs := Sources([]Reference{
		{Title: "Owls", URL: "https://a.example/#x"}, {Title: "Owls", URL: "https://a.example/#y"}, {Title: "OWLS", URL: "https://b.example"},
		{Title: long + "a", URL: "https://c.example"}, {Title: long + "b", URL: "https://d.example"},
		{Title: "猫头鹰", URL: "https://e.example"}, {Title: "鹰", URL: "https://f.example"},
	})
	files := make(map[string]string)
	for _, r := range refs {
		name := fileKey(r.Title)
		other := files[name]
		check.Equal(t, other, "", "%s and %s share %s", other, r.URL, name)
		files[name] = r.URL
	}
	check.True(t, len(refs) == 6 && refs[0].Title == "Owls" && refs[0].URL == "https://a.example/" && refs[1].Title == "OWLS 2", "%+v", refs)
}

func TestPoor(t *testing.T) {
	long := strings.Repeat("word ", 60)
	for text, poor := range map[string]bool{
		"": true, " \n ": true, "404 Not Found\n" + long: true, "a\nb\nc": true, long: false,
		strings.Repeat("a line\n", 12): true, strings.Repeat("a line\n", 13): false,
		strings.Repeat(long, 20) + " he got a 404 not found": false,
	} {
		got := Poor(text)
		check.True(t, (got != "") == poor, "%.30q: %q", text, got)
	}
}

func TestExcerpt(t *testing.T) {
	page := strings.Repeat("Nothing to see here, move on please.\n", 400) + "Roger Payne listened to barn owls.\n" + strings.Repeat("And nothing here.\n", 400)
	got := Excerpt(page, "Roger Payne studied barn owls", 3000)
	check.True(t, strings.Contains(got, "Roger Payne listened") && len(got) <= 3000, "%d bytes: %.200q", len(got), got)
	check.Equal(t, Excerpt("short", "x", 100), "short")
}

// says returns the same verdict on every draft.
type says string

func (s says) Ask(context.Context, Draft) (string, error) { return string(s), nil }

// The question of a summary has 20 to 200 characters, as the paper's prompt demands; other questions may be
// shorter or longer.
func TestSummaryLength(t *testing.T) {
	of := func(n int) string { return strings.Repeat("ö", n-1) + "?" }
	for _, x := range []struct {
		kind  string
		n     int
		taken bool
	}{
		{wildgraph.Summary, 19, false}, {wildgraph.Summary, 20, true}, {wildgraph.Summary, 200, true}, {wildgraph.Summary, 201, false},
		{wildgraph.SingleFact, 19, true}, {wildgraph.SingleFact, 201, true}, {wildgraph.SingleFact, 601, false},
	} {
		m := questionMaker{Parts: Parts{Ask: says(of(x.n))}}
		q, err := m.asked(t.Context(), Draft{Type: x.kind, Triples: []Triple{{Statement: "Owls hunt."}}})
		check.True(t, err == nil && (q != "") == x.taken, "%s of %d characters: %q, %v", x.kind, x.n, q, err)
	}
}
