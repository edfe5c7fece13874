// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Document is one loaded text: a web page, a file, a record.
type Document struct {
	// ID names the document within its corpus. It is unique and stable from
	// run to run, e.g. the path of the file it came from.
	ID string `json:"id"`
	// Title is a short human name; it may be empty.
	Title string `json:"title,omitempty"`
	// Text is the whole text, valid UTF-8.
	Text string `json:"text"`
	// Source tells people where it came from (a URL, a path); may be empty.
	Source string `json:"source,omitempty"`
	// Fields contains its metadata, for conditions on questions. The documents of a
	// corpus may have different ones; may be nil.
	Fields Fields `json:"fields,omitempty"`
}

// Chunk is a piece of a document. Start and End are byte offsets into Document.Text, so every chunk can be
// traced to the exact place it was cut from.
type Chunk struct {
	// ID is unique within the corpus and sorts in document order:
	// Document.ID, "#", and the chunk's number with leading zeros.
	ID string `json:"id"`
	// Doc is the ID of the document, Title its title.
	Doc   string `json:"doc"`
	Title string `json:"title,omitempty"`
	// Index is the position among the chunks of the document, from 0.
	Index int `json:"index"`
	// Start and End delimit the source: Document.Text[Start:End].
	Start int `json:"start"`
	End   int `json:"end"`
	// Text is the text that is indexed and read. It equals the source span, unless
	// the document was cleaned before it was cut (see chunk.Options.Clean).
	Text string `json:"text"`
	// Lead is text before Text in the document that is needed to understand it:
	// headings, the header of a table it begins in (see chunk.Options.Lead). It is
	// neither indexed nor part of the source span; readers read it before Text.
	Lead string `json:"lead,omitempty"`
	// Tokens is the length of Text in the splitter's own units.
	Tokens int `json:"tokens,omitempty"`
	// Fields of the document, shared by its chunks and not to be changed.
	Fields Fields `json:"fields,omitempty"`
}

// Shown returns the text as prompts show it: after the header of the table, the line above the list, or the fence
// of the code that it begins in. The headings of Lead are left out: they would take a twelfth of a budget.
func (c Chunk) Shown() string {
	lead := c.Lead
	for strings.HasPrefix(lead, "#") {
		_, lead, _ = strings.Cut(lead, "\n")
		lead = strings.TrimLeft(lead, "\n")
	}
	return lead + c.Text
}

// Titled returns the title, a line break, and the text: what is compared with questions.
func (c Chunk) Titled() string {
	if c.Title == "" {
		return c.Text
	}
	return c.Title + "\n" + c.Text
}

// Prompt returns the text that [Chunk.Shown] returns, under its title.
func (c Chunk) Prompt() string {
	c.Text = c.Shown()
	return c.Titled()
}

// Triple is one statement of a knowledge graph.
type Triple struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
}

// Hit is a ranked chunk. Within one list a larger score is better; scores of different retrievers do not compare.
type Hit struct {
	Chunk Chunk   `json:"chunk"`
	Score float64 `json:"score"`
	// Source names the retriever, or the way the chunk was found.
	Source string `json:"source,omitempty"`
}

// Question is a question to a [System]. It contains nothing of the expected answer.
type Question struct {
	// ID is unique within a run and stable from run to run; it may be empty outside of benchmarks.
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
	// Form is how the answer should look; readers write accordingly, and systems
	// may read more for some forms than for others.
	Form Form `json:"form,omitempty"`
	// K is the number of chunks that go into the prompt (the top-k of the papers). If K, Tokens and Depth
	// are all 0, it is [DefaultK], or what kit.System decides; [Off] asks for none.
	K int `json:"k"`
	// Tokens, when set, is the budget of everything that goes into the prompt as evidence, in tokens of the
	// library's one counter (package tokens), and takes the place of K.
	Tokens int `json:"tokens,omitempty"`
	// Depth is the number of ranked chunks that are wanted for measuring, if more than K.
	Depth int `json:"depth,omitempty"`
	// Where, if set, limits the question to the documents that meet it: what is found and
	// answered is what a system over these documents alone would find and answer.
	Where *Condition `json:"where,omitempty"`
}

// DefaultK is the [Question].K that 0 means.
const DefaultK = 5

// Off switches off an option whose zero value means its default, in all packages.
const Off = -1

