// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/llm"
)

// The code compares (1+cosine)/2 with 0.9, 0.7 and 0.5; these are the cosines.
const (
	sameCosine    = 0.8 // of two entities that are one
	sameNearest   = 3   // neighbours that are looked at
	namedCosine   = 0.4 // of a named entity and its one match
	genericCosine = 0.0 // of everything else and its matches
	genericTop    = 20
)

// StageQuestion names the calls that find the entities of a question in accounts.
const StageQuestion = "question entities"

// linker finds entities by what they are called and by what they are.
type linker struct {
	keys []string
	ask  func(context.Context, string) (question, error)
	// With vectors that know language:
	embedder embed.Embedder
	vectors  *baselines.Vectors
	// Without, nil with:
	spelling kg.Linker
	names    kg.NameIndex
	words    baselines.Texts
}

// question holds the named and the generic entities of one.
type question struct {
	Named, Generic []string
}

func newLinker(ctx context.Context, kit baselines.Kit, c baselines.Corpus, described []kg.Description) (*linker, error) {
	l := new(linker)
	texts := make([]string, len(described))
	for i, d := range described {
		e := &c.Graph.Entities[i]
		l.keys = append(l.keys, e.Key)
		texts[i] = entityText(e, d.Text, kit.Pretrained)
	}
	var err error
	if kit.Pretrained {
		err = l.embed(ctx, kit, texts)
	} else {
		err = l.spell(ctx, kit, texts)
	}
	if err != nil {
		return nil, err
	}
	if kit.Model != nil {
		l.ask = func(ctx context.Context, text string) (question, error) { return byModel(ctx, kit.Model, text) }
		return l, nil
	}
	names, err := kit.Entities(func(folded string) bool { _, ok := c.Graph.Find(folded); return ok })
	l.ask = func(ctx context.Context, text string) (question, error) {
		named, err := names(ctx, text)
		return question{named, baselines.Themes(text, named)}, err
	}
	return l, err
}

// entityText is what an entity is found by. Words are looked up without its type:
// they would be those of every entity of that type.
func entityText(e *kg.Entity, description string, typed bool) string {
	if !typed {
		return e.Name + "\n" + description
	}
	text := "[" + strings.ToUpper(e.Type) + "] " + strings.ToUpper(e.Name)
	if description != "" {
		text += "\n[DESCRIPTION] " + description
	}
	return text
}

func (l *linker) embed(ctx context.Context, kit baselines.Kit, texts []string) (err error) {
	if l.embedder, err = kit.Embedder(ctx, nil); err == nil {
		l.vectors, err = baselines.NewVectors(ctx, l.embedder, texts)
	}
	return err
}

func (l *linker) spell(ctx context.Context, kit baselines.Kit, texts []string) (err error) {
	if l.spelling, err = kit.Linker(ctx); err != nil {
		return err
	}
	if l.names, err = l.spelling.Index(ctx, l.keys); err != nil {
		return err
	}
	l.words, err = kit.Texts(ctx, texts)
	return err
}

// identities are the pairs of entities that are one: of the nearest of each,
// those at or above the threshold that come after it.
func (l *linker) identities(ctx context.Context) ([][2]int32, error) {
	var same [][2]int32
	add := func(e int, other int32, cosine float64) {
		if other > int32(e) && cosine >= sameCosine {
			same = append(same, [2]int32{int32(e), other})
		}
	}
	if l.spelling != nil {
		near, err := l.spelling.Neighbors(ctx, l.keys, sameCosine, sameNearest)
		for e, of := range near {
			for _, n := range of {
				add(e, n.ID, n.Score)
			}
		}
		return same, err
	}
	near, err := l.vectors.Neighbors(ctx, sameNearest)
	for e, of := range near {
		for _, n := range of {
			add(e, n.ID, float64(n.Score))
		}
	}
	return same, err
}

// byModel asks for the entities of a question. A reply that cannot be read is
// none: the question itself is linked all the same.
func byModel(ctx context.Context, model llm.Model, text string) (question, error) {
	req, err := prompts.Request(StageQuestion, "question", nil, llm.Data{Label: "question", Text: text})
	if err != nil {
		return question{}, err
	}
	req.JSON = true
	found, _, err := llm.Decode[question](ctx, model, req)
	return found, baselines.IfUsable(err)
}

// seeds are the entities to walk from. Each name has the entity it means, and
// each generic entity and the question as a whole those nearest to it; all weigh
// the same together, and an entity weighs what it weighs most for one of them.
func (l *linker) seeds(ctx context.Context, q graphrag.Question) ([]ppr.Seed, error) {
	if len(l.keys) == 0 || strings.TrimSpace(q.Text) == "" {
		return nil, ctx.Err()
	}
	asked, err := l.ask(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	weights := make(map[int32]float64)
	for _, name := range asked.Named {
		row, err := l.named(ctx, name)
		if err != nil {
			return nil, err
		}
		weigh(weights, row)
	}
	queries := []string{q.Text}
	for _, g := range asked.Generic {
		if l.spelling == nil {
			g = "[NONE] " + g
		}
		queries = append(queries, g)
	}
	for _, text := range queries {
		row, err := l.nearest(ctx, text, genericTop, genericCosine)
		if err != nil {
			return nil, err
		}
		weigh(weights, row)
	}
	seeds := make([]ppr.Seed, 0, len(weights))
	for e, w := range weights {
		seeds = append(seeds, ppr.Seed{Node: e, Weight: w})
	}
	slices.SortFunc(seeds, func(a, b ppr.Seed) int { return int(a.Node) - int(b.Node) })
	return seeds, nil
}

// named is the entity a name means.
func (l *linker) named(ctx context.Context, name string) ([]scored, error) {
	if l.spelling == nil {
		return l.nearest(ctx, strings.ToUpper(name), 1, namedCosine)
	}
	if end := strings.Index(name, "] "); strings.HasPrefix(name, "[") && end > 0 {
		name = name[end+2:]
	}
	near, err := l.names.Nearest(ctx, kg.FoldUnicode.Key(name), 1)
	var out []scored
	for _, n := range near {
		if n.Score >= namedCosine {
			out = append(out, scored{n.ID, similarity(n.Score)})
		}
	}
	return out, err
}

// nearest are the entities whose texts are most like another text. Offline there
// is no cosine; the share of the best score stands in for it.
func (l *linker) nearest(ctx context.Context, text string, k int, cosine float64) ([]scored, error) {
	var out []scored
	if l.words != nil {
		found, err := l.words.Best(ctx, text, k)
		for _, r := range found {
			out = append(out, scored{r.ID, similarity(r.Score)})
		}
		return out, err
	}
	query, err := l.embedder.EmbedQuery(ctx, text)
	if err != nil || !slices.ContainsFunc(query, func(x float32) bool { return x != 0 }) {
		return nil, err
	}
	found, err := l.vectors.Best(query, k)
	for _, r := range found {
		if s := float64(r.Score); s >= cosine {
			out = append(out, scored{r.ID, similarity(s)})
		}
	}
	return out, err
}

// similarity takes cosines to 0..1.
func similarity(cosine float64) float64 { return (1 + cosine) / 2 }

// weigh scales a row to sum 1 and keeps the larger weights.
func weigh(weights map[int32]float64, row []scored) {
	sum := 0.0
	for _, r := range row {
		sum += r.Score
	}
	for _, r := range row {
		weights[r.ID] = max(weights[r.ID], r.Score/sum)
	}
}
