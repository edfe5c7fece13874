// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/article"
)

// What the released data set holds is found again but for references that stand in none
// of its articles: an article of another day, links that are no references, formulas
// whose pictures were counted anew.
func TestReleased(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	residual := map[string]int{"human_activities": 1, "mathematics": 7, "nature": 15}
	all, err := Conform(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	sections, triples, facts, overlap := 0, 0, 0, 0
	for _, c := range all {
		sections, triples = sections+c.SectionsEqual, triples+c.TriplesEqual
		facts, overlap = facts+c.Facts, overlap+c.Overlap
		if c.SectionsEqual != c.Sections || c.TriplesEqual != c.Triples || c.References-c.ReferencesSame > residual[c.Domain] {
			t.Errorf("%s: %d of %d sections, %d of %d triples, %d of %d references: %q", c.Domain,
				c.SectionsEqual, c.Sections, c.TriplesEqual, c.Triples, c.ReferencesSame, c.References, c.Notes)
		}
	}
	if facts != 323 || overlap != 202 { // as another program counted
		t.Errorf("%d of %d answers overlap", overlap, facts)
	}
	if sections < 187 || triples < 802 {
		t.Errorf("%d sections and %d triples", sections, triples)
	}
}

// One article of 0.9 MB with 740 references: BenchmarkArticle measures reading and
// grounding it.
func BenchmarkArticle(b *testing.B) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		b.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "corpus", "people", "Donald Trump", "Donald Trump.txt"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		a := article.Parse(string(text), "", article.Options{})
		g := NewGrounds(a.Citations(), func(string) bool { return true })
		triples := 0
		for _, s := range a.Sections() {
			stated, _ := Rules{}.State(b.Context(), a, s)
			gold, _ := g.Ground(a, s, stated)
			triples += len(gold.Triples)
		}
		if len(a.References()) < 700 || triples < 400 {
			b.Fatal(triples)
		}
	}
}
