// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Every filter selects what it says, alone and with others.
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

// What is clicked stands in the address, and the address restores it.
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

// The panel shows what a question is made of.
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
	// A question of statements tells the stated from the others.
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
	eval[chromedp.Void](tab, `document.activeElement.value = ""`) // the protocol types the key that real keyboards swallow
	press("number 399")
	tab.until(`document.querySelector("#count").textContent.startsWith("1 question ")`)
}

// On a phone nothing is wider than the screen, in the dark everything is dark.
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
	tab.click("#theme") // light
	check.True(t, light(tab), "the switch does not make the page light")
	tab.click("#theme") // dark
	check.True(t, !light(tab), "the switch does not make the page dark")
	tab.click("#theme") // as the system
}

//go:embed third_party/axe.min.js
var axe string

// Nothing that keeps people out, by axe-core.
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

// accessible holds what is shown to the rules of axe.
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

// The head of a column sorts, and numbers come before what is none.
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

// Texts of others run nothing and break nothing.
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
