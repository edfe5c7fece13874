// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// TestGoldenMuSiQue repeats a run of the formula written in Python: k1 1.5, b .75, words of [a-z0-9]+, 1,890 passages and 100 questions; recall at
// 1, 2, 5, 10 and 20 is 30.9, 41.9, 49.9, 58.5 and 69.7 %.
func TestGoldenMuSiQue(t *testing.T) {
	dir := os.Getenv("MUSIQUE_DIR")
	if dir == "" {
		t.Skip("set MUSIQUE_DIR")
	}
	read := func(name string, to any) bool {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(data, to)
		}
		return err == nil
	}
	var corpus []struct{ Title, Text string }
	var questions []struct{ Question string }
	var golden struct {
		Questions []struct {
			Gold []int
			Top  [][2]float64 `json:"bm25_lower_top10"`
		}
	}
	if !read("musique_train_corpus.json", &corpus) || !read("musique_train.json", &questions) {
		t.Fatal("the sample cannot be read")
	}
	if !read("../../golden/musique_train_runs.json", &golden) {
		t.Skip("the golden file does not stand beside the data")
	}
	ascii := func(s string) string {
		s = strings.ReplaceAll(s, "İ", "i\u0307") // as Unicode's full mapping has it, and the reference
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return ' '
		}, strings.ToLower(s))
	}
	texts := make([]string, len(corpus))
	for i, p := range corpus {
		texts[i] = ascii(p.Title + "\n" + p.Text)
	}
	o := bm25.Plain()
	o.K1, o.B = 1.5, .75
	ix, err := bm25.BuildTexts(t.Context(), texts, o)
	if err != nil {
		t.Fatal(err)
	}
	recall := make(map[int]float64)
	for i, q := range questions {
		found := ix.Search(ascii(q.Question), 20, nil)
		g := golden.Questions[i]
		for k := range map[int]bool{1: true, 2: true, 5: true, 10: true, 20: true} {
			met := 0
			for _, f := range found[:min(k, len(found))] {
				if slices.Contains(g.Gold, int(f.ID)) {
					met++
				}
			}
			recall[k] += 100 * float64(met) / float64(len(g.Gold)) / float64(len(questions))
		}
		for j, want := range g.Top {
			if got := found[j]; math.Abs(float64(got.Score)-want[1]) > 1e-3 {
				t.Errorf("%q: place %d is passage %d with %v, want %v with %v", q.Question, j+1, got.ID, got.Score, want[0], want[1])
				break
			}
		}
	}
	for k, want := range map[int]float64{1: 30.9, 2: 41.9, 5: 49.9, 10: 58.5, 20: 69.7} {
		if math.Abs(recall[k]-want) > .1 {
			t.Errorf("R@%d is %.2f, want %.1f", k, recall[k], want)
		}
	}
}
