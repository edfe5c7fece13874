// SPDX-License-Identifier: Apache-2.0

package load

import "strings"

// maxMeta is how many lines of front matter are looked for.
const maxMeta = 64

// frontMatter are the lines with a key and a value that stand between two rules at
// the beginning of a text; nil if there are none. Lists and nested values of YAML
// are passed over: what a reader can be asked for is in the lines.
func frontMatter(s string) []Block {
	end := fenceEnd(s)
	if end == 0 {
		return nil
	}
	var out []Block
	for at := lineEnd(s, 0); at < end; {
		next := lineEnd(s, at)
		line := strings.TrimRight(s[at:next], " \t\r\n")
		key, value, ok := strings.Cut(line, ":")
		if value = strings.Trim(strings.TrimSpace(value), `"'[]{}>|`); ok && value != "" && key == strings.TrimSpace(key) {
			out = append(out, Block{Kind: Meta, Text: line, Under: -1, Lead: -1, Start: at, End: at + len(line)})
		}
		at = next
	}
	return out
}

// fenceEnd returns the offset after front matter, 0 if s begins with none: a rule,
// lines that have a key each or belong to the one before, and a rule.
func fenceEnd(s string) int {
	first := lineEnd(s, 0)
	if strings.TrimRight(s[:first], " \t\r\n") != "---" {
		return 0
	}
	keys := 0
	at := first
	for range maxMeta {
		if at >= len(s) {
			return 0
		}
		next := lineEnd(s, at)
		line := strings.TrimRight(s[at:next], " \t\r\n")
		switch {
		case line == "---" || line == "...":
			if keys == 0 {
				return 0
			}
			return next
		case line == "" || strings.IndexByte(" \t-#]}", line[0]) >= 0:
		case strings.Contains(line, ":"):
			keys++
		default:
			return 0
		}
		at = next
	}
	return 0
}

// meta is the value of a key of front matter, "" without.
func meta(blocks []Block, key string) string {
	for _, b := range blocks {
		if b.Kind != Meta {
			break
		}
		if k, v, _ := strings.Cut(b.Text, ":"); strings.EqualFold(k, key) {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}
