// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"
	"strings"
)

// notApplicable stands for a figure that does not exist.
const notApplicable = "n/a"

func points(f float64) string { return strconv.FormatFloat(100*f, 'f', 2, 64) }

func percent(f *float64) string {
	if f == nil {
		return notApplicable
	}
	return strconv.FormatFloat(100**f, 'f', 2, 64)
}

func decimal(f *float64, digits int) string {
	if f == nil {
		return "–"
	}
	if digits == 0 {
		return count(int(math.Round(*f)))
	}
	return strconv.FormatFloat(*f, 'f', digits, 64)
}

// count groups digits by threes: 1,197.
func count(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func deref(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// megabytes is a size in millions of bytes.
func megabytes(n int64) string {
	return decimal(ref(float64(n)/1e6), 1)
}

func pValue(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// sentence writes a title as in a sentence: the first letter alone is a capital.
func sentence(title string) string {
	return title[:min(1, len(title))] + strings.ToLower(title[min(1, len(title)):])
}

func capital(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}
