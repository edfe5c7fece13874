// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var pictures = flag.String("pictures", "", "the folder for pictures, of a report on the shipped sample too")

// serving serves a session until the test ends, and returns the address of its page.
func serving(t *testing.T, d *session.Session) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- session.Serve(ctx, d, "127.0.0.1:0", nil, func(url string) { ready <- url }) }()
	select {
	case address = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		err := <-ended
		check.OK(t, err)
	})
	return address
}

// asking opens the page of ask in a tab and waits for its first screen.
func asking(t *testing.T, address, state string, s screen) *tab {
	t.Helper()
	tab := visit(t, address, state, s)
	tab.until(`document.querySelector("#about").textContent !== ""`)
	return tab
}

// ask types a question and waits for the complete answer.
func (t *tab) ask(question string) {
	t.Helper()
	typed(t, "#question", question)
	t.click("#send")
	t.answered()
}

func (t *tab) answered() {
	t.Helper()
	t.until(`document.querySelector(".turn") && !document.querySelector("#send").disabled && !document.querySelector("[aria-busy]")`)
}

// narrow checks that nothing is wider than the screen.
func (t *tab) narrow(what string) {
	t.Helper()
	check.True(t, !eval[bool](t, `document.documentElement.scrollWidth > innerWidth`),
		"%s: the page is wider than the screen", what)
}

// picture saves a picture of the tab in the folder of -pictures.
func (t *tab) picture(name string, s screen) {
	t.Helper()
	t.narrow(name)
	accessible(t, name)
	if *pictures == "" {
		return
	}
	call(t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(s.width), Height: int64(s.height), DeviceScaleFactor: 1, Mobile: s.width < 700})
	data, err := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, fmt.Sprintf("%s-%d.png", name, s.width)), data, 0o644)
	}
	check.OK(t, err)
}

// manual are files such as a colleague may have.
var manual = map[string]string{
	"router.md": "---\nteam: home\nyear: 2024\n---\n# The router\n\nA router is a box that joins the network of a house to the line of the provider.\n\n## What does the light say?\n\nThe light on the front says how the line is.\n\n| Light | Meaning |\n|---|---|\n| green | the line is **up** |\n| red | no internet: call the [provider](https://example.org/help) |\n\n## Resetting it\n\n1. Hold `RESET` for ten seconds.\n2. Wait until the light is green.\n",
	"owl.md":    "---\nteam: birds\nyear: 2019\n---\n# Owls\n\nThe barn owl hears a mouse under the snow.\n\nOwls are birds that hunt at night.\n",
	"ada.txt":   "Ada Lovelace (1815-1852) was an English mathematician. Charles Babbage designed the Analytical Engine. " + strings.Repeat("Ada Lovelace wrote notes about the engine of a friend.\n", 200),
}

// The page of ask on every screen: answered questions with the quoted words, the file around them, a refusal, a
// condition, and no request to another host.
func TestAsk(t *testing.T) {
	address := serving(t, sessiontest.OpenFiles(t, manual, "hipporag2"))
	dark := phone
	dark.dark = true
	for name, s := range map[string]screen{"wide": {width: 1200, height: 860}, "phone": phone, "dark phone": dark} {
		show := name
		if !s.dark {
			show = ""
		}
		tab := asking(t, address, "", s)
		tab.until(`document.querySelectorAll("#suggestions a").length > 2`)
		tab.picture("ask-first"+show, s)
		tab.click("#suggestions a")
		tab.answered()
		check.True(t, eval[int](tab, `document.querySelectorAll(".turn .sources mark").length`) != 0, "%s: a question of the first screen has no quote", name)
		tab.click("#new")
		tab.ask("What does a red light mean?")
		tab.until(`document.querySelector("#turns details")`) // waits for the list of facts
		tab.picture("ask-answer"+show, s)
		if got := tab.text(".sources td mark"); !strings.Contains(got, "red") || eval[int](tab, `document.querySelectorAll(".sources th").length`) < 2 {
			t.Errorf("%s: the row is not lit in its table: %q", name, got)
		}
		tab.click(".place")
		tab.until(`document.querySelector(".file mark")`)
		tab.picture("ask-source"+show, s)
		got := tab.text(".file")
		check.True(t, strings.Contains(got, "Hold RESET for ten seconds") && !strings.Contains(got, "**"), "%s: the file reads %q", name, got)
		tab.click(".place")
		tab.until(`!document.querySelector(".file")`)
		tab.ask("Who is " + unkind + "?")
		tab.until(`document.querySelectorAll("#turns > *").length >= 2`)
		tab.click("#new")
		tab.click("#only summary")
		typed(tab, "#where", `taem = "home"`)
		typed(tab, "#question", "What does a red light mean?")
		tab.click("#send")
		tab.until(`document.querySelector("#where").getAttribute("aria-invalid") === "true"`)
		tab.picture("ask-condition"+show, s)
		check.Contains(t, tab.text("#matching"), `no file has the field "taem"; the fields are folder, kind, modified, team, year`,
			"%s: a wrong condition", name)
		check.True(t, eval[int](tab, `document.querySelectorAll(".turn").length`) <= 0, "%s: it was asked all the same", name)
	}
}

