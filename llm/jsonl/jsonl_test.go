// SPDX-License-Identifier: Apache-2.0

package jsonl_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

type owl struct {
	Name string `json:"name"`
}

func Example() {
	file := strings.NewReader("{\"name\": \"Barn owl\"}\n\n{\"name\": 7}\n{\"name\": \"Tawny owl\"}\n")
	for l, err := range jsonl.Read[owl](file, jsonl.Options{Name: "owls.jsonl"}) {
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

// read renders what a reader yields.
func read(text string, o jsonl.Options) []string {
	o.Name = "f"
	lines := jsonl.Read[owl](iotest.OneByteReader(strings.NewReader(text)), o)
	var out []string
	for l, err := range lines {
		switch e := (*jsonl.Error)(nil); {
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

func TestRead(t *testing.T) {
	long := `{"name": "` + strings.Repeat("x", 1<<20) + `"}`
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"array", "\ufeff\n [{\"name\": \"a\"}\n,\n{\"name\":\n\"b\"}]\n", []string{"2 a", "4 b"}},
		{"lines", "{\"name\": \"a\"}\r\n\r\n{\"name\": \"b\"} {\"name\": \"c\"}", []string{"1 a", "3 b", "3 c"}},
		{"one value over lines", "{\n \"name\": \"a\"\n}\n", []string{"1 a"}},
		{"nothing", " \n", nil},
		{"empty array", "[]", nil},
		{"UTF-16", "\xff\xfe{\x00", []string{"f:1: the file is UTF-16: save it as UTF-8"}},
		{"another type", "[{\"name\": \"a\"},\n7, {\"name\": \"b\"}]", []string{"1 a", "f:2: the value is a JSON number, want an object", "2 b"}},
		{"cut off", "{\"name\": \"a\"}\n{\"name\": ", []string{"1 a", "f:2: unexpected EOF"}},
		{"no end", "[{\"name\": \"a\"}\n", []string{"1 a", "f:1: the array has no end"}},
		{"more than the array", "[{\"name\": \"a\"}]\n7", []string{"1 a", "f:1: something follows the last value"}},
		{"a bracket too many", "{\"name\": \"a\"}]", []string{"1 a", "f:1: something follows the last value"}},
		{"not UTF-8", "[{\"name\": \"\xff\"}]", []string{"f:1: not valid UTF-8"}},
		{"a key twice", `[{"name": "a", "name": "b"}]`, []string{`f:1: the key "name" stands twice`}},
		{"deeper", `{"name": "a", "more": [{"k": 1, "k": 2}]}`, []string{`f:1: the key "k" stands twice`}},
		{"a key in another case", `{"NAME": "a"}`, []string{`f:1: the key "NAME" must be written "name"`}},
		{"and the key", `{"name": "a", "Name": "b"}`, []string{`f:1: the key "Name" must be written "name"`}},
		{"the same key of two objects", `{"name": "a", "more": [{"k": "k"}, {"k": ["k", "k"]}]}`, []string{"1 a"}},
		{"another kind of value", "{\"name\": {}}\n[1]\n", []string{"f:1: name is a JSON object, want a text", "f:2: the value is a JSON array, want an object"}},
		{"too long", "[{\"name\": \"a\"},\n" + long + "]", []string{"1 a", "f:2: line is longer than 1 MiB"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check.Equal(t, read(tt.text, jsonl.Options{MaxLine: 1 << 20}), tt.want, "(-want +got)")
		})
	}
}

func TestBrokenReader(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{\"name\": \"a\"}\n"), iotest.ErrReader(errors.New("gone")))
	n, failed := 0, error(nil)
	for _, err := range jsonl.Read[owl](broken, jsonl.Options{}) {
		n++
		failed = err
	}
	check.True(t, n == 2 && failed != nil && strings.Contains(failed.Error(), "gone"), "%d, %v", n, failed)
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`[{"name": "a"}]`, "{\"name\": \"a\"}\n{\"name\": \"b\"}", "[", "[]]", "\ufeff [{\"name\": \"a\"}]", "\xff", "  \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for l, err := range jsonl.Read[owl](strings.NewReader(text), jsonl.Options{}) {
			check.Must(t, l.Number >= max(last, 1) && l.Number <= 1+strings.Count(text, "\n") &&
				(err == nil || err.Error() != ""), "line %d after %d: %v", l.Number, last, err)
			last = l.Number
		}
		for range jsonl.Read[owl](strings.NewReader(text), jsonl.Options{}) {
			break // stops at once
		}
	})
}
