// SPDX-License-Identifier: Apache-2.0

package anonyrag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func persons(names ...string) (out []anonyrag.Entity) {
	for _, n := range names {
		out = append(out, anonyrag.Entity{Name: n, Type: "PERSON"})
	}
	return out
}

// What is one person by its names has one placeholder, what could be two has not.
func TestLinked(t *testing.T) {
	for names, want := range map[string]string{
		"Ahab,Captain Ahab":            "Captain Ahab=Ahab",
		"Silver,Long John Silver,John": "Long John Silver=Silver; John",
		"Long John,Long John Silver":   "Long John Silver=Long John=Silver",
		"John Smith,Mary Smith,Smith":  "John Smith; Mary Smith; Smith",
		"John Smith,Mary Smith":        "John Smith; Mary Smith; Smith",
		"Mr. Smith,Mrs. Smith":         "Mr. Smith; Mrs. Smith; Smith",
		"AHAB,Ahab,Captain Ahab":       "Captain Ahab=AHAB=Ahab",
		"悟空,孙悟空,唐僧":                    "孙悟空=悟空; 唐僧",
		"Smith,Mr. Smith,Mrs. Smith":   "Smith; Mr. Smith; Mrs. Smith",
		"Dr. Livesey":                  "Dr. Livesey=Livesey",
		"Jim":                          "Jim",
	} {
		var got []string
		for _, e := range anonyrag.Linked(persons(strings.Split(names, ",")...)) {
			got = append(got, strings.Join(append([]string{e.Name}, e.Aliases...), "="))
		}
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", names, diff)
		}
	}
	places := []anonyrag.Entity{{Name: "Spy-glass", Type: "LOCATION"}, {Name: "Spy-glass Hill", Type: "LOCATION"}}
	if diff := cmp.Diff(places, anonyrag.Linked(places)); diff != "" {
		t.Error(diff)
	}
	d := dictionary(t, anonyrag.Linked(persons("Ahab", "Captain Ahab"))...)
	if got, err := d.Anonymize("Captain Ahab came; Ahab spoke."); err != nil || got != "[PERSON#1] came; [PERSON#1] spoke." {
		t.Errorf("%q, %v", got, err)
	}
}

// A surname that can still be read is a leak, with a title before it or without.
func TestSurnameLeaks(t *testing.T) {
	d := dictionary(t, persons("Captain Smollett", "Billy Bones", "John Hunter", "Hunter")...)
	if diff := cmp.Diff([]string{"Smollett", "Bones", "Hunter"}, d.Leaks("Mr. Smollett met old Bones and Hunter; bones lay there.")); diff != "" {
		t.Error(diff)
	}
}

// Groups that a model names are put together if they can be; whatever else it says leaves the
// entities as they are.
func TestLinkedByModel(t *testing.T) {
	entities := append(persons("Jim", "James Hawkins", "Silver"), anonyrag.Entity{Name: "Bristol", Type: "LOCATION"})
	for reply, want := range map[string]string{
		`{"same": [[2, 1]]}`: "James Hawkins=Jim; Silver; Bristol",
		`{"same": [[3, 4], [0, 1], [1, 9], [2], [1, 1], []]}`: "Jim; James Hawkins; Silver; Bristol",
		`{"same": [[1, 2], [2, 3]]}`:                          "Jim=James Hawkins; Silver; Bristol",
		`{}`:                                                  "Jim; James Hawkins; Silver; Bristol",
		`nothing`:                                             "Jim; James Hawkins; Silver; Bristol",
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		linked, err := anonyrag.LinkedByModel(t.Context(), m, entities)
		var got []string
		for _, e := range linked {
			got = append(got, strings.Join(append([]string{e.Name}, e.Aliases...), "="))
		}
		if err != nil || strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, %v; want %s", reply, got, err, want)
		}
	}
}
