// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/link"
)

// Expansion lets a schema grow while documents are read (Youtu-GraphRAG, equation
// 3, which leaves open what a score is). A name that the model
// proposes has the score
//
//	mean confidence · min(1, documents / MinDocs)
//
// and becomes part of the schema when that is Mu or more, so one document alone
// changes nothing. Proposals are weighed after every Batch documents, in the
// order of the documents' IDs, with all proposals up to then: the result does
// not depend on the order in which replies come.
type Expansion struct {
	// Mu μ is the least score; 0 means 0.9, which the released code has in the
	// text of its instruction (the paper gives μ no value).
	Mu float64
	// MinDocs is how many documents carry full weight; 0 means 2.
	MinDocs int
	// Batch is the number of documents between two expansions; 0 means 32.
	Batch int
	// Link, when set, finds names of what is in the schema already: with a likeness
	// of Novelty (0 means 0.95) or more a new name becomes an alias.
	Link    link.Linker
	Novelty float64
}

// withDefaults fills in the defaults and puts what is wrong into checks.
func (e Expansion) withDefaults(checks *opt.Checks) Expansion {
	e.Mu, e.MinDocs = cmp.Or(e.Mu, 0.9), cmp.Or(e.MinDocs, 2)
	e.Batch, e.Novelty = cmp.Or(e.Batch, 32), cmp.Or(e.Novelty, 0.95)
	checks.Want(e.Mu > 0 && e.Mu <= 1, "Mu", e.Mu, "more than 0, at most 1")
	checks.Want(e.Novelty > 0 && e.Novelty <= 1, "Novelty", e.Novelty, "more than 0, at most 1")
	opt.Min(checks, "MinDocs", e.MinDocs, 1)
	opt.Min(checks, "Batch", e.Batch, 1)
	return e
}

// proposal is a name that the model would like to have in the schema.
type proposal struct {
	Kind, Name string
	Confidence float64 // in 0..1, 1 if the model gave none
	Doc        string
}

// Kinds of proposals.
const (
	entityTypeKind = "entity type"
	relationKind   = "relation"
	attributeKind  = "attribute"
)

// Decision is what became of a name that the model proposed.
type Decision struct {
	// Kind is "entity type", "relation" or "attribute".
	Kind, Name string
	Docs       int
	Confidence float64 // the mean
	Score      float64
	Accepted   bool
	// Alias is the item of the schema that the name was found to mean.
	Alias string
}

// weigh decides on all proposals together. The decisions are sorted by kind and
// name; the schema that is returned holds what was accepted. What is new is so
// beside the schema as it was.
func (e Expansion) weigh(ctx context.Context, s Schema, proposals []proposal) (Schema, []Decision, error) {
	checks := opt.Checks{Of: "extract"}
	if e = e.withDefaults(&checks); checks.Err() != nil {
		return s, nil, checks.Err()
	}
	before := s.bounds()
	has := map[string]map[string]SchemaItem{entityTypeKind: before.types, relationKind: before.relations, attributeKind: before.attributes}
	near := make(map[string]link.NameIndex)
	s = s.clone()
	var decisions []Decision
	for _, of := range groups(proposals) {
		kind := of[0].Kind
		list := s.list(kind)
		if _, ok := has[kind][foldItem(of[0].Name)]; ok || list == nil || foldItem(of[0].Name) == "" {
			continue
		}
		if near[kind] == nil && e.Link != nil && len(*list) > 0 {
			var err error
			if near[kind], err = e.Link.Index(ctx, foldedNames(*list)); err != nil {
				return Schema{}, nil, fmt.Errorf("extract: comparing names with the schema: %w", err)
			}
		}
		d := e.score(of)
		if d.Accepted {
			at, err := e.alias(ctx, near[kind], d.Name)
			if err != nil {
				return Schema{}, nil, err
			}
			if at < 0 {
				*list = append(*list, SchemaItem{Name: d.Name})
			} else {
				it := &(*list)[at]
				it.Aliases = append(slices.Clone(it.Aliases), d.Name)
				d.Alias = it.Name
			}
		}
		decisions = append(decisions, d)
	}
	return s, decisions, nil
}

func foldedNames(of []SchemaItem) []string {
	names := make([]string, len(of))
	for i, it := range of {
		names[i] = foldItem(it.Name)
	}
	return names
}

func (s *Schema) list(kind string) *[]SchemaItem {
	switch kind {
	case entityTypeKind:
		return &s.EntityTypes
	case relationKind:
		return &s.Relations
	case attributeKind:
		return &s.Attributes
	}
	return nil
}

// groups are the proposals of each name, sorted.
func groups(proposals []proposal) [][]proposal {
	sorted := slices.Clone(proposals)
	slices.SortStableFunc(sorted, func(a, b proposal) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(foldItem(a.Name), foldItem(b.Name)),
			strings.Compare(a.Doc, b.Doc), strings.Compare(a.Name, b.Name), cmp.Compare(a.Confidence, b.Confidence))
	})
	var out [][]proposal
	for lo := 0; lo < len(sorted); {
		hi := lo
		for hi < len(sorted) && sorted[hi].Kind == sorted[lo].Kind && foldItem(sorted[hi].Name) == foldItem(sorted[lo].Name) {
			hi++
		}
		out = append(out, sorted[lo:hi])
		lo = hi
	}
	return out
}

func (e Expansion) score(of []proposal) Decision {
	d := Decision{Kind: of[0].Kind, Name: of[0].Name}
	sum := 0.0
	for i, p := range of {
		if i == 0 || p.Doc != of[i-1].Doc {
			d.Docs++
		}
		sum += p.Confidence
	}
	d.Confidence = sum / float64(len(of))
	d.Score = d.Confidence * math.Min(1, float64(d.Docs)/float64(e.MinDocs))
	d.Accepted = d.Score >= e.Mu
	return d
}

// alias is the place of the item that a name means, -1 if it is new.
func (e Expansion) alias(ctx context.Context, among link.NameIndex, name string) (int32, error) {
	if among == nil {
		return -1, nil
	}
	near, err := among.Nearest(ctx, foldItem(name), 1)
	if err != nil || len(near) == 0 || near[0].Score < e.Novelty {
		return -1, err
	}
	return near[0].ID, nil
}
