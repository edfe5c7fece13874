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
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Bounds of a message: parts in parts, and parts in all, and bytes of a header or a name in one.
const (
	maxNested = 8
	maxParts  = 1000
	maxHeader = 4 << 10
)

// mailFile reads a message (RFC 5322, MIME): its sender, receivers, date and subject, which are
// fields as well, the text, messages in it, and the names of what is attached. A place is a paragraph.
func mailFile(name string, data []byte) (*load.File, error) {
	if bytes.IndexByte(data[:min(len(data), 64)], 0) >= 0 { // UTF-16
		f, err := load.Read("message.txt", data)
		if err != nil {
			return nil, fmt.Errorf("load: %s: %w", name, err)
		}
		data = []byte(f.Document.Text)
	}
	l := &letter{words: mime.WordDecoder{CharsetReader: charset.NewReaderLabel}, left: maxParts}
	d := graphrag.Document{Fields: graphrag.Fields{}}
	text, err := l.message(bytes.NewReader(bytes.TrimLeft(data, "\r\n")), 0, &d)
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	var w load.Writer
	w.Markdown(strings.TrimLeft(text, "\n"), func(int) string { return "" })
	return w.File(name, "¶", d)
}

// letter is the state of reading a message.
type letter struct {
	words mime.WordDecoder
	left  int // parts that may still be read
	level int // messages around this one
}

// content is the text of a part, with the names of its attachments.
type content struct {
	text     string
	attached []string
}

// message is the text of a message under its headers, which become fields of d.
func (l *letter) message(r io.Reader, depth int, d *graphrag.Document) (string, error) {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return "", fmt.Errorf("it does not begin with the headers of a message: %w", err)
	}
	var b strings.Builder
	if d.Title = l.header(m.Header.Get("Subject")); d.Title != "" {
		d.Fields["subject"] = d.Title
		b.WriteString(strings.Repeat("#", min(1+l.level, 6)) + " " + load.Inline(d.Title) + "\n\n")
	}
	for _, key := range []string{"From", "To", "Cc"} {
		if shown, addresses := l.people(m.Header.Get(key)); shown != "" {
			b.WriteString("- " + key + ": " + load.Inline(shown) + "\n")
			d.Fields[strings.ToLower(key)] = addresses
		}
	}
	if from, ok := d.Fields["from"].([]string); ok {
		d.Fields["from"] = strings.Join(from, ", ")
	}
	if at, err := m.Header.Date(); err == nil && at.Year() > 0 && at.Year() < 10000 {
		d.Fields["date"] = at.UTC()
		b.WriteString("- Date: " + at.Format("2006-01-02 15:04 -0700") + "\n")
	}
	c, err := l.part(textproto.MIMEHeader(m.Header), m.Body, "text/plain", depth)
	for _, name := range c.attached {
		b.WriteString("- Attached: " + load.Inline(name) + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n" + c.text, err
}

// header is the value of a header on one line (RFC 2047).
func (l *letter) header(s string) string {
	if out, err := l.words.DecodeHeader(s); err == nil {
		s = out
	}
	if !utf8.ValidString(s) { // without an encoding
		s, _ = charmap.Windows1252.NewDecoder().String(s)
	}
	if s = load.Single(s); len(s) > maxHeader {
		s = strings.ToValidUTF8(s[:maxHeader], "") + "…"
	}
	return s
}

// people are the names in a header, for display and as addresses.
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

// parameter is one of a header that is not written as the standard has it.
var parameter = regexp.MustCompile(`(?i)[;\s](boundary|charset|name|filename)\s*=\s*("[^"]*"|[^;\s]+)`)

// kindOf is the value of a header with its parameters, as far as it can be read.
func kindOf(s string) (kind string, of map[string]string) {
	kind, of, err := mime.ParseMediaType(s)
	if err == nil {
		return kind, of
	}
	of = make(map[string]string)
	for _, m := range parameter.FindAllStringSubmatch(s, -1) {
		of[strings.ToLower(m[1])] = strings.Trim(m[2], `"`)
	}
	kind, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(kind)), of
}

// letterReader reads the letters of base64 alone.
type letterReader struct{ io.Reader }

func (r *letterReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	kept := b[:0]
	for _, c := range b[:n] {
		if c == '+' || c == '/' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			kept = append(kept, c)
		}
	}
	return len(kept), err
}