// A question with its condition has an address: back and forward show earlier turns without asking again, a
// reload asks again, a link asks at once.
func TestAskAddress(t *testing.T) {
	address := serving(t, sessiontest.OpenFiles(t, manual, "wild"))
	tab := asking(t, address, "?"+url.Values{"q": {"What does the barn owl hear?"}, "where": {`team = "birds"`}}.Encode(), wide)
	tab.answered()
	if got := tab.text(".turn .answer"); !strings.Contains(got, "hears a mouse") || tab.text("#matching") == "" && eval[bool](tab, `document.querySelector("#only").open`) {
		t.Errorf("a link: %q", got)
	}
	eval[chromedp.Void](tab, `window.kept = document.querySelector(".turn"); history.length`)
	typed(tab, "#question", "What does a red light mean?")
	eval[chromedp.Void](tab, `document.querySelector("#where").value = ""`)
	tab.click("#send")
	tab.until(`document.querySelectorAll(".turn").length === 2 && !document.querySelector("[aria-busy]")`)
	check.Equal(t, eval[string](tab, `location.search`), "?q=What+does+a+red+light+mean%3F", "the address")
	eval[chromedp.Void](tab, `history.back()`)
	tab.until(`document.querySelectorAll(".turn").length === 1 && document.querySelector(".turn") === kept && document.querySelector("#where").value === 'team = "birds"'`)
	eval[chromedp.Void](tab, `history.forward()`)
	tab.until(`document.querySelectorAll(".turn").length === 2 && document.querySelector("#where").value === ""`)
	eval[chromedp.Void](tab, `location.reload()`)
	tab.until(`!window.kept && document.querySelectorAll(".turn").length === 1`)
	tab.answered()
	check.Contains(t, tab.text(".turn .answer"), "no internet", "after a reload")
}

// The whole page can be used by keys: the field, the button, the condition, the suggestions, and the places of
// an answer, each of which opens its file next to it.
func TestAskKeyboard(t *testing.T) {
	tab := asking(t, serving(t, sessiontest.OpenFiles(t, manual, "wild")), "", wide)
	tab.until(`document.querySelectorAll("#suggestions a").length > 1`)
	here := func() string {
		return eval[string](tab, `document.activeElement.id || document.activeElement.className || document.activeElement.tagName`)
	}
	order := here()
	for range 3 {
		tab.do(chromedp.KeyEvent("\t"))
		order += " " + here()
	}
	check.Equal(t, order, "question send SUMMARY A", "Tab leads to")
	tab.do(chromedp.KeyEvent("\r"))
	tab.answered()
	check.Equal(t, here(), "question", "after an answer the keys are at")
	for range 4 { // the button, the condition, "Start anew"
		tab.do(chromedp.KeyEvent("\t"))
	}
	got := here()
	check.Must(t, got == "place", "behind the form is %s", got)
	tab.do(chromedp.KeyEvent("\r"))
	tab.until(`document.querySelector(".file mark") && document.activeElement.getAttribute("aria-expanded") === "true"`)
	tab.do(chromedp.KeyEvent("\t"))
	check.Equal(t, here(), "file", "behind a place")
}

