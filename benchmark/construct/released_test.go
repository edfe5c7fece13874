// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/jsonl"
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
	check.OK(t, jsonl.Each(fsys, name, jsonl.DefaultMaxLine, func(_ int, v T) error { out = append(out, v); return nil }))
	return out
}

// The stages without a model find the sections, the sources of sentences and the
// references of the released data set again, byte for byte, but for references that stand
// in none of its articles: an article of another day, links that are no references,
// formulas whose pictures were counted anew.
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
	if facts != 323 || overlap != 202 { // as another program counted
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
