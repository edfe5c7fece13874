// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// The size of a domain's sample in a dry run.
const (
	dryQuestions = 3       // questions of each type
	dryBytes     = 1 << 18 // bytes of pages
)

// sampled is a domain with a sample of its pages and questions.
type sampled struct {
	benchmark.Domain
	pages  float64            // bytes of all pages divided by bytes of the sample
	weight map[string]float64 // number of questions that a question represents, by its ID
	long   map[string]bool    // IDs of questions with long answers
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
	out.Items = nil
	for _, typ := range set.Types {
		items := slices.DeleteFunc(slices.Clone(d.Items), func(it benchmark.Item) bool { return it.Type != typ.Key })
		n := len(items)
		items = items[:min(n, dryQuestions)]
		for _, it := range items {
			out.weight[it.Question.ID], out.long[it.Question.ID] = float64(n)/float64(len(items)), typ.Statements
		}
		out.Items = append(out.Items, items...)
	}
	return out, nil
}

// Run is a function that makes the runners of entries over a data set.
type Run func(set *benchmark.Dataset, systems []benchmark.Entry) []*benchmark.Runner

// DryRun runs a sample of each domain without calling a model. It prints the expected calls, tokens and cost of
// the whole run, or its time and memory if it makes no calls. others are entries beside the selected systems.
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
			max(time.Duration(share), time.Second).Round(time.Second), display.Digits(int(float64(mem.Sys)*largest/1e6)), time.Since(began).Round(100*time.Millisecond))
		return err
	}
	return p.writeEstimate(w)
}

// dryDomain runs the systems over a sample, one at a time. A call that several make is counted for the first.
func (p *Parts) dryDomain(ctx context.Context, set *benchmark.Dataset, part sampled, others []benchmark.Entry, run Run) error {
	if p.dry != nil {
		p.dry.pages, p.dry.weight, p.dry.long = part.pages, part.weight, part.long
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
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t\n", stage, model, display.Digits(u.Calls), display.Digits(u.PromptTokens), display.Digits(u.CompletionTokens), display.Digits(u.EmbeddedTokens))
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
	_, err := fmt.Fprintf(w, "What systems share is counted with the first of them; %s. Replies already in %s are not paid for again. Nothing was called.\n", display.OneLine(cost), display.OneLine(s.Cache))
	return err
}

// Lengths of a model's replies in bytes, measured over the pages of the sample (360 replies of one model). The
// reply to a passage grows with the passage.
const (
	perEntity      = 170 // bytes of a passage per entity of a typed graph
	perName        = 140 // bytes of a passage per plain name
	perTriple      = 65
	entityText     = 110 // length of a description
	together       = 5   // entities of a community; each community has a report
	perFinding     = 400 // bytes of a report's input per finding
	mostFindings   = 5
	gleaned        = 3 // number of entities of a second extraction
	factAnswer     = 225
	summaryAnswer  = 2800
	fromMemory     = .6  // factor for the length of an answer without evidence
	perStatement   = 115 // bytes of an answer per statement
	mostStatements = 20
	searchReply    = 190
	gradeReply     = 340
	matchReply     = 800
)

// dryServer makes the models of a dry run. No server is called: the tokens of each distinct call are counted,
// and the reply is made from the prompt, with the form and length of a model's reply. Prompts are thus real,
// and later calls follow from the replies.
type dryServer struct {
	count func(string) int

	mu     sync.Mutex
	system string             // name of the system that makes the calls
	weight map[string]float64 // number of questions that a question represents, by its ID
	long   map[string]bool    // IDs of questions with long answers
	pages  float64            // weight of calls that belong to no question
	seen   map[string]bool
	sums   []weightedUsage
}

// weightedUsage is the weighted usage of the calls of a stage and model.
type weightedUsage struct {
	stage, model                        string
	calls, prompt, completion, embedded float64
}

func newDryServer(count func(string) int) *dryServer {
	return &dryServer{count: count, pages: 1, seen: map[string]bool{}}
}

func (d *dryServer) Model(name string) (llm.Model, error) { return dryModel{d, name, ""}, nil }

// Embedder returns an embedder whose vectors are not zero. It counts the tokens of the texts.
func (d *dryServer) Embedder(name string) (llm.NamedEmbedder, error) {
	return dryEmbedder{func(ctx context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			d.add(ctx, name+"\x00"+text, weightedUsage{stage: "embed", model: name, embedded: float64(d.count(text))})
			out[i] = make([]float32, 16)
			for j, b := range []byte(text) {
				out[i][(j+int(b))%16] += float32(b)
			}
			out[i][0]++
		}
		return out, nil
	}, name}, nil
}

