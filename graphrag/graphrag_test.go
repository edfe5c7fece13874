// SPDX-License-Identifier: Apache-2.0

package graphrag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
)

func day(s string) time.Time {
	t, ok := graphrag.ParseTime(s)
	if !ok {
		panic(s)
	}
	return t
}

// people are four documents; the last has no fields.
var people = []graphrag.Fields{
	{"team": "ops", "year": 2024., "tags": []string{"legal", "pay"}, "public": true, "published": day("2024-05-01")},
	{"team": "hr", "year": 2023., "tags": []string{}, "public": false, "published": day("2023-12-31T23:00:00-02:00"), "a b": "x"},
	{"team": `o"ps`, "year": "2024", "tags": "legal", "größe": -1.5},
	nil,
}

// met returns the numbers of the documents that meet a condition, with "!" if its terms give others.
func met(c graphrag.Condition) (out string) {
	meets := c.Compile()
	for i, f := range people {
		if meets(f) {
			out += fmt.Sprint(i)
		}
		if meets(f) != byTerms(c, f.Terms()) {
			out += "!"
		}
	}
	return out
}

// byTerms decides a condition by the terms of the fields, as stores do.
func byTerms(c graphrag.Condition, terms []string) bool {
	return graphrag.Translate(c, func(spans []graphrag.Span) bool {
		return slices.ContainsFunc(spans, func(s graphrag.Span) bool {
			return slices.ContainsFunc(terms, func(t string) bool { return t >= s.Low && t <= s.High })
		})
	}, func(op string, parts []bool) bool {
		switch op {
		case "not":
			return !parts[0]
		case "or":
			return slices.Contains(parts, true)
		}
		return !slices.Contains(parts, false)
	})
}

func TestConditions(t *testing.T) {
	for _, row := range append(check.Rows(t, "testdata/conditions.txt"), []string{" team = \"ops\"\n", "0", `team = "ops"`}) {
		text, numbers, canonical := row[0], row[1], row[2]
		c, err := graphrag.ParseCondition(text)
		check.True(t, err == nil && met(c) == numbers && c.String() == canonical,
			"%s: met by %q as %s, want %q as %s; %v", text, met(c), c, numbers, canonical, err)
	}
	made := graphrag.And(graphrag.Or(graphrag.Equal("year", 2024), graphrag.Has("tags", "x")), graphrag.Not(graphrag.Between("published", nil, day("2024-01-01"))))
	if met(made) != "0" || made.String() != `(year = 2024 or tags has "x") and not (published <= 2024-01-01T00:00:00Z)` {
		t.Errorf("%s is met by %q", made, met(made))
	}
	check.Equal(t, strings.Join(made.Names(), " "), "published tags year", "it names")
	none := (graphrag.Condition{})
	check.True(t, met(none) == "0123" && none.String() == "all", "the zero condition %s is met by %q", none, met(none))
}

func TestBadConditions(t *testing.T) {
	deep := strings.Repeat("(", 1000) + `a = 1` + strings.Repeat(")", 1000)
	for _, row := range append(check.Rows(t, "testdata/bad_conditions.txt"),
		[]string{deep, "more than 100 nested conditions"},
		[]string{strings.Repeat("not ", 300_000) + "a = 1", "a condition of 1200005 bytes"}) {
		check.Fails(t, check.Err(graphrag.ParseCondition(row[0])), row[1], "%.60s: error", row[0])
	}
}

// Conditions that a program has built wrongly are reported; none causes a panic.
func TestCheck(t *testing.T) {
	deep := graphrag.Equal("a", 1)
	for range 1000 {
		deep = graphrag.Not(deep)
	}
	for want, c := range map[string]graphrag.Condition{
		"a []string: want a string":                      graphrag.In("f", []string{"a"}),
		"a complex128: want a string":                    graphrag.Not(graphrag.Equal("f", 3i)),
		"a float64: want a string, a finite number":      graphrag.Equal("f", math.NaN()),
		`"a` + "`" + `b" cannot be the name of a field`:  graphrag.Equal("a`b", 1),
		`"" cannot be the name of a field`:               graphrag.Has("", "x"),
		"want one or two numbers, or one or two times":   graphrag.Between("f", nil, nil),
		"want one or two numbers, or one or two times ":  graphrag.Between("f", 1, time.Now()),
		"want one or two numbers, or one or two times  ": graphrag.And(graphrag.Between("f", "a", "b")),
		"more than 500 nested conditions":                deep,
	} {
		_ = c.Compile()(graphrag.Fields{"f": []string{"a"}})
		err := c.Check()
		check.True(t, err != nil && strings.Contains(err.Error(), strings.TrimSpace(want)), "error %v, want %s", err, want)
	}
	inner := strings.Repeat("(not a = 1 or b = 2 and ", 98) + "c = 3" + strings.Repeat(")", 98)
	c, err := graphrag.ParseCondition(inner)
	check.True(t, err == nil && c.Check() == nil, "what was read: %v, %v", err, c.Check())
}

