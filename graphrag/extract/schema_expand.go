// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Parameters of schema expansion (Youtu-GraphRAG, equation 3). The paper gives μ
// no value; the code has 0.9 in the text of its instruction. What a score is,
// and the rest, is ours: see [Expansion].
const (
	DefaultMu      = 0.9
	DefaultMinDocs = 2
	DefaultNovelty = 0.95
	DefaultBatch   = 32
)

// Expansion lets a schema grow while documents are read. A name that the model
// proposes has the score
//
//	mean confidence · min(1, documents / MinDocs)
//
// and becomes part of the schema when that is Mu or more, so one document alone
// changes nothing. Proposals are weighed after every Batch documents, in the
// order of the documents' IDs, with all proposals up to then: the result does
// not depend on the order in which replies come.
type Expansion struct {
	// Mu is the least score, MinDocs the documents that carry full weight, 0
	// for the default of each.
	Mu      float64
	MinDocs int
	// Batch is the number of documents between two expansions, 0 for
	// DefaultBatch.
	Batch int
	// Embedder, when set, tells a new name from another name of what is there:
	// with a cosine of Novelty (0 for DefaultNovelty) or more it becomes an
	// alias.
	Embedder embed.Embedder
	Novelty  float64
}

func (e Expansion) withDefaults() (Expansion, error) {
	e.Mu, e.MinDocs = cmp.Or(e.Mu, DefaultMu), cmp.Or(e.MinDocs, DefaultMinDocs)
	e.Batch, e.Novelty = cmp.Or(e.Batch, DefaultBatch), cmp.Or(e.Novelty, DefaultNovelty)
	var problems []error
	if !(e.Mu > 0 && e.Mu <= 1) {
		problems = append(problems, fmt.Errorf("extract: Mu %v: want more than 0, at most 1", e.Mu))
	}
	if !(e.Novelty > 0 && e.Novelty <= 1) {
		problems = append(problems, fmt.Errorf("extract: Novelty %v: want more than 0, at most 1", e.Novelty))
	}
	if e.MinDocs < 0 || e.Batch < 0 {
		problems = append(problems, fmt.Errorf("extract: MinDocs %d, Batch %d: want 1 or more", e.MinDocs, e.Batch))
	}
	return e, errors.Join(problems...)
}

// Proposal is a name that the model would like to have in the schema.
type Proposal struct {
	// Kind is "entity type", "relation" or "attribute".
	Kind, Name string
	// Confidence is in 0..1, 1 if the model gave none.
	Confidence float64
	Doc        string
}

// Kinds of proposals.
const (
	KindEntityType = "entity type"
	KindRelation   = "relation"
	KindAttribute  = "attribute"
)

// Decision is what became of a proposed name.
type Decision struct {
	Kind, Name string
	Docs       int
	Confidence float64 // the mean
	Score      float64
	Accepted   bool
	// Alias is the item of the schema that the name was found to mean.
	Alias string
}

// Weigh decides on all proposals together. The decisions are sorted by kind and
// name; the schema that is returned holds what was accepted.
func (e Expansion) Weigh(ctx context.Context, s Schema, proposals []Proposal) (Schema, []Decision, error) {
	e, err := e.withDefaults()
	if err != nil {
		return s, nil, err
	}
	s = s.clone()
	var decisions []Decision
	for _, of := range groups(proposals) {
		list := s.list(of[0].Kind)
		if list == nil || foldItem(of[0].Name) == "" {
			continue
		}
		if _, ok := find(*list, of[0].Name); ok {
			continue
		}
		d := e.score(of)
		if d.Accepted {
			if d.Alias, err = e.alias(ctx, *list, d.Name); err != nil {
				return Schema{}, nil, err
			}
			if d.Alias != "" {
				i := slices.IndexFunc(*list, func(it SchemaItem) bool { return it.Name == d.Alias })
				(*list)[i].Aliases = append(slices.Clone((*list)[i].Aliases), d.Name)
			} else {
				*list = append(*list, SchemaItem{Name: d.Name})
			}
		}
		decisions = append(decisions, d)
	}
	return s, decisions, nil
}

func (s *Schema) list(kind string) *[]SchemaItem {
	switch kind {
	case KindEntityType:
		return &s.EntityTypes
	case KindRelation:
		return &s.Relations
	case KindAttribute:
		return &s.Attributes
	}
	return nil
}

// groups are the proposals of each name, sorted.
func groups(proposals []Proposal) [][]Proposal {
	sorted := slices.Clone(proposals)
	slices.SortStableFunc(sorted, func(a, b Proposal) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(foldItem(a.Name), foldItem(b.Name)),
			strings.Compare(a.Doc, b.Doc), strings.Compare(a.Name, b.Name), cmp.Compare(a.Confidence, b.Confidence))
	})
	var out [][]Proposal
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

func (e Expansion) score(of []Proposal) Decision {
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

// alias finds the item that a name means, "" if it is new.
func (e Expansion) alias(ctx context.Context, of []SchemaItem, name string) (string, error) {
	if e.Embedder == nil || len(of) == 0 {
		return "", nil
	}
	texts := []string{name}
	for _, it := range of {
		texts = append(texts, it.Name)
	}
	v, err := e.Embedder.EmbedDocuments(ctx, texts)
	if err == nil && len(v) != len(texts) {
		err = fmt.Errorf("%d vectors for %d names", len(v), len(texts))
	}
	if err != nil {
		return "", fmt.Errorf("extract: comparing %q with the schema: %w", name, err)
	}
	best, at := 0.0, -1
	for i := range of {
		if c := vector.Cosine(v[0], v[i+1]); c >= e.Novelty && c > best {
			best, at = c, i
		}
	}
	if at < 0 {
		return "", nil
	}
	return of[at].Name, nil
}