// With a model, a link waits for a click, and the reply is shown when it is complete.
func TestAskModel(t *testing.T) {
	shown := make(chan struct{})
	sessiontest.SlowModel(t, shown)
	url := serving(t, sessiontest.Open(t, "wild", "-model", "fake"))
	// The first reply of a model is not streamed, since it may contain reasoning.
	first, err := http.Post(strings.TrimSuffix(url, "/")+"/api/ask", "application/json", strings.NewReader(`{"question":"Who hears mice?"}`))
	check.OK(t, err)
	first.Body.Close()
	tab := asking(t, url, "?q=What+does+the+barn+owl+hear%3F", phone)
	tab.until(`document.querySelector("#wait").textContent.includes("when you press Ask") && document.activeElement.id === "send"`)
	got := eval[string](tab, `document.querySelector("#question").value`)
	check.True(t, got == "What does the barn owl hear?" && tab.text("#turns") == "", "a link has %q in its field, and %q", got, tab.text("#turns"))
	tab.do(chromedp.KeyEvent("\r"))
	tab.until(fmt.Sprintf(`document.querySelector(".answer") && document.querySelector(".answer").textContent.includes(%q)`, strings.TrimSpace(sessiontest.Beginning)))
	got = eval[string](tab, `document.querySelector("#status").textContent + document.querySelector(".turn").getAttribute("aria-busy")`)
	check.Equal(t, got, "Searching the filestrue", "while it is written")
	close(shown)
	tab.answered()
	got = tab.text("#status")
	check.True(t, strings.Contains(got, "below the snow"), "the end is told as %q", got)
}

// Texts and names of files are shown as text, also where Markdown is rendered.
func TestAskHostile(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)><script>window.pwned=1</script>"
	files := map[string]string{
		"<b onclick=alert(1)>.md": "# " + evil + "\n\nThe kestrel hears a vole. It is **" + evil + "** and `" + evil + "` in the [field](javascript:alert(1)) ![x](https://evil.example/x.png).\n\n| " + evil + " |\n|---|\n| " + evil + " |\n",
		"deep.md":                 "The dungeon is " + strings.Repeat("**a *b ", 2000) + strings.Repeat("[", 2000) + strings.Repeat("`", 999) + strings.Repeat("|", 3000) + ".\n",
	}
	tab := asking(t, serving(t, sessiontest.OpenFiles(t, files, "wild")), "?q=What+does+the+kestrel+hear%3F", phone)
	tab.answered()
	tab.click(".place")
	tab.until(`document.querySelector(".file:not(:empty)")`)
	tab.narrow("hostile texts")
	if eval[bool](tab, `"pwned" in window || document.querySelector("main img, main script, main a[href^=javascript], main b") !== null`) {
		t.Error("a text became markup")
	}
	tab.ask("What is the dungeon " + evil + "?")
	if got := eval[string](tab, `(() => { const e = document.createElement("div"); draw(e, "a **b** `+"`c`"+` *d* [e](javascript:x)\n- f\n  1. g\n\n| h | i |\n|--|--|\n| j | k |\n`+"```"+`\n<l>\n`+"```"+`\n# m\n…n | o |\np\nq"); return e.innerHTML; })()`); got !=
		`<p>a <strong>b</strong> <code>c</code> <em>d</em> <span class="link-text">e</span></p><ul class="items"><li>f</li></ul><ol class="items"><li class="deep" value="1">g</li></ol><div class="wide"><table><tr><th>h</th><th>i</th></tr><tr><td>j</td><td>k</td></tr></table></div><pre class="code">&lt;l&gt;</pre><p class="heading">m</p><div class="wide"><table><tr><td>…n</td><td>o</td></tr></table></div><p>p`+"\n"+`q</p>` {
		t.Errorf("Markdown is drawn as %s", got)
	}
}

