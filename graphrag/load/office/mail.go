// SPDX-License-Identifier: Apache-2.0

package office

import (
	"bytes"
	"cmp"
	"encoding/base64"
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
	"github.com/wildgraph/wildgraph/internal/display"
)

// Limits of a message: nesting of parts, number of parts, and bytes of a header or of a name in it.
const (
	maxNested = 8
	maxParts  = 1000
	maxHeader = 4 << 10
)

// mailFile reads a message (RFC 5322, MIME): its sender, receivers, date and subject, which become fields too,
// its text, the messages in it, and the names of attachments. A place is a paragraph.
func mailFile(name string, data []byte) (*load.File, error) {
	if bytes.IndexByte(data[:min(len(data), 64)], 0) >= 0 { // the file is UTF-16
		if f, err := (load.Options{}).Read("message.txt", data); err == nil {
			data = []byte(f.Document.Text)
		}
	}
	data = unixFrom.ReplaceAll(data, nil)
	l := &messageReader{words: mime.WordDecoder{CharsetReader: charset.NewReaderLabel}, left: maxParts}
	d, err := l.message(bytes.NewReader(bytes.TrimLeft(data, "\r\n")), 0)
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	var w load.Writer
	w.Markdown(strings.TrimLeft(d.Text, "\n"), func(int) string { return "" })
	return w.File(name, "¶", d)
}

// unixFrom matches the line "From …" that mailbox files have before a message.
var unixFrom = regexp.MustCompile(`^\s*From [^:\s][^\n]*\n`)

// messageReader is the state of reading a message.
type messageReader struct {
	words    mime.WordDecoder
	left     int      // number of parts that may still be read
	level    int      // level of the message's heading
	attached []string // names of the message's attachments
}

