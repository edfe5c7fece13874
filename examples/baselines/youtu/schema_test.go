// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func schemaOf(types ...string) *extract.Schema {
	s := &extract.Schema{Relations: []extract.SchemaItem{{Name: "passes"}}}
	for _, t := range types {
		s.EntityTypes = append(s.EntityTypes, extract.SchemaItem{Name: t})
	}
	return s
}

// comets reads pages about comets within a schema that has none at first: it proposes
// the type, and uses it once the schema has it. Calls end in an order that has nothing
// to do with that in which they began.
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

// cometPages are pages in an order that a salt decides.
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

// known is what a graph says, in words.
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

// A schema grows at the ends of batches of documents by name: whatever the order of
// the workers and that in which documents came, and whether they came at once or one
// after the other, the graph is the same.
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
	// The first eight pages propose the type and the relation, which bound them and all
	// others.
	check.True(t, slices.Contains(want, "Comet007: comet") && slices.Contains(want, "Comet008: comet") &&
		slices.Contains(want, "{Comet007 returns_in Year of Comet007}"), "%.2000q", want)
	for salt, insert := range map[string]int{"b": 0, "c": 0, "d": 3, "e": 10} {
		check.Equal(t, grow(salt, insert), want, "order %s, %d inserted (-at once +so)", salt, insert)
	}
}

// Without a model the rules are held to a given schema, which what they find in two
// documents extends.
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

// A schema that cannot be used is refused before anything is paid.
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

// Where no schema can be made of the corpus a general one stands in, and the graph
// says so.
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

// Every schema that is shipped can be used, and what an index tells of a schema that grew can be
// given again.
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

// Where each default is from, by the fact sheet.
func TestOrigins(t *testing.T) {
	want := check.Of(os.ReadFile("testdata/origins.txt")).OK(t)
	var got strings.Builder
	systems := all.Systems()
	for _, o := range systems[slices.IndexFunc(systems, func(s all.System) bool { return s.Name == youtu.Name })].Options() {
		fmt.Fprintf(&got, "%s: %s\n", o.Name, o.Source)
	}
	check.Equal(t, got.String(), string(want), "(-want +got)")
}
