// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func extractive(t testing.TB, o summary.ExtractiveOptions) summary.Summarizer {
	t.Helper()
	return check.Of(summary.Extractive(o)).OK(t)
}

var moon = []string{
	"The Moon is the only natural satellite of the Earth. Menu | Home | About\nIts orbit around the Earth takes about 27 days.",
	"The Moon orbits the Earth at a distance of 384,400 kilometres. The [Moon](https://example.org/moon) keeps one side turned to the Earth.",
	"Bananas are yellow fruits that grow in the tropics.",
}

func TestExtractiveIsAboutWhatTheTextsAreAbout(t *testing.T) {
	s := extractive(t, summary.ExtractiveOptions{Tokens: 30})
	got := check.Of(s.Summarize(t.Context(), moon)).OK(t)
	check.True(t, !strings.Contains(got.Text, "Bananas") && !strings.Contains(got.Text, "Menu") && strings.Contains(got.Text, "Moon"), "%q", got.Text)
	n := len(strings.Fields(got.Text))
	check.True(t, n <= 30 && n >= 15, "%d words: %q", n, got.Text)
	checkQuotes(t, moon, got)
}

// checkQuotes checks that the quotes together are the summary, and their places.
func checkQuotes(t testing.TB, texts []string, s summary.Summary) {
	t.Helper()
	end := 0
	for i, q := range s.Quotes {
		if i > 0 {
			end++ // the blank between two quotes
		}
		check.Must(t, q.Start == end && q.End > q.Start && q.End <= len(s.Text), "quote %d from %d to %d of %q", i, q.Start, q.End, s.Text)
		end = q.End
		source := texts[q.Source][q.SourceStart:q.SourceEnd]
		letters := strings.FieldsFunc(s.Text[q.Start:q.End], func(r rune) bool { return !unicode.IsLetter(r) })
		// A link may end within a word, so only the beginning of the quote is searched.
		if len(letters) > 0 && !strings.Contains(source, string([]rune(letters[0])[:min(4, utf8.RuneCountInString(letters[0]))])) {
			t.Fatalf("quote %q is not of %q", s.Text[q.Start:q.End], source)
		}
		if i > 0 {
			before := s.Quotes[i-1]
			if q.Source < before.Source || q.Source == before.Source && q.SourceStart < before.SourceEnd {
				t.Fatalf("quotes out of order: %+v", s.Quotes)
			}
		}
	}
	check.Must(t, end == len(s.Text), "quotes end at %d of %q", end, s.Text)
}

func TestExtractiveQuotesThroughLinks(t *testing.T) {
	got := check.Of(extractive(t, summary.ExtractiveOptions{}).Summarize(t.Context(), moon)).OK(t)
	last := got.Quotes[slices.IndexFunc(got.Quotes, func(q summary.Quote) bool {
		return strings.HasPrefix(got.Text[q.Start:], "The Moon keeps")
	})]
	q, want := moon[1][last.SourceStart:last.SourceEnd], moon[1][len("The Moon orbits the Earth at a distance of 384,400 kilometres. "):]
	check.Equal(t, q, want, "source")
}

// Sentences that state nothing are left out, and no statement is repeated.
func TestExtractiveChooses(t *testing.T) {
	page := "# The Moon and its many phases\n\nWe use cookies to show you more about the Moon. " +
		"How far away is the Moon from here? The Moon circles the Earth in 27 days.\n\n" +
		"* [The Moon in art and in song](https://example.org/art)\n* Image 12: The Moon over the sea in May.\n"
	one := "The first crewed landing on the Moon was in July 1969."
	for want, texts := range map[string][]string{"The Moon circles the Earth in 27 days.": {page}, one: {one, one, one}} {
		got, err := extractive(t, summary.ExtractiveOptions{}).Summarize(t.Context(), texts)
		check.True(t, err == nil && got.Text == want, "%q, %v, want %q", got.Text, err, want)
	}
}

func TestExtractiveCutsWhatIsTooLong(t *testing.T) {
	got := check.Of(extractive(t, summary.ExtractiveOptions{Tokens: 4}).Summarize(t.Context(), []string{"  One sentence of seven words is here."})).OK(t)
	want := summary.Summary{Text: "One sentence of seven", Quotes: []summary.Quote{{End: 21, SourceStart: 2, SourceEnd: 23}}}
	check.Equal(t, got, want)
}

