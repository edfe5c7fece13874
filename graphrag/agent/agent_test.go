// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// saying reflects in the given verdicts, one after the other.
func saying(verdicts ...agent.Move) agent.Next {
	return func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		n := len(m.Turns) - 1
		if n == len(verdicts) {
			return agent.Move{}, errors.New("asked once too often")
		}
		return verdicts[n], nil
	}
}

func next(query string) agent.Move { return agent.Move{Query: query} }

func TestReflecting(t *testing.T) {
	pages := map[string]string{"Q?": "a b", "one": "c a", "two": "d", "known": "a b", "nothing": ""}
	r := graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		return graphrag.Found{Ranked: hits(pages[q.Text]), Usage: graphrag.Usage{Calls: 1}}, ctx.Err()
	})
	for _, tt := range []struct {
		name     string
		verdicts []agent.Move
		o        agent.Options
		ranked   string
		stop     string
		searches int
	}{
		{"answered at once", []agent.Move{{Thought: "all there", Answered: true, Query: "one"}}, agent.Options{}, "a b", "answered", 1},
		{"gives up", []agent.Move{next("one"), next(" ")}, agent.Options{}, "a c b", "no further query", 2},
		{"asks again what it asked", []agent.Move{next("one"), next(" ONE ")}, agent.Options{}, "a c b", "searched for before", 2},
		{"asks the question again", []agent.Move{next("q?")}, agent.Options{}, "a b", "searched for before", 1},
		{"finds nothing new", []agent.Move{next("known")}, agent.Options{}, "a b", "nothing new", 2},
		{"finds nothing", []agent.Move{next("nothing")}, agent.Options{}, "a b", "nothing new", 2},
		{"the last step", []agent.Move{next("one"), next("two")}, agent.Options{Steps: 2}, "a c d b", "last step", 3},
		{"the budget", []agent.Move{next("one")}, agent.Options{Tokens: 10}, "a c b", "budget", 2},
	} {
		reflect := saying(tt.verdicts...)
		it := check.Of(agent.Reflecting(r, r, func(ctx context.Context, m *agent.Memory) (agent.Move, error) {
			if tt.o.Tokens > 0 && m.Left < 8 {
				return agent.Move{}, fmt.Errorf("no: %w", agent.ErrSpent)
			}
			v, err := reflect(ctx, m)
			v.Tokens = 3
			return v, err
		}, tt.o)).OK(t)
		f, err := it.Retrieve(t.Context(), graphrag.Question{Text: "Q?", K: 2, Depth: 9})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var ids []string
		for _, h := range f.Ranked {
			ids = append(ids, h.Chunk.ID)
		}
		last := f.Steps[len(f.Steps)-1]
		if strings.Join(ids, " ") != tt.ranked || last.Kind != "stop" || !strings.Contains(last.Found[0], tt.stop) || f.Usage.Calls != tt.searches {
			t.Errorf("%s: %s, %v after %d searches", tt.name, ids, last, f.Usage.Calls)
		}
	}
	broken := errors.New("no server")
	it, _ := agent.Reflecting(r, r, func(context.Context, *agent.Memory) (agent.Move, error) { return agent.Move{}, broken }, agent.Options{})
	check.Is(t, check.Err(it.Retrieve(t.Context(), graphrag.Question{Text: "Q?"})), broken)
	if _, err := agent.Reflecting(nil, r, nil, agent.Options{Steps: -1}); err == nil || !strings.Contains(err.Error(), "retriever") || !strings.Contains(err.Error(), "reflection is") || !strings.Contains(err.Error(), "Steps is -1") {
		t.Errorf("%v does not name all", err)
	}
}

