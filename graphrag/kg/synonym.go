// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"context"
	"errors"
	"fmt"
)

// Parameters of synonym edges (HippoRAG, arXiv 2405.14831, section 2.3, and the
// code of both versions).
const (
	DefaultSynonymThreshold = 0.8
	DefaultSynonymLimit     = 101 // the code stops when it has more than 100
	DefaultSynonymSize      = 3   // letters and digits: "more than 2"
)

// SynonymOptions for [Graph.Synonyms]; the zero value is HippoRAG's.
type SynonymOptions struct {
	// Threshold is the least similarity, Limit the most synonyms of one name,
	// MinSize the letters and digits a name must have to look for any; 0 is
	// the default of each.
	Threshold      float64
	Limit, MinSize int
	// Among, when set, are the entities that take part.
	Among []int32
}

// Synonym says that an entity has found another whose name is like its own. It
// has a direction: a name that is too short does not look for synonyms but may
// be one.
type Synonym struct {
	From, To int32
	Score    float64
}

// Synonyms compares the keys of the entities and returns the synonyms of each,
// sorted by From, then best first. Unlike a [Merge] it leaves the entities
// apart.
func (g *Graph) Synonyms(ctx context.Context, s Similarity, o SynonymOptions) ([]Synonym, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultSynonymThreshold
	}
	if o.Limit == 0 {
		o.Limit = DefaultSynonymLimit
	}
	if o.MinSize == 0 {
		o.MinSize = DefaultSynonymSize
	}
	var problems []error
	if !(o.Threshold > 0 && o.Threshold <= 1) {
		problems = append(problems, fmt.Errorf("kg: synonym threshold %v: want more than 0, at most 1", o.Threshold))
	}
	if o.Limit < 0 {
		problems = append(problems, fmt.Errorf("kg: synonym limit %d is negative", o.Limit))
	}
	if problems != nil {
		return nil, errors.Join(problems...)
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
		return nil, fmt.Errorf("kg: synonyms of %d entities: %w", len(names), err)
	}
	var out []Synonym
	for i, of := range near {
		if size(names[i]) < o.MinSize {
			continue
		}
		for _, n := range of {
			out = append(out, Synonym{among[i], among[n.ID], n.Score})
		}
	}
	return out, nil
}
