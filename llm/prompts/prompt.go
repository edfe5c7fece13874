// SPDX-License-Identifier: Apache-2.0

package prompts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"github.com/wildgraph/wildgraph/llm"
)

// Set holds templates (text/template) of requests, by name. NAME.txt is the system message and
// NAME_user.txt the user message; without the first there is no system message, without the second the user
// message is the data. Blanks at both ends of a file are dropped. A file begins with a comment that describes
// its placeholders.
type Set struct {
	of    string
	texts map[string]*template.Template
}

// Data is a text that a prompt marks off by a [Fence]. In templates .Nonce is the nonce of the marks, .Pieces
// are the fenced texts, and .Data is all of them, separated by blank lines. A text without a label only
// enters the nonce.
type Data struct {
	Label, Text string
	// Rows, if set, replace Text: many short texts between one pair of marks, one per line, each after its
	// number in square brackets, which counts from First and is preceded by Prefix: [F3]. Line breaks in a
	// text become blanks, so that no text can look like two.
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
		fmt.Fprintf(&b, "[%s%d] %s", d.Prefix, d.First+i, strings.Join(strings.FieldsFunc(t, lineBreak), " "))
	}
	return b.String()
}

// Must reads the templates in the folder "prompts" of a package, which are compiled into the program.
// It panics if one cannot be read. [All] lists them.
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

// Request makes the request of that name. The placeholder .Words takes the value under "Words"; a placeholder
// without a value is an error. Equal arguments give equal bytes. Texts of [Replacement.With] in the context
// replace the built-in ones.
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

// Fenced wraps texts in marks that occur in none of them, as a prompt does.
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
		return "", fmt.Errorf("llm: prompt: %w", err)
	}
	return b.String(), nil
}

// lineBreak reports whether a model may read a rune as the end of a line.
func lineBreak(r rune) bool {
	return r >= '\n' && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// Printable removes control characters and invalid UTF-8: servers refuse them, and readers do not see them.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// Fence marks off data in a prompt, so that a model can be instructed to treat it as data: a page that says
// "ignore the above" or imitates the marks of the prompt has no effect.
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
	for slices.ContainsFunc(data, within) { // never seen; costs nothing to rule out
		next := sha256.Sum256([]byte(f.nonce))
		f.nonce = hex.EncodeToString(next[:8])
	}
	return f
}

// Nonce returns the nonce in the marks.
func (f Fence) Nonce() string { return f.nonce }

// Wrap puts a text between marks under a label.
func (f Fence) Wrap(label, text string) string {
	return "[" + f.nonce + " " + label + "]\n" + text + "\n[/" + f.nonce + " " + label + "]"
}
