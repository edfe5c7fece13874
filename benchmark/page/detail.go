// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/json"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
)

// pieceBytes is the size at which a piece ends: small enough to be unpacked within a key press.
const pieceBytes = 256 << 10

// questionDetail holds the texts of a question that the panel shows and the index lacks.
type questionDetail struct {
	Text       string          `json:"text"`
	Statements []string        `json:"gold,omitempty"`
	Pages      [][]string      `json:"pages,omitempty"`
	Answers    []*answerDetail `json:"answers"` // by system; null of one that was not asked
}

type answerDetail struct {
	Verdict   string          `json:"verdict,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Text      []span          `json:"text,omitempty"`
	Predicted []string        `json:"said,omitempty"`
	Matches   [][2]int        `json:"matches,omitempty"`
	Ranked    []record.Ranked `json:"ranked"`
	Passages  []passage       `json:"passages,omitempty"`
	Unshown   int             `json:"unshown,omitempty"` // passages beyond the limit
	Steps     []graphrag.Step `json:"steps,omitempty"`
	Costs     Costs           `json:"costs"`
}

// span is a piece of a text; Marks are the passages cited with it, counted from 1.
type span struct {
	Text  string `json:"t"`
	Marks []int  `json:"m,omitempty"`
}

type passage struct {
	Doc    string   `json:"doc,omitempty"`
	Chunk  string   `json:"chunk,omitempty"`
	Docs   []string `json:"docs,omitempty"`
	Tokens int      `json:"tokens,omitempty"`
	Text   []span   `json:"text,omitempty"`
}

func newDetail(q Question) questionDetail {
	d := questionDetail{Text: clean(q.Text, longText), Statements: cleanTexts(q.Statements)}
	d.Pages = mapped(firstN(q.Gold, manyTexts), func(unit []string) []string { return names(firstN(unit, manyRanks)) })
	for _, a := range q.Answers {
		if a.State == Absent {
			d.Answers = append(d.Answers, nil)
			continue
		}
		d.Answers = append(d.Answers, newAnswer(a))
	}
	return d
}

func newAnswer(a Answer) *answerDetail {
	out := &answerDetail{
		Verdict: name(a.Verdict), Reason: clean(a.Reason, longQuote), Text: spans(cut(a.Text, longText), a.cited()),
		Predicted: cleanTexts(a.Predicted), Matches: firstN(a.Matches, 4*manyTexts), Ranked: []record.Ranked{}, Costs: a.Costs,
		Unshown: max(len(a.Passages)-manyReads, 0),
	}
	for _, r := range firstN(a.Ranked, manyRanks) {
		out.Ranked = append(out.Ranked, record.Ranked{Doc: name(r.Doc), Chunk: place(r.Chunk, r.Doc), Score: r.Score})
	}
	for _, p := range firstN(a.Passages, manyReads) {
		quotes := mapped(firstN(p.Quotes, manyRanks), func(q [2]int) Citation { return Citation{q[0], q[1], 0} })
		out.Passages = append(out.Passages, passage{name(p.Doc), place(p.Chunk, p.Doc), names(firstN(p.Docs, manyRanks)), p.Tokens, spans(cut(p.Text, longQuote), quotes)})
	}
	out.Steps = mapped(firstN(a.Steps, manyRanks), func(s graphrag.Step) graphrag.Step {
		return graphrag.Step{Kind: name(s.Kind), Query: clean(s.Query, longQuote), Found: names(firstN(s.Found, manyRanks))}
	})
	return out
}

// place returns the name of a chunk without its document's.
func place(chunk, doc string) string { return name(strings.TrimPrefix(chunk, doc)) }

// cited returns the citations of passages that are shown.
func (a Answer) cited() []Citation {
	return slices.DeleteFunc(slices.Clone(firstN(a.Citations, manyTexts)), func(c Citation) bool {
		return c.Passage < 0 || c.Passage >= min(len(a.Passages), manyReads)
	})
}

// spans cuts a text at the ends of citations, which are cut to the text.
func spans(s string, citations []Citation) []span {
	cuts := []int{0, len(s)}
	for _, c := range citations {
		cuts = append(cuts, min(max(c.Start, 0), len(s)), min(max(c.End, 0), len(s)))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []span
	for i, from := range cuts[:len(cuts)-1] {
		p := span{Text: clean(s[from:cuts[i+1]], longText+longName)}
		for _, c := range citations {
			if c.Start <= from && from < c.End && !slices.Contains(p.Marks, c.Passage+1) {
				p.Marks = append(p.Marks, c.Passage+1)
			}
		}
		slices.Sort(p.Marks)
		out = append(out, p)
	}
	return out
}

// pieces packs the details of the questions; first is the first question of each piece.
func (p *Page) pieces() (packed [][]byte, first []int, err error) {
	first = []int{}
	if p.Run == nil {
		return nil, first, nil
	}
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	texts := make([][]byte, len(p.Run.Questions))
	for i, q := range p.Run.Questions {
		all.Go(func() (err error) { texts[i], err = json.Marshal(newDetail(q)); return err })
	}
	if err := all.Wait(); err != nil {
		return nil, nil, err
	}
	size := 0
	for i, text := range texts {
		if i == 0 || size+len(text) > pieceBytes {
			first, size = append(first, i), 0
		}
		size += len(text) + len(",")
	}
	packed = make([][]byte, len(first))
	for n, from := range first {
		to := len(texts)
		if n+1 < len(first) {
			to = first[n+1]
		}
		all.Go(func() (err error) { packed[n], err = pack(jsonArray(texts[from:to])); return err })
	}
	return packed, first, all.Wait()
}

// jsonArray is a JSON array of values.
func jsonArray(values [][]byte) []byte {
	out := append([]byte{'['}, bytes.Join(values, []byte{','})...)
	return append(out, ']')
}
