// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// DriftOptions of [NewDrift]. The zero value is the setting of the code.
type DriftOptions struct {
	Options
	// Reports is the number of reports read at first, which are divided into Folds parts. FollowUps is the
	// largest number of follow-up questions of a round, Depth the number of rounds.
	Reports   int `default:"20" min:"0" source:"its program"`
	Folds     int `default:"5" min:"0" source:"its program"`
	FollowUps int `default:"20" min:"0" source:"its program"`
	Depth     int `default:"3" min:"0" source:"its program"`
	// Tokens is the largest number of tokens of each context.
	Tokens int `default:"12000" min:"0" source:"its program"`
	// Shuffle is the seed for the template of the hypothetical answer and the order of questions. The code has
	// none.
	Shuffle uint64 `default:"86" source:"ours: its program has no seed"`
}

// NewDrift returns the system that reads reports, and then asks follow-up questions by local search (DRIFT).
// With a model a question takes one call for a hypothetical answer, Folds for the reports, at most FollowUps in
// each of Depth rounds, and one more. Offline the titles of the best reports are the follow-ups.
func NewDrift(k kit.Kit, o DriftOptions) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	o.AllReports = true // any report may be the nearest to the question
	return frame(NameDrift, k, o.Options, c, func(ctx context.Context, x *index) (graphrag.Retriever, error) {
		d := &drift{index: x, o: o}
		var err error
		if d.global, err = newGlobal(ctx, x, GlobalOptions{Tokens: o.Tokens, ReduceTokens: o.Tokens, Shuffle: o.Shuffle}); err != nil {
			return nil, err
		}
		l := LocalOptions{Tokens: o.Tokens, CommunityShare: 0.1, ChunkShare: 0.9}
		c.Fill(&l)
		d.local, err = newLocal(ctx, x, l)
		d.steps = kit.Step[driftSteps](x.kit.AnswerModel, func(m llm.Model) driftSteps { return asking{d, m} }, quoting{d})
		return d, err
	})
}

// drift searches by follow-up questions.
type drift struct {
	*index
	o      DriftOptions
	global *global
	local  *local
	steps  driftSteps
}

// action is a follow-up question with what was found and answered for it.
type action struct {
	query   string
	known   []string // other questions, answered or not
	answer  string
	score   float64
	from    graphrag.Provenance
	derived []graphrag.Derived
	ranked  []graphrag.Hit
	next    []string
}

// driftSteps are the steps of DRIFT that a model or rules take.
type driftSteps interface {
	// hypothetical returns a hypothetical answer (HyDE). The reports nearest to it are read first.
	hypothetical(ctx context.Context, question string) (string, error)
	// prime answers the question of root from the parts of the first reports, and adds follow-up questions.
	prime(ctx context.Context, root *action, folds [][]int32) error
	// answer answers a follow-up question from the results of local search, and adds further ones.
	answer(ctx context.Context, question string, a *action, entities, order []int32) error
	// read returns the context from which the last answer is read.
	read(q graphrag.Question, root action, actions []action, ranked []graphrag.Hit) graphrag.Found
}

// Retrieve answers from the first reports, then in rounds of follow-up questions, and returns all answers.
func (d *drift) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if strings.TrimSpace(q.Text) == "" {
		return graphrag.Nothing(), nil
	}
	reports, err := d.primed(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	root := d.root(q.Text, reports)
	if err := d.steps.prime(ctx, &root, split(reports, d.o.Folds)); err != nil {
		return graphrag.Found{}, err
	}
	actions, err := d.rounds(ctx, q, root)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := d.merged(ctx, actions, q.Want())
	if err != nil {
		return graphrag.Found{}, err
	}
	return d.steps.read(q, root, actions, ranked), nil
}

// numbering matches the number or bullet before a question of a model.
var numbering = regexp.MustCompile(`^\s*(\d+[.)]|[-*•])\s+|\s*\(\d+\)\s*$`)

