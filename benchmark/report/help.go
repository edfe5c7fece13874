// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// help says in a sentence or two what a figure is; "" of one that says it by its name.
func (f figure) help() string {
	switch f.key {
	case "evidence_recall_at_2", "evidence_recall_at_5", "evidence_recall_at_10":
		return "Share of the gold pages met by the first chunks of the ranking. Five chunks of one page are one page."
	case "hit_at_5":
		return "Share of questions with any gold page among the first five chunks."
	case "all_at_5":
		return "Share of questions with all gold pages among the first five chunks."
	case "mrr":
		return "Mean reciprocal rank: 1 over the rank of the first chunk of a gold page, 0 without one."
	case "evidence_recall":
		return "Share of the gold pages met by the source text in the final prompt."
	case "provenance_recall":
		return "The same, with the pages behind facts and summaries in the prompt: what they were made from, not what was found."
	case "statement_found":
		return "Share of the gold statements of which one chunk of the evidence, of a gold page, holds half of the content words, weighed by their rarity."
	case "context_tokens":
		return "Mean length of the evidence in the final prompt, in cl100k tokens."
	case "accuracy":
		return "Share of the fact questions whose answer the judge finds right."
	case "recall":
		return "Mean share of the gold statements that the answer states."
	case "precision":
		return "Mean share of the answer's statements that the gold supports."
	case "f1_mean_of_questions":
		return "Mean over the questions of the harmonic mean of recall and precision of statements."
	case "f1_of_means":
		return "Harmonic mean of the mean recall and the mean precision."
	case "precision_ceiling":
		return "What precision comes to when every gold statement is met by one statement of the answer and nothing else is said."
	case "grounded":
		return "Share of answers whose every claim the evidence supports that the system was given."
	}
	return ""
}

// helps are the helps of all figures, by the titles of their columns.
func helps() map[string]string {
	out := make(map[string]string)
	for _, f := range figures {
		if help := f.help(); help != "" {
			out[strings.ToLower(f.title)] = help
		}
	}
	return out
}
