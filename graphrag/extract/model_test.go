// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func one(text string) []graphrag.Chunk {
	return []graphrag.Chunk{{ID: "a#0", Doc: "a", Title: "A page", Text: text}}
}

// got runs an extractor over one chunk.
func got(t *testing.T, x extract.Extractor, err error, text string) kg.Extraction {
	t.Helper()
	check.OK(t, err)
	out, err := x.Extract(t.Context(), one(text))
	check.Must(t, err == nil && len(out) == 1, "%d extractions, %v", len(out), err)
	return out[0]
}

// facts returns triples as texts.
func facts(x kg.Extraction) (out []string) {
	for _, f := range x.Facts {
		out = append(out, f.Head+" | "+f.Relation+" | "+f.Tail)
	}
	return out
}

func mentioned(x kg.Extraction) (out []string) {
	for _, m := range x.Mentions {
		out = append(out, m.Name)
	}
	return out
}

func reasons(x kg.Extraction) (out []string) {
	for _, p := range x.Problems {
		out = append(out, p.Kind+": "+p.Reason)
	}
	return out
}

func TestOpenIE(t *testing.T) {
	m := llmtest.NewScript("m").
		Reply(llmtest.Stage(extract.StageEntities), "```json\n{\"named_entities\": [\"Fram\", \"Colin Archer \", \"Fram\", 1892, null,],}\n```").
		Reply(llmtest.Stage(extract.StageTriples), `{"triples": [["Colin Archer","built","Fram"],["Colin Archer","built","Fram"],["Fram","launched in",1892],["a","b"],["a","b","c","d"],["","b","c"],"x",[{},"b","c"]]}`)
	e, err := extract.NewOpenIE(extract.ModelOptions{Model: m})
	x := got(t, e, err, "Colin Archer built the Fram.")
	check.Equal(t, mentioned(x), []string{"1892", "Colin Archer", "Fram", "a", "c"}, "names")
	check.Equal(t, facts(x), []string{"Colin Archer | built | Fram", "Fram | launched in | 1892", "a | b | c"}, "facts")
	check.Equal(t, len(x.Problems), 4, "problems %q", reasons(x))
	check.Equal(t, m.Calls(), 2, "calls")
	second := m.Requests()[1].Messages[1].Text
	check.True(t, strings.Contains(second, `{"named_entities":["1892","Colin Archer","Fram"]}`) &&
		strings.Contains(second, "A page\nColin Archer built"), "asked for triples with\n%s", second)
	q, err := e.Question(t.Context(), "Who built the Fram?")
	check.True(t, err == nil && len(q) == 3, "question: %v, %v", q, err)
}

// A chunk with which the model fails is reported as a problem, and others are extracted.
func TestFailedChunks(t *testing.T) {
	m := llmtest.NewScript("m").
		Fail(llmtest.Contains("cut"), &llm.Error{Kind: llm.ErrTruncated}).
		Reply(llmtest.Contains("nonsense"), "I would rather not.").
		Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": ["Ann"]}`).
		Fail(llmtest.Contains("half"), &llm.Error{Kind: llm.ErrFiltered}).
		Reply(llmtest.Any, `{"triples": [["Ann","met","Bob"]]}`)
	e, err := extract.NewOpenIE(extract.ModelOptions{Model: m, Concurrency: 1})
	check.OK(t, err)
	var chunks []graphrag.Chunk
	for i, text := range []string{"cut", "nonsense", "half", " \n", "fine"} {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("a#%d", i), Doc: "a", Text: text})
	}
	out := check.Of(e.Extract(t.Context(), chunks)).OK(t)
	var all [][]string
	for _, x := range out {
		all = append(all, mentioned(x))
	}
	check.Equal(t, all, [][]string{nil, nil, {"Ann"}, nil, {"Ann", "Bob"}}, "names")
	for i, want := range []string{"truncated", "output", "filter", "", ""} {
		if want == "" && len(out[i].Problems) > 0 {
			t.Errorf("chunk %d: %q", i, reasons(out[i]))
		}
		if want != "" && (len(out[i].Problems) != 1 || !strings.HasSuffix(out[i].Problems[0].Kind, kg.ProblemChunk) || !strings.Contains(out[i].Problems[0].Reason, want)) {
			t.Errorf("chunk %d: %q, want %q", i, reasons(out[i]), want)
		}
	}
	m = llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	e, _ = extract.NewOpenIE(extract.ModelOptions{Model: m})
	out, err = e.Extract(t.Context(), chunks)
	check.True(t, errors.Is(err, llm.ErrAuth) && out == nil && strings.Contains(err.Error(), "chunk a#"), "%v, %v", out, err)
}

