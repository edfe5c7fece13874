// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/ask/desk/desktest"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The page shows where the time and the money of an answer went: a question of youtu to a
// scripted model that takes its time, as in the picture of docs/ask.md.
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
	if err := os.WriteFile(prices, []byte(`{"currency": "EUR", "models": [{"model": "scribe", "as_of": "2026-01-31", "prompt": 0.15, "completion": 0.6}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serving(t, desktest.OpenFiles(t, manual, "youtu", "-model", "scribe", "-prices", prices))
	s := screen{width: 1200, height: 1180}
	tab := asking(t, address, "", s)
	tab.ask("Who designed the engine that Ada Lovelace wrote about?")
	tab.click("#turns details:last-of-type summary")
	tab.until(`document.querySelectorAll(".spans tbody tr").length > 7`)
	tab.picture("ask-trace", s)
	rows := tab.text(".spans tbody")
	for _, want := range []string{"answer", "youtu", "retrieve", "decompose", "search", "reflect", "draft", "read", "not paid for now", "scribe", " tokens", " EUR"} {
		if !strings.Contains(rows, want) {
			t.Errorf("the timeline has no %q: %s", want, rows)
		}
	}
	if got := tab.text(".spans tbody tr"); !strings.Contains(got, "answer") {
		t.Errorf("the first row is %q", got)
	}
	// The spans of an answer take no longer than it, and those of its parts begin within it.
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
	tab := asking(t, serving(t, desktest.OpenFiles(t, map[string]string{"a manual.pdf": pdf}, "bm25")), "", phone)
	tab.ask("What does the barn owl hear?")
	if got := eval[string](tab, `document.querySelector(".sources a").getAttribute("href")`); got != "api/pdf?file=a+manual.pdf#page=2" {
		t.Errorf("the link is %q", got)
	}
	tab.narrow("a PDF")
	accessible(tab, "a PDF")
	tab.click(".place") // the text opens as before
	tab.until(`document.querySelector(".file mark")`)
	tab.click(".place")
	tab.until(`!document.querySelector(".file")`)
}
