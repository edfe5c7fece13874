// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
)

// library are pages of many sentences, each about a ship.
func ships(n int) []graphrag.Document {
	var docs []graphrag.Document
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "# The ship Vessel%d\n\n", i)
		for j := range 40 {
			fmt.Fprintf(&b, "In the year %d she sailed with a cargo of item%d and a crew of %d. ", 1800+j, 40*i+j, 10+j%7)
			if j == 30 {
				fmt.Fprintf(&b, "Captain Moss%d found an anchor of bronze in harbour %d. ", i, i)
			}
		}
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("v%02d.md", i), Title: fmt.Sprintf("Vessel%d", i), Text: b.String()})
	}
	return docs
}

func pagesOf(t *testing.T, docs []graphrag.Document, o pages.Options) *pages.Retriever {
	t.Helper()
	cut := check.Of(pages.Cut(t.Context(), docs, pages.CutOptions{})).OK(t)
	return check.Of(pages.New(t.Context(), cut, o)).OK(t)
}

func askPages(t *testing.T, p *pages.Retriever, q graphrag.Question) graphrag.Found {
	t.Helper()
	return check.Of(p.Retrieve(t.Context(), q)).OK(t)
}

// A budget is kept and used up, and gives one piece of each page, the best page first.
func TestPagesBudget(t *testing.T) {
	docs := ships(30)
	p := pagesOf(t, docs, pages.Options{})
	for _, text := range []string{"Where did Captain Moss7 find an anchor?", "Summarize the cargo of the ships.", "bronze anchor"} {
		for _, budget := range []int{1, 40, 180, 1000, 6000, 1 << 20} {
			found := askPages(t, p, graphrag.Question{Text: text, Tokens: budget, Depth: 3})
			used := 0
			seen := make(map[string]bool)
			for _, h := range found.Evidence {
				used += tokens.Cl100k().Count(h.Chunk.Titled())
				check.True(t, !seen[h.Chunk.Doc], "%q, %d tokens: %s twice", text, budget, h.Chunk.Doc)
				seen[h.Chunk.Doc] = true
			}
			whole := 30 * 870
			check.True(t, used <= budget && (used >= min(budget*8/10, whole*8/10) || budget < 180),
				"%q: %d of %d tokens are used", text, used, budget)
			check.True(t, len(found.Evidence) != 0 || budget < 40,
				"%q, %d tokens: nothing is read", text, budget)
			check.Equal(t, len(found.Ranked), 3, "%q", text)
		}
	}
	found := askPages(t, p, graphrag.Question{Text: "Where did Captain Moss7 find an anchor?", Tokens: 2000})
	first := found.Evidence[0].Chunk
	check.True(t, first.Doc == "v07.md" && strings.Contains(first.Text, "anchor of bronze in harbour 7"), "first is %s: %q", first.Doc, first.Text)
	found = askPages(t, p, graphrag.Question{Text: "What anchor did Captain Moss7 of Vessel7 find?", Tokens: 2000})
	a, b := len(found.Evidence[0].Chunk.Text), len(found.Evidence[len(found.Evidence)-1].Chunk.Text)
	check.True(t, a > b, "of the right page %d bytes are read, of the last %d", a, b)
}

// Without a budget K pages are read, each up to Longest.
func TestPagesByCount(t *testing.T) {
	p := pagesOf(t, ships(12), pages.Options{Longest: 400})
	found := askPages(t, p, graphrag.Question{Text: "Where did Captain Moss7 find an anchor?", K: 5, Depth: 9})
	check.True(t, len(found.Evidence) == 5 && len(found.Ranked) == 9, "%d are read of %d", len(found.Evidence), len(found.Ranked))
	for _, h := range found.Evidence {
		n := tokens.Cl100k().Count(h.Chunk.Text)
		check.True(t, n <= 410 && n >= 150, "%s: %d tokens", h.Chunk.ID, n)
	}
	found = askPages(t, p, graphrag.Question{Text: "anchor", Depth: 2})
	check.True(t, len(found.Evidence) == 0 && len(found.Ranked) == 2, "K 0: %+v", found)
}

