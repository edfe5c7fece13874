// SPDX-License-Identifier: Apache-2.0

package prompts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm"
)

// Set holds templates (text/template) of requests, by name. NAME.txt is the system message and NAME_user.txt
// the user message. Without NAME.txt there is no system message; without NAME_user.txt the user message is the
// data. Blanks at the start and end of a file are dropped. A file begins with a comment that describes its
// placeholders.
type Set struct {
	of    string
	texts map[string]*template.Template
}

// Data is a text that a prompt shows between the marks of a [Fence]. In templates .Nonce is the nonce of the
// marks, .Pieces are the fenced texts, and .Data is all of them, separated by blank lines. A text without a
// label is not shown, but the nonce depends on it.
type Data struct {
	Label, Text string
	// Rows, if set, replace Text: many short texts between one pair of marks, one per line. Each begins with
	// its number in square brackets, such as [F3]: numbers count from First, after Prefix. Line breaks in a
	// text become blanks, so that no text looks like two.
	Rows   []string
	Prefix string
	First  int
}

func (d Data) text() string {
	if d.Rows == nil {
		return d.Text
	}
	var b strings.Builder
	for i, t := range d.Rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		lines := strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", r) })
		fmt.Fprintf(&b, "[%s%d] %s", d.Prefix, d.First+i, strings.Join(lines, " "))
	}
	return b.String()
}

// Must reads the templates in the folder "prompts" of a package, which are compiled into the program. It panics
// if a template cannot be read. [All] lists the templates.
func Must(of string, files fs.FS) Set {
	names, err := fs.Glob(files, "prompts/*.txt")
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("llm: no prompts (%v)", err))
	}
	p := Set{of, make(map[string]*template.Template, len(names))}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(fmt.Sprintf("llm: prompts: %v", err))
		}
		base := strings.TrimSuffix(path.Base(name), ".txt")
		p.texts[base] = template.Must(parseTemplate(base, string(text)))
		linked[of+"/"+base] = Template{of + "/" + base, strings.TrimSpace(string(text)), p.texts[base]}
	}
	return p
}

func parseTemplate(name, text string) (*template.Template, error) {
	return template.New(name).Option("missingkey=error").Parse(strings.TrimSpace(text))
}

// text returns a template, or its replacement in the context.
func (p Set) text(ctx context.Context, name string) *template.Template {
	own := p.texts[name]
	if r := replacementOf(ctx); r != nil && own != nil {
		return cmp.Or(r.texts[p.of+"/"+name], own)
	}
	return own
}

// Request makes a request from the templates of that name. The value under "Words" replaces the placeholder
// .Words; a placeholder without a value is an error. Equal arguments give equal bytes. Texts of
// [Replacement.With] in the context replace the built-in ones.
func (p Set) Request(ctx context.Context, stage, name string, values map[string]any, data ...Data) (llm.Request, error) {
	fence, pieces := fenced(data)
	shown := strings.Join(pieces, "\n\n")
	places := map[string]any{"Nonce": fence.Nonce(), "Pieces": pieces, "Data": shown}
	maps.Copy(places, values)
	req := llm.Request{Stage: stage}
	system, user := p.text(ctx, name), p.text(ctx, name+"_user")
	if system == nil && user == nil {
		return req, fmt.Errorf("llm: there is no prompt %q", name)
	}
	if system != nil {
		text, err := fill(system, places)
		if err != nil {
			return req, err
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.System, Text: text})
	}
	if user != nil {
		var err error
		if shown, err = fill(user, places); err != nil {
			return req, err
		}
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: shown})
	return req, nil
}

// Fenced returns the texts as a prompt shows them, between marks that occur in none of them.
func Fenced(data ...Data) string {
	_, pieces := fenced(data)
	return strings.Join(pieces, "\n\n")
}

func fenced(data []Data) (Fence, []string) {
	texts := make([]string, len(data))
	for i, d := range data {
		texts[i] = d.text()
	}
	fence := NewFence(texts...)
	var pieces []string
	for i, d := range data {
		if d.Label != "" {
			pieces = append(pieces, fence.Wrap(d.Label, texts[i]))
		}
	}
	return fence, pieces
}

