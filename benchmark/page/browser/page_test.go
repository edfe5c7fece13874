// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Every filter selects the right questions, alone and with others.
func TestFilters(t *testing.T) {
	p := generated(300)
	file := save(t, p)
	for state, pass := range map[string]func(page.Question) bool{
		"":                     func(page.Question) bool { return true },
		"t=1":                  func(q page.Question) bool { return q.Type == 1 },
		"t=0.2":                func(q page.Question) bool { return q.Type != 1 },
		"d=3":                  func(q page.Question) bool { return q.Domain == 3 },
		"x=1":                  disagree,
		"a=walker&av=answered": of(0, answered),
		"a=walker&av=missed":   of(0, failing),
		"a=lister&av=lost":     of(1, lost),
		"a=lister&av=lucky":    of(1, func(a page.Answer) bool { return answered(a) && a.Found != nil && !found(a) }),
		"a=finder&av=both":     of(2, func(a page.Answer) bool { return answered(a) && found(a) }),
		"a=finder&av=neither":  of(2, func(a page.Answer) bool { return failing(a) && a.Found != nil && !found(a) }),
		"a=finder&av=found":    of(2, found),
		"a=finder&av=unfound":  of(2, func(a page.Answer) bool { return a.Found != nil && !found(a) }),
		"a=reader&av=refused":  of(3, func(a page.Answer) bool { return a.State == page.Refused }),
		"a=guesser&av=failed":  of(5, func(a page.Answer) bool { return a.State == page.Failed }),
		"av=lost":              func(q page.Question) bool { return slices.ContainsFunc(q.Answers, lost) },
		"a=*every&av=missed": func(q page.Question) bool {
			return !slices.ContainsFunc(q.Answers, func(a page.Answer) bool { return a.State != page.Absent && !failing(a) })
		},
		"a=walker&av=answered&b=dreamer&bv=missed": func(q page.Question) bool { return answered(q.Answers[0]) && failing(q.Answers[4]) },
		"a=walker&av=answered&d=1&t=0&s=number":    func(q page.Question) bool { return answered(q.Answers[0]) && q.Domain == 1 && q.Type == 0 },
		"s=NUMBER+17+":                             func(q page.Question) bool { return strings.Contains(strings.ToLower(q.Text), "17") },
	} {
		tab := open(t, file, "#"+state, wide)
		got, want := tab.shown(), count(p, pass)
		check.Equal(t, got, want, "%s: %d questions", state, got)
	}
	tab := open(t, file, "#s=nothing+has+this", wide)
	check.True(t, tab.shown() == 0 && strings.Contains(tab.text("#matrix"), "No question passes"), "an empty selection does not say so")
	tab.named("#filters", "Clear all")
	check.Equal(t, tab.shown(), 300, "cleared filters still filter")
}

// The address describes the state after each click, and restores it.
func TestDeepLinks(t *testing.T) {
	p := generated(300)
	file := save(t, p)
	tab := open(t, file, "", wide)
	tab.choose("#measure", "m1")
	tab.choose("#kind", "2")
	tab.choose("#a", "walker")
	tab.choose("#av", "lost")
	tab.choose("#b", "finder")
	tab.choose("#order", "hard")
	tab.named("#filters", "birds")
	tab.named("#filters", "Multi-Fact")
	tab.click("#search")
	tab.do(chromedp.KeyEvent("number"))
	want := tab.shown()
	tab.click(".rows .row .question")
	tab.opened()
	title := tab.text("#panel-title")
	at := eval[string](tab, `location.hash`)
	values, err := url.ParseQuery(at[1:])
	check.Must(t, err == nil && values.Get("s") == "number" && values.Get("d") == "0" &&
		values.Get("t") == "1" && values.Get("q") != "", "the address is %s, %v", at, err)
	other := open(t, file, at, wide)
	other.opened()
	if got := other.shown(); got != want || want != count(p, func(q page.Question) bool { return lost(q.Answers[0]) && q.Domain == 0 && q.Type == 1 }) {
		t.Errorf("%d questions through the link, %d before", got, want)
	}
	check.Equal(t, other.text("#panel-title"), title, "the link opens")
	for selector, want := range map[string]string{"#measure": "m1", "#kind": "2", "#a": "walker", "#av": "lost", "#b": "finder", "#order": "hard", "#search": "number"} {
		check.Equal(t, eval[string](other, fmt.Sprintf(`document.querySelector(%q).value`, selector)), want, "%s", selector)
	}
	// The browser's back button closes the question, and bad addresses do no harm.
	eval[chromedp.Void](tab, `history.back()`)
	tab.until(`document.querySelector("#panel").hidden`)
	for _, bad := range []string{"#a=nobody&av=nothing&t=x&k=99&m=none&q=no/where&o=zzz", "#av=constructor&bv=toString&o=valueOf&a=__proto__", "#t=9.-1.x.1e9&d=.", "#questions", "#%zz=1&==&&"} {
		got := open(t, file, bad, wide).shown()
		check.Equal(t, got, 300, "%s shows %d questions", bad, got)
	}
}