// The text read from a page is the page's own, in its order.
func TestPagesOffsets(t *testing.T) {
	docs := ships(8)
	for _, h := range askPages(t, pagesOf(t, docs, pages.Options{}), graphrag.Question{Text: "item3 item77 item150 anchor bronze", Tokens: 4000}).Evidence {
		i := slices.IndexFunc(docs, func(d graphrag.Document) bool { return d.ID == h.Chunk.Doc })
		source, at := docs[i].Text[h.Chunk.Start:h.Chunk.End], 0
		for piece := range strings.SplitSeq(h.Chunk.Text, "…") {
			for line := range strings.SplitSeq(strings.TrimSpace(piece), "\n") {
				n := strings.Index(source[at:], line)
				check.Must(t, n >= 0, "%s: %q is not there, in order", h.Chunk.ID, line)
				at += n + len(line)
			}
		}
	}
}

// Overviews find pages by words that often occur with their subject.
func TestPagesAspects(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "a", Title: "Draw", Text: "The regatta of Larvik was drawn in May. In the regatta sail Norlys, Brann and Havgull."},
		{ID: "b", Title: "Norlys", Text: "Norlys is a sloop with tall masts, built by Brann of Tromsdal for Havgull."},
	}
	for i := range 20 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("x%02d", i), Title: "Other", Text: fmt.Sprintf("Boat number %d carries coal and tar to the north.", i)})
	}
	rank := func(aspects float64, text string) (ids []string) {
		for _, h := range askPages(t, pagesOf(t, docs, pages.Options{Aspects: aspects}), graphrag.Question{Text: text, Depth: 30}).Ranked {
			ids = append(ids, h.Chunk.Doc)
		}
		return ids
	}
	check.Equal(t, rank(0, "Summarize the regatta of Larvik."), []string{"a", "b"}, "overview")
	check.Equal(t, rank(-1, "Summarize the regatta of Larvik."), []string{"a"}, "without aspects")
	check.Equal(t, rank(0, "When was the regatta of Larvik drawn?"), []string{"a"}, "a fact")
}

// A plan names the aspects of an overview: each aspect has its own list of pages, in addition to the words that
// occur with the subject, and useless aspects do no harm.
func TestPagesPlan(t *testing.T) {
	docs := ships(30)
	const question = "Summarize the voyages of Vessel3 with crew and cargo."
	var asked, titles []string
	planned := func(aspects ...string) pages.Plan {
		return func(_ context.Context, question string, best []string) ([]string, error) {
			asked, titles = append(asked, question), best
			return aspects, nil
		}
	}
	ask := func(text string, o pages.Options) (graphrag.Found, []string) {
		f := askPages(t, pagesOf(t, docs, o), graphrag.Question{Text: text, Depth: 4, Tokens: 900})
		ids := make([]string, len(f.Ranked))
		for i, h := range f.Ranked {
			ids[i] = h.Chunk.Doc
		}
		return f, ids
	}
	aspects := []string{"Captain Moss17 anchor", "Captain Moss22 anchor of bronze"}
	f, ids := ask(question, pages.Options{Plan: planned(aspects...)})
	check.True(t, len(ids) == 4 && ids[0] == "v03.md" && slices.Contains(ids, "v17.md") && slices.Contains(ids, "v22.md"), "found %v", ids)
	want := []graphrag.Step{{Kind: "aspects", Query: question, Found: aspects}}
	check.Equal(t, f.Steps, want, "steps")
	if len(asked) != 1 || asked[0] != question || len(titles) != 20 || titles[0] != "Vessel3" {
		t.Errorf("asked %q with %d titles, the first %q", asked, len(titles), titles[0])
	}
	ask("How many sailed with Vessel3 in 1807?", pages.Options{Plan: planned("x")})
	_, without := ask(question, pages.Options{Plan: planned("x"), Planned: -1})
	check.Equal(t, len(asked), 1, "asked for a fact, or for nothing: %q", asked)
	_, useless := ask(question, pages.Options{Plan: planned("", "of the", "qwertz \x00")})
	many := make([]string, 1000)
	for i := range many[pages.MaxAspects:] {
		many[pages.MaxAspects+i] = "Vessel9"
	}
	_, tooMany := ask(question, pages.Options{Plan: planned(many...)})
	check.True(t, slices.Equal(useless, without) && slices.Equal(tooMany, without), "%v and %v, without a plan %v", useless, tooMany, without)
	broken := errors.New("broken")
	p := pagesOf(t, docs, pages.Options{Plan: func(context.Context, string, []string) ([]string, error) { return nil, broken }})
	check.Is(t, check.Err(p.Retrieve(t.Context(), graphrag.Question{Text: question, K: 1})), broken)
}

