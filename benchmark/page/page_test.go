// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

var update = flag.Bool("update", false, "write the golden file")

func share(f float64) *float64 { return &f }

// small is a run of two systems and three questions, one of which was not asked yet.
func small() *page.Page {
	value := func(mean float64) page.Value {
		return page.Value{Mean: share(mean), Low: share(mean - .1), High: share(mean + .1)}
	}
	return &page.Page{
		Title: "Zoo", Summary: "2 systems and 3 questions.", Verdict: "fox leads.", Certainty: "95 % interval 40.0 to 60.0.",
		Run: &page.Run{
			Systems:  []page.System{{Name: "fox"}, {Name: "owl", Note: "too much failed"}},
			Domains:  []string{"birds", "fish"},
			Types:    []page.Type{{Title: "Fact", Fact: true}, {Title: "Overview"}},
			Measures: []page.Measure{{Key: "recall", Title: "Recall", Help: "Share.", Class: []string{"level", "certain"}, Values: [][][]page.Value{{{value(.5), {}}, {value(.25), {Mean: share(1.0 / 3)}}}}}},
			Questions: []page.Question{
				{ID: "1", Text: "Who?", Statements: []string{"The fox."}, Gold: [][]string{{"a.md", "b.md"}}, Answers: []page.Answer{
					{
						State: page.Right, Score: share(1), Found: share(.004), Reason: "same", Text: "It is the fox. So it is.",
						Citations: []page.Citation{{Start: 0, End: 14, Passage: 0}, {Start: 10, End: 99, Passage: 1}, {Start: 0, End: 3, Passage: 7}},
						Ranked:    []record.Ranked{{Chunk: "a.md#0", Doc: "a.md", Score: 2}},
						Passages:  []page.Passage{{Doc: "a.md", Tokens: 5, Text: "Here is the fox.", Quotes: [][2]int{{8, 15}}}, {Docs: []string{"a.md"}}},
						Steps:     []graphrag.Step{{Kind: "search", Query: "fox"}}, Costs: page.Costs{Context: 5, Millis: 2.6},
					},
					{State: page.Refused, Found: share(0), Costs: page.Costs{Context: -1}},
				}},
				{ID: "2", Domain: 1, Type: 1, Text: "What?", Answers: []page.Answer{
					{State: page.Scored, Score: share(.4), Predicted: []string{"x", "y"}, Matches: [][2]int{{0, 1}}}, {State: page.Failed, Reason: "no reply"},
				}},
				{ID: "3", Text: "When?", Answers: []page.Answer{{}, {State: page.Pending}}},
			},
		},
		Tables:   []page.Table{{Title: "Main", Heading: "System", Groups: []page.Group{{Columns: []string{"R"}}}, Rows: []page.Row{{Name: "fox", Cells: []page.Cell{{Text: "50.00", Best: true, Interval: "40–60"}}}}, Charts: []page.Chart{{Title: "Lines", X: "k", Lines: []page.Line{{Name: "fox", Points: []page.Point{{X: 2, Y: 50}}}}}}}},
		Settings: []page.Setting{{Name: "kit", Value: "offline"}},
		Help:     map[string]string{"r": "Recall."},
	}
}

func write(t *testing.T, p *page.Page) string {
	t.Helper()
	var b bytes.Buffer
	check.OK(t, p.Write(&b))
	return b.String()
}

// element is an element of a page with its text.
type element struct {
	name, text string
	attr       map[string]string
}

func elements(t *testing.T, file string) []element {
	t.Helper()
	var out []element
	open := false
	for z := html.NewTokenizer(strings.NewReader(file)); ; {
		switch z.Next() {
		case html.ErrorToken:
			check.Must(t, errors.Is(z.Err(), io.EOF), "%v", z.Err())
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			e := element{name: tag.Data, attr: make(map[string]string)}
			for _, a := range tag.Attr {
				e.attr[a.Key] = a.Val
			}
			out, open = append(out, e), true
		case html.EndTagToken:
			open = false
		case html.TextToken:
			if open {
				out[len(out)-1].text += string(z.Text())
			}
		}
	}
}

