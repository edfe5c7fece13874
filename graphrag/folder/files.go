// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Files contains the parsed files of a folder, none before [Open]. They are safe for concurrent use.
type Files struct{ now atomic.Pointer[generation] }

// File returns the parsed file of a document.
func (f *Files) File(id string) (*load.File, error) {
	for {
		now := f.now.Load()
		if now == nil {
			return nil, fmt.Errorf("folder: %s: asked before the folder was read", id)
		}
		file, err := now.file(id)
		if errors.Is(err, os.ErrClosed) && f.now.Load() != now {
			continue // of the generation before
		}
		return file, err
	}
}

// Reader returns a reader of evidence as in the files: whole lines under headings, with spread also gaps in chunks.
func (f *Files) Reader(r reader.Reader, spread bool) reader.Reader {
	longest := 2
	if spread {
		longest = maxSpread
	}
	return restored{r, f, longest}
}

type restored struct {
	reader.Reader
	files   *Files
	longest int // largest ratio of the text that is read to the chunk, in bytes
}

func (r restored) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return r.Reader.Read(ctx, q, r.files.restore(evidence, r.longest), derived)
}

func (r restored) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return reader.Stream(ctx, r.Reader, q, r.files.restore(evidence, r.longest), derived)
}

// Bounds of restoring: the length of a span as a multiple of the chunk's, and bytes more; bytes around a line.
const (
	maxSpread = 64
	freeSpan  = 512
	maxLine   = 400
)

// restore replaces the text of chunks by the text of the files if the lengths are similar.
func (f *Files) restore(evidence []graphrag.Hit, longest int) []graphrag.Hit {
	out := make([]graphrag.Hit, len(evidence))
	for i, h := range evidence {
		out[i] = h
		c := &out[i].Chunk
		file, err := f.File(c.Doc)
		if err != nil || c.End-c.Start > longest*len(c.Text)+freeSpan || !holds(file.Document.Text, *c) {
			continue
		}
		s := file.Document.Text
		if at := strings.LastIndexByte(s[max(0, c.Start-maxLine):c.Start], '\n'); at >= 0 || c.Start <= maxLine {
			c.Start = max(0, c.Start-maxLine) + at + 1
		}
		if at := strings.IndexByte(s[c.End:min(len(s), c.End+maxLine)], '\n'); at >= 0 {
			c.End += at + 1
		}
		c.Text, c.Lead = s[c.Start:c.End], load.Lead(s, c.Start)
	}
	return out
}

// holds reports whether a chunk can be part of a text: the file may have changed.
func holds(s string, c graphrag.Chunk) bool {
	if c.Start < 0 || c.Start > c.End || c.End > len(s) {
		return false
	}
	words := strings.Fields(display.Head(c.Text, 200))
	return len(words) == 0 || strings.Contains(s[c.Start:c.End], words[0])
}

// Source is a quote of an answer with its place.
type Source struct {
	// Doc is the path of the file, Title its title, and Place the place of the quote, see [load.File.Place].
	Doc   string `json:"path"`
	Title string `json:"title,omitempty"`
	Place string `json:"place"`
	Quote string `json:"quote"`
	// Start and End delimit the supported text in the answer, From and To the quote in the text of the document.
	Start int `json:"start"`
	End   int `json:"end"`
	From  int `json:"from"`
	To    int `json:"to"`
}

// maxQuote is the longest quote, in runes.
const maxQuote = 300

// Sources returns the distinct sources of the quotes of an answer.
func (f *Files) Sources(a graphrag.Answer) []Source {
	var out []Source
	for _, c := range a.Citations {
		chunk, ok := a.Passage(c)
		if !ok {
			continue
		}
		start, end := c.SourceStart, c.SourceEnd
		if end == 0 {
			start, end = chunk.Start, chunk.End
		}
		s := f.Source(chunk, start, end)
		s.Start, s.End = c.Start, c.End
		if n := len(out); n == 0 || out[n-1].Doc != s.Doc || out[n-1].Quote != s.Quote {
			out = append(out, s)
		}
	}
	return out
}

// Source returns a part of the document of a chunk as a source.
func (f *Files) Source(c graphrag.Chunk, start, end int) Source {
	s := Source{Doc: c.Doc, Title: c.Title, Place: "1", Quote: c.Text}
	if file, err := f.File(c.Doc); err == nil && 0 <= start && start <= end && end <= len(file.Document.Text) {
		start += len(file.Document.Text[start:end]) - len(strings.TrimLeft(file.Document.Text[start:end], " \t\r\n"))
		s.Place, s.Quote, s.From, s.To = file.Place(start), file.Document.Text[start:end], start, end
	}
	s.Quote = quote(s.Quote)
	return s
}

// quote returns a text on one line of bounded length, without the outer bars of table rows.
func quote(s string) string {
	r := []rune(strings.Trim(strings.Join(strings.Fields(display.OneLine(s)), " "), "| "))
	if len(r) > maxQuote {
		return string(r[:maxQuote-1]) + "…"
	}
	return string(r)
}