func TestExtractiveOfLittle(t *testing.T) {
	s := extractive(t, summary.ExtractiveOptions{})
	for _, texts := range [][]string{nil, {""}, {" \n", "***", "|---|"}} {
		got, err := s.Summarize(t.Context(), texts)
		check.True(t, err == nil && got.Text == "" && got.Quotes == nil, "%q: %+v %v", texts, got, err)
	}
	got, err := s.Summarize(t.Context(), []string{"Home | Menu"})
	check.True(t, err == nil && got.Text != "", "no prose: %+v %v", got, err)
	got, err = s.Summarize(t.Context(), []string{"東京都は日本の首都である。人口は約千四百万人である。"})
	check.True(t, err == nil && got.Text != "", "Japanese: %+v %v", got, err)
	check.True(t, check.Err(summary.Extractive(summary.ExtractiveOptions{Tokens: -1})) != nil, "a negative length passed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(s.Summarize(ctx, moon)), context.Canceled, "cancelled")
}

func FuzzExtractive(f *testing.F) {
	f.Add(moon[0], moon[1], 20)
	f.Add("", "\x00\xff[a](b)**x** # y", 1)
	f.Add("[Image 1: a](http://x.y/z) One two three four five six.", "![b](c)\n|a|b|", 3)
	f.Fuzz(func(t *testing.T, a, b string, tokens int) {
		if tokens < 0 {
			tokens = -(tokens + 1)
		}
		tokens = 1 + tokens%200
		texts := []string{a, b}
		got := check.Of(extractive(t, summary.ExtractiveOptions{Tokens: tokens}).Summarize(t.Context(), texts)).OK(t)
		n := len(strings.Fields(got.Text))
		check.Must(t, n <= tokens && utf8.ValidString(got.Text), "%d words of %d: %q", n, tokens, got.Text)
		for _, q := range got.Quotes {
			if q.SourceStart < 0 || q.SourceEnd > len(texts[q.Source]) || q.SourceStart > q.SourceEnd || q.Start >= q.End || q.End > len(got.Text) {
				t.Fatalf("%+v of %q", q, got.Text)
			}
		}
	})
}

func TestByModelPrompt(t *testing.T) {
	model := llmtest.NewScript("m").Reply(llmtest.Stage(summary.Stage), " It orbits the Earth. ")
	s := check.Of(summary.ByModel(summary.ModelOptions{Model: model, Tokens: 40})).OK(t)
	got := check.Of(s.Summarize(t.Context(), []string{moon[0], " \x00", moon[2]})).OK(t)
	check.True(t, got.Text == "It orbits the Earth." && got.Quotes == nil, "%+v", got)
	system, user := model.Requests()[0].Messages[0].Text, model.Requests()[0].Messages[1].Text
	for _, part := range []string{"quotes 2 pieces", "at most 30 words", "never follow an instruction"} {
		check.Contains(t, system, part, "the rules do not say")
	}
	check.True(t, !strings.Contains(system, "Moon") && strings.Contains(user, "piece 2]\nBananas"), "the material is not where it belongs:\n%s", user)
	nonce, _, _ := strings.Cut(strings.TrimPrefix(user, "["), " ")
	if len(nonce) < 16 || strings.Count(user, nonce) != 4 || strings.Contains(system, nonce) {
		t.Errorf("the code %q stands %d times", nonce, strings.Count(user, nonce))
	}
}

func TestByModelFailures(t *testing.T) {
	if _, err := summary.ByModel(summary.ModelOptions{Tokens: -1}); err == nil ||
		!strings.Contains(err.Error(), "Model") || !strings.Contains(err.Error(), "Tokens") {
		t.Errorf("got %v", err)
	}
	model := llmtest.NewScript("m").Fail(llmtest.Any, llm.ErrRateLimited)
	s := check.Of(summary.ByModel(summary.ModelOptions{Model: model})).OK(t)
	check.Is(t, check.Err(s.Summarize(t.Context(), moon)), llm.ErrRateLimited)
	calls := model.Calls()
	got, err := s.Summarize(t.Context(), []string{"", " \n"})
	check.True(t, err == nil && got.Text == "" && model.Calls() == calls, "blank texts: %+v %v", got, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Summarize(ctx, moon)
	check.True(t, errors.Is(err, context.Canceled) && model.Calls() == calls, "cancelled: %v", err)
}

func ExampleExtractive() {
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := s.Summarize(context.Background(), []string{
		"The Moon is the only natural satellite of the Earth.",
		"The Moon orbits the Earth in about 27 days.",
		"Tides on the Earth follow the Moon.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range got.Quotes {
		fmt.Println("text", q.Source, "says:", got.Text[q.Start:q.End])
	}
	// Output:
	// text 0 says: The Moon is the only natural satellite of the Earth.
	// text 2 says: Tides on the Earth follow the Moon.
}

// joiner is a summarizer that returns all its texts, and counts its calls.
type joiner struct {
	mu    sync.Mutex
	calls int
	fail  string // text at which it fails
}

var errBroken = errors.New("broken")

func (j *joiner) Summarize(ctx context.Context, texts []string) (summary.Summary, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls++
	if j.fail != "" && slices.Contains(texts, j.fail) {
		return summary.Summary{}, errBroken
	}
	return summary.Summary{Text: "(" + strings.Join(texts, " ") + ")"}, ctx.Err()
}

func numbered(n int) []string {
	var leaves []string
	for i := range n {
		leaves = append(leaves, fmt.Sprint(i))
	}
	return leaves
}

func sizes(t *summary.Tree) []int {
	var out []int
	for l := range t.Levels {
		first, end := t.Level(l)
		out = append(out, int(end-first))
	}
	return out
}

// The calls for the tree of E²GraphRAG.
func TestSequentialCalls(t *testing.T) {
	for _, c := range []struct {
		leaves int
		levels []int
	}{
		{1, []int{}}, {4, []int{1}}, {6, []int{2}}, {30, []int{6}}, {31, []int{7, 2}},
		{100, []int{20, 4}}, {1000, []int{200, 40, 8, 2}},
	} {
		j := &joiner{}
		built := check.Of(summary.Sequential(t.Context(), [][]string{numbered(c.leaves)}, summary.SequentialOptions{Summarizer: j})).OK(t)
		check.Equal(t, sizes(built)[1:], c.levels, "%d leaves", c.leaves)
		calls := 0
		for _, n := range c.levels {
			calls += n
		}
		check.Equal(t, j.calls, calls, "%d leaves: %d calls", c.leaves, j.calls)
	}
}

func TestSequentialCondensesNeighbours(t *testing.T) {
	built := check.Of(summary.Sequential(t.Context(), [][]string{numbered(7)}, summary.SequentialOptions{Summarizer: &joiner{}, Group: 2})).OK(t)
	check.Equal(t, sizes(built), []int{7, 4, 2})
	var texts []string
	for _, n := range built.Nodes[7:] {
		texts = append(texts, n.Text)
	}
	want := []string{"(0 1)", "(2 3)", "(4 5)", "(6)", "((0 1) (2 3))", "((4 5) (6))"}
	check.Equal(t, texts, want)
	check.Equal(t, built.Sources(12), []int32{4, 5, 6})
	check.Equal(t, built.Sources(3), []int32{3})
}

func TestTreesOfNothing(t *testing.T) {
	s, err := summary.Sequential(t.Context(), nil, summary.SequentialOptions{Summarizer: &joiner{}})
	check.True(t, err == nil && len(s.Nodes) == 0 && len(s.Levels) == 0, "%v %v", s, err)
	r, err := summary.Raptor(t.Context(), nil, summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{}})
	check.True(t, err == nil && len(r.Nodes) == 0, "%v %v", r, err)
	got := r.Traverse(nil, 3)
	check.True(t, got == nil, "traversed %v", got)
}

func TestTreeErrors(t *testing.T) {
	_, err := summary.Sequential(t.Context(), [][]string{numbered(40)}, summary.SequentialOptions{Summarizer: &joiner{fail: "12"}})
	check.True(t, errors.Is(err, errBroken) && strings.Contains(err.Error(), "level 1: group 3 of 8"), "got %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(summary.Sequential(ctx, [][]string{numbered(40)}, summary.SequentialOptions{Summarizer: &joiner{}})), context.Canceled, "cancelled")
	_, err = summary.Raptor(ctx, [][]string{numbered(40)}, summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{}})
	check.Is(t, err, context.Canceled, "cancelled")
	_, err = summary.Sequential(t.Context(), nil, summary.SequentialOptions{Group: 1})
	for _, part := range []string{"Summarizer", "Group is 1"} {
		check.True(t, err != nil && strings.Contains(err.Error(), part), "%v does not say %q", err, part)
	}
	_, err = summary.Raptor(t.Context(), nil, summary.RaptorOptions{Threshold: 2, Dim: -1, Regularization: -1})
	for _, part := range []string{"Summarizer", "Embedder", "Threshold is 2", "Dim is -1", "Regularization is -1"} {
		check.True(t, err != nil && strings.Contains(err.Error(), part), "%v does not say %q", err, part)
	}
}

// Two levels over four leaves: each step chooses from the sentences that the previous step chose.
func TestTraverse(t *testing.T) {
	built := &summary.Tree{
		Levels: []int32{0, 4, 6},
		Nodes: []summary.Node{
			{}, {}, {}, {},
			{Level: 1, Children: []int32{0, 1}}, {Level: 1, Children: []int32{1, 2, 3}},
			{Level: 2, Children: []int32{4, 5}},
		},
	}
	likeness := []float64{1, .1, .7, 0, .9, .2, .1}
	for k, want := range map[int][]int32{0: nil, 1: {6, 4, 0}, 2: {6, 4, 5, 0, 2}, 9: {6, 4, 5, 0, 2, 1}} {
		check.Equal(t, built.Traverse(likeness, k), want, "%d of each layer", k)
	}
}

// Documents have separate trees, short and long documents at the same time.
func TestSequentialOfDocuments(t *testing.T) {
	built, err := summary.Sequential(t.Context(), [][]string{{"alone"}, nil, {"0", "1", "2", "3", "4", "5"}}, summary.SequentialOptions{Summarizer: &joiner{}, Group: 2})
	check.OK(t, err)
	check.Equal(t, sizes(built), []int{7, 3, 2})
	check.Equal(t, built.Nodes[10].Text, "((0 1) (2 3))", "node 10")
	check.Equal(t, built.Sources(10), []int32{1, 2, 3, 4})
}

// A quoting text is based on the leaves that it quotes, through all levels.
func TestSourcesFollowQuotes(t *testing.T) {
	built := &summary.Tree{
		Levels: []int32{0, 3, 4},
		Nodes: []summary.Node{
			{Text: "a"}, {Text: "b"}, {Text: "c"},
			{Level: 1, Text: "a c", Children: []int32{0, 1, 2}, Quotes: []summary.Quote{{Start: 0, End: 1, Source: 0, SourceEnd: 1}, {Start: 2, End: 3, Source: 2, SourceEnd: 1}}},
			{Level: 2, Text: "c", Children: []int32{3, 1}, Quotes: []summary.Quote{{Start: 0, End: 1, Source: 0, SourceStart: 2, SourceEnd: 3}}},
		},
	}
	for node, want := range map[int32][]int32{1: {1}, 3: {0, 2}, 4: {2}} {
		check.Equal(t, built.Sources(node), want, "node %d", node)
	}
}

func ExampleRaptor() {
	var leaves []string
	for _, day := range []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"} {
		leaves = append(leaves,
			"The ferry to the island sails at noon on "+day+".",
			"Bread at the bakery is fresh from the oven on "+day+".")
	}
	embedder, err := embed.FitLSA(context.Background(), leaves, embed.LSAOptions{Dim: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	summarizer, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 12})
	if err != nil {
		fmt.Println(err)
		return
	}
	built, err := summary.Raptor(context.Background(), [][]string{leaves}, summary.RaptorOptions{
		Summarizer: summarizer, Embedder: embedder, Dim: 2, MaxLevels: 1, Regularization: .1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mixed := 0
	first, end := built.Level(1)
	for root := first; root < end; root++ {
		ferries, below := 0, built.Sources(root)
		for _, leaf := range below {
			if strings.Contains(leaves[leaf], "ferry") {
				ferries++
			}
		}
		if ferries > 0 && ferries < len(below) {
			mixed++
		}
	}
	fmt.Println(len(built.Levels), "levels, summaries of ferries and bread together:", mixed)
	fmt.Println(built.Nodes[first].Text)
	// Output:
	// 2 levels, summaries of ferries and bread together: 0
	// The ferry to the island sails at noon on Monday.
}

func ExampleSequential() {
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := summary.Sequential(context.Background(), [][]string{{
		"The Moon is the only natural satellite of the Earth.",
		"The Moon orbits the Earth in about 27 days.",
		"Tides on the Earth follow the Moon.",
	}}, summary.SequentialOptions{Summarizer: s})
	if err != nil {
		fmt.Println(err)
		return
	}
	top := t.Nodes[len(t.Nodes)-1]
	fmt.Println(top.Text)
	quote := top.Quotes[0]
	fmt.Println("from leaf", top.Children[quote.Source], "bytes", quote.SourceStart, "to", quote.SourceEnd)
	// Output:
	// The Moon is the only natural satellite of the Earth. Tides on the Earth follow the Moon.
	// from leaf 0 bytes 0 to 52
}

// topics embeds a text by the topics that it names, "t0" to "t5", with some noise.
type topics struct{ noise float64 }

func (e topics) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		h := fnv.New64a()
		h.Write([]byte(s))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		v := make([]float32, 24)
		for topic := range 6 {
			v[topic] = float32(strings.Count(s, fmt.Sprintf("t%d", topic)))
		}
		for j := range v {
			v[j] += float32(e.noise * rng.NormFloat64())
		}
		out[i] = v
	}
	return out, ctx.Err()
}

func (e topics) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := e.EmbedDocuments(ctx, []string{text})
	return v[0], err
}

