// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// The sample of a domain in a dry run.
const (
	dryQuestions = 3       // of each type
	dryBytes     = 1 << 18 // of pages
)

// sampled is a domain with a sample of its pages and questions.
type sampled struct {
	benchmark.Domain
	pages  float64            // bytes of all pages over bytes of the sample
	weight map[string]float64 // by question ID: the number of questions that it represents
	long   map[string]bool    // questions with long answers
}

func sampleOf(set *benchmark.Dataset, d benchmark.Domain) (sampled, error) {
	out := sampled{Domain: d, pages: 1, weight: map[string]float64{}, long: map[string]bool{}}
	var total, taken int
	var docs []graphrag.Document
	for doc, err := range d.Documents() {
		if err != nil {
			return out, err
		}
		if total += len(doc.Text); taken < dryBytes {
			docs, taken = append(docs, doc), taken+len(doc.Text)
		}
	}
	out.Documents = benchmark.NewDomain("", docs, nil).Documents
	if taken > 0 {
		out.pages = float64(total) / float64(taken)
	}
	for _, typ := range set.Types {
		var items []benchmark.Item
		n := 0
		for _, it := range d.Items {
			if it.Type == typ.Key {
				if n++; n <= dryQuestions {
					items = append(items, it)
				}
			}
		}
		for _, it := range items {
			out.weight[it.Question.ID], out.long[it.Question.ID] = float64(n)/float64(len(items)), typ.Statements
		}
		if typ.Key == set.Types[0].Key {
			out.Items = nil
		}
		out.Items = append(out.Items, items...)
	}
	return out, nil
}

// Run makes the runners of entries over a data set.
type Run func(set *benchmark.Dataset, systems []benchmark.Entry) []*benchmark.Runner

// DryRun runs a sample of each domain without calling a model, and prints the expected calls, tokens
// and cost of the whole run, or its time and memory if it makes no calls. Others are further entries.
func (p *Parts) DryRun(ctx context.Context, w io.Writer, set *benchmark.Dataset, others []benchmark.Entry, run Run) error {
	s := p.settings
	set = set.Limited(s.Limit)
	began, share, largest := time.Now(), 0.0, 1.0
	for _, d := range set.Domains {
		part, err := sampleOf(set, d)
		if err != nil {
			return err
		}
		one := *set
		one.Domains = []benchmark.Domain{part.Domain}
		begun := time.Now()
		if err := p.dryDomain(ctx, &one, part, others, run); err != nil {
			return fmt.Errorf("estimating %s: %w", d.Name, err)
		}
		share += part.pages * float64(time.Since(begun))
		largest = max(largest, part.pages)
	}
	if !s.Paid() {
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		_, err := fmt.Fprintf(w, "The offline kit makes no call of a model. Expected time: %s, and %s MB of memory, as a part of it took %s.\n",
			max(time.Duration(share), time.Second).Round(time.Second), text.Digits(int(float64(mem.Sys)*largest/1e6)), time.Since(began).Round(100*time.Millisecond))
		return err
	}
	return p.writeEstimate(w)
}

// dryDomain runs the systems over a sample in turn. Calls that several systems share are counted with
// the first.
func (p *Parts) dryDomain(ctx context.Context, set *benchmark.Dataset, part sampled, others []benchmark.Entry, run Run) error {
	if p.dry != nil {
		p.dry.Part(part.pages, part.weight, part.long)
	}
	systems, err := p.Entries()
	if err != nil {
		return err
	}
	for _, e := range append(systems, others...) {
		if p.dry != nil {
			p.dry.system = e.Name
		}
		for _, runner := range run(set, []benchmark.Entry{e}) {
			runner.Options.Dir, runner.Options.Found, runner.Options.Progress, runner.Options.MaxFailed = "", false, nil, 1
			if _, err := runner.Run(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEstimate prints the calls and tokens by system and stage, and the cost.
func (p *Parts) writeEstimate(w io.Writer) error {
	s, e := p.settings, p.dry.Estimate()
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "system and stage\tmodel\tcalls\tprompt tokens\treply tokens\tembedded tokens\t")
	line := func(stage, model string, u llm.Usage) {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t\n", stage, model, text.Digits(u.Calls), text.Digits(u.PromptTokens), text.Digits(u.CompletionTokens), text.Digits(u.EmbeddedTokens))
	}
	for _, st := range e.Stages {
		line(st.Stage, st.Model, st.Usage)
	}
	for _, stage := range []string{"embed", "index", "search", "answer", "judge"} {
		var sum llm.Usage
		for _, st := range e.Stages {
			if strings.HasSuffix(st.Stage, " "+stage) {
				sum = sum.Add(st.Usage)
			}
		}
		if sum.Tokens() > 0 {
			line("all: "+stage, "", sum)
		}
	}
	line("total", "", e.Total())
	if err := tw.Flush(); err != nil {
		return err
	}
	cost := "no prices given"
	if s.PriceList != nil {
		cost = fmt.Sprintf("expected cost %s %s", e.Cost(s.PriceList), s.PriceList.Currency)
	}
	_, err := fmt.Fprintf(w, "What systems share is counted with the first of them; %s. Replies already in %s are not paid for again. Nothing was called.\n", text.OneLine(cost), text.OneLine(s.Cache))
	return err
}
