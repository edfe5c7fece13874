// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestDefinition(t *testing.T) {
	for question, texts := range map[string]map[string]bool{
		"What is Leiden?":          {"The Leiden algorithm was published in 2019.": true, "It uses Leiden twice.": false, "leiden := run(g)": false, "Leiden – a method": true},
		"Who was Edmund Carrick?":  {"Edmund Carrick (1829–1894) was an English engineer.": true, "Edmund Carrick, an engineer, built it.": true, "Here Edmund Carrick met Ludwig.": false, "The director was Edmund Carrick.": true},
		"what is a judge":          {"A judge decides whether an answer is right.": true, "Judges are cheap.": true, "Each judge decides.": false},
		"What's HippoRAG 2?":       {"HippoRAG 2 (of 2025) is a graph.": true, "hipporag-2: a graph": true, "With HippoRAG 2 all is well.": false},
		"What is the Truman plan?": {"It came with the announcement of the Truman plan.": false, "The Truman plan was a promise.": true, "A promise to help was the Truman plan.": true, "Truman plan: a promise": true},
		"What are C++ macros?":     {"C++ macros are expanded first.": true},
	} {
		says := definition(question, text.English)
		for s, want := range texts {
			check.True(t, says != nil && says.MatchString(s) == want, "%s %q: not %v", question, s, want)
		}
	}
	for _, other := range []string{"What is the colour of owls?", "What is it?", "Who is Ada's father?", "What does Leiden do?", "Who wrote the report in May?", "What is?", "", "What is \xff\xfe tide?", "Who is " + strings.Repeat("h", 1<<20)} {
		check.True(t, definition(other, text.English) == nil, "%.80q asks for a definition", other)
	}
	check.True(t, definition("What is Leiden?", text.Dutch) == nil, "the forms are English")
}

// A count is not an ordinal, a year, a day of a month, or a name with a digit.
func TestCounts(t *testing.T) {
	q := inquiry{want: hasNumber}
	for s, want := range map[string]bool{
		"It is under the first line.": false, "It was there on March 12, in winter.": false, "It came on 12 March 1942.": false, "People have TCEB1.": false, "The war began in June 1940.": false,
		"She was 14 then.": true, "It has seven rooms.": true, "In May 300 people came.": true, "About 50,000 fell in 1949.": true, "It is 1,250.": true, "It has 3": true,
	} {
		check.True(t, q.shows(s) == want, "%q: not %v", s, want)
	}
}

// A sentence that defines a term is preferred to one that mentions it, and no other sentence is an answer.
func TestDefinitionsAnswer(t *testing.T) {
	r := check.Of(Extractive(ExtractiveOptions{Mode: Reject})).OK(t)
	mention := "Edmund Carrick met the painter Ludwig in the spring of 1850, and Edmund Carrick stayed for a week."
	table := "| system | recall | seconds |\n|---|---|---|\n| Edmund Carrick | 35.9 | 47.4 |\n"
	for evidence, want := range map[string]string{
		mention: "", table: "",
		mention + " Edmund Carrick (1829–1894) was an English engineer.": "Edmund Carrick (1829–1894) was an English engineer.",
	} {
		a, err := r.Read(t.Context(), graphrag.Question{Text: "Who was Edmund Carrick?"}, []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "a", Doc: "a", Text: evidence}}}, nil)
		check.True(t, err == nil && a.Refused == (want == "") && (want == "" || a.Text == want),
			"%q: %+v, %v", evidence, a.Text, err)
	}
}