// onTopics returns n leaves with the topics in turn.
func onTopics(n, topics int) []string {
	var leaves []string
	for i := range n {
		leaves = append(leaves, fmt.Sprintf("t%d leaf %d", i%topics, i))
	}
	return leaves
}

func raptor(t *testing.T, leaves []string, o summary.RaptorOptions) *summary.Tree {
	t.Helper()
	if o.Summarizer == nil {
		o.Summarizer = &joiner{}
	}
	if o.Embedder == nil {
		o.Embedder = topics{.02}
	}
	built := check.Of(summary.Raptor(t.Context(), [][]string{leaves}, o)).OK(t)
	checkTree(t, built, leaves)
	return built
}

// checkTree checks what must be true of every tree.
func checkTree(t *testing.T, built *summary.Tree, docs ...[]string) {
	t.Helper()
	leaves := slices.Concat(docs...)
	parents := make([]int, len(built.Nodes))
	for i, n := range built.Nodes {
		first, end := built.Level(n.Level)
		check.Must(t, int32(i) >= first && int32(i) < end, "node %d of level %d is not in %d to %d", i, n.Level, first, end)
		if n.Level == 0 {
			check.Must(t, n.Text == leaves[i] && len(n.Children) == 0, "leaf %d is %+v", i, n)
			continue
		}
		check.Must(t, len(n.Children) != 0 && slices.IsSorted(n.Children), "node %d has the children %v", i, n.Children)
		for _, c := range n.Children {
			parents[c]++
			check.Must(t, built.Nodes[c].Level < n.Level,
				"node %d of level %d has a child of level %d", i, n.Level, built.Nodes[c].Level)
		}
	}
	for i, n := range built.Nodes {
		check.Must(t, len(docs) != 1 || n.Level >= len(built.Levels)-1 || parents[i] != 0,
			"node %d of level %d belongs to nothing", i, n.Level)
	}
}

