// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// columns are records by column, as one statement takes them.
type columns struct {
	schema store.TableSchema
	names  []string // in SQL, with their array types and casts
	types  []string
	values []any
}

func (t *table) columns(n int) *columns {
	c := &columns{schema: t.schema}
	add := func(name, kind string, v any) {
		c.names, c.types, c.values = append(c.names, name), append(c.types, kind), append(c.values, v)
	}
	add("id", "text", make([]string, 0, n))
	add("scope", "text", make([]string, 0, n))
	add("title", "bytea", make([][]byte, 0, n))
	add("body", "bytea", make([][]byte, 0, n))
	add("data", "bytea", make([][]byte, 0, n))
	add("len", "int", make([]int32, 0, n))
	for i, f := range fieldsOf(t.schema) {
		if t.schema.Fields[f] == store.Number {
			add(fmt.Sprintf("f%d", i), "float8", make([]*float64, 0, n))
		} else {
			add(fmt.Sprintf("f%d", i), "text", make([]*string, 0, n))
		}
	}
	if t.schema.Dim > 0 {
		add("vec", "text", make([]*string, 0, n))
	}
	return c
}

func (c *columns) add(r store.Record, length int32) {
	push(&c.values[0], r.ID)
	push(&c.values[1], r.Scope)
	push(&c.values[2], []byte(r.Title))
	push(&c.values[3], []byte(r.Text))
	push(&c.values[4], append([]byte{}, r.Data...))
	push(&c.values[5], length)
	for i, f := range fieldsOf(c.schema) {
		switch to := &c.values[6+i]; v := r.Fields[f].(type) {
		case string:
			push(to, &v)
		case float64:
			push(to, &v)
		case int:
			x := float64(v)
			push(to, &x)
		default:
			if c.schema.Fields[f] == store.Number {
				push[*float64](to, nil)
			} else {
				push[*string](to, nil)
			}
		}
	}
	if c.schema.Dim > 0 {
		var v *string
		if len(r.Vector) > 0 {
			s := vectorText(r.Vector)
			v = &s
		}
		push(&c.values[len(c.values)-1], v)
	}
}

func push[T any](to *any, v T) { *to = append((*to).([]T), v) }

func (c *columns) statement(table string) string {
	var from, set []string
	selected := slices.Clone(c.names)
	for i, name := range c.names {
		from = append(from, fmt.Sprintf("$%d::%s[]", i+1, c.types[i]))
		if name == "vec" {
			selected[i] = "vec::vector"
		}
		if name != "id" {
			set = append(set, name+" = excluded."+name)
		}
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS x (%[2]s) ON CONFLICT (id) DO UPDATE SET %[5]s",
		table, strings.Join(c.names, ", "), strings.Join(selected, ", "), strings.Join(from, ", "), strings.Join(set, ", "))
}

func vectorText(v []float32) string {
	b := make([]byte, 0, 12*len(v))
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', -1, 32)
	}
	return string(append(b, ']'))
}