// A list of ten thousand values is looked up by hash, not searched from the start.
func TestManyValues(t *testing.T) {
	values := make([]any, 10_000)
	for i := range values {
		values[i] = fmt.Sprint("v", i)
	}
	c := check.Of(graphrag.ParseCondition(graphrag.In("f", values...).String())).OK(t)
	list := make([]string, 10_000)
	for i := range list {
		list[i] = fmt.Sprint("w", i)
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.(string)
	}
	has := graphrag.Has("f", names...).Compile()
	check.True(t, !has(graphrag.Fields{"f": list}) && has(graphrag.Fields{"f": append(list, "v9999")}), "a list of 10,000 is compared with as many wrongly")
	meets := c.Compile()
	for i := range 100_000 {
		check.Must(t, meets(graphrag.Fields{"f": fmt.Sprint("v", i)}) == (i < len(values)), "v%d", i)
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`team = "ops" and not (year >= 2024 or tags has ("a", "b")) or published < 2024-05-01`)
	f.Add("`a b` in (1, true, \"x\\n\", 2024-05-01T00:00:00.5+01:00)")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := graphrag.ParseCondition(s)
		if err != nil {
			return
		}
		again, err := graphrag.ParseCondition(c.String())
		check.Must(t, err == nil || strings.Contains(err.Error(), "in each other"), "%q is written as %q: %v", s, c, err)
		check.Must(t, err != nil || again.String() == c.String() && met(again) == met(c),
			"%q is written as %q and read as %q", s, c, again)
	})
}

func TestFieldsInJSON(t *testing.T) {
	for _, f := range people {
		q := graphrag.Question{Text: "?", Where: &graphrag.Condition{}}
		doc := graphrag.Document{ID: "a", Fields: f}
		data, err := json.Marshal(doc)
		check.OK(t, err)
		var back graphrag.Document
		if err := json.Unmarshal(data, &back); err != nil || !cmp.Equal(back.Fields, f) && len(f) > 0 {
			t.Errorf("%s came back as %v, error %v", data, back.Fields, err)
		}
		data, err = json.Marshal(q)
		check.True(t, err == nil && strings.Contains(string(data), `"where":"all"`), "%s, error %v", data, err)
	}
	for data, want := range map[string]string{
		`{"a": {"b": 1}}`: `field "a" is an object`, `{"a": [1]}`: `field "a": a list may contain only strings`, `[]`: "cannot unmarshal array",
		`{"": "x"}`: `the field ""`, `{"a": "` + strings.Repeat("x", 70_000) + `"}`: "have 70001 bytes, want at most 65536",
	} {
		var f graphrag.Fields
		check.Fails(t, json.Unmarshal([]byte(data), &f), want, "%.40s: error", data)
	}
	for want, f := range map[string]graphrag.Fields{"is a int": {"a": 1}, "not a finite number": {"a": math.NaN()}, "is a <nil>": {"a": nil}} {
		check.Fails(t, f.Check(), want, "%v: error", f)
	}
	check.True(t, json.Unmarshal([]byte(`{"where": "team ="}`), new(graphrag.Question)) != nil, "half a condition was read")
}

// A scope hides documents that lack its fields, whatever its condition is, and can only be narrowed.
func TestScopes(t *testing.T) {
	check.True(t, graphrag.ScopeOf(t.Context()) == nil, "a scope without one")
	seen := func(ctx context.Context) (out string) {
		for i, f := range people {
			scope := graphrag.ScopeOf(ctx).Condition()
			if scope.Compile()(f) {
				out += fmt.Sprint(i)
			}
			if scope.Compile()(f) != byTerms(scope, f.Terms()) || !strings.Contains(scope.String(), "public is there") {
				t.Errorf("%s: the terms of %v say otherwise", scope, f)
			}
		}
		return out
	}
	ctx := graphrag.WithScope(t.Context(), graphrag.Not(graphrag.Equal("public", false)))
	check.Equal(t, seen(ctx), "0", "seen")
	got := seen(graphrag.WithScope(ctx, graphrag.Or(graphrag.Equal("public", true), graphrag.Equal("public", false))))
	check.Equal(t, got, "0", "a scope within a scope sees")
	check.Equal(t, seen(graphrag.WithScope(ctx, graphrag.Equal("team", "hr"))), "", "a scope that excludes sees")
}

