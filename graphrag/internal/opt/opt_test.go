// SPDX-License-Identifier: Apache-2.0

package opt_test

import (
	"errors"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

func TestChecks(t *testing.T) {
	c := opt.Checks{Of: "bm25"}
	opt.Min(&c, "Workers", 0, 0)
	opt.Min(&c, "Size", -1, 0)
	opt.Min(&c, "K1", math.Inf(1), 0)
	opt.Range(&c, "B", math.NaN(), 0., 1.)
	opt.Range(&c, "Dim", 3, 1, 5)
	opt.Between(&c, "Damping", 1., 0., 1.)
	opt.Between(&c, "Damping", .5, 0., 1.)
	c.Add(nil)
	c.Add(errors.New("no corpus"))
	want := `bm25: Size is -1, want 0 or more
bm25: K1 is +Inf, want 0 or more
bm25: B is NaN, want 0 to 1
bm25: Damping is 1, want more than 0 and less than 1
bm25: no corpus`
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if err := (&opt.Checks{}).Err(); err != nil {
		t.Error(err)
	}
}
