// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"
)

type owl struct {
	Name string `json:"name"`
}

func ExampleReadLines() {
	file := strings.NewReader("{\"name\": \"Barn owl\"}\n\n{\"name\": 7}\n{\"name\": \"Tawny owl\"}\n")
	for l, err := range journal.ReadLines[owl](file, journal.LineOptions{Name: "owls.jsonl"}) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(l.Number, l.Value.Name)
	}
	// Output:
	// 1 Barn owl
	// owls.jsonl:3: name is a JSON number, want a text
	// 4 Tawny owl
}

// read renders the values and errors that a reader yields.
func read(text string, o journal.LineOptions) []string {
	o.Name = "f"
	lines := journal.ReadLines[owl](iotest.OneByteReader(strings.NewReader(text)), o)
	var out []string
	for l, err := range lines {
		switch e := (*journal.LineError)(nil); {
		case err == nil:
			out = append(out, fmt.Sprint(l.Number, " ", l.Value.Name))
		case !errors.As(err, &e) || e.Line != l.Number:
			out = append(out, fmt.Sprintf("not a line's error: %v", err))
		default:
			out = append(out, err.Error())
		}
	}
	return out
}

func TestReadLines(t *testing.T) {
	long := `{"name": "` + strings.Repeat("x", 1<<20) + `"}`
	for _, row := range append(check.Rows(t, "testdata/read.txt"),
		[]string{"too long", "[{\"name\": \"a\"},\n" + long + "]", "1 a", "f:2: line is longer than 1 MiB"}) {
		t.Run(row[0], func(t *testing.T) {
			check.Equal(t, append([]string{}, read(row[1], journal.LineOptions{MaxLine: 1 << 20})...), row[2:])
		})
	}
}

func TestBrokenReader(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{\"name\": \"a\"}\n"), iotest.ErrReader(errors.New("gone")))
	n, failed := 0, error(nil)
	for _, err := range journal.ReadLines[owl](broken, journal.LineOptions{}) {
		n++
		failed = err
	}
	check.True(t, n == 2 && failed != nil && strings.Contains(failed.Error(), "gone"), "%d, %v", n, failed)
}

func FuzzReadLines(f *testing.F) {
	for _, seed := range []string{`[{"name": "a"}]`, "{\"name\": \"a\"}\n{\"name\": \"b\"}", "[", "[]]", "\ufeff [{\"name\": \"a\"}]", "\xff", "  \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for l, err := range journal.ReadLines[owl](strings.NewReader(text), journal.LineOptions{}) {
			check.Must(t, l.Number >= max(last, 1) && l.Number <= 1+strings.Count(text, "\n") &&
				(err == nil || err.Error() != ""), "line %d after %d: %v", l.Number, last, err)
			last = l.Number
		}
		for range journal.ReadLines[owl](strings.NewReader(text), journal.LineOptions{}) {
			break // the loop can be left
		}
	})
}

func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "answers.journal")

	j, err := journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=5"}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Append(1, []byte("forty-two"))) // nil means that the record is on disk
	fmt.Println(j.Close())

	// A run with another configuration may not continue this journal.
	_, err = journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=9"}, journal.Options{})
	fmt.Println(errors.Is(err, journal.ErrMismatch))

	j, err = journal.Open(path, journal.Header{Schema: "answers/1", Config: "k=5"}, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	for rec, err := range j.Records() {
		fmt.Println(rec.Seq, rec.Kind, string(rec.Payload), err)
	}
	// Output:
	// <nil>
	// <nil>
	// true
	// 1 1 forty-two <nil>
}
