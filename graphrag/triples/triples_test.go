// SPDX-License-Identifier: Apache-2.0

package triples_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

func read(t *testing.T, r *triples.Reader) (out []triples.Triple) {
	t.Helper()
	for x, err := range r.All() {
		check.OK(t, err)
		out = append(out, x)
	}
	return out
}

func nameTable(list []triples.Triple) (out []string) {
	for _, x := range list {
		out = append(out, x.Text())
	}
	return out
}

func same(s string) triples.Entity { return triples.Entity{ID: s, Label: s} }

func TestTSV(t *testing.T) {
	r := triples.TSV("g.tsv", strings.NewReader("\ufeffFram\tdesigned  by\tColin Archer\r\n\nFram\tdesigned by\nNansen\tcaptain of\t \nOslo\tcity of\tNorway"))
	want := []triples.Triple{
		{Head: same("Fram"), Relation: same("designed by"), Tail: same("Colin Archer")},
		{Head: same("Oslo"), Relation: same("city of"), Tail: same("Norway")},
	}
	check.Equal(t, read(t, r), want)
	if bad := r.Bad(); bad.Lines != 2 || fmt.Sprint(bad.First) != "[g.tsv:3: 2 fields between tabs, want 3 g.tsv:4: tail: an empty name]" {
		t.Errorf("%d bad lines: %v", bad.Lines, bad.First)
	}
}

// Things of one name stay apart by their ids, and one without a label has its id.
func TestWikidata5M(t *testing.T) {
	entities, bad, err := triples.ReadLabels("e", strings.NewReader("Q1\tParis\tCity of Light\nQ2\tParis\nQ3\n"))
	check.True(t, err == nil && bad.Lines == 1 && bad.First[0].Error() == "e:3: an id without a name", "%v, %v", bad, err)
	relations, _, err := triples.ReadLabels("r", strings.NewReader("P31\tinstance of\tis a\n"))
	check.OK(t, err)
	got := read(t, triples.Wikidata5M("t", strings.NewReader("Q1\tP31\tQ9\nQ2\tP31\tQ9\n"), entities, relations))
	want := []triples.Triple{
		{Head: triples.Entity{ID: "Q1", Label: "Paris"}, Relation: triples.Entity{ID: "P31", Label: "instance of"}, Tail: same("Q9")},
		{Head: triples.Entity{ID: "Q2", Label: "Paris"}, Relation: triples.Entity{ID: "P31", Label: "instance of"}, Tail: same("Q9")},
	}
	check.Equal(t, got, want)
}

func TestJSONL(t *testing.T) {
	r := triples.JSONL("j", strings.NewReader(`{"h": "Fram", "r": "launched", "t": "1892", "literal": true}
{"h": {"id": "Q1", "label": "Paris"}, "r": "in", "t": {"id": "Q142"}}
{"h": 5, "r": "in", "t": "x"}
{"h": "Fram"
{"h": "Fram", "r": "in"}
`))
	want := []triples.Triple{
		{Head: same("Fram"), Relation: same("launched"), Tail: same("1892"), Literal: true},
		{Head: triples.Entity{ID: "Q1", Label: "Paris"}, Relation: same("in"), Tail: same("Q142")},
	}
	check.Equal(t, read(t, r), want)
	bad := r.Bad()
	check.True(t, bad.Lines == 3 && strings.Contains(bad.First[0].Error(), "want a name or"), "%d bad lines: %v", bad.Lines, bad.First)
}

const dump = `# a comment
<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Fram"@en .
<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "\u00C5 bat"@nb .
<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2004/02/skos/core#altLabel> "The Fram"@en .
<http://www.wikidata.org/prop/direct/P287> <http://www.w3.org/2000/01/rdf-schema#label> "designed by"@en .
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P287> <http://dbpedia.org/resource/Colin_Archer> .
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P571> "1892-10-26T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> . # launched
<http://www.wikidata.org/entity/Q1> <http://example.org/said> "a \"quoted\" name.\tAnd \U0001F6A2"@en-GB .
<http://www.wikidata.org/entity/Q1> <http://example.org/of> _:b0 .
<http://www.wikidata.org/entity/Q1> <http://example.org/of> "no end
<http://www.wikidata.org/entity/Q1> <http://example.org/of> "no stop"
<http://www.wikidata.org/entity/Q1> <http://example.org/of> "\q" .
<http://www.wikidata.org/entity/Q1> <http://example.org/of> "\uD800" .
just words
`

