// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"":                        "page",
		"猫":                       "page",
		" - a_b  c - ":            "a b c",
		"Caf\u00e9 — menu":        "Caf menu",
		"tab\tand\u00a0nbsp":      "tab and nbsp",
		"A-B: c/d (e)":            "A-B cd e",
		strings.Repeat("x", 90):   strings.Repeat("x", 80),
		strings.Repeat("ab ", 30): strings.Repeat("ab ", 26) + "ab",
		// the cut leaves a blank that belongs to the name
		strings.Repeat("x", 79) + " y": strings.Repeat("x", 79) + " ",
		strings.Repeat("x", 79) + "-y": strings.Repeat("x", 79),
	} {
		if got := wildgraph.Slug(title); got != want {
			t.Errorf("Slug(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestJoinTraps(t *testing.T) {
	j := wildgraph.NewJoin([]wildgraph.Reference{
		{Title: "Archived", URL: "http://a.example/1"},
		{Title: "Archived", URL: "http://a.example/2"},
		{Title: "One title", URL: "http://b.example/#x"},
		{Title: "Other title", URL: "http://b.example/#y"},
		{Title: "Slash", URL: "http://c.example"},
		{Title: "", URL: "http://d.example"},
	}, []string{"Archived.txt", "One title.txt", "OTHER TITLE.txt", "Slash.txt"})
	for url, want := range map[string][]string{
		"http://a.example/1": {"Archived.txt"},
		"http://a.example/2": {"Archived.txt"},
		"http://b.example/":  {"OTHER TITLE.txt", "One title.txt"},
		"http://c.example":   {"Slash.txt"},
		"http://c.example/":  nil, // a trailing slash is another reference
		"http://d.example":   nil,
	} {
		if diff := cmp.Diff(want, j.Pages(url)); diff != "" {
			t.Errorf("Pages(%s): %s", url, diff)
		}
	}
	if got := j.URLs("Archived.txt"); len(got) != 2 {
		t.Errorf("URLs(Archived.txt) = %q, want both", got)
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("Archived")
	f.Add("— é _ -")
	f.Add(strings.Repeat("ab-", 40))
	f.Add(strings.Repeat("x", 76) + " - y")
	f.Fuzz(func(t *testing.T, title string) {
		s := wildgraph.Slug(title)
		if s == "" || len(s) > 80 || !utf8.ValidString(s) {
			t.Errorf("Slug(%q) = %q", title, s)
		}
		// A cut may leave a blank, and a hyphen before it; beyond that a slug
		// is its own slug.
		if again := wildgraph.Slug(s); again != strings.TrimRight(s, " -") {
			t.Errorf("Slug is not stable on %q: %q", s, again)
		}
	})
}
