// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// How long a careful model's replies were, in bytes, over the pages of the sample
// (360 replies of one model). A reply to a passage grows with the passage.
const (
	perEntity      = 170 // of a passage, for one entity of a typed graph
	perName        = 140 // for one plain name
	perTriple      = 65
	entityText     = 110 // a description
	together       = 5   // entities of a community, each of which has a report
	perFinding     = 400 // of what a report is written from
	mostFindings   = 5
	gleaned        = 3 // entities of a second look
	factAnswer     = 225
	summaryAnswer  = 2800
	fromMemory     = .6  // of an answer, without anything to read
	perStatement   = 115 // of an answer, for one statement of it
	mostStatements = 20
	searchReply    = 190
	gradeReply     = 340
	matchReply     = 800
)

// dryServer hands out models that are asked nothing, for a dry run: what a call would take is
// written down, once for calls that are alike, and the reply is made up of the
// prompt, of the kind and the length that a model's would have. So the prompts are
// the real ones, and there are as many as the replies lead to.
type dryServer struct {
	count func(string) int

	mu     sync.Mutex
	system string             // whose calls are made
	weight map[string]float64 // of the calls of a question, by its ID: those it stands for
	long   map[string]bool    // questions that are answered at length
	pages  float64            // weight of the calls without a question
	seen   map[string]bool
	sums   map[row]*sum
	order  []row
}

type row struct{ stage, model string }

// sum is a usage of weighted calls.
type sum struct{ calls, prompt, completion, embedded float64 }

// newDryServer counts tokens by count.
func newDryServer(count func(string) int) *dryServer {
	return &dryServer{count: count, pages: 1, seen: map[string]bool{}, sums: map[row]*sum{}}
}

// Model hands out a model.
func (d *dryServer) Model(name string) (llm.Model, error) { return dryModel{d, name, ""}, nil }

// Embedder hands out an embedder.
func (d *dryServer) Embedder(name string) (llm.NamedEmbedder, error) {
	return dryEmbedder{d.vectors(name), name}, nil
}

// Judge is a model whose calls count for the judge.
func (d *dryServer) Judge(name string) llm.Model { return dryModel{d, name, "judge"} }

// Part sets the weights of the next calls: calls of a question count by its weight, all others
// by pages; long are questions that get long answers.
func (d *dryServer) Part(pages float64, weight map[string]float64, long map[string]bool) {
	d.pages, d.weight, d.long = pages, weight, long
}

// System names the system that makes the next calls.
func (d *dryServer) System(name string) { d.system = name }

// add counts a call, unless one like it was counted before.
func (d *dryServer) add(ctx context.Context, key, stage, model string, u sum) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[key] {
		return
	}
	d.seen[key] = true
	at := row{d.system + " " + stage, model}
	of := d.sums[at]
	if of == nil {
		of = &sum{}
		d.sums[at], d.order = of, append(d.order, at)
	}
	w, ok := d.weight[questionOf(ctx)]
	if !ok {
		w = d.pages
	}
	of.calls += w * u.calls
	of.prompt += w * u.prompt
	of.completion += w * u.completion
	of.embedded += w * u.embedded
}

// questionOf is the ID of the question, also when it is asked again.
func questionOf(ctx context.Context) string {
	return strings.TrimSuffix(llm.QuestionOf(ctx), benchmark.RepeatSuffix(llm.SampleOf(ctx)))
}

// Estimate returns the sums of the calls.
func (d *dryServer) Estimate() (e paid.Estimate) {
	for _, at := range d.order {
		u := d.sums[at]
		e.Add(at.stage, at.model, llm.Usage{
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
	stage := m.stage
	if stage == "" {
		stage = map[string]string{"index": "index", "retrieve": "search"}[llm.StageOf(ctx)]
	}
	if stage == "" {
		stage = "answer"
	}
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
	m.add(ctx, fmt.Sprint(m.name, llm.SampleOf(ctx), string(key)), stage, m.name, sum{calls: 1, prompt: float64(prompt), completion: float64(completion)})
	return llm.Reply{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: completion}}, nil
}

// reply makes up a reply; bytes is how long a model's would be if it is longer.
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
		bytes := float64(factAnswer)
		if long {
			bytes = summaryAnswer
		}
		if strings.HasPrefix(passage(req), "Question: ") {
			bytes *= fromMemory
		}
		return m.quote(req, int(bytes)), 0
	}
	if stage == "search" {
		return DryReply(req), searchReply
	}
	return DryReply(req), 0
}

