// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Rules implements the stages without a model. A statement is a sentence without marks, links and emphasis.
// Pronouns and "the film" are not resolved, so its gold is weaker than a model's; reports call it offline.
type Rules struct{}

var _ Stater = Rules{}

// minStatement is the least number of words of a statement.
const minStatement = 5

var (
	sectionEdit = regexp.MustCompile(`\[\[edit\]\([^)]*\)\]`)
	hatnote     = regexp.MustCompile(`^(?:Main article|Main articles|See also|Further information|For [^:]*, see)\b`)
	loose       = regexp.MustCompile(` ([,.;:)])`)
	emphasis    = regexp.MustCompile(`\*+|\b_|_\b`)
)

// State implements Stater.
func (Rules) State(_ context.Context, _ *Article, s Section) ([]Stated, error) {
	var out []Stated
	for paragraph := range strings.SplitSeq(s.Body, "\n") {
		if !isProse(paragraph) {
			continue
		}
		for _, sentence := range sentences(paragraph) {
			if len(Marks(sentence)) > 0 {
				out = append(out, Stated{Sentence: sentence, Statement: plainStatement(sentence)})
			}
		}
	}
	return out, nil
}

// isProse excludes tables, pictures, headings and pointers to other articles.
func isProse(paragraph string) bool {
	p := strings.TrimSpace(paragraph)
	return p != "" && !strings.HasPrefix(p, "|") && !strings.HasPrefix(p, "[![") && !strings.HasPrefix(p, "![") &&
		!sectionEdit.MatchString(p) && !hatnote.MatchString(p)
}

// sentences splits a paragraph into visible sentences; the marks after a sentence belong to it.
func sentences(paragraph string) []string {
	clean, m := text.StripLinks(Unmark(paragraph))
	spans := text.Sentences(clean)
	var out []string
	for i, s := range spans {
		from, to := m.Source(s.Start), len(paragraph)
		if i == 0 {
			from = 0
		}
		if i+1 < len(spans) {
			to = m.Source(spans[i+1].Start)
			for to > 0 && strings.ContainsRune("[_*\"“(", rune(paragraph[to-1])) { // over an opening bracket or quote
				to--
			}
		}
		out = append(out, strings.TrimSpace(paragraph[from:to]))
	}
	return out
}

// plainStatement returns a sentence without markup, or "" if it is too short or a formula.
func plainStatement(sentence string) string {
	clean, _ := text.StripLinks(Unmark(sentence))
	clean = strings.Trim(display.OneLine(emphasis.ReplaceAllString(clean, "")), "-• ")
	clean = loose.ReplaceAllString(clean, "$1")
	if len(strings.Fields(clean)) < minStatement || strings.Contains(clean, `\displaystyle`) {
		return ""
	}
	return clean
}

// plainText returns a section without markup.
func plainText(body string) string {
	clean, _ := text.StripLinks(Unmark(body))
	return display.OneLine(clean)
}

var (
	_ Asker   = Rules{}
	_ Checker = Rules{}
)

