// SPDX-License-Identifier: Apache-2.0

package office

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
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
func notebookFile(name string, data []byte) (*load.File, error) {
	var n notebook
	err := json.Unmarshal(data, &n)
	if err == nil && n.Cells == nil {
		err = errors.New("no cells: convert it to version 4 (jupyter nbconvert --to notebook)")
	}
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	d := graphrag.Document{Title: load.Single(n.Metadata.Title)}
	w := &load.Writer{}
	for i, c := range n.Cells {
		place := fmt.Sprintf("cell %d", i+1)
		switch source := strings.ToValidUTF8(strings.TrimRight(string(c.Source), " \t\n"), "\ufffd"); c.Kind {
		case "markdown":
			w.Markdown(source+"\n", func(int) string { return place })
		case "code":
			w.Code(source, strings.ReplaceAll(load.Single(n.Metadata.Language.Name), "`", ""), place)
		}
		for _, o := range c.Outputs {
			text := string(o.Text + o.Data.Text)
			if o.Error != "" {
				text = o.Error + ": " + o.Value
			}
			if len(text) > maxOutput {
				text = text[:maxOutput] + "…"
			}
			w.Code(strings.ToValidUTF8(strings.TrimRight(text, " \t\n"), ""), "", place)
		}
	}
	return w.File(name, "", d)
}