// The first thought is a draft, and what was thought is remembered in the order of the
// searches.
func TestMemory(t *testing.T) {
	r := graphrag.RetrieverFunc(func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
		return graphrag.Found{Ranked: hits(strings.ToLower(q.Text[:1]))}, nil
	})
	var last agent.Memory
	it, err := agent.Reflecting(r, r, func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		last = *m
		if len(m.Turns) == 2 {
			return agent.Move{Answered: true}, nil
		}
		return agent.Move{Thought: "the builder is missing", Query: "Builder?"}, nil
	}, agent.Options{Draft: func(_ context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error) {
		return graphrag.Answer{Text: "perhaps " + f.Ranked[0].Chunk.ID, Found: graphrag.Found{Usage: graphrag.Usage{Calls: 7}}}, nil
	}})
	check.OK(t, err)
	f := check.Of(it.Retrieve(t.Context(), graphrag.Question{Text: "Q?", K: 1})).OK(t)
	diff := cmp.Diff([]agent.Turn{{Move: agent.Move{Query: "Q?", Thought: "perhaps q"}}, {Move: agent.Move{Query: "Builder?", Thought: "the builder is missing"}}}, last.Turns)
	check.True(t, diff == "" && f.Usage.Calls == 7, "%d calls\n%s", f.Usage.Calls, diff)
	want := []graphrag.Step{
		{Kind: "draft", Found: []string{"perhaps q"}},
		{Kind: "reflect", Query: "Builder?", Found: []string{"the builder is missing"}}, {Kind: "search", Query: "Builder?", Found: []string{"b"}},
		{Kind: "reflect"}, {Kind: "stop", Found: []string{"answered"}},
	}
	check.Equal(t, f.Steps, want)
}