func TestModelOptions(t *testing.T) {
	_, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Concurrency: -1}, Format: "csv", Gleanings: -2})
	for _, want := range []string{"Model is missing", "Concurrency is -1", "Format is csv", "Gleanings is -2"} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v: want %q", err, want)
	}
	_, err = extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: llmtest.NewScript("m")}, Format: extract.Objects})
	check.Fails(t, err, "Types is empty", "objects without types")
}

const (
	tupleAnswer = `("entity"<|>FRAM<|>SHIP<|>A polar ship.)##
("entity"<|>COLIN ARCHER<|>person<|>A builder (of ships).)##
("relationship"<|>COLIN ARCHER<|>FRAM<|>He built &amp; designed her.<|>8)
<|COMPLETE|>`
	lineAnswer = `entity<|#|>Fram<|#|>Artifact<|#|>A polar ship.
entity<|#|>Colin Archer<|#|>Person<|#|>A builder.
relation<|#|>Colin Archer<|#|>Fram<|#|>building, design<|#|>He built her.
<|COMPLETE|>`
)

func records(t *testing.T, format extract.Format, answers ...string) kg.Extraction {
	t.Helper()
	m := llmtest.NewScript("m").Reply(llmtest.Any, answers...)
	gleanings := len(answers) - 1
	if gleanings == 0 {
		gleanings = graphrag.Off
	}
	e, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m}, Format: format, Gleanings: gleanings, AlwaysGlean: true, Types: []string{"ship", "person"}})
	return got(t, e, err, "Colin Archer built the Fram.")
}

func TestTuples(t *testing.T) {
	want := kg.Extraction{Chunk: "a#0", Doc: "a",
		Mentions: []kg.Mention{{Name: "FRAM", Type: "ship", Description: "A polar ship."}, {Name: "COLIN ARCHER", Type: "person", Description: "A builder (of ships)."}},
		Facts:    []kg.Fact{{Triple: graphrag.Triple{Head: "COLIN ARCHER", Tail: "FRAM"}, Description: "He built & designed her.", Weight: 8}},
	}
	check.Equal(t, records(t, extract.Tuples, tupleAnswer), want, "(-want +got)")
	want.Mentions[0].Name, want.Mentions[0].Type = "Fram", "artifact"
	want.Mentions[1] = kg.Mention{Name: "Colin Archer", Type: "person", Description: "A builder."}
	want.Facts[0] = kg.Fact{Triple: graphrag.Triple{Head: "Colin Archer", Tail: "Fram"}, Keywords: []string{"building", "design"}, Description: "He built her."}
	check.Equal(t, records(t, extract.Lines, lineAnswer), want, "lines")
}

// The end mark before a gleaning removes nothing: LightRAG's code reads the weight of the last relation as 1
// and loses the first record of the second reply.
func TestEndMarkIsABoundary(t *testing.T) {
	x := records(t, extract.Tuples, tupleAnswer, `("entity"<|>OSLO<|>geo<|>A city.)<|COMPLETE|>`)
	check.True(t, len(x.Mentions) == 3 && x.Facts[0].Weight == 8 && len(x.Problems) == 0, "%+v", x)
	check.Equal(t, records(t, extract.Tuples, tupleAnswer+`("entity"<|>OSLO<|>geo<|>A city.)<|COMPLETE|>`), x, "(-apart +joined)")
}

