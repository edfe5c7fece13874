// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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

// thoughtMarks are the marks around reasoning in the templates of models.
var thoughtMarks = [][2]string{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<reasoning>", "</reasoning>"}, {"<thought>", "</thought>"},
	{"<THINK>", "</THINK>"}, {"<analysis>", "</analysis>"}, {"<reflection>", "</reflection>"}, {"<scratchpad>", "</scratchpad>"},
	{"<seed:think>", "</seed:think>"}, // Seed-OSS
	{"[THINK]", "[/THINK]"},           // Magistral
	{"◁think▷", "◁/think▷"},           // Kimi
	{"<|channel>thought", "<channel|>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},     // Command A
	{"<|begin_of_thought|>", "<|end_of_thought|>"}, // OpenThinker
}

// edgeMarks are marks of templates at the beginning or the end of a reply.
var edgeMarks = regexp.MustCompile(`(?i)^(?:\s*<\|(?:start|begin)_(?:of_)?(?:response|solution)\|>)+\s*|(?:\s*(?:<\|(?:return|end|call|eot_id|eom_id|im_end|endoftext|end_of_text|end_of_turn|end_(?:of_)?(?:response|solution))\|>|</s>|<end_of_turn>|<eos>))+\s*$`)

// SplitThinking separates the reasoning at the start of a reply from the answer, in the marks of the usual
// templates (<think>, [THINK], the channels of Harmony and others). open is true if such a block is not
// closed: the reply was cut. A closing mark alone ends a block whose opening mark was part of the prompt.
func SplitThinking(text string) (answer, thinking string, open bool) {
	var thought []string
	rest := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(rest, "<|channel|>") || strings.HasPrefix(rest, "<|start|>") {
		return splitChannels(rest)
	}
	if inner, after, ok := strings.Cut(rest, "assistantfinal"); ok && strings.HasPrefix(inner, "analysis") {
		return after, inner[len("analysis"):], false // channels without their marks
	}
	for at := 0; at >= 0; rest = strings.TrimLeft(text, " \t\r\n") {
		if at = slices.IndexFunc(thoughtMarks, func(t [2]string) bool { return strings.HasPrefix(rest, t[0]) }); at < 0 {
			break
		}
		inner, after, closed := strings.Cut(rest[len(thoughtMarks[at][0]):], thoughtMarks[at][1])
		thought = append(thought, strings.TrimSpace(inner))
		if !closed {
			return "", strings.Join(thought, "\n"), true
		}
		text = after
	}
	for _, t := range thoughtMarks {
		if inner, after, ok := strings.Cut(text, t[1]); ok && thought == nil && !strings.Contains(inner, t[0]) {
			thought, text = []string{strings.TrimSpace(inner)}, after
		}
	}
	if thought != nil {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	return edgeMarks.ReplaceAllString(text, ""), strings.Join(thought, "\n"), false
}

// splitChannels is SplitThinking of a reply in the channels of Harmony. The answer is the
// message of the channel "final", or the arguments of a call.
func splitChannels(text string) (answer, thinking string, open bool) {
	var thought []string
	for _, part := range strings.Split(text, "<|channel|>")[1:] {
		channel, said, _ := strings.Cut(part, "<|message|>")
		said, _, _ = strings.Cut(said, "<|start|>")
		said = strings.TrimSpace(edgeMarks.ReplaceAllString(said, ""))
		if open = strings.HasPrefix(channel, "analysis"); open {
			thought = append(thought, said)
		} else {
			answer = said
		}
	}
	return answer, strings.Join(thought, "\n"), open || answer == ""
}
