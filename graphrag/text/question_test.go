// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
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
	for _, c := range table(t, "questions.txt") {
		check.Equal(t, text.ReadQuestion(c[0]), text.Wording{Words: c[1], Names: c[2], Overview: c[3] == "true"}, "%q", c[0])
	}
}

func TestAsksOverview(t *testing.T) {
	for _, c := range table(t, "overviews.txt") {
		if got := text.ReadQuestion(c[0]).Overview; got != (c[1] == "true") {
			t.Errorf("%q asks for an overview: %t", c[0], got)
		}
	}
}

// Of a long page as a question only the beginning counts.
func TestLongQuestion(t *testing.T) {
	q := text.ReadQuestion("Summarize this. " + strings.Repeat("The Fram sailed. ", 100_000))
	n := len(strings.Fields(q.Words))
	check.True(t, n <= 256 && n >= 100 && q.Names == "fram" && q.Overview, "%d words, names %q, overview %v", n, q.Names, q.Overview)
}
