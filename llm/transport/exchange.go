// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// exchange is one call with all its attempts. It implements the back-off, since the wait depends on the last reply.
type exchange struct {
	t      *Transport
	req    *http.Request
	body   []byte
	key    string // idempotency key, equal in all attempts; its random part tells two calls with equal bodies apart
	gate   *gate
	take   reader
	stream *stream   // nil if the reply is wanted in one piece
	used   llm.Usage // usage of all attempts
	served string

	failures int       // number of failed attempts
	since    time.Time // time of the first failure
	attempts int       // number of failures that concern this call, not the endpoint
	soft     int
	busy     time.Duration // time spent in attempts and back-off
	paused   bool          // the last attempt met an endpoint that is down
	outage   bool          // the last failure concerned the endpoint, see endpointFails
	last     *llm.Error
}

func newExchange(t *Transport, req *http.Request, body []byte, read reader) *exchange {
	var sent struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(body, &sent) // other bodies name no model
	sum := sha256.Sum256(body)
	return &exchange{
		t: t, req: req, body: body, take: read, key: fmt.Sprintf("%x-%s", sum[:8], rand.Text()),
		gate: t.gate(strings.TrimSpace(display(req.URL)+" "+sent.Model), loopback(req.URL.Hostname())),
	}
}

// do sends a request until it has a reply or may not retry. Its errors are [*llm.Error]. s may be nil.
func (t *Transport) do(req *http.Request, body []byte, s *stream, read reader) (*http.Response, error) {
	x := newExchange(t, req, body, read)
	x.stream = s
	ctx := req.Context()
	resp, err := backoff.Retry(ctx, func() (*http.Response, error) {
		if x.failures > 0 {
			if err := metering.MayRetry(ctx); err != nil {
				return nil, backoff.Permanent(x.stopped(err))
			}
		}
		resp, e := x.attempt()
		if e == nil {
			return resp, nil
		}
		if x.recordFailure(e); x.final(e) {
			return nil, backoff.Permanent(e.Error)
		}
		return nil, e.Error
	}, backoff.WithBackOff(x), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		if !x.paused {
			t.o.Logger.WarnContext(ctx, "transport: trying again", "failures", x.failures, "wait", wait, "error", err)
		}
	}))
	if err == nil {
		return resp, nil
	}
	var e *llm.Error
	if !errors.As(err, &e) { // the context ended between two attempts
		e = llm.Canceled(ctx, llm.BilledNo)
	}
	e.Endpoint, e.Usage = display(req.URL), x.used
	return nil, e
}

// recordFailure records the cost and the kind of a failed attempt.
func (x *exchange) recordFailure(e *failure) {
	e.Endpoint = display(x.req.URL)
	x.last = e.Error
	if e.final {
		return
	}
	if e.Billed == llm.BilledUnknown {
		metering.RecordUnknown(x.req.Context())
	}
	if x.failures++; x.failures == 1 {
		x.since = time.Now()
	}
	if x.outage = x.endpointFails(e); x.outage {
		return
	}
	x.attempts++
	if e.soft {
		x.soft++
	}
}

// endpointFails reports whether a failure concerns the endpoint and not this call: the endpoint is down, it
// answered earlier calls and none since this call first failed, or it limits the rate. Such failures use up
// no attempts; the wait for the endpoint has its own limit.
func (x *exchange) endpointFails(e *failure) (fails bool) {
	x.paused = false
	if e.Kind == llm.ErrTransient || e.Kind == llm.ErrTimeout {
		x.paused, fails = x.gate.fails(x.since)
	}
	return fails || x.paused || e.Kind == llm.ErrRateLimited
}

func (x *exchange) final(e *failure) bool {
	return e.final || x.stream.begun() || !e.Retryable() && e.Kind != ErrBadVector || x.req.Context().Err() != nil || e.RetryAfter > x.t.o.MaxRetryAfter ||
		x.attempts >= x.t.o.Attempts || x.soft > maxSoft
}

// Reset implements backoff.BackOff.
func (x *exchange) Reset() {}

// NextBackOff returns a random wait above the server's Retry-After (full jitter). It stops at the deadline,
// which does not count the wait for a failing endpoint: that has its own limit, MaxOutage.
func (x *exchange) NextBackOff() time.Duration {
	if x.paused {
		return 0 // the gate delays the next attempt
	}
	ceiling := x.t.o.MaxDelay
	if n := x.failures - 1; n < 30 {
		ceiling = min(ceiling, x.t.o.BaseDelay<<max(n, 0))
	}
	wait := x.last.RetryAfter
	if ceiling > 0 { // random, so that calls that failed together are not retried together; no result depends on it
		wait += 1 + mrand.N(ceiling)
	}
	if x.outage {
		if time.Since(x.since)+wait >= x.t.o.MaxOutage {
			return x.stop(fmt.Sprintf("%d attempts in %s", x.failures, x.t.o.MaxOutage))
		}
		return wait
	}
	if x.busy+wait >= x.t.o.Deadline {
		return x.stop(fmt.Sprintf("%d attempts in the deadline of %s", x.failures, x.t.o.Deadline))
	}
	x.busy += wait
	return wait
}

