// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/internal/check"
)

const hostile = "Fram</script><img src=x onerror=alert(1)>\u202egnp.exe\x1b[2J"

var chunks = map[string][]graphrag.Chunk{
	"fram.md":   {{ID: "fram.md#0", Doc: "fram.md", Title: "The Fram", Text: "It is old. Colin Archer built the\nFram in 1892. Nansen sailed."}},
	"larvik.md": {{ID: "larvik.md#0", Doc: "larvik.md", Text: "Larvik is a town."}},
	"evil.md":   {{ID: "evil.md#0", Doc: "evil.md", Title: hostile, Text: hostile + " is evil."}},
}

func knowledge(t testing.TB) *kg.Graph {
	t.Helper()
	base, err := kg.NewBase(kg.Options{})
	check.OK(t, err)
	fact := func(head, relation, tail string) kg.Fact {
		return kg.Fact{Triple: graphrag.Triple{Head: head, Relation: relation, Tail: tail}}
	}
	err = base.Insert(
		kg.Extraction{Chunk: "fram.md#0", Doc: "fram.md", Mentions: []kg.Mention{{Name: "Fram", Type: "ship", Description: "A polar ship."}},
			Facts: []kg.Fact{fact("Colin Archer", "built", "Fram"), fact("Nansen", "sailed with", "Fram")}},
		kg.Extraction{Chunk: "larvik.md#0", Doc: "larvik.md", Facts: []kg.Fact{fact("Colin Archer", "was born in", "Larvik"), fact("Larvik", "is like", "Larvik")}},
		kg.Extraction{Chunk: "evil.md#0", Doc: "evil.md", Facts: []kg.Fact{fact(hostile, hostile, "Elsewhere")}},
	)
	check.OK(t, err)
	return check.Of(base.Graph(t.Context())).OK(t)
}

func of(doc string) ([]graphrag.Chunk, bool) { return chunks[doc], chunks[doc] != nil }

func page(t testing.TB, o view.Options) string {
	t.Helper()
	v := check.Of(view.New(t.Context(), knowledge(t), o)).OK(t)
	var b strings.Builder
	check.OK(t, v.WriteHTML(&b))
	return b.String()
}

// piece returns a packed part of a page.
func piece[T any](t testing.TB, page string, n int) (out T) {
	t.Helper()
	m := regexp.MustCompile(fmt.Sprintf(`id="piece%d">([^<]*)<`, n)).FindStringSubmatch(page)
	check.Must(t, m != nil, "no piece %d", n)
	check.OK(t, json.NewDecoder(check.Of(gzip.NewReader(bytes.NewReader(check.Of(base64.StdEncoding.DecodeString(m[1])).OK(t)))).OK(t)).Decode(&out))
	return out
}

type drawn struct {
	Names, Communities []string
	X, Y, Mark         []int
	Community          []int
	From, To           []int
	Question           string
}

type told struct {
	Kinds, Pages []string
	About        [][]string
	Facts        []struct {
		H, T, P int
		L, S    string
		R       bool
	}
}

