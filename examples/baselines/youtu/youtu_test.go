// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Texts that occur only in the prompts of the agent's calls.
const (
	decomposes = `{"sub_queries": [{"id": "q1", "text": ""`
	reflects   = `{"thought": "", "status": "answer"`
)

// asked tells by a mark of its prompt what a request asks for.
func asked(req llm.Request, mark string) bool { return strings.Contains(req.Messages[0].Text, mark) }

// kitOf makes a kit that asks a model server over HTTP, and embeds there.
func kitOf(t *testing.T, o llmtest.ServerOptions) kit.Kit {
	t.Helper()
	server := llmtest.NewServer(o)
	t.Cleanup(server.Close)
	config := transport.Config{Model: "m", BaseURL: server.OpenAIURL()}
	model := check.Of(transport.OpenAI(config)).OK(t)
	embedder := check.Of(transport.OpenAIEmbedder(config)).OK(t)
	return check.Of(kit.ByModel(kit.ModelOptions{Model: model, Embedder: embedder})).OK(t)
}

// towns are pages that each have their own name.
func towns(n int) []graphrag.Document {
	var docs []graphrag.Document
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%03d", i), Text: fmt.Sprintf("Town%03d lies on the river River%03d and was founded by Founder%03d.", i, i%23, i)})
	}
	return docs
}

func indexed(t *testing.T, k kit.Kit, o youtu.Options, docs ...graphrag.Document) (*kit.System, graphrag.IndexStats) {
	t.Helper()
	s := check.Of(youtu.New(k, o)).OK(t)
	stats := check.Of(s.Index(t.Context(), graphrag.Documents(docs...))).OK(t)
	return s, stats
}

// A model that always wants another step costs exactly the limit: a plan, a draft, five reflections with a plan
// each and an answer are 13 calls; without the agent a plan and an answer are 2. A model that wants the same
// step twice, or no further step, stops at once.
func TestCallsOfAQuestion(t *testing.T) {
	var queries atomic.Int64
	for _, tt := range []struct {
		name  string
		o     youtu.Options
		again string // the next query, with %d for its number
		calls int
		stop  string
	}{
		{"always another step", youtu.Options{}, "Who founded Town%03d?", 13, "the last step is done"},
		{"two steps", youtu.Options{Steps: 2}, "Who founded Town%03d?", 7, "the last step is done"},
		{"the same step again", youtu.Options{}, "Who founded Town007?", 6, "the query was searched for before"},
		{"no agent", youtu.Options{NoAgent: true}, "Who founded Town%03d?", 2, ""},
	} {
		queries.Store(0)
		k := kitOf(t, llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
			if !asked(req, reflects) {
				return baselinestest.Obedient(req)
			}
			query := tt.again
			if strings.Contains(query, "%") {
				query = fmt.Sprintf(query, 10*queries.Add(1))
			}
			return llm.Reply{Text: fmt.Sprintf(`{"thought": "The founder is missing.", "status": "continue", "next_query": %q}`, query)}
		}})
		tt.o.Schema, tt.o.NoCommunities = &extract.Schema{EntityTypes: []extract.SchemaItem{{Name: "event"}}, Relations: []extract.SchemaItem{{Name: "goes_with"}}}, true
		s, _ := indexed(t, k, tt.o, towns(60)...)
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who founded Town001?", K: 2})).OK(t)
		check.Equal(t, a.Usage.Calls, tt.calls, "%s: %d calls, want %d; steps %+v", tt.name, a.Usage.Calls, tt.calls, a.Steps)
		if last := a.Steps[len(a.Steps)-1]; tt.stop != "" && (last.Kind != "stop" || last.Found[0] != tt.stop) {
			t.Errorf("%s: %+v, want %q", tt.name, last, tt.stop)
		}
	}
}

