// SPDX-License-Identifier: Apache-2.0

// Package joint judges by asking a language model what statements say together.
//
// The gold statements of a summary are often composite, while an answer is split
// into statements of one claim each, so a comparison in pairs finds neither half
// of a gold statement to be the whole. Here recall asks of each gold statement
// whether the predicted ones together state it, and precision of each predicted
// one whether the gold ones together support it; a verdict names the ids it rests
// on, and one that names none of the list's is not counted. The question is
// shown and limits what a reference may demand. The evidence is not: a quarter of
// the tokens of judge/paper decide the same. Figures beside published ones are
// those of judge/paper.
package joint
