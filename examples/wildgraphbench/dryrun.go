// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/judge/paper"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// What a call takes beside the evidence, in tokens: the prompts of the reader
// and the judge with question and answer, and replies of the usual length.
const (
	readPrompt, factReply, summaryReply = 450, 60, 400
	gradePrompt, gradeReply             = 700, 120
	extractPrompt, extractReply         = 700, 350
	matchPrompt, matchReply             = 1200, 500
	callsOfSummary                      = 2 // extract and match; one more for a section, or with the profile upstream
	// Of a call that reads a chunk, and of one that looks at a question.
	indexPrompt, indexReply   = 400, 400
	searchPrompt, searchReply = 400, 60
)

// volume is how much a run has to do.
type volume struct {
	chunks, tokens   int // chunks of all domains, and their tokens
	facts, summaries int
	questionTokens   int
}

// measure cuts the corpus and counts the questions; it costs no call.
func measure(ctx context.Context, s settings, set *benchmark.Dataset, count func(string) int) (volume, error) {
	var v volume
	chunker, err := s.common().Cut.Chunker()
	if err != nil {
		return v, err
	}
	for _, d := range set.Domains {
		chunks, err := chunker.All(ctx, d.Documents())
		if err != nil {
			return v, err
		}
		v.chunks += len(chunks)
		for _, c := range chunks {
			v.tokens += c.Tokens
		}
	}
	for it := range set.Limited(s.limit).Items() {
		v.questionTokens += count(it.Question.Text)
		if it.Type == wildgraph.Summary {
			v.summaries++
		} else {
			v.facts++
		}
	}
	return v, nil
}

// evidence is the mean length of the context of k chunks.
func (v volume) evidence(k int) int {
	if v.chunks == 0 {
		return 0
	}
	return min(k, v.chunks) * v.tokens / v.chunks
}

// estimate is what the systems and the judge are expected to take.
func (v volume) estimate(s settings, systems []all.System, scores int) paid.Estimate {
	var e paid.Estimate
	judged := scores
	for _, sys := range systems {
		judged++
		fact, summary := v.evidence(s.topKQA), v.evidence(s.topKSummary)
		if !sys.Retrieves {
			fact, summary = 0, 0
		}
		if sys.Embeds && s.embedModel != "" {
			e.Add(sys.Name+" embed", s.embedModel, llm.Usage{EmbeddedTokens: v.tokens + v.questionTokens})
		}
		if n := sys.PerChunk; n > 0 && s.indexKit == kitModel {
			e.Add(sys.Name+" index", s.model, llm.Usage{
				Calls: n * v.chunks, PromptTokens: n * (v.tokens + indexPrompt*v.chunks), CompletionTokens: n * indexReply * v.chunks,
			})
		}
		if s.answerKit == kitOffline {
			continue
		}
		if n := sys.PerQuestion * (v.facts + v.summaries); n > 0 {
			e.Add(sys.Name+" search", s.model, llm.Usage{Calls: n, PromptTokens: n * searchPrompt, CompletionTokens: n * searchReply})
		}
		e.Add(sys.Name+" answer", s.model, llm.Usage{
			Calls:            v.facts + v.summaries,
			PromptTokens:     v.facts*(readPrompt+fact) + v.summaries*(readPrompt+summary),
			CompletionTokens: v.facts*factReply + v.summaries*summaryReply,
		})
	}
	if s.answerKit == kitOffline {
		return e
	}
	for range judged {
		e.Add("judge", s.judgeModel, v.judgeFacts(s).Add(v.judgeSummaries(s, s.topKSummary)))
	}
	v.sweep(&e, s, systems)
	return e
}

// shown is the evidence that the judge is shown of k chunks in the calls of a
// question: the profile of the paper shows it once, the question whether an answer
// is grounded once more.
func (v volume) shown(s settings, profile string, k int) int {
	n := 0
	if profile == paper.Profile {
		n += v.evidence(k)
	}
	if s.grounded {
		n += gradePrompt + v.evidence(k)
	}
	return n
}

// dryRun prints what a run is expected to take and makes no call.
func dryRun(ctx context.Context, w io.Writer, s settings, set *benchmark.Dataset, p *parts) error {
	v, err := measure(ctx, s, set, p.count)
	if err != nil {
		return err
	}
	e := v.estimate(s, s.selected(), len(s.scores))
	fmt.Fprintf(w, "%d chunks of %d tokens in all, %d fact and %d summary questions.\n", v.chunks, v.tokens, v.facts, v.summaries)
	if !s.paid() {
		fmt.Fprintln(w, "The offline kit makes no call of a model.")
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "stage\tmodel\tcalls\tprompt tokens\treply tokens\tembedded tokens\t")
	line := func(stage, model string, u llm.Usage) {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%d\t\n", stage, model, u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens)
	}
	for _, st := range e.Stages {
		line(st.Stage, st.Model, st.Usage)
	}
	line("total", "", e.Total())
	if err := tw.Flush(); err != nil {
		return err
	}
	cost := e.Cost(s.priceList)
	currency := ""
	if s.priceList != nil {
		currency = " " + s.priceList.Currency
	}
	_, err = fmt.Fprintf(w, "Expected cost: %s%s. Replies already in %s are not paid for again. Nothing was called.\n", cost, currency, s.cache)
	return err
}

// sweep adds what the summary questions take at every other top-k of the sweep.
func (v volume) sweep(e *paid.Estimate, s settings, systems []all.System) {
	var answers, judging llm.Usage
	for _, k := range s.sweepTopK {
		for _, sys := range systems {
			if !sys.Retrieves || k == s.topKSummary {
				continue
			}
			answers = answers.Add(v.answerSummaries(k))
			judging = judging.Add(v.judgeSummaries(s, k))
		}
	}
	if answers.Calls > 0 {
		e.Add("sweep answer", s.model, answers)
		e.Add("sweep judge", s.judgeModel, judging)
	}
}

func (v volume) answerSummaries(k int) llm.Usage {
	return llm.Usage{
		Calls: v.summaries, PromptTokens: v.summaries * (readPrompt + v.evidence(k)), CompletionTokens: v.summaries * summaryReply,
	}
}

func (v volume) judgeFacts(s settings) (sum llm.Usage) {
	for _, profile := range s.judgeProfiles {
		sum = sum.Add(llm.Usage{
			Calls:            v.facts * (1 + extra(s)),
			PromptTokens:     v.facts * (gradePrompt + v.shown(s, profile, s.topKQA)),
			CompletionTokens: v.facts * (1 + extra(s)) * gradeReply,
		})
	}
	return sum
}

func (v volume) judgeSummaries(s settings, k int) (sum llm.Usage) {
	for _, profile := range s.judgeProfiles {
		sum = sum.Add(llm.Usage{
			Calls:            v.summaries * (callsOfSummary + extra(s)),
			PromptTokens:     v.summaries * (extractPrompt + matchPrompt + v.shown(s, profile, k)),
			CompletionTokens: v.summaries * (extractReply + matchReply + extra(s)*gradeReply),
		})
	}
	return sum
}

// extra is how many calls an answer takes beside those that judge it.
func extra(s settings) int {
	if s.grounded {
		return 1
	}
	return 0
}
