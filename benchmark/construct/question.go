// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
)

// Question is a line of the released questions.jsonl. A summary has gold statements, other types an answer.
type Question struct {
	Text       string   `json:"question"`
	Type       []string `json:"question_type"`
	Answer     string   `json:"answer,omitempty"`
	Statements []string `json:"gold_statements,omitempty"`
	URLs       []string `json:"ref_urls"`
}

// Draft is the material of a question: the triple that is asked about, or all triples of a section for a
// summary, and the pages of their sources.
type Draft struct {
	Type    string // wildgraph.SingleFact, MultiFact, Summary
	Title   string // title of the article
	Path    []string
	Body    string
	Triples []Triple
	Pages   []Page

	place []int // position of the question in the output: type, section, triple
}

// statement returns the statement of the first triple: the answer to a question of one fact.
func (d Draft) statement() string { return d.Triples[0].Statement }

// Verdict is the result of a check.
type Verdict struct {
	OK     bool
	Reason string
}

// Asker writes the question of a draft, or returns "" if it finds none.
type Asker interface {
	Ask(ctx context.Context, d Draft) (string, error)
}

// Checker decides whether a draft is fit for a benchmark.
type Checker interface {
	// Supports reports whether the pages of a draft hold the answer to a question.
	Supports(ctx context.Context, question string, d Draft) (Verdict, error)
	// Joint reports whether the answer needs several pages of a draft together.
	Joint(ctx context.Context, question string, d Draft) (Verdict, error)
	// Backed reports for each triple of a summary whether the pages of its sources state it.
	Backed(ctx context.Context, d Draft) ([]Verdict, error)
}

// Numbers of questions of each type; 0 asks as many as possible.
type Numbers struct {
	Single, Multi, Summary int
	// Seed determines the order in which drafts are tried.
	Seed uint64
	// Concurrency is the number of drafts in work at a time (8). It does not change the result.
	Concurrency int
	// Apart omits a question of one fact if the fact is a gold statement of a summary.
	Apart bool
}

// Limits of summaries and of checks.
const (
	minStatements = 2  // least number of gold statements of a summary
	minBody       = 40 // least length of the text of a summarized section, in bytes
	maxCheck      = 6  // largest number of pages that a check reads
)

// Questions makes the questions of an article. Drafts are tried in a seeded order until the numbers are
// reached, so further drafts replace failed ones. The questions are in the order of the article, summaries
// last.
func Questions(ctx context.Context, golds []Gold, pages func(url string) (Page, bool), p Parts, n Numbers) ([]Question, []Dropped, error) {
	n.Concurrency = cmp.Or(n.Concurrency, 8)
	m := questionMaker{Parts: p, pages: pages, numbers: n}
	single, multi, summary := draftsOf(golds)
	order := rand.New(rand.NewPCG(n.Seed, 0x77696c64))
	kinds := []struct {
		drafts []Draft
		most   int
	}{{summary, n.Summary}, {single, n.Single}, {multi, n.Multi}}
	total := 0
	for _, kind := range kinds {
		total += min(len(kind.drafts), cmp.Or(kind.most, len(kind.drafts)))
	}
	m.done = p.begin(StageAsk, total)
	for _, kind := range kinds {
		order.Shuffle(len(kind.drafts), func(i, j int) { kind.drafts[i], kind.drafts[j] = kind.drafts[j], kind.drafts[i] })
		if err := m.make(ctx, kind.drafts, kind.most); err != nil {
			return nil, nil, fmt.Errorf("construct: writing questions: %w", err)
		}
	}
	slices.SortStableFunc(m.out, func(a, b placedQuestion) int { return slices.Compare(a.place, b.place) })
	questions := make([]Question, len(m.out))
	for i, q := range m.out {
		questions[i] = q.Question
	}
	return questions, m.dropped, nil
}

// questionMaker makes questions, one type at a time.
type questionMaker struct {
	Parts
	done    func() // called after each draft
	pages   func(string) (Page, bool)
	numbers Numbers

	out     []placedQuestion
	dropped []Dropped
}

// placedQuestion is a question with the place of its draft in the output.
type placedQuestion struct {
	Question
	place []int
}

func draftsOf(golds []Gold) (single, multi, summary []Draft) {
	for i, g := range golds {
		d := Draft{Title: g.Title, Path: g.Path, Body: plainText(g.Body)}
		for j, t := range g.Triples {
			d := d
			d.Type, d.Triples, d.place = wildgraph.SingleFact, []Triple{t}, []int{0, i, j}
			if t.Count > 1 {
				d.Type = wildgraph.MultiFact
				multi = append(multi, d)
			} else {
				single = append(single, d)
			}
		}
		if d.Type, d.Triples = wildgraph.Summary, g.Triples; len(g.Triples) >= minStatements && len(d.Body) >= minBody {
			d.place = []int{1, i, 0}
			summary = append(summary, d)
		}
	}
	return single, multi, summary
}

