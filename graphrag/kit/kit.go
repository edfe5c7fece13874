// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/llm"
)

// Kit is the set of parts a system is built from, by role.
type Kit struct {
	// Index and Answer name the kinds of the parts that build and of those that
	// answer: NameOffline or NameModel.
	Index, Answer string

	// Embed returns the embedder of a corpus. Embedders that learn from the corpus
	// are fitted to its texts; the others ignore them.
	Embed func(ctx context.Context, corpus []string) (embed.Embedder, error)
	// Find makes an index that compares questions with texts: what "most like the
	// question" means, the same for all systems. Lookup names it in reports.
	Find   Finder
	Lookup string
	// Encoder names what embeds: LSA, or the embedder.
	Encoder string
	// Dim is the length of the embedder's vectors, 0 if it is not known before
	// something is embedded.
	Dim int
	// Trained tells that the embedder was trained on language, and knows more of a text
	// than its words in the corpus.
	Trained bool

	// Entities extracts names, Triples names and facts, Records names and facts
	// with descriptions.
	Entities func() (Extraction, error)
	Triples  func() (Extraction, error)
	Records  func(extract.RecordOptions) (Extraction, error)
	// Link compares names with each other.
	Link link.Linker
	// Describe makes one description, of about so many tokens, of many.
	Describe func(tokens int) (Describer, error)
	// Report writes what a community is about.
	Report report.Reporter
	// IndexModel takes the steps of building that only one recipe knows; nil: the
	// recipe's rules do.
	IndexModel llm.Model

	// QuestionNames returns the function that finds the named entities of a
	// question. known tells the folded names of the graph, for questions that write
	// none in capitals; it may be nil.
	QuestionNames func(known func(folded string) bool) (NameFinder, error)
	// Decompose takes a question apart; nil leaves it to the recipe, which asks the
	// AnswerModel in its own words or goes by QuestionNames.
	Decompose func(ctx context.Context, question string) (Parts, error)
	// Filter chooses among the facts found for a question, by their places, in the
	// order they are wanted; nil leaves it to the recipe: the AnswerModel, or all.
	Filter func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error)
	// AnswerModel takes the steps of answering that only one recipe knows, such as
	// the filter of HippoRAG 2; nil: the recipe's rules do.
	AnswerModel llm.Model
	// Read answers from evidence.
	Read reader.Reader

	// Language is that of what models write; "" is that of their sources.
	Language string

	// Count counts tokens, the same everywhere.
	Count func(text string) int
	// MaxContext limits what a prompt holds as evidence, in tokens; 0 is no limit.
	MaxContext int
	// Place is where indexes are: in memory, or in a store, in which texts are found by
	// the vectors of the embedder.
	Place Place

	quoters *quoters // see Quoter
}

// The kinds of parts.
const (
	NameOffline = "offline"
	NameModel   = "model"
)

// Name tells the kinds of the parts: "offline", "model", or both, those that
// build first.
func (k Kit) Name() string {
	if k.Index == k.Answer {
		return k.Index
	}
	return k.Index + "+" + k.Answer
}

// Extraction is an extractor. A Whole one learns from the corpus: it must see all
// of it again when a document comes or goes.
type Extraction struct {
	extract.Extractor
	Whole bool
}

// ExtractBy sets the extractor: the user's, or else the kit's own.
func (f *Frame) ExtractBy(user extract.Extractor, own func() (Extraction, error)) {
	var err error
	switch {
	case user != nil:
		f.Extract = Extraction{Extractor: user}
	case own == nil:
		err = errors.New("the kit has no extractor of this kind")
	default:
		f.Extract, err = own()
	}
	f.Problems = errors.Join(f.Problems, err)
}

// RecordsFor is how the kit extracts records with these options, for [Frame.ExtractBy].
func (k Kit) RecordsFor(o extract.RecordOptions) func() (Extraction, error) {
	if k.Records == nil {
		return nil
	}
	return func() (Extraction, error) { return k.Records(o) }
}

// NameFinder finds the named entities of a question.
type NameFinder func(ctx context.Context, question string) ([]string, error)

// Parts of a question: the names and things it is concerned with, and what it asks
// about them.
type Parts struct{ Names, Themes []string }

// Step returns what takes a step of a recipe: the model's way, or without a model
// the rules'.
func Step[F any](m llm.Model, byModel func(llm.Model) F, byRules F) F {
	if m == nil {
		return byRules
	}
	return byModel(m)
}

// Role is what a part of a kit is for.
type Role string

// The roles that a [Frame] may need beside reading and counting.
const (
	Embedding     Role = "Embed"
	Finding       Role = "Find"
	Linking       Role = "Link"
	Describing    Role = "Describe"
	Reporting     Role = "Report"
	QuestionNames Role = "QuestionNames"
)

// check reports the parts that a system needs and the kit does not have.
func (k Kit) check(needs []Role) error {
	missing := map[Role]bool{
		Embedding: k.Embed == nil, Finding: k.Find == nil, Linking: k.Link == nil, Describing: k.Describe == nil,
		Reporting: k.Report == nil, QuestionNames: k.QuestionNames == nil, "Read": k.Read == nil, "Count": k.Count == nil,
	}
	var problems []error
	for _, role := range append([]Role{"Read", "Count"}, needs...) {
		if missing[role] {
			problems = append(problems, fmt.Errorf("the kit has no part for %s: take kit.Offline or kit.ByModel, or set it", role))
		}
	}
	if k.MaxContext < 0 {
		problems = append(problems, fmt.Errorf("the kit's MaxContext is %d, want 0 or more", k.MaxContext))
	}
	return errors.Join(problems...)
}

// Mixed takes the parts that build an index from one kit and those that answer
// from another, so that a corpus is indexed offline and questions are answered by
// a model, or the other way round. What embeds and compares stands in both and is
// that of the index.
func Mixed(index, answer Kit) Kit {
	k := index
	k.Answer, k.QuestionNames, k.AnswerModel = answer.Answer, answer.QuestionNames, answer.AnswerModel
	k.Decompose, k.Filter = answer.Decompose, answer.Filter
	k.Read, k.Count, k.MaxContext = answer.Read, answer.Count, answer.MaxContext
	return k
}

// callsAtOnce is how many calls of a model a system makes at a time.
const callsAtOnce = 8

// Each calls f for 0..n-1, some of them at a time. The first error ends it.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(callsAtOnce, runtime.GOMAXPROCS(0)))
	for i := range n {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return f(gctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// Checks collects what is wrong with the options of a recipe, in the words of the
// library. Its Err is a [Frame]'s Problems, so that everything is reported at once
// and before anything is paid. A value that is no number is never right.
type Checks struct{ c opt.Checks }

// Min wants a finite number of low or more.
func (c *Checks) Min(field string, value, low float64) { opt.Min(&c.c, field, value, low) }

// Range wants a number from low to high.
func (c *Checks) Range(field string, value, low, high float64) {
	opt.Range(&c.c, field, value, low, high)
}

// Want reports the field and its value unless ok.
func (c *Checks) Want(ok bool, field string, value any, want string) {
	c.c.Want(ok, field, value, want)
}

// Add reports an error, such as those of another package's options.
func (c *Checks) Add(err error) { c.c.Add(err) }

// Err is everything that was reported, or nil.
func (c *Checks) Err() error { return c.c.Err() }
