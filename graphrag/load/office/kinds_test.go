// SPDX-License-Identifier: Apache-2.0

package office_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// kind is a case of testdata/kinds.txt: the main part of a file, other parts by name, and the text
// that is read.
type kind struct {
	ext, title, body, want string
	parts                  map[string]string
}

func kinds(t *testing.T) (all []kind) {
	data := check.Of(os.ReadFile("testdata/kinds.txt")).OK(t)
	for _, s := range strings.Split(strings.TrimPrefix(string(data), "== "), "\n== ") {
		head, rest, _ := strings.Cut(s, "\n")
		k := kind{parts: make(map[string]string)}
		k.ext, k.title, _ = strings.Cut(head, ": ")
		for strings.HasPrefix(rest, "@") {
			line, more, _ := strings.Cut(rest[1:], "\n")
			name, content, _ := strings.Cut(line, " ")
			k.parts[name], rest = strings.ReplaceAll(content, "||", "\n\n"), more
		}
		k.body, k.want, _ = strings.Cut(rest, "\n=>\n")
		all = append(all, k)
	}
	return all
}

// data is the file of a case.
func (k kind) data(t *testing.T) []byte {
	list := []string{}
	for name, content := range k.parts {
		if strings.ContainsAny(name, "/.") {
			list = append(list, name, content)
		}
	}
	switch k.ext {
	case "docx":
		list = append(list, "word/document.xml", `<w:document><w:body>`+k.body+`</w:body></w:document>`)
	case "odt":
		list = append(list, "content.xml", k.body)
	case "pptx":
		list = append(list, "ppt/presentation.xml", `<p><sldId r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels", rels("slide", "a.xml"), "ppt/a.xml", "<p:sld>"+k.body+"</p:sld>")
	case "xlsx":
		return k.sheet(t)
	default:
		return []byte(strings.TrimSuffix(k.body, "\n") + "\n")
	}
	return parts(t, list...)
}

// sheet is a workbook of which each cell, or each format in turn, is in a row.
func (k kind) sheet(t *testing.T) []byte {
	formats, xfs, each := "", "<xf/>", `<row><c t="inlineStr"><is><t>a</t></is></c>`
	for i, code := range strings.Split(k.parts["formats"], "|") {
		id := string(rune('A' + i))
		formats += `<numFmt numFmtId="` + id + `" formatCode="` + strings.NewReplacer(`"`, "&quot;", ">", "&gt;").Replace(code) + `"/>`
		xfs += `<xf numFmtId="` + id + `"/>`
		each += `<c s="` + strconv.Itoa(i+1) + `">` + strings.TrimPrefix(k.body, "each ") + `</c>`
	}
	styles := k.parts["styles"]
	if styles == "" {
		styles = "<styleSheet><numFmts>" + formats + "</numFmts><cellXfs>" + xfs + "</cellXfs></styleSheet>"
	}
	body := k.body
	if strings.HasPrefix(body, "each ") {
		body = each + "</row>"
	}
	return parts(t, "xl/workbook.xml", `<workbook><sheets><sheet name="Main" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("worksheet", "a.xml", "styles", "styles.xml"), "xl/styles.xml", styles, "xl/a.xml", "<worksheet><sheetData>"+body+"</sheetData></worksheet>")
}

// What stands in files is read as a person sees it, and what is not read is told.
func TestKinds(t *testing.T) {
	for _, k := range kinds(t) {
		f, err := options.Read("a."+k.ext, k.data(t))
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case f.Problem != nil:
			got = strings.TrimSpace(f.Document.Text) + "\nproblem: " + f.Problem.Error()
		default:
			got = strings.TrimSpace(f.Document.Text)
		}
		check.Equal(t, strings.TrimSpace(got), strings.TrimSpace(k.want), "%s: %s", k.ext, k.title)
	}
}