func ExampleParseCondition() {
	c, err := graphrag.ParseCondition(`team = "ops" and published >= 2024-05-01`)
	if err != nil {
		fmt.Println(err)
		return
	}
	meets := c.Compile()
	fmt.Println(meets(graphrag.Fields{"team": "ops", "published": time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)}))
	fmt.Println(meets(graphrag.Fields{"team": "ops"}))
	// Output:
	// true
	// false
}

// However documents are given, their fields have the kinds that conditions know, and titles, IDs and fields are
// limited in size.
func TestNormalDocuments(t *testing.T) {
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
	d, err := graphrag.Document{ID: "a", Title: strings.Repeat("é", 1000), Fields: graphrag.Fields{
		"int": 7, "uint8": uint8(7), "float32": float32(.5), "time": at, "list": []any{"a", "b"}, "text": "x", "yes": true}}.Normal()
	want := graphrag.Fields{"int": 7., "uint8": 7., "float32": .5, "time": at.UTC(), "list": []string{"a", "b"}, "text": "x", "yes": true}
	diff := cmp.Diff(want, d.Fields)
	check.True(t, diff == "" && err == nil && len(d.Title) <= 512 && strings.HasSuffix(d.Title, "é…"), "%q, %v (-want +got):\n%s", d.Title, err, diff)
	many := graphrag.Fields{}
	for i := range 20 {
		many[fmt.Sprint(i)] = strings.Repeat("x", 4000)
	}
	for want, d := range map[string]graphrag.Document{
		"an ID of 5000 bytes":      {ID: strings.Repeat("x", 5000)},
		"a source of 5000":         {Source: strings.Repeat("x", 5000)},
		`"a": up to the field "`:   {ID: "a", Fields: many},
		`field "f" is a struct {}`: {Fields: graphrag.Fields{"f": struct{}{}}},
		`field "f" has a int in`:   {Fields: graphrag.Fields{"f": []any{1}}},
	} {
		_, err := d.Normal()
		check.True(t, err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "and a source", "a source"), want), "%v, want %s", err, want)
	}
}

// A published system over a folder of files, offline.
func Example() {
	ctx := context.Background()
	notes := fstest.MapFS{"fram.md": {Data: []byte("The Fram was built by Colin Archer in Larvik.")}} // or os.DirFS("notes")
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, _ := hipporag2.New(parts, hipporag2.Options{})
	if _, err := system.Index(ctx, load.Documents(ctx, notes)); err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 5})
	fmt.Println(answer.Text)
	fmt.Println(answer.Evidence[0].Chunk.Doc)
	// Output:
	// The Fram was built by Colin Archer in Larvik.
	// fram.md
}

// A function is a Retriever: here it finds the chunks that contain the question.
func ExampleRetrieverFunc() {
	chunks := []graphrag.Chunk{
		{ID: "owls.md#000000", Doc: "owls.md", Text: "Owls hunt by ear."},
		{ID: "owls.md#000001", Doc: "owls.md", Text: "Owls fly silently."},
	}
	var r graphrag.Retriever = graphrag.RetrieverFunc(
		func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
			var hits []graphrag.Hit
			for _, c := range chunks {
				if len(hits) < q.Want() && strings.Contains(c.Text, q.Text) {
					hits = append(hits, graphrag.Hit{Chunk: c, Score: 1, Source: "substring"})
				}
			}
			return graphrag.Found{Ranked: hits}, nil
		})
	found, _ := r.Retrieve(context.Background(), graphrag.Question{Text: "silently", K: 5})
	for _, h := range found.Ranked {
		fmt.Println(h.Chunk.ID, h.Chunk.Text)
	}
	// Output:
	// owls.md#000001 Owls fly silently.
}

func ExampleUsage_Add() {
	a := graphrag.Usage{Calls: 1, PromptTokens: 900, CompletionTokens: 40}
	b := graphrag.Usage{CachedCalls: 1} // a reply from the cache costs nothing
	fmt.Printf("%+v\n", a.Add(b))
	// Output:
	// {Calls:1 CachedCalls:1 PromptTokens:900 CompletionTokens:40 EmbeddedTokens:0 ProviderCached:0 Estimated:false Unread:0}
}
