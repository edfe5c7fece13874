// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

const page = `# Moon

* [Home](https://a.org/) [About](https://a.org/about) [Contact us today](https://a.org/contact)
* Accept all cookies

The **Moon** is Earth's only natural satellite. It orbits at an average distance of 384,400 km.
The first crewed landing on the Moon was made by [Neil Armstrong](https://a.org/armstrong) and Buzz Aldrin on 20 July 1969.

| Crater | Diameter in km | Named after the astronomer of that name in the table |
|---|---|---|
Tides on Earth are caused mainly by the gravity of the Moon. The dark plains of the Moon are called maria.`

const other = `The Moon landing of July 1969 was watched by 600 million people on television.
Mars has two small moons, which are called Phobos and Deimos. Neil Armstrong was born in Ohio in 1930 and died in 2012.`

// hits makes evidence of whole documents, each a chunk that begins at 100.
func hits(texts ...string) []graphrag.Hit {
	var out []graphrag.Hit
	for i, s := range texts {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{
			ID: fmt.Sprintf("doc%d#000000", i), Doc: fmt.Sprint("doc", i), Title: fmt.Sprint("Title ", i),
			Start: 100, End: 100 + len(s), Text: s,
		}, Score: 1 / float64(i+1)})
	}
	return out
}

func extractive(t *testing.T, o reader.ExtractiveOptions) reader.Reader {
	t.Helper()
	r := check.Of(reader.Extractive(o)).OK(t)
	return r
}

func read(t *testing.T, r reader.Reader, q graphrag.Question, ev []graphrag.Hit, derived ...graphrag.Derived) graphrag.Answer {
	t.Helper()
	a := check.Of(r.Read(context.Background(), q, ev, derived)).OK(t)
	checkAnswer(t, a)
	return a
}

// checkAnswer holds what must be true of every answer.
func checkAnswer(t *testing.T, a graphrag.Answer) {
	t.Helper()
	for _, c := range a.Citations {
		if c.Start < 0 || c.Start >= c.End || c.End > len(a.Text) || c.Of != graphrag.OfMemory && (c.Evidence < 0 || c.Evidence >= len(a.Evidence)+len(a.Derived)) || c.SourceStart > c.SourceEnd {
			t.Fatalf("citation %+v of %q, %d pieces of evidence", c, a.Text, len(a.Evidence))
		}
	}
	check.Must(t, !a.Refused || len(a.Citations) == 0, "a refusal cites: %+v", a)
}

func TestExtractiveFacts(t *testing.T) {
	r := extractive(t, reader.ExtractiveOptions{FactSentences: 1})
	for question, want := range map[string]string{
		"Who made the first crewed landing on the Moon?":      "The first crewed landing on the Moon was made by Neil Armstrong and Buzz Aldrin on 20 July 1969.",
		"What is the average distance at which it orbits?":    "The Moon is Earth's only natural satellite. It orbits at an average distance of 384,400 km.",
		"How many people watched the landing on television?":  "The Moon landing of July 1969 was watched by 600 million people on television.",
		"What are the two moons of Mars called?":              "Mars has two small moons, which are called Phobos and Deimos.",
		"Which natural satellite does Earth have?":            "The Moon is Earth's only natural satellite.",
		"Please accept all cookies and contact the home page": "Tides on Earth are caused mainly by the gravity of the Moon.",
	} {
		a := read(t, r, graphrag.Question{Text: question, Form: graphrag.Sentence}, hits(page, other))
		if strings.HasPrefix(question, "Please") {
			check.True(t, !strings.Contains(a.Text, "ookies") && !strings.Contains(a.Text, "Contact"), "navigation was quoted: %q", a.Text)
			continue
		}
		check.Equal(t, a.Text, want, "%q: got", question)
	}
}

