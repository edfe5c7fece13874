// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// Obedient is a model that does what the prompts of all systems ask. In every
// text that it is to extract from it finds two entities of its own and one
// relation between them, so that no two chunks have anything in common, and the
// number of calls follows from the number of chunks and questions alone.
func Obedient(req llm.Request) llm.Reply {
	var whole strings.Builder
	for _, m := range req.Messages {
		whole.WriteString(m.Text)
	}
	prompt := whole.String()
	text := req.Messages[len(req.Messages)-1].Text
	if len(req.Messages) > 2 && req.Messages[1].Role == llm.User { // a later turn about the same text
		text = req.Messages[1].Text
	}
	for _, as := range []struct{ marker, reply string }{
		{`{"named_entities": [`, `{"named_entities": [%[1]q, %[2]q]}`},
		{`{"triples": [`, `{"triples": [[%[1]q, "went to sea with the first ship of", %[2]q]]}`},
		{`{"fact": [[`, `{"fact": []}`},
		{`{"high_level_keywords": []`, `{"high_level_keywords": ["going", "sea"], "low_level_keywords": ["sea"]}`},
		{`{"named": [], "generic": []}`, `{"named": [%[1]q], "generic": ["sea"]}`},
		{`("entity"<|>`, `("entity"<|>%[1]s<|>event<|>%[1]s is a thing of the sea.)##("entity"<|>%[2]s<|>event<|>%[2]s is a thing of the sea.)##("relationship"<|>%[1]s<|>%[2]s<|>%[1]s goes with %[2]s.<|>5)<|COMPLETE|>`},
		{`entity<|#|>`, "entity<|#|>%[1]s<|#|>Event<|#|>%[1]s is a thing of the sea.\nentity<|#|>%[2]s<|#|>Event<|#|>%[2]s is a thing of the sea.\nrelation<|#|>%[1]s<|#|>%[2]s<|#|>going<|#|>%[1]s goes with %[2]s.\n<|COMPLETE|>"},
		{`"other_relationships": [`, `{"entities": [{"name": %[1]q, "type": "event", "desc": "%[1]s is a thing of the sea."}, {"name": %[2]q, "type": "event", "desc": "%[2]s is a thing of the sea."}], "relationships": [{"source": %[1]q, "target": %[2]q, "desc": "%[1]s goes with %[2]s."}]}`},
		{`"rating_explanation": ""`, `{"title": "%[1]s", "summary": "%[1]s goes with %[2]s.", "rating": 5, "rating_explanation": "It is as good as another.", "findings": [{"summary": "They go together.", "explanation": "%[1]s goes with %[2]s."}]}`},
		{`{"points": [{`, `{"points": [{"description": "%[1]s goes with %[2]s.", "score": 50}]}`},
		{`{"reason": "", "rating": 0}`, `{"reason": "It touches the subject.", "rating": 3}`},
	} {
		if strings.Contains(prompt, as.marker) {
			sum := sha256.Sum256([]byte(text))
			name := strings.ToUpper(strings.Map(letters, hex.EncodeToString(sum[:8])))
			a, b := name[:8], name[8:]
			// Later rounds find nothing new.
			return llm.Reply{Text: fill(as.reply, a, b)}
		}
	}
	return llm.Reply{Text: "An answer [1]."}
}

// letters makes letters of digits: names without numbers are names everywhere.
func letters(r rune) rune {
	if r >= '0' && r <= '9' {
		return 'g' + r - '0'
	}
	return r
}

func fill(format, a, b string) string {
	if !strings.Contains(format, "%") {
		return format
	}
	text := fmt.Sprintf(format, a, b)
	text, _, _ = strings.Cut(text, "%!(EXTRA")
	return text
}