// Indexing 100 chunks with 22 communities, five of which are named in one call, takes 100 + 5 = 105 calls.
func TestCallsOfAnIndex(t *testing.T) {
	pair := regexp.MustCompile(`River(\d{3})`)
	k := kitOf(t, llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if !asked(req, `"entity_types": {"entity": "type"}`) {
			return baselinestest.Obedient(req)
		}
		n := pair.FindStringSubmatch(req.Messages[1].Text)[1]
		return llm.Reply{Text: fmt.Sprintf(`{"triples": [["Guild of River%[1]s", "goes_with", "River%[1]s"]], "entity_types": {"Guild of River%[1]s": "event", "River%[1]s": "event"}}`, n)}
	}})
	_, stats := indexed(t, k, youtu.Options{
		Schema:      &extract.Schema{EntityTypes: []extract.SchemaItem{{Name: "event"}}, Relations: []extract.SchemaItem{{Name: "goes_with"}}},
		Communities: perception.Options{Beta: 2, MaxSize: 2},
	}, towns(100)...)
	check.True(t, stats.Chunks == 100 && stats.Entities == 46 && stats.Calls == 105,
		"%d chunks, %d entities, %d calls, stages %+v", stats.Chunks, stats.Entities, stats.Calls, stats.Stages)
	last := stats.Stages[len(stats.Stages)-1]
	check.True(t, last.Asked == 22 && last.Failed == 0, "%+v, want 22 communities", last)
}

// The number of chunks that are ranked for measuring does not change requests and answers.
func TestDepthChangesNothing(t *testing.T) {
	k := baselinestest.ModelKit(t, llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		if asked(req, reflects) {
			return llm.Reply{Text: fmt.Sprintf(`{"status": "continue", "next_query": "Who founded Town%03d?"}`, len(req.Messages[1].Text)%30)}
		}
		return baselinestest.Obedient(req)
	}))
	s, _ := indexed(t, k, youtu.Options{}, towns(30)...)
	var answers [2]graphrag.Answer
	for i, depth := range []int{0, 25} {
		answers[i] = check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who founded Town001?", K: 2, Depth: depth})).OK(t)
		answers[i].Ranked = nil
	}
	check.Equal(t, answers[1], answers[0], "(-depth 0 +depth 25)")
}

// Reflections take no more tokens than permitted, whatever the model answers.
func TestTokensOfReflections(t *testing.T) {
	count := tokens.Cl100k().Count
	for _, reply := range []string{
		`{"thought": "` + strings.Repeat("and so on ", 60) + `", "status": "continue", "next_query": "Who founded Town0%02d?"}`,
		strings.Repeat("I cannot say. ", 40) + "%d", // is requested again
	} {
		for _, budget := range []int{300, 1500, 4000, 9000} {
			var mu sync.Mutex
			spent, calls := 0, 0
			k := kitOf(t, llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
				if !asked(req, reflects) {
					return baselinestest.Obedient(req)
				}
				mu.Lock()
				defer mu.Unlock()
				calls++
				text := fmt.Sprintf(reply, 10+calls)
				for _, m := range req.Messages {
					spent += count(m.Text)
				}
				if n := count(text); req.MaxTokens < n {
					t.Errorf("budget %d: a reply may have %d tokens only", budget, req.MaxTokens)
				} else {
					spent += n
				}
				return llm.Reply{Text: text}
			}})
			s, _ := indexed(t, k, youtu.Options{Tokens: budget, NoCommunities: true}, towns(40)...)
			a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who founded Town001?", K: 5})).OK(t)
			if spent > budget || budget >= 1500 && calls == 0 || calls > 6 {
				t.Errorf("budget %d: %d tokens in %d calls; %+v", budget, spent, calls, a.Steps[len(a.Steps)-1])
			}
		}
	}
}

// Plans that cannot be carried out unchanged still lead to an answer, with at most four sub-queries, and as
// many facts as chunks in all.
func TestBadPlans(t *testing.T) {
	var forty []string
	for i := range 40 {
		forty = append(forty, fmt.Sprintf(`{"id": "q%d", "text": "Who founded Town%03d?", "depends_on": ["q%d"]}`, i, i, (i+1)%40))
	}
	for _, tt := range []struct{ name, plan, said string }{
		{"forty in a circle", `{"sub_queries": [` + strings.Join(forty, ",") + `]}`, "at most 4 are asked"},
		{"two that wait for each other", `{"sub_queries": [` + strings.Join(forty[:1], ",") + `, {"id": "q1", "text": "Where?", "depends_on": ["q0"]}]}`, "waits in a circle"},
		{"none", `{"sub_queries": []}`, "the question itself is asked"},
		{"no plan", `I would look it up.`, "the question itself is asked"},
		{"of no such kind", `{"sub_queries": [{"text": "Where?", "target": "galaxy", "types": ["star"]}]}`, `unknown target "galaxy"`},
	} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
			if asked(req, decomposes) {
				return llm.Reply{Text: tt.plan}
			}
			return baselinestest.Obedient(req)
		})
		s, _ := indexed(t, baselinestest.ModelKit(t, m), youtu.Options{NoAgent: true}, towns(12)...)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Who founded Town001?", K: 3})
		if err != nil || a.Text == "" || len(a.Ranked) == 0 {
			t.Errorf("%s: %+v, %v", tt.name, a, err)
			continue
		}
		searches, facts := 0, 0
		for _, d := range a.Derived {
			facts += map[string]int{"fact": 1}[d.Kind]
		}
		for _, step := range a.Steps {
			if step.Kind == "search" {
				searches++
			}
		}
		if said := strings.Join(a.Steps[0].Found, "; "); searches < 1 || searches > 4 || facts > 3 || !strings.Contains(said, tt.said) {
			t.Errorf("%s: %d searches, %d facts, %s", tt.name, searches, facts, said)
		}
	}
}