// message returns a message as a document whose text begins with the headers.
func (l *messageReader) message(r io.Reader, depth int) (graphrag.Document, error) {
	d := graphrag.Document{Fields: graphrag.Fields{}}
	m, err := mail.ReadMessage(r)
	if err != nil {
		return d, fmt.Errorf("the file does not begin with the headers of a message: %w", err)
	}
	outer := l.attached
	l.level, l.attached = l.level+1, nil
	defer func() { l.level, l.attached = l.level-1, outer }()
	var b strings.Builder
	if d.Title = l.header(m.Header.Get("Subject")); d.Title != "" {
		d.Fields["subject"] = d.Title
		b.WriteString(strings.Repeat("#", min(l.level, 6)) + " " + load.Inline(d.Title) + "\n\n")
	}
	for _, key := range []string{"From", "To", "Cc"} {
		if shown, addresses := l.people(strings.Join(m.Header[key], ", ")); shown != "" {
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
	text, err := l.part(textproto.MIMEHeader(m.Header), m.Body, "text/plain", depth)
	for _, name := range l.attached {
		b.WriteString("- Attached: " + load.Inline(name) + "\n")
	}
	d.Text = strings.TrimRight(b.String(), "\n") + "\n" + text
	return d, err
}

// header returns the decoded value of a header on one line (RFC 2047).
func (l *messageReader) header(s string) string {
	if out, err := l.words.DecodeHeader(s); err == nil {
		s = out
	}
	if !utf8.ValidString(s) { // not encoded, against the standard
		s, _ = charmap.Windows1252.NewDecoder().String(s)
	}
	if s = display.Single(s); len(s) > maxHeader {
		s = strings.ToValidUTF8(s[:maxHeader], "") + "…"
	}
	return s
}

// people returns the persons in a header: a text for display, and their addresses.
func (l *messageReader) people(s string) (shown string, addresses []string) {
	parser := mail.AddressParser{WordDecoder: &l.words}
	list, err := parser.ParseList(s)
	if err != nil { // not a valid list: shown as it is written
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

// signature matches the line before a signature. Markdown would read the text above it as a heading.
var signature = regexp.MustCompile(`\n-- ?\n`)

// parameter matches a parameter of a header that does not follow the standard.
var parameter = regexp.MustCompile(`(?i)[;\s](boundary|charset|name|filename)\s*=\s*("[^"]*"|[^;\s]+)`)

// kindOf returns the value of a header and its parameters, also of one that does not follow the standard.
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

// noBase64 matches bytes that do not occur in base64.
var noBase64 = regexp.MustCompile(`[^A-Za-z0-9+/]`)

// decoded returns the decoded body of a part; of an incomplete body it returns the readable beginning.
func decoded(h textproto.MIMEHeader, body io.Reader) (data []byte, err error) {
	encoding := strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding")))
	if encoding == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	if data, err = io.ReadAll(body); encoding == "base64" {
		data = noBase64.ReplaceAll(data, nil)
		n := 0
		n, err = base64.RawStdEncoding.Decode(data, data)
		data = data[:n]
	}
	if len(data) > 0 {
		err = nil
	}
	return data, err
}

// readers maps media types to file names whose extensions choose a reader of package load.
var readers = map[string]string{"text/plain": "text.txt", "text/html": "text.html", "text/enriched": "text.html", "text/csv": "text.csv",
	"text/markdown": "text.md", "message/delivery-status": "text.txt"}

// part returns the text of one part of a message. usual is the media type of a part that declares none.
func (l *messageReader) part(h textproto.MIMEHeader, body io.Reader, usual string, depth int) (string, error) {
	kind, params := kindOf(h.Get("Content-Type"))
	kind = cmp.Or(kind, usual)
	disposition, also := kindOf(h.Get("Content-Disposition"))
	name := cmp.Or(l.header(also["filename"]), l.header(params["name"]))
	switch {
	case kind == "multipart/encrypted" || strings.HasSuffix(kind, "pkcs7-mime") && params["smime-type"] != "signed-data":
		return "", errEncrypted
	case strings.HasPrefix(kind, "multipart/") && depth < maxNested:
		data, err := io.ReadAll(body)
		text, n, of := l.parts(multipart.NewReader(bytes.NewReader(data), params["boundary"]), kind, depth)
		if n == 0 && len(bytes.TrimSpace(data)) > 0 { // the boundary does not occur
			data, of = plain(data, readers["text/plain"], "")
			text = string(data)
		}
		return text, cmp.Or(of, err)
	case kind == "message/rfc822" && depth < maxNested:
		data, _ := decoded(h, body)
		if d, err := l.message(bytes.NewReader(data), depth+1); err == nil {
			return "\n" + strings.TrimSpace(d.Text) + "\n", nil
		}
		disposition = "attachment" // a message that cannot be read, such as an encrypted one
	case disposition != "attachment" && (disposition == "inline" || name == "") && readers[kind] != "":
		data, err := decoded(h, body)
		if err == nil {
			data, err = plain(data, readers[kind], params["charset"])
		}
		if err != nil {
			err = fmt.Errorf("the part of type %s: %w", kind, err)
		}
		return string(data), err
	}
	if disposition != "inline" { // an inline picture is not listed
		l.attached = append(l.attached, cmp.Or(name, display.Single(kind)))
	}
	return "", nil
}

// plain converts a text or a page to Markdown. UTF-8 declared as Latin-1 or ASCII is read as UTF-8.
func plain(data []byte, as, name string) ([]byte, error) {
	e, err := load.Charset(name)
	if err != nil {
		return nil, err
	}
	if e != nil && !(e == charmap.Windows1252 && utf8.Valid(data)) {
		if out, err := e.NewDecoder().Bytes(data); err == nil {
			data = bytes.ToValidUTF8(out, []byte("\ufffd"))
		}
	}
	f, err := load.Options{}.Read(as, data)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(f.Document.Text, "\r\n", "\n")
	return []byte("\n" + strings.TrimSpace(signature.ReplaceAllString(text, "\n\n")) + "\n"), nil
}

// parts returns the text of the parts of a part. Of alternatives with mostly the same words it takes the first,
// or a later one with over a quarter more words.
func (l *messageReader) parts(r *multipart.Reader, kind string, depth int) (text string, n int, err error) {
	usual := "text/plain"
	if kind == "multipart/digest" {
		usual = "message/rfc822"
	}
	var texts []string
	for ; ; n++ {
		p, err := r.NextPart()
		if err != nil { // the end, or the message is cut off
			return strings.Join(texts, ""), n, nil
		}
		if l.left--; l.left < 0 {
			return "", n, fmt.Errorf("the message has more than %d parts", maxParts)
		}
		text, err := l.part(p.Header, p, usual, depth+1)
		switch {
		case err != nil:
			return "", n, err
		case strings.TrimSpace(text) == "":
		case kind != "multipart/alternative" || len(texts) == 0 || !alike(texts[0], text):
			texts = append(texts, text)
		case 4*len(letters(text)) > 5*len(letters(texts[0])):
			texts[0] = text
		}
	}
}

// letters returns the words of a text in lower case.
func letters(s string) []string {
	return strings.FieldsFunc(strings.ToLower(load.Plain(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// alike reports whether b contains at least half of the words of a.
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
