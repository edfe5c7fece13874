// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

var errEncoding = errors.New("the encoding is unknown: the text is not UTF-8, and has no byte order mark and no declared charset: convert it to UTF-8")

// decoded converts a text to UTF-8 from the encoding that [encodingOf] returns.
func decoded(data []byte) (text, guess string, err error) {
	from, guess, err := encodingOf(data)
	switch {
	case err != nil:
		return "", "", err
	case from == unicode.UTF8BOM:
		return strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\ufffd"), guess, nil
	}
	out, err := from.NewDecoder().Bytes(data)
	if err != nil {
		return "", "", fmt.Errorf("the text is not in the encoding that it declares: %w", err)
	}
	return string(out), guess, nil
}

// open converts a text to UTF-8 while it is read. Its first megabyte decides the encoding.
func (p *pieces) open(r io.Reader) error {
	b := bufio.NewReaderSize(r, 1<<20)
	head, err := b.Peek(b.Size())
	for n := range min(utf8.UTFMax, len(head)) {
		if err == nil && utf8.Valid(head[:len(head)-n]) { // the last character may be incomplete
			head = head[:len(head)-n]
			break
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	from, guess, err := encodingOf(head)
	if err != nil {
		return err
	}
	if guess != "" {
		p.guess(guess)
	}
	p.from = transform.NewReader(b, from.NewDecoder())
	return nil
}

// readAs returns the problem of a file that was read by a guess.
func readAs(name, guess string) error { return fmt.Errorf("load: %s is read as %s", name, guess) }

// encodingOf returns the encoding of a text, the first that applies: UTF-16 or UTF-32, by a byte order mark or
// the positions of zero bytes; UTF-8, if the text is valid; the encoding declared in the first KB; a detected
// one, named in guess; Windows-1252, which includes Latin-1, if the bytes are plausible.
func encodingOf(data []byte) (from encoding.Encoding, guess string, err error) {
	from = wideEncoding(data)
	switch {
	case from != nil:
	case utf8.Valid(data) && !bytes.Contains(data, []byte("\x1b$")):
		from = unicode.UTF8BOM
	case mostlyUTF8(data):
		from, guess = unicode.UTF8BOM, "UTF-8, of which some bytes are damaged"
	default:
		if from = declared(data); from != nil {
			break
		}
		if from, guess = detected(data); from == nil && isWestern(data) {
			from, guess = charmap.Windows1252, "windows-1252"+wrong
		}
	}
	if from == nil {
		return nil, "", errEncoding
	}
	return from, guess, nil
}

// wideEncoding returns UTF-16 or UTF-32, or nil for other texts. The byte order mark decides, or else the upper
// bytes of the first characters: in all alphabets they are below 9.
func wideEncoding(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(data, []byte("\x00\x00\xfe\xff")):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	var low [4]int // number of bytes below 9 at each position in four bytes
	n := min(len(data), sniffed) / 4
	for i, c := range data[:4*n] {
		if c < '\t' {
			low[i%4]++
		}
	}
	most := func(places ...int) bool { // such bytes are at these positions and seldom elsewhere
		there, all := 0, low[0]+low[1]+low[2]+low[3]
		for _, i := range places {
			if 5*low[i] < 4*n {
				return false
			}
			there += low[i]
		}
		return n > 0 && 20*(all-there) <= all
	}
	switch {
	case most(1, 2, 3):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case most(0, 1, 2):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case most(1, 3):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case most(0, 2):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// mostlyUTF8 reports whether a text is UTF-8 with some damage: at most a tenth of its bytes above ASCII are
// invalid. In texts of other encodings two thirds are.
func mostlyUTF8(data []byte) bool {
	valid := bytes.ToValidUTF8(data, nil)
	bad := len(data) - len(valid)
	return bad > 0 && aboveASCII(valid) >= 9*bad
}

func aboveASCII(data []byte) (n int) {
	for _, c := range data {
		n += int(c >> 7)
	}
	return n
}

var declaration = regexp.MustCompile(`(?i)(?:charset|encoding|coding)\s*[=:]\s*["']?([a-z0-9_.:-]{2,40})`)

// declared returns the encoding that a page, an XML file or a comment declares; nil if none is declared, or a
// Unicode one, which the bytes contradict.
func declared(data []byte) encoding.Encoding {
	m := declaration.FindSubmatch(data[:min(len(data), 1024)])
	if m == nil || strings.HasPrefix(strings.ToLower(string(m[1])), "utf") {
		return nil
	}
	e, _ := Charset(string(m[1]))
	return e
}

// Charset returns the encoding of a name, nil if the name is unknown. An encoding that cannot be decoded, such
// as UTF-7, is an error.
func Charset(name string) (encoding.Encoding, error) {
	if e, err := htmlindex.Get(name); err == nil && e != encoding.Replacement && e != charmap.XUserDefined {
		return e, nil
	}
	e, err := ianaindex.MIME.Encoding(name)
	if err == nil && e == nil {
		return nil, fmt.Errorf("the encoding %s cannot be decoded: convert the text to UTF-8", name)
	}
	return e, nil
}

// detectable maps the names of encodings that the detector returns to the names for decoding. In a test with
// 1,300 texts of 60 to 3,000 characters, messages of programs in nine languages, the detector found 97 % of
// these encodings and never a wrong one; it did not claim this certainty for any text in Windows-1252, 1250 or
// 1254, CP 850 or Mac Roman.
var detectable = map[string]string{
	"windows-1251": "windows-1251", "koi8-r": "koi8-r", "ibm866": "ibm866", "iso-8859-5": "iso-8859-5", "windows-1255": "windows-1255",
	"iso-8859-7": "windows-1253", "gb2312": "gb18030", "gb18030": "gb18030", "gbk": "gb18030", "big5": "big5",
	"euc-jp": "euc-jp", "shift_jis": "shift_jis", "iso-2022-jp": "iso-2022-jp", "euc-kr": "euc-kr",
}

// Limits of detection: bytes given to the detector, least bytes above ASCII, and least confidence, since the
// detector is too confident with few such bytes.
const (
	detectedBytes = 1 << 15
	leastHigh     = 16
	leastSure     = 0.9
)

// detected returns the encoding that the detector finds, and its name.
func detected(data []byte) (encoding.Encoding, string) {
	first := max(bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf || r == '\x1b' }), 0)
	sample := data[bytes.LastIndexByte(data[:first], '\n')+1:]
	sample = sample[:min(len(sample), detectedBytes)]
	if end := bytes.LastIndexByte(sample, '\n'); end > detectedBytes/2 {
		sample = sample[:end]
	}
	high := aboveASCII(sample) + bytes.Count(sample, []byte("\x1b"))*leastHigh
	found := chardet.Detect(sample)
	name := detectable[strings.ToLower(found.Encoding)]
	e, err := htmlindex.Get(name)
	if high < leastHigh || found.Confidence < leastSure || err != nil {
		return nil, ""
	}
	return e, name + wrong
}

const wrong = ", which its bytes tell: convert it to UTF-8 if that is wrong" // after a guessed name

// isWestern reports whether bytes are plausible Windows-1252: no control characters, at most two non-ASCII
// letters in a row, unlike in other scripts, and within words only letters, no capital after a small letter.
func isWestern(data []byte) bool {
	run, letters, others := 0, 0, 0
	small := func(i int) bool { return i >= 0 && i < len(data) && 'a' <= data[i] && data[i] <= 'z' }
	for i, c := range data {
		switch {
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f',
			c == 0x81, c == 0x8d, c == 0x8f, c == 0x90, c == 0x9d:
			return false
		case c < utf8.RuneSelf:
			run = 0
			continue
		case small(i-1) && (0xc0 <= c && c < 0xdf || strings.IndexByte("\x8a\x8c\x8e\x9f", c) >= 0),
			small(i-1) && small(i+1) && c < 0xc0 && strings.IndexByte("\x92\x9a\x9c\x9e\xad\xb7", c) < 0:
			others++
		case c >= 0xc0:
			letters++
		}
		if run++; run > 2 {
			return false
		}
	}
	return 4*others <= letters+1
}