func TestExtractiveCitesTheSource(t *testing.T) {
	r := extractive(t, reader.ExtractiveOptions{})
	q := graphrag.Question{Text: "Who made the first crewed landing on the Moon, and when was Neil Armstrong born in Ohio?", Form: graphrag.Sentence}
	ev := hits(page, other)
	document := strings.Repeat("x", 100) + page
	a := read(t, r, q, ev)
	check.Must(t, len(a.Citations) == 2, "%d citations of %q", len(a.Citations), a.Text)
	c := a.Citations[0]
	if got, want := document[c.SourceStart:c.SourceEnd], "The first crewed landing on the Moon was made by [Neil Armstrong](https://a.org/armstrong) and Buzz Aldrin on 20 July 1969."; got != want {
		t.Errorf("cited %q, want %q", got, want)
	}
	got := a.Text[c.Start:c.End]
	check.True(t, strings.HasPrefix(got, "The first crewed") && !strings.Contains(got, "http"), "quoted %q", got)
	// A cleaned chunk cannot be traced further than its span.
	ev[0].Chunk.End += 50
	c = read(t, r, q, ev).Citations[0]
	check.True(t, c.SourceStart == 100 && c.SourceEnd == 150+len(page), "a cleaned chunk is cited as %d–%d", c.SourceStart, c.SourceEnd)
}

func TestExtractiveSummary(t *testing.T) {
	r := extractive(t, reader.ExtractiveOptions{SummarySentences: 4})
	// The same chunk twice, as overlapping windows bring it.
	a := read(t, r, graphrag.Question{Text: "Summarize the Moon.", Form: graphrag.Overview}, hits(page, page, other))
	seen := make(map[string]bool)
	for _, c := range a.Citations {
		s := a.Text[c.Start:c.End]
		check.True(t, !seen[s], "%q comes twice", s)
		seen[s] = true
	}
	check.True(t, len(seen) >= 2 && len(seen) <= 4, "%d sentences: %q", len(seen), a.Text)
}

func TestExtractiveModes(t *testing.T) {
	open, reject := extractive(t, reader.ExtractiveOptions{}), extractive(t, reader.ExtractiveOptions{Mode: reader.Reject})
	far := graphrag.Question{Text: "Which composer wrote the Brandenburg concertos for the margrave?"}
	if a := read(t, reject, far, hits(page, other)); !a.Refused || a.Text != reader.Refusal || len(a.Evidence) != 2 {
		t.Errorf("reject mode answered %+v", a)
	}
	if a := read(t, open, far, hits(page, other)); a.Refused || a.Text == "" {
		t.Errorf("open mode refused: %+v", a)
	}
	near := graphrag.Question{Text: "What causes tides on Earth?"}
	if a := read(t, reject, near, hits(page)); a.Refused || !strings.Contains(a.Text, "gravity") {
		t.Errorf("reject mode refused %+v", a)
	}
	for _, ev := range [][]graphrag.Hit{nil, hits(""), hits("\x00\xff", strings.Repeat("[", 1000)), hits("| a | b |\n* x")} {
		a := read(t, open, near, ev)
		check.True(t, a.Refused, "an answer out of nothing: %+v", a)
	}
	// Of derived text what is said is quoted and cited, and not what names it.
	said := "The report says that tides are caused by the Moon and by the Sun."
	a, err := open.Read(t.Context(), near, nil, []graphrag.Derived{graphrag.Row("entity", "What causes the tides of the Earth (concept)", said, graphrag.Provenance{})})
	want := []graphrag.Citation{{End: len(said), Of: graphrag.OfDerived}}
	diff := cmp.Diff(want, a.Citations)
	check.True(t, err == nil && a.Text == said && diff == "" && len(a.Derived) == 1, "from derived text: %+v, %v, %s", a, err, diff)
	check.Equal(t, open.Name()+" "+reject.Name(), "extractive/open extractive/reject", "names")
}

