// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/wildgraph/wildgraph/internal/display"
)

// extensions are the file extensions of media types.
var extensions = map[string]string{
	"text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt",
	"text/markdown": ".md", "application/pdf": ".pdf",
}

// text converts an answer to a page.
func (f *Fetcher) text(u *url.URL, a answer) (Page, error) {
	kind, _, err := mime.ParseMediaType(a.mime)
	if err != nil {
		kind, _, _ = strings.Cut(http.DetectContentType(a.body), ";")
	}
	name, ext := path.Base("/"+u.Path), extensions[kind]
	if ext == "" {
		ext = strings.ToLower(path.Ext(name))
	}
	body := a.body
	if ext == ".html" || strings.HasPrefix(kind, "text/") {
		if body, err = inUTF8(body, a.mime); err != nil {
			return Page{}, &Error{Kind: NoText, Err: err}
		}
	}
	file, err := f.o.Text(strings.TrimSuffix(name, path.Ext(name))+ext, body)
	if err != nil {
		return Page{}, &Error{Kind: NoText, Err: err}
	}
	page := Page{Final: u.String(), Title: display.OneLine(file.Document.Title), Text: clean(file.Document.Text)}
	if page.Text == "" {
		return Page{}, &Error{Kind: NoText, Err: errors.New("nothing to read on it")}
	}
	return page, nil
}

// inUTF8 decodes a text by the character set that its type or its first kilobyte names.
func inUTF8(body []byte, mime string) ([]byte, error) {
	if utf8.Valid(body) {
		return body, nil
	}
	encoding, name, _ := charset.DetermineEncoding(body, mime)
	out, err := encoding.NewDecoder().Bytes(body)
	if err != nil || !utf8.Valid(out) {
		return nil, fmt.Errorf("not in the character set %q that it names", display.Printable(name))
	}
	return out, nil
}

// clean removes control characters, except tab and line feed, which could control terminals or hide text.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\ufeff' {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n"))
	return strings.TrimSpace(s)
}

// Reader is a service that returns pages as Markdown, such as jina.ai's: GET BASE/URL, a JSON object with
// data.title and data.content.
type Reader struct {
	base   *url.URL
	key    string
	client *http.Client
}

// NewReader returns the service at a base URL. With a key, which may be empty, the URL must be https or of
// this machine.
func NewReader(base, key string) (*Reader, error) {
	u, err := url.Parse(strings.TrimRight(base, "/") + "/")
	if err != nil || checkURL(u) != nil {
		return nil, fmt.Errorf("fetch: %q is no base URL of a reader service, such as https://r.jina.ai", display.Printable(base))
	}
	if ip := net.ParseIP(u.Hostname()); key != "" && u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("fetch: %s would get its key in the clear: use https", u.Redacted())
	}
	return &Reader{base: u, key: key, client: &http.Client{CheckRedirect: noRedirect}}, nil
}

// String returns the base URL, without the key.
func (r *Reader) String() string { return r.base.String() }

// GoString hides the key too.
func (r *Reader) GoString() string { return r.String() }

// read requests a page from the service. The page's own address is checked first, since the service may be in
// a private network.
func (f *Fetcher) read(ctx context.Context, u *url.URL) (Page, error) {
	if err := f.outside(ctx, u); err != nil {
		return Page{}, err
	}
	if err := f.allowed(ctx, u); err != nil {
		return Page{}, err
	}
	r := f.o.Reader
	header := http.Header{"Accept": {"application/json"}}
	if r.key != "" {
		header.Set("Authorization", "Bearer "+r.key)
	}
	at, err := url.Parse(r.base.String() + u.String())
	if err != nil {
		return Page{}, refused(errors.New("not a URL"))
	}
	a, err := f.try(ctx, u, func(ctx context.Context) (answer, error) { return f.get(ctx, r.client, at, header) })
	if err != nil {
		return Page{}, err
	}
	var reply struct {
		Data struct{ Title, URL, Content string }
	}
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(&reply); err != nil {
		return Page{}, &Error{Kind: NoText, Err: errors.New("the reader service replied with no JSON object")}
	}
	page := Page{URL: u.String(), Final: reply.Data.URL, Title: display.OneLine(reply.Data.Title), Text: clean(reply.Data.Content)}
	if page.Text == "" {
		return Page{}, &Error{Kind: NoText, Err: errors.New("the reader service read nothing on it")}
	}
	return page, nil
}

// outside checks the addresses of a URL's host without a request.
func (f *Fetcher) outside(ctx context.Context, u *url.URL) error {
	if err := checkURL(u); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	_, err := f.dialer.lookUp(limited, u.Hostname(), cmp.Or(u.Port(), u.Scheme))
	return err
}
