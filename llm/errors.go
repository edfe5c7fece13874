// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind classes an [Error]; errors.Is(err, llm.ErrTruncated) asks for one.
type Kind string

func (k Kind) Error() string { return "llm: " + string(k) }

// The kinds of errors.
const (
	// ErrRateLimited: slow down; Error.RetryAfter says how long, if known.
	ErrRateLimited Kind = "rate limited"
	// ErrQuotaExhausted: the account has no credit; waiting does not help.
	ErrQuotaExhausted Kind = "quota exhausted"
	// ErrTransient: the network or the server failed in a way that may pass.
	ErrTransient Kind = "transient failure"
	// ErrTimeout: no complete reply in time.
	ErrTimeout Kind = "timeout"
	// ErrBadRequest: the server will never accept this request.
	ErrBadRequest Kind = "bad request"
	// ErrContextLength: the prompt is longer than the model can read.
	ErrContextLength Kind = "context length exceeded"
	// ErrAuth: the key is missing, wrong or not allowed to do this.
	ErrAuth Kind = "not authorized"
	// ErrFiltered: the provider's content filter stopped the reply.
	ErrFiltered Kind = "content filtered"
	// ErrRefused: the model declined.
	ErrRefused Kind = "refused"
	// ErrTruncated: the reply was cut at the token limit.
	ErrTruncated Kind = "reply truncated"
	// ErrUnfinished: the model stopped for a reason that is not known to be an end.
	ErrUnfinished Kind = "reply unfinished"
	// ErrEmpty: a reply without text.
	ErrEmpty Kind = "empty reply"
	// ErrInvalidOutput: a reply that does not hold what was asked for.
	ErrInvalidOutput Kind = "invalid output"
	// ErrBudgetExceeded: the call was not made, see llm/paid.
	ErrBudgetExceeded Kind = "budget exceeded"
	// ErrCanceled: the context was cancelled.
	ErrCanceled Kind = "canceled"
)

// Billed says whether a failed call cost money.
type Billed string

// BilledUnknown is the zero value: after a timeout or a lost connection nothing is known.
const (
	BilledUnknown Billed = ""
	BilledNo      Billed = "no"
	BilledYes     Billed = "yes"
)

// Error is the error type of a [Model] and of the transport below it.
type Error struct {
	Kind Kind
	// Endpoint is the URL without credentials and query; may be empty.
	Endpoint string
	// Status is the HTTP status, 0 if there was none.
	Status int
	// RetryAfter is the wait that the server asked for, 0 if none.
	RetryAfter time.Duration
	// Body is the server's error message, or the start of its reply, without secrets.
	Body string
	// Billed says whether the last attempt cost money; Usage is the known usage of all attempts together.
	Billed Billed
	Usage  Usage
	// Partial is the text, without reasoning, of a reply that was cut, filtered or interrupted. It may end
	// inside a word.
	Partial string
	// Err is the cause, if any.
	Err error
}

// ErrorType is the error type in a trace: the kind, without any text of the reply.
func (e *Error) ErrorType() string { return string(e.Kind) }

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Kind.Error())
	if e.Endpoint != "" {
		b.WriteString(": " + e.Endpoint)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": HTTP %d", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", retry after %s", e.RetryAfter)
	}
	if e.Body != "" {
		fmt.Fprintf(&b, ": %q", e.Body)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if r := e.remedy(); r != "" {
		b.WriteString(": " + r)
	}
	return b.String()
}

// remedies say what a user can do about an error of a kind.
var remedies = map[Kind]string{
	ErrAuth:           "check the API key",
	ErrQuotaExhausted: "add credit, then start again: paid replies are kept",
	ErrContextLength:  "send less text or use a model with a larger context",
	ErrTruncated:      "raise the token limit of the reply",
	ErrUnfinished:     "ask again; if it comes back, ask the server's log why it stops",
}

func (e *Error) remedy() string {
	switch {
	case e.Kind == ErrTransient && e.Status == 0:
		return "check that the server runs and that the base URL is right"
	case e.Kind == ErrBadRequest && e.Status == 404:
		return "check the base URL and the model name"
	}
	return remedies[e.Kind]
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's [Kind].
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	return slices.Contains([]Kind{ErrRateLimited, ErrTransient, ErrTimeout, ErrEmpty}, e.Kind)
}

// OfOneReply reports whether an error concerns one reply alone: it was filtered, refused, cut, unfinished,
// empty or unusable, or its prompt was too long. A job can continue without this reply.
func OfOneReply(err error) bool {
	return slices.ContainsFunc([]Kind{ErrFiltered, ErrRefused, ErrTruncated, ErrUnfinished, ErrEmpty, ErrInvalidOutput, ErrContextLength},
		func(k Kind) bool { return errors.Is(err, k) })
}

// Fatal returns nil for an error of one reply ([OfOneReply]), after which a job can continue, and otherwise
// err.
func Fatal(err error) error {
	if OfOneReply(err) {
		return nil
	}
	return err
}

// Canceled returns the error of a call whose context ended. It wraps the context's error, so errors.Is finds
// context.Canceled or context.DeadlineExceeded.
func Canceled(ctx context.Context, billed Billed) *Error {
	err := cmp.Or(ctx.Err(), context.Canceled)
	kind := ErrCanceled
	if errors.Is(err, context.DeadlineExceeded) {
		kind = ErrTimeout
	}
	return &Error{Kind: kind, Billed: billed, Err: err}
}
