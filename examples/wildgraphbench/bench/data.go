// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
)

// layouts are the layouts of data sets that -data recognises. To add one, add it to this list.
var layouts = []benchmark.Layout{own.Layout, wildgraph.Layout, multihop.Layout}

// loaded opens the data set: the shipped sample, a folder, or a file of questions with a folder of documents.
func loaded(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	d, err := open(ctx, s)
	if errors.Is(err, benchmark.ErrUnknownDomain) {
		err = cli.Usagef("-domains: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if s.indexOnly {
		for i := range d.Domains {
			d.Domains[i].Items = nil
		}
	} else if len(questions(d, 0)) == 0 {
		return nil, cli.Usagef("%s has no questions for this run; -index-only describes its graphs", d.Name)
	}
	d.Notes = append(slices.Clone(d.Notes), unfit(d, reader.Mode(s.Mode))...)
	return d, nil
}

// unfit returns notes on questions that would make figures misleading.
func unfit(set *benchmark.Dataset, mode reader.Mode) (notes []string) {
	all, unanswerable := 0, 0
	texts := make(map[string]int)
	for _, d := range set.Domains {
		for _, it := range d.Items {
			all++
			texts[d.Name+"\x00"+strings.ToLower(display.OneLine(it.Question.Text))]++
			if it.Unanswerable {
				unanswerable++
			}
		}
	}
	if unanswerable > 0 && !mode.Rejects() {
		notes = append(notes, fmt.Sprintf("%d of %s have no answer, but -mode %s answers them: -mode reject refuses if the documents have no answer", unanswerable, display.Counted(all, "question"), mode))
	}
	if again := all - len(texts); again > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s repeat an earlier one word for word: they count again without new information", again, display.Counted(all, "question")))
	}
	if all < report.MinQuestions {
		notes = append(notes, fmt.Sprintf("%s: with fewer than %d there is no interval and no test, and no system is called better", display.Counted(all, "question"), report.MinQuestions))
	}
	return notes
}

func open(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	if s.questions != "" {
		return openOwn(ctx, s)
	}
	if s.data == "" {
		folder, err := fs.Sub(sample, "sample")
		if err != nil {
			return nil, err
		}
		set, err := wildgraph.Load(folder, benchmark.LoadOptions{Domains: s.domains})
		if err == nil {
			set.Name += " sample"
		}
		return set, err
	}
	// Links out of the folder are not followed. Pages are read as long as the program runs.
	root, err := os.OpenRoot(s.data)
	if err != nil {
		return nil, err
	}
	return benchmark.Open(root.FS(), benchmark.LoadOptions{
		Name: filepath.Base(absolute(s.data)), Domains: s.domains, K: s.k, Mode: s.Mode, OwnPrompt: s.Instruction == "" || len(s.Replaced()) > 1,
	}, layouts...)
}

// openOwn reads a file of questions and a folder of documents.
func openOwn(ctx context.Context, s settings) (*benchmark.Dataset, error) {
	if len(s.domains) > 0 {
		return nil, cli.Usagef("-domains: %s has one domain", filepath.Base(s.questions))
	}
	if rel, err := filepath.Rel(absolute(s.docs), absolute(s.questions)); s.docs != "" && err == nil && filepath.IsLocal(rel) {
		return nil, cli.Usagef("-questions %s is in the folder of -docs and may be indexed: move it out", s.questions)
	}
	var docs fs.FS
	if s.docs != "" {
		var err error
		if docs, err = load.Root(s.docs); err != nil {
			return nil, cli.Usagef("-docs: %w", err)
		}
	}
	f, err := os.Open(s.questions)
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	files := cli.NewFiles()
	defer files.Close() // only stops the parser of PDF
	return own.Load(ctx, filepath.Base(s.questions), f, docs, files.Options)
}

// absolute returns the absolute path of a file, or name if it cannot be determined.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// describe prints the data set and the kit of a run.
func describe(w io.Writer, s settings, d *benchmark.Dataset) {
	var domains []string
	pages, bytes := 0, int64(0)
	for _, of := range d.Domains {
		pages, bytes, domains = pages+of.Pages, bytes+of.Bytes, append(domains, of.Name)
	}
	name := d.Name
	if len(domains) < 10 && domains[0] != name {
		name += " (" + strings.Join(domains, ", ") + ")"
	}
	fmt.Fprintf(w, "%s: %s, %s (%.1f MB), %s. Kit: %s.\n",
		name, display.Counted(len(d.Domains), "domain"), display.Counted(pages, "page"), float64(bytes)/1e6, display.Counted(len(questions(d, s.Limit)), "question"), s.KitName())
	for _, note := range d.Notes {
		fmt.Fprintln(w, "Note:", display.OneLine(note))
	}
}

// runParts are the shared parts of a run and its judges.
type runParts struct {
	*setup.Parts
	judges []profiled
}

// profiled is a judge with the name of its profile, "" for rules without published figures that judge because
// -judge-profile names no judge.
type profiled struct {
	judge.Judge
	profile string
}

