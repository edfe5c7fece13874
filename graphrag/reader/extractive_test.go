// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Answers in lists, tables and other structures of a page are found there, and quoted with the text that they
// continue.
func TestExtractiveReadsStructure(t *testing.T) {
	const page = "# Shop\n\n## When do you open?\n\nNine in the morning.\n\n## Lamps\n\n| Light | Meaning |\n|---|---|\n| red | no internet |\n| blue | connected |\n\n" +
		"Owl\n: A bird that hunts by ear.\n\nTo start again:\n\n1. Unplug it.\n2. Wait a minute.\n\n```go\n// MaxPeers is the largest number of peers.\nconst MaxPeers = 64\n```\n\nThe owner is Maria.\n"
	r := extractive(t, reader.ExtractiveOptions{Mode: reader.Reject})
	for question, want := range map[string]string{
		"What does a red light mean?":           "Meaning: no internet",
		"When do you open?":                     "Nine in the morning.",
		"What is an owl?":                       "Owl: A bird that hunts by ear.",
		"How do I start again?":                 "To start again: Unplug it. Wait a minute.",
		"What is the largest number of peers?":  "// MaxPeers is the largest number of peers. const MaxPeers = 64",
		"Who is the owner?":                     "The owner is Maria.",
		"What does a purple light mean?":        reader.Refusal,
		"Who is the mayor of Port Ellery?":      reader.Refusal,
		"How much does a ticket to Oslo cost?":  reader.Refusal,
		"What is the phone number of Maria?":    reader.Refusal,
		"When was the oldest oak of Ume found?": reader.Refusal,
	} {
		a := read(t, r, graphrag.Question{Text: question}, hits(page))
		if a.Text != want || a.Refused != (want == reader.Refusal) || !a.Refused && (a.Confidence < .5 || a.Confidence > 1) {
			t.Errorf("%s: %q, confidence %.2f; want %q", question, a.Text, a.Confidence, want)
		}
	}
	// In open mode an uncertain answer is introduced as close to the question only.
	open := extractive(t, reader.ExtractiveOptions{})
	a := read(t, open, graphrag.Question{Text: "What does a purple light mean?"}, hits(page))
	check.True(t, strings.HasPrefix(a.Text, reader.Closest) && a.Citations[0].Start == len(reader.Closest), "open mode: %+v", a)
}

// "How many" is answered by a count, and no second sentence is quoted because of words that only ask.
func TestExtractiveCounts(t *testing.T) {
	const files = "At most 900 files of a folder are read."
	r := extractive(t, reader.ExtractiveOptions{Mode: reader.Reject, Threshold: .2})
	for question, page := range map[string][2]string{
		"How many files are read at most?":                   {"Rows of files are read under their first line.\n\n" + files, files},
		"How many files of the folder are read each winter?": {files + "\n\nThe table says how many rounds of files were played in 1990.", files},
	} {
		a := read(t, r, graphrag.Question{Text: question}, hits(page[0]))
		check.Equal(t, a.Text, page[1], "%s: %q, confidence %.2f", question, a.Text, a.Confidence)
	}
}

// A sentence whose subject is a pronoun is quoted with the sentence that names the subject, cited from there,
// and refused if it is about another subject.
func TestExtractivePronouns(t *testing.T) {
	const page = "# The mill\n\nIt was built by Jonas Pell. The wheel was renewed in 1903. It is six metres wide.\n\n# The dam\n\nNobody knows its age.\n"
	r := extractive(t, reader.ExtractiveOptions{Mode: reader.Reject, FactSentences: 1})
	for question, want := range map[string][2]string{
		"Who built the mill?":    {"The mill: It was built by Jonas Pell.", "It was built by Jonas Pell."},
		"How wide is the wheel?": {"The wheel was renewed in 1903. It is six metres wide.", "The wheel was renewed in 1903. It is six metres wide."},
		"Who built the dam?":     {reader.Refusal},
		"How wide is the dam?":   {reader.Refusal},
	} {
		a := read(t, r, graphrag.Question{Text: question}, []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "m#0", Doc: "m", End: len(page), Text: page}}})
		check.Equal(t, a.Text, want[0], "%s", question)
		for _, c := range a.Citations {
			if got := page[c.SourceStart:c.SourceEnd]; got != want[1] || a.Text[c.Start:c.End] != a.Text {
				t.Errorf("%s: cites %q, want %q", question, got, want[1])
			}
		}
	}
}