// rounds answers open questions, up to FollowUps in each round.
func (d *drift) rounds(ctx context.Context, q graphrag.Question, root action) ([]action, error) {
	const mostListed = 50          // largest number of open questions in a prompt
	known := make(map[string]bool) // keys are folded: models repeat questions with a number or other punctuation
	var open []string
	add := func(queries []string) {
		for _, s := range queries {
			s = strings.TrimSpace(numbering.ReplaceAllString(s, ""))
			if key := kg.FoldUnicode.Key(s); key != "" && !known[key] {
				known[key] = true
				open = append(open, s)
			}
		}
	}
	add([]string{q.Text})
	if root.answer != "" { // the first reports have answered the question itself
		open = nil
	}
	add(root.next)
	var done []action
	for round := range d.o.Depth {
		if len(open) == 0 {
			break
		}
		shuffle(d.o.Shuffle, uint64(round)+1, open)
		n := min(d.o.FollowUps, len(open))
		asked := make([]action, n)
		var listed []string
		for _, a := range done {
			listed = append(listed, a.query)
		}
		listed = append(listed, open[:min(len(open), mostListed)]...)
		err := kit.Each(ctx, n, func(ctx context.Context, i int) (err error) {
			asked[i], err = d.step(ctx, action{query: open[i], known: listed}, q)
			return err
		})
		if err != nil {
			return nil, err
		}
		open = slices.Clone(open[n:])
		for _, a := range asked {
			add(a.next)
		}
		done = append(done, asked...)
	}
	return done, nil
}

// merged combines the chunks that were found for all questions, by rank fusion.
func (d *drift) merged(ctx context.Context, actions []action, depth int) ([]graphrag.Hit, error) {
	lists := make([][]string, len(actions))
	for i, a := range actions {
		for _, h := range a.ranked {
			lists[i] = append(lists[i], h.Chunk.ID)
		}
	}
	var order []int32
	for _, f := range rank.RRF(lists...) {
		place, _ := slices.BinarySearchFunc(d.corpus.Chunks, f.ID, func(c graphrag.Chunk, id string) int { return strings.Compare(c.ID, id) })
		order = append(order, int32(place))
	}
	return d.corpus.InOrder(ctx, order, depth, NameDrift)
}

// fit returns the first texts that fit into the last context.
func (d *drift) fit(of []graphrag.Derived) []graphrag.Derived {
	return tokens.Within(of, d.o.Tokens, func(x graphrag.Derived) int { return d.kit.Count(x.Text) })
}

// Names of the stages of DRIFT's calls in usage figures.
const (
	StageHyde   = "hypothetical answer"
	StagePrimer = "primer"
	StageStep   = "follow-up"
)

// Largest lengths of a model's replies in words. The code wants about 2,000 characters of an intermediate one.
const (
	hydeWords   = 500
	primerWords = 350
	stepWords   = 500
)

// primed returns the Reports reports nearest to a hypothetical answer.
func (d *drift) primed(ctx context.Context, question string) ([]int32, error) {
	if len(d.global.shuffled) == 0 {
		return nil, nil
	}
	like, err := d.steps.hypothetical(ctx, question)
	if err != nil {
		return nil, err
	}
	likeness, err := d.global.texts.Scores(ctx, like, nil)
	order := slices.Sorted(slices.Values(d.global.shuffled))
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(likeness[b], likeness[a]) })
	return order[:min(len(order), d.o.Reports)], err
}

// root returns the action of the question itself, with the first reports.
func (d *drift) root(question string, reports []int32) action {
	root := action{query: question}
	for _, r := range reports {
		of := d.global.reportOf(r)
		root.derived = append(root.derived, of)
		root.from = graphrag.Merged(root.from, of.Provenance)
	}
	return root
}

// split divides a list into parts of nearly equal length. No part is empty.
func split(list []int32, parts int) [][]int32 {
	var out [][]int32
	for i := range parts {
		lo, hi := i*len(list)/parts, (i+1)*len(list)/parts
		if lo < hi {
			out = append(out, list[lo:hi])
		}
	}
	return out
}

// step answers one follow-up question by local search.
func (d *drift) step(ctx context.Context, a action, q graphrag.Question) (action, error) {
	entities, order, err := d.local.search(ctx, a.query)
	if err != nil {
		return a, err
	}
	if a.ranked, err = d.corpus.InOrder(ctx, order, q.Want(), NameDrift); err != nil {
		return a, err
	}
	return a, d.steps.answer(ctx, q.Text, &a, entities, order)
}

// quoting takes the steps without a model. The titles of the best reports are the follow-up questions; the
// first reports and the chunks found are the context.
type quoting struct{ *drift }

func (w quoting) hypothetical(_ context.Context, question string) (string, error) {
	return question, nil
}

func (w quoting) prime(ctx context.Context, root *action, folds [][]int32) error {
	for _, fold := range folds {
		root.next = append(root.next, root.query+" "+w.global.reports.Reports[fold[0]].Title)
	}
	return ctx.Err()
}

func (w quoting) answer(ctx context.Context, _ string, _ *action, _, _ []int32) error {
	return ctx.Err()
}

func (w quoting) read(q graphrag.Question, root action, _ []action, ranked []graphrag.Hit) graphrag.Found {
	return graphrag.Found{Ranked: ranked, Evidence: w.local.read(ranked, q), Derived: w.fit(root.derived)}
}

