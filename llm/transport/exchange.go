// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mrand "math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/usage"
)

// exchange is one call with all its attempts. It is its own back-off, since
// the wait depends on what the server said last.
type exchange struct {
	t    *Transport
	req  *http.Request
	call *Call
	body []byte
	key  string
	gate *gate
	// reserve is the estimate of the tokens an attempt takes.
	reserve int

	attempts int
	soft     int
	busy     time.Duration // in attempts and back-off
	paused   bool          // the last attempt met an endpoint that is down
	last     *llm.Error
	lastBody string
	same     int
}

func newExchange(t *Transport, req *http.Request, call *Call, body []byte) *exchange {
	var asked struct {
		Model         string `json:"model"`
		MaxTokens     int    `json:"max_tokens"`
		MaxCompletion int    `json:"max_completion_tokens"`
		Options       struct {
			NumPredict int `json:"num_predict"`
		} `json:"options"`
	}
	_ = json.Unmarshal(body, &asked) // another shape has no model to tell apart
	limit := max(asked.MaxTokens, asked.MaxCompletion, asked.Options.NumPredict, 0)
	return &exchange{
		t: t, req: req, call: call, body: body, key: idempotencyKey(body),
		gate:    t.gate(strings.TrimSpace(endpoint(req) + " " + asked.Model)),
		reserve: (len(body)+bytesPerToken-1)/bytesPerToken + min(limit, math.MaxInt32),
	}
}

func (x *exchange) run() (*http.Response, error) {
	x.t.retries.call(time.Now())
	return backoff.Retry(x.req.Context(), func() (*http.Response, error) {
		resp, e := x.attempt()
		if e == nil {
			return resp, nil
		}
		x.note(e)
		if x.final(e) {
			return nil, backoff.Permanent(e.Error)
		}
		return nil, e.Error
	}, backoff.WithBackOff(x), backoff.WithMaxElapsedTime(0), backoff.WithNotify(x.notify))
}

// note books what a failed attempt cost and remembers how it failed.
func (x *exchange) note(e *failure) {
	e.Endpoint = endpoint(x.req)
	x.last = e.Error
	if e.final {
		return
	}
	if e.Billed == llm.BilledUnknown {
		usage.RecordUnknown(x.req.Context())
	}
	// Calls do not use up their attempts on an endpoint that is down: they
	// wait for it.
	x.paused = (e.Kind == llm.ErrTransient || e.Kind == llm.ErrTimeout) && x.gate.down()
	if x.paused {
		return
	}
	x.attempts++
	if e.soft {
		x.soft++
	}
	if e.Status >= 500 && e.Body != "" && e.Body == x.lastBody {
		x.same++
	} else {
		x.same = 1
	}
	x.lastBody = e.Body
}

func (x *exchange) final(e *failure) bool {
	if e.final || !e.Retryable() || x.req.Context().Err() != nil {
		return true
	}
	return !x.paused && (x.attempts >= x.t.o.Attempts || x.soft > maxSoft ||
		x.same >= sameBodyLimit && e.Status >= 500 || e.RetryAfter > x.t.o.MaxRetryAfter)
}

// finish is the error of the call as a whole.
func (x *exchange) finish(err error) *llm.Error {
	var e *llm.Error
	if !errors.As(err, &e) { // the context ended while nothing was in flight
		e = llm.Canceled(x.req.Context(), llm.BilledNo)
	}
	e.Endpoint = endpoint(x.req)
	e.Usage = x.call.Usage
	return e
}

// Reset implements backoff.BackOff.
func (x *exchange) Reset() {}

// NextBackOff is full jitter, with the server's Retry-After as the floor. It
// stops at the deadline and when the budget of retries is spent.
func (x *exchange) NextBackOff() time.Duration {
	if x.paused {
		return 0 // the gate holds it
	}
	ceiling := x.t.o.MaxDelay
	if n := x.attempts - 1; n < 30 {
		ceiling = min(ceiling, x.t.o.BaseDelay<<max(n, 0))
	}
	// Never all at the same moment after a pause.
	wait := jitter(ceiling) + x.last.RetryAfter
	if x.busy+wait >= x.t.o.Deadline {
		return x.stop(fmt.Sprintf("%d attempts in the deadline of %s", x.attempts, x.t.o.Deadline))
	}
	// A retry that the server scheduled itself is no storm.
	if x.last.RetryAfter == 0 && !x.t.retries.retry(time.Now()) {
		return x.stop("not tried again: too many retries in the last minute")
	}
	x.busy += wait
	return wait
}