// likeness returns fixed similarities.
type likeness []float64

func (l likeness) Len() int { return len(l) }
func (l likeness) Best(context.Context, string, int) ([]rank.Scored[int32], error) {
	return nil, errors.New("not asked")
}
func (l likeness) Scores(_ context.Context, query string, dst []float64) ([]float64, error) {
	if strings.Contains(query, "fail") {
		return nil, errors.New("no likeness")
	}
	return append(dst[:0], l...), nil
}

func (l likeness) of(context.Context, text.List) (retrieve.Texts, error) { return l, nil }

func TestPagesLike(t *testing.T) {
	docs := []graphrag.Document{{ID: "a", Text: "Owls hunt mice."}, {ID: "b", Text: "Tides rise and fall."}}
	p := pagesOf(t, docs, pages.Options{Like: likeness{.1, .9}.of})
	found := askPages(t, p, graphrag.Question{Text: "Where do owls live?", Depth: 2})
	check.True(t, len(found.Ranked) == 2 && found.Ranked[0].Chunk.Doc == "b", "ranked %+v", found.Ranked)
	check.True(t, check.Err(p.Retrieve(t.Context(), graphrag.Question{Text: "fail", K: 1})) != nil, "the error of the likeness is lost")
	cut := check.Of(pages.Cut(t.Context(), docs, pages.CutOptions{})).OK(t)
	for want, o := range map[string]pages.Options{"Like returned has 1 texts": {Like: likeness{1}.of}, "Longest is -1": {Longest: -1}} {
		check.Fails(t, check.Err(pages.New(t.Context(), cut, o)), want, "%s: got", want)
	}
}

func TestPagesWithNothing(t *testing.T) {
	for name, docs := range map[string][]graphrag.Document{
		"no page": nil, "empty page": {{ID: "a"}}, "one page": ships(1), "Chinese": {{ID: "a", Text: "北京是中华人民共和国的首都。"}},
	} {
		p := pagesOf(t, docs, pages.Options{})
		for _, text := range []string{"", "what is it", "zebra quagga", strings.Repeat("zebra \xff 首都 ", 3000)} {
			for _, tokens := range []int{0, 10, 500} {
				found := askPages(t, p, graphrag.Question{Text: text, K: 2, Tokens: tokens})
				check.True(t, found.Ranked != nil && (len(found.Ranked) > 0) == (name == "Chinese" && strings.Contains(text, "首都")),
					"%s, %.20q: ranked %v", name, text, found.Ranked)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(pagesOf(t, ships(1), pages.Options{}).Retrieve(ctx, graphrag.Question{Text: "ship", K: 1})), context.Canceled, "cancelled")
}

// Concurrent questions find the same as single ones.
func TestPagesSideBySide(t *testing.T) {
	p := pagesOf(t, ships(10), pages.Options{})
	var questions []graphrag.Question
	for i := range 20 {
		questions = append(questions, graphrag.Question{Text: fmt.Sprintf("Describe the cargo item%d of Vessel%d", 13*i, i%10), Tokens: 300 + 200*i, Depth: 5})
	}
	want := make([]graphrag.Found, len(questions))
	for i, q := range questions {
		want[i] = askPages(t, p, q)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i, q := range questions {
				got, err := p.Retrieve(t.Context(), q)
				diff := cmp.Diff(want[i], got)
				check.True(t, diff == "" && err == nil, "%v (-alone +beside others):\n%s", err, diff)
			}
		})
	}
	wait.Wait()
}

