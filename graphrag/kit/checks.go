// SPDX-License-Identifier: Apache-2.0

package kit

import "github.com/wildgraph/wildgraph/graphrag/internal/opt"

// Checks collects what is wrong with the options of a recipe, in the words of the
// library. Its Err is a [Frame]'s Problems, so that everything is reported at once
// and before anything is paid. A value that is no number is never right.
type Checks struct{ c opt.Checks }

// Min wants a finite number of low or more.
func (c *Checks) Min(field string, value, low float64) { opt.Min(&c.c, field, value, low) }

// Range wants a number from low to high.
func (c *Checks) Range(field string, value, low, high float64) {
	opt.Range(&c.c, field, value, low, high)
}

// Want reports the field and its value unless ok.
func (c *Checks) Want(ok bool, field string, value any, want string) {
	c.c.Want(ok, field, value, want)
}

// Add reports an error, such as those of another package's options.
func (c *Checks) Add(err error) { c.c.Add(err) }

// Err is everything that was reported, or nil.
func (c *Checks) Err() error { return c.c.Err() }
