// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// failure is the error of an attempt; soft and final limit the retries.
type failure struct {
	*llm.Error
	soft  bool // the call is retried at most maxSoft times
	final bool // the call is not retried, whatever the kind of the error
}

// classifyStatus returns the error of a reply without a success status.
func classifyStatus(status int, h http.Header, body []byte) *llm.Error {
	e := &llm.Error{Status: status, RetryAfter: parseRetryAfter(h, time.Now())}
	_, code, message := serverError(body)
	e.Kind, e.Billed = kindOf(status, code, message)
	return e
}

// kindOf decides by the codes for spent credit, then by the status, then by other codes. The message only tells a
// prompt that is too long from other bad requests: numbers in it prove nothing ("14290 tokens" is no status 429).
func kindOf(status int, code, message string) (llm.Kind, llm.Billed) {
	switch {
	case status == http.StatusPaymentRequired,
		code == "insufficient_quota", code == "billing_hard_limit_reached", code == "billing_not_active":
		return llm.ErrQuotaExhausted, llm.BilledNo
	case status == http.StatusTooManyRequests, status == 529: // Anthropic sends 529 when it is overloaded
		return llm.ErrRateLimited, llm.BilledNo
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.ErrAuth, llm.BilledNo
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return llm.ErrTimeout, llm.BilledUnknown
	case status == http.StatusConflict, status == http.StatusTooEarly:
		return llm.ErrTransient, llm.BilledNo
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return llm.ErrBadRequest, llm.BilledNo
	case status >= 500:
		return llm.ErrTransient, llm.BilledUnknown
	case code == "context_length_exceeded", tooLong.MatchString(message):
		return llm.ErrContextLength, llm.BilledNo
	case code == "content_filter", code == "content_policy_violation":
		return llm.ErrFiltered, llm.BilledNo
	}
	return llm.ErrBadRequest, llm.BilledNo
}

// tooLong matches the messages of OpenAI, vLLM, llama.cpp, LM Studio and Ollama about a prompt that does not fit.
var tooLong = regexp.MustCompile(
	`(?i)context[ _]length|context window|available context size|exceeds context|(?:prompt|input) is too long|too many tokens`)

// serverError reads {"error": {"code", "type", "message"}}, {"error": "text"} and {"message": "text"}. The
// status is the code if that is a number, else 0.
func serverError(body []byte) (status int, code, message string) {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if lenient(body, &outer) != nil {
		return 0, "", string(body[:min(len(body), 4096)])
	}
	var inner struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	err := lenient(outer.Error, &inner)
	number, _ := inner.Code.(float64)
	if err == nil {
		code, _ := inner.Code.(string)
		return int(number), cmp.Or(code, inner.Type), inner.Message
	}
	_ = json.Unmarshal(outer.Error, &message) // an error that is no text has no message
	return int(number), "", cmp.Or(message, outer.Message)
}

// errorInBody returns the error in a body that came with a success status, as some gateways and streaming
// servers send it, or nil if the body has no error.
func errorInBody(body []byte) *llm.Error {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil || !isError(outer.Error) {
		return nil
	}
	status, code, message := serverError(body)
	if status < 400 || status >= 600 {
		status = http.StatusBadGateway
	}
	kind, billed := kindOf(status, code, message)
	if kind == llm.ErrTransient && tooLong.MatchString(message) {
		kind, billed = llm.ErrContextLength, llm.BilledNo
	}
	return &llm.Error{Kind: kind, Status: status, Billed: billed, Body: replies.Excerpt(sentence(body))}
}

// isError reports whether the value of "error" is not empty: some servers write an empty one into each reply.
func isError(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", `""`, "false", "{}", "[]", "0"}, string(bytes.TrimSpace(raw)))
}

// sentence returns the message in the body of an error, or the whole body if it has no message.
func sentence(body []byte) []byte {
	if _, _, message := serverError(body); message != "" {
		return []byte(message)
	}
	return body
}

// classifyNet returns the error of an attempt without a complete reply. ctx is the caller's, not the attempt's.
func classifyNet(ctx context.Context, err error) *failure {
	if ctx.Err() != nil {
		return &failure{Error: llm.Canceled(ctx, llm.BilledUnknown)}
	}
	var own *llm.Error
	if errors.As(err, &own) { // the error comes from Options.Base
		e := *own
		return &failure{Error: &e}
	}
	// Keep the cause only: the URL may contain secrets.
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	e := &failure{Error: &llm.Error{Kind: llm.ErrTransient, Err: err}}
	switch {
	case errors.As(err, &certificate):
		e.Kind, e.Billed, e.Err = llm.ErrBadRequest, llm.BilledNo, fmt.Errorf(
			"%w: check the base URL; if the server is yours, let this machine trust its authority (SSL_CERT_FILE names a file of certificates)", err)
	case errors.As(err, &record):
		e.Kind, e.Billed = llm.ErrBadRequest, llm.BilledNo
		e.Err = fmt.Errorf("%w: the server does not speak TLS there: check the base URL, is it http?", err)
	case errors.As(err, &dns), errors.Is(err, syscall.ECONNREFUSED), errors.As(err, &op) && op.Op == "dial":
		e.Billed, e.soft = llm.BilledNo, true
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Kind = llm.ErrTimeout
	}
	return e
}

// parseRetryAfter reads retry-after-ms and both forms of Retry-After. A date in Retry-After is compared with
// the server's Date. Invalid values and past dates give 0.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	const most = 1e6 // limit in seconds, so that the conversion does not overflow
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && !math.IsNaN(ms) {
		return time.Duration(min(ms, most*1e3) * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		if !(s > 0) {
			return 0
		}
		return time.Duration(min(s, most) * float64(time.Second))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), 0), most*time.Second)
}

// ErrBadVector is the kind of the error of an unusable embedding, see [CheckVectors]. It is retried at most twice.
const ErrBadVector llm.Kind = "unusable vector"

// maxNorm limits the Euclidean length of a vector, so that the product of two does not overflow a float32.
const maxNorm = 1e18

// CheckVectors returns an error for unusable vectors of texts: a wrong number of vectors or components, a
// component that is not a number, a length above 1e18, or only zeros for a text that is not blank. Servers send
// all of these with status 200, so check vectors before storing them.
func CheckVectors(texts []string, vectors [][]float32) error {
	bad := func(format string, args ...any) error {
		return &llm.Error{Kind: ErrBadVector, Billed: llm.BilledYes, Err: fmt.Errorf(
			format+": not kept; check that the server runs this embedding model soundly, or name another", args...)}
	}
	if len(vectors) != len(texts) {
		return bad("%d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return bad("vector %d has %d dimensions, vector 0 has %d", i, len(v), len(vectors[0]))
		}
		squares := 0.0 // infinite or NaN if any component is
		for _, x := range v {
			squares += float64(x) * float64(x)
		}
		switch norm := math.Sqrt(squares); {
		case !(norm <= maxNorm):
			return bad("vector %d has a component that is not a number, or the length %.3g, above %g", i, norm, maxNorm)
		case norm == 0 && strings.TrimSpace(texts[i]) != "":
			return bad("vector %d is nothing but zeros", i)
		}
	}
	return nil
}