// add counts a call, unless a call with the same key was counted before.
func (d *dryServer) add(ctx context.Context, key string, u weightedUsage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[key] {
		return
	}
	d.seen[key] = true
	u.stage = d.system + " " + u.stage
	at := slices.IndexFunc(d.sums, func(s weightedUsage) bool { return s.stage == u.stage && s.model == u.model })
	if at < 0 {
		at, d.sums = len(d.sums), append(d.sums, weightedUsage{stage: u.stage, model: u.model})
	}
	w, ok := d.weight[questionOf(ctx)]
	if !ok {
		w = d.pages
	}
	of := &d.sums[at]
	of.calls, of.prompt = of.calls+w*u.calls, of.prompt+w*u.prompt
	of.completion, of.embedded = of.completion+w*u.completion, of.embedded+w*u.embedded
}

// questionOf returns the ID of the question that the context names, without the suffix of a repetition.
func questionOf(ctx context.Context) string {
	return strings.TrimSuffix(metering.QuestionOf(ctx), record.RepeatSuffix(metering.SampleOf(ctx)))
}

// Estimate returns the counted calls by stage and model.
func (d *dryServer) Estimate() (e paid.Estimate) {
	for _, u := range d.sums {
		e.Add(u.stage, u.model, llm.Usage{
			Calls: int(u.calls + .5), PromptTokens: int(u.prompt + .5), CompletionTokens: int(u.completion + .5), EmbeddedTokens: int(u.embedded + .5),
		})
	}
	return e
}

type dryModel struct {
	*dryServer
	name, stage string
}

func (m dryModel) Name() string { return m.name }

// Generate implements [llm.Model].
func (m dryModel) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	stage := cmp.Or(m.stage, map[string]string{"index": "index", "retrieve": "search"}[metering.StageOf(ctx)], "answer")
	text, bytes := m.reply(ctx, req, stage)
	prompt := m.count(string(req.Schema))
	for _, msg := range req.Messages {
		prompt += m.count(msg.Text)
	}
	completion := m.count(text)
	if bytes > len(text) {
		completion = completion * bytes / max(len(text), 1)
	}
	key, err := json.Marshal(req)
	if err != nil {
		return llm.Reply{}, err
	}
	used := weightedUsage{stage: stage, model: m.name, calls: 1, prompt: float64(prompt), completion: float64(completion)}
	m.add(ctx, fmt.Sprint(m.name, metering.SampleOf(ctx), string(key)), used)
	return llm.Reply{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: completion}}, nil
}

// reply makes a reply to a request. bytes is the length that a model's reply would have, if that is longer.
func (m dryModel) reply(ctx context.Context, req llm.Request, stage string) (text string, bytes int) {
	switch stage {
	case "judge":
		if req.Stage == "judge-accuracy" || req.Stage == "judge-grade" {
			return "1", 1
		}
		text, ok := DryGrader.Reply(req)
		if !ok {
			text = `{"statements": []}`
		}
		if strings.Contains(text, `"gold"`) || strings.Contains(text, `"by"`) {
			return text, matchReply
		}
		return text, gradeReply
	case "answer":
		m.mu.Lock()
		long := m.long[questionOf(ctx)]
		m.mu.Unlock()
		bytes, evidence := float64(factAnswer), passage(req)
		if long {
			bytes = summaryAnswer
		}
		if strings.HasPrefix(evidence, "Question: ") {
			bytes *= fromMemory
		}
		var b strings.Builder // words of the evidence, or of the question if there is no evidence
		for b.Len() < int(bytes) && len(evidence) > 0 {
			n := min(len(evidence), perStatement)
			fmt.Fprintf(&b, "%s [1]. ", strings.ToValidUTF8(strings.Join(strings.Fields(evidence[:n]), " "), ""))
			evidence = evidence[n:]
		}
		return padded("It is so: "+b.String(), int(bytes)), 0
	}
	return DryReply(req), map[string]int{"search": searchReply}[stage]
}

// DryGrader is the judge of a dry run: it confirms everything, and cuts answers into statements.
var DryGrader = judgetest.Grader{
	Fact:     func(_, _ string) bool { return true },
	Concerns: func(_, _ string) bool { return true },
	Statements: func(answer string) (out []string) {
		if len(answer) > 0 && len(answer) < perStatement {
			return []string{answer}
		}
		for i := 0; i+perStatement <= len(answer) && len(out) < mostStatements; i += perStatement {
			out = append(out, strings.ToValidUTF8(answer[i:i+perStatement], ""))
		}
		return out
	},
}

// passage returns the text of the user's first message.
func passage(req llm.Request) string {
	for _, msg := range req.Messages {
		if msg.Role == llm.User {
			return msg.Text
		}
	}
	return ""
}

//go:embed replies.tmpl
var replyFile string

// replies has a template for each stage of a request, and "other" for unknown stages.
var replies = template.Must(template.New("").Funcs(template.FuncMap{"json": asJSON, "join": strings.Join, "pad": padded}).Parse(replyFile))