// Every fact has the sentence that names both ends, and the sentence's page.
func TestFacts(t *testing.T) {
	html := page(t, view.Options{Title: "Ships", Chunks: of})
	d, s := piece[drawn](t, html, 0), piece[told](t, html, 1)
	var lines []string
	for _, f := range s.Facts {
		lines = append(lines, fmt.Sprintf("%s | %s | %s | %s | %s", d.Names[f.H], f.L, d.Names[f.T], f.S, s.Pages[f.P]))
	}
	for _, want := range []string{
		"Colin Archer | built | Fram | Colin Archer built the Fram in 1892. | The Fram · fram.md",
		"Nansen | sailed with | Fram | Colin Archer built the Fram in 1892. | The Fram · fram.md", // no sentence names more than one end
		"Colin Archer | was born in | Larvik | Larvik is a town. | larvik.md",
	} {
		check.True(t, slices.Contains(lines, want), "no %s in\n%s", want, strings.Join(lines, "\n"))
	}
	if len(s.Facts) != 4 || len(d.Names) != 6 || len(d.From) != 4 { // texts about a single entity are not shown
		t.Errorf("%d facts, %d names, %d edges", len(s.Facts), len(d.Names), len(d.From))
	}
	fram := slices.Index(d.Names, "Fram")
	check.True(t, s.Kinds[fram] == "ship" && s.About[fram][0] == "A polar ship.", "of the Fram: %q %q", s.Kinds[fram], s.About[fram])
	a, b := slices.Index(d.Names, "Colin Archer"), slices.Index(d.Names, "Elsewhere")
	check.True(t, d.Community[a] != d.Community[b], "names that nothing joins are of one community")
	bare := piece[told](t, page(t, view.Options{}), 1)
	check.True(t, bare.Facts[0].S == "" && slices.Contains(bare.Pages, "fram.md"), "without chunks: %+v %q", bare.Facts[0], bare.Pages)
}

// Texts from outside are never markup, control nothing, and are cut.
func TestHostile(t *testing.T) {
	html := page(t, view.Options{Title: hostile, Chunks: of})
	check.True(t, !strings.Contains(html, "<img") && !strings.Contains(html, "\u202e"), "a title is markup")
	d, s := piece[drawn](t, html, 0), piece[told](t, html, 1)
	for _, text := range slices.Concat(d.Names, d.Communities, s.Pages, []string{s.Facts[0].S, s.Facts[1].S, s.Facts[2].S, s.Facts[3].S}) {
		check.True(t, !strings.ContainsAny(text, "\u202e\x1b\n") && len(text) <= 1000, "%q", text)
	}
}

// The content policy names every script and style by its hash, and permits nothing else.
func TestPolicy(t *testing.T) {
	html := page(t, view.Options{})
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(html)[1]
	policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
	check.True(t, strings.HasPrefix(policy, "default-src 'none'; ") && !strings.Contains(policy, "unsafe") &&
		!strings.Contains(policy, "http"), "policy %s", policy)
	count := 0
	for _, m := range regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(html, -1) {
		sum := sha256.Sum256([]byte(m[1]))
		if count++; !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not allow %.60q", m[1])
		}
	}
	check.Equal(t, count, 4, "scripts and styles, want three and one")
}

// For a question it shows what was found first, and the neighbours of that.
func TestAsked(t *testing.T) {
	hit := graphrag.Hit{Chunk: chunks["larvik.md"][0]}
	html := page(t, view.Options{Chunks: of, Asked: &view.Asked{Question: "Where was he born?", Answer: "In Larvik.", Found: graphrag.Found{
		Ranked: []graphrag.Hit{hit}, Steps: []graphrag.Step{{Kind: "facts", Found: []string{"Colin Archer was born in Larvik"}}},
	}}})
	d, s := piece[drawn](t, html, 0), piece[told](t, html, 1)
	trailMarks := make(map[string]int)
	for i, name := range d.Names {
		trailMarks[name] = d.Mark[i]
	}
	check.True(t, len(trailMarks) == 3 && trailMarks["Colin Archer"] == 100 && trailMarks["Larvik"] == 100 &&
		trailMarks["Fram"] == 0 && d.Question == "Where was he born?", "%v, %q", trailMarks, d.Question)
	read := 0
	for _, f := range s.Facts {
		if f.R {
			read++
			check.Equal(t, f.L, "was born in", "read: %+v", f)
		}
	}
	check.Equal(t, read, 1, "facts were read")
	nothing := piece[drawn](t, page(t, view.Options{Asked: &view.Asked{Question: "Who?"}}), 0)
	check.Equal(t, len(nothing.Names), 0, "of nothing found: %q", nothing.Names)
}

