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
	// ID names the document within its corpus. It is unique and stable over runs, e.g. the path of its file.
	ID string `json:"id"`
	// Title is a short name for people; it may be empty.
	Title string `json:"title,omitempty"`
	// Text is the whole text, valid UTF-8.
	Text string `json:"text"`
	// Source says where the document comes from (a URL, a path), for people; it may be empty.
	Source string `json:"source,omitempty"`
	// Fields contains metadata, for conditions on questions. Documents may have different ones; it may be nil.
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
	// Start and End are the offsets of the chunk in the document: Document.Text[Start:End].
	Start int `json:"start"`
	End   int `json:"end"`
	// Text is the text that is indexed and read. It equals Document.Text[Start:End], unless the document was
	// cleaned before it was cut (see chunk.Options.Clean).
	Text string `json:"text"`
	// Lead is earlier text of the document that is needed to understand Text: headings, the header of a table
	// that Text begins in (see chunk.Options.Lead). It is not indexed; readers read it before Text.
	Lead string `json:"lead,omitempty"`
	// Tokens is the length of Text in the units of the splitter that cut it.
	Tokens int `json:"tokens,omitempty"`
	// Fields are the fields of the document, shared by its chunks. They must not be changed.
	Fields Fields `json:"fields,omitempty"`
}

// Shown returns the text for prompts: if it begins inside a table, a list or a code block, the table's header,
// the line above the list, or the opening fence precedes it. The headings of Lead are left out: they would take
// a twelfth of a token budget.
func (c Chunk) Shown() string {
	lead := c.Lead
	for strings.HasPrefix(lead, "#") {
		_, lead, _ = strings.Cut(lead, "\n")
		lead = strings.TrimLeft(lead, "\n")
	}
	return lead + c.Text
}

// Titled returns the title, a line break, and the text, for comparison with questions.
func (c Chunk) Titled() string {
	if c.Title == "" {
		return c.Text
	}
	return c.Title + "\n" + c.Text
}

// Prompt returns the title and what [Chunk.Shown] returns.
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

// Hit is a ranked chunk. Within a list a larger score is better; scores of two retrievers cannot be compared.
type Hit struct {
	Chunk Chunk   `json:"chunk"`
	Score float64 `json:"score"`
	// Source names the retriever or the method that found the chunk.
	Source string `json:"source,omitempty"`
}

// Question is a question to a [System]. It contains no part of the expected answer.
type Question struct {
	// ID is unique within a run and stable from run to run; it may be empty outside of benchmarks.
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
	// Form is the form that the answer should have. Readers write in it, and systems may read more for some
	// forms.
	Form Form `json:"form,omitempty"`
	// K is the number of chunks in the prompt (the top-k of the papers). If K, Tokens and Depth are all 0, it
	// is [DefaultK], or what kit.System decides; [Off] means none.
	K int `json:"k"`
	// Tokens, when set, is the token budget of all evidence in the prompt, as package tokens counts; K is
	// ignored.
	Tokens int `json:"tokens,omitempty"`
	// Depth is the number of ranked chunks to return for measuring, if that is more than K.
	Depth int `json:"depth,omitempty"`
	// Where, if set, limits the question to documents that meet the condition: the results are the same as
	// in a system over these documents alone.
	Where *Condition `json:"where,omitempty"`
}

// DefaultK is the number of chunks that a [Question].K of 0 means.
const DefaultK = 5

// Off switches off an option for which 0 means the default, in all packages.
const Off = -1

// Want returns the number of ranked chunks that the question asks for.
func (q Question) Want() int { return max(q.Reads(), q.Depth) }

// Reads returns K, or the number of chunks that K means if it is 0 or less.
func (q Question) Reads() int {
	if q.K == 0 && q.Tokens == 0 && q.Depth == 0 {
		return DefaultK
	}
	return max(q.K, 0)
}

// Form is the form of an answer. If it is empty, the reader decides.
type Form string

// Forms of answers.
const (
	Short    Form = "short"    // the answer alone: a name, a number, yes or no
	Sentence Form = "sentence" // one fact, in one sentence
	List     Form = "list"     // items, one per line
	Overview Form = "overview" // everything relevant, in prose
)

// Found is the result of a [Retriever] for a question.
type Found struct {
	// Ranked contains chunks, best first. It is nil for systems that rank none, empty if a search found none.
	Ranked []Hit `json:"ranked,omitempty"`
	// Evidence is the source text to read, in the order of the prompt; nil means the first K of Ranked.
	Evidence []Hit `json:"evidence,omitempty"`
	// Derived contains other text for the prompt, such as facts of a graph, descriptions and reports.
	Derived []Derived `json:"derived,omitempty"`
	// Steps lists the steps of the search, in order.
	Steps []Step `json:"steps,omitempty"`
	// Declined is true if an agent searched and found that the sources have no answer: a reader that may refuse
	// does so without a call of a model.
	Declined bool `json:"declined,omitempty"`
	// Usage is the cost of the search.
	Usage Usage `json:"usage"`
}

// Nothing returns the result of a search without hits. The reader decides whether to refuse: in open mode a
// model answers from its own knowledge.
func Nothing() Found { return Found{Ranked: []Hit{}} }

// Read returns the source text to read for a question: Evidence, or the first K of Ranked.
func (f Found) Read(q Question) []Hit {
	if f.Evidence != nil {
		return f.Evidence
	}
	return f.Ranked[:min(q.Reads(), len(f.Ranked))]
}

// Step is one step of a search.
type Step struct {
	// Kind is the kind of the step: "link", "facts", "keywords", "search", …
	Kind string `json:"kind"`
	// Query is the query of the step, Found its results: names, facts, chunk IDs.
	Query string   `json:"query,omitempty"`
	Found []string `json:"found,omitempty"`
	// Tokens is the length of the results as the agent read them before it decided on the next step.
	Tokens int `json:"tokens,omitempty"`
}

// Answer is a system's answer with its evidence.
type Answer struct {
	Text string `json:"text"`
	// Refused is true if the system declined to answer because the evidence contains no answer (reject mode).
	Refused bool `json:"refused,omitempty"`
	// Confidence is the probability, 0 to 1, that the answer is right, if the reader estimates one; else 0.
	// docs/offline.md says how reliable the offline reader's estimate is.
	Confidence float64 `json:"confidence,omitempty"`
	// Citations say which evidence supports which part of Text.
	Citations []Citation `json:"citations,omitempty"`
	// Sources are the passages from which cited facts and reports were made, for each sentence the most similar
	// one. They were not in the prompt.
	Sources []Hit `json:"sources,omitempty"`
	// Found contains the evidence of the answer. Evidence and Derived are the texts in the final prompt, in
	// prompt order; Usage is the cost of the whole answer.
	Found
}

// Uncited reports whether an answer cites none of the material that was read for it.
func (a Answer) Uncited() bool {
	return !a.Refused && len(a.Citations) == 0 && len(a.Evidence)+len(a.Derived) > 0 && a.Text != ""
}

// Citation names the evidence for Answer.Text[Start:End].
type Citation struct {
	Start int `json:"start"`
	End   int `json:"end"`
	// Of says what Evidence is an index of: "" means Answer.Evidence, OfDerived Answer.Derived, OfSource
	// Answer.Sources. OfMemory means none: the model says that it knows this by itself, and no text that it was
	// shown says it.
	Of       Origin `json:"of,omitempty"`
	Evidence int    `json:"evidence"`
	// SourceStart and SourceEnd are the offsets of the quoted bytes in the chunk's document; both are 0 if the
	// whole chunk is cited.
	SourceStart int `json:"source_start,omitempty"`
	SourceEnd   int `json:"source_end,omitempty"`
}

// Passage returns the chunk that a citation refers to, false if it refers to none.
func (a Answer) Passage(c Citation) (Chunk, bool) {
	hits := map[Origin][]Hit{"": a.Evidence, OfSource: a.Sources}[c.Of]
	if c.Evidence < 0 || c.Evidence >= len(hits) {
		return Chunk{}, false
	}
	return hits[c.Evidence].Chunk, true
}

// Origin is the kind of evidence that a [Citation] refers to, other than source text.
type Origin string

// Origins other than source text.
const (
	OfDerived Origin = "derived"
	OfSource  Origin = "source"
	OfMemory  Origin = "memory"
)

// Derived is text for a prompt that a system made from source text, with its provenance.
type Derived struct {
	// Kind is the kind of the text: "fact", "summary", "report", …
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Heading is the number of bytes at the start of Text that name its subject, such as "Fram (ship): ". The
	// rest describes the subject.
	Heading int `json:"heading,omitempty"`
	Provenance
}

// Provenance is the source of a derived text: the sorted, distinct IDs of its chunks and of their documents.
type Provenance struct {
	Docs   []string `json:"docs,omitempty"`
	Chunks []string `json:"chunks,omitempty"`
}

// ProvenanceOf returns the provenance of a text made from chunks.
func ProvenanceOf(chunks ...Chunk) Provenance {
	var p Provenance
	for _, c := range chunks {
		p.Docs, p.Chunks = append(p.Docs, c.Doc), append(p.Chunks, c.ID)
	}
	return Merged(p)
}

// Merged returns the provenance of a text made from several derived texts.
func Merged(parts ...Provenance) (all Provenance) {
	for _, p := range parts {
		all.Docs, all.Chunks = append(all.Docs, p.Docs...), append(all.Chunks, p.Chunks...)
	}
	slices.Sort(all.Docs)
	slices.Sort(all.Chunks)
	all.Docs, all.Chunks = slices.Compact(all.Docs), slices.Compact(all.Chunks)
	return all
}

// Row returns derived text of a kind: heading, the name of its subject, then a colon and said, the description.
func Row(kind, heading, said string, from Provenance) Derived {
	if said != "" {
		heading += ": "
	}
	return Derived{Kind: kind, Text: heading + said, Heading: len(heading), Provenance: from}
}

