// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/internal/check"
)

// most is how many clicks a task may take.
const most = 4

// What readers of a report do, each by its clicks.
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
