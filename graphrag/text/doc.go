// SPDX-License-Identifier: Apache-2.0

// Package text turns raw text into words, terms, sentences and entity names, in every script.
//
// An [Analyzer] does the words. It has two halves, so that an index builder pays for the expensive one once
// per distinct word instead of once per word ([Numbering] remembers the terms). For [Standard] these are:
//
//   - [Standard.Words] and [Standard.Spans] yield its lower-cased words, without allocation for words in NFC;
//   - [Standard.Term] maps a word to the term that is indexed: nothing for a stop word, the snowball stem for others.
//
// [Standard.Terms] composes both. [FoldName] gives the key under which spellings of one entity's name meet.
//
// # Words
//
// A word is a run of Unicode letters and numbers; the combining marks that follow stay inside, so that Devanagari and
// decomposed accents are not torn apart ([Plain] has letters and numbers only). Soft hyphens and the zero-width joiner
// and non-joiner are dropped. Everything else separates: white space, punctuation, symbols, the underscore, the hyphen,
// control characters, the zero-width space, and every byte that is not valid UTF-8. The apostrophe separates too:
// "O'Neill" is o, neill and "don't" is don, t, and French elision falls apart into the article and the noun.
//
// Words are in lower case rune by rune ([unicode.ToLower]), in Unicode's normal form NFC, full-width letters and digits
// become ASCII, ς becomes σ and ß ss, and names are folded in the same way. The compatibility forms of NFKC stay apart,
// since it takes x² for x2 and ½ for 1⁄2. [Plain] leaves all this out.
//
// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese have no blanks between words, or glue particles to them. A run
// of their letters is yielded as overlapping pairs of characters (东京都 is 东京, 京都), one character as itself, as
// Lucene's CJK analysis does for the first three; it ends at letters of other scripts. A character has its marks.
package text
