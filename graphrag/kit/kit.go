// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Kit holds the parts from which a system is built, by their role.
type Kit struct {
	// Index and Answer are the kinds of the parts that build an index and that answer: NameOffline or
	// NameModel.
	Index, Answer string

	// Embed returns the embedder for a corpus. Embedders that learn from the corpus are fitted to its texts.
	Embed func(ctx context.Context, corpus []string) (embed.Embedder, error)
	// Find makes an index that compares questions with texts, in the same way for all systems: by words
	// ([retrieve.NewWords]), or by vectors; the first call of fitted then fits the embedder to the corpus.
	// Lookup is its name in reports.
	Find   func(ctx context.Context, fitted func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error)
	Lookup string
	// Encoder is the name of the source of vectors in reports: LSA, or the embedder.
	Encoder string
	// Dim is the length of the embedder's vectors, 0 if it is unknown before the first call.
	Dim int
	// Trained reports that the embedder was trained on other texts, so that its knowledge is not limited to the
	// co-occurrence of words in the corpus.
	Trained bool

	// Entities extracts names, Triples names and facts, Records names and facts with descriptions.
	Entities func() (Extraction, error)
	Triples  func() (Extraction, error)
	Records  func(extract.RecordOptions) (Extraction, error)
	// Link compares names with each other.
	Link link.Linker
	// Describe returns a describer that merges many descriptions into one of about the given number of tokens.
	Describe func(tokens int) (summary.Describer, error)
	// Report writes the report of a community.
	Report report.Reporter
	// IndexModel is the model for steps of building that only one recipe has; if nil, the recipe uses rules.
	IndexModel llm.Model

	// QuestionNames returns a function that finds the named entities of a question. known reports whether the
	// graph has a folded name, for questions without capital letters; it may be nil.
	QuestionNames func(known func(folded string) bool) (func(ctx context.Context, question string) ([]string, error), error)
	// Decompose finds the parts of a question; if it is nil, the recipe asks the AnswerModel with its own
	// prompt, or uses QuestionNames.
	Decompose func(ctx context.Context, question string) (extract.Parts, error)
	// Filter selects among the facts that were found for a question, and returns their indexes in order; if it
	// is nil, the recipe asks the AnswerModel, or keeps all facts.
	Filter func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error)
	// AnswerModel is the model for steps of answering that only one recipe has, such as the filter of HippoRAG
	// 2; if it is nil, the recipe uses rules.
	AnswerModel llm.Model
	// Rerank, if set, reorders the chunks that systems retrieve (see [retrieve.Rerank]).
	Rerank retrieve.Scorer
	// Read answers from evidence.
	Read reader.Reader

	// Language is the language that models write in; "" is the language of their sources.
	Language string

	// Prompts replace texts of the library's prompts in all steps that ask models (see [prompts.Replace]).
	Prompts *prompts.Replacement

	// Count counts the tokens of a text, in all parts alike.
	Count func(text string) int

	quoters *quoters // cache of Quoter
}

// The kinds of parts of a kit, of which its name consists.
const (
	NameOffline = "offline"
	NameModel   = "model"
)

// Name returns the kinds of the parts: "offline", "model", or "INDEX+ANSWER".
func (k Kit) Name() string {
	if k.Index == k.Answer {
		return k.Index
	}
	return k.Index + "+" + k.Answer
}

// Extraction is an extractor. A Whole one learns from the corpus: after each change of documents it processes
// the whole corpus again.
type Extraction struct {
	extract.Extractor
	Whole bool
}

// ExtractBy sets the extractor: the user's, or, if that is nil, the kit's, which own returns.
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

// RecordsFor returns the kit's extractor of records with these options, for [Frame.ExtractBy].
func (k Kit) RecordsFor(o extract.RecordOptions) func() (Extraction, error) {
	if k.Records == nil {
		return nil
	}
	return func() (Extraction, error) { return k.Records(o) }
}

// Step returns the implementation of a step of a recipe: byModel if there is a model, byRules otherwise.
func Step[F any](m llm.Model, byModel func(llm.Model) F, byRules F) F {
	if m == nil {
		return byRules
	}
	return byModel(m)
}

