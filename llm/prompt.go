// SPDX-License-Identifier: Apache-2.0

package llm

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
)

// Prompts are templates (text/template) of requests, by name. NAME.txt is the
// message of the system and NAME_user.txt that of the user; where the first is
// missing there is no system message, where the second is missing the user's
// message is the data. Blanks at both ends of a file are no part of it. A file begins
// with a comment that says what its places stand for.
type Prompts struct {
	of    string
	texts map[string]*template.Template
}

// Data is a text that a prompt marks off by a [Fence]. In the templates .Nonce
// names the marks, .Pieces are the data between marks, and .Data is all of them, a
// blank line apart. A text without a label has a part in the nonce alone.
type Data struct {
	Label, Text string
	// Rows, if there are any, take the place of Text: many short texts between one pair
	// of marks, a line each, after its number in square brackets, which counts from
	// First and has the letters of Prefix: [F3]. A line break in a text becomes a
	// blank, so that no text can look like two.
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

// MustPrompts reads the templates of the folder "prompts" of a package, which are a part of
// the program: it panics if one cannot be read. [Templates] lists them.
func MustPrompts(of string, files fs.FS) Prompts {
	names, err := fs.Glob(files, "prompts/*.txt")
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("llm: no prompts (%v)", err))
	}
	p := Prompts{of, make(map[string]*template.Template, len(names))}
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

// text is a template, or what a context has in its place.
func (p Prompts) text(ctx context.Context, name string) *template.Template {
	own := p.texts[name]
	if r := replacementOf(ctx); r != nil && own != nil {
		return cmp.Or(r.texts[p.of+"/"+name], own)
	}
	return own
}

// Request makes the request of that name: the place .Words of a template takes the
// value under "Words", and a place without a value is an error. Equal arguments give
// equal bytes. What [Replacement.With] put into the context takes the place of our text.
func (p Prompts) Request(ctx context.Context, stage, name string, values map[string]any, data ...Data) (Request, error) {
	fence, pieces := fenced(data)
	shown := strings.Join(pieces, "\n\n")
	places := map[string]any{"Nonce": fence.Nonce(), "Pieces": pieces, "Data": shown}
	maps.Copy(places, values)
	req := Request{Stage: stage}
	system, user := p.text(ctx, name), p.text(ctx, name+"_user")
	if system == nil && user == nil {
		return req, fmt.Errorf("llm: there is no prompt %q", name)
	}
	if system != nil {
		text, err := fill(system, places)
		if err != nil {
			return req, err
		}
		req.Messages = append(req.Messages, Message{System, text})
	}
	if user != nil {
		var err error
		if shown, err = fill(user, places); err != nil {
			return req, err
		}
	}
	req.Messages = append(req.Messages, Message{User, shown})
	return req, nil
}

// Fenced puts texts between marks that none of them has, as a prompt does.
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

// lineBreak tells what a model may take for the end of a line.
func lineBreak(r rune) bool {
	return r >= '\n' && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// Printable is a text without control characters and bytes that are not valid
// UTF-8: servers refuse them, and no reader sees them.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r != unicode.ReplacementChar && !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// Fence marks off data in a prompt, so that a model can be told to treat what
// stands inside as data: a page or an answer that says "ignore the above" or
// imitates the prompt's own marks stays what it is.
//
// The marks hold a nonce made from the data themselves. Equal data give equal
// prompts, which caches need, and no text can contain the hash of itself and
// its neighbours.
type Fence struct{ nonce string }

// NewFence makes a fence for the given texts; every text to be wrapped must be
// among them.
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

// Nonce is what a prompt calls the marks by.
func (f Fence) Nonce() string { return f.nonce }

// Wrap puts a text between marks under a label.
func (f Fence) Wrap(label, text string) string {
	return "[" + f.nonce + " " + label + "]\n" + text + "\n[/" + f.nonce + " " + label + "]"
}
