// SPDX-License-Identifier: Apache-2.0

package link

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// DefaultResolveThreshold is how like two names must be to be one.
const DefaultResolveThreshold = 0.9

// Resolution says when two entities of different names are one.
//
// The entity that is named most takes in those that are like it, then the next
// of those that are left; so names that are alike only through others stay
// apart. Two names are kept apart whatever their similarity if their digits
// differ ("Boeing 737", "Boeing 747"), or if both have a type and the types
// differ.
type Resolution struct {
	// Similarity compares the folded names.
	Similarity Similarity
	// Threshold in 0..1, 0 for DefaultResolveThreshold.
	Threshold float64
	// AnyType merges entities of different types too.
	AnyType bool
	// Limit is the number of neighbours looked at for one name, 0 for 100.
	Limit int
}

// BySimilarity is the rule of the merges of a [Resolution].
const BySimilarity = "similarity"

func (r Resolution) withDefaults() Resolution {
	r.Threshold, r.Limit = cmp.Or(r.Threshold, DefaultResolveThreshold), cmp.Or(r.Limit, 100)
	return r
}

// Check reports all that is wrong with the options.
func (r Resolution) Check() error {
	r = r.withDefaults()
	c := opt.Checks{Of: "link: resolution"}
	c.Want(r.Similarity != nil, "Similarity", r.Similarity, "one, e.g. Trigrams")
	c.Want(r.Threshold > 0 && r.Threshold <= 1, "Threshold", r.Threshold, "more than 0, at most 1")
	opt.Min(&c, "Limit", r.Limit, 0)
	return c.Err()
}

// Resolve implements kg.Resolver.
func (r Resolution) Resolve(ctx context.Context, names []kg.Name) ([]kg.Merge, error) {
	r = r.withDefaults()
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = n.Key
	}
	near, err := r.Similarity.Neighbors(ctx, keys, r.Threshold, r.Limit)
	if err != nil {
		return nil, err
	}
	near = bothWays(near)
	var merges []kg.Merge
	taken := make([]bool, len(names))
	for _, c := range byUses(names) {
		if taken[c] {
			continue
		}
		taken[c] = true
		for _, n := range near[c] {
			from, into := &names[n.ID], &names[c]
			otherType := from.Type != "" && into.Type != "" && from.Type != into.Type
			if taken[n.ID] || digits(from.Key) != digits(into.Key) || otherType && !r.AnyType {
				continue
			}
			taken[n.ID] = true
			merges = append(merges, kg.Merge{From: from.Key, Into: into.Key, Rule: BySimilarity, Score: n.Score})
		}
	}
	return merges, nil
}

// byUses returns the places of the names, the most used first.
func byUses(names []kg.Name) []int32 {
	out := make([]int32, len(names))
	for i := range out {
		out[i] = int32(i)
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(names[b].Uses, names[a].Uses) })
	return out
}

// bothWays gives each list also those neighbours that have it in theirs.
func bothWays(near [][]scored) [][]scored {
	out := make([][]scored, len(near))
	for i, of := range near {
		for _, n := range of {
			out[i] = append(out[i], n)
			out[n.ID] = append(out[n.ID], scored{ID: int32(i), Score: n.Score})
		}
	}
	for i := range out {
		out[i] = rank.Best(out[i], math.MaxInt)
		out[i] = slices.CompactFunc(out[i], func(a, b scored) bool { return a.ID == b.ID })
	}
	return out
}

// digits are the numbers in a name, in order.
func digits(name string) string {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return strings.Join(fields, " ")
}
