// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The errors that a caller may branch on.
var (
	// ErrNotFound: there is no collection, generation or table of that name.
	ErrNotFound = errors.New("not found")
	// ErrConflict: something else was published meanwhile, or is in use.
	ErrConflict = errors.New("conflict")
	// ErrMismatch: what is there was made with another schema, analyzer or version.
	ErrMismatch = errors.New("made otherwise")
	// ErrInvalid: what was given cannot be stored or asked.
	ErrInvalid = errors.New("invalid")
	// ErrReadOnly: the generation was pinned for reading.
	ErrReadOnly = errors.New("read only")
	// ErrUnavailable: the engine, or the part of it that was asked, does not answer.
	// Another try may.
	ErrUnavailable = errors.New("unavailable")
	// ErrDenied: the engine does not know who asks, or does not let them.
	ErrDenied = errors.New("permission denied")
)

// ThrottledError says that the engine has too much to do, and when to ask again.
type ThrottledError struct{ After time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("throttled: ask again after %v", e.After)
}

// ItemsError tells which items of a call could not be taken. The others were.
type ItemsError struct{ Items []ItemError }

// ItemError is what is wrong with one item.
type ItemError struct {
	Index int // among those of the call
	ID    string
	Err   error // wraps ErrInvalid
}

// Error names the first few.
func (e *ItemsError) Error() string {
	const few = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%d items cannot be stored: ", len(e.Items))
	for i, item := range e.Items[:min(few, len(e.Items))] {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "item %d (%.60q): %v", item.Index, item.ID, item.Err)
	}
	if len(e.Items) > few {
		b.WriteString("; …")
	}
	return b.String()
}

// Unwrap gives the errors of the items.
func (e *ItemsError) Unwrap() []error {
	errs := make([]error, len(e.Items))
	for i, item := range e.Items {
		errs[i] = item.Err
	}
	return errs
}