func TestTopic(t *testing.T) {
	for _, tt := range []struct{ before, sentence, want string }{
		{"The Aven Bridge crosses the river near Leith.", "It was designed by Edmund Carrick.", "The Aven Bridge"},
		{"The keepers of the tower were three in 1977.", "Since then they are two.", "The keepers of the tower"},
		{"Greta Holm rents the upper floor.", "She repairs violins.", "Greta Holm"},
		{"The lake was mapped by Sofia Lindqvist in 1888.", "She also mapped another.", "Sofia Lindqvist"},
		{"The lake was mapped by Sofia Lindqvist in 1888.", "This is its oldest map.", "The lake"},
		{"Ada Lovelace (1815–1852) was a mathematician.", "In 1843 she published notes.", "Ada Lovelace"},
		{"Ada Lovelace met Charles Babbage in 1833.", "She was seventeen.", ""}, // she could be either
		{"Edmund Carrick drew a bridge.", "It was never built.", ""},            // the bridge is the object
		{"Its water is brown.", "It freezes in November.", ""},                  // it is the water, or its owner
		{"The tower is high.", "It is clear that it leans.", ""},                // says nothing of the tower
		{"The tower is high.", "It was in 1995 that the bell fell.", ""},        // nor does this
		{"The tower is high.", "By making it higher they broke it.", ""},        // the tower is the object
		{"The tower is high.", "This tower has no bell.", ""},                   // names its own subject
		{"The tower is high.", "The bell rings.", ""},                           // so does this
		{"The tower, seen from the east", "It is high.", ""},                    // a caption, no sentence
		{"Old walls lean.", "They are from Leith.", ""},                         // the verb is not recognized
	} {
		before, _ := topic{}.next(tt.before, 0)
		_, got := before.next(tt.sentence, 9)
		check.Equal(t, got, tt.want, "after %q: in %q the pronoun", tt.before, tt.sentence)
	}
	last, _ := topic{}.next("The tower is high.", 0)
	for range maxLinks {
		last, _ = last.next("It leans.", 0)
	}
	_, got := last.next("It leans.", 0)
	check.True(t, got == "" && last.shown == "The tower is high. It leans. It leans.", "after %q: %q", last.shown, got)
}

// A text is prepared once, and a library that is full is replaced by a new one.
func TestLibrary(t *testing.T) {
	l := newLibrary(text.Default())
	from := shownText{title: "Tides", text: "Tides\nThe moon raises the tides. The sun does as well."}
	first := l.read(from)
	check.True(t, first == l.read(from) && len(first.quotes) == 2, "read twice, or %d quotes instead of 2", len(first.quotes))
	check.True(t, !l.full(), "full after one page")
	for i := range 5 {
		l.read(shownText{text: fmt.Sprint(i, strings.Repeat(" ", 4<<20))})
	}
	check.True(t, l.full(), "not full after 20 MB")
}

// Answers do not depend on earlier or concurrent questions, or on the library.
func TestLibraryIsNotSeen(t *testing.T) {
	var evidence []graphrag.Hit
	for i := range 12 {
		body := fmt.Sprintf("# Harbor %d\n\nThe harbor of town %d has %d piers. Its light was built in %d.\n\n- boats: %d\n- cranes: %d\n", i, i, i+2, 1800+i, i*3, i)
		evidence = append(evidence, graphrag.Hit{Chunk: graphrag.Chunk{ID: fmt.Sprint(i), Doc: fmt.Sprint(i), Text: body, End: len(body)}})
	}
	ask := func(r Reader, i int) graphrag.Answer {
		q := graphrag.Question{Text: fmt.Sprintf("When was the light of the harbor of town %d built?", i), Form: []graphrag.Form{graphrag.Sentence, graphrag.Overview}[i%2]}
		return check.Of(r.Read(t.Context(), q, evidence[:6+i%6], nil)).OK(t)
	}
	fresh := func() *extractive {
		r := check.Of(Extractive(ExtractiveOptions{})).OK(t)
		return r.(*extractive)
	}
	shared := fresh()
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if i == 12 { // as if the library was full
				shared.mu.Lock()
				clear(shared.known)
				shared.mu.Unlock()
			}
			check.Equal(t, ask(shared, i%12), ask(fresh(), i%12), "question %d: -alone +shared", i%12)
		})
	}
	all.Wait()
	check.Contains(t, ask(shared, 5).Text, "Its light was built in", "answered")
}