// DryGrader judges the dry answers: it agrees, and cuts answers into pieces.
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

// quote is an answer of words of the evidence, or of the question without any.
func (m dryModel) quote(req llm.Request, bytes int) string {
	text := passage(req)
	var b strings.Builder
	for b.Len() < bytes && len(text) > 0 {
		n := min(len(text), perStatement)
		fmt.Fprintf(&b, "%s [1]. ", strings.ToValidUTF8(strings.Join(strings.Fields(text[:n]), " "), ""))
		text = text[n:]
	}
	return padded("It is so: "+b.String(), bytes)
}

// passage returns the text of a request: the first message of the user.
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

// replies has a template for each stage of a request, and "other" for the rest.
var replies = template.Must(template.New("").Funcs(template.FuncMap{"json": asJSON, "join": strings.Join, "pad": padded}).Parse(replyFile))

// DryReply is a reply to a prompt of an index or a search, by its stage.
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

// recordForm names the template of the format that the prompt shows.
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

// subject is the text that a request is about, for the templates of replies.
type subject struct {
	Text     string
	Turn     int     // of an agent, whose text is what it was shown last
	Searches bool    // it has a tool that searches, not one that finds patterns
	places   [][]int // of the names, each name once
}

// entity is a name of a text, the words from there on, and the entity it is related to.
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

// Entities are n names, spread over the text, at most as many as it has; each is related to the next
// of its community.
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

// Typed, Plain and Facts are how many entities, plain names and triples a model finds in the text,
// Findings how many it states of a community.
func (s subject) Typed() int    { return max(len(s.Text)/perEntity, 1) }
func (s subject) Plain() int    { return max(len(s.Text)/perName, 1) }
func (s subject) Facts() int    { return len(s.Text) / perTriple }
func (s subject) Findings() int { return min(1+len(s.Text)/perFinding, mostFindings) }

// Names are the names of n entities.
func (s subject) Names(n int) []string {
	out := []string{}
	for _, e := range s.Entities(n) {
		out = append(out, e.Name)
	}
	return out
}

// Triples are n triples of the names.
func (s subject) Triples(n int, relation string) (out [][]string) {
	all := s.Entities(len(s.places))
	for i := 0; i < n && len(all) > 0; i++ {
		e := all[i%len(all)]
		out = append(out, []string{e.Name, relation, e.Next})
	}
	return out
}

// Groups are the ids of the communities that the text lists.
func (s subject) Groups() (ids []string) {
	for _, id := range group.FindAllStringSubmatch(s.Text, -1) {
		ids = append(ids, id[1])
	}
	return ids
}

// Second reports whether the text lists what a first look found: a second is enough.
func (s subject) Second() bool { return strings.Contains(s.Text, "\n2. ") }

// Read is how many passages the text lists: with it no thought comes twice.
func (s subject) Read() int { return strings.Count(s.Text, "\n[") }

// padded repeats a text, or cuts it, to a length.
func padded(text string, bytes int) string {
	text = noRecord.Replace(strings.Join(strings.Fields(text), " ")) + " and so on. "
	return strings.ToValidUTF8(strings.Repeat(text, bytes/len(text)+1)[:bytes], "")
}

// asJSON is a value as JSON.
func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

type dryEmbedder struct {
	embed.Func
	name string
}

func (e dryEmbedder) Name() string { return e.name }

// vectors counts texts under the name of an embedder, and makes vectors that are not zero.
func (d *dryServer) vectors(name string) embed.Func {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, text := range texts {
			d.add(ctx, name+"\x00"+text, "embed", name, sum{embedded: float64(d.count(text))})
			out[i] = make([]float32, 16)
			for j, b := range []byte(text) {
				out[i][(j+int(b))%16] += float32(b)
			}
			out[i][0]++
		}
		return out, nil
	}
}