// check returns an error if the kit lacks parts that a system needs.
func (k Kit) check(needs []string) error {
	var problems []error
	for _, name := range append([]string{"Read", "Count"}, needs...) {
		if part := reflect.ValueOf(k).FieldByName(name); !part.IsValid() {
			problems = append(problems, fmt.Errorf("the frame needs %q, which is no field of a kit", name))
		} else if part.IsZero() {
			problems = append(problems, fmt.Errorf("the kit has no part for %s: take kit.Offline or kit.ByModel, or set it", name))
		}
	}
	return errors.Join(problems...)
}

// AnsweredBy returns the kit with the answering parts of another one, so that a corpus can be indexed offline
// and questions answered by a model, or the other way round. The parts that embed and compare are not replaced.
func (k Kit) AnsweredBy(answer Kit) Kit {
	k.Answer, k.QuestionNames, k.AnswerModel = answer.Answer, answer.QuestionNames, answer.AnswerModel
	k.Decompose, k.Filter, k.Rerank = answer.Decompose, answer.Filter, answer.Rerank
	k.Read, k.Count = answer.Read, answer.Count
	k.Prompts = cmp.Or(k.Prompts, answer.Prompts)
	return k
}

// callsAtOnce is the least number of concurrent calls of [Each]; there are more on a machine with more cores.
const callsAtOnce = 8

// Each calls f for 0 to n-1 concurrently. After an error no further call begins; it returns the first error by
// number.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	return share.Each(ctx, n, max(callsAtOnce, runtime.GOMAXPROCS(0)), f)
}

// Checks collects the errors in the options of a recipe, in the wording of the library. The result of its Err
// belongs in [Frame].Problems, so that all errors are reported at once, before any call is paid for. NaN is
// always an error.
type Checks = opt.Checks

// byWords makes an index that compares by BM25. Short texts, such as facts and names, have too few words for
// LSA, and LSA of a fixed rank does not separate the subjects of a large corpus.
func byWords(ctx context.Context, _ func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
	return retrieve.NewWords(ctx, texts)
}

// byVectors makes an index that compares by the cosine of the embedder's vectors.
func byVectors(ctx context.Context, fitted func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
	e, err := fitted(ctx)
	if err != nil {
		return nil, err
	}
	return retrieve.NewVectors(ctx, e, texts)
}

// Info describes a system for tables and command lines. Packages under examples/baselines describe their own.
type Info struct {
	Name string
	// Also lists aliases: published systems that behave identically share one row in reports.
	Also []string
	// Source names the authors, Paper their paper and program; both are "" for a system of this project.
	Source, Paper string
	// Costs describes the calls of a model, apart from the call that answers.
	Costs string
	// Calls are the numbers of these calls.
	Calls Calls
	// NoDocuments marks a system that reads no documents. It needs an answering model.
	NoDocuments bool
	// Words marks a system that compares texts only by words, whatever embedder the kit has.
	Words bool
	// NeedsModel marks a system in which a model decides which texts are read.
	NeedsModel bool
	// NeedsGraph marks a system that needs a graph made by another program, in its option "graph".
	NeedsGraph bool
	// NoSchema marks the variant of a system without a schema. Without an indexing model it would equal the
	// system itself, and is not run.
	NoSchema bool
	// Baseline marks the system with which all others are compared.
	Baseline bool
	// Options are the options of the system, of the type that New takes, with which a run begins.
	Options any
	New     func(k Kit, options any) (*System, error)
}

// Calls are numbers of calls of a model: to index one chunk, to search for one question (without the answer),
// and once for a corpus. They hold for pages of one chunk each that share no name; on such pages there is one
// report per chunk. Other counts that depend on the corpus are for the 19 pages of the sample's domain
// seafaring.
type Calls struct{ Chunk, Question, Once int }

// InfoOf completes a description with the options and the constructor of a package.
func InfoOf[O any](i Info, o O, build func(Kit, O) (*System, error)) Info {
	i.Options, i.New = o, func(k Kit, o any) (*System, error) { return build(k, o.(O)) }
	return i
}