func TestCite(t *testing.T) {
	type citation = graphrag.Citation
	three := citables{passages: 3}
	for _, tt := range []struct {
		reply, text string
		want        []citation
	}{
		{"", "", nil},
		{"No mark.", "No mark.", nil},
		{"One [1].", "One.", []citation{{Start: 0, End: 4, Evidence: 0}}},
		{"One. [1] Two [3][2].", "One. Two.", []citation{{Start: 0, End: 4, Evidence: 0}, {Start: 5, End: 9, Evidence: 2}, {Start: 5, End: 9, Evidence: 1}}},
		{"One [1, 2; 2] and more [ 1 ].", "One and more.", []citation{{Start: 0, End: 13, Evidence: 0}, {Start: 0, End: 13, Evidence: 1}}},
		{"One [1-3].", "One.", []citation{{Start: 0, End: 4, Evidence: 0}, {Start: 0, End: 4, Evidence: 1}, {Start: 0, End: 4, Evidence: 2}}},
		{"One [2–9].", "One.", []citation{{Start: 0, End: 4, Evidence: 1}, {Start: 0, End: 4, Evidence: 2}}},
		{"Bad [4] [99].", "Bad.", nil},
		{"Text [1945] [sic] [0] [] [3-1] [x1].", "Text [1945] [sic] [0] [] [3-1] [x1].", nil},
		{"  [1] Lead. ", "Lead.", []citation{{Start: 0, End: 5, Evidence: 0}}},
		{"[1]", "", nil},
		{"Cut [1", "Cut [1", nil},
		{"Much [99999999999999999999].", "Much [99999999999999999999].", nil},
	} {
		got, citations, _, _ := cite(tt.reply, three)
		check.Equal(t, got, tt.text, "cite(%q)", tt.reply)
		check.Equal(t, citations, tt.want, "cite(%q)", tt.reply)
	}
	// Hostile replies are read in a short time.
	for _, s := range []string{"[", "[1", "[1]", "[1,", "[1-999,", "a. [1] "} {
		checkCite(t, strings.Repeat(s, 50_000), 5)
	}
}

// Marks of facts and reports lead to derived texts, marks of memory to none; if there is no material of a kind,
// its marks are text or lead to nothing.
func TestCiteDerived(t *testing.T) {
	type citation = graphrag.Citation
	open := citables{passages: 1, facts: []int{1, 2}, reports: []int{0}, memory: true}
	derived := func(end, i int) citation { return citation{End: end, Of: graphrag.OfDerived, Evidence: i} }
	for _, tt := range []struct {
		reply, text string
		of          citables
		want        []citation
	}{
		{"One [F1, r1, 1].", "One.", open, []citation{derived(4, 1), derived(4, 0), {End: 4}}},
		{"One [F1-F2] [F9] [F1].", "One.", open, []citation{derived(4, 1), derived(4, 2)}},
		{"One [F1–2; Memory].", "One.", open, []citation{derived(4, 1), derived(4, 2), {End: 4, Of: graphrag.OfMemory}}},
		{"One [memory].", "One [memory].", citables{passages: 1}, nil},
		{"One [F1-R2] [F] [memories] [G1].", "One [F1-R2] [F] [memories] [G1].", open, nil},
	} {
		got, citations, _, _ := cite(tt.reply, tt.of)
		diff := cmp.Diff(tt.want, citations)
		check.True(t, got == tt.text && diff == "", "cite(%q) = %q, want %q; (-want +got):\n%s", tt.reply, got, tt.text, diff)
	}
}