// stopped returns the error of a call that may not be retried, with the last failure; why is the reason.
func (x *exchange) stopped(why error) *llm.Error {
	e := &llm.Error{Kind: llm.ErrTransient, Billed: x.last.Billed, Err: fmt.Errorf("%w; the call is not retried after: %w", why, x.last)}
	if own := (*llm.Error)(nil); errors.As(why, &own) {
		e.Kind = own.Kind
	}
	return e
}

func (x *exchange) stop(why string) time.Duration {
	cause := errors.New(why)
	if x.last.Err != nil {
		cause = fmt.Errorf("%w (%s)", x.last.Err, why)
	}
	x.last.Err = cause
	return backoff.Stop
}

// attempt waits until the gate admits the request, and sends it once.
func (x *exchange) attempt() (*http.Response, *failure) {
	ctx := x.req.Context()
	probe, e := x.gate.enter(ctx)
	if e != nil {
		return nil, e
	}
	if x.t.inflight.Acquire(ctx, 1) != nil {
		e = &failure{Error: llm.Canceled(ctx, llm.BilledNo)}
		x.gate.leave(probe, e.Error, 0, 0, "")
		return nil, e
	}
	began, before := time.Now(), workOf(x.used)
	resp, e := x.send(ctx)
	took := time.Since(began)
	x.busy += took
	x.t.inflight.Release(1)
	if e != nil {
		x.gate.leave(probe, e.Error, 0, 0, "")
		return nil, e
	}
	x.gate.leave(probe, nil, 1+workOf(x.used)-before, max(took.Seconds(), 1e-6), x.served)
	return resp, nil
}

// workOf returns the work of a server for a reply, in units of one generated token. A token of the prompt is an
// eighth: by llama-bench, processors and small graphics cards read a prompt about eight times as fast.
func workOf(u llm.Usage) float64 {
	return float64(u.CompletionTokens) + float64(u.PromptTokens+u.EmbeddedTokens)/8
}

// send sends the request and reads the whole reply.
func (x *exchange) send(ctx context.Context) (*http.Response, *failure) {
	t := x.t
	actx, cancel := context.WithTimeout(ctx, max(0, min(t.o.AttemptTimeout, t.o.Deadline-x.busy)))
	defer cancel()
	actx, idle := context.WithCancelCause(actx)
	defer idle(nil)
	began := time.Now()
	defer x.logWait(began)()
	x.stream.reset()
	req := x.req.Clone(actx)
	req.GetBody = nil
	if len(x.body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(x.body))
		req.ContentLength = int64(len(x.body))
		req.Header.Set("Idempotency-Key", x.key)
	}
	resp, err := t.o.Base.RoundTrip(req)
	if err != nil {
		return nil, x.redacted(classifyNet(ctx, err))
	}
	body := &idleReader{r: resp.Body, limit: t.o.IdleTimeout, timer: time.AfterFunc(t.o.IdleTimeout, func() { idle(errIdle) })}
	var from io.Reader = io.LimitReader(body, t.o.MaxBody+1)
	streams := x.stream != nil && resp.StatusCode == http.StatusOK
	if streams {
		from = io.TeeReader(from, x.stream)
	}
	data, err := io.ReadAll(from)
	body.timer.Stop()
	err = errors.Join(err, resp.Body.Close())
	t.o.Logger.DebugContext(ctx, "transport: request", "endpoint", display(x.req.URL), "status", resp.StatusCode,
		"bytes", len(data), "seconds", time.Since(began).Seconds())
	if int64(len(data)) > t.o.MaxBody {
		return nil, x.addPartial(&failure{Error: &llm.Error{Kind: llm.ErrInvalidOutput, Status: resp.StatusCode, Billed: llm.BilledYes,
			Err: fmt.Errorf("the reply has more than %d bytes", t.o.MaxBody)}})
	}
	if x.stream != nil && x.stream.err != nil {
		return nil, x.addPartial(x.ended(x.stream.err))
	}
	if err != nil {
		if errors.Is(context.Cause(actx), errIdle) {
			err = errIdle
		}
		return nil, x.addPartial(x.redacted(classifyNet(ctx, err)))
	}
	if streams {
		if data, err = x.stream.whole(data); err != nil {
			return nil, x.addPartial(x.ended(err))
		}
	}
	if e := x.read(resp, data); e != nil {
		if x.stream != nil && !x.stream.ended { // the server sent an error in the middle of the stream
			e = x.addPartial(e)
		}
		return nil, e
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	return resp, nil
}