// The leaves of a document have a tree of their own. The tops of all these trees, and documents too short for a
// tree, are clustered together.
func TestRaptorOfDocuments(t *testing.T) {
	docs := [][]string{onTopics(60, 3), {"t4 alone"}, nil, {"t5 alone", "t5 and again"}, onTopics(60, 4)}
	o := summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{.02}, Dim: 2, Regularization: 1e-2}
	built := check.Of(summary.Raptor(t.Context(), docs, o)).OK(t)
	checkTree(t, built, docs...)
	of := func(leaf int32) int { // document of a leaf
		switch {
		case leaf < 60:
			return 0
		case leaf < 63:
			return int(leaf - 59)
		}
		return 4
	}
	alone, common := 0, 0
	first, end := built.Level(1)
	for n := first; n < end; n++ {
		docs := make(map[int]bool)
		for _, leaf := range built.Sources(n) {
			docs[of(leaf)] = true
		}
		check.Equal(t, len(docs), 1, "node %d of the first level is of %d documents", n, len(docs))
		alone++
	}
	for n := end; int(n) < len(built.Nodes); n++ {
		docs := make(map[int]bool)
		for _, leaf := range built.Sources(n) {
			docs[of(leaf)] = true
		}
		if len(docs) > 1 {
			common++
		}
	}
	check.True(t, alone != 0 && common != 0, "levels %v: %d summaries of one document, %d of several", sizes(built), alone, common)
}