func ExampleCut() {
	var docs []graphrag.Document
	for _, said := range []string{"Barn owls hunt by ear.", "The moon raises the tides.", "The Fram was built in Larvik.", "Amundsen reached the pole in 1911."} {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(len(docs)), Text: "# Notes\n\n[Subscribe](https://example.org) now.\n\n" + said})
	}
	list, err := pages.Cut(context.Background(), docs, pages.CutOptions{})
	if err != nil {
		panic(err)
	}
	for _, p := range list {
		for _, c := range p.Passages() {
			fmt.Printf("%s %q\n", c.ID, c.Text)
		}
	}
	// Output:
	// 0#000000 "# Notes\n\nSubscribe now.\n\nBarn owls hunt by ear."
	// 1#000000 "# Notes\n\nSubscribe now.\n\nThe moon raises the tides."
	// 2#000000 "# Notes\n\nSubscribe now.\n\nThe Fram was built in Larvik."
	// 3#000000 "# Notes\n\nSubscribe now.\n\nAmundsen reached the pole in 1911."
}

func cut(t *testing.T, o pages.CutOptions, texts ...string) []pages.Page {
	t.Helper()
	var docs []graphrag.Document
	for i, s := range texts {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("p%02d", i), Title: fmt.Sprint("pages.Page ", i), Text: s})
	}
	list := check.Of(pages.Cut(t.Context(), docs, o)).OK(t)
	for i, p := range list {
		checkPage(t, texts[i], p)
	}
	return list
}

// checkPage checks the properties of any page.
func checkPage(t *testing.T, source string, p pages.Page) {
	t.Helper()
	at := 0
	for i, u := range p.Units {
		check.Must(t, u.Start >= at && u.End > u.Start && u.From >= 0 && u.To <= len(source) && u.To >= u.From,
			"unit %d is %+v", i, u)
		check.Must(t, strings.TrimSpace(p.Text[at:u.Start]) == "", "%q stands between units", p.Text[at:u.Start])
		if n := tokens.Cl100k().Count(p.Text[u.Start:u.End]); utf8.ValidString(p.Text) && (n < u.Tokens-8 || n > u.Tokens+8) {
			t.Fatalf("unit %d has %d tokens, %d were counted", i, u.Tokens, n)
		}
		at = u.End
	}
	check.Must(t, strings.TrimSpace(p.Text[at:]) == "", "%q is in no unit", p.Text[at:])
	for i, c := range p.Passages() {
		check.Must(t, c.Tokens >= pages.DefaultPassage || len(p.Ends) <= 1, "passage %d has %d tokens", i, c.Tokens)
		check.Must(t, i+1 >= len(p.Ends) || c.Tokens-p.Units[p.Ends[i]-1].Tokens < pages.DefaultPassage,
			"passage %d of %d tokens does not need its last unit", i, c.Tokens)
		check.Must(t, !utf8.ValidString(source) || utf8.ValidString(c.Text), "passage %d cuts a character", i)
	}
	n := len(p.Ends)
	check.Must(t, n <= 0 || p.Ends[n-1] == len(p.Units), "the last passage does not reach the end of the page")
	checkTiles(t, p)
}

// Tiles cover each page, and only the last ones overlap.
func checkTiles(t *testing.T, p pages.Page) {
	t.Helper()
	end, tiles := 0, p.Tiles()
	for n, i := range tiles {
		check.Must(t, i <= end && (i >= end || n >= len(tiles)-1),
			"tile %d of %d begins at unit %d, after %d", n, len(tiles), i, end)
		end = p.Ends[i]
	}
	check.Must(t, end == len(p.Units), "tiles end at unit %d of %d", end, len(p.Units))
}

// sentences are n different sentences.
func sentences(n int, of string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "The %s of number %d was measured twice in the year %d. ", of, i, 1000+i)
	}
	return b.String()
}

