// SPDX-License-Identifier: Apache-2.0

package opt_test

import (
	"errors"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/internal/check"
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
	err := c.Err()
	check.True(t, err != nil && err.Error() == want, "got\n%v\nwant\n%s", err, want)
	err = (&opt.Checks{}).Err()
	check.OK(t, err)
}

func TestFill(t *testing.T) {
	type Part struct {
		Mode string `default:"local"`
	}
	type options struct {
		Part
		Seed    uint64  `default:"0xDEADBEEF"`
		Steps   int     `default:"3" min:"1"`
		Share   float64 `default:"0.5" min:"0" max:"1"`
		Depth   int     `min:"-1"`
		Unbound float64
	}
	var c opt.Checks
	var zero options
	c.Fill(&zero)
	if want := (options{Part{"local"}, 0xDEADBEEF, 3, .5, 0, 0}); zero != want || c.Err() != nil {
		t.Errorf("%+v, %v", zero, c.Err())
	}
	given := options{Part{"global"}, 1, -2, math.NaN(), -2, -9}
	c.Fill(&given)
	want := "Steps is -2, want 1 or more\nShare is NaN, want 0 to 1\nDepth is -2, want -1 or more"
	err := c.Err()
	check.True(t, given.Mode == "global" && given.Seed == 1 && err != nil && err.Error() == want, "%+v, %v", given, err)
}
