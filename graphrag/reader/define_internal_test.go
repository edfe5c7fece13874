// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func TestDefinition(t *testing.T) {
	for question, texts := range map[string]map[string]bool{
		"What is Leiden?":          {"The Leiden algorithm was published in 2019.": true, "It uses Leiden twice.": false, "leiden := run(g)": false, "Leiden – a method": true},
		"Who was Edmund Carrick?":  {"Edmund Carrick (1829–1894) was an English engineer.": true, "Edmund Carrick, an engineer, built it.": true, "Here Edmund Carrick met Ludwig.": false, "The director was Edmund Carrick.": true},
		"what is a judge":          {"A judge decides whether an answer is right.": true, "Judges are cheap.": true, "Each judge decides.": false},
		"What's HippoRAG 2?":       {"HippoRAG 2 (of 2025) is a graph.": true, "hipporag-2: a graph": true, "With HippoRAG 2 all is well.": false},
		"What is the Truman plan?": {"It came with the announcement of the Truman plan.": false, "The Truman plan was a promise.": true, "A promise to help was the Truman plan.": true, "Truman plan: a promise": true},
		"What are C++ macros?":     {"C++ macros are expanded first.": true},
	} {
		says := definition(question, text.English)
		for s, want := range texts {
			if says == nil || says.MatchString(s) != want {
				t.Errorf("%s %q: not %v", question, s, want)
			}
		}
	}
	for _, other := range []string{"What is the colour of owls?", "What is it?", "Who is Ada's father?", "What does Leiden do?", "Who wrote the report in May?", "What is?", "", "What is \xff\xfe tide?", "Who is " + strings.Repeat("h", 1<<20)} {
		if definition(other, text.English) != nil {
			t.Errorf("%.80q asks for a definition", other)
		}
	}
	if definition("What is Leiden?", text.Dutch) != nil {
		t.Error("the forms are English")
	}
}

// A count is no ordinal, no year, no day of a month, and no name with a digit in it.
func TestCounts(t *testing.T) {
	q := question{want: hasNumber}
	for s, want := range map[string]bool{
		"It is under the first line.": false, "It was there on March 12, in winter.": false, "It came on 12 March 1942.": false, "People have TCEB1.": false, "The war began in June 1940.": false,
		"She was 14 then.": true, "It has seven rooms.": true, "In May 300 people came.": true, "About 50,000 fell in 1949.": true, "It is 1,250.": true, "It has 3": true,
	} {
		if q.shows(s) != want {
			t.Errorf("%q: not %v", s, want)
		}
	}
}

// A sentence that defines goes before one that mentions, and nothing else is an answer.
func TestDefinitionsAnswer(t *testing.T) {
	r, err := Extractive(ExtractiveOptions{Mode: Reject})
	if err != nil {
		t.Fatal(err)
	}
	mention := "Edmund Carrick met the painter Ludwig in the spring of 1850, and Edmund Carrick stayed for a week."
	table := "| system | recall | seconds |\n|---|---|---|\n| Edmund Carrick | 35.9 | 47.4 |\n"
	for evidence, want := range map[string]string{
		mention: "", table: "",
		mention + " Edmund Carrick (1829–1894) was an English engineer.": "Edmund Carrick (1829–1894) was an English engineer.",
	} {
		a, err := r.Read(t.Context(), graphrag.Question{Text: "Who was Edmund Carrick?"}, []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "a", Doc: "a", Text: evidence}}}, nil)
		if err != nil || a.Refused != (want == "") || want != "" && a.Text != want {
			t.Errorf("%q: %+v, %v", evidence, a.Text, err)
		}
	}
}
