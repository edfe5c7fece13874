// SPDX-License-Identifier: Apache-2.0

package replies

import (
	"cmp"
	_ "embed" // for words.txt
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/llm"
)

// wordRows are the rows of words.txt by their first word, the kind.
var wordRows = readWords(wordsFile)

//go:embed words.txt
var wordsFile string

func readWords(file string) map[string][][]string {
	rows := make(map[string][][]string)
	for line := range strings.Lines(file) {
		if row := strings.Fields(line); len(row) > 0 && row[0] != "#" {
			rows[row[0]] = append(rows[row[0]], row[1:])
		}
	}
	return rows
}

// answerWords matches the words that name an answer, in labels such as "Final answer:" and as keys of objects.
const answerWords = `(?:the |my |short |direct |final |endgültige |kurze )*(?:answer|response|antwort|réponse(?: finale)?|respuesta(?: final)?|risposta(?: finale)?|resposta(?: final)?|antwoord|svar|odpowiedź|ответ|cevap|回答|答案|最终答案|答え|답변|الإجابة)`

var (
	labelPattern   = regexp.MustCompile(`(?i)^[*_#\s]{0,9}` + answerWords + `(?:[*_]*\s*[:：][*_]*|\s*[*_]+\s*\n|[*_]*[ \t]*\n[ \t]*\n)\s*`)
	headingPattern = regexp.MustCompile(`(?i)^#+ *` + answerWords + ` *\n\s*`)
	questionLabel  = regexp.MustCompile(`(?i)^[*_#\s]{0,9}(?:question|q|frage|pregunta|domanda|pergunta|vraag|fråga|pytanie|вопрос|soru|问题|質問|질문)[*_]*\s*[:：][*_]*\s*`)
	answerLabel    = regexp.MustCompile(`(?i)\s[*_#]*(?:` + answerWords + `|a|r)[*_]*\s*[:：][*_]*`)
	answerKey      = regexp.MustCompile(`(?i)^(?:` + answerWords + `|text|output|output text|result|reply|content|message|arguments|parameters)$`)
	besideKey      = regexp.MustCompile(`(?i)^(?:reason(?:ing)?|thoughts?|thinking|explanation|confidence|question|query|language|type|role|status)$`)
	sourceKey      = regexp.MustCompile(`(?i)^(?:sources?|citations?|cited|references?|refs|evidence|passages?|ids|quellen|fuentes|fonti)$`)
	marksAlone     = regexp.MustCompile(`^\s*(?:(?:\[[^\[\]\n]{1,60}\]|【[^【】\n]{1,60}】)\s*)+\.?$`)
	boxed          = regexp.MustCompile(`^\$*\s*\\boxed\{([^{}]*)\}\s*\$*\.?$`)
	tagged         = regexp.MustCompile(`(?is)^<(answer|final_answer|response|output|result)>(.*)</(\w+)>$`)
)

// maxWraps limits how often wrappings are removed from one reply.
const maxWraps = 8

// Unwrap returns a reply without wrappings around the whole text: reasoning, a code fence, quotation marks, an
// object or a list of one text, a label such as "Answer:", an echo of the question, and first lines such as
// "Sure, here is the answer:". Sources beside the text in an object become marks at its end: [1, 2]. A text
// that merely contains such things is only trimmed.
func Unwrap(text, question string) string {
	if answer, _, open := llm.SplitThinking(text); !open {
		text = answer
	}
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\ufeff"))
	for range maxWraps {
		before := text
		for _, off := range []func(string) string{Unfence, unquoted, unobject, untagged, unlabel, func(s string) string { return unasked(s, question) }, unannounced} {
			text = cmp.Or(strings.TrimSpace(off(text)), text)
		}
		if text == before {
			break
		}
	}
	return text
}

// Unfence removes a Markdown fence around the whole text, closed or not, if it names no language, or text, Markdown,
// JSON or "answer".
func Unfence(text string) string {
	mark := strings.TrimLeft(text, "`")
	if n := len(text) - len(mark); n >= 3 {
		mark = text[:n]
	} else if mark = "~~~"; !strings.HasPrefix(text, mark) {
		return text
	}
	first, inner, ok := strings.Cut(text[len(mark):], "\n")
	inner = strings.TrimRight(inner, " \t\r\n")
	inner = strings.TrimSuffix(inner, mark)
	kind := strings.ToLower(strings.TrimSpace(first))
	more := strings.Count(inner, mark) // number of fence marks in the text
	if !ok || more > 0 && (more%2 != 0 || kind != "markdown" && kind != "md") || !slices.Contains([]string{"", "text", "txt", "plain", "plaintext", "markdown", "md", "json", "answer"}, kind) {
		return text
	}
	return inner
}

// unquoted removes quotation marks around the whole text; marks of sources such as [1] may follow them.
func unquoted(text string) string {
	for _, q := range wordRows["quote"] {
		rest, ok := strings.CutPrefix(text, q[0])
		at := strings.LastIndex(rest, q[1])
		if !ok || at <= 0 {
			continue
		}
		inner, after := rest[:at], rest[at+len(q[1]):]
		own := inner
		if strings.ContainsAny(q[1], "'’") {
			own = apostrophe.ReplaceAllString(inner, "")
		}
		if !strings.Contains(own, q[0]) && !strings.Contains(own, q[1]) && (after == "" || marksAlone.MatchString(after)) {
			return strings.TrimSpace(inner) + strings.TrimRight(" "+strings.TrimSpace(after), " ")
		}
	}
	return text
}

