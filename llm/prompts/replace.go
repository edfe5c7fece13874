// SPDX-License-Identifier: Apache-2.0

package prompts

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

// Template is a built-in prompt, including the comment about its placeholders.
type Template struct {
	Name string // PACKAGE/FILE, such as "reader/read" or "reader/read_user"
	Text string

	parsed *template.Template
}

// linked holds the prompts of all packages of the program. It is filled during initialization and constant
// afterwards.
var linked = map[string]Template{}

// All returns the prompts of the packages that a program links, by name.
func All() []Template {
	var out []Template
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		out = append(out, linked[name])
	}
	return out
}

// maxPrompt is the largest size of a prompt, in bytes.
const maxPrompt = 64 << 10

// commonPlaces are the placeholders of every prompt.
var commonPlaces = []string{"Data", "Nonce", "Pieces"}

// Replacement holds texts that replace built-in prompts. nil replaces nothing.
type Replacement struct {
	texts map[string]*template.Template
	sums  map[string]string
}

// Replace checks texts for prompts, by their names in [All]. Each is a template without placeholders
// that the prompt lacks, and shows the data if the prompt does. Prompts of judges and of benchmark
// construction cannot be replaced: published figures belong to a prompt version.
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
	known := slices.Clone(commonPlaces)
	for _, part := range []string{system, system + "_user"} {
		if of, ok := linked[part]; ok {
			known = append(known, placesOf(of.parsed)...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	has, had := placesOf(t), placesOf(ours.parsed)
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
	actionPattern = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	placePattern  = regexp.MustCompile(`\.([A-Z]\w*)`)
)

// placesOf returns the placeholders of a template, sorted and without repetition.
func placesOf(t *template.Template) (out []string) {
	for _, a := range actionPattern.FindAllString(t.Root.String(), -1) { // without comments
		for _, m := range placePattern.FindAllStringSubmatch(a, -1) {
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

// With returns a context in which the prompts of r are replaced; earlier replacements of other prompts stay.
func (r *Replacement) With(ctx context.Context) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, replacementKey{}, r.Over(replacementOf(ctx)))
}

// Over merges r over other.
func (r *Replacement) Over(other *Replacement) *Replacement {
	if r == nil || other == nil {
		return cmp.Or(r, other)
	}
	out := &Replacement{maps.Clone(other.texts), maps.Clone(other.sums)}
	maps.Copy(out.texts, r.texts)
	maps.Copy(out.sums, r.sums)
	return out
}

// Sums returns the first bytes of the SHA-256 of each text by name, for reports.
func (r *Replacement) Sums() map[string]string {
	if r == nil {
		return nil
	}
	return r.sums
}
