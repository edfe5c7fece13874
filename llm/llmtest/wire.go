// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// wireLine is a line of a cassette of HTTP.
type wireLine struct {
	Method   string            `json:"method"`
	URL      string            `json:"url"`
	Path     string            `json:"path"` // what requests are matched by, with the body
	Body     string            `json:"body"`
	Status   int               `json:"status,omitempty"`
	Header   map[string]string `json:"header,omitempty"`
	Reply    string            `json:"reply,omitempty"`
	ReplyRaw []byte            `json:"reply_raw,omitempty"` // in place of Reply, when that is no UTF-8
	Error    string            `json:"error,omitempty"`
}

func (l wireLine) key() string { return l.Method + " " + l.Path + " " + l.Body }

// keptHeaders of a reply are recorded, all others are not, and none of a
// request.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "Date", "Location"}

// WireRecorder is an http.RoundTripper that writes down what passes.
type WireRecorder struct {
	base http.RoundTripper
	w    *lineWriter
}

// NewWireRecorder records what base does on w. It is meant as the Base of an
// [transport.Options], so that every attempt is recorded; models and
// embedders can share one.
func NewWireRecorder(base http.RoundTripper, w io.Writer) *WireRecorder {
	return &WireRecorder{base, &lineWriter{w: w}}
}

// RoundTrip implements [http.RoundTripper].
func (r *WireRecorder) RoundTrip(req *http.Request) (*http.Response, error) {
	line, secrets, again, err := lineOf(req)
	if err != nil {
		return nil, err
	}
	resp, err := r.base.RoundTrip(again)
	if err != nil {
		line.Error = scrub(err.Error(), secrets)
		if req.Context().Err() == nil {
			err = errors.Join(err, r.w.write(line))
		}
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		line.Error = scrub(err.Error(), secrets)
		return nil, errors.Join(err, r.w.write(line))
	}
	line.Status, line.Header = resp.StatusCode, map[string]string{}
	for _, name := range keptHeaders {
		if v := resp.Header.Get(name); v != "" {
			line.Header[name] = scrub(v, secrets)
		}
	}
	if text := scrub(string(data), secrets); utf8.ValidString(text) {
		line.Reply = text
	} else {
		line.ReplyRaw = []byte(text)
	}
	if err := r.w.write(line); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// lineOf is the request's part of a line, the secrets that came with it, and
// the request with its body whole again.
func lineOf(req *http.Request) (wireLine, []string, *http.Request, error) {
	var body []byte
	again := req.Clone(req.Context())
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return wireLine{}, nil, nil, fmt.Errorf("llmtest: read the request: %w", err)
		}
		_ = req.Body.Close()
		again.Body = io.NopCloser(bytes.NewReader(body))
	}
	secrets := secretsOf(req)
	line := wireLine{
		Method: req.Method, URL: scrubURL(req.URL, secrets), Path: scrub(req.URL.Path, secrets),
		Body: strings.ToValidUTF8(scrub(string(body), secrets), "\uFFFD"),
	}
	return line, secrets, again, nil
}

// plainHeaders of a request hold no secret; whatever else stands in a header
// is blotted out wherever it shows up.
var plainHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Type": true, "Content-Length": true, "User-Agent": true, "Idempotency-Key": true,
}

func secretsOf(req *http.Request) []string {
	var out []string
	add := func(v string) {
		out = append(out, v)
		if _, token, ok := strings.Cut(v, " "); ok { // Bearer, Basic
			out = append(out, token)
		}
	}
	for name, values := range req.Header {
		if plainHeaders[name] {
			continue
		}
		for _, v := range values {
			add(v)
		}
	}
	for _, c := range req.Cookies() {
		add(c.Value)
	}
	if p, ok := req.URL.User.Password(); ok {
		add(p)
	}
	for name, values := range req.URL.Query() {
		if secretParameter(name) {
			for _, v := range values {
				add(v)
			}
		}
	}
	return out
}

// WireReplay is an http.RoundTripper that answers from a cassette, whatever
// the host: requests are matched by method, path and body.
type WireReplay struct{ t *tape[wireLine] }

// NewWireReplay reads the cassette of a [WireRecorder].
func NewWireReplay(r io.Reader) (*WireReplay, error) {
	t, err := readTape(r, func(b []byte) (string, wireLine, error) {
		var l wireLine
		if err := json.Unmarshal(b, &l); err != nil {
			return "", l, err
		}
		if l.Method == "" || (l.Status == 0) == (l.Error == "") {
			return "", l, errors.New("want a method, and a status or an error")
		}
		return l.key(), l, nil
	})
	if err != nil {
		return nil, err
	}
	return &WireReplay{t}, nil
}

// RoundTrip implements [http.RoundTripper].
func (p *WireReplay) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	asked, _, _, err := lineOf(req)
	if err != nil {
		return nil, err
	}
	l, err := p.t.play(asked.key())
	if err != nil {
		return nil, err
	}
	if l.Error != "" {
		return nil, errors.New(l.Error)
	}
	data := []byte(l.Reply)
	if l.ReplyRaw != nil {
		data = l.ReplyRaw
	}
	h := http.Header{}
	for name, v := range l.Header {
		h.Set(name, v)
	}
	return &http.Response{
		Status: http.StatusText(l.Status), StatusCode: l.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: req,
	}, nil
}