// Equal graphs give equal files, and pictures that are valid XML.
func TestEqualBytes(t *testing.T) {
	check.Equal(t, page(t, view.Options{Chunks: of}), page(t, view.Options{Chunks: of}), "two pages of one graph differ")
	v := check.Of(view.New(t.Context(), knowledge(t), view.Options{Title: hostile})).OK(t)
	var b bytes.Buffer
	check.OK(t, v.WriteSVG(&b))
	count := make(map[string]int)
	for in := xml.NewDecoder(&b); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		check.OK(t, err)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	check.True(t, count["circle"] == 6 && count["path"] == 4 && count["text"] == 6, "%v", count)
}

// No name in a picture covers another one: letters are at least 6 wide.
func TestNamesStandFree(t *testing.T) {
	base, err := kg.NewBase(kg.Options{})
	for i := range 60 {
		err = errors.Join(err, base.Insert(kg.Extraction{Chunk: fmt.Sprint(i), Doc: "a", Facts: []kg.Fact{{Triple: graphrag.Triple{Head: "Hub", Relation: "has", Tail: fmt.Sprintf("A name that is long, of number %d", i)}}}}))
	}
	g, err2 := base.Graph(t.Context())
	v, err3 := view.New(t.Context(), g, view.Options{})
	var b bytes.Buffer
	check.OK(t, errors.Join(err, err2, err3, v.WriteSVG(&b)))
	type name struct{ x, y, half float64 }
	var names []name
	for _, m := range regexp.MustCompile(`<text x="(\S+)" y="(\S+)">([^<]+)`).FindAllStringSubmatch(b.String(), -1) {
		n := name{half: 3 * float64(len(m[3]))}
		check.OK(t, check.Err(fmt.Sscan(m[1]+" "+m[2], &n.x, &n.y)))
		for _, o := range names {
			check.True(t, math.Abs(n.x-o.x) >= n.half+o.half || math.Abs(n.y-o.y) >= 12,
				"%s lies on another name", m[3])
		}
		names = append(names, n)
	}
	check.True(t, len(names) >= 8, "%d names in all", len(names))
}

func TestLimitsAndErrors(t *testing.T) {
	g := knowledge(t)
	v, err := view.New(t.Context(), g, view.Options{MaxNodes: 2})
	check.OK(t, err)
	var b strings.Builder
	check.OK(t, v.WriteHTML(&b))
	if d := piece[drawn](t, b.String(), 0); strings.Join(d.Names, ", ") != "Colin Archer, Fram" || !strings.Contains(b.String(), "2 entities, 1 fact, of 6 entities in all") {
		t.Errorf("%q", d.Names)
	}
	_, err = view.New(t.Context(), nil, view.Options{})
	check.Fails(t, err, "no graph")
	_, err = view.New(t.Context(), g, view.Options{MaxNodes: -1})
	check.Fails(t, err, "MaxNodes")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(view.New(gone, g, view.Options{})), context.Canceled)
	full := errors.New("full")
	for _, write := range []func(io.Writer) error{v.WriteHTML, v.WriteSVG} {
		check.Is(t, write(failing{full}), full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A graph as one page. For a system call view.New(ctx, system.Graph(), …) with a Chunks that calls system.Get.
func Example() {
	ctx := context.Background()
	base, _ := kg.NewBase(kg.Options{})
	err := base.Insert(kg.Extraction{Chunk: "fram.md#0", Doc: "fram.md", Facts: []kg.Fact{
		{Triple: graphrag.Triple{Head: "Colin Archer", Relation: "built", Tail: "Fram"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, _ := base.Graph(ctx)
	v, err := view.New(ctx, g, view.Options{Title: "Ships", Chunks: func(doc string) ([]graphrag.Chunk, bool) {
		return []graphrag.Chunk{{ID: doc + "#0", Doc: doc, Text: "Colin Archer built the Fram."}}, true
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	fmt.Println(v.WriteHTML(&page), bytes.Contains(page.Bytes(), []byte("<h1>Ships</h1>")))
	// Output: <nil> true
}