func (x *exchange) stop(why string) time.Duration {
	if x.last.Err == nil {
		x.last.Err = errors.New(why)
	} else {
		x.last.Err = fmt.Errorf("%w (%s)", x.last.Err, why)
	}
	return backoff.Stop
}

func (x *exchange) notify(err error, wait time.Duration) {
	x.t.o.Logger.WarnContext(x.req.Context(), "transport: trying again", "attempt", x.attempts, "wait", wait, "error", err)
}

// attempt waits for its turn, sends the request once and settles.
func (x *exchange) attempt() (*http.Response, *failure) {
	t, ctx := x.t, x.req.Context()
	if pace(ctx, t.requests, 1) != nil || pace(ctx, t.tokens, x.reserve) != nil {
		return nil, &failure{Error: llm.Canceled(ctx, llm.BilledNo)}
	}
	probe, e := x.gate.enter(ctx)
	if e != nil {
		settleRate(t.tokens, x.reserve, 0)
		return nil, e
	}
	if t.inflight.Acquire(ctx, 1) != nil {
		e = &failure{Error: llm.Canceled(ctx, llm.BilledNo)}
		x.gate.leave(probe, e.Error)
		settleRate(t.tokens, x.reserve, 0)
		return nil, e
	}
	began, before := time.Now(), x.call.Usage.Tokens()
	resp, e := x.send(ctx)
	x.busy += time.Since(began)
	t.inflight.Release(1)
	var how *llm.Error
	if e != nil {
		how = e.Error
	}
	x.gate.leave(probe, how)
	used := x.call.Usage.Tokens() - before
	if e != nil && e.Billed == llm.BilledUnknown {
		used = max(used, x.reserve)
	}
	settleRate(t.tokens, x.reserve, used)
	if e == nil {
		x.gate.answeredBy(x.call.Served)
	}
	return resp, e
}