// make tries drafts in order, several concurrently, until as many as most have passed; 0 tries all.
func (m *questionMaker) make(ctx context.Context, drafts []Draft, most int) error {
	for taken := 0; len(drafts) > 0 && (most == 0 || taken < most); {
		wave := len(drafts)
		if most > 0 {
			wave = min(wave, most-taken)
		}
		results := make([]result, wave)
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(m.numbers.Concurrency)
		for i, d := range drafts[:wave] {
			g.Go(func() (err error) {
				defer m.done()
				results[i], err = m.question(ctx, d)
				if err != nil && llm.OfOneReply(err) {
					results[i], err = result{reason: display.OneLine(err.Error())}, nil
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for i, r := range results {
			d := drafts[i]
			switch {
			case r.reason != "":
				m.drop(d, r.reason)
			case slices.ContainsFunc(m.out, func(q placedQuestion) bool { return strings.EqualFold(q.Text, r.q.Text) }):
				m.drop(d, "asked before")
			case m.numbers.Apart && d.Type != wildgraph.Summary &&
				slices.ContainsFunc(m.out, func(q placedQuestion) bool { return slices.Contains(q.Statements, d.statement()) }):
				m.drop(d, "a gold statement of a summary")
			default:
				m.out = append(m.out, placedQuestion{r.q, d.place})
				taken++
			}
		}
		drafts = drafts[wave:]
	}
	return nil
}

func (m *questionMaker) drop(d Draft, reason string) {
	what := d.statement()
	if d.Type == wildgraph.Summary {
		what = strings.Join(d.Path, " > ")
	}
	m.dropped = append(m.dropped, Dropped{d.Type + ": " + what, reason})
}

// result is a question, or the reason why a draft has no question.
type result struct {
	q      Question
	reason string
}

// question makes the question of a draft, in the paper's order: for facts ask, then check; for a summary
// check its statements, then ask.
func (m *questionMaker) question(ctx context.Context, d Draft) (result, error) {
	if d.Type == wildgraph.Summary {
		return m.summary(ctx, d)
	}
	d.Pages = m.pagesOf(d.Triples)
	if len(d.Pages) < min(2, d.Triples[0].Count) {
		return result{reason: "its pages are fewer than its sources"}, nil
	}
	asked, err := m.asked(ctx, d)
	if err != nil || asked == "" {
		return result{reason: "no question was found"}, err
	}
	checks := []func(context.Context, string, Draft) (Verdict, error){m.Check.Supports}
	if d.Type == wildgraph.MultiFact {
		checks = append(checks, m.Check.Joint)
	}
	for _, check := range checks {
		if v, err := check(ctx, asked, d); err != nil || !v.OK {
			return result{reason: cmp.Or(v.Reason, "it failed a check")}, err
		}
	}
	t := d.Triples[0]
	return result{q: Question{Text: asked, Type: []string{releasedType(d.Type)}, Answer: t.Statement, URLs: t.URLs}}, nil
}

func (m *questionMaker) summary(ctx context.Context, d Draft) (result, error) {
	d.Pages = m.pagesOf(d.Triples)
	verdicts, err := m.Check.Backed(ctx, d)
	if err != nil {
		return result{}, err
	}
	var kept []Triple
	for i, v := range verdicts {
		if v.OK {
			kept = append(kept, d.Triples[i])
		}
	}
	if d.Triples = kept; len(kept) < minStatements {
		return result{reason: fmt.Sprintf("%d of its statements stand on their pages", len(kept))}, nil
	}
	asked, err := m.asked(ctx, d)
	if err != nil || asked == "" {
		return result{reason: "no question was found"}, err
	}
	q := Question{Text: asked, Type: []string{releasedType(d.Type)}}
	for _, t := range kept {
		q.Statements = append(q.Statements, t.Statement)
		for _, u := range t.URLs {
			if !slices.Contains(q.URLs, u) {
				q.URLs = append(q.URLs, u)
			}
		}
	}
	return result{q: q}, nil
}

// Least and largest lengths of a question and a summary, in characters. The released questions have 80 to 203;
// the limits of a summary are from the paper (Figure 8).
const (
	minQuestion, maxQuestion = 12, 600
	minSummary, maxSummary   = 20, 200
)

func (m *questionMaker) asked(ctx context.Context, d Draft) (string, error) {
	q, err := m.Ask.Ask(ctx, d)
	q = display.OneLine(q)
	least, most := minQuestion, maxQuestion
	if d.Type == wildgraph.Summary {
		least, most = minSummary, maxSummary
	}
	if n := utf8.RuneCountInString(q); n < least || n > most || strings.EqualFold(q, d.statement()) {
		q = ""
	}
	return q, err
}

func (m *questionMaker) pagesOf(triples []Triple) []Page {
	var out []Page
	for _, t := range triples {
		for _, u := range t.URLs {
			if p, ok := m.pages(u); ok && !slices.ContainsFunc(out, func(q Page) bool { return q.URL == p.URL }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// releasedType returns a type of questions as the released files spell it.
func releasedType(t string) string { return strings.ReplaceAll(t, "multi-fact", "multi_fact") }

// Stated is a sentence of a section and its statement. The statement is understandable without the section, in
// plain words without citation marks; it is "" if the sentence states nothing.
type Stated struct {
	Sentence, Statement string
}

// Stater finds the sentences with citation marks in a section, and writes the statement of each.
type Stater interface {
	State(ctx context.Context, a *Article, s Section) ([]Stated, error)
}

// Triple is a statement with its sentence and sources, in the form of the released valid_triples.jsonl.
type Triple struct {
	Sentence  string   `json:"sentence"`
	Statement string   `json:"statement"`
	Numbers   []string `json:"citation_numbers"`
	// Keys are the numbers of the marks that lead to no source. A triple with such a mark is not valid.
	Keys  []string `json:"citation_keys"`
	URLs  []string `json:"ref_urls"` // URLs of the sources, sorted
	Count int      `json:"ref_count"`
}

// Gold is a section with the triples of its sentences.
type Gold struct {
	Title   string   `json:"wiki_title"`
	Path    []string `json:"section_path"`
	Body    string   `json:"section_body"`
	Triples []Triple `json:"triples"`
}

// Dropped is an item that was not used, and the reason.
type Dropped struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Grounds maps each citation mark to its sources, and knows which sources have a page.
type Grounds struct {
	citations *Citations
	paged     func(url string) bool
}

// NewGrounds returns the grounds for the citations of an article; paged reports whether a URL has a page.
func NewGrounds(c *Citations, paged func(url string) bool) *Grounds {
	return &Grounds{c, paged}
}

// Triple resolves the marks of a sentence. Every mark must lead to a page; otherwise a part of the statement
// may be unsupported, and ok is false.
func (g *Grounds) Triple(s Stated) (t Triple, ok bool) {
	t = Triple{Sentence: s.Sentence, Statement: s.Statement, Numbers: []string{}, Keys: []string{}, URLs: []string{}}
	marks := Marks(s.Sentence)
	for _, m := range marks {
		t.Numbers = append(t.Numbers, m.Number)
		found := slices.DeleteFunc(g.citations.URLs(m), func(u string) bool { return !g.paged(u) })
		if len(found) == 0 {
			t.Keys = append(t.Keys, m.Number)
		}
		t.URLs = append(t.URLs, found...)
	}
	slices.Sort(t.URLs)
	t.URLs = slices.Compact(t.URLs)
	t.Count = len(t.URLs)
	return t, len(marks) > 0 && len(t.Keys) == 0
}

// Ground makes the gold of a section. A sentence that a model invented is not in the section, and is dropped.
func (g *Grounds) Ground(a *Article, s Section, stated []Stated) (gold Gold, dropped []Dropped) {
	gold = Gold{Title: a.Title, Path: s.Path, Body: s.Body}
	body := spaced(s.Body)
	seen := make(map[string]bool)
	drop := func(sentence, reason string) { dropped = append(dropped, Dropped{sentence, reason}) }
	for _, st := range stated {
		st.Statement = strings.Join(strings.Fields(st.Statement), " ")
		st.Sentence = original(s.Body, st.Sentence)
		switch t, ok := g.Triple(st); {
		case !strings.Contains(body, spaced(st.Sentence)):
			drop(st.Sentence, "the section does not say so")
		case len(t.Numbers) == 0:
			drop(st.Sentence, "no citation mark")
		case !ok:
			drop(st.Sentence, fmt.Sprintf("no page for the marks %s", strings.Join(t.Keys, ", ")))
		case st.Statement == "":
			drop(st.Sentence, "it states nothing by itself")
		case len(Marks(st.Statement)) > 0 || strings.Contains(st.Statement, "://"):
			drop(st.Sentence, "the statement has marks or URLs")
		case seen[st.Statement]:
			drop(st.Sentence, "stated before")
		default:
			seen[st.Statement] = true
			gold.Triples = append(gold.Triples, t)
		}
	}
	return gold, dropped
}

// original returns the sentence of a section from which a model copied the given one. Models omit citation
// marks, or write them as [5], and omit links and emphasis.
func original(body, sentence string) string {
	if len(Marks(sentence)) > 0 && strings.Contains(spaced(body), spaced(sentence)) {
		return sentence
	}
	letters := func(s string) string {
		return strings.Join(strings.Fields(emphasis.ReplaceAllString(shortMark.ReplaceAllString(plainText(s), ""), "")), "")
	}
	for paragraph := range strings.SplitSeq(body, "\n") {
		for _, s := range sentences(paragraph) {
			if letters(s) == letters(sentence) {
				return s
			}
		}
	}
	return sentence
}

var shortMark = regexp.MustCompile(`(?:\[|【)\^?[0-9]+(?:, ?[0-9]+)*(?:\]|】)`)

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