func newParts(ctx context.Context, s settings, d *benchmark.Dataset, log *slog.Logger) (*runParts, error) {
	var chosen []judge.Procedure
	for _, name := range s.judgeProfiles {
		j := slices.IndexFunc(d.Judges, func(j judge.Procedure) bool { return j.Profile == name })
		if j < 0 {
			return nil, cli.Usagef("-judge-profile %s does not judge the questions of %s", name, d.Name)
		}
		chosen = append(chosen, d.Judges[j])
	}
	shared, err := setup.NewParts(ctx, s.Settings, log)
	if err != nil {
		return nil, err
	}
	p := &runParts{Parts: shared}
	by := judge.Parts{Options: judge.Options{Grounded: s.grounded}, Model: p.Judge}
	if p.Embedder != nil {
		by.Embedder = p.Embedder
	}
	entail, err := p.OpenEntailment(ctx, s.entailModel)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if entail != nil {
		by.Entailer = entail
	}
	if !s.ByModel() && slices.ContainsFunc(d.Types, func(t benchmark.Type) bool { return t.Choices }) {
		words, err := text.New(text.Options{NoStems: true})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.Kit.Read = chooser{p.Kit.Read, words}
	}
	impossible := func(j judge.Procedure) bool { return !j.Possible(by) }
	if possible := slices.DeleteFunc(slices.Clone(d.Judges), impossible); len(possible) == 0 {
		return nil, errors.Join(cli.Usagef("%s has no judge without a model: name one by -judge-model", d.Name), p.Close())
	} else if len(chosen) == 0 || slices.ContainsFunc(chosen, impossible) { // a dry run opens no model for entailment
		chosen = possible[:1]
	}
	for _, procedure := range chosen {
		j, err := procedure.New(by)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		profile := procedure.Profile
		if len(s.judgeProfiles) == 0 && !procedure.NeedsModel && !procedure.NeedsEntailer && !procedure.Published {
			profile = ""
		}
		p.judges = append(p.judges, profiled{j, profile})
	}
	return p, nil
}

// scalesOf returns the table of a run's means in the units that the judge's publication uses.
func scalesOf(r *report.Report, s *judge.Scales) page.Table {
	t := page.Table{Title: s.Title, Heading: "System", Groups: []page.Group{{}}, Notes: []string{s.Note}}
	last := page.Row{Name: s.Row}
	for _, c := range s.Columns {
		t.Groups[0].Columns = append(t.Groups[0].Columns, c.Title)
		last.Cells = append(last.Cells, page.Cell{Text: fmt.Sprintf("%.3f", c.Published)})
	}
	for _, system := range r.Systems {
		v := system.Overall.Types[benchmark.All].Verdicts()
		if v == nil || v.Accuracy == nil {
			continue
		}
		row := page.Row{Name: system.System}
		for _, c := range s.Columns {
			value, ok := *v.Accuracy, true
			if c.Score != "" {
				value, ok = v.Scores[c.Score]
			}
			cell := page.Cell{Text: "n/a"}
			if ok {
				cell.Text = fmt.Sprintf("%.3f", c.Points(value))
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, last)
	return t
}

// chooser answers multiple choice without a model: it takes the option whose words, together with the
// question, two consecutive sentences of the evidence contain best. Its inner reader answers other questions.
type chooser struct {
	reader.Reader
	words *text.Standard
}

// Name implements [reader.Reader].
func (c chooser) Name() string { return "chooser+" + c.Reader.Name() }

var option = regexp.MustCompile(`(?m)^([A-D])\. (.+)$`)

// Read implements [reader.Reader].
func (c chooser) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	options := option.FindAllStringSubmatchIndex(q.Text, -1)
	if len(options) < 2 || len(evidence)+len(derived) == 0 {
		return c.Reader.Read(ctx, q, evidence, derived)
	}
	var windows []string
	for _, h := range evidence {
		windows = append(windows, pairs(h.Chunk.Text)...)
	}
	for _, d := range derived {
		windows = append(windows, d.Text)
	}
	stem := q.Text[:options[0][0]]
	best, answer := -1.0, ""
	for _, at := range options {
		held := 0.0
		for _, w := range windows {
			held = max(held, c.share(q.Text[at[4]:at[5]], w)*(1+c.share(stem, w)))
		}
		if held > best {
			best, answer = held, q.Text[at[0]:at[1]]
		}
	}
	return graphrag.Answer{Text: answer, Found: graphrag.Found{Evidence: evidence, Derived: derived}}, ctx.Err()
}

// share returns the share of the distinct words of a text, without function words and single letters,
// that a window contains.
func (c chooser) share(s, window string) float64 {
	has := make(map[string]bool)
	c.words.Words(window, func(word []byte) bool { has[string(word)] = true; return true })
	all, here := make(map[string]bool), 0
	c.words.Words(s, func(word []byte) bool {
		r, n := utf8.DecodeRune(word)
		single := n == len(word) && !unicode.IsDigit(r) && r < 0x2e80
		if _, ok := c.words.Term(string(word)); ok && !single && !all[string(word)] {
			all[string(word)] = true
			if has[string(word)] {
				here++
			}
		}
		return true
	})
	return float64(here) / float64(max(len(all), 1))
}

// pairs returns the sentences of a text, each with the next one.
func pairs(s string) []string {
	var out []string
	sentences := text.Sentences(s)
	for i, p := range sentences {
		window := p.In(s)
		if i+1 < len(sentences) {
			window += " " + sentences[i+1].In(s)
		}
		out = append(out, strings.TrimSpace(window))
	}
	return out
}
