// SPDX-License-Identifier: Apache-2.0

package office

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
)

// maxOutput limits the output of a cell, in bytes.
const maxOutput = 2000

// joined is a text that a notebook stores as a string or as a list of lines.
type joined string

func (j *joined) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) != nil {
		list = make([]string, 1)
		_ = json.Unmarshal(data, &list[0]) // a value of another type is an empty text
	}
	*j = joined(strings.Join(list, ""))
	return nil
}

// notebook is a notebook in Jupyter's format nbformat 4.
type notebook struct {
	Cells []struct {
		Kind    string `json:"cell_type"`
		Source  joined `json:"source"`
		Outputs []struct {
			Text joined `json:"text"`
			Data struct {
				Text     joined `json:"text/plain"`
				HTML     joined `json:"text/html"`
				Markdown joined `json:"text/markdown"`
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

// notebookFile reads a notebook of Jupyter: cells of Markdown as they are, code as code, and the beginning of
// its output as code. A place is a cell.
func notebookFile(name string, data []byte) (*load.File, error) {
	var n notebook
	err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &n)
	if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
		err = fmt.Errorf("the file is not a notebook: its %s is a %s", other.Field, other.Value)
	}
	if err == nil && n.Cells == nil {
		err = errors.New("the notebook has no cells: convert it to version 4 (jupyter nbconvert --to notebook)")
	}
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	w := &load.Writer{}
	for i, c := range n.Cells {
		place := func(int) string { return fmt.Sprintf("cell %d", i+1) }
		switch source := clean(c.Source); c.Kind {
		case "markdown", "raw":
			w.Markdown(load.Markdown("cell.md", source).Document.Text+"\n", place)
		case "code":
			w.Code(source, strings.ReplaceAll(display.Single(n.Metadata.Language.Name), "`", ""), place(0))
		}
		for _, o := range c.Outputs {
			text := clean(o.Text + o.Data.Text)
			if o.Error != "" {
				text = clean(joined(o.Error + ": " + o.Value))
			} else if text == "" {
				page := load.HTML("", string(o.Data.HTML)).Document.Text
				w.Markdown(cut(cmp.Or(page, clean(o.Data.Markdown))), place)
			}
			w.Code(cut(text), "", place(0))
		}
	}
	return w.File(name, "", graphrag.Document{Title: display.Single(n.Metadata.Title)})
}

// colours matches escape sequences of terminals, and text that a backspace or a carriage return overwrites.
var colours = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\a]*\a|\x1b[()].|[^\n]\b|[^\n]*\r+([^\r\n])")

// clean returns a text without escape sequences, overwritten text and trailing white space.
func clean(s joined) string {
	return strings.ToValidUTF8(strings.TrimRight(colours.ReplaceAllString(string(s), "$1"), " \t\r\n"), "\ufffd")
}

// cut returns the beginning of an output.
func cut(s string) string {
	if len(s) > maxOutput {
		return strings.ToValidUTF8(s[:maxOutput], "") + "…"
	}
	return s
}
