// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// SchemaMode says what happens to names that the schema does not contain.
type SchemaMode string

const (
	// Strict drops names that the schema lacks (the paper's equation 2). It is the default.
	Strict SchemaMode = "strict"
	// Prefer keeps names that the schema lacks (as the released code does) and records them as problems.
	Prefer SchemaMode = "prefer"
)

// SchemaOptions are the options of [NewBySchema].
type SchemaOptions struct {
	ModelOptions
	// By, when set, extracts in place of a model: the schema limits its findings, and names that the schema
	// lacks are proposed with confidence 1.
	By     Extractor
	Schema Schema
	// Mode is the treatment of unknown names; "" means Strict.
	Mode SchemaMode
	// Expand, when set, lets the schema grow.
	Expand *Expansion
}

// BySchema extracts what a schema allows, with a model by one call per chunk (Youtu-GraphRAG, section 3.1).
type BySchema struct{ o SchemaOptions }

// NewBySchema returns an extractor with the given options. It fails if one of them is invalid.
func NewBySchema(o SchemaOptions) (*BySchema, error) {
	o.Mode = cmp.Or(o.Mode, Strict)
	checks := opt.Checks{Of: "extract"}
	if o.By == nil {
		o.check(&checks)
	}
	checks.Want(o.Mode == Strict || o.Mode == Prefer, "Mode", o.Mode, "strict or prefer")
	checks.Want(len(o.Schema.EntityTypes) > 0, "Schema", "without entity types", "one or more")
	if o.Expand != nil {
		e := o.Expand.withDefaults(&checks)
		o.Expand = &e
	}
	if err := errors.Join(checks.Err(), o.Schema.check(nil)); err != nil {
		return nil, err
	}
	return &BySchema{o}, nil
}

// Extract implements [Extractor]. With Expand the schema grows during the call; the next
// call starts from the schema of the options again.
func (e *BySchema) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out, _, err := e.Grow(ctx, chunks)
	return out, err
}

// Grow is Extract that also returns how the schema grew. Without Expand, the schema of the options is returned.
func (e *BySchema) Grow(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, Growth, error) {
	grown := Growth{Seed: e.o.Schema.Plain(), Schema: e.o.Schema}
	out := make([]kg.Extraction, len(chunks))
	source, expand := e.sources(chunks)
	var free []kg.Extraction // extractions of By, if it is set
	if e.o.By != nil {
		var err error
		if free, err = e.o.By.Extract(ctx, chunks); err != nil {
			return nil, grown, err
		}
	}
	found := make([][]proposal, len(chunks))
	var proposals []proposal
	for _, batch := range e.batches(chunks, source) {
		part := make([]graphrag.Chunk, len(batch))
		at := make(map[string]int, len(batch))
		for i, c := range batch {
			part[i] = chunks[c]
			at[chunks[c].ID] = c
		}
		extractions, err := e.o.raw(ctx, part, func(ctx context.Context, c graphrag.Chunk, x *kg.Extraction) (err error) {
			i := at[c.ID]
			if free != nil {
				*x = free[i]
				found[i] = e.lacking(x)
				return nil
			}
			found[i], err = e.chunk(ctx, grown.Schema, c, x)
			return err
		})
		if err != nil {
			return nil, grown, err
		}
		for _, c := range batch {
			for _, p := range found[c] {
				p.Doc = source(chunks[c])
				proposals = append(proposals, p)
			}
		}
		if e.o.Expand != nil {
			if grown, err = expand.weigh(ctx, grown, proposals); err != nil {
				return nil, grown, err
			}
		}
		within := grown.Schema.bounds() // the batch may already use names that it added to the schema
		for i, c := range batch {
			within.apply(&extractions[i], e.o.Mode == Strict, e.o.By != nil)
			e.o.finish(chunks[c], &extractions[i])
			out[c] = extractions[i]
		}
	}
	return out, grown, nil
}

// sources returns the function that names the source of a chunk, as the expansion counts sources: its document,
// or, if the corpus has fewer documents than MinDocs, its passage. With fewer passages as well, MinDocs falls
// to their number.
func (e *BySchema) sources(chunks []graphrag.Chunk) (func(graphrag.Chunk) string, Expansion) {
	of := func(c graphrag.Chunk) string { return c.Doc }
	if e.o.Expand == nil {
		return of, Expansion{}
	}
	docs := make(map[string]bool)
	for _, c := range chunks {
		docs[c.Doc] = true
	}
	expand := *e.o.Expand
	if len(docs) < expand.MinDocs {
		of = func(c graphrag.Chunk) string { return c.ID }
		expand.MinDocs = max(1, min(expand.MinDocs, len(chunks)))
	}
	return of, expand
}

