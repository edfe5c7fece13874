// SPDX-License-Identifier: Apache-2.0

// Package rules finds entities in chunks without a model.
//
// An [Extractor] reads messy pages of the web in two passes over a corpus.
//
//  1. The first counts how words are written inside sentences, where a capital
//     means something, and which lines several documents share, because those
//     are menus and banners (truecasing, after Lita, Ittycheriah, Roukos and
//     Kambhatla, ACL 2003).
//  2. The second finds names in sentences: runs of capitals with the small words
//     that may stand inside them (University of Oxford, Ludwig van Beethoven),
//     what opens a sentence taken for a name only if the corpus says so; quoted
//     titles, dates, money and measures; titles of persons are cut off. In a
//     corpus of thousands of names, a single word seen once is left out, and so
//     is a name of common words alone ("Planning Committee") that stands there
//     once: they are mostly slips and halves of names.
//
// Headlines, items of lists and cells, whose capitals mean little, are searched for the
// names of the sentences.
//
// The rules are for English; sentences in other languages give the names that
// show by capitals inside them (two words or more, or always written so), and
// text without capitals gives dates beside names alone. The word lists of the rules stand in
// tables/.
//
// It states no facts: extract.Linked relates the neighbouring names of a sentence by the
// words between them, and extract.Titled and extract.Described add the titles and
// descriptions that graphs need. Patterns for clauses, appositions and titles stated 1 fact
// in 15, five of six between the same names in nearly the same words, and changed no
// system's recall beyond its interval. [Extractor.QuestionNames] and [Themes] read questions.
package rules