func TestExtractiveIsHarmless(t *testing.T) {
	r := extractive(t, reader.ExtractiveOptions{})
	ev := hits(page, other)
	before := hits(page, other)
	q := graphrag.Question{Text: "What is the Moon?", Form: graphrag.Overview}
	first := read(t, r, q, ev)
	check.Equal(t, ev, before, "the evidence was changed")
	for range 5 {
		a := read(t, r, q, ev)
		check.Must(t, reflect.DeepEqual(a, first), "two answers: %+v and %+v", first, a)
	}
	read(t, r, graphrag.Question{}, ev)
	read(t, r, graphrag.Question{Text: "the of and \xff\x00?"}, ev)
	read(t, r, q, hits(strings.Repeat("word and another thing ", 50_000)))
	read(t, r, q, hits(strings.Repeat("The Moon is a rock like any other rock here. ", 2_000)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	check.Is(t, check.Err(r.Read(ctx, q, ev, nil)), context.Canceled, "a cancelled call gave")
}

func TestExtractiveOptions(t *testing.T) {
	_, err := reader.Extractive(reader.ExtractiveOptions{Mode: "maybe", FactSentences: -1, Threshold: 2})
	check.Must(t, err != nil, "bad options were accepted")
	for _, part := range []string{`"maybe"`, "FactSentences is -1", "Threshold is 2"} {
		check.Fails(t, err, part)
	}
}

// At least 39 of 40 refusals and 119 of 120 answers are told from each other.
func TestIsRefusal(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/refusals.tsv")).OK(t)
	asked, wrong := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(table)) {
		row := strings.Split(strings.TrimSpace(line), "\t")
		asked[row[1]]++
		if reader.IsRefusal("", row[2]) != (row[1] == "refusal") {
			wrong[row[1]]++
			t.Logf("%s is no %s: %q", row[0], row[1], row[2])
		}
	}
	check.True(t, 40*wrong["refusal"] <= asked["refusal"] && 120*wrong["answer"] <= asked["answer"] && asked["refusal"] >= 200, "wrong %v of %v", wrong, asked)
}

func BenchmarkExtractive(b *testing.B) {
	r := check.Of(reader.Extractive(reader.ExtractiveOptions{})).OK(b)
	ev := hits(page+other, strings.Repeat(other+"\n", 15), strings.Repeat(page+"\n", 8), other, page)
	q := graphrag.Question{Text: "Who made the first crewed landing on the Moon?", Form: graphrag.Sentence}
	b.ReportAllocs()
	for b.Loop() {
		check.OK(b, check.Err(r.Read(context.Background(), q, ev, nil)))
	}
}

// writing is a model that writes byte by byte.
type writing struct{ fake }

func (w *writing) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := w.Generate(ctx, req)
	for i := range reply.Text {
		if err := piece(reply.Text[i : i+1]); err != nil {
			return llm.Reply{}, err
		}
	}
	return reply, err
}

// An answer grows by what is settled, without half a mark, to what Read returns.
func TestStreamByModel(t *testing.T) {
	m := &writing{fake{reply: "Owls hunt by ear [1]. They fly [1, 2] silently [sic]."}}
	r := byModel(t, reader.ModelOptions{Model: m})
	q, evidence := graphrag.Question{Text: "How do owls hunt?"}, hits("Owls hunt by ear.", "Owls fly silently.")
	want, err := r.Read(t.Context(), q, evidence, nil)
	check.Must(t, err == nil && len(want.Citations) != 0, "%v %v", want, err)
	var last graphrag.Answer
	pieces := 0
	for a, err := range reader.Stream(t.Context(), r, q, evidence, nil) {
		check.Must(t, err == nil && strings.HasPrefix(a.Text, last.Text) && !strings.Contains(a.Text, "[1"), "%q after %q, %v", a.Text, last.Text, err)
		last, pieces = a, pieces+1
	}
	diff := cmp.Diff(want, last)
	check.True(t, diff == "" && pieces >= 5, "%d pieces: %s", pieces, diff)
	for range reader.Stream(t.Context(), r, q, evidence, nil) {
		break
	}
	extractive := check.Of(reader.Extractive(reader.ExtractiveOptions{})).OK(t)
	pieces = 0
	for range reader.Stream(t.Context(), extractive, q, evidence, nil) {
		pieces++
	}
	check.Equal(t, pieces, 1, "an extractive reader streams %d pieces", pieces)
}

