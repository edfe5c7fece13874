// SPDX-License-Identifier: Apache-2.0

// Package rules finds entities and triples in chunks without a model.
//
// An [Extractor] reads messy pages of the web in three passes over a corpus.
//
//  1. The first counts how words are written inside sentences, where a capital
//     means something, and which lines several documents share, because those
//     are menus and banners (truecasing, after Lita, Ittycheriah, Roukos and
//     Kambhatla, ACL 2003). The two together are a [Lexicon].
//  2. The second finds names in sentences: runs of capitals with the small words
//     that may stand inside them (University of Oxford, Ludwig van Beethoven),
//     what opens a sentence taken for a name only if the corpus says so; quoted
//     titles, dates, money and measures; titles of persons are cut off. In a
//     corpus of thousands of names, a single word seen once is left out, and so
//     is a name of common words alone ("Planning Committee") that stands there
//     once: they are mostly slips and halves of names.
//  3. The third finds triples in sentences, in the manner of ReVerb (Fader,
//     Soderland and Etzioni, EMNLP 2011): a subject, verbs with perhaps a few
//     nouns and a preposition, an object, both ends names; and in appositions
//     ("X, the capital of Y,"), titles ("FIFA president X"), possessives and
//     brackets. Headlines, items of lists and cells, whose capitals mean little,
//     are searched for the names the sentences have, and state nothing.
//
// Relations are in small letters and without articles: the base form of a verb
// ("join"), the participle for the passive ("founded by"), is or was. Negation
// stays as it was written ("did not join"), so do would and could. Questions and
// what follows "if" state nothing; a sentence in which somebody is quoted gives
// facts of weight ½. Pronouns are not resolved.
// What an entity is said to be without another entity ("a Swiss citizen") is its
// attribute "description"; an acronym after its full form is its "alias".
//
// The rules are for English; sentences in other languages give the names that
// show by capitals inside them (two words or more, or always written so), and
// text without capitals gives dates and the names of Options.Names. Everything
// the rules know of words stands in tables/.
//
// [NounPhrases] is an extractor for graphs of phrases that stand together.
package rules
