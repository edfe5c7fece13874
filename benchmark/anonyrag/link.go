// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// titles precede names and are not part of them.
var titles = strings.Fields("mr mrs miss ms dr sir lady lord captain capt colonel major general lieutenant sergeant admiral " +
	"professor prof father brother sister mother uncle aunt king queen prince princess count countess duke duchess saint st the")

// untitled splits a name into its title, "" without one, and the words after it.
func untitled(name string) (title string, words []string) {
	words = strings.Fields(name)
	for len(words) > 1 && slices.Contains(titles, strings.ToLower(strings.TrimSuffix(words[0], "."))) {
		title, words = strings.ToLower(strings.TrimSuffix(words[0], ".")), words[1:]
	}
	return title, words
}

// surname returns the last word of a person's full name, or of one with a title, if it identifies a person:
// three letters or more, the first a capital; "" otherwise.
func surname(e Entity, name string) string {
	title, words := untitled(name)
	if e.Type != person || title == "" && (len(words) < 2 || name != e.Name) {
		return ""
	}
	last := words[len(words)-1]
	if utf8.RuneCountInString(last) < 3 || !unicode.IsUpper(firstRune(last)) || strings.ContainsFunc(last, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '’' && r != '\'' }) {
		return ""
	}
	return last
}

const person, location = "PERSON", "LOCATION"

// Linked merges entities that are the same person by their names: "Ahab" and "Captain Ahab", "Silver" and
// "Long John Silver", 悟空 and 孙悟空. Ambiguous names, names with different titles, and places are not merged.
// Surnames become aliases, or entities of their own if two persons share one.
func Linked(entities []Entity) []Entity {
	var out []Entity
	owner := make([]int, len(entities)) // the entity that each is an alias of, itself if of none
	for i := range entities {
		owner[i] = i
		if fuller := fullerOf(entities, i); oneOf(entities, fuller) {
			owner[i] = fuller[0]
		}
	}
	at := make(map[int]int)
	for i, e := range entities {
		if owner[i] == i {
			at[i] = len(out)
			e.Aliases = slices.Clone(e.Aliases)
			out = append(out, e)
		}
	}
	for i, e := range entities {
		root := i
		for owner[root] != root {
			root = owner[root]
		}
		if root != i {
			to := &out[at[root]]
			to.Aliases = append(to.Aliases, e.names()...)
		}
	}
	return withSurnames(out)
}

// fullerOf returns the persons whose name contains a name: without its title, at the end, or at the
// beginning. Of equal names the first is the fuller one.
func fullerOf(entities []Entity, i int) (found []int) {
	e := entities[i]
	title, words := untitled(e.Name)
	short := strings.Join(words, " ")
	for j, other := range entities {
		otherTitle, otherWords := untitled(other.Name)
		long := strings.Join(otherWords, " ")
		if i == j || e.Type != person || other.Type != person || title != "" && otherTitle != "" && title != otherTitle {
			continue
		}
		same := fold(short) == fold(long) && (len(other.Name) > len(e.Name) || len(other.Name) == len(e.Name) && j < i)
		part := len(otherWords) > len(words) && (strings.HasSuffix(long, " "+short) || strings.HasPrefix(long, short+" "))
		han := !spaced(firstRune(short)) && utf8.RuneCountInString(short) > 1 && len(long) > len(short) && strings.HasSuffix(long, short)
		if same || part || han {
			found = append(found, j)
		}
	}
	return found
}

// oneOf reports whether entities share one name, apart from titles, and have no two different titles.
func oneOf(entities []Entity, which []int) bool {
	title, name := "", ""
	for n, i := range which {
		t, words := untitled(entities[i].Name)
		folded := fold(strings.Join(words, " "))
		if n > 0 && folded != name || title != "" && t != "" && t != title {
			return false
		}
		name = folded
		if t != "" {
			title = t
		}
	}
	return len(which) > 0
}

// withSurnames adds surnames that are not names yet.
func withSurnames(entities []Entity) []Entity {
	known, owners := make(map[string]bool), make(map[string][]int)
	var order []string
	for i, e := range entities {
		for _, name := range e.names() {
			known[name] = true
			if s := surname(e, name); s != "" && !slices.Contains(owners[s], i) {
				order, owners[s] = append(order, s), append(owners[s], i)
			}
		}
	}
	for _, s := range order {
		switch of := owners[s]; {
		case known[s]:
		case len(of) == 1:
			entities[of[0]].Aliases = append(entities[of[0]].Aliases, s)
		default:
			entities = append(entities, Entity{Name: s, Type: person})
		}
		known[s] = true
	}
	return entities
}

// StageLink of calls in accounts.
const StageLink = "link names"

// LinkedByModel lets a model merge entities, in one call that shows their names. Groups of several types or
// with unknown names are ignored; an unusable reply leaves the entities unchanged.
func LinkedByModel(ctx context.Context, m llm.Model, entities []Entity) ([]Entity, error) {
	var shown []string
	for _, e := range entities {
		shown = append(shown, e.Type+": "+strings.Join(e.names(), " / "))
	}
	req, err := templates.Request(ctx, StageLink, "link", nil, prompts.Data{Label: "names", Rows: shown, Prefix: "N", First: 1})
	if err != nil {
		return nil, fmt.Errorf("anonyrag: %w", err)
	}
	said, _, err := replies.Decode[struct{ Same [][]int }](ctx, m, req)
	if llm.OfOneReply(err) {
		return entities, nil
	} else if err != nil {
		return nil, fmt.Errorf("anonyrag: linking names: %w", err)
	}
	gone := make(map[int]bool)
	out := slices.Clone(entities)
	for _, group := range said.Same {
		usable := len(group) > 1
		for i, n := range group {
			usable = usable && n >= 1 && n <= len(out) && !gone[n-1] && out[n-1].Type == out[group[0]-1].Type && !slices.Contains(group[:i], n)
		}
		if !usable {
			continue
		}
		to := &out[group[0]-1]
		to.Aliases = slices.Clone(to.Aliases)
		for _, n := range group {
			if gone[n-1] = true; n != group[0] {
				to.Aliases = append(to.Aliases, out[n-1].names()...)
				out[n-1].Name = ""
			}
		}
	}
	return slices.DeleteFunc(out, func(e Entity) bool { return e.Name == "" }), nil
}