// The page shows the time and the cost of each part of an answer: a question to youtu with a slow scripted
// model, as in the picture of docs/ask.md.
func TestTimeline(t *testing.T) {
	var thoughts atomic.Int32
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		prompt := ""
		for _, m := range req.Messages {
			prompt += m.Text
		}
		time.Sleep(time.Duration(40+len(prompt)/40) * time.Millisecond)
		switch {
		case strings.Contains(prompt, `{"sub_queries": [{"id": "q1", "text": ""`):
			return llm.Reply{Text: `{"sub_queries": [{"id": "q1", "text": "Who designed the Analytical Engine?", "target": "triple", "types": [], "depends_on": []}, {"id": "q2", "text": "Who wrote notes about the engine of a friend?", "target": "triple", "types": [], "depends_on": []}]}`}
		case strings.Contains(prompt, `{"thought": "", "status": "answer"`) && thoughts.Add(1) == 1:
			return llm.Reply{Text: `{"thought": "Who designed it is known.", "status": "continue", "next_query": "What did Ada Lovelace write?"}`}
		case strings.HasPrefix(prompt, "You answer questions"):
			return llm.Reply{Text: "Charles Babbage designed the engine that Ada Lovelace wrote about [1]."}
		}
		return baselinestest.Obedient(req)
	}})
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("OPENAI_API_KEY", "none")
	prices := filepath.Join(t.TempDir(), "prices.json")
	err := os.WriteFile(prices, []byte(`{"currency": "EUR", "models": [{"model": "scribe", "as_of": "2026-01-31", "prompt": 0.15, "completion": 0.6}]}`), 0o600)
	check.OK(t, err)
	address := serving(t, sessiontest.OpenFiles(t, manual, "youtu", "-model", "scribe", "-prices", prices))
	s := screen{width: 1200, height: 1180}
	tab := asking(t, address, "", s)
	tab.ask("Who designed the engine that Ada Lovelace wrote about?")
	tab.click("#turns details:last-of-type summary")
	tab.until(`document.querySelectorAll(".spans tbody tr").length > 7`)
	tab.picture("ask-trace", s)
	rows := tab.text(".spans tbody")
	for _, want := range []string{"answer", "youtu", "retrieve", "decompose", "search", "reflect", "draft", "read", "from the cache", "scribe", " tokens", " EUR"} {
		check.True(t, strings.Contains(rows, want), "the timeline has no %q: %s", want, rows)
	}
	check.Contains(t, tab.text(".spans tbody tr"), "answer", "the first row")
	// The spans of an answer are no longer than the answer, and the spans of its parts begin within it.
	if eval[bool](tab, `[...document.querySelectorAll(".bar")].some(b => b.getBoundingClientRect().right > b.parentElement.getBoundingClientRect().right + 12)`) {
		t.Error("a bar leaves its column")
	}
}

// A source in a PDF opens at its page, in the browser's own viewer.
func TestPDFOpensAtItsPage(t *testing.T) {
	pdf := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[6 0 R 3 0 R]/Count 2>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n" +
		"4 0 obj<</Length 62>>stream\nBT /F1 12 Tf 20 200 Td (The barn owl hears a mouse.) Tj ET     \nendstream endobj\n" +
		"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n6 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]>>endobj\ntrailer<</Root 1 0 R>>\n"
	tab := asking(t, serving(t, sessiontest.OpenFiles(t, map[string]string{"a manual.pdf": pdf}, "bm25")), "", phone)
	tab.ask("What does the barn owl hear?")
	check.Equal(t, eval[string](tab, `document.querySelector(".sources a").getAttribute("href")`), "api/pdf?file=a+manual.pdf#page=2", "the link")
	tab.narrow("a PDF")
	accessible(tab, "a PDF")
	tab.click(".place") // the text opens
	tab.until(`document.querySelector(".file mark")`)
	tab.click(".place")
	tab.until(`!document.querySelector(".file")`)
}

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

// ships are facts of a small graph; some have hostile texts.
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

// typed types text into a field.
func typed(t *tab, selector, text string) {
	t.Helper()
	t.do(chromedp.SendKeys(selector, text))
}

// A name can be searched for, read, and followed to its neighbours and along a path; all texts of the graph are
// shown as text.
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

// A graph of the largest size of a page reacts at once; the times depend on the machine, which draws without a
// graphics card here.
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