// apostrophe matches an apostrophe after a letter, with the letter.
var apostrophe = regexp.MustCompile(`\pL['’]`)

// unobject returns the only text in a JSON object or list, followed by its sources in brackets.
func unobject(text string) string {
	v, err := decoded(wholeJSON(text, "{["))
	if err != nil {
		return text
	}
	return textIn(v)
}

// textIn returns the only text in a JSON value, "" if there is none or more than one.
func textIn(v any) (text string) {
	switch x := v.(type) {
	case string:
		return x
	case []any:
		if len(x) != 1 {
			return ""
		}
		if _, is := x[0].(json.Number); !is { // [1] marks a source
			return textIn(x[0])
		}
	case map[string]any:
		marks := ""
		for _, key := range slices.Sorted(maps.Keys(x)) {
			value, ok := scalar(x[key])
			if !ok {
				value = textIn(x[key])
			}
			switch {
			case value != "" && text == "" && answerKey.MatchString(strings.ReplaceAll(key, "_", " ")):
				text = value
			case sourceKey.MatchString(key):
				marks = sourcesIn(x[key])
			case strings.EqualFold(key, "answered") && x[key] == true, besideKey.MatchString(key):
			case key == "name" && (x["arguments"] != nil || x["parameters"] != nil): // the name of a called tool
			default:
				return ""
			}
		}
		if strings.Contains(text, marks) {
			marks = ""
		}
		if text != "" {
			return strings.TrimRight(text+" "+marks, " ")
		}
	}
	return ""
}

// sourcesIn returns the numbers or names of sources in brackets, such as [1, 2], "" without any.
func sourcesIn(v any) string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var of []string
	for _, e := range list {
		if s, ok := nameOf(e); ok {
			of = append(of, strings.Trim(s, "[]【】 "))
		}
	}
	if of = slices.DeleteFunc(of, func(s string) bool { return s == "" }); of == nil {
		return ""
	}
	return "[" + strings.Join(of, ", ") + "]"
}

// untagged removes <answer>…</answer> and \boxed{…} around the whole text.
func untagged(text string) string {
	if m := boxed.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := tagged.FindStringSubmatch(text); m != nil && strings.EqualFold(m[1], m[3]) {
		return m[2]
	}
	return text
}

func unlabel(text string) string {
	if at := labelPattern.FindStringIndex(text); at != nil {
		return text[at[1]:]
	}
	return text[len(headingPattern.FindString(text)):]
}

// unasked removes the question from the beginning of a reply.
func unasked(text, question string) string {
	rest := text[len(questionLabel.FindString(text)):]
	if at := answerLabel.FindStringIndex(rest); at != nil && len(rest) < len(text) {
		return rest[at[1]:]
	}
	first, after, _ := strings.Cut(rest, "\n")
	key := letters(question)
	if key != "" && len(first) < 4*len(question)+40 && letters(first) == key {
		return after
	}
	cut, ok := strings.CutPrefix(rest, question)
	if ok && len(key) > 10 && strings.HasSuffix(question, "?") && strings.HasPrefix(cut, " ") {
		return cut
	}
	return text
}

// Nothing reports whether a reply, or a part of one, is empty or a word for it, such as "none".
func Nothing(text string) bool {
	word := strings.ToLower(strings.Trim(text, " \t\r\n#.()[]*\"'`"))
	return word == "" || slices.Contains(slices.Concat(wordRows["nothing"]...), strings.ReplaceAll(word, " ", "_"))
}

// letters returns the letters and digits of a text in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// A line that only announces an answer consists of these words, at least one of them in openingWords.
var openingWords, announcingWords = slices.Concat(wordRows["opening"]...), slices.Concat(wordRows["announcing"]...)

// unannounced removes a first line that only announces the answer and ends with a colon.
func unannounced(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	plain := strings.TrimRight(line, "*_ \t\r")
	if len(line) > 120 || !strings.HasSuffix(plain, ":") && !strings.HasSuffix(plain, "：") {
		return text
	}
	opens := false
	for _, w := range strings.FieldsFunc(strings.ToLower(plain), func(r rune) bool { return !unicode.IsLetter(r) }) {
		first := slices.Contains(openingWords, w) || announcement.MatchString(w)
		if opens = opens || first; !first && !slices.Contains(announcingWords, w) {
			return text
		}
	}
	if !opens {
		return text
	}
	return rest
}

// announcement matches an announcing line in languages without blanks between words.
var announcement = regexp.MustCompile(`^(?:好的|当然|以下是|以下は|这是|根据|提供的|证据|资料|はい|質問|问题|への|的|答案|回答|です|に基づく|답변입니다|다음은|如下)+$`)

// Content is the text of a message as servers and their clients write it: a string, null,
// or a list of parts, of which the text parts count. A value of another type is empty.
type Content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(b []byte) error {
	var text string
	var parts []struct{ Type, Text string }
	if json.Unmarshal(b, &text) != nil {
		_ = json.Unmarshal(b, &parts) // parts of other types have no text
		for _, p := range parts {
			if p.Type == "" || strings.Contains(p.Type, "text") {
				text += p.Text
			}
		}
	}
	*c = Content(text)
	return nil
}