// batches returns the indexes of the chunks in groups of Batch sources, by document and chunk ID. Without
// expansion there is one group.
func (e *BySchema) batches(chunks []graphrag.Chunk, source func(graphrag.Chunk) string) [][]int {
	order := make([]int, len(chunks))
	for i := range order {
		order[i] = i
	}
	if e.o.Expand == nil {
		return [][]int{order}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(chunks[a].Doc, chunks[b].Doc), strings.Compare(chunks[a].ID, chunks[b].ID))
	})
	var out [][]int
	docs := 0
	for i, c := range order {
		if i == 0 || source(chunks[c]) != source(chunks[order[i-1]]) {
			if docs%e.o.Expand.Batch == 0 {
				out = append(out, nil)
			}
			docs++
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// bounded is the model's reply for one chunk.
type bounded struct {
	Attributes map[string][]string `json:"attributes"` // "key: value" by entity
	Triples    []replies.Triple    `json:"triples"`
	Types      map[string]string   `json:"entity_types"` // entity → type
	New        struct {
		Nodes, Relations, Attributes []newName
	} `json:"new_schema_types,omitempty"` // asked for if Expand is set
}

// newName is a name that the schema lacks.
type newName struct {
	Name       string `llm:"alone"`
	Confidence *float64
}

// chunk extracts from one chunk with the model and returns the names that the reply proposes.
func (e *BySchema) chunk(ctx context.Context, s Schema, c graphrag.Chunk, x *kg.Extraction) ([]proposal, error) {
	plain, err := json.Marshal(s.Plain())
	if err != nil {
		return nil, err
	}
	req, err := templates.Request(ctx, StageSchema, "schema", map[string]any{
		"Expand": e.o.Expand != nil, "Strict": e.o.Mode == Strict,
	}, passage(c), prompts.Data{Label: "schema", Text: string(plain)})
	if err != nil {
		return nil, err
	}
	found, err := decode[bounded](ctx, e.o.Model, req, x)
	if err != nil {
		return nil, err
	}
	found.read(x)
	if e.o.Expand == nil {
		return nil, nil
	}
	return slices.Concat(proposed(entityTypeKind, c.Doc, found.New.Nodes), proposed(relationKind, c.Doc, found.New.Relations),
		proposed(attributeKind, c.Doc, found.New.Attributes)), nil
}

// lacking proposes the names of an extraction that By made, if the schema may grow. It copies the lists of the
// extraction, because By may share them with other callers.
func (e *BySchema) lacking(x *kg.Extraction) []proposal {
	var out []proposal
	if e.o.Expand != nil {
		propose := func(kind, name string) {
			if p := (proposal{Kind: kind, Name: name, Confidence: 1, Doc: x.Doc}); foldItem(name) != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		for _, m := range x.Mentions {
			propose(entityTypeKind, m.Type)
		}
		for _, f := range x.Facts {
			propose(relationKind, f.Relation)
		}
		for _, a := range x.Attributes {
			propose(attributeKind, a.Key)
		}
	}
	x.Mentions, x.Facts, x.Attributes = slices.Clone(x.Mentions), slices.Clone(x.Facts), slices.Clone(x.Attributes)
	x.Problems = slices.Clip(x.Problems)
	return out
}

// read adds the reply's entities, triples and attributes to an extraction.
func (b bounded) read(x *kg.Extraction) {
	for _, name := range slices.Sorted(maps.Keys(b.Types)) {
		if n := cleanName(name); n != "" {
			x.Mentions = append(x.Mentions, kg.Mention{Name: n, Type: strings.TrimSpace(b.Types[name])})
		}
	}
	readTriples(b.Triples, slices.Collect(maps.Keys(b.Types)), x)
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		for _, written := range b.Attributes[name] {
			key, value, _ := strings.Cut(written, ":")
			addAttribute(cleanName(name), key, value, x)
		}
	}
}

func addAttribute(entity, key, value string, x *kg.Extraction) {
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if entity == "" || key == "" || value == "" {
		problem(x, "record", entity+" | "+key+" | "+value, "an attribute has an entity, a key and a value")
		return
	}
	x.Attributes = append(x.Attributes, kg.Attribute{Entity: entity, Key: key, Value: value})
}

// proposed returns the new names of a reply as proposals, with the model's confidence.
func proposed(kind, doc string, found []newName) []proposal {
	var out []proposal
	for _, n := range found {
		p := proposal{Kind: kind, Name: strings.TrimSpace(n.Name), Confidence: 1, Doc: doc}
		if n.Confidence != nil {
			p.Confidence = max(0, min(1, *n.Confidence))
		}
		if foldItem(p.Name) != "" {
			out = append(out, p)
		}
	}
	return out
}

// Expansion lets a schema grow while documents are read (Youtu-GraphRAG, equation 3, which does not define the
// score). A name that the model proposes has the score
//
//	mean confidence · min(1, documents / MinDocs)
//
// and becomes part of the schema if the score is at least Mu, so a single document rarely changes the schema.
// In a corpus with fewer documents than MinDocs, passages count as documents. After every Batch documents, in
// the order of their IDs, all proposals so far are scored: the result does not depend on the order of the
// replies. Accepted names are also allowed in the batch that proposed them.
type Expansion struct {
	// Mu is the threshold μ of the score; 0 means 0.9, which the prompt of the released code contains (the
	// paper gives μ no value).
	Mu float64 `source:"its program" default:"0.9"`
	// MinDocs is the number of documents from which the score is not reduced; 0 means 2.
	MinDocs int `default:"2" min:"1"`
	// Batch is the number of documents after which the schema is expanded; 0 means 32.
	Batch int `default:"32" min:"1"`
	// Link, when set, compares new names with names of the schema: at a similarity of Novelty or more (0 means
	// 0.95) a new name becomes an alias.
	Link    link.Linker
	Novelty float64 `default:"0.95"`
}

// withDefaults returns e with its defaults filled in, and adds a problem to checks for each invalid field.
func (e Expansion) withDefaults(checks *opt.Checks) Expansion {
	checks.Fill(&e)
	checks.Want(e.Mu > 0 && e.Mu <= 1, "Mu", e.Mu, "more than 0, at most 1")
	checks.Want(e.Novelty > 0 && e.Novelty <= 1, "Novelty", e.Novelty, "more than 0, at most 1")
	return e
}

// proposal is a name that the model proposes for the schema.
type proposal struct {
	Kind, Name string
	Confidence float64 // from 0 to 1; 1 if the model gave none
	Doc        string
}

// Kinds of names in a proposal.
const (
	entityTypeKind = "entity type"
	relationKind   = "relation"
	attributeKind  = "attribute"
)

// Growth records how a schema grew.
type Growth struct {
	// Seed holds the names of the three lists before the growth, Schema the items after it.
	Seed   map[string][]string
	Schema Schema
	// Decisions lists the accepted proposals in order of acceptance, then the rejected ones by kind and name.
	Decisions []Decision
}

// MarshalJSON returns a schema that [ReadSchema] reads, with Seed and Decisions in an additional field.
func (g Growth) MarshalJSON() ([]byte, error) {
	out := map[string]any{"Growth": map[string]any{"Seed": g.Seed, "Decisions": g.Decisions}}
	for list, names := range g.Schema.Plain() {
		out[list] = names
	}
	return json.Marshal(out)
}

// Decision says whether the proposals of one name were accepted.
type Decision struct {
	Kind string `json:"kind"` // "entity type", "relation" or "attribute"
	Name string `json:"name"`
	// Score is compared with [Expansion].Mu; Documents is the number of documents that proposed the name.
	Score     float64 `json:"score"`
	Documents int     `json:"documents"`
	Accepted  bool    `json:"accepted"`
	// AliasOf names the item that got the accepted name as an alias, "" if the name became an item.
	AliasOf string `json:"alias_of,omitempty"`
}

// weigh returns the growth with the proposals that are accepted now. Each proposal is compared with the schema
// before the call, not with other proposals.
func (e Expansion) weigh(ctx context.Context, from Growth, proposals []proposal) (Growth, error) {
	s := from.Schema
	before := s.bounds()
	has := map[string]map[string]SchemaItem{entityTypeKind: before.types, relationKind: before.relations, attributeKind: before.attributes}
	near := make(map[string]link.NameIndex)
	s = Schema{slices.Clone(s.EntityTypes), slices.Clone(s.Relations), slices.Clone(s.Attributes)} // copies, because names are appended
	out := Growth{Seed: from.Seed}
	var rejected []Decision
	for _, d := range from.Decisions {
		if d.Accepted {
			out.Decisions = append(out.Decisions, d)
		}
	}
	for _, of := range groups(proposals) {
		kind := of[0].Kind
		list := s.list(kind)
		if _, ok := has[kind][foldItem(of[0].Name)]; ok || list == nil || foldItem(of[0].Name) == "" {
			continue
		}
		if near[kind] == nil && e.Link != nil && len(*list) > 0 {
			var err error
			if near[kind], err = e.Link.Index(ctx, foldedNames(*list)); err != nil {
				return from, fmt.Errorf("extract: comparing names with the schema: %w", err)
			}
		}
		d := Decision{Kind: kind, Name: of[0].Name}
		if d.Score, d.Documents = e.score(of); d.Score < e.Mu {
			rejected = append(rejected, d)
			continue
		}
		d.Accepted = true
		at, err := e.alias(ctx, near[kind], d.Name)
		if err != nil {
			return from, err
		}
		if at < 0 {
			*list = append(*list, SchemaItem{Name: d.Name})
		} else {
			it := &(*list)[at]
			it.Aliases, d.AliasOf = append(slices.Clone(it.Aliases), d.Name), it.Name
		}
		out.Decisions = append(out.Decisions, d)
	}
	out.Schema, out.Decisions = s, append(out.Decisions, rejected...)
	return out, nil
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

// groups returns the proposals in groups of one kind and name, sorted.
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

// score returns the score of the proposals of one name, sorted by document, and the number of their documents.
func (e Expansion) score(of []proposal) (score float64, docs int) {
	sum := 0.0
	for i, p := range of {
		if i == 0 || p.Doc != of[i-1].Doc {
			docs++
		}
		sum += p.Confidence
	}
	return sum / float64(len(of)) * math.Min(1, float64(docs)/float64(e.MinDocs)), docs
}

// alias returns the index of the schema item that the name is an alias of, -1 if the name is new.
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
