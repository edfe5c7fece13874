// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

const hidden = "***"

// Secret is a key. It prints as *** under every verb, in JSON and in logs;
// only [Secret.Reveal] gives it away.
type Secret string

// Reveal returns the key itself.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string { return hidden }

// GoString hides the key from %#v of enclosing structs.
func (s Secret) GoString() string { return hidden }

// Format hides the key from every verb, %x and %s included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText hides the key from JSON, XML and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON hides the key.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// LogValue hides the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
