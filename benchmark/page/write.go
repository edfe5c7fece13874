// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
)

//go:embed ui third_party/*.js
var files embed.FS

// scripts are the files of the page's program, in order.
var scripts = []string{"dom.js", "data.js", "state.js", "figures.js", "filter.js", "matrix.js", "detail.js"}

// libraries are scripts that draw charts. The page unpacks them before it draws the first chart.
var libraries = []string{"d3.min.js", "plot.umd.min.js"}

// assets are the parts of the file that do not depend on the report.
type assets struct {
	frame         *template.Template
	script, style string
	libraries     [][]byte
	policy        string
}

func newAssets() (a assets, err error) {
	read := func(file string) string {
		text, e := files.ReadFile(file)
		err = errors.Join(err, e)
		return string(text)
	}
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, file := range scripts {
		b.WriteString(read("ui/" + file))
	}
	b.WriteString("start();\n})();\n")
	a.script, a.style = b.String(), read("ui/page.css")
	run := hash(a.script)
	for _, file := range libraries {
		text := read("third_party/" + file)
		run += " " + hash(text)
		packed, e := pack([]byte(text))
		err = errors.Join(err, e)
		a.libraries = append(a.libraries, packed)
	}
	a.policy = "default-src 'none'; script-src " + run + "; style-src " + hash(a.style) + "; img-src data:; base-uri 'none'; form-action 'none'"
	if err == nil {
		a.frame, err = template.New("page").Parse(read("ui/page.html"))
	}
	return a, err
}

// hash returns the hash of a script or a style for a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pageFrame is the input of the page's template.
type pageFrame struct {
	*Page
	Policy string
	Style  template.CSS
	Tables []frameTable
}

type frameTable struct {
	Table
	ID     int
	Charts []frameChart
}

type frameChart struct {
	ID    int
	Title string
	Data  []string
}

// Write writes the page. It returns the first error of w.
func (p *Page) Write(w io.Writer) error {
	a, err := newAssets()
	if err != nil {
		return fmt.Errorf("page: preparing scripts and styles: %w", err)
	}
	pieces, first, err := p.pieces()
	if err != nil {
		return fmt.Errorf("page: packing the questions: %w", err)
	}
	index, err := json.Marshal(p.index(first))
	if err == nil {
		index, err = pack(index)
	}
	if err != nil {
		return fmt.Errorf("page: packing the index: %w", err)
	}
	b := bufio.NewWriter(w)
	if err := a.frame.Execute(b, p.frame(a)); err != nil {
		return fmt.Errorf("page: executing the template: %w", err)
	}
	data := func(id string, piece []byte) {
		fmt.Fprintf(b, "<script type=\"application/gzip\" id=%q>%s</script>\n", id, base64.StdEncoding.EncodeToString(piece))
	}
	data("index", index)
	for i, piece := range a.libraries {
		data(fmt.Sprint("library", i), piece)
	}
	fmt.Fprintf(b, "<script>%s</script>\n", a.script)
	for i, piece := range pieces {
		data(fmt.Sprint("piece", i), piece)
	}
	b.WriteString("</body>\n</html>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("page: writing: %w", err)
	}
	return nil
}

// frame returns the input of the template, with cleaned texts. All markup comes from the template.
func (p *Page) frame(a assets) pageFrame {
	out := pageFrame{Policy: a.policy, Style: template.CSS(a.style)}
	shown := *p
	for _, s := range []*string{&shown.Title, &shown.Summary, &shown.Strong, &shown.Note, &shown.Verdict, &shown.Certainty} {
		*s = clean(*s, longText)
	}
	shown.Remarks = cleanTexts(p.Remarks)
	shown.Settings = mapped(p.Settings, func(s Setting) Setting { return Setting{name(s.Name), clean(s.Value, longText)} })
	chart := 0
	for i, t := range p.Tables {
		ft := frameTable{Table: t.clean(), ID: i}
		for _, c := range t.Charts {
			ft.Charts = append(ft.Charts, frameChart{chart, name(c.Title), names(c.data())})
			chart++
		}
		out.Tables = append(out.Tables, ft)
	}
	out.Page = &shown
	return out
}