// Without a part of the paper's table 3, its calls and results are missing.
func TestAblations(t *testing.T) {
	for _, tt := range []struct {
		name      string
		o         youtu.Options
		want      map[string]int // calls by stage, without the reader's
		community bool
	}{
		{"all", youtu.Options{}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
		{"no agent", youtu.Options{NoAgent: true}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1}, true},
		{"no communities", youtu.Options{NoCommunities: true}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, agent.StageDecompose: 1, agent.StageReflect: 1}, false},
		{"no schema", youtu.Options{NoSchema: true}, map[string]int{extract.StageEntities: 6, extract.StageTriples: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
		{"schema given", youtu.Options{Schema: &extract.Schema{EntityTypes: []extract.SchemaItem{{Name: "event"}}, Relations: []extract.SchemaItem{{Name: "goes_with"}}}},
			map[string]int{extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
	} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s, _ := indexed(t, baselinestest.ModelKit(t, m), tt.o, towns(6)...)
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Which group do the things of the towns go with?", K: 2})).OK(t)
		got := baselinestest.Stages(m)
		for stage := range got {
			if tt.want[stage] == 0 && stage != extract.StageSchema && stage != agent.StageReflect && stage != perception.Stage && stage != extract.StageInduce {
				delete(got, stage) // the reader's calls
			}
		}
		check.Equal(t, got, tt.want, "%s", tt.name)
		community := slices.ContainsFunc(a.Derived, func(d graphrag.Derived) bool { return d.Kind == "community" })
		check.True(t, community == tt.community, "%s: communities %v", tt.name, community)
	}
}

var groupID = regexp.MustCompile(`(?m)^id: (\d+)$`)

// The paper names all communities of a data set with at most 10,000 tokens: the prompts as sent, and replies of
// 30 tokens each.
func TestTokensOfNames(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	model := llmtest.NewScript("names").Handle(llmtest.Stage(perception.Stage), func(req llm.Request) llm.Reply {
		var names []string
		for _, id := range groupID.FindAllStringSubmatch(req.Messages[len(req.Messages)-1].Text, -1) {
			names = append(names, fmt.Sprintf(`{"id":%s,"name":"Towns and rivers","summary":"Towns that lie on the river, and who governed them."}`, id[1]))
		}
		return llm.Reply{Text: `{"communities":[` + strings.Join(names, ",") + `]}`}
	})
	k := check.Of(kit.ByModel(kit.ModelOptions{Model: model})).OK(t)
	s := check.Of(youtu.New(k, youtu.Options{Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples})).OK(t)
	index := check.Of(s.Index(t.Context(), graphrag.Documents(m.Docs...))).OK(t)
	named, prompts := 0, 0
	for _, req := range model.Requests() {
		prompts += k.Count(string(req.Schema))
		for _, message := range req.Messages {
			prompts += k.Count(message.Text)
		}
		named += len(groupID.FindAllString(req.Messages[1].Text, -1))
	}
	t.Logf("%d calls, %d communities, %d tokens of prompts and %d of replies; stages %+v", model.Calls(), named, prompts, 30*named, index.Stages)
	total := prompts + 30*named
	check.True(t, total < 10_000 && named >= 20, "%d communities are named with %d tokens", named, total)
}

// The numbers of facts and of chunks that are read are equal: the paper's top-10 and top-20.
func TestFactsFollowK(t *testing.T) {
	var docs []graphrag.Document
	for i := range 30 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("The Fram was built by Builder%02d Archer. Builder%02d Archer lived in Larvik.", i, i)})
	}
	s, _ := indexed(t, baselinestest.OfflineKit(t), youtu.Options{NoAgent: true}, docs...)
	for k, want := range map[int]int{10: 10, 20: 20} {
		found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: k})).OK(t)
		facts := 0
		for _, d := range found.Derived {
			facts += map[string]int{"fact": 1}[d.Kind]
		}
		check.Equal(t, facts, want, "%d facts are read with %d chunks", facts, k)
	}
}

