// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func ExampleReadQuestion() {
	q := text.ReadQuestion("Summarize the key changes to the Fram between 1892 and 1910, and what Colin Archer said of the Fram.")
	fmt.Println(q.Words)
	fmt.Println(q.Names)
	fmt.Println(q.Overview)
	// Output:
	// changes fram 1892 1910 colin archer said fram
	// fram 1892 1910 colin archer
	// true
}

func TestReadQuestion(t *testing.T) {
	for _, tt := range []struct {
		question string
		want     text.Wording
	}{
		{"", text.Wording{}},
		{"what is it", text.Wording{}},
		{"Describe specific details", text.Wording{Words: "describe specific details", Overview: true}},
		{"Who built the Fram?", text.Wording{Words: "built fram", Names: "fram"}},
		{"Amundsen sailed when?", text.Wording{Words: "amundsen sailed"}},
		{"What were the main consequences of the war?", text.Wording{Words: "consequences war", Overview: true}},
		{"what were the long term effects of smoking", text.Wording{Words: "long term effects smoking", Overview: true}},
		{"Give me an overview of tides", text.Wording{Words: "tides", Overview: true}},
		{"What was the name of the ship?", text.Wording{Words: "name ship"}},
		{"Où est né Émile Zola?", text.Wording{Words: "Où est né Émile Zola?", Names: "émile zola"}},
		{"故宫在哪里", text.Wording{Words: "故宫在哪里"}},
	} {
		if diff := cmp.Diff(tt.want, text.ReadQuestion(tt.question)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.question, diff)
		}
	}
}

// Of a page that is asked, the beginning counts.
func TestLongQuestion(t *testing.T) {
	q := text.ReadQuestion("Summarize this. " + strings.Repeat("The Fram sailed. ", 100_000))
	if n := len(strings.Fields(q.Words)); n > 256 || n < 100 || q.Names != "fram" || !q.Overview {
		t.Errorf("%d words, names %q, overview %v", n, q.Names, q.Overview)
	}
}
