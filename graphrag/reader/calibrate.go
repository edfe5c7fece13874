// SPDX-License-Identifier: Apache-2.0

//go:build calibrate

package reader

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Signs returns what the confidence of an extractive reader is computed from, separated by tabs,
// and whether the answer is ruled out. The calibration test of examples/ask writes
// testdata/calibration.tsv by it.
func Signs(ctx context.Context, r Reader, q graphrag.Question, evidence []graphrag.Hit) (string, error) {
	x := r.(*extractive)
	c := &corpus{lexicon: new(lexicon), language: spoken(q.Text, evidence)}
	c.lexicon.begin(x.library(c.language))
	if err := c.collect(ctx, q.Text, evidence, nil); err != nil || len(c.candidates) == 0 {
		return "", err
	}
	scores, best := c.score()
	if scores[best] == 0 {
		return "", nil
	}
	best, told := c.cell(best)
	y, out := &c.candidates[best], ""
	for _, s := range c.signs(y, c.third(scores, best)) {
		out += fmt.Sprintf("%.3g\t", s)
	}
	return out + fmt.Sprint(!told || c.unlike(y)), nil
}
