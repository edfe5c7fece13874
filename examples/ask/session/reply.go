// SPDX-License-Identifier: Apache-2.0

package session

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
	ID       string `json:"id,omitempty"` // of a question of a file
	Question string `json:"question"`
	ReadAs   string `json:"read_as,omitempty"` // the question with earlier questions resolved, if it depends on them
	System   string `json:"system,omitempty"`
	Answer   string `json:"answer"`
	// Refused means that the folder does not contain the answer. Closest then has sentences of the three
	// nearest passages.
	Refused bool     `json:"refused,omitempty"`
	Closest []Source `json:"closest,omitempty"`
	// Uncited means that no passage is cited for the answer; Closest is set, too.
	Uncited    bool      `json:"uncited,omitempty"`
	Confidence float64   `json:"confidence,omitempty"` // see graphrag.Answer
	Sources    []Source  `json:"sources,omitempty"`
	Facts      []string  `json:"facts,omitempty"` // cited facts of a graph, or summaries
	Passages   []Passage `json:"passages,omitempty"`
	Calls      int       `json:"llm_calls,omitempty"`
	Unread     int       `json:"unread,omitempty"` // replies of models, or records of replies, that could not be read
	Note       string    `json:"note,omitempty"`   // set if the index is outdated
	// Trace has the times of the steps, for the page.
	Trace *trace.Recorder `json:"trace,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Source is a quote with its place.
type Source struct {
	Path  string `json:"path"`  // of the file, for a terminal to open
	File  string `json:"file"`  // the same within the folder
	Place string `json:"place"` // line, page or paragraph
	Title string `json:"title,omitempty"`
	Quote string `json:"quote"`
	// Lit has the words that a closest quote shares with the question.
	Lit []string    `json:"lit,omitempty"`
	lit []text.Span // their places in Quote
	// Start and End delimit the supported text of the answer, in bytes; Before and After surround the
	// quote in the file.
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// From and To delimit the quote in the text of the file, in bytes, for [Session.Excerpt]. Raw is that
	// text with its markup and line breaks, if it differs from the quote.
	From int    `json:"from"`
	To   int    `json:"to"`
	Raw  string `json:"raw,omitempty"`
}

// At returns the place of the quote: "notes/owls.md:12".
func (s Source) At() string { return s.Path + ":" + s.Place }

// Marked returns the quote with begin and end around the words of Lit.
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

// light finds the words that the quote shares with a question, without stop words of its language.
func (s *Source) light(question string) {
	words, err := text.New(text.Options{Language: text.LanguageOf(question)})
	if err != nil {
		panic(err) // a language of package text
	}
	terms := words.Terms(question)
	words.Spans(s.Quote, func(w []byte, start, end int) {
		if term, ok := words.Term(string(w)); ok && slices.Contains(terms, term) {
			s.lit = append(s.lit, text.Span{Start: start, End: end})
			if w := s.Quote[start:end]; !slices.Contains(s.Lit, w) {
				s.Lit = append(s.Lit, w)
			}
		}
	})
}

// Passage is a retrieved piece of a file.
type Passage struct {
	Path  string  `json:"path"`
	File  string  `json:"file"`
	Place string  `json:"place"`
	Score float64 `json:"score"`
	Text  string  `json:"text"`
	From  int     `json:"from"` // its place in the text of the file, in bytes
	To    int     `json:"to"`
}

func (d *Session) path(doc string) string { return filepath.Join(d.shown, filepath.FromSlash(doc)) }

func (d *Session) sources(a graphrag.Answer) []Source {
	const around = 200 // bytes of Before and of After
	var out []Source
	for _, s := range d.folder.Sources(a) {
		out = append(out, d.source(s, around, " "))
	}
	return out
}

// source returns a quote with up to bytes of the file on each side, cut at separators.
func (d *Session) source(s folder.Source, bytes int, separator string) Source {
	x := Source{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Title: s.Title, Quote: s.Quote, Start: s.Start, End: s.End, From: s.From, To: s.To}
	f, err := d.folder.File(s.Doc)
	if err != nil || s.To > len(f.Document.Text) || s.From > s.To {
		return x
	}
	text, valid := f.Document.Text, func(s string) string { return strings.ToValidUTF8(s, "") } // drops cut characters
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

func (d *Session) passages(hits []graphrag.Hit) []Passage {
	var out []Passage
	for _, h := range hits {
		s := d.folder.Source(h.Chunk, h.Chunk.Start, h.Chunk.End)
		out = append(out, Passage{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Score: h.Score, Text: strings.TrimSpace(h.Chunk.Text), From: s.From, To: s.To})
	}
	return out
}