// The panel shows all parts of a question.
func TestPanel(t *testing.T) {
	p := generated(60)
	file := save(t, p)
	tab := open(t, file, "#q=birds%2Fq0&a=walker&b=lister", wide)
	tab.opened()
	q := p.Run.Questions[0]
	check.Equal(t, tab.text("#panel-title"), q.Text, "title")
	for i, side := range []string{"a", "b"} {
		a := q.Answers[i]
		got := tab.text("article[data-side=" + side + "] .answer")
		check.True(t, strings.HasPrefix(got, a.Text[:15]), "%s answers %q, want %q", side, got, a.Text)
		got = tab.text("article[data-side=" + side + "] .reason")
		check.True(t, strings.Contains(got, a.Reason), "%s: reason %q, want %q", side, got, a.Reason)
		check.Equal(t, eval[int](tab, `document.querySelectorAll("article[data-side=`+side+`] .ranking li").length`), 10, "ranks")
		want := a.Passages[0].Text[10:40]
		check.Equal(t, eval[string](tab, `document.querySelector("article[data-side=`+side+`] mark").textContent`), want, "is lit")
		golden := 0
		for _, r := range a.Ranked {
			if r.Doc == q.Gold[0][0] {
				golden++
			}
		}
		check.Equal(t, eval[int](tab, `document.querySelectorAll("article[data-side=`+side+`] .ranking .golden").length`), golden, "gold pages in the ranking")
	}
	// A question with statements shows which ones the answer states.
	tab = open(t, file, "#q=comets%2Fq2&a=walker", wide)
	tab.opened()
	got := tab.text(".gold")
	check.True(t, strings.Count(got, "stated") == 3 && strings.Count(got, "not stated") == 2, "gold statements: %s", got)
	check.True(t, tab.text("article .answer") != "", "no answer")
}

func TestKeyboard(t *testing.T) {
	p := generated(400)
	tab := open(t, save(t, p), "", wide)
	press := func(keys string) { t.Helper(); tab.do(chromedp.KeyEvent(keys)) }
	eval[chromedp.Void](tab, `document.querySelector(".grid").focus()`)
	press(kb.ArrowDown + kb.ArrowDown + kb.ArrowRight + kb.ArrowRight + kb.Enter)
	tab.opened()
	check.Equal(t, tab.text("#panel-title"), p.Run.Questions[2].Text, "Enter opens")
	check.Equal(t, eval[string](tab, `document.querySelector("article select").value`), systemNames[1], "the second system")
	press("j")
	tab.until(fmt.Sprintf(`document.querySelector("#panel-title").textContent === %q`, p.Run.Questions[3].Text))
	press("k")
	tab.until(fmt.Sprintf(`document.querySelector("#panel-title").textContent === %q`, p.Run.Questions[2].Text))
	press(kb.Escape)
	tab.until(`document.querySelector("#panel").hidden && document.activeElement.classList.contains("grid")`)
	press(kb.End)
	tab.until(`document.querySelector(".rows .here")?.dataset.row === "399"`)
	press(kb.Home)
	tab.until(`document.querySelector(".rows .row.here")?.dataset.row === "0"`)
	press("/")
	tab.until(`document.activeElement.id === "search"`)
	eval[chromedp.Void](tab, `document.activeElement.value = ""`) // the protocol types the key that real keyboards do not
	press("number 399")
	tab.until(`document.querySelector("#count").textContent.startsWith("1 question ")`)
}