// Replies with all known faults.
func TestBrokenRecords(t *testing.T) {
	err := journal.EachLine(os.DirFS("testdata"), "broken.jsonl", 1<<20, func(_ int, c struct {
		Name, Answer    string
		Format          extract.Format
		Names           []string
		Facts, Problems int
	}) error {
		x := records(t, c.Format, c.Answer)
		if diff := cmp.Diff(c.Names, mentioned(x), cmpopts.EquateEmpty()); diff != "" || len(x.Facts) != c.Facts || len(x.Problems) != c.Problems {
			t.Errorf("%s: %d facts, %d problems, want %d and %d: %+v\n%s", c.Name, len(x.Facts), len(x.Problems), c.Facts, c.Problems, x, diff)
		}
		return nil
	})
	check.OK(t, err)
}

// Delimiters with the damage that models do.
func TestDamagedDelimiters(t *testing.T) {
	for _, d := range []string{"<|##|>", "<#|>", "|#|>", "<|#|", "<||>", "<|>", "<|#|#|>", "<|#||#|>", "||#||", "<X|#|>", "<X#|>", `<|\#|>`, "<|#|Y>", "<|#:", "<|#|>|", "<|"} {
		for _, answer := range []string{
			"entity" + d + "Alice" + d + "person" + d + "A sailor.",
			"entity<|#|>Alice" + d + "person<|#|>A sailor.",
		} {
			x := records(t, extract.Lines, answer)
			want := []kg.Mention{{Name: "Alice", Type: "person", Description: "A sailor."}}
			diff := cmp.Diff(want, x.Mentions)
			check.True(t, diff == "" && x.Problems == nil, "%q: %+v %s", answer, x.Problems, diff)
		}
	}
}

// The number of calls is that of the fact sheets: two per chunk with one gleaning.
func TestGleaning(t *testing.T) {
	for _, tt := range []struct {
		format    extract.Format
		gleanings int
		more      string
		calls     int
		always    bool
		end       string // end of each reply
	}{
		{extract.Tuples, 0, "Y", 2, true, "<|COMPLETE|>"},
		{extract.Tuples, graphrag.Off, "Y", 1, true, ""},
		{extract.Tuples, 3, "Y", 6, true, ""},
		{extract.Tuples, 3, "N", 3, true, ""},
		{extract.Lines, 5, "Y", 2, true, ""},
		{extract.Objects, 0, "Y", 1, true, ""},
		{extract.Tuples, 3, "", 1, false, "<|COMPLETE|>\n"}, // the mark says that the reply is complete
		{extract.Tuples, 3, "", 4, false, "<|MORE|>"},
		{extract.Lines, 0, "", 2, false, ""},
	} {
		m := llmtest.NewScript("m").Reply(func(r llm.Request) bool {
			return strings.HasSuffix(r.Messages[len(r.Messages)-1].Text, "one letter.")
		}, tt.more).Reply(func(llm.Request) bool { return tt.format == extract.Objects }, `{"entities": [{"name": "Fram", "type": "ship", "desc": "x"}]}`).
			Reply(llmtest.Any, `("entity"<|>Fram<|>ship<|>x)`+tt.end)
		e, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m}, Format: tt.format, Gleanings: tt.gleanings, AlwaysGlean: tt.always, Types: []string{"ship"}})
		check.OK(t, err)
		x := got(t, e, err, "Fram")
		check.True(t, tt.format != extract.Tuples || len(x.Problems) == 0, "%+v", x.Problems)
		check.Equal(t, m.Calls(), tt.calls, "%s, %d gleanings", tt.format, tt.gleanings)
	}
	// LightRAG compares the first descriptions of two replies; what one reply says twice is kept.
	x := records(t, extract.Lines, "entity<|#|>Fram<|#|>ship<|#|>Built by Archer.\n"+lineAnswer+"\nrelation<|#|>Fram<|#|>Colin Archer<|#|>sea<|#|>She sailed.\n",
		"entity<|#|>FRAM<|#|>ship<|#|>A polar ship of great fame.\nentity<|#|>Fram<|#|>ship<|#|>Small.\nrelation<|#|>Colin Archer<|#|>Fram<|#|>x<|#|>Short.")
	var said []string
	for _, m := range x.Mentions {
		said = append(said, m.Name+": "+m.Description)
	}
	for _, f := range x.Facts {
		said = append(said, f.Head+", "+f.Tail+": "+f.Description)
	}
	want := []string{"Colin Archer: A builder.", "FRAM: A polar ship of great fame.", "Fram: Small.", "Colin Archer, Fram: He built her.", "Fram, Colin Archer: She sailed."}
	check.Equal(t, said, want, "(-want +got)")
}

