// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Kind is the kind of an [Error].
type Kind string

// The kinds of errors.
const (
	// Refused: the page is not requested, because of its address, its scheme or robots.txt.
	Refused Kind = "refused"
	// Missing: the server does not have the page or denies it.
	Missing Kind = "missing"
	// Unavailable: the server did not answer in time. It may answer later.
	Unavailable Kind = "unavailable"
	// TooLarge: the page exceeds Options.MaxBytes.
	TooLarge Kind = "too large"
	// NoText: the body is no text, or cannot be converted to text.
	NoText Kind = "no text"
)

// Error gives the URL that was not fetched, and the cause.
type Error struct {
	URL  string
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("fetch %s: %s: %v", e.URL, e.Kind, e.Err) }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Page is a fetched page.
type Page struct {
	// URL is the requested address, Final the address after redirects.
	URL, Final string
	// Title is the title in the page, or "".
	Title string
	// Text is the content of the page as Markdown.
	Text string
}

// Options of a fetcher. Agent is required; every other field has a default, given in parentheses.
type Options struct {
	// Agent names the program and a contact, for robots.txt and the owners of servers.
	Agent string
	// Pause is the time between two requests to a host (1 s); robots.txt may demand more, up to MaxPause (30
	// s).
	Pause, MaxPause time.Duration
	// Timeout limits one request, and all requests for a robots.txt together (60 s); MaxBytes limits a
	// decompressed body (load.MaxFile).
	Timeout  time.Duration
	MaxBytes int64
	// Tries is the number of requests for a page whose server is busy or does not answer (3).
	Tries int
	// NoRobots ignores robots.txt, for the user's own server.
	NoRobots bool
	// Text converts a page in UTF-8 to Markdown. The extension of its name gives the type (load.Options.Read).
	Text func(name string, body []byte) (*load.File, error)
	// Reader is a service through which pages are read; nil fetches them directly.
	Reader *Reader

	// Resolver (net.DefaultResolver) and Allow (Public) decide which addresses are contacted. Tests set them to
	// reach servers of their own.
	Resolver Resolver
	Allow    func(netip.AddrPort) error
}

const (
	// MaxRedirects is the largest number of redirects that are followed for a page.
	MaxRedirects = 5
	// hostsAtATime is the largest number of hosts to which requests are sent concurrently.
	hostsAtATime = 64
)

func (o Options) complete() (Options, error) {
	if strings.TrimSpace(o.Agent) == "" {
		return o, errors.New("fetch: Agent is empty: name your program and whom to write to")
	}
	if min(o.Pause, o.MaxPause, o.Timeout) < 0 || o.MaxBytes < 0 || o.Tries < 0 {
		return o, errors.New("fetch: a time or a limit in Options is negative")
	}
	o.Pause, o.MaxPause = cmp.Or(o.Pause, time.Second), cmp.Or(o.MaxPause, 30*time.Second)
	o.Timeout, o.MaxBytes, o.Tries = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.MaxBytes, load.MaxFile), cmp.Or(o.Tries, 3)
	if o.Text == nil {
		o.Text = load.Options{}.Read
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Allow == nil {
		o.Allow = Public
	}
	return o, nil
}

// Fetcher gets pages.
type Fetcher struct {
	o      Options
	client *http.Client
	dialer *dialer
	hosts  hosts
}

// New returns a fetcher.
func New(o Options) (*Fetcher, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	f := &Fetcher{o: o, dialer: newDialer(o.Resolver, o.Allow)}
	f.client = &http.Client{Transport: f.dialer.transport(), CheckRedirect: noRedirect}
	f.hosts.slots, f.hosts.all = make(chan struct{}, hostsAtATime), make(map[string]*hostState)
	return f, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Page fetches a page. The error is an *Error, or ctx.Err().
func (f *Fetcher) Page(ctx context.Context, address string) (Page, error) {
	page, err := f.page(ctx, address)
	switch {
	case err == nil:
		return page, nil
	case ctx.Err() != nil:
		return Page{}, ctx.Err()
	}
	var known *Error
	if !errors.As(err, &known) {
		known = &Error{Kind: Unavailable, Err: err}
		if errors.As(err, new(refusal)) {
			known.Kind = Refused
		}
	}
	known.URL = display.Printable(address)
	return Page{}, known
}

func (f *Fetcher) page(ctx context.Context, address string) (Page, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return Page{}, refused(errors.New("not a URL"))
	}
	u.Fragment = ""
	if f.o.Reader != nil {
		return f.read(ctx, u)
	}
	for range MaxRedirects + 1 {
		a, err := f.ask(ctx, u)
		if err != nil {
			return Page{}, err
		}
		if a.location == nil {
			page, err := f.text(u, a)
			page.URL = address
			return page, err
		}
		u = a.location
	}
	return Page{}, refused(fmt.Errorf("more than %d redirects", MaxRedirects))
}

// answer is a response of a server: a body, or the target of a redirect.
type answer struct {
	body     []byte
	mime     string
	location *url.URL
}

