// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/ircot"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
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
	gleaned        = 3   // entities of a second look
	factAnswer     = 225
	summaryAnswer  = 2800
	fromMemory     = .6  // of an answer, without anything to read
	perStatement   = 115 // of an answer, for one statement of it
	mostStatements = 20
	searchReply    = 190
	gradeReply     = 340
	matchReply     = 800
	mergedText     = 230
	summaryText    = 420  // of a tree, in 100 tokens
	stepAnswer     = 1500 // of DRIFT
	followUps      = 5
	finding        = 210 // of a report, which has a few: 300 tokens each in those that were recorded
	mapPoint       = 220
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

// Judge is a model whose calls are those of a judge.
func (d *dryServer) Judge(name string) llm.Model { return dryModel{d, name, "judge"} }

// Part says what the next calls stand for: those of a question for as many as its
// weight, all others for so many pages; long are questions that are answered at
// length.
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

// Estimate is what was counted.
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

// passage is what a request is about: the first message of the user.
func passage(req llm.Request) string {
	for _, msg := range req.Messages {
		if msg.Role == llm.User {
			return msg.Text
		}
	}
	return ""
}

var (
	named    = regexp.MustCompile(`\p{Lu}[\p{L}’'-]+(?: \p{Lu}[\p{L}’'-]+){0,2}`)
	noRecord = strings.NewReplacer("<", "", ">", "", "|", "", `"`, "", "(", "", ")", "", "#", "", "\n", " ", "[", "", "]", "")
)

// entity is a name of a passage and the words from there on.
type entity struct{ Name, Text string }

// entities are n names of a passage, spread over it, at most as many as it has.
func entities(text string, n int) []entity { return spread(text, namesIn(text), n) }

// namesIn are the places of the names of a text, each name once.
func namesIn(text string) (places [][]int) {
	seen := map[string]bool{}
	for _, at := range named.FindAllStringIndex(text, -1) {
		if name := text[at[0]:at[1]]; !seen[name] {
			seen[name] = true
			places = append(places, at)
		}
	}
	return places
}

func spread(text string, places [][]int, n int) (out []entity) {
	n = min(n, len(places))
	for i := range n {
		at := places[i*len(places)/n]
		words := noRecord.Replace(strings.ToValidUTF8(text[at[0]:min(len(text), at[0]+entityText)], ""))
		out = append(out, entity{text[at[0]:at[1]], strings.Join(strings.Fields(words), " ")})
	}
	return out
}

// DryReply is a reply to a prompt of an index or a search, by its stage.
func DryReply(req llm.Request) string {
	text := passage(req)
	all := namesIn(text)
	typed := spread(text, all, max(len(text)/perEntity, 1))
	plain := names(spread(text, all, max(len(text)/perName, 1)))
	second := strings.Contains(text, "\n2. ") // a second look is enough
	switch req.Stage {
	case extract.StageGlean:
		return records(req, typed[:min(len(typed), gleaned)])
	case extract.StageRecords:
		return records(req, typed)
	case extract.StageEntities:
		return asJSON("named_entities", plain)
	case extract.StageTriples:
		return asJSON("triples", madeTriples(text, len(text)/perTriple, "is said to have been near to"))
	case extract.StageInduce:
		return asJSON("Nodes", []string{"person", "event", "place"}, "Relations", []string{"took_part_in", "happened_in", "built_by", "part_of"}, "Attributes", []string{"date", "size"})
	case extract.StageSchema:
		types := map[string]string{}
		for _, name := range plain {
			types[name] = "event"
		}
		return asJSON("attributes", map[string]any{}, "triples", madeTriples(text, len(plain), "took_part_in"), "entity_types", types)
	case perception.Stage:
		return groupNames(text)
	case summary.Stage:
		return padded(text, summaryText)
	case report.Stage:
		return reported(text)
	case agent.StageSearch:
		return turn(req)
	case agent.StageDecompose:
		return `{"sub_queries": []}`
	case agent.StageAspects:
		return asJSON("aspects", names(entities(text, retrieve.MaxAspects)))
	case agent.StageReflect: // gear's as well, whose stage has the same name
		next := strings.Join(names(entities(text, 3)), " ")
		if second {
			return asJSON("thought", "All of it is known by now.", "status", "answer", "answerable", true)
		}
		return asJSON("thought", "One step is missing.", "status", "continue", "next_query", next, "answerable", false, "missing", "one step", "next_question", next)
	}
	return recipe(req.Stage, text, typed)
}

// turns are those of an agent: it searches, searches again for names in what was found, and
// ends with what it read.
func turn(req llm.Request) string {
	rounds, shown := len(req.Messages)/2, req.Messages[len(req.Messages)-1].Text
	if rounds > 2 {
		return asJSON("thought", "All of it is known by now.", "answer", padded(shown, factAnswer), "ids", []int{1, 2, 3})
	}
	tool, key := agent.ToolFind, "pattern"
	if strings.Contains(req.Messages[0].Text, `"tool": "search"`) {
		tool, key = agent.ToolSearch, "query"
	}
	look := strings.Join(names(entities(shown, rounds)), "|") // another one each turn
	return asJSON("thought", "One step is missing.", "calls", []map[string]string{{"tool": tool, key: look + strings.Repeat(" ", rounds-1)}})
}