// Each form of a mark in testdata/marks.tsv leads to its pieces and leaves no remains in the text; texts that
// are no marks are kept.
func TestMarks(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/marks.tsv")).OK(t)
	of := citables{passages: 3, facts: []int{0, 1}, reports: []int{2}}
	var plain []string
	for line := range strings.Lines(string(table)) {
		row := strings.Split(strings.TrimRight(strings.ReplaceAll(line, `\n`, "\n"), "\n"), "\t")
		if row[1] == "=" {
			row[1] = row[0]
			plain = append(plain, row[0])
		}
		got, citations, _, _ := cite(row[0], of)
		var cited []string
		for _, c := range citations {
			name := map[graphrag.Origin][]string{"": {"1", "2", "3"}, graphrag.OfDerived: {"F1", "F2", "R1"}}[c.Of][c.Evidence]
			if !slices.Contains(cited, name) {
				cited = append(cited, name)
			}
		}
		if got != row[1] || strings.Join(cited, ",") != row[2] {
			t.Errorf("%q is read as %q of %q", row[0], got, cited)
		}
	}
	for i := range len(plain) * len(plain) { // more than 200 answers without a mark
		reply := plain[i/len(plain)] + "\n\n" + plain[i%len(plain)]
		got, citations, _, _ := cite(reply, of)
		check.True(t, got == reply && citations == nil, "%q became %q of %v", reply, got, citations)
	}
	check.True(t, len(plain)*len(plain) >= 200, "%d answers without a mark are too few", len(plain)*len(plain))
}

func checkCite(t *testing.T, reply string, n int) {
	text, citations, _, _ := cite(reply, citables{passages: n})
	check.Must(t, len(text) <= len(reply), "%.100q became longer", reply)
	for _, c := range citations {
		check.Must(t, c.Start >= 0 && c.Start < c.End && c.End <= len(text) && c.Evidence >= 0 &&
			c.Evidence < n, "%.100q: citation %+v in %.100q", reply, c, text)
	}
}

func FuzzCite(f *testing.F) {
	for _, s := range []string{"One [1]. Two [2, 3] [4-9].", "[1–2", "[[1]]", "\xff[1]\x00 [ 1 , 2 ]"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1000 {
			return
		}
		checkCite(t, s, n)
	})
}

var draw = flag.String("draw", "", "FILE that the curves of TestCalibration are drawn into, as SVG")

// asked is a question over a kind of text, with the signs of its answer.
type asked struct {
	kind  string
	right float64
	signs signs
	out   bool // whether the question is ruled out
}

// said returns the probability that a model gives the answer.
func (a asked) said(model *signs) float64 {
	p := a.signs.under(model)
	if a.out {
		return min(p, unlikePart)
	}
	return p
}

func calibration(t *testing.T) (all []asked, kinds []string) {
	b := check.Of(os.ReadFile("testdata/calibration.tsv")).OK(t)
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		a := asked{kind: f[0], out: f[len(f)-1] == "true"}
		if f[1] == "true" {
			a.right = 1
		}
		for j := range a.signs {
			a.signs[j] = check.Of(strconv.ParseFloat(f[2+j], 64)).OK(t, "%v", i)
		}
		if all = append(all, a); !slices.Contains(kinds, a.kind) {
			kinds = append(kinds, a.kind)
		}
	}
	return all, kinds
}

// ridge is the penalty on squared coefficients, for weights that sum to one: it keeps a rare sign from
// deciding.
const ridge = 1.5e-3

// fitted returns the model of highest likelihood with the penalty, by Newton's method; kinds of text have equal
// weights.
func fitted(questions []asked) (model signs) {
	n, sum := make(map[string]float64), 0.0
	questions = slices.DeleteFunc(slices.Clone(questions), func(a asked) bool { return a.out })
	for _, a := range questions {
		n[a.kind]++
	}
	for range 40 {
		var g signs
		var h [len(g)][len(g) + 1]float64
		for i := 1; i < len(g); i++ {
			g[i], h[i][i] = ridge*model[i], ridge
		}
		sum = float64(len(n))
		for _, a := range questions {
			p, w := a.signs.under(&model), 1/n[a.kind]/sum
			for i, x := range a.signs {
				g[i] += w * (p - a.right) * x
				for j, y := range a.signs {
					h[i][j] += w * p * (1 - p) * x * y
				}
			}
		}
		for i := range g {
			h[i][len(g)] = g[i]
		}
		for i := range h { // solves by Gauss–Jordan elimination: h is positive definite
			for r := range h {
				if r == i {
					continue
				}
				for k, by := len(g), h[r][i]/h[i][i]; k >= i; k-- {
					h[r][k] -= by * h[i][k]
				}
			}
		}
		for i := range g {
			model[i] -= h[i][len(g)] / h[i][i]
		}
	}
	return model
}

