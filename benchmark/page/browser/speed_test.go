// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// How fast a page of 6,000 answers is; printed, since it depends on the machine.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("prints times")
	}
	file := save(t, generated(1_000))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	tab := open(t, file, "", wide)
	tab.until(`performance.getEntriesByName("first-contentful-paint").length && document.readyState === "complete"`)
	t.Logf("%.1f MB for 6,000 answers", float64(info.Size())/1e6)
	t.Logf("first paint %4.0f ms", eval[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	t.Logf("usable      %4.0f ms", eval[float64](tab, `performance.getEntriesByName("ready")[0].startTime`))
	took := func(what, action string) {
		ms := eval[float64](tab, fmt.Sprintf(`(async () => {
			const start = performance.now();
			%s;
			document.body.offsetHeight;
			return performance.now() - start;
		})()`, action))
		t.Logf("%-32s %5.1f ms", what, ms)
	}
	chip := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#filters button")].find((b) => b.textContent === %q).click()`, text)
	}
	choose := func(id, value string) string {
		return fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change")); })()`, id, value)
	}
	took("systems disagree", chip("Systems disagree"))
	took("retrieved, not answered", chip("Retrieved, not answered"))
	took("clear", chip("Clear all"))
	took("a domain", chip("ships"))
	took("nobody answered", chip("Nobody answered"))
	took("clear", chip("Clear all"))
	took("search", `(() => { const s = document.getElementById("search"); s.value = "kalo ra"; s.dispatchEvent(new Event("input")); })()`)
	took("clear", chip("Clear all"))
	took("A answered", choose("av", "answered"))
	took("hardest first", choose("order", "hard"))
	took("scroll to the end", `document.querySelector(".grid").scrollTop = 1e6; document.querySelector(".grid").dispatchEvent(new Event("scroll"))`)
	took("a question opens", `document.querySelector(".rows .row .question").click(); while (document.querySelector("#panel").hidden) await new Promise((f) => setTimeout(f, 1))`)
	took("the next question", `const old = document.querySelector("#panel-title"); document.querySelector("#next, #previous").click(); for (let i = 0; i < 500 && old.isConnected; i++) await new Promise((f) => setTimeout(f, 1))`)
}

var pictures = flag.String("pictures", "", "the folder for pictures of a report on the shipped sample")

// The pictures of docs/report.md are of a real run on the shipped sample.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are made with -pictures FOLDER")
	}
	out := t.TempDir()
	run := exec.Command("go", "run", "./examples/wildgraphbench", "-out", out)
	run.Dir = filepath.Join("..", "..", "..")
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const question = "#q=astronomy%2Fastronomy%2F2&a=bm25&b=hipporag2"
	small := screen{width: 420, height: 860, dark: true}
	for name, shot := range map[string]struct {
		state, show string
		screen      screen
	}{
		"report-figures":   {"", "", screen{width: 1200, height: 860}},
		"report-questions": {"#x=1&a=bm25&b=hipporag2", "#questions", screen{width: 1200, height: 860}},
		"report-question":  {question, "", screen{width: 1200, height: 860}},
		"report-phone":     {"", "#questions", small},
	} {
		tab := open(t, filepath.Join(out, "report.html"), shot.state, shot.screen)
		tab.until(`document.querySelector("#dots svg")`)
		if strings.Contains(shot.state, "q=") {
			tab.opened()
		}
		if shot.show != "" {
			eval[chromedp.Void](tab, fmt.Sprintf(`document.querySelector(%q).scrollIntoView({ behavior: "instant" })`, shot.show))
		}
		picture, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*pictures, name+".png"), picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
