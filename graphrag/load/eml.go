// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
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
)

// Bounds of a message: parts in parts, and parts in all.
const (
	maxNested = 8
	maxParts  = 1000
)

// mailFile reads a message (RFC 5322, MIME): its sender, receivers, date and subject, which are
// fields as well, the text, and the names of what is attached. A place is a paragraph.
func mailFile(name string, data []byte) (*File, error) {
	fail := func(err error) (*File, error) { return nil, fmt.Errorf("load: %s: %w", name, err) }
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(data, "\r\n")))
	if err != nil {
		return fail(err)
	}
	l := &letter{words: mime.WordDecoder{CharsetReader: charset.NewReaderLabel}, left: maxParts}
	f := &File{unit: "¶"}
	f.Document.Fields = graphrag.Fields{}
	f.Document.Title = l.header(m.Header.Get("Subject"))
	var text strings.Builder
	if f.Document.Title != "" {
		f.Document.Fields["subject"] = f.Document.Title
		text.WriteString("# " + f.Document.Title + "\n\n")
	}
	for _, key := range []string{"From", "To", "Cc"} {
		shown, addresses := l.people(m.Header.Get(key))
		if shown == "" {
			continue
		}
		text.WriteString("- " + key + ": " + shown + "\n")
		f.Document.Fields[strings.ToLower(key)] = addresses
		if key == "From" {
			f.Document.Fields["from"] = strings.Join(addresses, ", ")
		}
	}
	if at, err := m.Header.Date(); err == nil && at.Year() > 0 && at.Year() < 10000 {
		f.Document.Fields["date"] = at.UTC()
		text.WriteString("- Date: " + at.Format("2006-01-02 15:04 -0700") + "\n")
	}
	if err := l.part(textproto.MIMEHeader(m.Header), m.Body, 0); err != nil {
		return fail(err)
	}
	for _, name := range l.attached {
		text.WriteString("- Attached: " + name + "\n")
	}
	f.Document.Text = strings.TrimLeft(strings.TrimRight(text.String(), "\n")+"\n"+l.text.String(), "\n")
	f.lines = paragraphs(f.Document.Text)
	f.finish(name, f.Document.Text)
	return f, nil
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
	return single(strings.ToValidUTF8(s, "\ufffd"))
}

// people are those of a header, for display and as addresses.
func (l *letter) people(s string) (shown string, addresses []string) {
	parser := mail.AddressParser{WordDecoder: &l.words}
	list, err := parser.ParseList(s)
	if err != nil || len(list) == 0 {
		if s = l.header(s); s == "" {
			return "", nil
		}
		return s, []string{s}
	}
	var all []string
	for _, a := range list {
		address := single(strings.ToValidUTF8(strings.ToLower(a.Address), "\ufffd"))
		addresses = append(addresses, address)
		if name := l.header(a.Name); name != "" {
			address = name + " (" + address + ")"
		}
		all = append(all, address)
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
	name := l.header(also["filename"] + params["name"])
	switch {
	case kind == "multipart/encrypted" || strings.HasSuffix(kind, "pkcs7-mime") && params["smime-type"] != "signed-data":
		return errEncrypted
	case strings.HasPrefix(kind, "multipart/") && depth < maxNested && params["boundary"] != "":
		return l.parts(multipart.NewReader(body, params["boundary"]), kind == "multipart/alternative", depth)
	case disposition == "attachment" || name != "" || kind != "text/plain" && kind != "text/html":
		if disposition == "attachment" || disposition == "" && depth > 0 && name != "" || kind == "message/rfc822" {
			if name == "" {
				name = kind
			}
			l.attached = append(l.attached, single(name))
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
	text, err := inCharset(data, params["charset"])
	if err != nil {
		return err
	}
	if kind == "text/html" {
		text = HTML("", text).Document.Text
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
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && l.text.Len()+len(l.attached) > 0:
			return nil // it is cut
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

// inCharset decodes a text of a named encoding, or as decode does.
func inCharset(data []byte, name string) (string, error) {
	if e, _ := charset.Lookup(name); e != nil && name != "" && !strings.EqualFold(name, "us-ascii") {
		out, err := e.NewDecoder().Bytes(data)
		return strings.ToValidUTF8(string(out), "\ufffd"), err
	}
	return decode(data)
}