// DryReply returns a reply to a prompt of an index or a search, by its stage.
func DryReply(req llm.Request) string {
	about := newSubject(req)
	name, data := req.Stage, any(about)
	switch {
	case name == extract.StageRecords:
		name, data = recordForm(req), about.Entities(about.Typed())
	case name == extract.StageGlean:
		name, data = recordForm(req), about.Entities(gleaned)
	case replies.Lookup(name) == nil:
		name = "other"
	}
	var b strings.Builder
	if err := replies.ExecuteTemplate(&b, name, data); err != nil {
		return err.Error()
	}
	return b.String()
}

// recordForm returns the template for the record format that the prompt of a request shows.
func recordForm(req llm.Request) string {
	var prompt strings.Builder
	for _, msg := range req.Messages {
		prompt.WriteString(msg.Text)
	}
	switch {
	case strings.Contains(prompt.String(), `"other_relationships": [`):
		return "objects"
	case strings.Contains(prompt.String(), `("entity"<|>`):
		return "tuples"
	}
	return "lines"
}

var (
	named    = regexp.MustCompile(`\p{Lu}[\p{L}’'-]+(?: \p{Lu}[\p{L}’'-]+){0,2}`)
	group    = regexp.MustCompile(`(?m)^id: (\d+)$`)
	noRecord = strings.NewReplacer("<", "", ">", "", "|", "", `"`, "", "(", "", ")", "", "#", "", "\n", " ", "[", "", "]", "")
)

// subject is the data of a reply's template: the text of a request.
type subject struct {
	Text     string  // the passage; for an agent the last message
	Turn     int     // turn of an agent
	Searches bool    // the agent can search, not only find patterns
	places   [][]int // byte ranges of the names, each name once
}

// entity is a name with the words that follow it in the text, and a related name.
type entity struct{ Name, Text, Next string }

func newSubject(req llm.Request) subject {
	s, seen := subject{Text: passage(req)}, map[string]bool{}
	if req.Stage == agent.StageSearch {
		s.Text, s.Turn = req.Messages[len(req.Messages)-1].Text, len(req.Messages)/2
		s.Searches = strings.Contains(req.Messages[0].Text, `"tool": "search"`)
	}
	for _, at := range named.FindAllStringIndex(s.Text, -1) {
		if name := s.Text[at[0]:at[1]]; !seen[name] {
			seen[name] = true
			s.places = append(s.places, at)
		}
	}
	return s
}

// Entities returns up to n names, spread over the text. Each is related to the next name of its community.
func (s subject) Entities(n int) (out []entity) {
	n = min(n, len(s.places))
	for i := range n {
		at := s.places[i*len(s.places)/n]
		words := noRecord.Replace(strings.ToValidUTF8(s.Text[at[0]:min(len(s.Text), at[0]+entityText)], ""))
		out = append(out, entity{Name: s.Text[at[0]:at[1]], Text: strings.Join(strings.Fields(words), " ")})
	}
	for i := range out {
		if out[i].Next = out[i-i%together].Name; i+1 < n && (i+1)%together > 0 {
			out[i].Next = out[i+1].Name
		}
	}
	return out
}

// Typed, Plain, Facts and Findings estimate from the length of the text how many entities, plain names and
// triples a model would extract, and how many findings a report would have.
func (s subject) Typed() int    { return max(len(s.Text)/perEntity, 1) }
func (s subject) Plain() int    { return max(len(s.Text)/perName, 1) }
func (s subject) Facts() int    { return len(s.Text) / perTriple }
func (s subject) Findings() int { return min(1+len(s.Text)/perFinding, mostFindings) }

// Names returns the names of up to n entities.
func (s subject) Names(n int) []string {
	out := []string{}
	for _, e := range s.Entities(n) {
		out = append(out, e.Name)
	}
	return out
}

// Triples returns n triples of the names.
func (s subject) Triples(n int, relation string) (out [][]string) {
	all := s.Entities(len(s.places))
	for i := 0; i < n && len(all) > 0; i++ {
		e := all[i%len(all)]
		out = append(out, []string{e.Name, relation, e.Next})
	}
	return out
}

// Groups returns the ids of the communities that the text lists.
func (s subject) Groups() (ids []string) {
	for _, id := range group.FindAllStringSubmatch(s.Text, -1) {
		ids = append(ids, id[1])
	}
	return ids
}

// Second reports whether the text lists the results of an earlier extraction.
func (s subject) Second() bool { return strings.Contains(s.Text, "\n2. ") }

// Read returns the number of passages in the text. It makes the thoughts of a search differ.
func (s subject) Read() int { return strings.Count(s.Text, "\n[") }

// padded returns a text of the given number of bytes: text repeated or cut.
func padded(text string, bytes int) string {
	text = noRecord.Replace(strings.Join(strings.Fields(text), " ")) + " and so on. "
	return strings.ToValidUTF8(strings.Repeat(text, bytes/len(text)+1)[:bytes], "")
}

func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

type dryEmbedder struct {
	embed.Func
	name string
}

func (e dryEmbedder) Name() string { return e.name }