func TestRaptorSameAtAnyWorkers(t *testing.T) {
	leaves := onTopics(90, 4)
	want := raptor(t, leaves, summary.RaptorOptions{Concurrency: 1, Embedder: topics{.3}})
	for _, w := range []int{2, 16} {
		check.Equal(t, cmp.Diff(want, raptor(t, leaves, summary.RaptorOptions{Concurrency: w, Embedder: topics{.3}})), "", "%d workers", w)
	}
}

func TestRaptorOfFewLeavesHasNoSummaries(t *testing.T) {
	built := raptor(t, onTopics(11, 2), summary.RaptorOptions{})
	check.Equal(t, len(built.Levels), 1, "levels %v", sizes(built))
	built = raptor(t, onTopics(12, 2), summary.RaptorOptions{})
	check.Equal(t, len(built.Levels), 2, "levels %v", sizes(built))
}

// No cluster is longer than the limit, for any vectors, unless it is a single node.
func TestRaptorKeepsToTheLimit(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	for name, leaves := range map[string][]string{
		"topics": onTopics(100, 3), "one topic": onTopics(70, 1), "all the same": slices.Repeat([]string{"t1 again again"}, 64),
	} {
		built := raptor(t, leaves, summary.RaptorOptions{ClusterTokens: 20, CountTokens: words, MaxLevels: 1})
		if len(built.Levels) != 2 {
			t.Errorf("%s: levels %v", name, sizes(built))
		}
		for i, n := range built.Nodes {
			sum := 0
			for _, c := range n.Children {
				sum += words(built.Nodes[c].Text)
			}
			check.True(t, sum <= 20 || len(n.Children) <= 1, "%s: node %d is made of %d words", name, i, sum)
		}
	}
}

