// SPDX-License-Identifier: Apache-2.0

package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxOutput is what is read of the output of a cell, in bytes.
const maxOutput = 2000

// joined is a text of a notebook: a string, or its lines.
type joined string

func (j *joined) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*j = joined(strings.Join(list, ""))
	} else {
		var s string
		_ = json.Unmarshal(data, &s) // what is neither has no text
		*j = joined(s)
	}
	return nil
}

// notebook is nbformat 4.
type notebook struct {
	Cells []struct {
		Kind    string `json:"cell_type"`
		Source  joined `json:"source"`
		Outputs []struct {
			Text joined `json:"text"`
			Data struct {
				Text joined `json:"text/plain"`
			} `json:"data"`
			Error string `json:"ename"`
			Value string `json:"evalue"`
		} `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Title    string `json:"title"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// notebookFile reads a notebook of Jupyter: Markdown as it is, code and the beginning of what it
// printed as code. A place is a cell.
func notebookFile(name string, data []byte) (*File, error) {
	var n notebook
	err := json.Unmarshal(data, &n)
	if err == nil && n.Cells == nil {
		err = errors.New("no cells: convert it to version 4 (jupyter nbconvert --to notebook)")
	}
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	f := &File{unit: "cell "}
	f.Document.Title = single(n.Metadata.Title)
	w := &writer{}
	for _, c := range n.Cells {
		w.blank()
		f.lines = append(f.lines, w.out.Len())
		switch source := strings.TrimRight(string(c.Source), " \t\n"); c.Kind {
		case "markdown":
			w.out.WriteString(source + "\n" + openFence(source))
		case "code":
			w.code(source, strings.ReplaceAll(single(n.Metadata.Language.Name), "`", ""))
		}
		for _, o := range c.Outputs {
			text := string(o.Text + o.Data.Text)
			if o.Error != "" {
				text = o.Error + ": " + o.Value
			}
			if len(text) > maxOutput {
				text = strings.ToValidUTF8(text[:maxOutput], "") + "…"
			}
			w.code(strings.TrimRight(text, " \t\n"), "")
		}
	}
	f.Document.Text = strings.ToValidUTF8(w.out.String(), "\ufffd")
	f.finish(name, f.Document.Text)
	return f, nil
}

// code writes code between fences.
func (w *writer) code(source, language string) {
	mark := "```"
	if strings.Contains(source, mark) {
		mark = "~~~~~~"
	}
	if source != "" {
		w.blank()
		w.out.WriteString(mark + language + "\n" + source + "\n" + mark + "\n")
	}
}