func TestUnitsAndOffsets(t *testing.T) {
	source := "# A [title](https://example.org/a)\n\n" + sentences(30, "depth")
	p := cut(t, pages.CutOptions{}, source)[0]
	check.Must(t, len(p.Units) >= 6 && len(p.Ends) < len(p.Units), "%d units, %d passages", len(p.Units), len(p.Ends))
	for i, u := range p.Units[1:] { // these units contain no link
		got, want := source[u.From:u.To], p.Text[u.Start:u.End]
		check.Equal(t, got, want, "unit %d is %q in the source", i+1, got)
	}
	check.True(t, strings.HasPrefix(p.Text, "# A title\n\nThe depth of number 0 ") && source[p.Units[0].From] == '#', "the page begins with %.40q", p.Text)
	c := p.Chunk(2, 5)
	check.True(t, c.ID == "p00#000002" && c.Start == p.Units[2].From && c.End == p.Units[4].To &&
		c.Tokens == p.Tokens(2, 5) && c.Title == "pages.Page 0", "chunk %+v", c)
}

func TestHeadingBeginsUnit(t *testing.T) {
	p := cut(t, pages.CutOptions{}, sentences(2, "depth")+"\n\n## Width\n\n"+sentences(4, "width"))[0]
	for _, u := range p.Units[1:] {
		if strings.HasPrefix(p.Text[u.Start:], "## Width") {
			return
		}
	}
	t.Errorf("no unit begins at the heading: %q", p.Text)
}

func TestOddPages(t *testing.T) {
	rows := "| name | depth |\n|---|---|\n"
	for i := range 10_000 {
		rows += fmt.Sprintf("| item %d | %d |\n", i, 3*i)
	}
	for name, source := range map[string]string{
		"empty":           "",
		"blank":           " \n\t\n",
		"no word":         "***\n---\n!!!",
		"one line":        "Barn owls hunt by ear",
		"two megabytes":   strings.Repeat("owl mouse snow ", 140_000),
		"without a blank": strings.Repeat("owlmouse", 30_000),
		"table":           rows,
		"Chinese":         strings.Repeat("北京是中华人民共和国的首都，故宫位于北京市中心", 200),
		"mixed scripts":   "Fram 弗拉姆号 was built. Фрам построен в Ларвике. فرام سفينة. 故宫在哪里？",
		"not UTF-8":       "The Fram\xff was built. " + strings.Repeat("\x80\xfe ", 400),
	} {
		t.Run(name, func(t *testing.T) {
			p := cut(t, pages.CutOptions{}, source)[0]
			blank := strings.TrimSpace(source) == ""
			check.True(t, (len(p.Units) == 0) == blank && (len(p.Ends) == 0) == blank, "%d units, %d passages", len(p.Units), len(p.Ends))
			for _, u := range p.Units {
				check.Must(t, u.Tokens <= 150, "a unit of %d tokens", u.Tokens)
			}
		})
	}
}

// A corpus is divided in the same way by one worker and by many.
func TestWorkers(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("# pages.Page %d\n\nSign up.\n\n", i%7)+sentences(i, "height"))
	}
	check.Equal(t, cut(t, pages.CutOptions{Workers: 7}, texts...), cut(t, pages.CutOptions{Workers: 1}, texts...))
}

func TestPageErrors(t *testing.T) {
	_, err := pages.Cut(t.Context(), nil, pages.CutOptions{Unit: -1, Passage: -2})
	check.True(t, err != nil && strings.Contains(err.Error(), "Unit is -1") && strings.Contains(err.Error(), "Passage is -2"), "got %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(pages.Cut(ctx, []graphrag.Document{{ID: "a", Text: "Owls."}}, pages.CutOptions{})), context.Canceled, "cancelled")
}

func FuzzCut(f *testing.F) {
	f.Add(sentences(9, "depth")+strings.Repeat("word ", 60)+". End here.", sentences(5, "a")+strings.Repeat("long ", 85)+". Few words are left for the end of it all.")
	f.Add("# Owls\n\nBarn owls [hunt](x) by ear. 故宫。", "Barn owls [hunt](x) by ear.")
	f.Fuzz(func(t *testing.T, a, b string) { cut(t, pages.CutOptions{}, a, b, a, b) })
}
