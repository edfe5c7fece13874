// SPDX-License-Identifier: Apache-2.0

package replies

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// maxJSONDepth limits the depth of nested values in a model's JSON.
const maxJSONDepth = 200

// ReadObject finds the JSON object in a model's reply and returns it as valid, compact JSON. It skips reasoning blocks,
// code fences and prose around the object, and repairs trailing commas, single quotes, comments, raw line breaks in
// strings and the literals of Python and JavaScript (NaN and the infinities become null).
//
// A truncated object is never repaired, since its missing part may be important: it is [ErrTruncated]. Several
// different objects, duplicate keys, broken JSON and no JSON at all are [ErrInvalidOutput]; so are an object
// whose text continues after its last brace and one with unquoted keys, of which only an inner object could be
// read. Braces in prose are skipped.
func ReadObject(text string) (json.RawMessage, error) {
	text, _, open := llm.SplitThinking(text)
	if open {
		return nil, outputError(llm.ErrTruncated, text, errors.New("the reasoning block is not closed"))
	}
	trimmed := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\ufeff"))
	var found []byte
	for at := 0; ; {
		next := strings.IndexByte(trimmed[at:], '{')
		if next < 0 {
			break
		}
		p := &jsonReader{in: trimmed, at: at + next}
		err := p.value(0)
		switch {
		case err == nil && continuation.MatchString(trimmed[p.at:]):
			return nil, outputError(llm.ErrInvalidOutput, text, p.fail("another key or a brace follows the end of the object"))
		case err == nil:
			if at = p.at; len(found) <= len("{}") {
				found = p.out
			} else if len(p.out) > len("{}") && !bytes.Equal(found, p.out) {
				return nil, outputError(llm.ErrInvalidOutput, text, errors.New("several different JSON objects"))
			}
		case errors.Is(err, errCut):
			return nil, outputError(llm.ErrTruncated, text, fmt.Errorf("the JSON object ends too early"))
		case p.sawKey || !prose(trimmed[at+next+1:]):
			return nil, outputError(llm.ErrInvalidOutput, text, err)
		default:
			at += next + 1
		}
	}
	if found == nil {
		return nil, outputError(llm.ErrInvalidOutput, text, errors.New("no JSON object"))
	}
	return found, nil
}

// continuation matches text after an object that seems to belong to it: another key, or one brace too many.
var continuation = regexp.MustCompile(`^\s*(\}|,\s*("[^"]*"|'[^']*')\s*:)`)

// prose reports whether the text after an opening brace is prose, not an object: it begins neither with a quote
// nor with a word that a colon, a quote or another opening brace follows before the closing brace.
func prose(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	first, _ := utf8.DecodeRuneInString(rest)
	if first == '"' || first == '\'' {
		return false
	}
	if !unicode.IsLetter(first) && first != '_' {
		return true
	}
	stop := strings.IndexAny(rest, `{}":`)
	return stop < 0 || rest[stop] == '}'
}

func outputError(kind llm.Kind, text string, err error) *llm.Error {
	return &llm.Error{Kind: kind, Billed: llm.BilledYes, Body: Excerpt([]byte(text)), Err: err}
}

var errCut = errors.New("the JSON ends too early")

// jsonReader reads one JSON value with the faults that models make, and writes it as valid JSON.
type jsonReader struct {
	in     string
	at     int
	out    []byte
	sawKey bool // a key and its colon were read, so the text is JSON, not prose
}

func (p *jsonReader) fail(what string) error {
	return fmt.Errorf("byte %d of the reply: %s", p.at, what)
}

// skip skips blanks and comments.
func (p *jsonReader) skip() error {
	for p.at < len(p.in) {
		switch rest := p.in[p.at:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case strings.HasPrefix(rest, "\u00a0"):
			p.at += len("\u00a0")
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
			end := map[byte]string{'/': "\n", '*': "*/"}[rest[1]]
			n := strings.Index(rest, end)
			if n < 0 {
				return errCut
			}
			p.at += n + len(end)
		default:
			return nil
		}
	}
	return errCut
}

