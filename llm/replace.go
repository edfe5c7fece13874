// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"
)

// Template is a prompt as it stands in the program, with the comment about its places.
type Template struct {
	Name string // PACKAGE/FILE, such as "reader/read" or "reader/read_user"
	Text string

	parsed *template.Template
}

// linked are the prompts of all packages of the program; packages add theirs when they are
// initialized, and nothing changes it later.
var linked = map[string]Template{}

// Templates are the prompts of the packages that a program links, by name.
func Templates() []Template {
	var out []Template
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		out = append(out, linked[name])
	}
	return out
}

// maxPrompt is the size of a prompt in bytes.
const maxPrompt = 64 << 10

// fixed are the places that every prompt has.
var fixed = []string{"Data", "Nonce", "Pieces"}

// Replacement are texts in place of our prompts. nil replaces nothing.
type Replacement struct {
	texts map[string]*template.Template
	sums  map[string]string
}

// Replace checks texts for prompts, by their names in [Templates]: each is a template with
// no other places than the prompt has, and shows the data if that does. Prompts of judges and
// of what makes benchmarks stay: their figures are those of a version.
func Replace(texts map[string]string) (*Replacement, error) {
	r := &Replacement{make(map[string]*template.Template), make(map[string]string)}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t, err := replace(name, texts[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("llm: prompt %s: %w", name, err))
		}
		sum := sha256.Sum256([]byte(strings.TrimSpace(texts[name])))
		r.texts[name], r.sums[name] = t, hex.EncodeToString(sum[:4])
	}
	return r, errors.Join(problems...)
}

func replace(name, text string) (*template.Template, error) {
	ours, ok := linked[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is none; there are %s", strings.Join(slices.Sorted(maps.Keys(linked)), ", "))
	case strings.HasPrefix(name, "judge") || strings.HasPrefix(name, "construct/") || strings.HasPrefix(name, "anonyrag/"):
		return nil, errors.New("it is a part of what figures mean, and stays")
	case strings.TrimSpace(text) == "" || len(text) > maxPrompt || !utf8.ValidString(text):
		return nil, fmt.Errorf("want a text of 1 to %d bytes", maxPrompt)
	}
	t, err := parseTemplate(name, text)
	if err != nil {
		return nil, err
	}
	system, _ := strings.CutSuffix(name, "_user")
	known := slices.Clone(fixed)
	for _, part := range []string{system, system + "_user"} {
		if of, ok := linked[part]; ok {
			known = append(known, places(of.parsed)...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	has, had := places(t), places(ours.parsed)
	for _, p := range has {
		if !slices.Contains(known, p) {
			return nil, fmt.Errorf("there is no {{.%s}}; there are %s", p, strings.Join(known, ", "))
		}
	}
	data := func(p string) bool { return p == "Data" || p == "Pieces" }
	if strings.HasSuffix(name, "_user") && slices.ContainsFunc(had, data) && !slices.ContainsFunc(has, data) {
		return nil, errors.New("it does not show the data: say {{.Data}}")
	}
	return t, nil
}

var (
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	place  = regexp.MustCompile(`\.([A-Z]\w*)`)
)

// places are the names of the places of a template, each once, in order.
func places(t *template.Template) (out []string) {
	for _, a := range action.FindAllString(t.Root.String(), -1) { // without comments
		for _, m := range place.FindAllStringSubmatch(a, -1) {
			out = append(out, m[1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type replacementKey struct{}

func replacementOf(ctx context.Context) *Replacement {
	r, _ := ctx.Value(replacementKey{}).(*Replacement)
	return r
}

// With returns a context under which prompts are those of r, others as they were.
func (r *Replacement) With(ctx context.Context) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, replacementKey{}, r.Over(replacementOf(ctx)))
}

// Over is r, and what other replaces beside it.
func (r *Replacement) Over(other *Replacement) *Replacement {
	if r == nil || other == nil {
		return cmp.Or(r, other)
	}
	out := &Replacement{maps.Clone(other.texts), maps.Clone(other.sums)}
	maps.Copy(out.texts, r.texts)
	maps.Copy(out.sums, r.sums)
	return out
}

// Sums are the beginnings of the SHA-256 of the texts, by name, for reports.
func (r *Replacement) Sums() map[string]string {
	if r == nil {
		return nil
	}
	return r.sums
}
