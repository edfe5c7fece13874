// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/page"
)

// A page of one system and one question.
func Example() {
	p := page.Page{
		Title: "Owls", Verdict: "bm25 answers the only question.",
		Run: &page.Run{
			Systems: []page.System{{Name: "bm25"}}, Domains: []string{"birds"}, Types: []page.Type{{Title: "Fact", Fact: true}},
			Questions: []page.Question{{
				ID: "1", Text: "How do barn owls hunt?", Statements: []string{"By ear."},
				Answers: []page.Answer{{State: page.Right, Text: "By ear."}},
			}},
		},
	}
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(file.String(), "<h1>bm25 answers the only question.</h1>"))
	// Output: true
}