// The query of a reflection is decomposed like the question, and its sub-queries are searched for.
func TestReflectionIsDecomposed(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		user := req.Messages[len(req.Messages)-1].Text
		switch {
		case asked(req, decomposes) && strings.Contains(user, "And of Town008"):
			return llm.Reply{Text: `{"sub_queries": [{"id": "a", "text": "Who founded Town008?"}, {"id": "b", "text": "Where does Town008 lie?"}]}`}
		case asked(req, reflects) && !strings.Contains(user, "Town008"):
			return llm.Reply{Text: `{"thought": "more", "status": "continue", "next_query": "And of Town008?"}`}
		}
		return baselinestest.Obedient(req)
	})
	s, _ := indexed(t, baselinestest.ModelKit(t, m), youtu.Options{}, towns(12)...)
	a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who founded Town001?", K: 3})).OK(t)
	var plans []string
	for _, step := range a.Steps {
		if step.Kind == "decompose" {
			plans = append(plans, step.Query+" → "+strings.Join(step.Found, "; "))
		}
	}
	check.True(t, len(plans) == 2 && plans[1] == "And of Town008? → a: Who founded Town008?; b: Where does Town008 lie?", "the plans are %q", plans)
}

// With the recorded triples and no model, one pass finds no less than HippoRAG by the paired test over the
// questions; the rows are the ablation of docs/systems.md.
func TestMuSiQue(t *testing.T) {
	m, k, common := baselinestest.LoadMuSiQue(t), baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	measure := func(s *kit.System, err error) baselinestest.Recall {
		t.Helper()
		check.OK(t, err)
		return m.Measure(t, s)
	}
	other := measure(hipporag.New(k, hipporag.Options{Common: common, Extract: m.Triples}))
	for _, tt := range []struct {
		name string
		o    youtu.Options
		min  float64
	}{
		{"noagent", youtu.Options{NoAgent: true}, 67.5},
		{"without entities", youtu.Options{NoAgent: true, Without: "entities"}, 66.5},
		{"without facts", youtu.Options{NoAgent: true, Without: "facts"}, 67},
		{"without community route", youtu.Options{NoAgent: true, Without: "communities"}, 67.5},
		{"without paths", youtu.Options{NoAgent: true, Without: "paths"}, 51},
		{"without member_of", youtu.Options{NoAgent: true, NoMemberOf: true}, 67.5},
		{"without communities", youtu.Options{NoAgent: true, NoCommunities: true}, 67.5},
		{"agent by rules", youtu.Options{}, 66},
	} {
		tt.o.Common, tt.o.Extract = common, m.Triples
		r := measure(youtu.New(k, tt.o))
		c := check.Of(stats.Compare(other.Each[5], r.Each[5], nil, stats.Options{})).OK(t)
		t.Logf("%-24s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f; less hipporag %+.1f [%.1f, %.1f] p %.3f", tt.name,
			r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5], c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.P)
		check.True(t, r.At[5] >= tt.min && (tt.o.Without == "paths" || c.Effect.Estimate >= 0 || c.P >= .05),
			"%s: R@5 is %.1f, want %.1f and not below hipporag (%.1f)", tt.name, r.At[5], tt.min, other.At[5])
	}
}

func schemaOf(types ...string) *extract.Schema {
	s := &extract.Schema{Relations: []extract.SchemaItem{{Name: "passes"}}}
	for _, t := range types {
		s.EntityTypes = append(s.EntityTypes, extract.SchemaItem{Name: t})
	}
	return s
}