// yearFinder finds the question's last word; the later passage has the larger score.
type yearFinder struct{}

func (yearFinder) Name() string { return "years" }

func (yearFinder) Find(_ context.Context, question string, passages []string) ([]text.Match, error) {
	if question == "" {
		return nil, errors.New("no question")
	}
	word := question[strings.LastIndexByte(question, ' ')+1:]
	out := make([]text.Match, len(passages))
	for i, p := range passages {
		if at := strings.Index(p, word); at >= 0 {
			out[i] = text.Match{Start: at, End: at + len(word), Score: float64(i) + .5}
		} else {
			out[i].Score = -1
		}
	}
	return out, nil
}

func TestBySpans(t *testing.T) {
	evidence := []graphrag.Hit{
		{Chunk: graphrag.Chunk{Doc: "a", Text: "Built in 1892.", Start: 10, End: 24}},
		{Chunk: graphrag.Chunk{Doc: "b", Text: "A ship. It sailed in 1893, north. It came back.", Start: 100, End: 147}},
		{Chunk: graphrag.Chunk{Doc: "c", Text: "In 1893.", Start: 5, End: 90}}, // cleaned
	}
	derived := []graphrag.Derived{{Kind: "fact", Text: "x"}}
	other := reader.Func(func(context.Context, graphrag.Question, []graphrag.Hit, []graphrag.Derived) (graphrag.Answer, error) {
		return graphrag.Answer{Text: "by rules"}, nil
	})
	r := reader.BySpans(yearFinder{}, other)
	check.Equal(t, r.Name(), "spans/years+function", "name")
	for _, tt := range []struct {
		q        graphrag.Question
		evidence []graphrag.Hit
		text     string
		cited    graphrag.Citation
	}{
		{graphrag.Question{Text: "When? 1892", Form: graphrag.Short}, evidence, "1892", graphrag.Citation{End: 4, SourceStart: 19, SourceEnd: 23}},
		{graphrag.Question{Text: "When? 1893"}, evidence[:2], "It sailed in 1893, north.", graphrag.Citation{End: 25, Evidence: 1, SourceStart: 108, SourceEnd: 133}},
		{graphrag.Question{Text: "When? 1893", Form: graphrag.Short}, evidence, "1893", graphrag.Citation{End: 4, Evidence: 2, SourceStart: 5, SourceEnd: 90}},
		{graphrag.Question{Text: "When? 1893", Form: graphrag.List}, evidence, "by rules", graphrag.Citation{}},
		{graphrag.Question{Text: "When? 1900"}, evidence, reader.Refusal, graphrag.Citation{}},
		{graphrag.Question{Text: "When? 1900"}, nil, reader.Refusal, graphrag.Citation{}},
	} {
		a, err := r.Read(t.Context(), tt.q, tt.evidence, derived)
		if err != nil || a.Text != tt.text || a.Refused != (tt.text == reader.Refusal) {
			t.Errorf("%q: %q, refused %v, error %v", tt.q.Text, a.Text, a.Refused, err)
		}
		if tt.cited != (graphrag.Citation{}) && (len(a.Citations) != 1 || a.Citations[0] != tt.cited || a.Confidence <= .5 || a.Confidence >= 1) {
			t.Errorf("%q: citations %+v, want %+v; confidence %v", tt.q.Text, a.Citations, tt.cited, a.Confidence)
		}
	}
	check.Fails(t, check.Err(r.Read(t.Context(), graphrag.Question{}, evidence, nil)), "reader: no question")
}