// recipe is a reply to a prompt that only one system has.
func recipe(stage, text string, typed []entity) string {
	follow := []string{}
	for _, e := range typed[:min(followUps, len(typed))] {
		follow = append(follow, "What is told of "+e.Name+"?")
	}
	switch stage {
	case gear.StageRead:
		return asJSON("triples", madeTriples(text, 10, "is said to have been near to"))
	case gear.StageClassify:
		return `{"simple": false}`
	case gear.StageFilter:
		return asJSON("keep", []int{1, 2, 3, 4, 5})
	case hipporag2.StageFilter:
		return `{"fact": []}`
	case lightrag.StageKeywords:
		return asJSON("high_level_keywords", []string{"history", "construction", "people and places"}, "low_level_keywords", names(entities(text, 5)))
	case fastgraphrag.StageQuestion:
		return asJSON("named", names(entities(text, 3)), "generic", []string{"history", "places"})
	case msgraphrag.StageMap:
		var points []map[string]any
		for _, e := range entities(text, 6) {
			points = append(points, map[string]any{"description": padded(e.Text, mapPoint), "score": 50})
		}
		return asJSON("points", points)
	case msgraphrag.StageRate:
		return asJSON("reason", "It touches the subject.", "rating", 3)
	case msgraphrag.StagePrimer:
		return asJSON("intermediate_answer", padded(text, stepAnswer), "score", 50, "follow_up_queries", follow)
	case msgraphrag.StageStep:
		return asJSON("response", padded(text, stepAnswer), "score", 50, "follow_up_queries", follow)
	case ircot.StageThought: // numbered, so that no thought comes twice
		return fmt.Sprintf("%d: It must be found out what %s has to do with it.", strings.Count(text, "\n["), strings.Join(names(entities(text, 2)), " and "))
	}
	return padded(strings.Join(names(typed), ", "), mergedText)
}

// madeTriples are n triples of the names of a text.
func madeTriples(text string, n int, relation string) (out [][]string) {
	found := entities(text, len(text))
	for i := 0; i < n && len(found) > 0; i++ {
		out = append(out, []string{found[i%len(found)].Name, relation, found[(i+1)%len(found)].Name})
	}
	return out
}

func names(found []entity) []string {
	out := []string{}
	for _, e := range found {
		out = append(out, e.Name)
	}
	return out
}

// records are entities, and a relation from each to the next, in the format that the
// prompt shows.
func records(req llm.Request, found []entity) string {
	var prompt, b strings.Builder
	for _, msg := range req.Messages {
		prompt.WriteString(msg.Text)
	}
	one, two := "entity<|#|>%s<|#|>Event<|#|>%s\n", "relation<|#|>%s<|#|>%s<|#|>history, places<|#|>%s\n"
	switch {
	case strings.Contains(prompt.String(), `"other_relationships": [`):
		return objects(found)
	case strings.Contains(prompt.String(), `("entity"<|>`):
		one, two = `("entity"<|>%s<|>event<|>%s)##`, `("relationship"<|>%s<|>%s<|>%s<|>7)##`
	}
	for _, e := range found {
		fmt.Fprintf(&b, one, e.Name, e.Text)
	}
	for i, e := range found {
		fmt.Fprintf(&b, two, e.Name, found[(i+1)%len(found)].Name, e.Text)
	}
	return b.String() + "<|COMPLETE|>"
}

func objects(found []entity) string {
	nodes, edges := []map[string]string{}, []map[string]string{}
	for i, e := range found {
		nodes = append(nodes, map[string]string{"name": e.Name, "type": "event", "desc": e.Text})
		edges = append(edges, map[string]string{"source": e.Name, "target": found[(i+1)%len(found)].Name, "desc": e.Text})
	}
	return asJSON("entities", nodes, "relationships", edges)
}

var group = regexp.MustCompile(`(?m)^id: (\d+)$`)

func groupNames(text string) string {
	var groups []map[string]any
	for _, id := range group.FindAllStringSubmatch(text, -1) {
		groups = append(groups, map[string]any{"id": id[1], "name": "Group " + id[1], "summary": padded("Things that go together", entityText)})
	}
	return asJSON("communities", groups)
}

func reported(text string) string {
	var findings []map[string]string
	for _, e := range entities(text, 3) {
		findings = append(findings, map[string]string{"summary": e.Name, "explanation": padded(e.Text, finding)})
	}
	return asJSON("title", "A community", "summary", padded(text, finding), "rating", 5, "rating_explanation", "It matters to the whole.", "findings", findings)
}

// padded repeats a text, or cuts it, to a length.
func padded(text string, bytes int) string {
	text = noRecord.Replace(strings.Join(strings.Fields(text), " ")) + " and so on. "
	return strings.ToValidUTF8(strings.Repeat(text, bytes/len(text)+1)[:bytes], "")
}

// asJSON is a JSON object of pairs of keys and values.
func asJSON(pairs ...any) string {
	m := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0].(string)] = pair[1]
	}
	b, err := json.Marshal(m)
	if err != nil { // names, texts and numbers
		return "{}"
	}
	return string(b)
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