// send sends the request and reads the whole reply.
func (x *exchange) send(ctx context.Context) (*http.Response, *failure) {
	t := x.t
	actx, cancel := context.WithTimeout(ctx, max(0, min(t.o.AttemptTimeout, t.o.Deadline-x.busy)))
	defer cancel()
	actx, idle := context.WithCancelCause(actx)
	defer idle(nil)
	began := time.Now()
	resp, err := t.o.Base.RoundTrip(x.request(actx))
	if err != nil {
		return nil, x.redacted(classifyNet(ctx, err))
	}
	body := &watched{r: resp.Body, limit: t.o.IdleTimeout, timer: time.AfterFunc(t.o.IdleTimeout, func() { idle(errIdle) })}
	data, err := io.ReadAll(io.LimitReader(body, t.o.MaxBody+1))
	body.timer.Stop()
	err = errors.Join(err, resp.Body.Close())
	t.o.Logger.DebugContext(ctx, "transport: request", "endpoint", endpoint(x.req), "status", resp.StatusCode,
		"bytes", len(data), "seconds", time.Since(began).Seconds())
	if int64(len(data)) > t.o.MaxBody {
		return nil, &failure{Error: &llm.Error{Kind: llm.ErrInvalidOutput, Status: resp.StatusCode, Billed: llm.BilledYes,
			Err: fmt.Errorf("the reply has more than %d bytes", t.o.MaxBody)}}
	}
	if err != nil {
		if errors.Is(context.Cause(actx), errIdle) {
			err = errIdle
		}
		return nil, x.redacted(classifyNet(ctx, err))
	}
	if e := x.read(resp, data); e != nil {
		return nil, e
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	return resp, nil
}

// errIdle is a body that stopped coming.
var errIdle = fmt.Errorf("the reply stopped in the middle: %w", context.DeadlineExceeded)

// watched puts a timer off with every piece that arrives.
type watched struct {
	r     io.Reader
	limit time.Duration
	timer *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.timer.Reset(w.limit)
	return n, err
}

func (x *exchange) request(ctx context.Context) *http.Request {
	r := x.req.Clone(ctx)
	r.GetBody = nil
	if x.req.Body != nil {
		r.Body = io.NopCloser(bytes.NewReader(x.body))
		r.ContentLength = int64(len(x.body))
		r.Header.Set("Idempotency-Key", x.key)
	}
	return r
}

// read judges a complete reply and books its usage.
func (x *exchange) read(resp *http.Response, data []byte) *failure {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		e := classifyStatus(resp.StatusCode, resp.Header, data)
		e.Body = llm.Excerpt(data, x.secrets()...)
		// As an error here, a redirect cannot make any client repeat the
		// request, key and prompt included, somewhere else.
		if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
			e.Err = errors.New("the server redirects elsewhere: use that address as the base URL")
		}
		return &failure{Error: e}
	}
	if !looksLikeJSON(resp.Header, data) {
		return &failure{soft: true, Error: &llm.Error{Kind: llm.ErrTransient, Status: resp.StatusCode, Body: llm.Excerpt(data, x.secrets()...),
			Billed: llm.BilledNo, Err: errors.New("the reply is not JSON: is this the base URL of a model server?")}}
	}
	readReply := x.call.Read
	if readReply == nil {
		readReply = func(b []byte) (llm.Usage, error) { return usageIn(b), nil }
	}
	used, err := readReply(data)
	x.call.Usage = x.call.Usage.Add(used)
	usage.Record(x.req.Context(), used)
	if err == nil {
		return nil
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		// Half a JSON document, or one of another shape.
		e = &llm.Error{Kind: llm.ErrTransient, Billed: llm.BilledUnknown, Body: llm.Excerpt(data, x.secrets()...), Err: err}
	}
	if e.Status == 0 {
		e.Status = resp.StatusCode
	}
	return x.redacted(&failure{Error: e, soft: true})
}

// idempotencyKey groups the attempts of one call. The random part keeps two
// samples of one request apart.
func idempotencyKey(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%x-%s", sum[:8], rand.Text())
}

// endpoint is the URL as it may be shown.
func endpoint(req *http.Request) string {
	u := *req.URL
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// secrets are the values that must not show in errors.
func (x *exchange) secrets() []string {
	var out []string
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Cookie", "Openai-Organization"} {
		for _, v := range x.req.Header.Values(name) {
			_, token, found := strings.Cut(v, " ")
			if !found {
				token = v
			}
			out = append(out, token)
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

// redacted is a failure without secrets in what others wrote into it.
func (x *exchange) redacted(e *failure) *failure {
	e.Body = llm.Excerpt([]byte(e.Body), x.secrets()...)
	return e
}

// looksLikeJSON tells a model server's reply from a proxy's error page.
func looksLikeJSON(h http.Header, data []byte) bool {
	if strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		return true
	}
	data = bytes.TrimLeft(data, " \t\r\n\ufeff")
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

// usageIn reads the token counts of OpenAI-compatible and Ollama replies,
// chat and embeddings, for requests without a [Call].
func usageIn(data []byte) llm.Usage {
	var r struct {
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
		Data       []struct{} `json:"data"`
		Embeddings [][]any    `json:"embeddings"`
		PromptEval *int       `json:"prompt_eval_count"`
		Eval       int        `json:"eval_count"`
	}
	_ = json.Unmarshal(data, &r)
	u := llm.Usage{Calls: 1}
	switch {
	case r.Usage != nil:
		u.PromptTokens, u.CompletionTokens = r.Usage.Prompt, r.Usage.Completion
	case r.PromptEval != nil:
		u.PromptTokens, u.CompletionTokens = *r.PromptEval, r.Eval
	default:
		u.Estimated = true
	}
	if r.Data != nil || r.Embeddings != nil {
		u.EmbeddedTokens, u.PromptTokens, u.Calls = u.PromptTokens, 0, 0
	}
	return u
}

// jitter draws from (0, d], so that clients that failed together do not come
// back together. Waits are the one thing that need not be reproducible.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return 1 + mrand.N(d)
}