func (t Table) clean() Table {
	t.Title, t.Heading = name(t.Title), name(t.Heading)
	t.Groups = mapped(t.Groups, func(g Group) Group { return Group{name(g.Heading), names(g.Columns), g.Qualified} })
	t.Rows = mapped(t.Rows, func(r Row) Row {
		return Row{name(r.Name), mapped(r.Cells, func(c Cell) Cell { return Cell{name(c.Text), c.Best, name(c.Interval)} }), r.Published}
	})
	t.Notes = mapped(t.Notes, func(n string) string { return clean(n, longText) })
	return t
}

// pack compresses data. Equal data give equal bytes.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// Largest lengths of texts, in bytes, and of lists, in elements. They are far above what a person reads; the
// file judgments.jsonl has everything.
const (
	longText  = 20_000 // answers, questions, notes
	longName  = 300    // names of documents, systems and domains
	longQuote = 1_000  // excerpts of passages, statements, reasons
	manyTexts = 200    // statements, pairs of statements
	manyRanks = 20     // ranked documents, steps, results of a step, documents
	manyReads = 60     // passages of an answer
)

// clean cuts a text to limit bytes and removes unprintable characters, except line breaks.
func clean(s string, limit int) string { return display.Printable(cut(s, limit)) }

// name cuts a text to longName bytes, removes unprintable characters and joins the lines.
func name(s string) string { return display.OneLine(cut(s, longName)) }

// cut cuts a text to limit bytes, at a character, and appends the number of omitted bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + fmt.Sprintf(" … (%d more bytes)", len(s)-end)
}

func names(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = name(s)
	}
	return out
}

func cleanTexts(list []string) []string {
	return mapped(firstN(list, manyTexts), func(s string) string { return clean(s, longQuote) })
}

// mapped applies a function to each element; it returns nil for an empty list.
func mapped[T, U any](list []T, of func(T) U) (out []U) {
	for _, one := range list {
		out = append(out, of(one))
	}
	return out
}

// firstN returns the first n elements of a list, or all if it has fewer.
func firstN[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// pieceBytes is the size of a piece before compression: a browser unpacks it without a noticeable delay.
const pieceBytes = 256 << 10

// questionDetail holds the texts of a question that only the opened question shows.
type questionDetail struct {
	Text       string          `json:"text"`
	Statements []string        `json:"gold,omitempty"`
	Pages      [][]string      `json:"pages,omitempty"`
	Answers    []*answerDetail `json:"answers"` // of each system; nil if it was not asked
}

type answerDetail struct {
	Verdict   string          `json:"verdict,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Text      []span          `json:"text,omitempty"`
	Predicted []string        `json:"said,omitempty"`
	Matches   [][2]int        `json:"matches,omitempty"`
	Ranked    []record.Ranked `json:"ranked"`
	Passages  []passage       `json:"passages,omitempty"`
	Unshown   int             `json:"unshown,omitempty"` // number of passages left out
	Steps     []graphrag.Step `json:"steps,omitempty"`
	Costs     Costs           `json:"costs"`
}

// span is a part of a text. Marks are the numbers, from 1, of the passages cited for it.
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
	shown := slices.DeleteFunc(slices.Clone(firstN(a.Citations, manyTexts)), func(c Citation) bool {
		return c.Passage < 0 || c.Passage >= min(len(a.Passages), manyReads)
	})
	out := &answerDetail{
		Verdict: name(a.Verdict), Reason: clean(a.Reason, longQuote), Text: spans(cut(a.Text, longText), shown),
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

// place returns the name of a chunk without the name of its document.
func place(chunk, doc string) string { return name(strings.TrimPrefix(chunk, doc)) }

// spans cuts a text into parts at the beginnings and ends of its citations.
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

// pieces returns the details of the questions in compressed pieces, and the first question of each piece.
func (p *Page) pieces() (packed [][]byte, first []int, err error) {
	first = []int{}
	if p.Run == nil {
		return nil, first, nil
	}
	piece := []byte("[")
	end := func() error {
		text, err := pack(append(piece, ']'))
		packed, piece = append(packed, text), []byte("[")
		return err
	}
	for i, q := range p.Run.Questions {
		text, err := json.Marshal(newDetail(q))
		if err == nil && i > 0 && len(piece)+len(text) > pieceBytes {
			err = end()
		}
		if err != nil {
			return nil, nil, err
		}
		if len(piece) == 1 {
			first = append(first, i)
		} else {
			piece = append(piece, ',')
		}
		piece = append(piece, text...)
	}
	if len(first) > 0 {
		err = end()
	}
	return packed, first, err
}
