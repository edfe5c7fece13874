// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
)

//go:embed ui third_party/*.js
var files embed.FS

// frame is what the template of the page shows.
type frame struct {
	Title, Note, Policy string
	Style               template.CSS
}

// WriteHTML writes the page: one file that needs nothing else. Equal views give equal
// bytes. It returns the first error of w.
func (v *View) WriteHTML(w io.Writer) error {
	var err error
	read := func(name string) string {
		data, e := files.ReadFile(name)
		if err == nil {
			err = e
		}
		return string(data)
	}
	scripts := []string{
		read("third_party/graphology.umd.min.js"), read("third_party/sigma.min.js"),
		"(() => {\n\"use strict\";\n" + read("ui/draw.js") + read("ui/view.js") + "start();\n})();\n",
	}
	style := read("ui/view.css")
	page, e := template.New("view").Parse(read("ui/view.html"))
	if err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	policy := "default-src 'none'; style-src " + hash(style) + "; img-src data: blob:; base-uri 'none'; form-action 'none'; script-src"
	for _, s := range scripts {
		policy += " " + hash(s)
	}
	b := bufio.NewWriter(w)
	if err := page.Execute(b, frame{v.title, v.note, policy, template.CSS(style)}); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	for id, piece := range []any{v.drawn(), v.told()} {
		packed, err := pack(piece)
		if err != nil {
			return fmt.Errorf("view: %w", err)
		}
		fmt.Fprintf(b, "<script type=\"application/gzip\" id=\"piece%d\">%s</script>\n", id, packed)
	}
	for _, s := range scripts {
		fmt.Fprintf(b, "<script>%s</script>\n", s)
	}
	b.WriteString("</body>\n</html>\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}

// hash is how a policy names a script or a style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// pack writes a value as JSON, compressed, in base64.
func pack(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// drawing is what the page draws, by columns.
type drawing struct {
	Names       []string `json:"names"`
	X           []int32  `json:"x"` // in ten-thousandths
	Y           []int32  `json:"y"`
	Community   []int32  `json:"community"`
	Mark        []int32  `json:"mark,omitempty"` // percent
	Communities []string `json:"communities"`
	From        []int32  `json:"from"` // edges
	To          []int32  `json:"to"`
	Question    string   `json:"question,omitempty"`
	Answer      string   `json:"answer,omitempty"`
}

func (v *View) drawn() drawing {
	d := drawing{Communities: v.communities}
	if v.asked != nil {
		d.Question, d.Answer = paragraph(v.asked.Question), paragraph(v.asked.Answer)
	}
	for _, n := range v.nodes {
		d.Names = append(d.Names, n.name)
		d.X, d.Y = append(d.X, int32(math.Round(1e4*n.x))), append(d.Y, int32(math.Round(1e4*n.y)))
		d.Community = append(d.Community, n.community)
		if v.asked != nil {
			d.Mark = append(d.Mark, int32(math.Round(100*n.mark)))
		}
	}
	for e := range v.graph.Edges() {
		d.From, d.To = append(d.From, e.From), append(d.To, e.To)
	}
	return d
}

// telling is what the page says of what it draws, unpacked when it is first needed.
type telling struct {
	Kinds []string   `json:"kinds"`
	About [][]string `json:"about"`
	Pages []string   `json:"pages"`
	Facts []toldFact `json:"facts"`
}

type toldFact struct {
	Head     int32  `json:"h"`
	Tail     int32  `json:"t"`
	Label    string `json:"l,omitempty"`
	About    string `json:"a,omitempty"`
	Sentence string `json:"s,omitempty"`
	Page     int32  `json:"p"`
	Count    int    `json:"n,omitempty"`
	Read     bool   `json:"r,omitempty"`
}

func (v *View) told() telling {
	t := telling{Pages: v.pages}
	for _, n := range v.nodes {
		t.Kinds, t.About = append(t.Kinds, n.kind), append(t.About, n.about)
	}
	for _, f := range v.facts {
		t.Facts = append(t.Facts, toldFact{f.head, f.tail, f.label, f.about, f.sentence, f.page, f.count, f.read})
	}
	return t
}
