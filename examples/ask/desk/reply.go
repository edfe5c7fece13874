// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// Reply is the answer to a question.
type Reply struct {
	// ID is that of a question of a file, if it has one.
	ID       string `json:"id,omitempty"`
	Question string `json:"question"`
	// ReadAs is the question as it was searched for, if it leans on those before it.
	ReadAs string `json:"read_as,omitempty"`
	System string `json:"system,omitempty"`
	Answer string `json:"answer"`
	// Refused says that the folder does not hold the answer; Closest are the sentences of
	// the three passages that come nearest.
	Refused bool     `json:"refused,omitempty"`
	Closest []Source `json:"closest,omitempty"`
	// Uncited says that no passage is cited for the answer; Closest are set then, too.
	Uncited bool `json:"uncited,omitempty"`
	// Confidence is that of graphrag.Answer.
	Confidence float64   `json:"confidence,omitempty"`
	Sources    []Source  `json:"sources,omitempty"`
	Facts      []string  `json:"facts,omitempty"` // of a graph, or summaries, that are cited
	Passages   []Passage `json:"passages,omitempty"`
	Calls      int       `json:"llm_calls,omitempty"`
	// Unread is how many replies of models, or records of replies, could not be read.
	Unread int `json:"unread,omitempty"`
	// Note says that the answer does not follow the files as they are now.
	Note string `json:"note,omitempty"`
	// Trace is where the time of an answer went, for the page.
	Trace *trace.Recorder `json:"trace,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Source is a quote, and where it stands.
type Source struct {
	Path  string `json:"path"`  // of the file, for a terminal to open
	File  string `json:"file"`  // the same within the folder
	Place string `json:"place"` // line, page or paragraph
	Title string `json:"title,omitempty"`
	Quote string `json:"quote"`
	// Lit are the words of a closest quote that the question has too.
	Lit []string    `json:"lit,omitempty"`
	lit []text.Span // their places in Quote
	// Start and End delimit what it supports in the answer, in bytes; Before and After are
	// what stands around the quote in the file.
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// From and To delimit the quote in the text of the file, in bytes, for [Desk.Excerpt]. Raw is
	// that text with its markup and line breaks, where the quote is another.
	From int    `json:"from"`
	To   int    `json:"to"`
	Raw  string `json:"raw,omitempty"`
}

// At is where the quote stands: "notes/owls.md:12".
func (s Source) At() string { return s.Path + ":" + s.Place }

// Marked is the quote with marks around the words of Lit.
func (s Source) Marked(begin, end string) string {
	var b strings.Builder
	at := 0
	for _, p := range s.lit {
		if p.Start >= at {
			b.WriteString(s.Quote[at:p.Start] + begin + p.In(s.Quote) + end)
			at = p.End
		}
	}
	return b.String() + s.Quote[at:]
}

// light finds the words of the quote that a question has too, but for stop words, in its
// language.
func (s *Source) light(question string) {
	words, err := text.New(text.Options{Language: text.LanguageOf(question)})
	if err != nil {
		panic(err) // a language of package text
	}
	asked := make(map[string]bool)
	words.Words(question, func(w []byte) bool {
		if term, ok := words.Term(string(w)); ok {
			asked[term] = true
		}
		return true
	})
	words.Spans(s.Quote, func(w []byte, start, end int) {
		if term, ok := words.Term(string(w)); ok && asked[term] {
			s.lit = append(s.lit, text.Span{Start: start, End: end})
			if w := s.Quote[start:end]; !slices.Contains(s.Lit, w) {
				s.Lit = append(s.Lit, w)
			}
		}
	})
}

// Passage is a piece of a file that was found.
type Passage struct {
	Path  string  `json:"path"`
	File  string  `json:"file"`
	Place string  `json:"place"`
	Score float64 `json:"score"`
	Text  string  `json:"text"`
	From  int     `json:"from"` // its place in the text of the file, in bytes
	To    int     `json:"to"`
}

func (d *Desk) path(doc string) string { return filepath.Join(d.shown, filepath.FromSlash(doc)) }

// around is how much of the file stands beside a quote, in bytes.
const around = 200

func (d *Desk) sources(a graphrag.Answer) []Source {
	var out []Source
	for _, s := range d.folder.Sources(a) {
		out = append(out, d.source(s, around, " "))
	}
	return out
}

// source is a quote with what stands in the file beside it, up to so many bytes, from one
// separator to another.
func (d *Desk) source(s folder.Source, bytes int, separator string) Source {
	x := Source{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Title: s.Title, Quote: s.Quote, Start: s.Start, End: s.End, From: s.From, To: s.To}
	f, err := d.folder.File(s.Doc)
	if err != nil || s.To > len(f.Document.Text) || s.From > s.To {
		return x
	}
	text, valid := f.Document.Text, func(s string) string { return strings.ToValidUTF8(s, "") } // where a letter is cut
	start, end := max(0, s.From-bytes), min(len(text), s.To+bytes)
	before, after := text[start:s.From], text[s.To:end]
	if _, rest, ok := strings.Cut(before, separator); ok && start > 0 {
		before = "…" + strings.Trim(separator, " ") + rest
	}
	if at := strings.LastIndex(after, separator); at >= 0 && end < len(text) {
		after = after[:at] + strings.Trim(separator, " ") + "…"
	}
	if x.Raw = valid(text[s.From:min(s.To, s.From+excerpt)]); x.Raw == x.Quote {
		x.Raw = ""
	}
	x.Before, x.After = valid(before), valid(after)
	return x
}

func (d *Desk) passages(hits []graphrag.Hit) []Passage {
	var out []Passage
	for _, h := range hits {
		s := d.folder.Source(h.Chunk, h.Chunk.Start, h.Chunk.End)
		out = append(out, Passage{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Score: h.Score, Text: strings.TrimSpace(h.Chunk.Text), From: s.From, To: s.To})
	}
	return out
}
