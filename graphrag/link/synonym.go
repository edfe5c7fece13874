// SPDX-License-Identifier: Apache-2.0

package link

import (
	"cmp"
	"context"
	"fmt"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Parameters of synonym edges (HippoRAG, arXiv 2405.14831, section 2.3, and the
// code of both versions).
const (
	DefaultSynonymThreshold = 0.8
	DefaultSynonymLimit     = 101 // the code stops when it has more than 100
	DefaultSynonymSize      = 3   // letters and digits: "more than 2"
)

// SynonymOptions for [Synonyms]; the zero value is HippoRAG's.
type SynonymOptions struct {
	// Threshold is the least similarity, Limit the most synonyms of one name,
	// MinSize the letters and digits a name must have to look for any; 0 is
	// the default of each.
	Threshold      float64
	Limit, MinSize int
	// Among, when set, are the entities that take part.
	Among []int32
}

func (o SynonymOptions) withDefaults() SynonymOptions {
	o.Threshold = cmp.Or(o.Threshold, DefaultSynonymThreshold)
	o.Limit, o.MinSize = cmp.Or(o.Limit, DefaultSynonymLimit), cmp.Or(o.MinSize, DefaultSynonymSize)
	return o
}

// Check reports all that is wrong with the options.
func (o SynonymOptions) Check() error {
	o = o.withDefaults()
	c := opt.Checks{Of: "link: synonyms"}
	c.Want(o.Threshold > 0 && o.Threshold <= 1, "Threshold", o.Threshold, "more than 0, at most 1")
	opt.Min(&c, "Limit", o.Limit, 0)
	opt.Min(&c, "MinSize", o.MinSize, 0)
	return c.Err()
}

// Synonyms compares the keys of the entities and returns the synonyms of each,
// sorted by From, then best first. Unlike a kg.Merge it leaves the entities
// apart.
func Synonyms(ctx context.Context, g *kg.Graph, s Similarity, o SynonymOptions) ([]kg.Synonym, error) {
	o = o.withDefaults()
	if err := o.Check(); err != nil {
		return nil, err
	}
	among := o.Among
	if among == nil {
		among = make([]int32, len(g.Entities))
		for i := range among {
			among[i] = int32(i)
		}
	}
	names := make([]string, len(among))
	for i, e := range among {
		names[i] = g.Entities[e].Key
	}
	near, err := s.Neighbors(ctx, names, o.Threshold, o.Limit)
	if err != nil {
		return nil, fmt.Errorf("link: synonyms of %d entities: %w", len(names), err)
	}
	var out []kg.Synonym
	for i, of := range near {
		if size(names[i]) < o.MinSize {
			continue
		}
		for _, n := range of {
			out = append(out, kg.Synonym{From: among[i], To: among[n.ID], Score: n.Score})
		}
	}
	return out, nil
}

// size measures how much a name says: letters and digits, those of scripts
// that write a word with one or two signs double.
func size(name string) int {
	n := 0
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return n
}
