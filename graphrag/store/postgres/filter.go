// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// condition is a filter in SQL, with its arguments from $1 on; "" holds for all.
type condition struct {
	sql  string
	args []any
}

// compile makes a condition of a filter that was checked. A record without the field is
// a null there, which meets no condition but Not of one.
func compile(f store.Filter, column func(field string) string) condition {
	var c condition
	c.sql = c.build(f, column)
	return c
}

func (c *condition) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *condition) build(f store.Filter, column func(string) string) string {
	switch f.Op {
	case store.OpIn:
		if len(f.Values) == 0 {
			return "false"
		}
		if _, isText := f.Values[0].(string); isText {
			return fmt.Sprintf("coalesce(%s = ANY(%s::text[]), false)", column(f.Field), c.arg(listOf[string](f.Values)))
		}
		return fmt.Sprintf("coalesce(%s = ANY(%s::float8[]), false)", column(f.Field), c.arg(listOf[float64](f.Values)))
	case store.OpRange:
		return fmt.Sprintf("coalesce(%s BETWEEN %s::float8 AND %s::float8, false)", column(f.Field), c.arg(f.Low), c.arg(f.High))
	case store.OpNot:
		return fmt.Sprintf("NOT (%s)", c.part(f.Filters[0], column))
	case store.OpAnd:
		return c.join(f.Filters, " AND ", "true", column)
	case store.OpOr:
		return c.join(f.Filters, " OR ", "false", column)
	}
	return ""
}

func (c *condition) part(f store.Filter, column func(string) string) string {
	if sql := c.build(f, column); sql != "" {
		return sql
	}
	return "true"
}

func (c *condition) join(all []store.Filter, by, none string, column func(string) string) string {
	if len(all) == 0 {
		return none
	}
	parts := make([]string, len(all))
	for i, f := range all {
		parts[i] = "(" + c.part(f, column) + ")"
	}
	return strings.Join(parts, by)
}

func listOf[T any](values []any) []T {
	out := make([]T, 0, len(values))
	for _, v := range values {
		if x, ok := v.(T); ok {
			out = append(out, x)
		}
	}
	return out
}
