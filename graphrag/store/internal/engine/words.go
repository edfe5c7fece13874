// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Engines cut or refuse long terms (Lucene at 255 letters in a stream, at 32 kB as one),
// and split at blanks.
const (
	maxTerm = 200
	// maxTerms is how many different terms of a query are asked for: Lucene's limit of
	// clauses is 1024.
	maxTerms = 1000
)

// Key is s, or what stands for it where terms have to be short and without blanks.
func Key(s string) string {
	if len(s) > 0 && len(s) <= maxTerm && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return "#" + Hash(s)
}

func odd(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '#' }

// Hash is 32 hexadecimal digits that stand for s.
func Hash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:16])
}

// terms appends those of a text, weight times.
func terms(to []string, a text.Analyzer, s string, weight int) []string {
	from := len(to)
	if weight == 0 {
		return to
	}
	a.Words(s, func(word []byte) bool {
		if term, ok := a.Term(string(word)); ok {
			to = append(to, Key(term))
		}
		return true
	})
	once := to[from:]
	for range weight - 1 {
		to = append(to, once...)
	}
	return to
}

// queryTerms are the terms of a query, in the order in which it has them first.
func queryTerms(a text.Analyzer, s string) (list []Term) {
	place := make(map[string]int)
	for _, t := range terms(nil, a, s, 1) {
		i, known := place[t]
		if !known {
			if len(list) == maxTerms {
				continue
			}
			i = len(list)
			place[t] = i
			list = append(list, Term{Text: t})
		}
		list[i].Times++
	}
	return list
}

// fold makes a filter one that has no op without filters, of an engine's names and
// values; holds says that it always holds, or never.
func fold(f store.Filter, name func(field string) string) (_ store.Filter, holds *bool) {
	yes, no := true, false
	switch f.Op {
	case "":
		return f, &yes
	case store.OpIn:
		if len(f.Values) == 0 {
			return f, &no
		}
		values := make([]any, len(f.Values))
		for i, v := range f.Values {
			values[i] = value(v)
		}
		return store.Filter{Op: f.Op, Field: name(f.Field), Values: values}, nil
	case store.OpRange:
		if f.Low > f.High {
			return f, &no
		}
		return store.Filter{Op: f.Op, Field: name(f.Field), Low: finite(f.Low), High: finite(f.High)}, nil
	case store.OpNot:
		inner, holds := fold(f.Filters[0], name)
		if holds != nil {
			*holds = !*holds
		}
		return store.Not(inner), holds
	}
	// And and Or: one that decides, decides; those that hold, or not, are left out.
	decides := &no
	if f.Op == store.OpOr {
		decides = &yes
	}
	out := store.Filter{Op: f.Op}
	for _, part := range f.Filters {
		part, holds := fold(part, name)
		switch {
		case holds == nil:
			out.Filters = append(out.Filters, part)
		case *holds == *decides:
			return f, holds
		}
	}
	if len(out.Filters) == 0 {
		rest := !*decides
		return f, &rest
	}
	return out, nil
}

func value(v any) any {
	switch v := v.(type) {
	case string:
		return Key(v)
	case float64:
		return finite(v)
	}
	return v
}

// finite keeps a number within what JSON holds.
func finite(x float64) float64 { return min(max(x, -math.MaxFloat64), math.MaxFloat64) }