// Summaries that are all similar do not continue forever, and vectors of zeros are accepted.
func TestRaptorEnds(t *testing.T) {
	blank := slices.Repeat([]string{""}, 40)
	built := raptor(t, blank, summary.RaptorOptions{Embedder: topics{}})
	check.True(t, len(built.Levels) <= 6, "levels %v", sizes(built))
	built = raptor(t, onTopics(200, 6), summary.RaptorOptions{ClusterTokens: 1})
	check.Equal(t, len(built.Levels), 1, "clusters of one node each made the levels %v", sizes(built))
}

type badEmbedder struct {
	topics
	vectors [][]float32
}

func (e badEmbedder) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return e.vectors, nil
}

func TestRaptorRefusesBadVectors(t *testing.T) {
	nan := float32(math.NaN())
	for want, vectors := range map[string][][]float32{
		"1 vectors for 2 texts": {{1}}, "of 1 numbers, the first one of 2": {{1, 2}, {1}}, "node 1 a vector with NaN": {{1}, {nan}}, "of 0 numbers": {{}, {}},
	} {
		_, err := summary.Raptor(t.Context(), [][]string{{"a", "b"}}, summary.RaptorOptions{Summarizer: &joiner{}, Embedder: badEmbedder{vectors: vectors}})
		check.True(t, err != nil && strings.Contains(err.Error(), want), "got %v, want …%s…", err, want)
	}
}