// gapPattern matches the names and numbers that a gap can replace.
var gapPattern = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}'’.-]*(?: (?:of|the|de|van|von|and) \p{Lu}[\p{L}\p{M}'’-]*| \p{Lu}[\p{L}\p{M}'’-]*)*|[0-9][0-9.,:]*[0-9%]|[0-9]`)

// Ask replaces by a gap the last name or number of a fact that is neither at its beginning nor in the article's title.
// Without such a name or number there is no question. For a section Ask asks for an overview.
func (Rules) Ask(_ context.Context, d Draft) (string, error) {
	if d.Type == wildgraph.Summary {
		return fmt.Sprintf("Give an overview of %s (%s).", plainHeading(d.Path[len(d.Path)-1]), plainHeading(d.Title)), nil
	}
	s := d.statement()
	all := gapPattern.FindAllStringIndex(s, -1)
	for i := len(all) - 1; i >= 0; i-- {
		from, to := all[i][0], all[i][1]
		if gap := strings.TrimRight(s[from:to], ".,:-"); from > 0 && !strings.Contains(d.Title, gap) {
			return fmt.Sprintf("What belongs into the gap, by the sources on %s? “%s ____%s”",
				plainHeading(d.Title), strings.TrimSpace(s[:from]), s[from+len(gap):]), nil
		}
	}
	return "", nil
}

func plainHeading(h string) string { return strings.Trim(emphasis.ReplaceAllString(h, ""), " ") }

// supportShare is the least share of a statement's content words that pages must contain to support it;
// aloneShare is the largest part of the words found on all pages that one page may contain if several are
// needed.
const (
	supportShare = 0.6
	aloneShare   = 0.85
)

// Supports reports whether a window of a page, or the windows of several, have most of the statement's words.
func (Rules) Supports(_ context.Context, _ string, d Draft) (Verdict, error) {
	return supportVerdict(d.statement(), d.Pages), nil
}

// Joint reports whether several pages are needed: no page has nearly all of the words found on all pages.
func (Rules) Joint(_ context.Context, _ string, d Draft) (Verdict, error) {
	alone, together := shares(d.statement(), d.Pages)
	if alone > aloneShare*together {
		return Verdict{Reason: "one page is enough"}, nil
	}
	return Verdict{OK: true}, nil
}

// Backed reports for each triple whether the pages of its sources support its statement.
func (r Rules) Backed(ctx context.Context, d Draft) ([]Verdict, error) {
	out := make([]Verdict, len(d.Triples))
	for i, t := range d.Triples {
		out[i] = supportVerdict(t.Statement, citedBy(d.Pages, t))
	}
	return out, ctx.Err()
}

func supportVerdict(statement string, pages []Page) Verdict {
	_, together := shares(statement, pages)
	if together >= supportShare {
		return Verdict{OK: true}
	}
	return Verdict{Reason: fmt.Sprintf("%.0f %% of the statement's words stand in one place of its pages", 100*together)}
}

// shares returns two shares of a statement's content words: the largest that one window of a page contains, and
// the share that the best windows of all pages contain together.
func shares(statement string, pages []Page) (alone, together float64) {
	words, union := contentTerms(statement), make(map[string]bool)
	all := float64(max(len(words), 1))
	for _, p := range pages {
		var best []string
		for _, w := range pieces(p.Text, window) {
			if has := termsIn(w, words); len(has) > len(best) {
				best = has
			}
		}
		for _, w := range best {
			union[w] = true
		}
		alone = max(alone, float64(len(best))/all)
	}
	return alone, float64(len(union)) / all
}

func citedBy(pages []Page, t Triple) []Page {
	var out []Page
	for _, u := range t.URLs {
		if i := slices.IndexFunc(pages, func(p Page) bool { return p.URL == u }); i >= 0 {
			out = append(out, pages[i])
		}
	}
	return out
}

// window is the size of a window of a page, in bytes: about three paragraphs.
const window = 1500

// contentTerms returns the distinct content words of a text, sorted.
func contentTerms(s string) []string {
	all := text.Default().Terms(s)
	slices.Sort(all)
	return slices.Compact(all)
}

// termsIn returns the terms that a text contains.
func termsIn(s string, terms []string) []string {
	all := text.Default().Terms(s)
	return slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return !slices.Contains(all, t) })
}

