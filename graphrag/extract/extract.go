// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// Extractor finds the entities, triples and attributes of chunks. Some ask
// a model, others go by rules.
//
// Extract returns one extraction for each chunk, in the order of the chunks,
// with the chunk's ID and document; a chunk in which nothing was found has an
// empty one. On an error it returns no extractions: a batch is whole or it is
// not there. No chunks are no error.
//
// Spans are bytes of the chunk's Text, within it and on the boundaries of runes;
// an extractor that does not know a place leaves the span zero. The ends of a
// fact are among the names of the mentions of the same extraction. Text is
// hostile: whatever the bytes of a chunk, Extract does not panic.
//
// Extract is safe for concurrent use, and the same chunks give the same
// extractions whatever the concurrency. It returns promptly when ctx is
// cancelled, with an error that wraps that of ctx.
type Extractor interface {
	Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error)
}

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

// witness tells which names a passage bears out. Models name things in words of
// their own: "Bell Rock Lighthouse" where a page speaks of the Bell Rock, "Invention
// of the Flasher" where somebody invents one. To want the name as it stands loses a
// third of the entities of a careful model and half of its facts; to want half of
// its words, one in twenty, and still nothing comes from elsewhere.
type witness struct {
	folded string
	words  map[string]bool
}

// wordForms are the words of a text as forms of others: stems, without stop words.
func wordForms(s string) []string { return text.Default().Terms(s) }

func newWitness(c graphrag.Chunk) witness {
	w := witness{" " + kg.FoldUnicode.Key(c.Title) + " " + kg.FoldUnicode.Key(c.Text) + " ", make(map[string]bool)}
	for _, of := range []string{c.Title, c.Text} {
		for _, term := range wordForms(of) {
			w.words[term] = true
		}
	}
	return w
}

// bears tells whether a name stands in the passage, or at least half of its words.
func (w witness) bears(name string) bool {
	if strings.Contains(w.folded, kg.FoldUnicode.Key(name)) {
		return true
	}
	words, found := wordForms(name), 0
	for _, word := range words {
		if w.words[word] {
			found++
		}
	}
	return found > 0 && 2*found >= len(words)
}

// verify drops mentions, facts and attributes that the chunk does not bear out.
func verify(c graphrag.Chunk, x *kg.Extraction) {
	w := newWitness(c)
	dropped := func(kind, text string, names ...string) bool {
		for _, name := range names {
			if !w.bears(name) {
				problem(x, kind, text, "not in the passage: "+kg.Beginning(name))
				return true
			}
		}
		return false
	}
	x.Mentions = slices.DeleteFunc(x.Mentions, func(m kg.Mention) bool { return dropped("mention", m.Name, m.Name) })
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool { return dropped("fact", f.Head+" | "+f.Relation+" | "+f.Tail, f.Head, f.Tail) })
	x.Attributes = slices.DeleteFunc(x.Attributes, func(a kg.Attribute) bool { return dropped("attribute", a.Entity+" | "+a.Key, a.Entity) })
}