// A question for a cell is answered by the cell of the row that it names, and refused if it names no row or
// several, or if the cell is empty.
func TestExtractiveCells(t *testing.T) {
	const page = "| Tower | Height (m) | Built | Architect |\n|---|---|---|---|\n| Mork | 176 | 1938 | |\n| Ytre Mork | 88 | 1972 | E. Lund |\n| Old Stavik | 214 | 1961 | E. Lund |\n| New Stavik | 30 | 1999 | R. Boye |\n"
	r := extractive(t, reader.ExtractiveOptions{Mode: reader.Reject})
	for question, want := range map[string]string{
		"What is the height of Mork?":                  "Height (m): 176",
		"What is the height of Ytre Mork?":             "Height (m): 88",
		"What is the height of the old Stavik?":        "Height (m): 214",
		"Which tower was built in 1961 by E. Lund?":    "Tower: Old Stavik",
		"What are the height and architect of Stavik?": reader.Refusal,
		"What is the height of Stavik?":                reader.Refusal, // two rows
		"What is the height of the new Mork?":          reader.Refusal, // no row
		"Who is the architect of Mork?":                reader.Refusal, // an empty cell
		"What is the height of Hallen?":                reader.Refusal,
	} {
		a := read(t, r, graphrag.Question{Text: question}, append(hits(page), hits(page)...))
		check.True(t, a.Text == want && len(a.Citations) <= 1, "%s: %q, want %q", question, a.Text, want)
	}
	open := extractive(t, reader.ExtractiveOptions{})
	a := read(t, open, graphrag.Question{Text: "Who is the architect of Mork?"}, hits(page))
	check.True(t, strings.HasPrefix(a.Text, reader.Closest+"Tower: Mork; Height (m): 176"), "open mode: %q", a.Text)
}

// A row is read with a header that is in the chunk before, and cited at its place.
func TestExtractiveReadsTheLead(t *testing.T) {
	const page = "# Moons\n\n| Moon | Discoverer |\n|---|---|\n| Titan | Huygens |\n| Triton | Lassell |\n"
	cut := strings.Index(page, "| Triton")
	evidence := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "m#1", Doc: "m", Start: cut, End: len(page), Text: page[cut:], Lead: load.Lead(page, cut)}}}
	a := read(t, extractive(t, reader.ExtractiveOptions{Mode: reader.Reject}), graphrag.Question{Text: "Who is the discoverer of Triton?"}, evidence)
	check.Must(t, a.Text == "Discoverer: Lassell", "%+v", a)
	c := a.Citations[0]
	check.Equal(t, page[c.SourceStart:c.SourceEnd], "Triton | Lassell", "cited")
	// Without that chunk the cells have no names, and the discoverer is not found.
	evidence[0].Chunk.Lead = ""
	a = read(t, extractive(t, reader.ExtractiveOptions{Mode: reader.Reject}), graphrag.Question{Text: "Who is the discoverer of Triton?"}, evidence)
	check.True(t, !strings.Contains(a.Text, "Discoverer:"), "%+v", a)
	// A first line that is the title is not part of the first sentence.
	titled := hits("Title 0\nThe barn owl hunts by ear.")
	a = read(t, extractive(t, reader.ExtractiveOptions{}), graphrag.Question{Text: "How does the barn owl hunt?"}, titled)
	c = a.Citations[0]
	check.True(t, a.Text == "The barn owl hunts by ear." && c.SourceStart == 108 && c.SourceEnd == 134, "%+v", a)
}

// Overviews state each fact once, by page.
func TestExtractiveOverviewsByPage(t *testing.T) {
	first := "Barn owls hunt mice at night by ear. Barn owls nest in old barns and church towers."
	second := "At night barn owls hunt mice by their ears. Barn owls lay five white eggs in spring."
	a := read(t, extractive(t, reader.ExtractiveOptions{}), graphrag.Question{Text: "Describe barn owls.", Form: graphrag.Overview}, hits(first, second))
	pages := strings.Split(a.Text, "\n\n")
	check.True(t, len(pages) == 2 && len(a.Citations) == 3 && strings.Count(a.Text, "mice") == 1,
		"%d pages, %d citations: %q", len(pages), len(a.Citations), a.Text)
	for i := 1; i < len(a.Citations); i++ {
		check.True(t, a.Citations[i].Evidence >= a.Citations[i-1].Evidence || i <= 1 ||
			a.Citations[i].Evidence != a.Citations[0].Evidence, "pages are mixed: %+v", a.Citations)
	}
}

