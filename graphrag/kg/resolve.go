// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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

func (r Resolution) withDefaults() (Resolution, error) {
	if r.Threshold == 0 {
		r.Threshold = DefaultResolveThreshold
	}
	if r.Limit == 0 {
		r.Limit = 100
	}
	var problems []error
	if r.Similarity == nil {
		problems = append(problems, errors.New("kg: a resolution needs a similarity, e.g. Trigrams"))
	}
	if !(r.Threshold > 0 && r.Threshold <= 1) {
		problems = append(problems, fmt.Errorf("kg: resolution threshold %v: want more than 0, at most 1", r.Threshold))
	}
	if r.Limit < 0 {
		problems = append(problems, fmt.Errorf("kg: resolution limit %d is negative", r.Limit))
	}
	return r, errors.Join(problems...)
}

// Rules by which two keys become one.
const (
	ByDecision   = "decision"   // Base.Merge
	BySimilarity = "similarity" // Options.Resolve
)

// Merge is a key that was taken for another, and why.
type Merge struct {
	From, Into string
	// Rule is ByDecision or BySimilarity.
	Rule string
	// Score is the similarity, 1 for a decision.
	Score float64
}

// merge returns for each key the one it becomes, and notes the evidence.
func (b *builder) merge(ctx context.Context, manual map[string]string) ([]int32, error) {
	into := b.decided(manual)
	if b.o.Resolve != nil {
		if err := b.resolve(ctx, into); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(b.g.Merges, func(a, c Merge) int { return strings.Compare(a.From, c.From) })
	return into, nil
}

// decided follows the decisions about the keys that occur.
func (b *builder) decided(manual map[string]string) []int32 {
	known := len(b.keys.texts)
	var into []int32
	for k := range known {
		at := b.keys.texts[k]
		for next, ok := manual[at]; ok; next, ok = manual[at] {
			at = next
		}
		if at != b.keys.texts[k] {
			b.g.Merges = append(b.g.Merges, Merge{b.keys.texts[k], at, ByDecision, 1})
		}
		into = append(into, b.keys.id(at))
	}
	for k := known; k < len(b.keys.texts); k++ { // named only by a decision
		into = append(into, int32(k))
	}
	return into
}

// resolve merges keys that are like each other.
func (b *builder) resolve(ctx context.Context, into []int32) error {
	uses := make([]int, len(into))
	for _, u := range b.uses {
		uses[into[u.key]]++
	}
	var keys []int32 // the candidates, by their text
	for k := range into {
		if uses[k] > 0 {
			keys = append(keys, int32(k))
		}
	}
	texts := b.keys.texts
	slices.SortFunc(keys, func(a, c int32) int { return strings.Compare(texts[a], texts[c]) })
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = texts[k]
	}
	r := b.o.Resolve
	near, err := r.Similarity.Neighbors(ctx, names, r.Threshold, r.Limit)
	if err != nil {
		return fmt.Errorf("kg: resolving %d entities: %w", len(names), err)
	}
	near = bothWays(near)
	types := b.mainTypes(into)
	taken := make([]int32, len(keys)) // by whom, plus 1
	for _, c := range byUses(keys, uses) {
		if taken[c] != 0 {
			continue
		}
		taken[c] = c + 1
		for _, n := range near[c] {
			from, to := keys[n.ID], keys[c]
			if taken[n.ID] != 0 || digits(texts[from]) != digits(texts[to]) {
				continue
			}
			if a, z := types[from], types[to]; !r.AnyType && a >= 0 && z >= 0 && a != z {
				continue
			}
			taken[n.ID] = c + 1
			b.g.Merges = append(b.g.Merges, Merge{texts[from], texts[to], BySimilarity, n.Score})
		}
	}
	to := make([]int32, len(into))
	for k := range to {
		to[k] = int32(k)
	}
	for i, c := range taken {
		to[keys[i]] = keys[c-1]
	}
	for k := range into {
		into[k] = to[into[k]]
	}
	return nil
}

// byUses returns the places of the keys, the most used first.
func byUses(keys []int32, uses []int) []int32 {
	out := make([]int32, len(keys))
	for i := range out {
		out[i] = int32(i)
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(uses[keys[b]], uses[keys[a]]) })
	return out
}

// bothWays gives each list also those neighbours that have it in theirs.
func bothWays(near [][]Neighbor) [][]Neighbor {
	out := make([][]Neighbor, len(near))
	for i, of := range near {
		for _, n := range of {
			out[i] = append(out[i], n)
			out[n.ID] = append(out[n.ID], Neighbor{int32(i), n.Score})
		}
	}
	for i := range out {
		out[i] = best(out[i], math.MaxInt)
		out[i] = slices.CompactFunc(out[i], func(a, b Neighbor) bool { return a.ID == b.ID })
	}
	return out
}

// mainTypes is the type given most to each key that is left, or -1.
func (b *builder) mainTypes(into []int32) []int32 {
	links := make([]link, len(b.typed))
	for i, t := range b.typed {
		links[i] = link{into[t.key], t.item}
	}
	counts := gather(len(into), len(b.types.texts), links)
	out := make([]int32, len(into))
	for k := range out {
		out[k] = -1
		most := int32(0)
		for _, c := range counts.of(int32(k)) {
			if c.Count > most || c.Count == most && b.types.texts[c.ID] < b.types.texts[out[k]] {
				out[k], most = c.ID, c.Count
			}
		}
	}
	return out
}

// digits are the numbers in a name, in order.
func digits(name string) string {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return strings.Join(fields, " ")
}

// sortedPairs are the entries of a map, by key.
func sortedPairs(m map[string]string) [][2]string {
	out := make([][2]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, [2]string{k, m[k]})
	}
	return out
}