// A reply in another form is requested once more, with the fault named, and does not count as a gleaning.
func TestOtherForm(t *testing.T) {
	for format, replies := range map[extract.Format][2]string{
		extract.Lines:   {`{"entities": ["Fram"]}`, "entity<|#|>Fram<|#|>ship<|#|>A ship.\n<|COMPLETE|>"},
		extract.Tuples:  {"Schiff<|>Fram<|>ship<|>A ship.", `("entity"<|>Fram<|>ship<|>A ship.)<|COMPLETE|>`},
		extract.Objects: {"The Fram is a ship.", `{"entities": {"name": "Fram", "type": "ship", "desc": "A ship."}}`},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, replies[:]...)
		e, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m}, Format: format, Types: []string{"ship"}})
		x := got(t, e, err, "Fram")
		check.True(t, len(x.Mentions) == 1 && len(x.Problems) == 0 && m.Calls() == 2, "%s: %+v after %d calls", format, x, m.Calls())
		if r := m.Requests()[1]; r.Stage != extract.StageRecords || !strings.Contains(r.Messages[3].Text, "does not have the form asked for (") {
			t.Errorf("%s: asked again with %+v", format, r)
		}
	}
}

func TestVerify(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `("entity"<|>FRAM<|>ship<|>x)##("entity"<|>ALEX<|>person<|>from an example)##("relationship"<|>ALEX<|>FRAM<|>x<|>1)`)
	e, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m, Verify: true}, Gleanings: graphrag.Off})
	x := got(t, e, err, "The Fram.")
	check.True(t, cmp.Diff([]string{"FRAM"}, mentioned(x)) == "" && len(x.Facts) == 0 && len(x.Problems) == 2, "%+v", x)
}

// Every extractor keeps the promises of the interface.
func TestContract(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		switch req.Stage {
		case extract.StageEntities:
			return llm.Reply{Text: `{"named_entities": ["A"]}`}
		case extract.StageTriples:
			return llm.Reply{Text: `{"triples": [["A","b","C"]]}`}
		case extract.StageSchema:
			return llm.Reply{Text: boundedAnswer}
		}
		return llm.Reply{Text: tupleAnswer}
	})
	o := extract.ModelOptions{Model: m}
	openie, err1 := extract.NewOpenIE(o)
	records, err2 := extract.NewRecords(extract.RecordOptions{ModelOptions: o})
	schema, err3 := extract.NewBySchema(extract.SchemaOptions{ModelOptions: o, Schema: schema(), Mode: extract.Prefer, Expand: &extract.Expansion{Batch: 1}})
	check.OK(t, errors.Join(err1, err2, err3))
	for name, x := range map[string]extract.Extractor{"openie": openie, "records": records, "schema": schema} {
		t.Run(name, func(t *testing.T) { graphragtest.Extractor(t, x) })
	}
}