// asking takes the steps with a model.
type asking struct {
	*drift
	model llm.Model
}

// hypothetical lets the model write a hypothetical answer in the form of a report (HyDE).
func (w asking) hypothetical(ctx context.Context, question string) (string, error) {
	s := w.global
	template := s.shuffled[rand.New(rand.NewPCG(w.o.Shuffle, 0)).IntN(len(s.shuffled))]
	req, err := request(ctx, StageHyde, "hyde", hydeWords, question, prompts.Data{Label: "report", Text: s.reports.Reports[template].Text()})
	if err != nil {
		return "", err
	}
	reply, err := w.model.Generate(ctx, req)
	return cmp.Or(strings.TrimSpace(reply.Text), question), llm.Fatal(err)
}

// prime lets the model answer from each part of the reports, and joins the answers.
func (w asking) prime(ctx context.Context, root *action, folds [][]int32) error {
	type reply struct {
		Answer string   `json:"intermediate_answer"`
		Score  float64  `json:"score"`
		Next   []string `json:"follow_up_queries"`
	}
	replies := make([]reply, len(folds))
	err := kit.Each(ctx, len(folds), func(ctx context.Context, i int) error {
		req, err := request(ctx, StagePrimer, "primer", primerWords, root.query, prompts.Data{Label: "reports", Text: w.global.table(folds[i])})
		if err != nil {
			return err
		}
		replies[i], err = decode[reply](ctx, w.model, req)
		return err
	})
	if err != nil {
		return err
	}
	var answers []string
	for _, r := range replies {
		if a := strings.TrimSpace(r.Answer); a != "" {
			answers = append(answers, a)
		}
		root.score += r.Score / float64(len(replies))
		root.next = append(root.next, r.Next...)
	}
	root.answer = strings.Join(answers, "\n\n")
	return nil
}

// answer lets the model answer from the context of local search.
func (w asking) answer(ctx context.Context, question string, a *action, entities, order []int32) error {
	a.derived = w.local.context(entities)
	var parts []prompts.Data
	for _, x := range a.derived {
		parts = append(parts, prompts.Data{Label: x.Kind, Text: x.Text})
		a.from = graphrag.Merged(a.from, x.Provenance)
	}
	all, err := w.corpus.InOrder(ctx, order, len(order), NameDrift)
	if err != nil {
		return err
	}
	for _, h := range w.local.read(all, graphrag.Question{K: len(all)}) {
		parts = append(parts, prompts.Data{Label: "passage", Text: strings.TrimSpace(h.Chunk.Title + "\n" + h.Chunk.Text)})
		a.from = graphrag.Merged(a.from, graphrag.ProvenanceOf(h.Chunk))
	}
	if len(parts) == 0 {
		return nil // there is nothing to answer from
	}
	// A follow-up question may quote the reports, so the prompt marks it as data like them.
	req, err := request(ctx, StageStep, "step", stepWords, question, append(parts, prompts.Data{Label: "questions asked", Text: strings.Join(a.known, "\n")}, prompts.Data{Label: "question on the way", Text: a.query})...)
	if err != nil {
		return err
	}
	reply, err := decode[struct {
		Response string   `json:"response"`
		Score    float64  `json:"score"`
		Next     []string `json:"follow_up_queries"`
	}](ctx, w.model, req)
	a.answer, a.score, a.next = strings.TrimSpace(reply.Response), reply.Score, reply.Next
	return err
}

// read returns the best answers that fit into the last context.
func (w asking) read(_ graphrag.Question, root action, actions []action, ranked []graphrag.Hit) graphrag.Found {
	slices.SortStableFunc(actions, func(a, b action) int { return cmp.Compare(b.score, a.score) })
	var answers []graphrag.Derived
	for _, a := range append([]action{root}, actions...) {
		if a.answer != "" && a.score > 0 {
			answers = append(answers, graphrag.Derived{Kind: "answer", Text: a.query + "\n" + a.answer, Provenance: a.from})
		}
	}
	if answers = w.fit(answers); len(answers) == 0 {
		return graphrag.Nothing()
	}
	return graphrag.Found{Ranked: ranked, Evidence: []graphrag.Hit{}, Derived: answers}
}

// decode decodes a reply. A reply that cannot be read gives the zero value.
func decode[T any](ctx context.Context, m llm.Model, req llm.Request) (T, error) {
	value, _, err := replies.Decode[T](ctx, m, req)
	if err != nil {
		var zero T
		return zero, llm.Fatal(err)
	}
	return value, nil
}
