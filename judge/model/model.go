// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Profile is the name of a procedure in reports and flags.
type Profile string

// The profiles.
const (
	Joint Profile = "joint"
	Paper Profile = "paper"
)

// versions has the version of each profile's prompts and protocol; figures of different versions cannot be
// compared.
var versions = map[Profile]int{Joint: 3, Paper: 5}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("judge", promptFiles)

func (p Profile) info() judge.Info {
	return judge.Info{Profile: string(p), Kind: judge.KindModel, Published: p == Paper}
}

// Procedure makes judges of the profile.
func (p Profile) Procedure() judge.Procedure {
	return judge.Procedure{Info: p.info(), NeedsModel: true, New: func(by judge.Parts) (judge.Judge, error) {
		return New(by.Model, Options{Options: by.Options, Profile: p})
	}}
}

// Options of a [Judge].
type Options struct {
	judge.Options
	// Profile is the procedure; "" means Joint.
	Profile Profile
}

// Judge is a [judge.Judge] that asks a language model.
type Judge struct {
	profile Profile
	asker   protocol.Asker
}

var _ judge.Judge = (*Judge)(nil)

// New returns the judge that asks m. It fails if the profile is unknown or m is nil.
func New(m llm.Model, o Options) (*Judge, error) {
	o.Profile = cmp.Or(o.Profile, Joint)
	version, ok := versions[o.Profile]
	if !ok {
		return nil, fmt.Errorf("judge: there is no profile %q: want %s or %s", o.Profile, Joint, Paper)
	}
	x, err := protocol.New(m, string(o.Profile), version, o.Options)
	if err != nil {
		return nil, err
	}
	return &Judge{o.Profile, x}, nil
}

// Name names everything that figures depend on: profile, basis of precision (gold: the gold statements), version of
// the prompts, options other than the default, and model.
func (j *Judge) Name() string { return j.asker.Name() }

// Info describes the profile.
func (j *Judge) Info() judge.Info { return j.profile.info() }

// Fact asks the model whether the answer states the reference; with Joint, only the part of the reference that
// the question asks for. Empty and refused answers score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	var t protocol.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	v, done := c.Silent()
	if !done {
		if v, err = j.grade(ctx, c, &t); err != nil {
			return out, err
		}
	}
	out.Verdict = v
	if j.asker.Grounded {
		out.Grounded, err = j.grounded(ctx, c, []string{c.Answer}, &t)
	}
	return out, err
}

// Summary splits the answer into its statements and compares them with the gold ones by the profile's
// procedure.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (out judge.SummaryJudgment, err error) {
	var t protocol.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	out, done, err := protocol.WithoutSummary(c)
	if done {
		if err == nil && j.asker.Grounded {
			out.Grounded, _ = protocol.Ungrounded(c)
		}
		return out, err
	}
	err = j.summary(ctx, c, &out, &t)
	switch {
	case err != nil || !j.asker.Grounded:
	case len(out.Predicted) > 0:
		out.Grounded, err = j.grounded(ctx, c, out.Predicted, &t)
	case out.Recall.State == judge.Unscored: // the model's replies gave no statements
		out.Grounded = out.Recall
	default:
		out.Grounded = judge.Verdict{State: judge.NotApplicable, Reason: "no statement in the answer"}
	}
	return out, err
}

// request returns the request of a profile's prompt with the given values.
func request(profile, name string, values map[string]any) llm.Request {
	return protocol.Request(templates, "judge-"+name, profile+"_"+name, values)
}

// grade asks the model whether the answer states the reference. Each task of the request is a question, a
// reference and a candidate; Paper shows the evidence as well.
func (j *Judge) grade(ctx context.Context, c judge.Case, t *protocol.Trace) (judge.Verdict, error) {
	var evidence []string
	if j.profile == Paper {
		evidence = protocol.PlainAll(c.Evidence)
	}
	question, reference, answer := protocol.Plain(c.Question), protocol.Plain(c.Reference), protocol.Plain(c.Answer)
	seed := prompts.NewFence(append([]string{question, reference, answer}, evidence...)...).Nonce()
	know := protocol.ChooseCanary(seed, question, reference, answer)
	ask := func(open []protocol.Item) llm.Request {
		parts := make([][3]string, len(open))
		data := slices.Clone(evidence)
		for i, it := range open {
			parts[i] = [3]string{question, reference, answer}
			if it.Canary() {
				parts[i] = [3]string{know.Question, know.Fact, it.Pick(nil, know.Restated, know.Falsehood)}
			}
			data = append(data, parts[i][:]...)
		}
		f := prompts.NewFence(data...)
		var tasks strings.Builder
		for i, it := range open {
			tasks.WriteString("\nTask " + it.ID + "\n" + f.Wrap("question", parts[i][0]) + "\n" +
				f.Wrap("reference", parts[i][1]) + "\n" + f.Wrap("candidate", parts[i][2]) + "\n")
		}
		if j.profile == Paper {
			rule, texts := evidencePrompt(f, evidence, "the reference alone decides")
			return request("paper", "fact", map[string]any{"Nonce": f.Nonce(), "Rule": rule, "Tasks": tasks.String(), "Evidence": texts})
		}
		return request("joint", "fact", map[string]any{"Nonce": f.Nonce(), "Tasks": tasks.String()})
	}
	v, err := j.asker.Scores(ctx, protocol.NewBatch("t", seed, 1, protocol.True, protocol.False), []string{"reason", "score"}, t, ask)
	if err != nil {
		return t.Failure(ctx, err)
	}
	return v[0], nil
}