// Every record in the recorded replies of a real model is read.
func TestRecordedReplies(t *testing.T) {
	type counts struct{ Replies, Mentions, Facts, Problems int }
	got := make(map[string]counts)
	for _, r := range llmtest.Calls(t) {
		for _, verify := range []bool{false, true} {
			kind, x := extractor(t, r, verify)
			if x == nil {
				continue
			}
			out := check.Of(x.Extract(t.Context(), []graphrag.Chunk{{ID: "a#0", Doc: "a", Text: r.Data()}})).OK(t)
			if verify {
				kind += ", verified"
			}
			c := got[kind]
			got[kind] = counts{c.Replies + 1, c.Mentions + len(out[0].Mentions), c.Facts + len(out[0].Facts), c.Problems + len(out[0].Problems)}
			for _, p := range out[0].Problems {
				t.Logf("%s: %s: %s: %s", kind, p.Kind, p.Text, p.Reason)
			}
		}
	}
	want := map[string]counts{
		"tuples": {38, 291, 248, 0}, "tuples, verified": {38, 289, 246, 4},
		"lines": {38, 299, 264, 0}, "lines, verified": {38, 293, 260, 7},
		"objects": {19, 220, 221, 0}, "objects, verified": {19, 218, 219, 4},
		"triples": {19, 456, 377, 0}, "triples, verified": {19, 456, 377, 0},
	}
	check.Equal(t, got, want, "(-want +got)")
}

// extractor returns an extractor that gets the reply and the reply's kind; nil for calls that are no
// extraction.
func extractor(t *testing.T, r llmtest.Call, verify bool) (string, extract.Extractor) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, r.Reply)
	o := extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m, Verify: verify}, Types: []string{"x"}, Gleanings: graphrag.Off}
	var x extract.Extractor
	var err error
	switch {
	case strings.Contains(r.System, `("entity"`):
		o.Format = extract.Tuples
	case strings.Contains(r.System, "entity<|#|>"):
		o.Format = extract.Lines
	case strings.Contains(r.System, "other_relationships"):
		o.Format = extract.Objects
	case strings.Contains(r.System, `{"triples":`):
		m = llmtest.NewScript("m").Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": []}`).Reply(llmtest.Any, r.Reply)
		x, err = extract.NewOpenIE(extract.ModelOptions{Model: m, Verify: verify})
		o.Format = "triples"
	default:
		return "", nil
	}
	if x == nil {
		x, err = extract.NewRecords(o)
	}
	check.OK(t, err)
	return string(o.Format), x
}

func FuzzRecords(f *testing.F) {
	f.Add(tupleAnswer)
	f.Add(lineAnswer)
	f.Add(boundedAnswer)
	f.Add("(\"entity\"<|>a<|>b<|>c)##<|COMPLETE|>(\"relationship\"<|>a<|>b<|>c<|>1e309)")
	var m says
	var extractors []extract.Extractor
	for _, format := range []extract.Format{extract.Tuples, extract.Lines, extract.Objects} {
		o := extract.ModelOptions{Model: &m, Concurrency: 1}
		x, err := extract.NewRecords(extract.RecordOptions{ModelOptions: o, Format: format, Gleanings: graphrag.Off, Types: []string{"ship", "person"}})
		check.OK(f, err)
		extractors = append(extractors, x)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		m = says(answer)
		for _, e := range extractors {
			x := got(t, e, nil, "Colin Archer built the Fram.")
			known := make(map[string]bool)
			for _, n := range mentioned(x) {
				known[n] = true
				check.True(t, n != "" && !strings.ContainsAny(n, "\n\x1f\x00"), "name %q", n)
			}
			for _, fact := range x.Facts {
				check.True(t, known[fact.Head] && known[fact.Tail] && fact.Weight >= 0, "fact %+v", fact)
			}
			b, err := kg.NewBase(kg.Options{})
			if err == nil {
				err = b.Insert(x)
			}
			check.OK(t, err)
		}
	})
}

// says is a model that always gives one answer.
type says string

func (says) Name() string { return "says" }

func (s *says) Generate(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: string(*s)}, nil
}
