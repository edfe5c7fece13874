// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// The code compares (1+cosine)/2 with 0.9, 0.7 and 0.5; these are the cosines.
const (
	sameCosine    = 0.8 // of two entities that are one
	sameNearest   = 3   // neighbours that are compared
	namedCosine   = 0.4 // of a named entity and its one match
	genericCosine = 0.0 // of all other texts and their matches
	genericTop    = 20
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("fastgraphrag", promptFiles)

// StageQuestion names the calls that find the entities of a question in accounts.
const StageQuestion = "question entities"

// linker finds entities by name and by description.
type linker struct {
	key   func(entity int32) string
	ask   func(context.Context, string) (extract.Parts, error)
	link  link.Linker
	names link.NameIndex
	texts retrieve.Texts
}

func newLinker(ctx context.Context, k kit.Kit, c *kit.Corpus, described []kg.Description, keys, types []string) (*linker, error) {
	l := &linker{link: k.Link}
	var err error
	if l.key, err = kit.Keep(c, len(keys), func(e int32) string { return keys[e] }); err != nil {
		return nil, err
	}
	if l.names, err = k.Link.Index(ctx, keys); err != nil {
		return nil, err
	}
	texts := text.NewList(len(described), func(i int) string { return entityText(&c.Graph.Entities[i], described[i].Text) })
	if l.texts, err = c.Find(ctx, texts); err != nil {
		return nil, err
	}
	if l.ask = k.Decompose; l.ask != nil {
		return l, nil
	}
	known, err := c.Known()
	if err != nil {
		return nil, err
	}
	names, err := k.QuestionNames(known)
	l.ask = kit.Step(k.AnswerModel, byModel(types), func(ctx context.Context, text string) (extract.Parts, error) {
		named, err := names(ctx, text)
		return extract.Parts{Names: named, Themes: rules.Themes(text, named)}, err
	})
	return l, err
}

// entityText returns the text that an entity is found by.
func entityText(e *kg.Entity, description string) string {
	text := "[" + strings.ToUpper(e.Type) + "] " + strings.ToUpper(e.Name)
	if description != "" {
		text += "\n[DESCRIPTION] " + description
	}
	return text
}

// identities returns the pairs of equal entities: each entity with its nearest ones at or above the
// threshold that come after it.
func (l *linker) identities(ctx context.Context, keys []string) ([][2]int32, error) {
	near, err := l.link.Neighbors(ctx, keys, sameCosine, sameNearest)
	var same [][2]int32
	for e, of := range near {
		for _, n := range of {
			if n.ID > int32(e) {
				same = append(same, [2]int32{int32(e), n.ID})
			}
		}
	}
	return same, err
}

// byModel asks for the entities of a question. A reply that cannot be read has none: only the question
// itself is linked.
func byModel(types []string) func(llm.Model) func(context.Context, string) (extract.Parts, error) {
	return func(model llm.Model) func(context.Context, string) (extract.Parts, error) {
		return func(ctx context.Context, text string) (extract.Parts, error) {
			req, err := templates.Request(ctx, StageQuestion, "question", map[string]any{"Types": strings.ToUpper(strings.Join(types, ", "))}, prompts.Data{Label: "question", Text: text})
			if err != nil {
				return extract.Parts{}, err
			}
			found, _, err := replies.Decode[struct{ Named, Generic []string }](ctx, model, req)
			return extract.Parts{Names: found.Named, Themes: found.Generic}, llm.Fatal(err)
		}
	}
}

// seeds returns the entities to walk from: the entity of each name, and the entities nearest to each generic
// entity and to the whole question. The weights of each add up to 1; an entity has its largest weight.
func (l *linker) seeds(ctx context.Context, q graphrag.Question) ([]ppr.Seed, []graphrag.Step, error) {
	if l.texts.Len() == 0 || strings.TrimSpace(q.Text) == "" {
		return nil, nil, ctx.Err()
	}
	asked, err := l.ask(ctx, q.Text)
	if err != nil {
		return nil, nil, err
	}
	weights := make(map[int32]float64)
	var steps []graphrag.Step
	link := func(query string, find func(context.Context, string) ([]scored, error)) error {
		found, err := find(ctx, query)
		weigh(weights, found)
		step := graphrag.Step{Kind: "link", Query: query}
		for _, f := range found {
			step.Found = append(step.Found, l.key(f.ID))
		}
		steps = append(steps, step)
		return err
	}
	for _, name := range asked.Names {
		if err := link(name, l.named); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range append([]string{q.Text}, asked.Themes...) {
		if err := link(text, l.nearest); err != nil {
			return nil, nil, err
		}
	}
	seeds := make([]ppr.Seed, 0, len(weights))
	for e, w := range weights {
		seeds = append(seeds, ppr.Seed{Node: e, Weight: w})
	}
	slices.SortFunc(seeds, func(a, b ppr.Seed) int { return int(a.Node) - int(b.Node) })
	return seeds, steps, nil
}

// named returns the entity of a name. The model may write the type before the name.
func (l *linker) named(ctx context.Context, name string) ([]scored, error) {
	if end := strings.Index(name, "] "); strings.HasPrefix(name, "[") && end > 0 {
		name = name[end+2:]
	}
	near, err := l.names.Nearest(ctx, kg.FoldUnicode.Key(name), 1)
	var out []scored
	for _, n := range near {
		if n.Score >= namedCosine {
			out = append(out, scored{ID: n.ID, Score: similarity(n.Score)})
		}
	}
	return out, err
}

// nearest returns the entities with the texts most similar to a text.
func (l *linker) nearest(ctx context.Context, text string) ([]scored, error) {
	found, err := l.texts.Best(ctx, text, genericTop)
	var out []scored
	for _, f := range found {
		if f.Score >= genericCosine {
			out = append(out, scored{ID: f.ID, Score: similarity(f.Score)})
		}
	}
	return out, err
}

// similarity maps cosines to 0..1.
func similarity(cosine float64) float64 { return (1 + cosine) / 2 }

// weigh scales a row to the sum 1, and keeps the larger weight of each entity.
func weigh(weights map[int32]float64, row []scored) {
	sum := 0.0
	for _, r := range row {
		sum += r.Score
	}
	for _, r := range row {
		weights[r.ID] = max(weights[r.ID], r.Score/sum)
	}
}
