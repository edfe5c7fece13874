// SPDX-License-Identifier: Apache-2.0

package opt

import (
	"reflect"
	"strconv"
)

// Fill sets the zero fields of the struct that options points to as their tag "default" says,
// and then wants of its numbers what the tags "min" and "max" say. The fields of embedded
// structs are fields of the struct. Tags are of the program, so a bad one panics.
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

// set sets a field to the value that a tag writes.
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

// float is a field of a number.
func float(f reflect.Value) float64 { return f.Convert(reflect.TypeFor[float64]()).Float() }

func parse(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return n
}