func TestNTriples(t *testing.T) {
	labels, bad, err := triples.NTriplesLabels("n", strings.NewReader(dump), "en")
	check.True(t, err == nil && bad.Lines == 5 && labels["http://www.wikidata.org/entity/Q1"] == "Fram", "%v, %v, %v", labels, bad, err)
	r := triples.NTriples("n", strings.NewReader(dump), labels)
	got := read(t, r)
	want := []string{"Fram designed by Colin Archer", "Fram P571 1892-10-26T00:00:00Z", "Fram said a \"quoted\" name. And \U0001F6A2"}
	check.Equal(t, nameTable(got), want)
	check.True(t, !got[0].Literal && got[1].Literal && got[0].Tail.ID == "http://dbpedia.org/resource/Colin_Archer", "%+v", got)
	bad = r.Bad()
	check.Equal(t, bad.Lines, 5, "%d bad lines: %v", bad.Lines, bad.First)
	other, _, err := triples.NTriplesLabels("n", strings.NewReader(dump), "nb")
	check.True(t, err == nil && other["http://www.wikidata.org/entity/Q1"] == "Å bat", "%v, %v", other, err)
}

// What is right and what is not agrees with rdflib 7.
func TestNTriplesStrict(t *testing.T) {
	for line, want := range map[string][2]int{ // triples, bad lines
		`<a:s> <a:p> "x" .`:          {1, 0},
		`<a:s> <a:p> "x"@en-GB .`:    {1, 0},
		`<a:s> <a:p> "" .`:           {0, 0},
		`<a:s> <a:p> "x"@en--us .`:   {0, 1},
		`<a:s> <a:p> "x"@ .`:         {0, 1},
		`<a:s> _:p <a:o> .`:          {0, 1},
		`<a:s> <p> <a:o> .`:          {0, 1},
		`<http://x/a b> <a:p> "x" .`: {0, 1},
		"<a:s> <a:p> \"x\ry\" .":     {0, 1},
		`<a:s> <a:p> <a:o>`:          {0, 1},
	} {
		r := triples.NTriples("n", strings.NewReader(line), nil)
		got := [2]int{len(read(t, r)), r.Bad().Lines}
		check.Equal(t, got, want, "%s: %v triples and bad lines", line, got)
	}
}

// A file of which every tenth line is broken gives the others; names of 100 kB and
// lines without an end are not held.
func TestBadLines(t *testing.T) {
	var file strings.Builder
	for i := range 1000 {
		if i%10 == 3 {
			fmt.Fprintf(&file, "broken %d\n", i)
		} else {
			fmt.Fprintf(&file, "thing %d\tis\tthing %d\n", i, i+1)
		}
	}
	file.WriteString(strings.Repeat("x", 100_000) + "\tis\tlong\n")
	file.WriteString("\xff\tis\tno text\n")
	file.WriteString(strings.Repeat("y", 3<<20) + "\n")
	file.WriteString("the\tlast\tline")
	r := triples.TSV("g", strings.NewReader(file.String()))
	got := read(t, r)
	bad := r.Bad()
	if len(got) != 901 || bad.Lines != 103 || len(bad.First) != 10 || bad.First[0].Error() != "g:4: 1 fields between tabs, want 3" {
		t.Errorf("%d triples, %d bad lines: %v", len(got), bad.Lines, bad.First)
	}
	check.Equal(t, got[len(got)-1].Text(), "the last line", "the last")
}

func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 1000 {
		fmt.Fprintf(z, "thing %d\tis\tthing %d\n", i, i*i)
	}
	check.OK(t, z.Close())
	whole := packed.Bytes()
	check.Equal(t, len(read(t, triples.TSV("g.gz", bytes.NewReader(whole)))), 1000, "triples of a packed file")
	var err error
	for _, err = range triples.TSV("g.gz", bytes.NewReader(whole[:len(whole)/2])).All() {
	}
	check.True(t, errors.Is(err, io.ErrUnexpectedEOF) && strings.HasPrefix(err.Error(), "g.gz:"), "half a packed file: %v", err)
	_, _, err = triples.ReadLabels("g.gz", bytes.NewReader([]byte{0x1f, 0x8b, 0}))
	check.True(t, err != nil, "a packed file of three bytes is read")
}

func FuzzReaders(f *testing.F) {
	f.Add([]byte(dump))
	f.Add([]byte("a\tb\tc\n{\"h\": \"a\"}\n<a> <b> \"\\u00\" ."))
	f.Fuzz(func(t *testing.T, data []byte) {
		labels, _, _ := triples.NTriplesLabels("f", bytes.NewReader(data), "en")
		for _, r := range []*triples.Reader{
			triples.TSV("f", bytes.NewReader(data)), triples.JSONL("f", bytes.NewReader(data)),
			triples.NTriples("f", bytes.NewReader(data), labels), triples.Wikidata5M("f", bytes.NewReader(data), labels, nil),
		} {
			for x, err := range r.All() {
				if err != nil {
					break
				}
				for _, e := range []triples.Entity{x.Head, x.Relation, x.Tail} {
					check.True(t, e.ID != "" && e.Label != "" && !strings.ContainsAny(e.Label, "\n\t") &&
						len(e.Label) <= triples.MaxLabel, "%q holds %q", data, e)
				}
			}
		}
	})
}