// comets reads pages about comets with a schema that has no such type: it proposes the type, and uses it once
// the schema has it. Calls do not end in the order in which they began.
func comets(salt string) *llmtest.Script {
	return llmtest.NewScript("comets").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		if !asked(req, `"entity_types": {"entity": "type"}`) {
			return baselinestest.Obedient(req)
		}
		h := fnv.New32()
		h.Write([]byte(salt + req.Messages[1].Text))
		time.Sleep(time.Duration(h.Sum32()%2000) * time.Microsecond)
		name := strings.Fields(req.Messages[1].Text[strings.Index(req.Messages[1].Text, "Comet"):])[0]
		propose, kind := `{"nodes": [{"name": "comet", "confidence": 0.95}], "relations": ["returns_in"]}`, "comet"
		if strings.Contains(req.Messages[0].Text, `"comet"`) {
			propose = `{}`
		}
		return llm.Reply{Text: fmt.Sprintf(`{"attributes": {}, "triples": [[%[1]q, "passes", "Sun"], [%[1]q, "returns in", "Year of %[1]s"]],
			"entity_types": {%[1]q: %[2]q, "Sun": "star", "Year of %[1]s": "year"}, "new_schema_types": %[3]s}`, name, kind, propose)}
	})
}

// cometPages are pages in an order that a salt determines.
func cometPages(n int, salt string) []graphrag.Document {
	var docs []graphrag.Document
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%03d", i), Text: fmt.Sprintf("Comet%03d passes the Sun. It returns in the Year of Comet%03d.", i, i)})
	}
	slices.SortFunc(docs, func(a, b graphrag.Document) int { return strings.Compare(hash(salt+a.ID), hash(salt+b.ID)) })
	return docs
}

func hash(s string) string {
	h := fnv.New64()
	h.Write([]byte(s))
	return fmt.Sprint(h.Sum64() * 0x9e3779b97f4a7c15)
}

// known describes what a graph says, in words.
func known(s *kit.System) (out []string) {
	g := s.Graph()
	for e := range g.Entities {
		out = append(out, g.Entities[e].Name+": "+g.Entities[e].Type)
	}
	for r := range g.Relations {
		out = append(out, fmt.Sprint(g.Triple(int32(r))))
	}
	return out
}

// A schema is extended after each batch of documents, sorted by name: whatever the order of the workers and of
// the documents, and in one or several inserts, the graph is the same.
func TestSchemaGrowsAlike(t *testing.T) {
	grow := func(salt string, insert int) []string {
		docs := cometPages(40, salt)
		s, _ := indexed(t, baselinestest.ModelKit(t, comets(salt)), youtu.Options{
			Schema: schemaOf("star", "year"), Expansion: extract.Expansion{Batch: 8}, NoCommunities: true,
		}, docs[:len(docs)-insert]...)
		for _, d := range docs[len(docs)-insert:] {
			check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(d))))
		}
		return known(s)
	}
	want := grow("a", 0)
	// The first eight pages propose the type and the relation, which then limit all pages.
	check.True(t, slices.Contains(want, "Comet007: comet") && slices.Contains(want, "Comet008: comet") &&
		slices.Contains(want, "{Comet007 returns_in Year of Comet007}"), "%.2000q", want)
	for salt, insert := range map[string]int{"b": 0, "c": 0, "d": 3, "e": 10} {
		check.Equal(t, grow(salt, insert), want, "order %s, %d inserted (-at once +so)", salt, insert)
	}
}

// Without a model the rules are limited to a given schema, which findings in two documents extend.
func TestSchemaWithoutAModel(t *testing.T) {
	count := func(o youtu.Options) map[string]int {
		s, _ := indexed(t, baselinestest.OfflineKit(t), o, baselinestest.Pages...)
		types := make(map[string]int)
		for e := range s.Graph().Entities {
			types[s.Graph().Entities[e].Type]++
		}
		return types
	}
	free, fixed := count(youtu.Options{}), count(youtu.Options{Schema: schemaOf("person"), FixedSchema: true})
	grown := count(youtu.Options{Schema: schemaOf("person"), Expansion: extract.Expansion{Batch: 1}})
	check.True(t, free["place"] != 0 && fixed["place"] == 0 && fixed["person"] != 0 && fixed["person"] == free["person"], "free %v, fixed %v", free, fixed)
	check.True(t, grown["person"] == free["person"] && grown["place"] != 0 && grown["place"] <= free["place"], "free %v, grown %v", free, grown)
}