// summary scores recall and precision of the statements of an answer.
func (j *Judge) summary(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *protocol.Trace) error {
	var err error
	if out.Predicted, out.Truncated, err = j.asker.Split(ctx, c, protocol.MaxStatements, t); err == nil {
		if len(out.Predicted) == 0 {
			protocol.NoStatement(out, c)
			return nil
		}
		if j.profile == Paper {
			err = j.match(ctx, c, out, t)
		} else {
			err = j.compare(ctx, c, out, t)
		}
	}
	if err != nil {
		out.Recall, err = t.Failure(ctx, err)
		out.Precision = out.Recall
	}
	return err
}

// grounded asks the model in one request whether the evidence supports every statement.
func (j *Judge) grounded(ctx context.Context, c judge.Case, statements []string, t *protocol.Trace) (judge.Verdict, error) {
	v, none := protocol.Ungrounded(c)
	if none {
		return v, nil
	}
	held, err := j.asker.Support(ctx, c.Evidence, statements, t)
	if err != nil {
		return t.Failure(ctx, err)
	}
	return protocol.Grounded(held, len(statements)), nil
}

// lists holds the gold and the predicted statements of a summary, with control items in both lists: only the
// true one of the predicted list states the gold one.
type lists struct {
	batch           protocol.Batch
	gold, predicted []protocol.Item
	texts           map[string]string // texts of the items by id
}

func (j *Judge) lists(c judge.Case, predicted []string) lists {
	all := slices.Concat(c.Statements, predicted)
	seed := prompts.NewFence(append(slices.Clip(all), c.Question)...).Nonce()
	know := protocol.ChooseCanary(seed, append(slices.Clip(all), c.Question)...)
	b := protocol.Brief(seed, protocol.List{Letter: "g", N: len(c.Statements), Canaries: []int{protocol.True}},
		protocol.List{Letter: "p", N: len(predicted), Canaries: []int{protocol.True, protocol.False}})
	l := lists{batch: b, gold: b.Of("g"), predicted: b.Of("p"), texts: make(map[string]string)}
	for _, it := range l.gold {
		l.texts[it.ID] = it.Pick(c.Statements, know.Fact, "")
	}
	for _, it := range l.predicted {
		l.texts[it.ID] = it.Pick(predicted, know.Restated, know.Falsehood)
	}
	return l
}

// request returns the request for verdicts on the open items. It shows both lists whole.
func (l lists) request(question string, open []protocol.Item) llm.Request {
	asked := "every statement of both lists"
	if len(open) < len(l.batch.Items) {
		ids := make([]string, len(open))
		for i, it := range open {
			ids[i] = it.ID
		}
		asked = strings.Join(ids, ", ") + " and on no other"
	}
	text := func(it protocol.Item) string { return l.texts[it.ID] }
	gold, predicted, question := protocol.Listed(l.gold, text), protocol.Listed(l.predicted, text), protocol.Plain(question)
	f := prompts.NewFence(question, gold, predicted)
	return request("joint", "compare", map[string]any{
		"Nonce": f.Nonce(), "Number": l.batch.Code, "Asked": asked,
		"Question": f.Wrap("question", question), "Gold": f.Wrap("gold", gold), "Predicted": f.Wrap("predicted", predicted),
	})
}

// compare asks the model in one call which predicted statements together state each gold one, and which gold
// statements together support each predicted one.
func (j *Judge) compare(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *protocol.Trace) error {
	l := j.lists(c, out.Predicted)
	ask := func(open []protocol.Item) llm.Request { return l.request(c.Question, open) }
	stated, supported := make([][]int, len(c.Statements)), make([]bool, len(out.Predicted))
	err := j.asker.Run(ctx, l.batch, []string{"by"}, t, ask, func(it protocol.Item, line protocol.Line) error {
		isGold := strings.HasPrefix(it.ID, "g")
		others := l.gold
		if isGold {
			others = l.predicted
		}
		by, unknown, err := it.Named(line["by"], others)
		t.Protocol.Extra += unknown
		switch {
		case err != nil || it.Canary():
		case isGold:
			stated[it.Index] = by
		default:
			supported[it.Index] = len(by) > 0
		}
		return err
	})
	if err == nil {
		protocol.Together(out, stated, supported)
	}
	return err
}