func (p *jsonReader) value(depth int) error {
	if depth > maxJSONDepth {
		return p.fail(fmt.Sprintf("nested deeper than %d", maxJSONDepth))
	}
	if err := p.skip(); err != nil {
		return err
	}
	switch c := p.in[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"' || c == '\'':
		s, err := p.text()
		p.emit(s)
		return err
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.literal()
}

func (p *jsonReader) emit(s string) {
	b, _ := json.Marshal(s) // cannot fail for a string
	p.out = append(p.out, b...)
}

func (p *jsonReader) object(depth int) error {
	p.at++
	p.out = append(p.out, '{')
	seen := map[string]bool{}
	for first := true; ; first = false {
		done, err := p.separator('}', first)
		if done || err != nil {
			return err
		}
		if c := p.in[p.at]; c != '"' && c != '\'' {
			return p.fail("a key in quotes is missing")
		}
		key, err := p.text()
		if err != nil {
			return err
		}
		if err := p.skip(); err != nil {
			return err
		}
		if p.in[p.at] != ':' {
			return p.fail("a colon is missing")
		}
		p.at++
		p.sawKey = true
		if seen[key] {
			return p.fail(fmt.Sprintf("the key %q stands twice", key))
		}
		seen[key] = true
		p.emit(key)
		p.out = append(p.out, ':')
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
}

func (p *jsonReader) array(depth int) error {
	p.at++
	p.out = append(p.out, '[')
	for first := true; ; first = false {
		done, err := p.separator(']', first)
		if done || err != nil {
			return err
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
}

// separator reads the comma before the next element, or the closing bracket.
func (p *jsonReader) separator(end byte, first bool) (done bool, err error) {
	if err := p.skip(); err != nil {
		return false, err
	}
	comma := !first && p.in[p.at] == ','
	if comma {
		p.at++
		if err := p.skip(); err != nil {
			return false, err
		}
	}
	if p.in[p.at] == end {
		p.at++
		p.out = append(p.out, end)
		return true, nil
	}
	if !first && !comma {
		return false, p.fail("a comma is missing")
	}
	if comma {
		p.out = append(p.out, ',')
	}
	return false, nil
}

// text reads a string in double or single quotes.
func (p *jsonReader) text() (s string, err error) {
	quote := p.in[p.at]
	strict := []byte{'"'} // the string as valid JSON
	for p.at++; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; {
		case c == quote:
			p.at++
			// Unmarshal replaces every byte that is no UTF-8 by U+FFFD.
			err = json.Unmarshal(append(strict, '"'), &s)
			return s, err
		case c == '\\':
			if strict, err = p.escape(strict); err != nil {
				return "", err
			}
		case c < ' ':
			strict = fmt.Appendf(strict, `\u%04x`, c)
		case c == '"':
			strict = append(strict, `\"`...)
		default:
			strict = append(strict, c)
		}
	}
	return "", errCut
}

// escape reads an escape sequence and stops at its last byte.
func (p *jsonReader) escape(strict []byte) ([]byte, error) {
	rest := p.in[p.at:]
	switch {
	case len(rest) < 2:
		return nil, errCut
	case rest[1] == '\'':
		p.at++
		return append(strict, '\''), nil
	case strings.IndexByte(`"\/bfnrt`, rest[1]) >= 0:
		p.at++
		return append(strict, rest[:2]...), nil
	case rest[1] != 'u': // "\d" of a regular expression, "\(" of LaTeX: keep the backslash
		return append(strict, `\\`...), nil
	case len(rest) < 6:
		return nil, errCut
	case !json.Valid([]byte(`"` + rest[:6] + `"`)):
		return nil, p.fail("a \\u escape without four hexadecimal digits")
	}
	p.at += 5
	return append(strict, rest[:6]...), nil
}

func (p *jsonReader) number() error {
	start := p.at
	for p.at < len(p.in) && strings.IndexByte("+-.eE0123456789", p.in[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.in) {
		return errCut
	}
	text := p.in[start:p.at]
	if strings.HasPrefix(p.in[p.at:], "Infinity") {
		p.at += len("Infinity")
		p.out = append(p.out, "null"...)
		return nil
	}
	fixed := strings.TrimPrefix(text, "+")
	if strings.HasPrefix(fixed, ".") {
		fixed = "0" + fixed
	}
	fixed = strings.TrimSuffix(fixed, ".")
	if !json.Valid([]byte(fixed)) {
		p.at = start
		return p.fail(fmt.Sprintf("%q is no number", clip(text, 40)))
	}
	p.out = append(p.out, fixed...)
	return nil
}

// literal reads true, false and null, which models also write as True, None or NaN.
func (p *jsonReader) literal() error {
	rest := p.in[p.at:]
	for _, row := range wordRows["literal"] {
		for _, word := range row[1:] {
			if strings.HasPrefix(rest, word) {
				p.at += len(word)
				p.out = append(p.out, row[0]...)
				return nil
			}
			if strings.HasPrefix(word, rest) {
				return errCut
			}
		}
	}
	return p.fail("a value is missing")
}

// bodyExcerpt limits an [Excerpt], in bytes.
const bodyExcerpt = 500

// Excerpt returns the start of a server's reply, without the given secrets and anything that looks like a key.
func Excerpt(body []byte, secrets ...string) string {
	// Remove keys before cutting, so that no half of a key is left at the end.
	text := string(body[:min(len(body), 8*bodyExcerpt)])
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	const hidden = "***"
	for _, s := range secrets {
		if len(s) >= 4 { // a shorter secret, such as "-", is a placeholder
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	return clip(keyLike.ReplaceAllString(text, hidden), bodyExcerpt)
}

// keyLike matches API keys and bearer tokens, which servers repeat in error messages, sometimes shortened.
var keyLike = regexp.MustCompile(`\b(sk|pk|gsk|hf|xai|AIza|key)[-_][A-Za-z0-9*_\-]{6,}|(?i)\bbearer\s+[^\s"',}]+`)

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// reaskExcerpt limits the part of a bad reply that the repeated request shows to the model, in bytes.
const reaskExcerpt = 2000

// Decode asks m for a JSON object and reads it into a T: a struct whose fields are texts, numbers, truth values, lists,
// maps, [Triple] and structs of these. A request without a schema is sent with the schema of T. A method Check() error
// of T adds rules that its type cannot express. If a reply cannot be read, or Check fails, the request is sent once
// more with the fault named; after that the error is [ErrInvalidOutput]. A truncated reply is not requested again.
// Meters of the context count unread replies. The usage in the reply, or in the error, covers all calls.
func Decode[T any](ctx context.Context, m llm.Model, req llm.Request) (T, llm.Reply, error) {
	if len(req.Schema) == 0 {
		req.Schema = Schema[T]()
		req.SchemaName = req.Stage
		req.JSON = req.Schema == nil
	}
	var spent llm.Usage
	for again := false; ; again = true {
		reply, err := m.Generate(ctx, req)
		if err != nil {
			if llm.OfOneReply(err) {
				metering.Unread(ctx, req.Stage, 1)
			}
			var zero T
			return zero, llm.Reply{}, addUsage(err, spent)
		}
		spent = spent.Add(reply.Usage)
		reply.Usage = spent
		value, err := Read[T](reply.Text)
		if err == nil {
			return value, reply, nil
		}
		if again || !errors.Is(err, llm.ErrInvalidOutput) {
			metering.Unread(ctx, req.Stage, 1)
			return value, reply, addUsage(err, spent)
		}
		req.Messages = append(slices.Clip(req.Messages),
			llm.Message{Role: llm.Assistant, Text: clip(reply.Text, reaskExcerpt)},
			llm.Message{Role: llm.User, Text: fmt.Sprintf("That reply does not have the form asked for: %v. "+
				"Reply again with one JSON object of exactly the form shown in the instructions, nothing around it.", errors.Unwrap(err))})
	}
}

// Read reads the JSON of a reply into a T, as [Decode] does. Its errors are [*llm.Error].
func Read[T any](text string) (T, error) {
	var value T
	plain, _, _ := llm.SplitThinking(text)
	raw, err := wholeJSON(Unfence(strings.TrimSpace(plain)), `["`), error(nil) // accepts a list or a quoted text too
	if raw == nil {
		raw, err = ReadObject(text)
	}
	if err != nil {
		return value, err
	}
	v, err := decoded(raw)
	if err == nil {
		err = fit(reflect.ValueOf(&value).Elem(), v, "")
	}
	if c, ok := any(&value).(interface{ Check() error }); ok && err == nil {
		err = c.Check()
	}
	if err != nil {
		return value, outputError(llm.ErrInvalidOutput, text, err)
	}
	return value, nil
}

// wholeJSON returns the JSON value that is the whole text and starts with one of the given bytes; else nil.
func wholeJSON(text, begins string) json.RawMessage {
	p := &jsonReader{in: strings.TrimSpace(text)}
	if strings.IndexAny(p.in, begins) != 0 || p.value(0) != nil || p.at != len(p.in) {
		return nil
	}
	return p.out
}

// addUsage returns the error of the last call with the usage of earlier calls added.
func addUsage(err error, u llm.Usage) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	sum := *e
	sum.Usage = e.Usage.Add(u)
	return &sum
}
