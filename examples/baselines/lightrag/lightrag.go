// SPDX-License-Identifier: Apache-2.0

// Package lightrag is LightRAG (Guo and others, arXiv 2410.05779): entities and relations with descriptions,
// found by two levels of keywords. Low-level keywords name things and find entities with their relations;
// high-level keywords name themes and find relations with their ends. The chunks of both are read.
//
// The algorithm follows HKUDS/LightRAG 1.5.7, in four modes: [Hybrid] uses both levels and is the default,
// [Local] and [Global] use one level, and [Mix] adds chunks similar to the question. The fifth, naive, reads
// such chunks alone: package flat has it, as naiverag. [Options].Paper is the algorithm of the paper (commit
// 32464fa).
//
// Indexing takes one call per chunk, for entities and relations, a second one if the first reply was cut (the
// code always asks again: [Options].AlwaysGlean), and one for each entity or pair with eight descriptions, or
// 1,200 tokens of them. A question takes one call for its keywords, and one to read.
//
// Where this differs from the code, and why:
//
//   - Names that differ in case, in blanks or in quotes around them are one entity.
//   - A relation whose keyword is "entity" or "relation" is read; the code takes the keyword for the beginning
//     of a record.
//   - Relations with an end that is neither listed nor in the passage are rejected; the code makes an entity of
//     it. Many descriptions are condensed once, from all of them, not at the eighth and again later.
//   - Local and Global use the other level if theirs finds nothing; the code does so if it has no keyword.
//   - The order of the chunks' IDs decides which descriptions are first and which 200 chunks of an entity are
//     kept (in the code, time), so that the graph does not depend on the order of documents.
//   - Question.K decides how many chunks are read; the code reads 20. There is no reranker.
//   - Joined descriptions are read as lines; they are found as in the code, which writes <SEP> between them.
//   - With Paper, the lists of both levels are interleaved; the code loses their order. Relations are extracted
//     without a strength, as in 1.5.7.
//
// Offline, rules find entities and relations, and the sentences that name them describe them, see
// extract.Linked; many descriptions are cut to their central sentences. The names in a question are its
// low-level keywords, its other content words the high-level ones. Entities, relations and chunks are found by
// BM25, see kit.Kit.Find.
package lightrag

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Name is the name of the system in reports. A hyphen and the mode follow it, except for Hybrid.
const Name = "lightrag"

// Infos describe the system in each of its modes.
var Infos = []kit.Info{info(Hybrid), info(Local), info(Global), info(Mix)}

func info(mode Mode) kit.Info {
	name := Name
	if mode != Hybrid {
		name += "-" + string(mode)
	}
	return kit.InfoOf(kit.Info{
		Name: name, Source: "Guo and others 2024", Paper: "arXiv 2410.05779, HKUDS/LightRAG 1.5.7",
		Costs: "1 a chunk; 1 to search", Calls: kit.Calls{Chunk: 1, Question: 1},
	}, Options{Mode: mode}, New)
}

// Mode selects where the answer is searched.
type Mode string

// The modes. The empty one means Hybrid.
const (
	Hybrid Mode = "hybrid" // both Local and Global
	Local  Mode = "local"  // entities and their relations
	Global Mode = "global" // relations and their ends
	Mix    Mode = "mix"    // Hybrid, and chunks similar to the question
)

// The settings of the paper's code that are not options (lightrag/base.py).
const (
	PaperTopK   = 60
	PaperTokens = 4000 // tokens of entities, of relations, and of chunks
)

