// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"context"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/desk/desktest"
	"github.com/wildgraph/wildgraph/examples/ask/serve"
)

// The page of ask: a question, an answer with the words that say so, a refusal, on every
// screen, with nothing from elsewhere.
func TestAsk(t *testing.T) {
	d := desktest.Open(t, "hipporag2")
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve.Run(ctx, d, "127.0.0.1:0", nil, func(url string) { ready <- url }) }()
	var url string
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	dark := phone
	dark.dark = true
	for name, s := range map[string]screen{"wide": wide, "dark phone": dark} {
		tab := visit(t, url, "", s)
		tab.until(`document.querySelector("#about").textContent !== ""`)
		ask := func(question string) {
			typed(tab, "#question", question)
			tab.click("#send")
			tab.until(`!document.querySelector("#send").disabled`)
		}
		ask("What does a red light mean?")
		tab.until(`document.querySelector("#turns mark")`)
		ask("Who is " + unkind + "?")
		tab.until(`document.querySelectorAll("#turns > *").length >= 2`)
		accessible(tab, name)
		if eval[bool](tab, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%s: the page is wider than the screen", name)
		}
	}
}
