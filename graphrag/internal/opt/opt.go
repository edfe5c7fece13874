// SPDX-License-Identifier: Apache-2.0

// Package opt checks options and words what is wrong with them.
package opt

import (
	"errors"
	"fmt"
	"math"
)

// Checks collects what is wrong with the options of what is made.
type Checks struct {
	Of   string // e.g. "bm25"; may be empty
	errs []error
}

// Err reports all problems at once.
func (c *Checks) Err() error { return errors.Join(c.errs...) }

// Want reports "Of: field is value, want …" unless ok.
func (c *Checks) Want(ok bool, field string, value any, want string) {
	if !ok {
		c.Add(fmt.Errorf("%s is %v, want %s", field, value, want))
	}
}

// Add reports an error.
func (c *Checks) Add(err error) {
	if err != nil && c.Of != "" {
		err = fmt.Errorf("%s: %w", c.Of, err)
	}
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// Min wants a finite number of low or more.
func (c *Checks) Min(field string, value, low float64) { Min(c, field, value, low) }

// Range wants a number from low to high.
func (c *Checks) Range(field string, value, low, high float64) { Range(c, field, value, low, high) }

type number interface{ ~int | ~int64 | ~float64 }

// Min wants a finite number of low or more.
func Min[N number](c *Checks, field string, value, low N) {
	if !(value >= low) || math.IsInf(float64(value), 1) {
		c.Want(false, field, value, fmt.Sprintf("%v or more", low))
	}
}

// Range wants a number from low to high.
func Range[N number](c *Checks, field string, value, low, high N) {
	if !(value >= low && value <= high) {
		c.Want(false, field, value, fmt.Sprintf("%v to %v", low, high))
	}
}

// Between wants a number above low and below high.
func Between[N number](c *Checks, field string, value, low, high N) {
	if !(value > low && value < high) {
		c.Want(false, field, value, fmt.Sprintf("more than %v and less than %v", low, high))
	}
}