// A faulty schema is refused before anything is paid.
func TestBadSchemas(t *testing.T) {
	m := llmtest.NewScript("m")
	for want, s := range map[string]*extract.Schema{
		"without entity types":                      {},
		`"Person" names both entity type "person"`:  schemaOf("person", "Person"),
		`a name of entity type " " is empty`:        schemaOf("person", " "),
		`"lives in" names both relation "lives_in"`: {EntityTypes: schemaOf("person").EntityTypes, Relations: []extract.SchemaItem{{Name: "lives_in"}, {Name: "resides", Aliases: []string{"lives in"}}}},
	} {
		for _, k := range []kit.Kit{baselinestest.ModelKit(t, m), baselinestest.OfflineKit(t)} {
			check.Fails(t, check.Err(youtu.New(k, youtu.Options{Schema: s})), want)
		}
	}
	check.Fails(t, check.Err(youtu.New(baselinestest.ModelKit(t, m), youtu.Options{Expansion: extract.Expansion{Mu: 2}})), "Mu is 2")
	check.Equal(t, m.Calls(), 0, "calls")
}

// If no schema can be made from the corpus, a general one is used, and the graph reports it.
func TestNoSchemaMade(t *testing.T) {
	for name, reply := range map[string]string{"no JSON": "Here you are.", "another shape": `{"Nodes": {"person": 1}}`, "no types": `{"Nodes": [], "Relations": ["x"]}`, "only blanks": `{"Nodes": [" ", null, 7.5]}`} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
			if asked(req, `{"Nodes": [], "Relations": [], "Attributes": []}`) {
				return llm.Reply{Text: reply}
			}
			if asked(req, `"entity_types": {"entity": "type"}`) {
				return llm.Reply{Text: `{"triples": [["Fridtjof Nansen", "born in", "Norway"]], "entity_types": {"Fridtjof Nansen": "person", "Norway": "place"}}`}
			}
			return baselinestest.Obedient(req)
		})
		s, _ := indexed(t, baselinestest.ModelKit(t, m), youtu.Options{}, graphrag.Document{ID: "a", Text: "Fridtjof Nansen was born in Norway."})
		r := s.Graph().Rejected
		if len(s.Graph().Relations) != 1 || len(r) == 0 || !strings.Contains(r[0].Reason, "a general schema replaces") {
			t.Errorf("%s: %d relations, %+v", name, len(s.Graph().Relations), r)
		}
	}
}

// A question whose names are not in the graph is looked up by its words.
func TestUnknownNames(t *testing.T) {
	for _, o := range []youtu.Options{{}, {NoAgent: true}, {NoCommunities: true}, {NoSchema: true}} {
		s, _ := indexed(t, baselinestest.OfflineKit(t), o, baselinestest.Pages...)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Does Zaphod Beeblebrox know when the moon raises the tides?", K: 2})
		check.True(t, err == nil && len(a.Ranked) != 0 && a.Ranked[0].Chunk.Doc == "tides.md", "%+v: %+v, %v", o, a.Ranked, err)
	}
}

// Every shipped schema is valid, and the schema that an index reports after extending it can be given to
// another one.
func TestSeeds(t *testing.T) {
	var told []byte
	for _, name := range youtu.SeedNames() {
		f := check.Of(youtu.Seeds.Open("seeds/" + name + ".json")).OK(t)
		seed, err := extract.ReadSchema(f)
		check.True(t, err == nil && len(seed.EntityTypes) >= 8 && len(seed.Relations) >= 12 && len(seed.Attributes) >= 8, "%s: %+v, %v", name, seed, err)
		s := check.Of(youtu.New(baselinestest.OfflineKit(t), youtu.Options{Schema: &seed})).OK(t)
		stats := check.Of(s.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))).OK(t)
		told = stats.Schema
	}
	again, err := extract.ReadSchema(bytes.NewReader(told))
	if err != nil || len(again.EntityTypes) < 8 || !bytes.Contains(told, []byte(`"accepted":true`)) || !bytes.Contains(told, []byte(`"accepted":false`)) {
		t.Errorf("%s: %v", told, err)
	}
}

// The origin of each default, by the fact sheet.
func TestOrigins(t *testing.T) {
	want := check.Of(os.ReadFile("testdata/origins.txt")).OK(t)
	var got strings.Builder
	systems := all.Systems()
	for _, o := range systems[slices.IndexFunc(systems, func(s all.System) bool { return s.Name == youtu.Name })].Options() {
		fmt.Fprintf(&got, "%s: %s\n", o.Name, o.Source)
	}
	check.Equal(t, got.String(), string(want), "(-want +got)")
}
