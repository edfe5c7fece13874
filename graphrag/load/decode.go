// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

var errEncoding = errors.New("not UTF-8 text, and no byte order mark or charset says what it is: convert it to UTF-8")

// decode makes UTF-8 of a text: what a byte order mark says it is, UTF-8 if it is valid,
// what a page declares in its first KB, and else Windows-1252, of which Latin-1 is a
// part, if it looks like that.
func decode(data []byte) (string, error) {
	from := encoding.Encoding(nil)
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case utf8.Valid(data):
		return string(bytes.TrimPrefix(data, []byte("\ufeff"))), nil
	default:
		from = declared(data)
		if from == nil && isWestern(data) {
			from = charmap.Windows1252
		}
	}
	if from == nil {
		return "", errEncoding
	}
	out, err := from.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("not the text that it says it is: %w", err)
	}
	return string(out), nil
}

var charset = regexp.MustCompile(`(?i)(?:charset|encoding|coding)\s*[=:]\s*["']?([a-z0-9_.:-]{2,40})`)

// declared is the encoding that a page, an XML file or a comment names; nil without, and
// if it is a name for UTF-8, which the bytes are not.
func declared(data []byte) encoding.Encoding {
	m := charset.FindSubmatch(data[:min(len(data), 1024)])
	if m == nil {
		return nil
	}
	e, err := htmlindex.Get(string(m[1]))
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	return e
}

// isWestern tells whether bytes can be Windows-1252: no control characters, and letters
// beyond ASCII one or two at a time, as other scripts do not write.
func isWestern(data []byte) bool {
	run := 0
	for _, c := range data {
		switch {
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f',
			c == 0x81, c == 0x8d, c == 0x8f, c == 0x90, c == 0x9d:
			return false
		case c < utf8.RuneSelf:
			run = 0
		default:
			if run++; run > 2 {
				return false
			}
		}
	}
	return true
}