// Excerpt returns the windows of a page that are most relevant to a statement, in the order of the page,
// within the given bytes; rare words weigh more.
func Excerpt(page, statement string, bytes int) string {
	if len(page) <= bytes {
		return page
	}
	all, words := pieces(page, window), contentTerms(statement)
	have, order, often := make([][]string, len(all)), make([]int, len(all)), make(map[string]float64)
	for i, piece := range all {
		order[i], have[i] = i, termsIn(piece, words)
		for _, w := range have[i] {
			often[w]++
		}
	}
	score := func(i int) (sum float64) {
		for _, w := range have[i] {
			sum += 1 / often[w]
		}
		return sum
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	order = order[:min(len(order), max(1, bytes/window))]
	slices.Sort(order)
	var out strings.Builder
	for n, i := range order {
		if n > 0 && order[n-1] != i-1 {
			out.WriteString("\n…\n")
		}
		out.WriteString(all[i])
	}
	return display.Head(out.String(), bytes)
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("construct", promptFiles)

// The stages of calls of a model in usage figures.
const (
	StageState = "state facts"
	StageAsk   = "write questions"
	StageCheck = "check questions"
	StagePages = "check pages"
)

// ByModel implements the stages with a language model. An unusable reply is an error of one reply
// (llm.OfOneReply): its item is dropped, with the reason, a page is kept, and the build continues.
type ByModel struct{ m llm.Model }

var (
	_ Stater  = ByModel{}
	_ Asker   = ByModel{}
	_ Checker = ByModel{}
)

// NewByModel returns the stages with the model m.
func NewByModel(m llm.Model) ByModel { return ByModel{m} }

// Largest lengths of texts in a prompt, in bytes; shownGold is the largest number of statements.
const (
	sectionBytes = 24_000
	pageBytes    = 24_000
	bodyBytes    = 600
	shownGold    = 8
	goldBytes    = 300
)

// State implements Stater. A long section is shown to the model in pieces, one call for each.
func (b ByModel) State(ctx context.Context, a *Article, s Section) ([]Stated, error) {
	var out []Stated
	for _, piece := range pieces(s.Body, sectionBytes) {
		if len(Marks(piece)) == 0 {
			continue
		}
		req, err := templates.Request(ctx, StageState, "state", nil,
			prompts.Data{Label: "article", Text: a.Title}, prompts.Data{Label: "section", Text: strings.Join(s.Path, " > ")}, prompts.Data{Label: "text", Text: piece})
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[struct {
			Triples []struct {
				Sentence, Statement string
			}
		}](ctx, b.m, req)
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", strings.Join(s.Path, " > "), err)
		}
		for _, t := range reply.Triples {
			out = append(out, Stated{t.Sentence, t.Statement})
		}
	}
	return out, nil
}

// pieces cuts a text into pieces of limited length, at paragraphs where possible.
func pieces(s string, limit int) []string {
	var out []string
	for len(s) > limit {
		end := strings.LastIndexByte(s[:limit], '\n') + 1
		if end < limit/2 {
			end = len(display.Head(s, limit))
		}
		out, s = append(out, s[:end]), s[end:]
	}
	return append(out, s)
}

// Ask implements Asker.
func (b ByModel) Ask(ctx context.Context, d Draft) (string, error) {
	name, data := "ask", []prompts.Data{
		{Label: "title", Text: d.Title}, {Label: "section", Text: strings.Join(d.Path, " > ")},
		{Label: "sentence", Text: d.Triples[0].Sentence}, {Label: "statement", Text: d.statement()},
		{Label: "reference URLs", Rows: d.Triples[0].URLs, First: 1},
	}
	if d.Type == wildgraph.Summary {
		rows := make([]string, 0, shownGold)
		for _, t := range d.Triples[:min(len(d.Triples), shownGold)] {
			rows = append(rows, display.Head(t.Statement, goldBytes))
		}
		name, data = "overview", []prompts.Data{
			{Label: "path", Text: strings.Join(d.Path, " > ")}, {Label: "text", Text: display.Head(d.Body, bodyBytes)},
			{Label: "statements", Rows: rows, First: 1},
		}
	}
	req, err := templates.Request(ctx, StageAsk, name, map[string]any{"Several": d.Type == wildgraph.MultiFact}, data...)
	if err != nil {
		return "", err
	}
	for again := false; ; again = true {
		reply, _, err := replies.Decode[struct{ Question string }](ctx, b.m, req)
		wrong, words := questionFault(reply.Question, d)
		if err != nil || wrong == "" {
			return reply.Question, err
		}
		if again {
			return "", &llm.Error{Kind: llm.ErrInvalidOutput, Err: fmt.Errorf("the question %q: %s (%q)", display.Head(reply.Question, bodyBytes), wrong, words)}
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: reply.Question}, llm.Message{
			Role: llm.User, Text: "That question cannot be used. " + wrong + " Ask in other words, in the same form. The names of what it asks about may stand as they are.\n\n" + prompts.Fenced(prompts.Data{Label: "words", Text: words}),
		})
	}
}

