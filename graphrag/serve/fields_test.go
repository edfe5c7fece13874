// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

type level string

// kinds are values of fields, most of which an index keeps, in several Go types each.
func kinds(r *rand.Rand) any {
	n := r.IntN(5)
	day := time.Date(2024, 5, 1+n, 12, 0, 0, n, time.FixedZone("x", 3600*n))
	all := []any{
		n, int8(n), int16(n), int32(n), int64(n), uint(n), uint8(n), uint16(n), uint32(n), uint64(n), float32(n), float64(n) / 2, float32(.1), -n, math.Copysign(0, -1), int64(1) << 52,
		"", "a", "ä", "A", fmt.Sprint(n), "2024-05-01", "a\x00b", "\u2028", strings.Repeat("x", 300), level("a"), json.Number("1"), time.Duration(n), time.May,
		n > 2, day, day.UTC(), day.Local(), time.Now().Truncate(time.Hour), time.Time{}, time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		[]string{"a", "b"}, []string{}, []string(nil), []any{"a", fmt.Sprint(n)}, []any{},
		// None of these can be kept as they are.
		nil, math.NaN(), math.Inf(1), []int{n}, map[string]any{"a": n}, struct{ A int }{n}, []any{"a", n}, &n, "\xff", []string{"\xff"}, int64(1)<<53 + 1, uint64(math.MaxUint64),
		time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-12000, 1, 1, 0, 0, 0, 0, time.UTC), complex(1, 1), [2]string{"a", "b"},
	}
	return all[r.IntN(len(all))]
}

// conditions are about the same values, and others, in Go's types.
func conditions(r *rand.Rand) graphrag.Condition {
	field := []string{"f", "g", "h"}[r.IntN(3)]
	switch value := kinds(r); r.IntN(7) {
	case 0:
		return graphrag.Not(conditions(r))
	case 1:
		return graphrag.And(conditions(r), conditions(r))
	case 2:
		return graphrag.Or(conditions(r), conditions(r))
	case 3:
		return graphrag.Between(field, value, kinds(r))
	case 4:
		return graphrag.Has(field, []string{"a", "b", "3", "\xff"}[r.IntN(4)])
	case 5:
		return graphrag.In(field, value, kinds(r))
	default:
		return graphrag.Equal(field, value)
	}
}

// Fields of any type are kept as they are or refused: in memory, in a store, after Save and Open, and
// through the service's JSON, conditions and their negations find the same documents.
func TestFieldsAreTheSameEverywhere(t *testing.T) {
	make := func() *kit.System {
		k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
		s := check.Of(kit.New(kit.Frame{Name: "flat", Kit: k, Words: &bm25.Options{}})).OK(t)
		return s
	}
	store := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	memory, served, opened := make(), make(), make()
	stored := check.Of(kit.Open(t.Context(), memory.Frame(), store, "p")).OK(t)
	r := rand.New(rand.NewPCG(1, 2))
	var docs []graphrag.Document
	refused := 0
	for len(docs) < 200 {
		d := graphrag.Document{ID: fmt.Sprint("d", len(docs)), Text: "The owl hears \xff a mouse.", Title: "a\xffb", Fields: graphrag.Fields{"f": kinds(r), "g": kinds(r)}}
		if r.IntN(2) == 0 {
			d.Fields["h"] = kinds(r)
		}
		normal, err := d.Normal()
		_, indexed := make().Index(t.Context(), graphrag.Documents(d))
		check.Must(t, (indexed == nil) == (err == nil), "%#v: %v, and %v at Index", d.Fields, err, indexed)
		if err != nil {
			refused++
			continue
		}
		again, err := normal.Normal()
		check.Must(t, err == nil && fmt.Sprintf("%#v", again) == fmt.Sprintf("%#v", normal), "%#v is made normal twice: %v", normal.Fields, err)
		docs = append(docs, d)
	}
	for _, s := range []*kit.System{memory, stored} {
		check.OK(t, check.Err(s.Index(t.Context(), graphrag.Documents(docs...))))
	}
	dir := t.TempDir() + "/saved"
	check.OK(t, memory.Save(t.Context(), dir))
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	check.OK(t, check.Err(served.Index(t.Context(), graphrag.Documents(graphrag.Document{ID: "first", Text: "A moon."}))))
	httpServer := start(t, served, serve.Options{})
	for _, d := range docs {
		normal, err := d.Normal() // JSON has one kind of numbers
		check.OK(t, err)
		body := check.Of(json.Marshal(map[string]any{"documents": []any{map[string]any{"id": d.ID, "text": normal.Text, "fields": normal.Fields}}})).OK(t)
		status, said := send(t, httpServer, "", "PUT", "/v1/documents", string(body))
		check.Must(t, status == 200, "%s: %d %s", body, status, said)
	}
	found, asked := 0, 0
	for asked < 500 {
		where := conditions(r)
		if where.Check() != nil {
			continue
		}
		asked++
		want := map[bool][]string{} // a scope keeps out what has no such field
		for i, s := range []*kit.System{memory, stored, opened, served} {
			for _, scoped := range []bool{false, true} {
				ctx, q := t.Context(), graphrag.Question{Text: "owl mouse", K: 300, Where: &where}
				if scoped {
					ctx, q.Where = graphrag.WithScope(ctx, where), nil
				}
				got, err := s.Retrieve(ctx, q)
				ids := []string{fmt.Sprint(err != nil)}
				for _, h := range got.Ranked {
					if h.Chunk.Doc != "first" {
						ids = append(ids, h.Chunk.Doc)
					}
				}
				slices.Sort(ids)
				if i == 0 {
					want[scoped], found = ids, found+len(ids)-1
				} else if !slices.Equal(ids, want[scoped]) {
					t.Fatalf("system %d, scoped %v: %s finds %v, want %v", i, scoped, where, ids, want[scoped])
				}
			}
		}
	}
	check.True(t, refused >= 100 && found >= 1000, "%d documents were refused, %d found", refused, found)
}
