// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Folding is the rule by which the spellings of a name meet in one entity.
type Folding string

const (
	// FoldUnicode is [text.FoldName], the default: letters, digits and symbols
	// of every script count. A name of nothing but punctuation keeps it.
	FoldUnicode Folding = "unicode"
	// FoldASCII is HippoRAG's rule (OSU-NLP-Group/HippoRAG, both versions):
	// lower case, and a blank for every character that is not an ASCII letter
	// or digit, none at the ends. Runs of blanks stay: "a. b" and "a b" are two. A
	// name without a Latin letter or digit is lost. It is here to compare with
	// published figures.
	FoldASCII Folding = "ascii"
)

// Key is the folded name; folded again it stays the same. It is "" for a name
// that cannot be told from nothing.
func (f Folding) Key(name string) string {
	if f == FoldASCII {
		return foldASCII(name)
	}
	if key := text.FoldName(name); key != "" {
		return key
	}
	return strings.ToLower(oneLine(name))
}

// relation folds a label: "born_in", "Born in" and "born in" are one.
func (f Folding) relation(label string) string {
	if label == "" {
		return ""
	}
	return f.Key(strings.ReplaceAll(label, "_", " "))
}

func foldASCII(name string) string {
	blank := func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return ' '
	}
	// The reference lowers first, which takes the Kelvin sign to a k and the dotted
	// capital I to an i with a mark.
	return strings.Trim(strings.Map(blank, strings.ToLower(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "İ", "i\u0307"))), " ")
}

// oneLine is a text with single blanks and no bytes that are not UTF-8.
func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }
