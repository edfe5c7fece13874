// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Record is a [Settings], [Index], [Answer], [Judgment] or [Closing].
type Record interface {
	kind() uint8
	key() any // a record replaces an earlier one with the same key
}

// Settings are the settings whose digest is in a [Cell].
type Settings struct {
	Digest string         `json:"digest"`
	Values map[string]any `json:"values"`
}

// NewSettings returns settings with their digest.
func NewSettings(values map[string]any) (Settings, error) {
	text, err := json.Marshal(values) // JSON sorts the keys of a map
	if err != nil {
		return Settings{}, fmt.Errorf("record: settings: %w", err)
	}
	return Settings{Digest: Digest(string(text)), Values: values}, nil
}

// Digest returns a hash of a list of texts.
func Digest(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d\x00%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Cell identifies the index of one system over one domain.
type Cell struct {
	System string `json:"system"`
	Domain string `json:"domain"`
	// Corpus is the fingerprint of the documents, Settings the digest of the settings of the system.
	Corpus   string `json:"corpus,omitempty"`
	Settings string `json:"settings,omitempty"`
}

// Key identifies a question to a system by everything that determines the answer.
type Key struct {
	Cell
	ID       string        `json:"id"`
	Question string        `json:"question"`
	Form     graphrag.Form `json:"form,omitempty"`
	// K, Tokens and Depth are copied from the [graphrag.Question].
	K      int `json:"k"`
	Tokens int `json:"tokens,omitempty"`
	Depth  int `json:"depth"`
}

// Index describes an index that a system has built.
type Index struct {
	Cell
	Stats   graphrag.IndexStats `json:"stats"`
	Seconds float64             `json:"seconds"`
	// Usage is the model usage of indexing by the stage of the request, such as "community report".
	Usage map[string]graphrag.Usage `json:"usage_by_stage,omitempty"`
	// Steps are the seconds during which each step of indexing, or the calls of each stage, were running.
	Steps map[string]float64 `json:"seconds_by_stage,omitempty"`
	// Bytes is the size of the indexed documents.
	Bytes int64 `json:"bytes,omitempty"`
	// Tokens is the length of the documents in tokens, for systems that show their graph; 0 for others.
	Tokens int64 `json:"tokens,omitempty"`
	// Build counts how often the index was built again after failures. An answer holds for one build.
	Build int `json:"build,omitempty"`
	// Error says why there is no index, Detail where in the program the error occurred.
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Graph is true if the system shows its graph, even an empty one. Edges is the number of its edges.
	Graph bool  `json:"graph,omitempty"`
	Edges int64 `json:"edges,omitempty"`
}

// Answer is one answered question.
type Answer struct {
	Key
	Text    string `json:"answer"`
	Refused bool   `json:"refused,omitempty"`
	// Error says why there is no answer to this question. Errors that concern more than one question end the
	// run and are not recorded. Detail says where in the program the error occurred.
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Build is the [Index].Build of the index that answered.
	Build int `json:"build,omitempty"`
	// Foreign is true if another program made the answer, so that texts and lengths of the prompt are unknown.
	Foreign bool `json:"foreign,omitempty"`
	// Uncounted is true if the tokens of the prompt were not counted.
	Uncounted bool `json:"uncounted,omitempty"`
	// Searched is true if the question has no gold answer and was only searched for.
	Searched bool `json:"searched,omitempty"`
	// Ranked are the ranked chunks, best first; nil if the system ranks no chunks.
	Ranked []Ranked `json:"ranked"`
	// Evidence is the source text in the final prompt, Derived its summaries and facts. Sources are the
	// passages behind the derived texts that the answer cites.
	Evidence []Evidence `json:"evidence,omitempty"`
	Derived  []Derived  `json:"derived,omitempty"`
	Sources  []Evidence `json:"sources,omitempty"`
	// Citations refer to positions in Text, Evidence and Derived.
	Citations []graphrag.Citation `json:"citations,omitempty"`
	// Steps are the steps of the search.
	Steps []graphrag.Step `json:"steps,omitempty"`
	// Found is the share of the gold statements that the evidence contains, see benchmark.Evidence.Found; Gold
	// is the digest of the gold statements.
	Found  *float64       `json:"found,omitempty"`
	Gold   string         `json:"gold,omitempty"`
	Usage  graphrag.Usage `json:"usage"`
	Millis float64        `json:"ms"`
}

// Ranked is one place in a ranked list.
type Ranked struct {
	Chunk string  `json:"chunk"`
	Doc   string  `json:"doc"`
	Score float64 `json:"score"`
}

// Evidence is one chunk in a prompt.
type Evidence struct {
	Chunk  string `json:"chunk"`
	Doc    string `json:"doc"`
	Tokens int    `json:"tokens,omitempty"`
	// Text is the text of the chunk, stored only for judges that need it.
	Text string `json:"text,omitempty"`
	// Excerpt is a part of the text for readers; most chunks have none. Quotes are the byte ranges of the
	// excerpt that the answer quotes.
	Excerpt string   `json:"excerpt,omitempty"`
	Quotes  [][2]int `json:"quotes,omitempty"`
}

// Derived is a text in a prompt that is not source text: a fact or a summary.
type Derived struct {
	// Docs are the documents behind the text.
	Docs    []string `json:"docs,omitempty"`
	Tokens  int      `json:"tokens,omitempty"`
	Text    string   `json:"text,omitempty"`
	Excerpt string   `json:"excerpt,omitempty"`
}

// NewAnswer makes the record of an answer. count returns the tokens of a text; with nil they are not counted.
// With shown the texts of the prompt are stored.
func NewAnswer(k Key, a graphrag.Answer, count func(string) int, shown bool) Answer {
	out := Answer{Key: k, Text: a.Text, Refused: a.Refused, Steps: a.Steps, Usage: a.Usage, Uncounted: count == nil}
	if a.Ranked != nil {
		out.Ranked = make([]Ranked, len(a.Ranked))
	}
	for i, h := range a.Ranked {
		out.Ranked[i] = Ranked{h.Chunk.ID, h.Chunk.Doc, h.Score}
	}
	measure := func(text string) (tokens int, stored string) {
		if count != nil {
			tokens = count(text)
		}
		if shown {
			stored = text
		}
		return tokens, stored
	}
	pieces := func(hits []graphrag.Hit) (list []Evidence) {
		for _, h := range hits {
			tokens, text := measure(h.Chunk.Text)
			list = append(list, Evidence{Chunk: h.Chunk.ID, Doc: h.Chunk.Doc, Tokens: tokens, Text: text})
		}
		return list
	}
	if out.Evidence = pieces(a.Evidence); shown {
		out.Sources = pieces(a.Sources)
	}
	for _, d := range a.Derived {
		tokens, text := measure(d.Text)
		out.Derived = append(out.Derived, Derived{Docs: slices.Clone(d.Docs), Tokens: tokens, Text: text})
	}
	return out
}

// Uncited reports whether an answer cites nothing, although it had evidence and is no refusal.
func (a Answer) Uncited() bool {
	return !a.Foreign && !a.Refused && len(a.Citations) == 0 && len(a.Evidence)+len(a.Derived) > 0 && a.Text != ""
}

// ContextTokens returns the number of tokens of evidence and derived texts in the prompt.
func (a Answer) ContextTokens() int {
	n := 0
	for _, e := range a.Evidence {
		n += e.Tokens
	}
	for _, d := range a.Derived {
		n += d.Tokens
	}
	return n
}

// Effort returns the turns of an agent (1 for systems that read once), the searches, and all tokens read for
// an answer.
func (a Answer) Effort() (turns, searches, read int) {
	for _, s := range a.Steps {
		read += s.Tokens
		switch s.Kind {
		case "turn":
			turns++
		case "search", "read", "find":
			searches++
		}
	}
	if searches == 0 && a.Ranked != nil && turns == 0 {
		searches = 1
	}
	return max(turns, 1), searches, max(read, a.ContextTokens())
}

// Shown returns the passages of the prompt and the passages behind the derived texts that the answer cites. It
// is false if they were not stored. The derived texts themselves prove nothing, since a model of the system may
// have written them. An answer of another program has none of these.
func (a Answer) Shown() (texts []string, kept bool) {
	kept = a.Foreign || !slices.ContainsFunc(a.Derived, func(d Derived) bool { return d.Text == "" })
	for _, e := range slices.Concat(a.Evidence, a.Sources) {
		if !a.Foreign && !slices.Contains(texts, e.Text) {
			texts, kept = append(texts, e.Text), kept && e.Text != ""
		}
	}
	return texts, kept
}

// Judgment is the judgment of an answer: of a fact or of a summary, never both.
type Judgment struct {
	Key
	// Judge is the judge's name, Case the digest of its input: the answer, the gold and, for some judges, the
	// evidence.
	Judge   string                 `json:"judge"`
	Case    string                 `json:"case"`
	Detail  string                 `json:"detail,omitempty"` // where in the program the judge panicked
	Fact    *judge.FactJudgment    `json:"fact,omitempty"`
	Summary *judge.SummaryJudgment `json:"summary,omitempty"`
}

// Verdicts returns the verdicts of the judgment.
func (j Judgment) Verdicts() []judge.Verdict {
	switch {
	case j.Fact != nil:
		return []judge.Verdict{j.Fact.Verdict}
	case j.Summary != nil:
		return []judge.Verdict{j.Summary.Recall, j.Summary.Precision}
	}
	return nil
}

// Usage returns the model usage of judging.
func (j Judgment) Usage() graphrag.Usage {
	switch {
	case j.Fact != nil:
		return j.Fact.Usage
	case j.Summary != nil:
		return j.Summary.Usage
	}
	return graphrag.Usage{}
}

// Closing records that a system has finished a domain.
type Closing struct {
	Cell
	PeakRSSMB float64 `json:"peak_rss_mb,omitempty"`
}

// RepeatSuffix returns the suffix that the ID of a repeated question gets.
func RepeatSuffix(repeat int) string {
	if repeat == 0 {
		return ""
	}
	return fmt.Sprintf("~%d", repeat+1)
}

// ValidName reports whether a system may have this name: at most 64 letters, digits, "-", "_", ":" and ".",
// without a "." at the start. The name is a part of file names, see [FileName].
func ValidName(s string) bool { return validName.MatchString(s) }

var validName = regexp.MustCompile(`^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,63}$`)

// FileName returns the name of a system as a part of file names. Some file systems do not allow a colon.
func FileName(system string) string { return strings.ReplaceAll(system, ":", "+") }

// Schema is the version of the records in a journal.
const Schema = "wildgraph-run/3"

// JournalName is the journal's file name in a folder of records.
const JournalName = "run.journal"

// ErrOtherSchema is wrapped by the error about a folder with records of another version of this package.
var ErrOtherSchema = errors.New("the folder holds records of another version")

// The kinds of records in a journal.
const (
	kindSettings uint8 = iota + 1
	kindIndex
	kindAnswer
	kindJudgment
	kindClosing
)

func (Settings) kind() uint8 { return kindSettings }
func (Index) kind() uint8    { return kindIndex }
func (Answer) kind() uint8   { return kindAnswer }
func (Judgment) kind() uint8 { return kindJudgment }
func (Closing) kind() uint8  { return kindClosing }

func (r Settings) key() any { return r.Digest }
func (r Index) key() any    { return indexKey(r.Cell) }
func (r Answer) key() any   { return r.Key }
func (r Judgment) key() any { return judgmentKey{r.Key, r.Judge, r.Case} }
func (r Closing) key() any  { return closingKey(r.Cell) }

// The keys under which judgments, indexes and closings are stored.
type (
	judgmentKey struct {
		Key
		judge, shown string
	}
	indexKey   Cell
	closingKey Cell
)

// Log holds records in memory and, if there is a folder, on disk. It is safe for concurrent use.
type Log struct {
	journal *journal.Journal // nil if nothing is written to disk

	mu      sync.Mutex
	records map[any]Record // all records by their keys
}

// New returns a log that is only in memory.
func New() *Log { return &Log{records: make(map[any]Record)} }

// Open reads the records of a folder, or starts new ones. It locks the folder until it is closed.
func Open(dir string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record: creating the folder: %w", err)
	}
	j, err := journal.Open(filepath.Join(dir, JournalName), journal.Header{Schema: Schema}, journal.Options{})
	var mismatch *journal.MismatchError
	switch {
	case errors.As(err, &mismatch):
		return nil, fmt.Errorf("record: %s: %w: they are %s, this program writes %s; choose another folder, or remove %s to start anew",
			dir, ErrOtherSchema, mismatch.Have.Schema, Schema, JournalName)
	case errors.Is(err, journal.ErrLocked):
		return nil, fmt.Errorf("record: %s is in use by another run; wait for it or choose another folder: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("record: opening the records: %w", err)
	}
	l := New()
	l.journal = j
	for r, err := range l.Records() {
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		l.keep(r)
	}
	return l, nil
}

// Forget removes the records of a folder, even damaged ones, unless a run uses them. A missing file is no
// error.
func Forget(dir string) error {
	name := filepath.Join(dir, JournalName)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	j, err := journal.Open(name, journal.Header{Schema: Schema}, journal.Options{})
	if errors.Is(err, journal.ErrLocked) {
		return fmt.Errorf("record: %s is in use by another run; wait for it or choose another folder: %w", dir, err)
	}
	if err == nil {
		defer j.Close() // an error does not matter: the file is removed
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("record: removing the records: %w", err)
	}
	return nil
}

// Records iterates over the records on disk in the order in which they were added.
func (l *Log) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if l.journal == nil {
			return
		}
		for entry, err := range l.journal.Records() {
			var r Record
			if err != nil {
				err = fmt.Errorf("record: %s: %w", l.journal.Path(), err)
			} else if r, err = decode(entry); err != nil {
				err = fmt.Errorf("record: %s: record %d: %w", l.journal.Path(), entry.Seq, err)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func decode(e journal.Record) (Record, error) {
	switch e.Kind {
	case kindSettings:
		return unmarshal[Settings](e.Payload)
	case kindIndex:
		return unmarshal[Index](e.Payload)
	case kindAnswer:
		return unmarshal[Answer](e.Payload)
	case kindJudgment:
		return unmarshal[Judgment](e.Payload)
	case kindClosing:
		return unmarshal[Closing](e.Payload)
	}
	return nil, fmt.Errorf("unknown kind of record %d", e.Kind)
}

func unmarshal[R Record](payload []byte) (Record, error) {
	var r R
	err := json.Unmarshal(payload, &r)
	return r, err
}

func (l *Log) keep(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records[r.key()] = r
}

// Add stores a record: on disk first, then in memory.
func (l *Log) Add(r Record) error {
	if l.journal != nil {
		payload, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("record: encoding a record: %w", err)
		}
		err = l.journal.Append(r.kind(), payload)
		if errors.Is(err, journal.ErrGone) {
			l.mu.Lock()
			defer l.mu.Unlock()
			lost := make(map[uint8]int)
			for _, r := range l.records {
				lost[r.kind()]++
			}
			return fmt.Errorf("record: %w; the %d answers and %d judgments in it are lost", err, lost[kindAnswer], lost[kindJudgment])
		}
		if err != nil {
			return fmt.Errorf("record: writing a record failed; free space on the disk and start again, earlier records are kept: %w", err)
		}
	}
	l.keep(r)
	return nil
}

func get[R Record](l *Log, key any) (R, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[key].(R)
	return r, ok
}

// Settings returns the settings with a digest.
func (l *Log) Settings(digest string) (Settings, bool) { return get[Settings](l, digest) }

// Index returns the record of an index.
func (l *Log) Index(c Cell) (Index, bool) { return get[Index](l, indexKey(c)) }

// Answer returns the recorded answer to a question.
func (l *Log) Answer(k Key) (Answer, bool) { return get[Answer](l, k) }

// Judgment returns a judge's recorded judgment of an answer; the digest of the judge's input identifies it.
func (l *Log) Judgment(k Key, judge, shown string) (Judgment, bool) {
	return get[Judgment](l, judgmentKey{k, judge, shown})
}

// Closing returns the record that a cell is finished.
func (l *Log) Closing(c Cell) (Closing, bool) { return get[Closing](l, closingKey(c)) }

// Recovered describes the folder as [Open] found it: its records, and the bytes of an unfinished write.
func (l *Log) Recovered() (r journal.Recovery) {
	if l.journal != nil {
		r = l.journal.Recovered()
	}
	return r
}

// Close releases the folder.
func (l *Log) Close() error {
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