// Want returns the number of ranked chunks that the question asks for.
func (q Question) Want() int { return max(q.Reads(), q.Depth) }

// Reads returns K, or the number of chunks that a K of 0 or less means.
func (q Question) Reads() int {
	if q.K == 0 && q.Tokens == 0 && q.Depth == 0 {
		return DefaultK
	}
	return max(q.K, 0)
}

// Form is how an answer should look. The empty Form leaves it to the reader.
type Form string

// The forms of answers.
const (
	Short    Form = "short"    // the answer alone: a name, a number, yes or no
	Sentence Form = "sentence" // one fact, in one sentence
	List     Form = "list"     // items, one a line
	Overview Form = "overview" // everything relevant, in prose
)

// Found is the result of a [Retriever] for a question.
type Found struct {
	// Ranked are chunks, best first. It is nil of systems that rank no chunks, and
	// empty when a search found none.
	Ranked []Hit `json:"ranked,omitempty"`
	// Evidence is the source text to read, in prompt order; nil means the first K of Ranked.
	Evidence []Hit `json:"evidence,omitempty"`
	// Derived contains other text for the prompt: facts of a graph, descriptions, reports.
	Derived []Derived `json:"derived,omitempty"`
	// Steps lists the steps of the search, in order.
	Steps []Step `json:"steps,omitempty"`
	// Declined says that who searched read what there is and found that it has no answer: a reader that may
	// refuse does so without a call.
	Declined bool `json:"declined,omitempty"`
	// Usage is the cost of the search.
	Usage Usage `json:"usage"`
}

// Nothing returns the result of a search without hits. Whether that is a refusal is
// for the reader to say: in open mode a model answers from what it knows.
func Nothing() Found { return Found{Ranked: []Hit{}} }

// Read is the source text to read for a question: Evidence, or the first K of Ranked.
func (f Found) Read(q Question) []Hit {
	if f.Evidence != nil {
		return f.Evidence
	}
	return f.Ranked[:min(q.Reads(), len(f.Ranked))]
}

// Step is one thing that a retriever did on its way.
type Step struct {
	// Kind of the step: "link", "facts", "keywords", "search", …
	Kind string `json:"kind"`
	// Query is the query of the step, Found its results: names, facts, chunk IDs.
	Query string   `json:"query,omitempty"`
	Found []string `json:"found,omitempty"`
	// Tokens is the size of the results that were shown to the decider on the next step.
	Tokens int `json:"tokens,omitempty"`
}

// Answer is a system's reply, together with what it is based on.
type Answer struct {
	Text string `json:"text"`
	// Refused is true when the system declined to answer because the evidence does not hold one (reject mode).
	Refused bool `json:"refused,omitempty"`
	// Confidence is the probability, 0 to 1, that the answer is right, for readers that have one;
	// 0 for others. docs/offline.md says how reliable the offline reader's is.
	Confidence float64 `json:"confidence,omitempty"`
	// Citations point into Text and tell which evidence supports it.
	Citations []Citation `json:"citations,omitempty"`
	// Sources are the passages that cited facts and reports were made from, the nearest one to
	// each sentence. They were not in the prompt.
	Sources []Hit `json:"sources,omitempty"`
	// Found is the basis of the answer. Evidence and Derived are the texts that were put
	// into the final prompt, in prompt order; Usage is the cost of the whole answer.
	Found
}

// Uncited reports whether an answer rests on none of the material that was read for it.
func (a Answer) Uncited() bool {
	return !a.Refused && len(a.Citations) == 0 && len(a.Evidence)+len(a.Derived) > 0 && a.Text != ""
}

// Citation says what Answer.Text[Start:End] rests on.
type Citation struct {
	Start int `json:"start"`
	End   int `json:"end"`
	// Of says where Evidence points: "" into Answer.Evidence, OfDerived into
	// Answer.Derived, OfSource into Answer.Sources. OfMemory points nowhere: the model says that it knows this by
	// itself, and nothing that it was shown says so.
	Of       Origin `json:"of,omitempty"`
	Evidence int    `json:"evidence"`
	// SourceStart and SourceEnd delimit the quoted bytes in the document the
	// chunk came from; both are 0 when the whole chunk is meant.
	SourceStart int `json:"source_start,omitempty"`
	SourceEnd   int `json:"source_end,omitempty"`
}

