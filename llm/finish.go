// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// stops lists the stop reasons of servers by their meaning, in lower case, letters only; "" is a regular end.
// Sources: OpenAI, Anthropic, Google, Bedrock, Mistral, Cohere, DeepSeek, Z.ai, watsonx, Ollama, vLLM,
// SGLang, TGI, llama.cpp and LM Studio.
var stops = map[Kind]string{
	"":           "stop endturn stopsequence eos eostoken eosfound endoftext stopstringfound word complete completed finish finished done toolcall toolcalls tooluse functioncall null",
	ErrTruncated: "length maxtokens maxoutputtokens maxnewtokens maxlength modellength modelcontextwindowexceeded contextlengthreached maxpredictedtokensreached limit errorlimit tokenlimit",
	ErrFiltered:  "contentfilter contentfiltered safety imagesafety recitation blocklist prohibitedcontent spii guardrailintervened sensitive errortoxic",
	ErrRefused:   "refusal",
	ErrTransient: "error abort aborted load unload modelunloaded insufficientsystemresource networkerror servererror timeout timelimit failed cancelled canceled usercancel userstopped notfinished",
}

// meaning returns the kind of a stop reason, "" for a regular end.
func meaning(stop string) Kind {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, stop)
	word = strings.TrimPrefix(word, "finishreason") // of Google's clients
	for kind, words := range stops {
		if word == "" && kind == "" || word != "" && strings.Contains(" "+words+" ", " "+word+" ") {
			return kind
		}
	}
	return ErrUnfinished
}

// Finish makes a [Reply] from the text of a model and its stop reason: it splits off the reasoning, and
// returns an error with the partial text for a reply that is empty or whose stop reason is not a known end.
// An empty stop reason is a regular end. Models that are not built on package transport call it.
func Finish(reply Reply, raw, stop string) (Reply, error) {
	text, thinking, open := SplitThinking(raw)
	reply.Text, reply.Reasoning = text, strings.Trim(reply.Reasoning+"\n"+thinking, "\n")
	kind, why, billed := meaning(stop), fmt.Sprintf("stop reason %q after %d bytes", stop, len(raw)), BilledYes
	blank := strings.TrimSpace(text) == ""
	switch {
	case kind != "":
	case open:
		kind, why = ErrTruncated, "the reasoning block is not closed"
	case blank:
		kind, why = ErrEmpty, "no text in the reply"
		if reply.Usage.PromptTokens+reply.Usage.CompletionTokens == 0 || reply.Usage.Estimated {
			billed = BilledUnknown
		}
	default:
		reply.Finish = FinishStop
		return reply, nil
	}
	reply.Finish = map[Kind]string{ErrTruncated: FinishLength, ErrFiltered: FinishFilter, ErrRefused: FinishFilter}[kind]
	return reply, &Error{Kind: kind, Billed: billed, Partial: text, Err: errors.New(why)}
}