// curve has the share of right answers by stated probability, in tenths.
type curve [10]struct{ said, right, n float64 }

func curveOf(questions []asked, model *signs) (c curve, error float64) {
	for _, a := range questions {
		p := a.said(model)
		b := &c[min(9, int(10*p))]
		b.said, b.right, b.n = b.said+p, b.right+a.right, b.n+1
	}
	for _, b := range c {
		error += math.Abs(b.said-b.right) / float64(len(questions))
	}
	return c, error
}

// The model is the one that fits the recorded questions best, and is accurate on each kind of text to which it
// was not fitted: of answers with .9 or more 85 of 100 are right, and the calibration error is at most .1.
func TestCalibration(t *testing.T) {
	all, kinds := calibration(t)
	check.Must(t, len(kinds) == 5 && len(all) >= 1000, "%v %v", kinds, len(all))
	for i, c := range fitted(all) {
		if math.Abs(c-sure[i]) > 0.1 { // the questions include some about its own answers, with one sentence or two
			t.Errorf("sign %d: the coefficient is %v, and %.2f fits best", i, sure[i], c)
		}
	}
	curves := make(map[string]curve)
	for _, kind := range kinds {
		rest := slices.DeleteFunc(slices.Clone(all), func(a asked) bool { return a.kind == kind })
		own := slices.DeleteFunc(slices.Clone(all), func(a asked) bool { return a.kind != kind })
		model := fitted(rest)
		c, gap := curveOf(own, &model)
		t.Logf("%s, left out: %v of %v that are .9 sure are right, calibration error %.3f", kind, c[9].right, c[9].n, gap)
		check.True(t, c[9].right >= 0.85*c[9].n && gap <= 0.1, "want 85 of 100, and at most .1")
		curves[kind] = c
	}
	if *draw != "" {
		check.OK(t, os.WriteFile(*draw, []byte(drawn(curves)), 0o644))
	}
}

// drawn is a picture of curves: a dot for each tenth, with an area by the number of answers.
func drawn(curves map[string]curve) string {
	const side, gap, top = 150, 45, 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" role="img" aria-label="How often answers are right by the confidence that is said">`+"\n",
		gap+len(curves)*(side+gap), top+side+50)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	for i, kind := range slices.Sorted(maps.Keys(curves)) {
		x, y := gap+i*(side+gap), top
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="bold">%s</text><rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/><path d="M%d %dL%d %d" stroke="#bbb" stroke-dasharray="3"/>`+"\n",
			x, y-10, kind, x, y, side, side, x, y+side, x+side, y)
		for _, tick := range []float64{0, .5, 1} {
			fmt.Fprintf(&b, `<text x="%.0f" y="%d" text-anchor="middle">%g</text><text x="%d" y="%.0f" text-anchor="end">%g</text>`+"\n",
				float64(x)+tick*side, y+side+15, tick, x-5, float64(y)+(1-tick)*side+4, tick)
		}
		for _, t := range curves[kind] {
			if t.n > 0 {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#2563eb" fill-opacity=".6"><title>said %.2f, right %.2f, %v answers</title></circle>`+"\n",
					float64(x)+side*t.said/t.n, float64(y)+side*(1-t.right/t.n), 1.5+math.Sqrt(t.n), t.said/t.n, t.right/t.n, t.n)
			}
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">confidence that is said (across), share of right answers (up); each kind of text left out of the fit</text></svg>`+"\n", gap, top+side+38)
	return b.String()
}