// addPartial adds the estimated usage of an interrupted stream, for which the server reports none.
func (x *exchange) addPartial(e *failure) *failure {
	s := x.stream
	if s == nil {
		return e
	}
	if came := s.raw.String() + s.thought.String() + s.refusal.String() + s.arguments.String(); came != "" {
		used := llm.Reply{Text: came}.UsageFor(s.req)
		x.used = x.used.Add(used)
		metering.RecordUsage(x.req.Context(), used)
		e.Billed = llm.BilledYes
	}
	return e
}

// ended returns the failure of a stream that its server or its caller has ended.
func (x *exchange) ended(err error) *failure {
	var e *llm.Error
	if !errors.As(err, &e) {
		e = &llm.Error{Kind: llm.ErrCanceled, Billed: llm.BilledUnknown, Err: err}
	}
	return &failure{Error: e, soft: true}
}

// logWait logs repeatedly that a reply is late. When stop returns, it logs no more.
func (x *exchange) logWait(began time.Time) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	tick := time.NewTicker(patience)
	go func() {
		defer close(ended)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				x.t.o.Logger.WarnContext(x.req.Context(), "transport: no reply yet", "endpoint", display(x.req.URL),
					"waited", time.Since(began).Round(time.Second), "limit", x.t.o.AttemptTimeout)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// errIdle means that a reply began and no more bytes of it arrived within IdleTimeout.
var errIdle = fmt.Errorf("the reply stopped in the middle: %w", context.DeadlineExceeded)

// idleReader resets a timer after every read.
type idleReader struct {
	r     io.Reader
	limit time.Duration
	timer *time.Timer
}

func (w *idleReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.timer.Reset(w.limit)
	return n, err
}

// read checks a complete reply and records its usage.
func (x *exchange) read(resp *http.Response, data []byte) *failure {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		e := classifyStatus(resp.StatusCode, resp.Header, data)
		e.Body = replies.Excerpt(sentence(data), x.secrets()...)
		// A redirect is an error, so that no client sends the key and the prompt to another address.
		if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
			e.Err = errors.New("the server redirects elsewhere: use that address as the base URL")
		}
		return &failure{Error: e}
	}
	if start := bytes.TrimLeft(data, " \t\r\n\ufeff"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return &failure{soft: true, Error: &llm.Error{Kind: llm.ErrTransient, Status: resp.StatusCode, Body: replies.Excerpt(data, x.secrets()...),
			Billed: llm.BilledNo, Err: errors.New("the reply is not JSON: is this the base URL of a model server?")}}
	}
	used, served, err := x.take(data)
	x.used, x.served = x.used.Add(used), served
	metering.RecordUsage(x.req.Context(), used)
	if err == nil {
		return nil
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		// The JSON is incomplete, or it is no reply.
		e = &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown, Body: replies.Excerpt(data, x.secrets()...), Err: err}
	}
	if e.Status == 0 {
		e.Status = resp.StatusCode
	}
	if e.Body != "" { // its cut may have left half a secret: redacted removes secrets from a longer part
		e.Body = string(data[:min(len(data), maxExcerpt)])
	}
	return x.redacted(&failure{Error: e, soft: true})
}

// secrets returns the values that must not show in errors.
func (x *exchange) secrets() []string {
	var out []string
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Cookie", "Openai-Organization"} {
		for _, v := range x.req.Header.Values(name) {
			_, token, found := strings.Cut(v, " ")
			if !found {
				token = v
			}
			out = append(out, token, strings.Trim(strconv.Quote(token), `"`)) // the token, and the token as %q writes it
		}
	}
	if p, ok := x.req.URL.User.Password(); ok {
		out = append(out, p)
	}
	for _, name := range []string{"key", "api_key", "api-key", "token"} {
		out = append(out, x.req.URL.Query()[name]...)
	}
	return out
}

// redacted removes secrets from the texts of a failure; even errors of package net/http quote parts of a reply.
func (x *exchange) redacted(e *failure) *failure {
	secrets := x.secrets()
	e.Body = replies.Excerpt([]byte(e.Body), secrets...)
	if e.Err != nil {
		if shown := replies.Excerpt([]byte(e.Err.Error()), secrets...); shown != e.Err.Error() {
			e.Err = errors.New(shown)
		}
	}
	return e
}

// usageIn reads the token counts in a reply of OpenAI's or Ollama's format, to a chat or to texts to embed.
func usageIn(data []byte) llm.Usage {
	var r struct {
		Usage      tokenCounts    `json:"usage"`
		Data       []struct{}     `json:"data"`
		Embeddings [][]any        `json:"embeddings"`
		PromptEval metering.Count `json:"prompt_eval_count"`
		Eval       metering.Count `json:"eval_count"`
	}
	_ = json.Unmarshal(data, &r)
	prompt := cmp.Or(r.Usage.Prompt, r.PromptEval)
	if r.Data != nil || r.Embeddings != nil {
		return metering.EmbeddedUsage(prompt, 0)
	}
	return metering.UsageOf(prompt, cmp.Or(r.Usage.Completion, r.Eval))
}