// Passage returns the chunk that a citation of the answer points to, and whether it points to one.
func (a Answer) Passage(c Citation) (Chunk, bool) {
	hits := map[Origin][]Hit{"": a.Evidence, OfSource: a.Sources}[c.Of]
	if c.Evidence < 0 || c.Evidence >= len(hits) {
		return Chunk{}, false
	}
	return hits[c.Evidence].Chunk, true
}

// Origin is the object of a [Citation] that is not source text.
type Origin string

// The origins beside source text.
const (
	OfDerived Origin = "derived"
	OfSource  Origin = "source"
	OfMemory  Origin = "memory"
)

// Derived is prompt text that a system made from its sources, with its provenance.
type Derived struct {
	// Kind of the object: "fact", "summary", "report", …
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Heading is the length in bytes of what Text begins with to name what it is
	// about, such as "Fram (ship): ". The rest is what is said about it.
	Heading int `json:"heading,omitempty"`
	Provenance
}

// Provenance is the source of a derived text: the IDs of the chunks that it was made from and of
// their documents, each sorted and distinct.
type Provenance struct {
	Docs   []string `json:"docs,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
}

// ProvenanceOf returns the provenance of what was made from chunks.
func ProvenanceOf(chunks ...Chunk) Provenance {
	var p Provenance
	for _, c := range chunks {
		p.Docs, p.Chunks = append(p.Docs, c.Doc), append(p.Chunks, c.ID)
	}
	return Merged(p)
}

// Merged returns the provenance of what was made from several derived texts.
func Merged(parts ...Provenance) (all Provenance) {
	for _, p := range parts {
		all.Docs, all.Chunks = append(all.Docs, p.Docs...), append(all.Chunks, p.Chunks...)
	}
	slices.Sort(all.Docs)
	slices.Sort(all.Chunks)
	all.Docs, all.Chunks = slices.Compact(all.Docs), slices.Compact(all.Chunks)
	return all
}

// Row is a piece of derived text with a heading: what it is about, a colon, and what is said about it.
func Row(kind, heading, said string, from Provenance) Derived {
	if said != "" {
		heading += ": "
	}
	return Derived{Kind: kind, Text: heading + said, Heading: len(heading), Provenance: from}
}

// Usage counts what was asked of models. Tokens are the provider's own
// figures where it gives them, see Estimated.
type Usage struct {
	// Calls are calls of models, also those whose replies llm/paid has kept. Replies that a
	// system remembers of an earlier change are in CachedCalls and add nothing to the token counts.
	Calls            int `json:"llm_calls"`
	CachedCalls      int `json:"cached_calls,omitempty"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	EmbeddedTokens   int `json:"embedded_tokens"`
	// ProviderCached are the prompt tokens that the provider had cached, and charges less for, where it says so.
	ProviderCached int `json:"provider_cached_tokens,omitempty"`
	// Estimated is true when at least one reply came without figures and its tokens were counted here.
	Estimated bool `json:"estimated,omitempty"`
	// Unread is the number of replies, or records of replies, that could not be read: what they held is lost.
	Unread int `json:"unread,omitempty"`
}

// Tokens is the number of all tokens: prompt, completion and embedded.
func (u Usage) Tokens() int { return u.PromptTokens + u.CompletionTokens + u.EmbeddedTokens }

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls:            u.Calls + v.Calls,
		CachedCalls:      u.CachedCalls + v.CachedCalls,
		PromptTokens:     u.PromptTokens + v.PromptTokens,
		CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		EmbeddedTokens:   u.EmbeddedTokens + v.EmbeddedTokens,
		ProviderCached:   u.ProviderCached + v.ProviderCached,
		Estimated:        u.Estimated || v.Estimated,
		Unread:           u.Unread + v.Unread,
	}
}

// Retriever finds what helps to answer a question: one index, a fusion of several, a search through a
// graph, or an agent that takes many steps. A retriever over retrievers is a Retriever again.
//
// Found.Ranked is best first; equal scores are ordered by chunk ID. It holds at most Question.Want hits,
// fewer when the corpus or the matches are fewer. A question without a usable word is no error: it finds
// nothing. Retrieve is safe for concurrent use and stops with the context's error when ctx is cancelled.
type Retriever interface {
	Retrieve(ctx context.Context, q Question) (Found, error)
}

