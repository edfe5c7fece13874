// SPDX-License-Identifier: Apache-2.0

// Package rules finds entities and triples in chunks without a model.
//
// An [Extractor] reads messy pages of the web in three passes over a corpus.
//
//  1. The first counts how words are written inside sentences, where a capital means something, and which
//     lines several documents share, because those are menus and banners (truecasing, after Lita,
//     Ittycheriah, Roukos and Kambhatla, ACL 2003).
//  2. The second finds names in sentences: runs of capitals with the small words that may occur inside them
//     (University of Oxford, Ludwig van Beethoven), the first word of a sentence only if the corpus shows
//     that it is a name; quoted titles, dates, money and measures; titles of persons are cut off. In a
//     corpus of thousands of names, a single word seen once is left out, and so is a name of common words
//     alone ("Planning Committee") that occurs once: they are mostly slips and halves of names.
//  3. The third states triples of the sentences by a few clear patterns: a subject, the words from its verb
//     to an object, both ends names, in the manner of ReVerb (Fader, Soderland and Etzioni, EMNLP 2011);
//     appositions ("X, the capital of Y,"), titles ("FIFA president X", "Y's president X") and dates in
//     brackets ("X (1879–1955)"). Headlines, items of lists and cells, whose capitals mean little, are
//     searched for the names of the sentences, and state nothing.
//
// Relations are the words of the sentence in small letters, without articles; negation
// stays as it was written ("did not join"). Questions and sentences with "if" state
// nothing; reported speech gives facts of weight ½. Pronouns are not resolved.
//
// The rules are for English; sentences in other languages give the names that show by capitals inside them (two
// words or more, or nearly always written so), and headlines, items of lists and cells give dates only if they
// contain a name. The word lists are in tables/.
//
// extract.Linked, extract.Titled and extract.Described add to an extractor the relations, names and descriptions
// that graphs need and sentences do not state. [Extractor.QuestionNames] and [Themes] read questions.
package rules