// unpack is the text of the piece with an ID.
func unpack(t *testing.T, file, id string) string {
	t.Helper()
	for _, e := range elements(t, file) {
		if e.name != "script" || e.attr["id"] != id {
			continue
		}
		packed := check.Of(base64.StdEncoding.DecodeString(e.text)).OK(t)
		z := check.Of(gzip.NewReader(bytes.NewReader(packed))).OK(t)
		text := check.Of(io.ReadAll(z)).OK(t)
		return string(text)
	}
	return ""
}

// The page's program reads the same data that was written, and the bytes are equal each time.
func TestData(t *testing.T) {
	file := write(t, small())
	check.Equal(t, file, write(t, small()), "two pages of the same run differ")
	var got bytes.Buffer
	for _, id := range []string{"index", "piece0"} {
		check.OK(t, json.Indent(&got, []byte(unpack(t, file, id)), "", " "))
		got.WriteByte('\n')
	}
	const golden = "testdata/data.json"
	if *update {
		check.OK(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	check.Equal(t, got.String(), string(check.Of(os.ReadFile(golden)).OK(t)))
}

// The content policy names every script and style of the page, and permits nothing else.
func TestPolicy(t *testing.T) {
	file := write(t, small())
	policy, scripts := "", 0
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	for _, e := range elements(t, file) {
		switch {
		case e.attr["http-equiv"] == "Content-Security-Policy":
			policy = e.attr["content"]
		case e.name == "style" && !strings.Contains(policy, "style-src 'sha256-"+hash(e.text)+"'"):
			t.Error("the style is not in the policy")
		case e.name == "script" && e.attr["type"] == "":
			scripts++
			check.Contains(t, policy, "'sha256-"+hash(e.text)+"'", "the script is not in the policy")
		}
		for key, value := range e.attr {
			check.True(t, !strings.HasPrefix(key, "on") && key != "style" && key != "src" &&
				(key != "href" || value[0] == '#' || value == "data:,"), "<%s %s=%q>", e.name, key, value)
		}
	}
	check.True(t, scripts == 1 && strings.HasPrefix(policy, "default-src 'none';") &&
		!strings.Contains(policy, "unsafe"), "%d scripts, policy %s", scripts, policy)
	for _, id := range []string{"library0", "library1"} {
		check.Contains(t, policy, hash(unpack(t, file, id)), "%s is not in the policy", id)
	}
}

const evil = "</script></td><img src=x onerror=alert(1)><script>alert(1)</script>\x00\xff\x1b[31m\u202e\u2066' \"=1+1"

// hostile is a run with a hostile text in every field.
func hostile() *page.Page {
	p := small()
	p.Title, p.Summary, p.Strong, p.Note, p.Verdict, p.Certainty, p.Remarks = evil, evil, evil, evil, evil, evil, []string{evil}
	p.Settings, p.Help = []page.Setting{{Name: evil, Value: evil}}, map[string]string{evil: evil}
	r := p.Run
	r.Systems[0].Name, r.Systems[0].Note, r.Domains[0], r.Types[0].Title = evil, evil, evil, evil
	r.Measures[0].Title, r.Measures[0].Help, r.Measures[0].Key = evil, evil, evil
	q := &r.Questions[0]
	q.ID, q.Text, q.Statements, q.Gold = evil, evil, []string{evil}, [][]string{{evil}}
	a := &q.Answers[0]
	a.Text, a.Reason, a.Verdict, a.Predicted = strings.Repeat(evil, 20_000), evil, evil, []string{evil}
	a.Citations = []page.Citation{{Start: -5, End: 1 << 30, Passage: 0}, {Start: 3, End: 1}}
	a.Ranked = slices.Repeat([]record.Ranked{{Chunk: evil, Doc: evil}}, 5_000)
	a.Passages[0] = page.Passage{Doc: evil, Chunk: evil, Docs: []string{evil}, Text: strings.Repeat("\xff", 2<<20), Quotes: [][2]int{{7, 1 << 30}}}
	a.Steps = slices.Repeat([]graphrag.Step{{Kind: evil, Query: evil, Found: slices.Repeat([]string{evil}, 5_000)}}, 500)
	t := &p.Tables[0]
	t.Title, t.Heading, t.Notes, t.Groups[0] = evil, evil, []string{evil}, page.Group{Heading: evil, Columns: []string{evil}}
	t.Rows = []page.Row{{Name: evil, Cells: []page.Cell{{Text: evil, Interval: evil}}}}
	t.Charts = []page.Chart{{Title: evil, X: evil, Lines: []page.Line{{Name: evil}}}}
	return p
}

func TestHostile(t *testing.T) {
	file := write(t, hostile())
	plain := write(t, small())
	counts := func(file string) map[string]int {
		n := make(map[string]int)
		for _, e := range elements(t, file) {
			n[e.name]++
		}
		return n
	}
	got, want := counts(file), counts(plain)
	for _, tag := range []string{"script", "img", "iframe", "style", "link", "meta"} {
		check.Equal(t, got[tag], want[tag], "%d <%s>", got[tag], tag)
	}
	for name, text := range map[string]string{"page": file, "index": unpack(t, file, "index"), "details": unpack(t, file, "piece0")} {
		for _, r := range text {
			if r != '\n' && r != '\t' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf) {
				t.Errorf("the %s holds %q", name, r)
				break
			}
		}
	}
	more := len(file) - len(plain)
	check.True(t, more <= 100_000, "bad texts make the page %d bytes longer", more)
}

// A page of 6,000 answers stays small.
func TestSize(t *testing.T) {
	p := small()
	value := p.Run.Questions[0].Answers[0]
	p.Run.Questions = nil
	for i := range 1_000 {
		q := page.Question{ID: fmt.Sprint(i), Text: fmt.Sprint("What is number ", i, "?"), Answers: make([]page.Answer, 6)}
		for s := range q.Answers {
			a := value
			a.Text = prose(i*6+s, 60)
			a.Passages = nil
			for n := range 8 {
				a.Passages = append(a.Passages, page.Passage{Doc: fmt.Sprint("page ", i+n), Text: prose(i*8+n, 70)})
			}
			q.Answers[s] = a
		}
		p.Run.Questions = append(p.Run.Questions, q)
	}
	p.Run.Systems = slices.Repeat([]page.System{{Name: "fox"}}, 6)
	file := write(t, p)
	check.True(t, len(file) <= 8<<20, "%d bytes", len(file))
	t.Logf("%d bytes for 6,000 answers", len(file))
}

// prose returns a text of some words, a different one for every seed.
func prose(seed, words int) string {
	var b strings.Builder
	x := uint32(seed)*2654435761 + 1
	for range words {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&b, "%s%s ", syllables[x>>28], syllables[x>>24&15])
	}
	return b.String()
}

var syllables = strings.Fields("ka lo mi ra ten dor sel um bri fa gos hin jal ked nop vu")

func TestWriteFails(t *testing.T) {
	check.Is(t, small().Write(broken{}), io.ErrShortWrite)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A page of one system and one question.
func Example() {
	p := page.Page{
		Title: "Owls", Verdict: "bm25 answers the only question.",
		Run: &page.Run{
			Systems: []page.System{{Name: "bm25"}}, Domains: []string{"birds"}, Types: []page.Type{{Title: "Fact", Fact: true}},
			Questions: []page.Question{{
				ID: "1", Text: "How do barn owls hunt?", Statements: []string{"By ear."},
				Answers: []page.Answer{{State: page.Right, Text: "By ear."}},
			}},
		},
	}
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(file.String(), "<h1>bm25 answers the only question.</h1>"))
	// Output: true
}
