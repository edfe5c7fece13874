// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
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

// keyLike matches what providers' keys and bearer tokens look like; servers
// echo them in error messages, sometimes shortened.
var keyLike = regexp.MustCompile(`\b(sk|pk|gsk|hf|xai|AIza|key)[-_][A-Za-z0-9*_\-]{6,}|(?i)\bbearer\s+[^\s"',}]+`)

// redact removes the given secrets and whatever looks like one.
func redact(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) >= 4 { // shorter ones ("-") are placeholders
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	return keyLike.ReplaceAllString(text, hidden)
}