// Usage counts calls of models and their tokens. Tokens are the provider's counts if it returns any, see
// Estimated.
type Usage struct {
	// Calls is the number of calls of models, including calls whose replies llm/paid had cached. CachedCalls
	// counts replies that a system kept from an earlier change; these add nothing to the token counts.
	Calls            int `json:"llm_calls"`
	CachedCalls      int `json:"cached_calls,omitempty"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	EmbeddedTokens   int `json:"embedded_tokens"`
	// ProviderCached is the number of prompt tokens that the provider had cached and charges less for, if it
	// says so.
	ProviderCached int `json:"provider_cached_tokens,omitempty"`
	// Estimated is true if at least one reply came without token counts, so that its tokens were counted here.
	Estimated bool `json:"estimated,omitempty"`
	// Unread is the number of replies, or records in replies, that could not be parsed: their content is lost.
	Unread int `json:"unread,omitempty"`
}

// Tokens returns the number of all tokens: prompt, completion and embedded.
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

// Retriever finds text that helps to answer a question: by one index, a fusion of several, a search through a
// graph, or an agent that takes many steps. A combination of retrievers is a Retriever again.
//
// Found.Ranked is best first; equal scores are ordered by chunk ID. It contains at most Question.Want hits,
// fewer if fewer chunks match. A question without a usable word is not an error: it finds nothing. Retrieve is
// safe for concurrent use and returns the context's error when ctx is cancelled.
type Retriever interface {
	Retrieve(ctx context.Context, q Question) (Found, error)
}

// RetrieverFunc makes a [Retriever] of a function.
type RetrieverFunc func(ctx context.Context, q Question) (Found, error)

// Retrieve calls f.
func (f RetrieverFunc) Retrieve(ctx context.Context, q Question) (Found, error) { return f(ctx, q) }

// System is a complete question-answering system, as a benchmark runs it. It is also a Retriever.
//
// Index comes first; after it Insert, Delete, Retrieve and Answer may be called in any order and concurrently.
// Readers see the state after the last successful change and never wait for a change in progress; a change that
// fails or is cancelled changes nothing. Equal documents, options and questions give equal answers, at any
// concurrency and for any order of insertions and deletions.
type System interface {
	Retriever
	// Name identifies the system in reports, e.g. "bm25".
	Name() string
	// Index builds the system from a corpus. It stops at the first error of the stream. Two documents with the
	// same ID are an error.
	Index(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Insert adds documents; a document replaces one with the same ID. The statistics are of the whole index,
	// their usage is of this call.
	Insert(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Delete removes documents. Unknown IDs are ignored.
	Delete(ctx context.Context, ids ...string) (IndexStats, error)
	// Answer answers one question, and reports evidence and usage.
	Answer(ctx context.Context, q Question) (Answer, error)
	// Save writes the system to a folder, and Open replaces the system's state by a saved one. A crash while
	// saving leaves either the old or the new content. Open calls no model for what Save has written.
	Save(ctx context.Context, dir string) error
	Open(ctx context.Context, dir string) (IndexStats, error)
	// Close releases all resources. The system must not be used afterwards.
	Close() error
}

// Documents returns a stream of documents for [System].Index and Insert. No documents are an error, because
// then their source, such as a reader of files, found nothing.
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

// Streamer is a [System] that also returns an answer in pieces. Each Answer that it yields contains a longer
// prefix of the text, and the last one is the whole result of Answer. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q Question) iter.Seq2[Answer, error]
}

// IndexStats describes a built index. The figures of the graph are the columns of WildGraphBench, Table 4; they
// are zero for systems without a graph.
type IndexStats struct {
	Documents     int     `json:"documents"`
	Chunks        int     `json:"chunks"`
	Entities      int     `json:"entities"`
	Relations     int     `json:"relations"`
	AverageDegree float64 `json:"average_degree"`
	MaxDegree     int     `json:"max_degree"`
	IsolatedShare float64 `json:"isolated_share"`
	// Stages describes, in order, the steps of indexing that can fail in part without an error.
	Stages []Stage `json:"stages,omitempty"`
	// Schema is the schema that limited the extraction, a JSON object that extract.ReadSchema reads, if the
	// system has one.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Recall is the share of the ten nearest vectors that a search finds, measured on a sample of the chunks; 0
	// if a search compares all vectors.
	Recall float64 `json:"recall,omitempty"`
	Usage
}

// Notes returns sentences about results of the index that are not exact: stages with results for an earlier
// state, and searches that compare only a part of the vectors.
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

// Stage counts the items of one step of indexing: chunks to extract from, texts to embed, reports to write.
type Stage struct {
	Name     string `json:"name"`               // "extract", "embed", "summarize", "describe", "merge", "report"
	Asked    int    `json:"asked"`              // number of items to process
	Failed   int    `json:"failed,omitempty"`   // number of items without a result
	Refused  int    `json:"refused,omitempty"`  // number of failed items that the model refused or a filter blocked
	Repaired int    `json:"repaired,omitempty"` // number of items whose result was partly dropped or corrected
	Stale    int    `json:"stale,omitempty"`    // number of items with the result for an earlier, slightly different state
}
