// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"text/template"
	"unicode"
)

// Prompts are templates (text/template) of requests, by name. NAME.txt is the
// message of the system and NAME_user.txt that of the user; where the first is
// missing there is no system message, where the second is missing the user's
// message is the data. Blanks at both ends of a file are no part of it.
type Prompts struct{ texts map[string]*template.Template }

// Data is a text that a prompt marks off by a [Fence]. In the templates .Nonce
// names the marks, .Pieces are the data between marks, and .Data is all of them, a
// blank line apart. A text without a label has a part in the nonce alone.
type Data struct{ Label, Text string }

// MustPrompts reads the templates of the folder "prompts", which are a part of
// the program: it panics if one cannot be read.
func MustPrompts(files fs.FS) Prompts {
	names, err := fs.Glob(files, "prompts/*.txt")
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("llm: no prompts (%v)", err))
	}
	p := Prompts{make(map[string]*template.Template, len(names))}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(fmt.Sprintf("llm: prompts: %v", err))
		}
		base := strings.TrimSuffix(path.Base(name), ".txt")
		p.texts[base] = template.Must(template.New(base).Option("missingkey=error").Parse(strings.TrimSpace(string(text))))
	}
	return p
}

// Request makes the request of that name: the place .Words of a template takes the
// value under "Words", and a place without a value is an error. Equal arguments give
// equal bytes.
func (p Prompts) Request(stage, name string, values map[string]any, data ...Data) (Request, error) {
	texts := make([]string, len(data))
	for i, d := range data {
		texts[i] = d.Text
	}
	fence := NewFence(texts...)
	var pieces []string
	for _, d := range data {
		if d.Label != "" {
			pieces = append(pieces, fence.Wrap(d.Label, d.Text))
		}
	}
	shown := strings.Join(pieces, "\n\n")
	places := map[string]any{"Nonce": fence.Nonce(), "Pieces": pieces, "Data": shown}
	maps.Copy(places, values)
	req := Request{Stage: stage}
	system, user := p.texts[name], p.texts[name+"_user"]
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

func fill(t *template.Template, places map[string]any) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, places); err != nil {
		return "", fmt.Errorf("llm: prompt: %w", err)
	}
	return b.String(), nil
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
