// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

var draw = flag.String("draw", "", "FILE that the curves of TestCalibration are drawn into, as SVG")

// asked is a question over a kind of text with the signs of what answers it.
type asked struct {
	kind  string
	right float64
	signs signs
	out   bool // ruled out
}

// said is the probability that a model gives the answer.
func (a asked) said(model *signs) float64 {
	p := a.signs.under(model)
	if a.out {
		return min(p, unlikePart)
	}
	return p
}

func calibration(t *testing.T) (all []asked, kinds []string) {
	b := check.Of(os.ReadFile("testdata/calibration.tsv")).OK(t)
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		a := asked{kind: f[0], out: f[len(f)-1] == "true"}
		if f[1] == "true" {
			a.right = 1
		}
		for j := range a.signs {
			a.signs[j] = check.Of(strconv.ParseFloat(f[2+j], 64)).OK(t, "%v", i)
		}
		if all = append(all, a); !slices.Contains(kinds, a.kind) {
			kinds = append(kinds, a.kind)
		}
	}
	return all, kinds
}

// ridge keeps a sign that is rare from deciding: the penalty on squared coefficients, for weights
// that sum to one.
const ridge = 1.5e-3

// fitted is the model by maximum likelihood with a penalty, by Newton's method; kinds weigh the
// same.
func fitted(questions []asked) (model signs) {
	n, sum := make(map[string]float64), 0.0
	questions = slices.DeleteFunc(slices.Clone(questions), func(a asked) bool { return a.out })
	for _, a := range questions {
		n[a.kind]++
	}
	for range 40 {
		var g signs
		var h [len(g)][len(g) + 1]float64
		for i := 1; i < len(g); i++ {
			g[i], h[i][i] = ridge*model[i], ridge
		}
		sum = float64(len(n))
		for _, a := range questions {
			p, w := a.signs.under(&model), 1/n[a.kind]/sum
			for i, x := range a.signs {
				g[i] += w * (p - a.right) * x
				for j, y := range a.signs {
					h[i][j] += w * p * (1 - p) * x * y
				}
			}
		}
		for i := range g {
			h[i][len(g)] = g[i]
		}
		for i := range h { // Gauss and Jordan: h is positive definite
			for r := range h {
				if r == i {
					continue
				}
				for k, by := len(g), h[r][i]/h[i][i]; k >= i; k-- {
					h[r][k] -= by * h[i][k]
				}
			}
		}
		for i := range g {
			model[i] -= h[i][len(g)] / h[i][i]
		}
	}
	return model
}

// curve is how often answers are right by the probability that is said, in tenths.
type curve [10]struct{ said, right, n float64 }

func curveOf(questions []asked, model *signs) (c curve, error float64) {
	for _, a := range questions {
		p := a.said(model)
		b := &c[min(9, int(10*p))]
		b.said, b.right, b.n = b.said+p, b.right+a.right, b.n+1
	}
	for _, b := range c {
		error += math.Abs(b.said-b.right) / float64(len(questions))
	}
	return c, error
}

// The model is what fits the recorded questions best, and holds on each kind of text that it was
// not fitted to: of answers of .9 at least 85 of 100 are right, and the calibration error is at most
// .1.
func TestCalibration(t *testing.T) {
	all, kinds := calibration(t)
	check.Must(t, len(kinds) == 5 && len(all) >= 1000, "%v %v", kinds, len(all))
	for i, c := range fitted(all) {
		if math.Abs(c-sure[i]) > 0.1 { // its own answers, with one sentence or two, are among the questions
			t.Errorf("sign %d: the coefficient is %v, and %.2f fits best", i, sure[i], c)
		}
	}
	curves := make(map[string]curve)
	for _, kind := range kinds {
		rest := slices.DeleteFunc(slices.Clone(all), func(a asked) bool { return a.kind == kind })
		own := slices.DeleteFunc(slices.Clone(all), func(a asked) bool { return a.kind != kind })
		model := fitted(rest)
		c, gap := curveOf(own, &model)
		t.Logf("%s, left out: %v of %v that are .9 sure are right, calibration error %.3f", kind, c[9].right, c[9].n, gap)
		check.True(t, c[9].right >= 0.85*c[9].n && gap <= 0.1, "want 85 of 100, and at most .1")
		curves[kind] = c
	}
	if *draw != "" {
		check.OK(t, os.WriteFile(*draw, []byte(drawn(curves)), 0o644))
	}
}

// drawn is a picture of curves: a dot for each tenth, its area the number of answers.
func drawn(curves map[string]curve) string {
	const side, gap, top = 150, 45, 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img" aria-label="How often answers are right by the confidence that is said">`+"\n",
		gap+len(curves)*(side+gap), top+side+50)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	for i, kind := range slices.Sorted(maps.Keys(curves)) {
		x, y := gap+i*(side+gap), top
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="bold">%s</text><rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/><path d="M%d %dL%d %d" stroke="#bbb" stroke-dasharray="3"/>`+"\n",
			x, y-10, kind, x, y, side, side, x, y+side, x+side, y)
		for _, tick := range []float64{0, .5, 1} {
			fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%g</text><text x="%d" y="%.0f" text-anchor="end">%g</text>`+"\n",
				float64(x)+tick*side, y+side+15, tick, x-5, float64(y)+(1-tick)*side+4, tick)
		}
		for _, t := range curves[kind] {
			if t.n > 0 {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#2563eb" fill-opacity=".6"><title>said %.2f, right %.2f, %v answers</title></circle>`+"\n",
					float64(x)+side*t.said/t.n, float64(y)+side*(1-t.right/t.n), 1.5+math.Sqrt(t.n), t.said/t.n, t.right/t.n, t.n)
			}
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">confidence that is said (across), share of right answers (up); each kind of text left out of the fit</text></svg>`+"\n", gap, top+side+38)
	return b.String()
}
