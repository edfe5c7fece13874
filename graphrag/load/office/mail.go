// SPDX-License-Identifier: Apache-2.0

package office

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Bounds of a message: parts in parts, and parts in all.
const (
	maxNested = 8
	maxParts  = 1000
)

// mailFile reads a message (RFC 5322, MIME): its sender, receivers, date and subject, which are
// fields as well, the text, and the names of what is attached. A place is a paragraph.
func mailFile(name string, data []byte) (*load.File, error) {
	fail := func(err error) (*load.File, error) { return nil, fmt.Errorf("load: %s: %w", name, err) }
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(data, "\r\n")))
	if err != nil {
		return fail(err)
	}
	l := &letter{words: mime.WordDecoder{CharsetReader: charset.NewReaderLabel}, left: maxParts}
	d := graphrag.Document{}
	d.Title = l.header(m.Header.Get("Subject"))
	fields, head := graphrag.Fields{}, ""
	if d.Title != "" {
		fields["subject"], head = d.Title, "# "+d.Title+"\n\n"
	}
	for _, key := range []string{"From", "To", "Cc"} {
		if shown, addresses := l.people(m.Header.Get(key)); shown != "" {
			head += "- " + key + ": " + shown + "\n"
			fields[strings.ToLower(key)] = addresses
		}
	}
	if from, ok := fields["from"].([]string); ok {
		fields["from"] = strings.Join(from, ", ")
	}
	if at, err := m.Header.Date(); err == nil && at.Year() > 0 && at.Year() < 10000 {
		fields["date"] = at.UTC()
		head += "- Date: " + at.Format("2006-01-02 15:04 -0700") + "\n"
	}
	if err := l.part(textproto.MIMEHeader(m.Header), m.Body, 0); err != nil {
		return fail(err)
	}
	for _, name := range l.attached {
		head += "- Attached: " + name + "\n"
	}
	d.Fields = fields
	var w load.Writer
	w.Markdown(strings.TrimLeft(strings.TrimRight(head, "\n")+"\n"+l.text.String(), "\n"), func(int) string { return "" })
	return w.File(name, "¶", d)
}

// letter is the state of reading a message.
type letter struct {
	words    mime.WordDecoder
	text     strings.Builder
	attached []string
	left     int // parts that may still be read
}

// header is the value of a header on one line (RFC 2047).
func (l *letter) header(s string) string {
	if out, err := l.words.DecodeHeader(s); err == nil {
		s = out
	}
	return load.Single(strings.ToValidUTF8(s, "\ufffd"))
}

// people are those of a header, for display and as addresses.
func (l *letter) people(s string) (shown string, addresses []string) {
	parser := mail.AddressParser{WordDecoder: &l.words}
	list, err := parser.ParseList(s)
	if err != nil { // as it is written
		shown = l.header(s)
		return shown, []string{shown}
	}
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = l.header(strings.ToLower(a.Address))
		addresses = append(addresses, all[i])
		if name := l.header(a.Name); name != "" {
			all[i] = name + " (" + all[i] + ")"
		}
	}
	return strings.Join(all, ", "), addresses
}

// signature is the line before one, which would be that under a heading.
var signature = regexp.MustCompile(`\n-- ?\n`)

// part reads a part of a message.
func (l *letter) part(h textproto.MIMEHeader, body io.Reader, depth int) error {
	kind, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if kind == "" {
		kind = "text/plain"
	}
	disposition, also, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := cmp.Or(l.header(also["filename"]), l.header(params["name"]))
	switch {
	case kind == "multipart/encrypted" || strings.HasSuffix(kind, "pkcs7-mime") && params["smime-type"] != "signed-data":
		return errEncrypted
	case strings.HasPrefix(kind, "multipart/") && depth < maxNested && params["boundary"] != "":
		return l.parts(multipart.NewReader(body, params["boundary"]), kind == "multipart/alternative", depth)
	case disposition != "inline" && name != "" || disposition == "attachment" || kind != "text/plain" && kind != "text/html":
		if disposition != "inline" { // pictures in the text
			l.attached = append(l.attached, cmp.Or(name, load.Single(kind)))
		}
		return nil
	}
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	data, err := io.ReadAll(body)
	if err != nil && len(data) == 0 { // what is cut is read as far as it goes
		return fmt.Errorf("its %s: %w", kind, err)
	}
	text := ""
	if e, _ := charset.Lookup(params["charset"]); e != nil && !strings.EqualFold(params["charset"], "us-ascii") {
		data, err = e.NewDecoder().Bytes(data)
		text = strings.ToValidUTF8(string(data), "\ufffd")
	} else {
		var f *load.File
		if f, err = load.Read("text.txt", data); err == nil {
			text = f.Document.Text
		}
	}
	if err != nil {
		return err
	}
	if kind == "text/html" {
		text = load.HTML("", text).Document.Text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	l.text.WriteString("\n" + strings.TrimSpace(signature.ReplaceAllString(text, "\n\n")) + "\n")
	return nil
}

// parts reads the parts of a part; of alternatives the first with a text.
func (l *letter) parts(r *multipart.Reader, alternative bool, depth int) error {
	for {
		p, err := r.NextPart()
		switch {
		case errors.Is(err, io.EOF), err != nil && l.text.Len()+len(l.attached) > 0: // the end, or it is cut
			return nil
		case err != nil:
			return err
		}
		if l.left--; l.left < 0 {
			return fmt.Errorf("has more than %d parts", maxParts)
		}
		before := l.text.Len()
		if err := l.part(p.Header, p, depth+1); err != nil {
			return err
		}
		if alternative && strings.TrimSpace(l.text.String()[before:]) != "" {
			return nil
		}
	}
}
