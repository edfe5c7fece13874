// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
)

// The errors a caller may branch on.
var (
	ErrLocked   = errors.New("journal: in use by another process")
	ErrMismatch = errors.New("journal: written with another schema or configuration")
	ErrCorrupt  = errors.New("journal: damaged")
	ErrVersion  = errors.New("journal: written in another format")
	ErrGone     = errors.New("journal: removed or replaced while in use")
	ErrClosed   = errors.New("journal: closed")
	ErrTooLarge = errors.New("journal: record too large")
)

// remedy is what helps against damage.
const remedy = "`go run github.com/wildgraph/wildgraph/examples/maker journal repair FILE NEW` copies the good records"

// Header says what a journal holds. It is written once, at creation.
type Header struct {
	// Schema names the meaning of the records and its version.
	Schema string `json:"schema"`
	// Config identifies the configuration the records belong to, as text
	// that people can compare or as a hash. At most 1 MiB.
	Config string `json:"config"`
}

// MismatchError is returned by Open for a journal with another header. It
// satisfies errors.Is(err, ErrMismatch).
type MismatchError struct {
	Path       string
	Want, Have Header
}

func (e *MismatchError) Error() string {
	what, want, have := "configuration", e.Want.Config, e.Have.Config
	if e.Want.Schema != e.Have.Schema {
		what, want, have = "schema", e.Want.Schema, e.Have.Schema
	}
	return fmt.Sprintf("journal: %s was written with %s %q, not %q: use the same %[2]s or another file", e.Path, what, have, want)
}

// Is reports whether target is [ErrMismatch].
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// Record is one entry.
type Record struct {
	// Seq counts from 1 without gaps.
	Seq uint64
	// Kind is the caller's to define.
	Kind    uint8
	Payload []byte
	// At is where the record is, for [Journal.Read].
	At int64
}