// Supports implements Checker.
func (b ByModel) Supports(ctx context.Context, question string, d Draft) (Verdict, error) {
	v, err := decide[struct {
		Supported *bool
		Reason    string
	}](ctx, b.m, StageCheck, "support", checkData(question, d))
	return Verdict{v.Supported != nil && *v.Supported, v.Reason}, err
}

// Joint implements Checker.
func (b ByModel) Joint(ctx context.Context, question string, d Draft) (Verdict, error) {
	v, err := decide[struct {
		Needed *bool `json:"all_needed"`
		Reason string
	}](ctx, b.m, StageCheck, "joint", checkData(question, d))
	return Verdict{v.Needed != nil && *v.Needed, v.Reason}, err
}

// Backed implements Checker, with one call for each triple.
func (b ByModel) Backed(ctx context.Context, d Draft) ([]Verdict, error) {
	out := make([]Verdict, len(d.Triples))
	for i, t := range d.Triples {
		data := append([]prompts.Data{{Label: "statement", Text: t.Statement}}, pageExcerpts(citedBy(d.Pages, t), t.Statement)...)
		v, err := decide[struct {
			Keep   *bool
			Reason string
		}](ctx, b.m, StageCheck, "backed", data)
		if err != nil {
			if llm.OfOneReply(err) {
				continue
			}
			return nil, err
		}
		out[i] = Verdict{v.Keep != nil && *v.Keep, v.Reason}
	}
	return out, nil
}

// Keep reports whether a page can be cited. The reason for a rejection begins with its category.
func (b ByModel) Keep(ctx context.Context, article string, p Page) (Verdict, error) {
	v, err := decide[struct {
		Keep     *bool
		Category string `llm:"enum=ok|error|login|index|empty|other"`
		Reason   string
	}](ctx, b.m, StagePages, "keep", []prompts.Data{
		{Label: "article", Text: article}, {Label: "cited as", Text: p.Title}, {Label: "page", Text: display.Head(p.Text, pageBytes)},
	})
	return Verdict{v.Keep == nil || *v.Keep, display.OneLine(v.Category + ": " + v.Reason)}, err
}

func decide[T any](ctx context.Context, m llm.Model, stage, name string, data []prompts.Data) (T, error) {
	var none T
	req, err := templates.Request(ctx, stage, name, nil, data...)
	if err != nil {
		return none, err
	}
	v, _, err := replies.Decode[T](ctx, m, req)
	return v, err
}

func checkData(question string, d Draft) []prompts.Data {
	data := []prompts.Data{{Label: "question", Text: question}, {Label: "answer", Text: d.statement()}}
	return slices.Concat(data, pageExcerpts(d.Pages, d.statement()))
}

// pageExcerpts returns the parts of pages that are relevant to a statement.
func pageExcerpts(pages []Page, statement string) []prompts.Data {
	var out []prompts.Data
	for i, p := range pages[:min(len(pages), maxCheck)] {
		out = append(out, prompts.Data{Label: fmt.Sprintf("page %d", i+1), Text: p.Title + "\n\n" + Excerpt(p.Text, statement, pageBytes)})
	}
	return out
}