// evidencePrompt returns the rule and the texts that evidence adds to a prompt. decides says what decides the
// truth.
func evidencePrompt(f prompts.Fence, evidence []string, decides string) (rule, texts string) {
	if len(evidence) == 0 {
		return "", ""
	}
	var b strings.Builder
	for i, text := range evidence {
		b.WriteString("\n" + f.Wrap("evidence "+strconv.Itoa(i+1), text) + "\n")
	}
	return "\nThe evidence is what an answer was written from. Use it to resolve names, spellings\n" +
		"and dates; " + decides + " what is true.\n", b.String()
}

// match asks the model which gold statements each predicted one matches, and sets recall and precision by
// equations 2 and 3 of WildGraphBench.
func (j *Judge) match(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *protocol.Trace) error {
	predicted, evidence := out.Predicted, protocol.PlainAll(c.Evidence)
	seed := prompts.NewFence(slices.Concat(c.Statements, predicted, evidence)...).Nonce()
	know := protocol.ChooseCanary(seed, slices.Concat(c.Statements, predicted)...)
	// The gold list has one statement more, which only the true control item states.
	gold := protocol.NewBatch("g", seed, len(c.Statements), protocol.True)
	goldList := protocol.Listed(gold.Items, func(it protocol.Item) string {
		return it.Pick(c.Statements, know.Fact, "")
	})
	ask := func(open []protocol.Item) llm.Request {
		list := protocol.Listed(open, func(it protocol.Item) string {
			return it.Pick(predicted, know.Restated, know.Falsehood)
		})
		f := prompts.NewFence(append([]string{goldList, list}, evidence...)...)
		rule, texts := evidencePrompt(f, evidence, "the gold statements alone decide")
		return request("paper", "match", map[string]any{
			"Nonce": f.Nonce(), "Rule": rule, "Gold": f.Wrap("gold", goldList), "Predicted": f.Wrap("predicted", list), "Evidence": texts,
		})
	}
	met := make([][]int, len(predicted))
	err := j.asker.Run(ctx, protocol.NewBatch("p", seed, len(predicted), protocol.True, protocol.False), []string{"gold"}, t, ask, func(it protocol.Item, l protocol.Line) error {
		found, unknown, err := it.Named(l["gold"], gold.Items)
		t.Protocol.Extra += unknown
		if !it.Canary() {
			met[it.Index] = found
		}
		return err
	})
	if err != nil {
		return err
	}
	stated, supported := make([][]int, len(c.Statements)), make([]bool, len(predicted))
	for p, golds := range met {
		supported[p] = len(golds) > 0
		for _, g := range golds {
			stated[g] = append(stated[g], p)
		}
	}
	protocol.Together(out, stated, supported)
	return nil
}

// Rule is a caller's yes-or-no question to a language model. It uses the protocol of the judges: fenced items
// with ids from a hash, and two control items.
type Rule struct {
	// Text says which items get 1 and which 0. It is not fenced, so it must not contain texts of pages or
	// models.
	Text string
	// Right is an item that clearly gets 1, Wrong an item that clearly gets 0: the control items.
	Right, Wrong string
}

// Ruling holds the verdicts on the items of a [Rule], in order.
type Ruling struct {
	Verdicts []judge.Verdict
	Protocol judge.Protocol
	Usage    graphrag.Usage
}

// Ask asks m to give each item 1 or 0. All items are unscored, with the reason, if one has no usable verdict
// after a second request, or a control item gets a wrong verdict. After an error judging must end, see
// [judge.Judge]. It is safe for concurrent use.
func (r Rule) Ask(ctx context.Context, m llm.Model, items ...string) (Ruling, error) {
	if protocol.Blank(r.Text) || protocol.Blank(r.Right) || protocol.Blank(r.Wrong) {
		return Ruling{}, errors.New("judge: Text, Right or Wrong of a Rule is blank: set all three")
	}
	e, err := protocol.New(m, "rule", 1, judge.Options{})
	if err != nil {
		return Ruling{}, err
	}
	var t protocol.Trace
	seed := prompts.NewFence(append(slices.Clip(items), r.Text)...).Nonce()
	ask := func(open []protocol.Item) llm.Request {
		list := protocol.Listed(open, func(it protocol.Item) string { return it.Pick(items, r.Right, r.Wrong) })
		f := prompts.NewFence(list)
		return protocol.Request(templates, "judge-rule", "rule", map[string]any{"Nonce": f.Nonce(), "Rule": r.Text, "Items": f.Wrap("items", list)})
	}
	verdicts, err := e.Scores(ctx, protocol.NewBatch("i", seed, len(items), protocol.True, protocol.False), []string{"reason", "score"}, &t, ask)
	if err != nil {
		var v judge.Verdict
		v, err = t.Failure(ctx, err)
		verdicts = slices.Repeat([]judge.Verdict{v}, len(verdicts))
	}
	return Ruling{verdicts, t.Protocol, t.Usage}, err
}