func fill(t *template.Template, places map[string]any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, places); err != nil {
		return "", fmt.Errorf("llm: fill in a prompt: %w", err)
	}
	return b.String(), nil
}

// Printable removes control characters and invalid UTF-8: servers refuse them, and a person does not see them.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// Fence puts data in a prompt between marks, so that a model can be instructed to treat them as data: a page
// that says "ignore the above" or imitates the marks of the prompt has no effect.
//
// The marks contain a nonce computed from the data. Equal data give equal prompts, which caches need, and no
// text can contain the hash of itself and its neighbours.
type Fence struct{ nonce string }

// NewFence makes a fence for the given texts; only these may be wrapped.
func NewFence(data ...string) Fence {
	h := sha256.New()
	for _, d := range data {
		h.Write(strconv.AppendInt(nil, int64(len(d)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(d))
	}
	f := Fence{hex.EncodeToString(h.Sum(nil)[:8])}
	within := func(d string) bool { return strings.Contains(d, f.nonce) }
	for slices.ContainsFunc(data, within) { // a text that contains the nonce is nearly impossible
		next := sha256.Sum256([]byte(f.nonce))
		f.nonce = hex.EncodeToString(next[:8])
	}
	return f
}

// Nonce returns the nonce in the marks.
func (f Fence) Nonce() string { return f.nonce }

// Wrap returns a text between marks with the nonce and a label.
func (f Fence) Wrap(label, text string) string {
	return "[" + f.nonce + " " + label + "]\n" + text + "\n[/" + f.nonce + " " + label + "]"
}

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

// commonPlaces are the placeholders that every prompt may use.
var commonPlaces = []string{"Data", "Nonce", "Pieces"}

// Replacement holds texts that replace built-in prompts. A nil Replacement replaces none.
type Replacement struct {
	texts map[string]*template.Template
	sums  map[string]string
}

// Replace checks texts that replace prompts, under the names that [All] returns. A text is a template; it may
// use only the placeholders of the built-in prompt, and must show the data if that does. Prompts of judges and
// of benchmark construction cannot be replaced: published figures belong to a prompt version.
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
		return nil, fmt.Errorf("there is no prompt of this name; there are %s", strings.Join(slices.Sorted(maps.Keys(linked)), ", "))
	case strings.HasPrefix(name, "judge") || strings.HasPrefix(name, "construct/") || strings.HasPrefix(name, "anonyrag/"):
		return nil, errors.New("published figures depend on it, so it cannot be replaced")
	case strings.TrimSpace(text) == "" || len(text) > maxPrompt || !utf8.ValidString(text):
		return nil, fmt.Errorf("want a UTF-8 text of 1 to %d bytes", maxPrompt)
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
			return nil, fmt.Errorf("there is no placeholder {{.%s}}; there are %s", p, strings.Join(known, ", "))
		}
	}
	data := func(p string) bool { return p == "Data" || p == "Pieces" }
	if strings.HasSuffix(name, "_user") && slices.ContainsFunc(had, data) && !slices.ContainsFunc(has, data) {
		return nil, errors.New("it does not show the data: write {{.Data}} in it")
	}
	return t, nil
}

var (
	actionPattern = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	placePattern  = regexp.MustCompile(`\.([A-Z]\w*)`)
)

// placesOf returns the placeholders of a template, sorted and without repetition.
func placesOf(t *template.Template) (out []string) {
	for _, a := range actionPattern.FindAllString(t.Root.String(), -1) { // String omits the comments of a template
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

// Over returns the replacements of r, and the ones of other for prompts that r does not replace.
func (r *Replacement) Over(other *Replacement) *Replacement {
	if r == nil || other == nil {
		return cmp.Or(r, other)
	}
	out := &Replacement{maps.Clone(other.texts), maps.Clone(other.sums)}
	maps.Copy(out.texts, r.texts)
	maps.Copy(out.sums, r.sums)
	return out
}

// Sums returns the first four bytes of the SHA-256 of each text in hexadecimal, by prompt, for reports.
func (r *Replacement) Sums() map[string]string {
	if r == nil {
		return nil
	}
	return r.sums
}
