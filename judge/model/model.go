// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

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

// versions are the versions of each profile's prompts and protocol; figures of different versions do not
// compare.
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
	// Profile is the procedure; "" is Joint.
	Profile Profile
}

// Judge is a [judge.Judge] that asks a language model.
type Judge struct {
	profile Profile
	asker   protocol.Asker
}

var _ judge.Judge = (*Judge)(nil)

// New returns the judge that asks m. The error lists every fault of the options.
func New(m llm.Model, o Options) (*Judge, error) {
	if o.Profile == "" {
		o.Profile = Joint
	}
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

// Name returns everything that figures depend on: profile, kind of precision, version of the prompts, options
// that differ from the profile's, and model.
func (j *Judge) Name() string { return j.asker.Name() }

// Info describes the profile.
func (j *Judge) Info() judge.Info { return j.profile.info() }

// Fact asks whether the answer states the reference; with Joint, the part of it that the question asks for.
// Empty and refused answers score 0 without a call.
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
	case out.Recall.State == judge.Unscored: // no statements could be obtained
		out.Grounded = out.Recall
	default:
		out.Grounded = judge.Verdict{State: judge.NotApplicable, Reason: "no statement in the answer"}
	}
	return out, err
}

// request fills in a prompt of a profile.
func request(profile, name string, values map[string]any) llm.Request {
	return protocol.Request(templates, "judge-"+name, profile+"_"+name, values)
}

// grade asks whether the answer states the reference. Each task of the request is a
// question, a reference and a candidate; Paper shows the evidence as well.
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
	if out.Predicted, out.Truncated, err = j.asker.Split(ctx, c, judge.MaxStatements, t); err == nil {
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

// grounded asks, in one request, whether the evidence supports every statement.
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
