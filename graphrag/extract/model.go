// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// Stages name the calls in accounts.
const (
	StageEntities = "extract entities"
	StageTriples  = "extract triples"
	StageRecords  = "extract records"
	StageGlean    = "extract more records"
	StageSchema   = "extract by schema"
)

// ModelOptions are common to the extractors that ask a model.
type ModelOptions struct {
	// Model is required.
	Model llm.Model
	// Concurrency is the number of chunks at a time; 0 means 8. It has no effect
	// on the result.
	Concurrency int
	// Verify leaves out names that the chunk does not bear out, and what is said of
	// them, as models write names from memory and from examples: of a name's words,
	// stop words aside, half must stand in the chunk or its title in some form.
	Verify bool
}

// check puts what is wrong into checks.
func (o ModelOptions) check(checks *opt.Checks) {
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	opt.Min(checks, "Concurrency", o.Concurrency, 0)
}

// each calls one for every chunk and returns the results in order. A chunk that
// the model cannot do, because its reply is unusable, cut or refused, has an
// extraction with that problem; any other error ends the work.
func (o ModelOptions) each(ctx context.Context, chunks []graphrag.Chunk, one func(context.Context, graphrag.Chunk, *kg.Extraction) error) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	err := par.Each(ctx, len(chunks), cmp.Or(o.Concurrency, 8), func(i int) error {
		c := chunks[i]
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		if strings.TrimSpace(c.Text) == "" {
			return nil
		}
		err := one(ctx, c, &out[i])
		if llm.OfOneReply(err) {
			problem(&out[i], failure(err), c.Text, err.Error())
			return nil
		}
		if err != nil {
			return fmt.Errorf("chunk %s: %w", c.ID, err)
		}
		return nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	for i := range out {
		if o.Verify {
			verify(chunks[i], &out[i])
		}
		nameEnds(&out[i])
	}
	return out, nil
}

// failure is the kind of problem that a chunk without a usable reply is.
func failure(err error) string {
	if errors.Is(err, llm.ErrRefused) || errors.Is(err, llm.ErrFiltered) {
		return kg.ProblemRefused
	}
	return kg.ProblemChunk
}

func problem(x *kg.Extraction, kind, text, reason string) {
	x.Problems = append(x.Problems, kg.Problem{Kind: kind, Text: kg.Beginning(text), Reason: reason})
}

// nameEnds makes the ends of facts and the holders of attributes mentions.
func nameEnds(x *kg.Extraction) {
	have := make(map[string]bool, len(x.Mentions))
	for _, m := range x.Mentions {
		have[m.Name] = true
	}
	add := func(name string) {
		if !have[name] {
			have[name] = true
			x.Mentions = append(x.Mentions, kg.Mention{Name: name})
		}
	}
	for _, f := range x.Facts {
		add(f.Head)
		add(f.Tail)
	}
	for _, a := range x.Attributes {
		add(a.Entity)
	}
}

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// passage is a chunk as it stands in a prompt: title and text.
func passage(c graphrag.Chunk) llm.Data {
	text := c.Text
	if c.Title != "" && !strings.HasPrefix(text, c.Title) {
		text = c.Title + "\n" + text
	}
	return llm.Data{Label: "passage", Text: text}
}