// A table of 10,000 rows, a page without an end of a sentence, and a question as long as a page are read in a
// short time.
func TestExtractiveHostile(t *testing.T) {
	r := extractive(t, reader.ExtractiveOptions{})
	table := "| name | number |\n|---|---|\n" + strings.Repeat("| owl | 5 |\n", 10_000) + "| kea | 7 |\n"
	check.Contains(t, read(t, r, graphrag.Question{Text: "What is the number of the kea?"}, hits(table)).Text, "number: 7")
	read(t, r, graphrag.Question{Text: strings.Repeat("Who owns the owls? ", 2_000)}, hits(page, other))
	read(t, r, graphrag.Question{Text: "What?", Form: graphrag.Overview}, hits(strings.Repeat("no end ", 30_000), strings.Repeat("> ", 5_000), strings.Repeat("- [", 5_000)))
}

// The answer to a question from several pieces: no sentence that asks the same, as headlines and quizzes do; of
// sentences with the same statement, the one in the piece ranked first, as far down as pieces are read; and no
// sentence across the gap between two parts of a page.
func TestExtractivePicks(t *testing.T) {
	ships := make([]string, 30)
	for i := range ships {
		ships[i] = fmt.Sprintf("Harbour %d has a crane and a mole.", i)
	}
	ships[5], ships[29] = "The ship Norlys was built by Brann.", "The ship Norlys was built by Havgull, as people say in the town."
	for _, tt := range []struct {
		question string
		evidence []string
		want     string
	}{
		{"How do barn owls find mice in the dark?", []string{"How do barn owls find mice in the dark? Barn owls hear mice in the dark with ears set at two heights."},
			"Barn owls hear mice in the dark with ears set at two heights."},
		{"Who built the ship Norlys?", ships, ships[5]},
		{"Who was the owner of Norlys?", []string{"Later the owner of Norlys was Havgull\n\n…\n\nand sold it to Larvik."}, "Later the owner of Norlys was Havgull"},
	} {
		a := read(t, extractive(t, reader.ExtractiveOptions{FactSentences: 1}), graphrag.Question{Text: tt.question}, hits(tt.evidence...))
		check.Equal(t, a.Text, tt.want, "%s", tt.question)
	}
}

// sameWords embeds texts by whether they contain a nickname or its meaning.
type sameWords struct {
	asked []string
	err   error
}

func (e *sameWords) EmbedQuery(context.Context, string) ([]float32, error) {
	return []float32{1, 0}, nil
}

func (e *sameWords) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	e.asked = append(e.asked, texts...)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{0, 1}
		if strings.Contains(t, "pejoratively") {
			out[i] = []float32{1, 0}
		}
	}
	return out, e.err
}

// An embedder prefers sentences with the same meaning in other words, and embeds few texts.
func TestExtractiveAlike(t *testing.T) {
	text := "The governor of Ume had a derogatory office. The governor was pejoratively called the Owl." + strings.Repeat(" The harbour of Ume has cranes.", 40)
	q := graphrag.Question{Text: "What derogatory nickname did the governor of Ume have?"}
	words := extractive(t, reader.ExtractiveOptions{FactSentences: 1})
	a := read(t, words, q, hits(text))
	check.Must(t, strings.Contains(a.Text, "derogatory office"), "by words: %q", a.Text)
	e := new(sameWords)
	a = read(t, reader.WithEmbedder(words, e), q, hits(text))
	check.True(t, strings.Contains(a.Text, "the Owl") && len(e.asked) <= 20, "%q of %d texts", a.Text, len(e.asked))
	check.Fails(t, check.Err(reader.WithEmbedder(words, &sameWords{err: errors.New("no vectors")}).Read(t.Context(), q, hits(text), nil)), "no vectors")
}

// A line that had room for the next word ends a paragraph; a line without room is wrapped.
func TestExtractiveLines(t *testing.T) {
	const lines = "Photo: the Fram in the ice\nThe Fram was built by Colin Archer in his yard at Larvik, and sailed north in the year 1893 with twelve men and thirty dogs.\n3 min read\nColin Archer was a builder of\nboats who lived in Larvik."
	r := extractive(t, reader.ExtractiveOptions{FactSentences: 1})
	for question, want := range map[string]string{
		"Who built the Fram?": "The Fram was built by Colin Archer in his yard at Larvik, and sailed north in the year 1893 with twelve men and thirty dogs.",
		"What is in the ice?": "Photo: the Fram in the ice",
	} {
		a := read(t, r, graphrag.Question{Text: question}, hits(lines))
		check.Equal(t, strings.TrimPrefix(a.Text, reader.Closest), want, "%s: %q", question, a.Text)
	}
	const wrapped = "Colin Archer\nwas a builder of boats who lived all his life in\nLarvik, a town in the south of Norway."
	if a := read(t, r, graphrag.Question{Text: "Who lived in Larvik?"}, hits(wrapped)); !strings.HasSuffix(a.Text, "Colin Archer was a builder of boats who lived all his life in Larvik, a town in the south of Norway.") {
		t.Errorf("wrapped: %q", a.Text)
	}
}
