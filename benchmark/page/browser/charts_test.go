// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Charts are saved as SVG that needs no page, with their legend, and are alone on the sheet as PDF.
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

// The pictures of docs/report.md are of a real run on the shipped sample.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are made with -pictures FOLDER")
	}
	out := t.TempDir()
	run := exec.Command("go", "run", "./examples/wildgraphbench", "-out", out)
	run.Dir = filepath.Join("..", "..", "..")
	text, err := run.CombinedOutput()
	check.OK(t, err, "%v: %s", err, text)
	const disagree = "#x=1&a=wild&b=gretriever" // the first and the last of the ranking
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
