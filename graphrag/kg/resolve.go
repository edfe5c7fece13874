// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Resolver decides which names mean one entity, beside what Base.Merge decided.
// link.Resolution is one.
type Resolver interface {
	// Check reports everything that is wrong with the resolver.
	Check() error
	// Resolve returns the keys that become others, each at most once; what a key
	// becomes stays itself. Names are sorted by key.
	Resolve(ctx context.Context, names []Name) ([]Merge, error)
}

// Name is the key of a name, how often it is used, and the type that it was given
// most, "" if none.
type Name struct {
	Key, Type string
	Uses      int
}

// ByDecision is the rule of what Base.Merge decided.
const ByDecision = "decision"

// Merge is a key that was taken for another, and why.
type Merge struct {
	From, Into string
	// Rule is ByDecision, or the resolver's.
	Rule string
	// Score is how like each other they are, 1 for a decision.
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

// resolve has the resolver merge the keys that are in use.
func (b *builder) resolve(ctx context.Context, into []int32) error {
	uses := make([]int, len(into))
	for _, u := range b.uses {
		uses[into[u.key]]++
	}
	types := b.mainTypes(into)
	ids := make(map[string]int32)
	var names []Name
	for k := range into {
		if uses[k] == 0 {
			continue
		}
		n := Name{Key: b.keys.texts[k], Uses: uses[k]}
		if types[k] >= 0 {
			n.Type = b.types.texts[types[k]]
		}
		ids[n.Key] = int32(k)
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, c Name) int { return strings.Compare(a.Key, c.Key) })
	merges, err := b.o.Resolve.Resolve(ctx, names)
	if err != nil {
		return fmt.Errorf("kg: resolving %d entities: %w", len(names), err)
	}
	to := make([]int32, len(into))
	for k := range to {
		to[k] = int32(k)
	}
	for _, m := range merges {
		from, ok1 := ids[m.From]
		target, ok2 := ids[m.Into]
		if !ok1 || !ok2 || to[from] != from || to[target] != target {
			return fmt.Errorf("kg: resolving: %q into %q: want names that are there, each merged once", m.From, m.Into)
		}
		to[from] = target
		b.g.Merges = append(b.g.Merges, m)
	}
	for k := range into {
		into[k] = to[into[k]]
	}
	return nil
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