// On a phone nothing is wider than the screen; in the dark theme everything is dark.
func TestScreens(t *testing.T) {
	file := save(t, generated(60))
	for _, state := range []string{"", "#q=birds%2Fq0&a=walker&b=lister"} {
		tab := open(t, file, state, phone)
		if state != "" {
			tab.opened()
			if got := eval[string](tab, `(() => { const s = document.querySelector(".strip"); return s.clientHeight < 60 && s.scrollWidth > s.clientWidth ? document.querySelector("#panel").getBoundingClientRect().left + "" : s.clientHeight + " high"; })()`); got != "0" {
				t.Errorf("the panel begins at %s, or the systems are not one line", got)
			}
		}
		got := eval[int](tab, `Math.max(document.documentElement.scrollWidth, document.querySelector("#panel").scrollWidth)`)
		check.True(t, got <= phone.width, "%q is %d wide on a screen of %d", state, got, phone.width)
		check.Contains(t, eval[string](tab, `getComputedStyle(document.querySelector(".top nav")).maskImage`), "gradient",
			"nothing shows that there is more of the contents")
		tab.until(`document.querySelector("#dots svg")`)
		if got := eval[string](tab, `document.querySelector("#dots svg").getAttribute("aria-label")`); !regexp.MustCompile(`\d+\.\d \(\d+\.\d to \d+\.\d\)`).MatchString(got) {
			t.Errorf("the figure is read as %q", got)
		}
	}
	light := func(tab *tab) bool {
		return eval[bool](tab, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((c) => c > 200)`)
	}
	dark := wide
	dark.dark = true
	tab := open(t, file, "", dark)
	check.True(t, !light(tab), "a dark system has a light page")
	tab.click("#theme") // switches to the light theme
	check.True(t, light(tab), "the switch does not make the page light")
	tab.click("#theme") // switches to the dark theme
	check.True(t, !light(tab), "the switch does not make the page dark")
	tab.click("#theme") // switches back to the system's theme
}

//go:embed third_party/axe.min.js
var axe string

// axe-core finds no barrier for people with disabilities.
func TestAccess(t *testing.T) {
	file := save(t, generated(60))
	dark := wide
	dark.dark = true
	for name, s := range map[string]screen{"wide": wide, "dark": dark, "phone": phone} {
		for _, state := range []string{"", "#q=birds%2Fq0&a=walker&b=lister"} {
			tab := open(t, file, state, s)
			if state != "" {
				tab.opened()
			}
			eval[chromedp.Void](tab, `for (const d of document.querySelectorAll("details")) d.open = true`)
			tab.until(`document.querySelector("[data-chart] svg")`)
			accessible(tab, name+" "+state)
		}
	}
}

// accessible checks the visible part of the page with axe.
func accessible(t *tab, what string) {
	t.Helper()
	eval[chromedp.Void](t, axe+"; null")
	found := eval[string](t, `axe.run().then((r) => JSON.stringify(r.violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary) }))))`)
	var violations []struct {
		ID, Impact string
		Nodes      []string
	}
	check.OK(t, json.Unmarshal([]byte(found), &violations))
	for _, v := range violations {
		t.Errorf("%s: %s (%s):\n%s", what, v.ID, v.Impact, strings.Join(v.Nodes, "\n"))
	}
}

// A click on the head of a column sorts by it; numbers precede empty cells.
func TestTables(t *testing.T) {
	p := generated(12)
	p.Tables[0].Rows = []page.Row{
		{Name: "b", Cells: []page.Cell{{Text: "9"}, {Text: "n/a"}, {Text: "x"}}},
		{Name: "a", Cells: []page.Cell{{Text: "1,000"}, {Text: "2.5"}, {Text: "y"}}},
		{Name: "c", Cells: []page.Cell{{Text: "10"}, {Text: "-3"}, {Text: "z"}}},
	}
	tab := open(t, save(t, p), "", wide)
	tab.click("details.table summary")
	tab.until(`document.querySelectorAll("[data-chart] svg").length === 1`)
	for _, step := range []struct{ head, want string }{{"Prompt", "acb"}, {"Prompt", "bca"}, {"Reply", "acb"}, {"Reply", "cab"}, {"System", "abc"}, {"System", "cba"}} {
		tab.named("details.table thead", step.head)
		got := eval[string](tab, `[...document.querySelectorAll("details.table tbody th")].map((n) => n.textContent).join("")`)
		check.Equal(t, got, step.want, "by %s", step.head)
	}
}

// Texts from outside execute nothing and break nothing.
func TestHostile(t *testing.T) {
	const evil = "</script></td><img src=x onerror=alert(1)><script>window.pwned=1</script>\x00\xff\u202e <b>\"' =1+1"
	p := generated(12)
	p.Title, p.Verdict, p.Summary, p.Note = evil, evil, evil, evil
	r := p.Run
	r.Systems[0].Name, r.Systems[0].Note, r.Domains, r.Types[0].Title = "__proto__", evil, []string{evil, "a/b", "constructor", "d"}, evil
	r.Systems[1].Name = evil
	r.Measures[0].Title, r.Measures[0].Help = evil, evil
	for i := range r.Questions {
		q := &r.Questions[i]
		q.ID, q.Text = evil+q.ID, evil+q.Text
		q.Statements, q.Gold = []string{evil}, [][]string{{evil}}
		a := &q.Answers[0]
		a.Text, a.Reason, a.Verdict, a.Predicted = strings.Repeat(evil, 30_000), evil, evil, []string{evil}
		a.Ranked[0].Doc, a.Passages[0].Doc, a.Passages[0].Text = evil, evil, strings.Repeat("\xff\u202e", 1<<20)
		a.Steps = []graphrag.Step{{Kind: evil, Query: evil, Found: []string{evil}}}
	}
	p.Tables[0].Title, p.Tables[0].Rows[0].Name, p.Tables[0].Charts[0].Title = evil, evil, evil
	for _, s := range []screen{wide, phone} {
		tab := open(t, save(t, p), "", s)
		check.Equal(t, tab.shown(), 12, "questions are missing")
		got := eval[int](tab, `document.documentElement.scrollWidth`)
		check.Must(t, got <= s.width, "%d wide on a screen of %d", got, s.width)
		tab.click(".rows .row .cell")
		tab.opened()
		tab.click("#next")
		eval[chromedp.Void](tab, `for (const d of document.querySelectorAll("details")) d.open = true`)
		tab.until(`document.querySelector("[data-chart] svg")`)
		check.True(t, !eval[bool](tab, `"pwned" in window || document.querySelector("img, b > img, main script") !== null`), "a text became markup")
	}
}

// The selection as CSV has a line for each question and system that was asked.
func TestDownload(t *testing.T) {
	p := generated(120)
	tab := open(t, save(t, p), "#d=1", wide)
	dir := tab.downloads()
	tab.click("#csv")
	var rows [][]string
	for start := time.Now(); time.Since(start) < wait && rows == nil; time.Sleep(50 * time.Millisecond) {
		if f, err := os.Open(filepath.Join(dir, "selection.csv")); err == nil {
			rows, err = csv.NewReader(f).ReadAll()
			check.OK(t, err)
			f.Close()
		}
	}
	want := 1
	for _, q := range p.Run.Questions {
		for _, a := range q.Answers {
			if q.Domain == 1 && a.State != page.Absent {
				want++
			}
		}
	}
	check.True(t, len(rows) == want && rows[0][0] == "domain" && rows[1][0] == "ships", "%d lines, want %d", len(rows), want)
}

// most is the number of clicks that a task may take.
const most = 4

// The tasks of a report's readers, each by its clicks.
func TestTasks(t *testing.T) {
	p := generated(300)
	file := save(t, p)
	shows := func(t *tab, want int) {
		t.Helper()
		got := t.shown()
		check.True(t, got == want && want != 0, "%d questions, want %d", got, want)
	}
	for _, task := range []struct {
		name string
		do   func(t *tab)
	}{
		{"1 who leads, and how sure is that", func(t *tab) {
			if got := t.text("#verdict"); !strings.Contains(got, "walker leads") || !strings.Contains(got, "interval 66.0 to 76.0") {
				t.Errorf("the verdict is %s", got)
			}
			t.until(`document.querySelectorAll("#dots svg circle").length === 6`)
		}},
		{"2 what did walker answer and guesser not, and was the page found", func(t *tab) {
			t.choose("#a", "walker")
			t.choose("#av", "answered")
			t.choose("#b", "guesser")
			t.choose("#bv", "missed")
			shows(t, count(p, func(q page.Question) bool { return answered(q.Answers[0]) && failing(q.Answers[5]) }))
			for i, q := range p.Run.Questions {
				if a := q.Answers[5]; answered(q.Answers[0]) && failing(a) {
					if got := eval[bool](t, `document.querySelector(".rows .row .cell[data-system='5']").classList.contains("lost")`); got != found(a) {
						t.Errorf("the page of question %d was found: %v, want %v", i, got, found(a))
					}
					break
				}
			}
		}},
		{"3 where does finder find the page and not answer", func(t *tab) {
			t.click(".card:nth-child(3) .lost")
			card := eval[int](t, `Number(document.querySelector(".card:nth-child(3) .lost").textContent)`)
			shows(t, card)
			shows(t, count(p, func(q page.Question) bool { return q.Type != 2 && lost(q.Answers[2]) }))
		}},
		{"4 what does nobody answer", func(t *tab) {
			t.named("#filters", "Nobody answered")
			shows(t, count(p, func(q page.Question) bool {
				for _, a := range q.Answers {
					if a.State != page.Absent && !failing(a) {
						return false
					}
				}
				return true
			}))
		}},
		{"5 which domain is lister weak in, and what is asked there", func(t *tab) {
			got := eval[int](t, `document.querySelectorAll("#heat td").length`)
			check.True(t, got == 30, "%d cells of systems and domains", got)
			t.until(`document.querySelector("#dots svg")`)
			t.click("#heat tbody tr:nth-child(2) td:nth-child(4)")
			d := eval[string](t, `new URLSearchParams(location.hash.slice(1)).get("d")`)
			a := eval[string](t, `new URLSearchParams(location.hash.slice(1)).get("a")`)
			check.True(t, d == "1" && (a == "finder" || a == "lister" || a == "walker"),
				"domain %s, system %s", d, a)
			shows(t, 75)
		}},
		{"6 why is this answer wrong: what was read, and was it there", func(t *tab) {
			t.click(".rows .row:nth-child(1) .cell[data-system='3']")
			t.opened()
			q := p.Run.Questions[0]
			for _, want := range []string{q.Statements[0], q.Gold[0][0], q.Answers[3].Reason, q.Answers[3].Passages[5].Doc} {
				check.Contains(t, t.text("#panel"), want, "the panel lacks")
			}
		}},
		{"7 two systems side by side", func(t *tab) {
			t.click(".rows .row:nth-child(2) .cell[data-system='0']")
			t.opened()
			t.choose("#compare", "reader")
			t.until(`document.querySelectorAll("article").length === 2`)
			check.Contains(t, t.text("article[data-side=b]"), p.Run.Questions[1].Answers[3].Text[:12],
				"the second answer is not there")
		}},
		{"8 the question about something", func(t *tab) {
			t.click("#search")
			t.do(chromedp.KeyEvent("number 123 "))
			shows(t, 1)
			t.click(".rows .row .question")
			t.opened()
			check.Equal(t, t.text("#panel-title"), p.Run.Questions[123].Text, "opened")
		}},
		{"9 a link to what I see", func(t *tab) {
			t.named("#filters", "Systems disagree")
			t.click(".rows .row .question")
			t.opened()
			t.click("#copy")
			t.until(`document.querySelector("#copy").textContent !== "Copy link"`)
			got := eval[string](t, `location.hash`)
			check.True(t, strings.Contains(got, "x=1") && strings.Contains(got, "q="), "the address is %s", got)
		}},
		{"10 the hardest questions of one type, to a spreadsheet", func(t *tab) {
			t.named("#filters", "Multi-Fact")
			t.choose("#order", "hard")
			shows(t, 100)
			right := eval[int](t, `document.querySelector(".rows .row").querySelectorAll(".right, .lucky").length`)
			check.True(t, right == 0, "%d systems answer the hardest question", right)
			t.click("#csv")
		}},
	} {
		tab := open(t, file, "", wide)
		task.do(tab)
		check.True(t, tab.clicks <= most, "%s: %d clicks", task.name, tab.clicks)
		if testing.Verbose() {
			fmt.Printf("%-70s %d clicks\n", task.name, tab.clicks)
		}
	}
}

// Charts are saved as self-contained SVG with their legend, and printed to PDF alone on a sheet.
func TestChartsAreSaved(t *testing.T) {
	p := generated(40)
	tab := open(t, save(t, p), "", wide)
	dir := tab.downloads()
	saved := func(name string) string {
		t.Helper()
		for start := time.Now(); time.Since(start) < wait; time.Sleep(50 * time.Millisecond) {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.HasSuffix(data, []byte("</svg>")) {
				return string(data)
			}
		}
		t.Fatalf("no %s", name)
		return ""
	}
	tab.until(`document.querySelector("#dots svg")`)
	if got := eval[string](tab, `(() => { const of = document.querySelector("#dots svg"), all = [...of.querySelectorAll("text")], box = of.getBoundingClientRect();
		return all.find(t => /^[0-9]/.test(t.textContent)).textContent + all.every(t => t.getBoundingClientRect().right <= box.right && t.getBoundingClientRect().left >= box.left); })()`); got != "20true" {
		t.Errorf("the axis begins at, and no label leaves the chart: %s", got)
	}
	tab.click("#dots .save button")
	dots := saved("dots.svg")
	eval[chromedp.Void](tab, `for (const d of document.querySelectorAll("details")) d.open = true`)
	tab.until(`document.querySelector("[data-chart] .save")`)
	legend := tab.text("[data-chart] .legend li")
	tab.click("[data-chart] .save button")
	for name, svg := range map[string]string{p.Run.Systems[0].Name: dots, legend: saved("chart.svg")} {
		for in := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := in.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v: %.300s", err, svg)
			}
		}
		if !strings.HasPrefix(svg, `<svg xmlns="http://www.w3.org/2000/svg"`) && !strings.Contains(svg[:400], `xmlns="http://www.w3.org/2000/svg"`) || strings.Contains(svg, `="var(`) || !strings.Contains(svg, "<title>") || !strings.Contains(svg, strings.TrimSpace(name)) || !strings.Contains(svg, "rgb(") {
			t.Errorf("%q in %.600s", name, svg)
		}
	}
	eval[chromedp.Void](tab, `window.print = () => { window.printed = document.querySelector(".alone").id }`)
	tab.click("#dots .save button + button")
	check.Equal(t, eval[string](tab, `window.printed`), "dots", "is printed")
	sheet := check.Of(chromedp.Call(tab.ctx, cdppage.PrintToPDF, cdppage.PrintToPDFParams{})).OK(t)
	reader := pdf.New(pdf.Options{})
	defer reader.Close()
	printed, err := reader.Read("dots.pdf", sheet.Data)
	if err != nil || !strings.Contains(printed.Document.Text, p.Run.Systems[0].Name) || strings.Contains(printed.Document.Text, "Save as") || strings.Contains(printed.Document.Text, p.Run.Questions[0].Text) {
		t.Errorf("the PDF reads %v, %v", printed, err)
	}
	eval[chromedp.Void](tab, `dispatchEvent(new Event("afterprint"))`)
	check.True(t, !eval[bool](tab, `document.querySelector(".alone, .one-figure") !== null`), "the page stays as it was printed")
}

// The pictures of docs/report.md show a real run on the shipped sample.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are made with -pictures FOLDER")
	}
	out := t.TempDir()
	run := exec.Command("go", "run", "./examples/wildgraphbench", "-out", out)
	run.Dir = filepath.Join("..", "..", "..")
	text, err := run.CombinedOutput()
	check.OK(t, err, "%v: %s", err, text)
	const disagree = "#x=1&a=wild&b=gretriever" // the first and the last system of the ranking
	for name, shot := range map[string]struct {
		height             int
		state, show, click string
	}{
		"report-figures":   {height: 1380},
		"report-questions": {860, disagree, "#questions", ""},
		"report-question":  {1060, disagree, "", ".rows .row .question"},
	} {
		s := screen{width: 1200, height: shot.height}
		tab := open(t, filepath.Join(out, "report.html"), shot.state, s)
		tab.until(`document.querySelector("#dots svg")`)
		if shot.click != "" {
			tab.click(shot.click)
			tab.opened()
		}
		if shot.show != "" {
			eval[chromedp.Void](tab, fmt.Sprintf(`document.querySelector(%q).scrollIntoView({ behavior: "instant" })`, shot.show))
		}
		tab.picture(name, s)
	}
}
