// SPDX-License-Identifier: Apache-2.0

package office

import (
	"encoding/xml"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// maxAuthors bounds the names of authors that are put together, in bytes.
const maxAuthors = 400

// fieldNames are the fields that elements of metadata become (Dublin Core, ECMA-376 part 2).
var fieldNames = map[string]string{
	"title": "title", "creator": "author", "subject": "subject", "description": "description", "keywords": "keywords", "category": "category",
	"publisher": "publisher", "language": "language", "date": "date", "created": "created", "modified": "edited",
}

// properties reads metadata as fields; names go before fieldNames.
func (p *pack) properties(part string, names map[string]string) {
	var text strings.Builder
	p.optional(part, elements{
		open: func(xml.StartElement) { text.Reset() },
		text: func(_, s string) { text.WriteString(s) },
		shut: func(element string) {
			name, ok := names[element]
			if !ok {
				name = fieldNames[element]
			}
			if value := load.Single(text.String()); name != "" && value != "" {
				p.field(name, value)
			}
			text.Reset()
		},
	})
}

func (p *pack) field(name, value string) {
	old, twice := p.d.Fields[name]
	switch {
	case name == "keywords":
		list, _ := old.([]string)
		for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' }) {
			if word = strings.TrimSpace(word); word != "" {
				list = append(list, word)
			}
		}
		p.d.Fields[name] = list
	case name == "date" || name == "created" || name == "edited":
		p.d.Fields[name] = value
		if t, ok := graphrag.ParseTime(value); ok {
			p.d.Fields[name] = t
		}
	case twice && name == "author" && len(old.(string)) < maxAuthors:
		p.d.Fields[name] = old.(string) + "; " + value
	case !twice:
		p.d.Fields[name] = value
		if name == "title" {
			p.d.Title = value
		}
	}
}
