// SPDX-License-Identifier: Apache-2.0

// Package opt checks the options of constructors and reports all problems in one error.
package opt

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Checks collects the problems found in options.
type Checks struct {
	Of   string // e.g. "bm25"; may be empty
	errs []error
}

// Err returns an error that lists all problems, nil if there is none.
func (c *Checks) Err() error { return errors.Join(c.errs...) }

// Want adds the problem "Of: field is value, want …" unless ok.
func (c *Checks) Want(ok bool, field string, value any, want string) {
	if !ok {
		c.Add(fmt.Errorf("%s is %v, want %s", field, value, want))
	}
}

// Add adds an error, with the prefix Of.
func (c *Checks) Add(err error) {
	if err != nil && c.Of != "" {
		err = fmt.Errorf("%s: %w", c.Of, err)
	}
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// Min adds a problem unless value is finite and at least low.
func (c *Checks) Min(field string, value, low float64) { Min(c, field, value, low) }

// Range adds a problem unless value is from low to high.
func (c *Checks) Range(field string, value, low, high float64) { Range(c, field, value, low, high) }

type number interface{ ~int | ~int64 | ~float64 }

// Min adds a problem unless value is finite and at least low.
func Min[N number](c *Checks, field string, value, low N) {
	if !(value >= low) || math.IsInf(float64(value), 1) {
		c.Want(false, field, value, fmt.Sprintf("%v or more", low))
	}
}

// Range adds a problem unless value is from low to high.
func Range[N number](c *Checks, field string, value, low, high N) {
	if !(value >= low && value <= high) {
		c.Want(false, field, value, fmt.Sprintf("%v to %v", low, high))
	}
}

// Between adds a problem unless value is above low and below high.
func Between[N number](c *Checks, field string, value, low, high N) {
	if !(value > low && value < high) {
		c.Want(false, field, value, fmt.Sprintf("more than %v and less than %v", low, high))
	}
}

// Fill sets each zero field of the struct that options points to to the value of its tag "default", and then
// adds a problem for each number outside of its tags "min" and "max". It includes the fields of embedded
// structs. An invalid tag is a bug in the program, so Fill panics.
func (c *Checks) Fill(options any) {
	v := reflect.ValueOf(options).Elem()
	for i := range v.NumField() {
		of, f := v.Type().Field(i), v.Field(i)
		if of.Anonymous && f.Kind() == reflect.Struct {
			c.Fill(f.Addr().Interface())
			continue
		}
		if text, ok := of.Tag.Lookup("default"); ok && f.IsZero() {
			set(f, text)
		}
		low, bounded := of.Tag.Lookup("min")
		if high := of.Tag.Get("max"); high != "" {
			c.Range(of.Name, float(f), parse(low), parse(high))
		} else if bounded {
			c.Min(of.Name, float(f), parse(low))
		}
	}
}

// set sets a field to the value of a tag.
func set(f reflect.Value, text string) {
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic(err)
		}
		f.SetUint(n)
	default:
		f.Set(reflect.ValueOf(parse(text)).Convert(f.Type()))
	}
}

// float returns the value of a numeric field.
func float(f reflect.Value) float64 { return f.Convert(reflect.TypeFor[float64]()).Float() }

func parse(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return n
}