// decoded is the body of a part as it was before it was sent.
func decoded(h textproto.MIMEHeader, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	case "base64":
		return base64.NewDecoder(base64.RawStdEncoding, &letterReader{body})
	}
	return body
}

// part reads a part of a message.
func (l *letter) part(h textproto.MIMEHeader, body io.Reader, usual string, depth int) (c content, err error) {
	kind, params := kindOf(h.Get("Content-Type"))
	kind = cmp.Or(kind, usual)
	disposition, also := kindOf(h.Get("Content-Disposition"))
	name := cmp.Or(l.header(also["filename"]), l.header(params["name"]))
	switch {
	case kind == "multipart/encrypted" || strings.HasSuffix(kind, "pkcs7-mime") && params["smime-type"] != "signed-data":
		return c, errEncrypted
	case strings.HasPrefix(kind, "multipart/") && depth < maxNested && params["boundary"] != "":
		return l.parts(multipart.NewReader(body, params["boundary"]), kind, depth)
	case kind == "message/rfc822" && depth < maxNested:
		d := graphrag.Document{Fields: graphrag.Fields{}}
		l.level++
		c.text, err = l.message(decoded(h, body), depth+1, &d)
		if l.level--; err != nil { // such as an encrypted one
			return content{attached: []string{cmp.Or(name, kind)}}, nil
		}
		c.text = "\n" + strings.TrimSpace(c.text) + "\n"
		return c, nil
	case disposition != "inline" && name != "" || disposition == "attachment" || kind != "text/plain" && kind != "text/html":
		if disposition != "inline" { // pictures in the text
			c.attached = append(c.attached, cmp.Or(name, load.Single(kind)))
		}
		return c, nil
	}
	data, err := io.ReadAll(decoded(h, body))
	if err != nil && len(data) == 0 { // what is cut is read as far as it goes
		return c, fmt.Errorf("its %s: %w", kind, err)
	}
	c.text, err = plain(data, kind, params["charset"])
	return c, err
}

// plain is a text or a page.
func plain(data []byte, kind, name string) (text string, err error) {
	if e, _ := charset.Lookup(name); e != nil && !strings.EqualFold(name, "us-ascii") {
		data, err = e.NewDecoder().Bytes(data)
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	as := "text.txt"
	if kind == "text/html" {
		as = "text.html"
	}
	var f *load.File
	if err == nil {
		f, err = load.Read(as, data)
	}
	if err != nil {
		return "", err
	}
	text = strings.ReplaceAll(f.Document.Text, "\r\n", "\n")
	return "\n" + strings.TrimSpace(signature.ReplaceAllString(text, "\n\n")) + "\n", nil
}

// parts reads the parts of a part; of alternatives that say the same the first, unless a later one
// says a quarter more.
func (l *letter) parts(r *multipart.Reader, kind string, depth int) (all content, err error) {
	usual := "text/plain"
	if kind == "multipart/digest" {
		usual = "message/rfc822"
	}
	var texts []string
	for {
		p, err := r.NextPart()
		switch {
		case err != nil && !errors.Is(err, io.EOF) && len(texts)+len(all.attached) == 0:
			return all, err
		case err != nil: // the end, or it is cut
			all.text = strings.Join(texts, "")
			return all, nil
		}
		if l.left--; l.left < 0 {
			return all, fmt.Errorf("has more than %d parts", maxParts)
		}
		c, err := l.part(p.Header, p, usual, depth+1)
		if err != nil {
			return all, err
		}
		all.attached = append(all.attached, c.attached...)
		switch {
		case strings.TrimSpace(c.text) == "":
		case kind != "multipart/alternative" || len(texts) == 0 || !alike(texts[0], c.text):
			texts = append(texts, c.text)
		case 4*len(letters(c.text)) > 5*len(letters(texts[0])):
			texts[0] = c.text
		}
	}
}

// letters are the words of a text.
func letters(s string) []string {
	return strings.FieldsFunc(strings.ToLower(load.Plain(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// alike reports whether a text contains most words of the other.
func alike(a, b string) bool {
	known, in, all := make(map[string]bool), 0, letters(a)
	for _, w := range letters(b) {
		known[w] = true
	}
	for _, w := range all {
		if known[w] {
			in++
		}
	}
	return 2*in >= len(all)
}
