// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/wildgraph/wildgraph/internal/check"
)

// world is where simulated questions come from: two systems answer each, B is right more often
// than A by more, and draws the very luck of A at the share alike of the questions. Pages have
// one to three questions, of which two in five pages answer all alike; or each question has its own.
type world struct {
	questions    int
	right, more  float64
	alike        float64
	pages        bool
	rng          *rand.Rand
	a, b         []float64
	clusters     []int32
	fewDiffering int
}

func (w *world) draw() {
	w.a, w.b, w.clusters = w.a[:0], w.b[:0], w.clusters[:0]
	differing := 0
	for page := int32(0); len(w.a) < w.questions; page++ {
		size, whole := 1, false
		if w.pages {
			size, whole = 1+w.rng.IntN(3), w.rng.Float64() < .4
		}
		var x, y float64
		for i := range min(size, w.questions-len(w.a)) {
			if i == 0 || !whole {
				x, y = w.rng.Float64(), w.rng.Float64()
				if w.rng.Float64() < w.alike {
					y = x
				}
			}
			a, b := one(x < w.right), one(y < w.right+w.more)
			w.a, w.b, w.clusters = append(w.a, a), append(w.b, b), append(w.clusters, page)
			differing += int(math.Abs(a - b))
		}
	}
	if differing < 5 {
		w.fewDiffering++
	}
}

// coverage are the shares of intervals that contain the true difference, and of the draws in
// which fewer than five questions differ.
func (w *world) coverage(t *testing.T, draws int) (covered, few float64) {
	t.Helper()
	hits := 0
	for range draws {
		w.draw()
		c := check.Of(Compare(w.a, w.b, w.clusters, Options{})).OK(t)
		if c.Effect.contains(w.more) {
			hits++
		}
	}
	return float64(hits) / float64(draws), float64(w.fewDiffering) / float64(draws)
}

// simulated is how many draws there are: WILDGRAPH_COVERAGE, or few.
func simulated(few int) int {
	if given, err := strconv.Atoi(os.Getenv("WILDGRAPH_COVERAGE")); err == nil {
		return given
	}
	return few
}

// Of 95 % intervals 93 to 97.5 % contain the true difference. More do where a test cannot reject
// whatever it sees, since fewer than five questions differ. docs/judge.md has
// what `WILDGRAPH_COVERAGE=20000 go test -v -run Coverage ./judge/stats` prints.
func TestCoverage(t *testing.T) {
	draws := simulated(300)
	noise := 4 * math.Sqrt(.95*.05/float64(draws))
	for _, alike := range []float64{.5, .8} {
		table := "\n| questions | right | 0 | 10 | 20 | 0, by page | 10, by page | 20, by page |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n"
		for _, n := range []int{24, 36, 100} {
			for _, right := range []float64{.05, .1, .3, .5} {
				table += fmt.Sprintf("| %d | %.0f %% |", n, 100*right)
				for _, pages := range []bool{false, true} {
					for _, more := range []float64{0, .1, .2} {
						w := world{questions: n, right: right, more: more, alike: alike, pages: pages, rng: rand.New(rand.NewPCG(1, uint64(n)))}
						covered, few := w.coverage(t, draws)
						table += fmt.Sprintf(" %.1f |", 100*covered)
						if low := .93 - .01*one(alike > .5 && pages); covered < low-noise || covered > max(.975, .975+few)+noise {
							t.Errorf("%d questions, %.0f %% right, %.0f points, alike %.1f, pages %v: %.1f %% of the intervals contain the truth; fewer than five questions differ in %.1f %%",
								n, 100*right, 100*more, alike, pages, 100*covered, 100*few)
						}
					}
				}
				table += "\n"
			}
		}
		t.Logf("B draws the luck of A on %.0f %% of the questions; columns are points between them:%s", 100*alike, table)
	}
}

// No given one of equally good systems is certainly behind the one that came first in more than
// 5 % of the draws. That any of them is happens more often where they have little in common, since
// the first is chosen by the same figures.
func TestCoverageOfTheBest(t *testing.T) {
	const systems, questions = 22, 36
	draws := simulated(1600) / 4
	for _, alike := range []float64{.5, .8} {
		rng, some, given := rand.New(rand.NewPCG(3, 4)), 0., 0.
		for range draws {
			luck, all, best := make([]float64, questions), make([][]float64, systems), 0
			for i := range luck {
				luck[i] = rng.Float64()
			}
			for s := range all {
				for _, x := range luck {
					if rng.Float64() >= alike {
						x = rng.Float64()
					}
					all[s] = append(all[s], one(x < .5))
				}
				if stat.Mean(all[s], nil) > stat.Mean(all[best], nil) {
					best = s
				}
			}
			all[0], all[best] = all[best], all[0]
			var p []float64
			for _, other := range all[1:] {
				c := check.Of(Compare(other, all[0], nil, Options{})).OK(t)
				p = append(p, c.P)
			}
			corrected := check.Of(Holm(p)).OK(t)
			some += one(slices.Min(corrected) < .05)
			given += one(best > 0 && corrected[best-1] < .05)
		}
		some, given = some/float64(draws), given/float64(draws)
		t.Logf("%d equal systems, %d questions, alike %.1f: some one is certainly behind in %.1f %%, a given one in %.1f %%", systems, questions, alike, 100*some, 100*given)
		check.True(t, given <= .05 && (alike <= .5 || some <= .05),
			"alike %.1f: some one is certainly behind in %v of the draws, a given one in %v", alike, some, given)
	}
}