func TestReflectByModel(t *testing.T) {
	memory := &agent.Memory{Question: graphrag.Question{Text: "Who built it?", K: 2, Depth: 3}, Turns: []agent.Turn{{Move: agent.Move{Query: "Who built it?", Thought: "Archer, says the draft"}}, {Move: agent.Move{Query: "Which ship?"}}}, Left: -1,
		Found: graphrag.Found{Ranked: hits("a b c"), Derived: []graphrag.Derived{{Text: "Fram built by Archer"}}}}
	words := func(s string) int { return len(strings.Fields(s)) }
	for _, tt := range []struct {
		name, reply string
		want        agent.Move
		calls       int
	}{
		{"answer", `{"thought": "t", "status": "answer", "next_query": "x"}`, agent.Move{Thought: "t", Answered: true}, 1},
		{"continue", `{"thought": "t", "status": "Continue", "next_query": "Where?"}`, agent.Move{Thought: "t", Query: "Where?"}, 1},
		{"abstain", `{"thought": "t", "status": "abstain", "next_query": "Where?"}`, agent.Move{Thought: "t"}, 1},
		{"sub-queries", `{"thought": "t", "status": "continue", "sub_queries": [{"id": "q1", "question": "Where?"}, "When?"]}`, agent.Move{Thought: "t", Query: "Where?"}, 1},
		{"continue without a query", `{"status": "continue"}`, agent.Move{Thought: "the reflection could not be used"}, 2},
		{"another status", `{"status": "done"}`, agent.Move{Thought: "the reflection could not be used"}, 2},
		{"no JSON", `I believe so.`, agent.Move{Thought: "the reflection could not be used"}, 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, tt.reply)
		reflect := check.Of(agent.ReflectByModel(m, words)).OK(t)
		v, err := reflect(t.Context(), memory)
		check.True(t, v.Tokens != 0, "%s: no tokens are counted", tt.name)
		v.Tokens = 0
		diff := cmp.Diff(tt.want, v)
		check.True(t, err == nil && diff == "" && m.Calls() == tt.calls, "%s: %+v after %d calls, %v", tt.name, v, m.Calls(), err)
		user := m.Requests()[0].Messages[1].Text
		check.True(t, !strings.Contains(user, "text of c"), "%s: a chunk that is ranked for measuring alone is shown", tt.name)
		for _, part := range []string{"Who built it?", "Archer, says the draft", "2. Which ship?", "Fram built by Archer\n\ntext of a\n\ntext of b"} {
			check.True(t, strings.Contains(user, part), "%s: %q is not shown in\n%s", tt.name, part, user)
		}
	}
	// A budget below the prompt makes no call; one above it limits the reply.
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"status": "answer"}`)
	reflect, _ := agent.ReflectByModel(m, words)
	memory.Left = 400
	_, err := reflect(t.Context(), memory)
	check.True(t, errors.Is(err, agent.ErrSpent) && m.Calls() == 0, "%v after %d calls", err, m.Calls())
	memory.Left = 2000
	if v, err := reflect(t.Context(), memory); err != nil || !v.Answered || m.Requests()[0].MaxTokens == 0 || m.Requests()[0].MaxTokens > 2000 {
		t.Errorf("%+v, %v, %+v", v, err, m.Requests()[0].MaxTokens)
	}
	denied, _ := agent.ReflectByModel(llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}), words)
	check.Is(t, check.Err(denied(t.Context(), memory)), llm.ErrAuth)
	_, err = agent.ReflectByModel(nil, nil)
	check.True(t, err != nil && strings.Contains(err.Error(), "model") && strings.Contains(err.Error(), "counter"), "%v does not name all", err)
}

// A search over three pages that reflects by one rule: as long as a page says who
// built the ship, it looks for the builder.
func ExampleReflecting() {
	ctx := context.Background()
	pages, err := retrieve.NewSparse(ctx, []graphrag.Chunk{
		{ID: "archer", Doc: "archer", Text: "Colin Archer was born in Larvik."},
		{ID: "fram", Doc: "fram", Text: "The ship Fram was built by Colin Archer."},
		{ID: "larvik", Doc: "larvik", Text: "Larvik is a town in Norway."},
	}, bm25.Options{})
	if err != nil {
		panic(err)
	}
	reflect := func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		first := m.Found.Ranked[0].Chunk.Text
		_, builder, ok := strings.Cut(strings.TrimSuffix(first, "."), "built by ")
		if !ok || len(m.Turns) > 1 {
			return agent.Move{Thought: "All is known.", Answered: true}, nil
		}
		return agent.Move{Thought: "The builder is " + builder, Query: "Where was " + builder + " born?"}, nil
	}
	r, err := agent.Reflecting(pages, pages, reflect, agent.Options{})
	if err != nil {
		panic(err)
	}
	found, err := r.Retrieve(ctx, graphrag.Question{Text: "Where was the builder of the ship Fram born?", K: 1})
	if err != nil {
		panic(err)
	}
	for _, s := range found.Steps {
		fmt.Println(s.Kind, s.Query, s.Found)
	}
	// Output:
	// reflect Where was Colin Archer born? [The builder is Colin Archer]
	// search Where was Colin Archer born? [archer]
	// reflect  [All is known.]
	// stop  [answered]
}

// pagesOf returns pages that have a text each, named a, b and so on.
func pagesOf(texts ...string) *agent.Pages {
	var chunks []graphrag.Chunk
	for i, t := range texts {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%c#0", 'a'+i), Doc: string(rune('a' + i)), Text: t, End: len(t)})
	}
	return agent.NewPages(chunks)
}

// Lines are shared out over the pages, with their places and the number of the rest.
func TestFind(t *testing.T) {
	p := pagesOf("Fram\nno\nthe fram sails\nFRAM again", "nothing", "one Fram", "Fram 1\nFram 2\nFram 3\nFram 4\nFram 5")
	r := check.Of(p.Find(t.Context(), "fram", 5)).OK(t)
	var got []string
	for _, l := range r.Lines {
		got = append(got, fmt.Sprintf("%s:%d:%d-%d %s", l.Doc, l.Number, l.Start, l.End, l.Text))
	}
	want := []string{"d:1:0-6 Fram 1", "d:2:7-13 Fram 2", "a:1:0-4 Fram", "a:3:8-22 the fram sails", "c:1:0-8 one Fram"}
	diff := cmp.Diff(want, got)
	check.True(t, diff == "" && r.Matching == 9 && r.Pages == 3, "%d lines on %d pages\n%s", r.Matching, r.Pages, diff)
}

func TestPatterns(t *testing.T) {
	p := pagesOf("a", "b")
	for _, tt := range []struct{ pattern, want string }{
		{"", "is empty"}, {"  ", "is empty"}, {"a(", "missing closing )"}, {"x*", "matches every line"}, {"(?:)", "matches every line"},
		{strings.Repeat("a", 1001), "1001 bytes"}, {"\xff", "invalid UTF-8"}, {`(a{1000}){1000}`, "repeat count"}, {"*", "missing argument"},
	} {
		_, err := p.Find(t.Context(), tt.pattern, 5)
		check.True(t, errors.Is(err, agent.ErrPattern) && strings.Contains(err.Error(), tt.want), "%q: %v, want %q", tt.pattern, err, tt.want)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(p.Find(cancelled, "a", 1)), context.Canceled)
}

// What is found is what the pattern alone finds, line by line, whatever is looked for first:
// in words with letters that have three forms, in other scripts, in alternatives.
func TestFindIsRegexp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "é", "É", "и", "И", "京", "1", " ", "b", "\n", "\xff", "z", ".", "İ", "i"}
	patterns := []string{"ak", "ss", "a", "zb", "é", "Иb", "京1", `a.b`, `(ab|zk)`, `a+b?`, `\d`, `^a`, `b$`, `(?-i:A)b`, `[ab]z`, "a{2,3}", "1", "İ", "bi", "skz", "ks|zz", `1\.`, `(a|b|z|1|é|k|s|京|и)b`, "a\nb", `z(ab)+`, ".", `.ab\d`, `\wab[^b]`, "abz", "b1z", `1bz+`, `.?abz.`, "\\xff"}
	for range 300 {
		var text strings.Builder
		for range rng.IntN(80) {
			text.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		p := pagesOf(text.String())
		for _, pattern := range patterns {
			re := regexp.MustCompile("(?i)" + pattern)
			var want []int
			for i, line := range strings.Split(text.String(), "\n") {
				if re.MatchString(line) && (line != "" || i < strings.Count(text.String(), "\n")) {
					want = append(want, i+1)
				}
			}
			r := check.Of(p.Find(t.Context(), pattern, 100)).OK(t)
			var got []int
			for _, l := range r.Lines {
				got = append(got, l.Number)
			}
			diff := cmp.Diff(want, got)
			check.Must(t, diff == "" && r.Matching == len(want), "%q in %q\n%s", pattern, text.String(), diff)
		}
	}
}

// A page that is one line of ten megabytes is shown by a part of it, in time that grows with it.
func TestOneLongLine(t *testing.T) {
	long := strings.Repeat("lorem ipsum ", 500_000) + "the Fram é" + strings.Repeat("日本", 700_000)
	p := pagesOf(long)
	began := time.Now()
	r, err := p.Find(t.Context(), `f.am`, 5)
	check.Must(t, err == nil && r.Matching == 1, "%+v, %v", r, err)
	shown := r.Lines[0].Text
	check.True(t, len(shown) <= agent.MaxLine && strings.Contains(strings.Trim(shown, "…"), "Fram"), "%q", shown)
	check.True(t, strings.HasPrefix(shown, "…") && strings.HasSuffix(shown, "…"), "no ellipses: %q", shown)
	row, err := pagesOf("# Ships\n\n| Ship | Year |\n|---|---|\n| Fram | 1892 |\n").Find(t.Context(), "1892", 5)
	check.True(t, err == nil && row.Lines[0].Text == "| Ship | Year |\n| Fram | 1892 |", "a row of a table is shown as %+v, %v", row, err)
	read, n, err := p.Read("a", r.Lines[0].Index)
	check.True(t, err == nil && strings.Contains(read[0].Text, "the Fram") && len(read[0].Text) <= 1200 &&
		n >= 5000, "%q of %d passages, %v", read[0].Text, n, err)
	r, err = pagesOf(strings.Repeat("OH H", 500_000)).Find(t.Context(), "hhh", 5)
	check.True(t, err == nil && r.Matching == 0, "in capitals: %+v, %v", r, err)
	took := time.Since(began)
	check.True(t, took <= 30*time.Second, "took %v", took)
}

// Reading goes by the names of pages, never by a path, and every passage can be read.
func TestReadPages(t *testing.T) {
	text := strings.Repeat("A sentence about the ice. ", 200) + strings.Repeat("Another line.\n", 300) + strings.Repeat("日本", 2000)
	p := pagesOf(text, "")
	for _, name := range []string{"../a", "/etc/passwd", "a/../a", "", "A", "./a"} {
		_, _, err := p.Read(name, 0)
		check.Fails(t, err, "there is no page", "%q", name)
	}
	var all strings.Builder
	_, n, err := p.Read("a", 0)
	check.OK(t, err)
	for i := range n {
		read, _, err := p.Read("a", i)
		check.OK(t, err)
		var places []int
		for _, c := range read {
			places = append(places, c.Index)
			if text[c.Start:c.End] != c.Text || p.At("a", c.Start) != c.Index || p.At("a", c.End-1) != c.Index || !utf8.ValidString(c.Text) {
				t.Errorf("passage %d: %d to %d, passages %d and %d", c.Index, c.Start, c.End, p.At("a", c.Start), p.At("a", c.End-1))
			}
		}
		want := []int{i, i + 1, i - 1}
		if i == 0 {
			want = []int{0, 1}
		} else if i == n-1 {
			want = []int{i, i - 1}
		}
		check.Equal(t, places, want, "passage %d", i)
		all.WriteString(read[0].Text)
	}
	check.True(t, all.String() == text && n >= 15, "%d passages do not put the page together", n)
	for _, i := range []int{-5, 1 << 30} {
		read, _, err := p.Read("a", i)
		check.True(t, err == nil && len(read) == 2, "passage %d: %+v, %v", i, read, err)
	}
	read, n, err := p.Read("b", 0)
	check.True(t, err == nil && len(read) == 1 && read[0].Text == "" && n == 1, "%+v %d %v", read, n, err)
}

// Pages are put together again from chunks that overlap, and were cleaned.
func TestNewPages(t *testing.T) {
	page := strings.Repeat("The ship [Fram](http://x.org/fram) sailed in 1893 to the north.\n", 90)
	for name, clean := range map[string]func(string) (string, text.Mapping){"as it came": nil, "cleaned": text.StripLinks} {
		splitter := check.Of(chunk.Tokens(chunk.TokenOptions{Size: 60, Overlap: 15})).OK(t)
		o := chunk.Options{Splitter: splitter, Name: "test", Clean: clean}
		want := page
		if clean != nil {
			want, _ = clean(page)
		}
		c := check.Of(chunk.New(o)).OK(t)
		chunks, err := c.All(t.Context(), graphrag.Documents(graphrag.Document{ID: "fram", Text: page}))
		check.Must(t, err == nil && len(chunks) >= 10, "%d chunks, %v", len(chunks), err)
		if got := agent.Text(agent.NewPages(chunks), 0); len(got) < len(want)*95/100 || len(got) > len(want)*105/100 || clean == nil && got != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
		r, err := agent.NewPages(chunks).Find(t.Context(), "sailed in 1893", 5)
		check.True(t, err == nil && r.Matching >= 85 && r.Matching <= 95, "%s: %d lines of 90, %v", name, r.Matching, err)
	}
}