// Options of the system. The zero value is the setting of the code (lightrag/constants.py), with the
// paper's mode.
type Options struct {
	kit.Common
	Mode Mode `default:"hybrid" source:"the paper, section 3; its program has mix"`
	// Paper searches as the paper's code did. It excludes Mix.
	Paper bool `source:"its program"`
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Types of entities and Language of descriptions, for the model's extractor; see extract.RecordOptions.
	Types    []string `source:"its program"`
	Language string   `source:"its program"`
	// AlwaysGlean asks for more records even if the model wrote that there are none, as the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// TopK is the number of entities or relations found by keywords, 0 means 40. ChunkTopK is the number of
	// chunks found by a question, RelatedChunks the number of chunks read of an entity or relation.
	TopK          int `min:"0" source:"its program"`
	ChunkTopK     int `default:"20" min:"0" source:"its program"`
	RelatedChunks int `default:"5" min:"0" source:"its program"`
	// Cosine is the least cosine of results; NoCosine means no limit.
	Cosine float64 `default:"0.2" source:"its program"`
	// Budgets in tokens: 0 means 6,000 for entities and 8,000 for relations.
	EntityTokens   int `min:"0" source:"its program"`
	RelationTokens int `min:"0" source:"its program"`
	TotalTokens    int `default:"30000" min:"0" source:"its program"`
}

// NoCosine, as the value of [Options].Cosine, means no limit.
const NoCosine = -1

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find", "Describe", "QuestionNames"}}
	if o.Mode != Hybrid {
		f.Name += "-" + string(o.Mode)
	}
	o = o.Defaults()
	o.check(&c)
	f.Problems = c.Err()
	f.ExtractBy(o.Extract, k.RecordsFor(extract.RecordOptions{Format: extract.Lines, Types: o.Types, Language: o.Language, AlwaysGlean: o.AlwaysGlean}))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

func (o Options) check(c *kit.Checks) {
	c.Want(slices.Contains([]Mode{Hybrid, Local, Global, Mix}, o.Mode), "Mode", o.Mode, "hybrid, local, global or mix")
	c.Want(o.Mode != Mix || !o.Paper, "Mode", o.Mode, "another one with Paper: the paper has none of this name")
	c.Want(o.Cosine == NoCosine || o.Cosine >= 0 && o.Cosine <= 1, "Cosine", o.Cosine, "0 to 1, or NoCosine")
}

// Defaults returns the options with zero values replaced by the defaults of the code, or of the paper's code.
func (o Options) Defaults() Options {
	topK, entities, relations := 40, 6000, 8000
	if o.Paper {
		topK, entities, relations = PaperTopK, PaperTokens, PaperTokens
	}
	o.TopK, o.EntityTokens, o.RelationTokens = cmp.Or(o.TopK, topK), cmp.Or(o.EntityTokens, entities), cmp.Or(o.RelationTokens, relations)
	return o
}

// StageKeywords names the calls for the keywords of a question in usage figures.
const StageKeywords = "keywords"

// finder finds the keywords of a question: low-level ones as names, high-level ones as themes.
type finder func(ctx context.Context, question string) (extract.Parts, error)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("lightrag", promptFiles)

// byModel asks a model for the keywords. A reply that cannot be read has none.
func byModel(model llm.Model) finder {
	return func(ctx context.Context, question string) (extract.Parts, error) {
		req, err := templates.Request(ctx, StageKeywords, "keywords", nil, prompts.Data{Label: "question", Text: question})
		if err != nil {
			return extract.Parts{}, err
		}
		found, _, err := replies.Decode[struct {
			High []string `json:"high_level_keywords"`
			Low  []string `json:"low_level_keywords"`
		}](ctx, model, req)
		return extract.Parts{Names: split(found.Low), Themes: split(found.High)}, llm.Fatal(err)
	}
}

// split splits a text in which a model wrote several keywords.
func split(list []string) (out []string) {
	for _, one := range list {
		words := []string{one}
		if len(list) == 1 {
			words = strings.FieldsFunc(one, func(r rune) bool { return strings.ContainsRune(",;\n，；、", r) })
		}
		for _, w := range words {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// orQuestion makes a short question that has no keywords its own low-level keyword.
func orQuestion(k extract.Parts, question string) extract.Parts {
	const shortQuestion = 50 // characters of a short question (lightrag/operate.py)
	question = strings.TrimSpace(question)
	if len(k.Names) == 0 && len(k.Themes) == 0 && question != "" && utf8.RuneCountInString(question) < shortQuestion {
		k.Names = []string{question}
	}
	return k
}
