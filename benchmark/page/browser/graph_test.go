// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/internal/check"
)

// saveView writes the page of a graph into a file.
func saveView(t *testing.T, extractions []kg.Extraction, o view.Options) string {
	t.Helper()
	base := check.Of(kg.NewBase(kg.Options{})).OK(t)
	check.OK(t, base.Insert(extractions...))
	g := check.Of(base.Graph(t.Context())).OK(t)
	v := check.Of(view.New(t.Context(), g, o)).OK(t)
	name := filepath.Join(t.TempDir(), "graph.html")
	f := check.Of(os.Create(name)).OK(t)
	defer f.Close()
	check.OK(t, v.WriteHTML(f))
	return name
}

const unkind = `<img src=x onerror="alert(1)"></script>`

// ships are facts of a small graph, some of them unkind.
func ships() []kg.Extraction {
	fact := func(head, relation, tail string) kg.Fact {
		return kg.Fact{Triple: graphrag.Triple{Head: head, Relation: relation, Tail: tail}}
	}
	return []kg.Extraction{
		{Chunk: "fram.md#0", Doc: "fram.md", Facts: []kg.Fact{fact("Colin Archer", "built", "Fram"), fact("Nansen", "sailed with", "Fram")}},
		{Chunk: "larvik.md#0", Doc: "larvik.md", Facts: []kg.Fact{fact("Colin Archer", "was born in", "Larvik"), fact("Larvik", unkind, unkind)}},
	}
}

func shipChunks(doc string) ([]graphrag.Chunk, bool) {
	return []graphrag.Chunk{{ID: doc + "#0", Doc: doc, Title: "Title of " + doc, Text: "Colin Archer built the Fram. " + unkind + " is said of Larvik."}}, true
}

// typed puts text into a field as hands do.
func typed(t *tab, selector, text string) {
	t.Helper()
	t.do(chromedp.SendKeys(selector, text))
}

// A name is searched for, read, followed to its neighbours and along a path; whatever is
// written in the graph is text.
func TestGraph(t *testing.T) {
	for _, s := range []screen{wide, phone, {width: 1400, height: 1000, dark: true}} {
		tab := open(t, saveView(t, ships(), view.Options{Title: "Ships", Chunks: shipChunks}), "", s)
		if n := eval[int](tab, `document.querySelectorAll("#stage canvas").length`); n == 0 {
			t.Fatalf("nothing is drawn: %s", tab.text("#message"))
		}
		typed(tab, "#search", "archer")
		tab.until(`!document.querySelector("#matches").hidden`)
		tab.click("#matches li")
		tab.opened()
		if said := tab.text("#panel"); !strings.Contains(said, "Colin Archer built Fram") || !strings.Contains(said, "Title of fram.md · fram.md") || !strings.Contains(said, "2 neighbours") {
			t.Errorf("of Colin Archer:\n%s", said)
		}
		tab.named("#panel .triple", "Larvik")
		tab.until(`document.querySelector("#panel h2").textContent === "Larvik"`)
		check.Contains(t, tab.text("#panel"), unkind, "of Larvik:\n")
		check.Equal(t, eval[int](tab, `document.querySelectorAll("img").length`), 0, "a text is markup")
		typed(tab, "#panel input", "nansen")
		tab.until(`document.querySelector("#panel .matches li")`)
		tab.click("#panel .matches li")
		path := eval[string](tab, `[...document.querySelectorAll(".path li")].map((n) => n.textContent).join(" > ")`)
		check.Equal(t, path, "Larvik > Colin Archer > Fram > Nansen", "the path")
		for button, kind := range map[string]string{"#png": "image/png", "#svg": "image/svg+xml"} {
			made := eval[string](tab, fmt.Sprintf(`new Promise((f) => {
				const make = URL.createObjectURL;
				URL.createObjectURL = (blob) => { blob.text().then((text) => f(blob.type + " " + blob.size + " " + text.slice(0, 1e6))); URL.createObjectURL = make; return "#"; };
				document.querySelector(%q).click();
			})`, button))
			if !strings.HasPrefix(made, kind+" ") || len(made) < 500 || kind == "image/svg+xml" && !strings.Contains(made, ">Colin Archer</text>") {
				t.Errorf("%s makes %.900s", button, made)
			}
		}
		tab.click(".close")
		tab.until(`document.querySelector("#panel").hidden`)
	}
}

// A graph as large as a page takes answers at once; the times depend on the machine, and
// here a processor draws.
func TestLargeGraph(t *testing.T) {
	const nodes, groups, facts = 20_000, 80, 60_000
	r := rand.New(rand.NewPCG(1, 2))
	var all []kg.Extraction
	for i := range facts / 10 {
		x := kg.Extraction{Chunk: fmt.Sprintf("%d#0", i), Doc: fmt.Sprint(i)}
		for j := range 10 {
			pick := func() string {
				group := i % groups
				if r.IntN(12) == 0 {
					group = r.IntN(groups)
				}
				return fmt.Sprintf("Name %d of %d", r.IntN(nodes/groups), group)
			}
			x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: pick(), Relation: fmt.Sprint("knows ", j), Tail: pick()}})
		}
		all = append(all, x)
	}
	tab := open(t, saveView(t, all, view.Options{Title: "Large"}), "", wide)
	tab.until(`document.querySelector("#stage canvas")`)
	t.Log(tab.text("header p"), "· usable", eval[float64](tab, `performance.now() | 0`), "ms after the start")
	frames := eval[float64](tab, `(async () => {
		const stage = document.querySelector("#stage canvas.sigma-mouse"), at = (type, x) => stage.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: 500, bubbles: true }));
		const frame = () => new Promise((f) => requestAnimationFrame(f));
		at("mousedown", 700);
		const start = performance.now();
		for (let i = 0; i < 40; i++) { document.dispatchEvent(new MouseEvent("mousemove", { clientX: 700 + 4 * i, clientY: 500, bubbles: true })); await frame(); }
		at("mouseup", 860);
		return (performance.now() - start) / 40;
	})()`)
	t.Logf("moving: %.1f ms a frame", frames)
	typed(tab, "#search", "Name 7 of 7")
	tab.until(`!document.querySelector("#matches").hidden`)
	tab.click("#matches li")
	tab.opened()
	said := tab.text("#panel")
	check.True(t, strings.Contains(said, "Name 7 of 7") && strings.Contains(said, "facts"), "%.300s", said)
}