// ask requests one URL, again while its server is busy.
func (f *Fetcher) ask(ctx context.Context, u *url.URL) (answer, error) {
	if err := checkURL(u); err != nil {
		return answer{}, err
	}
	if err := f.allowed(ctx, u); err != nil {
		return answer{}, err
	}
	return f.try(ctx, u, func(ctx context.Context) (answer, error) { return f.get(ctx, f.client, u, nil) })
}

// try sends a request when it is the turn of its host, again while the server is busy or does not answer.
func (f *Fetcher) try(ctx context.Context, u *url.URL, get func(context.Context) (answer, error)) (answer, error) {
	var a answer
	var err error
	for range f.o.Tries {
		var h *hostState
		if h, err = f.hosts.enter(ctx, u); err != nil {
			return answer{}, err
		}
		limited, cancel := context.WithTimeout(ctx, f.o.Timeout)
		a, err = get(limited)
		cancel()
		pause := max(f.o.Pause, h.delay())
		var busy *busyError
		if errors.As(err, &busy) {
			pause = max(pause, busy.wait)
		}
		f.hosts.leave(h, min(pause, f.o.MaxPause))
		if err == nil || ctx.Err() != nil || errors.As(err, new(*Error)) || errors.As(err, new(refusal)) { // nothing to retry
			break
		}
	}
	return a, err
}

// busyError means that the server asks to repeat the request later.
type busyError struct {
	status string
	wait   time.Duration
}

func (e *busyError) Error() string { return e.status }

// get sends one request and reads the answer.
func (f *Fetcher) get(ctx context.Context, c *http.Client, u *url.URL, header http.Header) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return answer{}, refused(errors.New("not a URL"))
	}
	req.Header.Set("User-Agent", f.o.Agent)
	maps.Copy(req.Header, header)
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, plain(err)
	}
	defer resp.Body.Close() // closing a body that was read cannot lose data
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400 && resp.Header.Get("Location") != "":
		to, err := u.Parse(resp.Header.Get("Location"))
		if err != nil {
			return answer{}, refused(errors.New("the server redirects to no valid URL"))
		}
		to.Fragment = ""
		return answer{location: to}, nil
	case s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s >= 500:
		return answer{}, &busyError{resp.Status, retryAfter(resp.Header.Get("Retry-After"))}
	case s != http.StatusOK:
		return answer{}, &Error{Kind: Missing, Err: errors.New(display.Printable(resp.Status))}
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && packed != "identity" { // the transport has unpacked gzip already
		return answer{}, &Error{Kind: NoText, Err: fmt.Errorf("the server packed the page as %.40q, which was not requested", packed)}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.o.MaxBytes+1))
	if int64(len(body)) > f.o.MaxBytes {
		return answer{}, &Error{Kind: TooLarge, Err: fmt.Errorf("more than %d bytes", f.o.MaxBytes)}
	}
	if err != nil {
		return answer{}, plain(err)
	}
	return answer{body: body, mime: resp.Header.Get("Content-Type")}, nil
}

// plain returns the error of a request without the URL, since [Error] names it.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// extensions maps media types to file extensions.
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
	name := path.Base("/" + u.Path)
	ext := cmp.Or(extensions[kind], strings.ToLower(path.Ext(name)))
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
		return Page{}, &Error{Kind: NoText, Err: errors.New("the page has no readable text")}
	}
	return page, nil
}

// inUTF8 converts a text to UTF-8 from the character set that its media type or its first kilobyte names.
func inUTF8(body []byte, mime string) ([]byte, error) {
	if utf8.Valid(body) {
		return body, nil
	}
	encoding, name, _ := charset.DetermineEncoding(body, mime)
	out, err := encoding.NewDecoder().Bytes(body)
	if err != nil || !utf8.Valid(out) {
		return nil, fmt.Errorf("the text is not in the character set %q that the page names", display.Printable(name))
	}
	return out, nil
}

// clean removes control characters, which could control terminals or hide text, except tab and line feed.
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

// NewReader returns the service at a base URL. With a key, which may be "", it must be https or on this
// machine.
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

// read requests a page from the service. The page's own address is checked first, since the service may be
// inside of a private network and could reach it.
func (f *Fetcher) read(ctx context.Context, u *url.URL) (Page, error) {
	if err := checkURL(u); err != nil {
		return Page{}, err
	}
	limited, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	if _, err := f.dialer.lookUp(limited, u.Hostname(), cmp.Or(u.Port(), u.Scheme)); err != nil {
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
		return Page{}, &Error{Kind: NoText, Err: errors.New("the reply of the reader service is not a JSON object")}
	}
	page := Page{URL: u.String(), Final: reply.Data.URL, Title: display.OneLine(reply.Data.Title), Text: clean(reply.Data.Content)}
	if page.Text == "" {
		return Page{}, &Error{Kind: NoText, Err: errors.New("the reader service found no text on the page")}
	}
	return page, nil
}