// RetrieverFunc makes a [Retriever] of a function.
type RetrieverFunc func(ctx context.Context, q Question) (Found, error)

// Retrieve calls f.
func (f RetrieverFunc) Retrieve(ctx context.Context, q Question) (Found, error) { return f(ctx, q) }

// System is a complete question-answering system: what a benchmark runs. It is the Retriever of its own evidence.
//
// Index comes first; after it Insert, Delete, Retrieve and Answer may be called in any order and by many at
// once. Readers see the state of the last change that succeeded and never wait for one that is under way; a
// change that fails or is cancelled leaves everything as it was. Equal documents, options and questions
// give equal answers, whatever the concurrency and whatever the order in which the documents came and went.
type System interface {
	Retriever
	// Name identifies the system in reports, e.g. "bm25".
	Name() string
	// Index builds the system from a corpus. It stops at the first error of the
	// stream. A document ID that comes twice is an error.
	Index(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Insert adds documents; one with the ID of one that is there takes its place.
	// The statistics are of the whole index, the usage is of the call.
	Insert(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Delete removes documents. IDs that are not there change nothing.
	Delete(ctx context.Context, ids ...string) (IndexStats, error)
	// Answer answers one question and reports evidence and usage with it.
	Answer(ctx context.Context, q Question) (Answer, error)
	// Save writes the system to a folder, Open replaces it by what Save wrote. A crash while saving leaves
	// the old content or the new one. Opening pays nothing for what was paid before Save.
	Save(ctx context.Context, dir string) error
	Open(ctx context.Context, dir string) (IndexStats, error)
	// Close releases what was built. The system is not used afterwards.
	Close() error
}

// Documents streams documents for [System].Index and Insert. None at all are an error: what
// made them, such as a reader of files, found nothing.
func Documents(docs ...Document) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if len(docs) == 0 {
			yield(Document{}, errors.New("graphrag: there are no documents: check what they are read from"))
		}
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Streamer is a [System] whose answers also come piece by piece. Each Answer that
// is yielded has a longer beginning of the text, the last one is the whole answer
// with everything that Answer would return. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q Question) iter.Seq2[Answer, error]
}

// IndexStats describes a built index. The graph figures come from WildGraphBench,
// Table 4; systems without a graph leave them zero.
type IndexStats struct {
	Documents     int     `json:"documents"`
	Chunks        int     `json:"chunks"`
	Entities      int     `json:"entities"`
	Relations     int     `json:"relations"`
	AverageDegree float64 `json:"average_degree"`
	MaxDegree     int     `json:"max_degree"`
	IsolatedShare float64 `json:"isolated_share"`
	// Stages says how the steps of indexing went that can fail for a part of the
	// corpus without failing the whole, in the order in which they run.
	Stages []Stage `json:"stages,omitempty"`
	// Schema is the schema that extraction was bound by, a JSON object that extract.ReadSchema
	// takes, if the system tells it.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Recall is the share of the ten nearest vectors that a search finds, measured on some of the chunks; 0 if all
	// vectors are compared.
	Recall float64 `json:"recall,omitempty"`
	Usage
}

// Notes returns sentences about what the index does not hold exactly: results for earlier states, and vectors that a
// search compares in part.
func (s IndexStats) Notes() (out []string) {
	for _, stage := range s.Stages {
		if stage.Stale > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d results are for an earlier state of the documents", stage.Name, stage.Stale, stage.Asked))
		}
	}
	if s.Recall > 0 && s.Recall < 1 {
		out = append(out, fmt.Sprintf("searches by vectors compare a part of them, and find %.1f %% of the ten nearest", 100*s.Recall))
	}
	return out
}

// Stage counts the pieces of work of one step of indexing: chunks to extract
// from, texts to embed, reports to write.
type Stage struct {
	Name     string `json:"name"`               // "extract", "embed", "summarize", "describe", "merge", "report"
	Asked    int    `json:"asked"`              // pieces that were to be done
	Failed   int    `json:"failed,omitempty"`   // of these, without any result
	Refused  int    `json:"refused,omitempty"`  // of the failed, those that the model declined or a filter stopped
	Repaired int    `json:"repaired,omitempty"` // with a result of which a part was left out or mended
	Stale    int    `json:"stale,omitempty"`    // with the result for an earlier state, which differs little
}
