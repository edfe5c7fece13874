// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the text of a condition.
const (
	maxCondition = 1 << 20 // longest condition, in bytes
	maxNested    = 100     // depth of parentheses and negations
)

// reserved words name a field only in backquotes.
var reserved = map[string]bool{"and": true, "or": true, "not": true, "in": true, "has": true, "true": true, "false": true, "all": true}

// ParseCondition parses a condition:
//
//	team = "ops" and year >= 2024
//	published < 2024-05-01 or not (status in ("draft", "old"))
//	tags has "legal" and public = true
//
// Fields are compared by =, !=, <, <=, > and >=, by in with a list, and by has, which is true for lists that
// contain the value, or one of several. Values are strings in double quotes, with Go's escapes, numbers, true,
// false, and times without a blank that [ParseTime] can parse. not binds more strongly than and, and and more
// strongly than or; all is true for every document. A field whose name is not a word is put in backquotes. An
// error names the byte.
func ParseCondition(s string) (Condition, error) {
	p := parser{text: s}
	if len(s) > maxCondition {
		return Condition{}, fmt.Errorf("a condition of %d bytes, want at most %d", len(s), maxCondition)
	}
	c, err := p.or()
	if p.space(); err == nil && p.at < len(s) {
		err = fmt.Errorf("unexpected %.20q after the condition", s[p.at:])
	}
	if err != nil {
		return Condition{}, fmt.Errorf("condition %.80q, byte %d: %w: want FIELD = VALUE, compared by =, !=, <, <=, >, >=, in or has, joined by and, or and not", s, p.at, err)
	}
	return c, nil
}

type parser struct {
	text   string
	at     int
	nested int
}

func (p *parser) space() {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += size
	}
}

// take skips the sign, or the word if it is a whole one, and reports whether it was there.
func (p *parser) take(sign string) bool {
	p.space()
	rest := p.text[p.at:]
	if !strings.HasPrefix(rest, sign) {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(rest[len(sign):]); isWord(sign) && inWord(r) && len(rest) > len(sign) {
		return false
	}
	p.at += len(sign)
	return true
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// isWord reports whether a name needs no backquotes: it consists of letters, digits and _, and after the first
// character also of . and -, and does not begin with a digit.
func isWord(s string) bool {
	for i, r := range s {
		if !inWord(r) && (i == 0 || r != '.' && r != '-') || i == 0 && unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

func (p *parser) or() (Condition, error)  { return p.list(opOr, Or, p.and) }
func (p *parser) and() (Condition, error) { return p.list(opAnd, And, p.not) }

// list parses parts that are separated by a word, and joins them.
func (p *parser) list(between string, join func(...Condition) Condition, part func() (Condition, error)) (Condition, error) {
	first, err := part()
	all := []Condition{first}
	for err == nil && p.take(between) {
		var next Condition
		next, err = part()
		all = append(all, next)
	}
	if err != nil || len(all) == 1 {
		return first, err
	}
	return join(all...), nil
}

func (p *parser) not() (c Condition, err error) {
	if p.nested++; p.nested > maxNested {
		return c, fmt.Errorf("more than %d nested conditions", maxNested)
	}
	defer func() { p.nested-- }()
	switch {
	case p.take("not"):
		c, err = p.not()
		return Not(c), err
	case p.take("("):
		if c, err = p.or(); err == nil && !p.take(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return c, err
	case p.take("all"):
		return And(), nil
	}
	return p.comparison()
}

func (p *parser) comparison() (c Condition, err error) {
	field, err := p.field()
	if err != nil {
		return c, err
	}
	for _, sign := range []string{"!=", "<=", ">=", "<", ">", "=", opIn, opHas} {
		if p.take(sign) {
			return p.compared(field, sign)
		}
	}
	return c, fmt.Errorf("no comparison follows the field %.40q", field)
}

func (p *parser) field() (string, error) {
	p.space()
	rest := p.text[p.at:]
	if quoted, ok := strings.CutPrefix(rest, "`"); ok {
		name, _, closed := strings.Cut(quoted, "`")
		if !closed || name == "" {
			return "", errors.New("a name in backquotes is empty or has no closing backquote")
		}
		p.at += len(name) + 2
		return name, nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) && r != '.' && r != '-' })
	if end < 0 {
		end = len(rest)
	}
	name := rest[:end]
	if !isWord(name) || reserved[name] {
		return "", fmt.Errorf("%.20q does not begin with the name of a field", rest)
	}
	p.at += end
	return name, nil
}

func (p *parser) compared(field, sign string) (Condition, error) {
	several := (sign == opIn || sign == opHas) && p.take("(")
	if sign == opIn && !several {
		return Condition{}, errors.New("the operator in needs a list in parentheses")
	}
	values, err := p.values(several)
	if err != nil {
		return Condition{}, err
	}
	v := values[0]
	switch sign {
	case "=", opIn:
		return In(field, values...), nil
	case "!=":
		return Not(Equal(field, v)), nil
	case opHas:
		for _, v := range values {
			if _, ok := v.(string); !ok {
				return Condition{}, fmt.Errorf("%v is not a string, as the elements of lists are", v)
			}
		}
		return Condition{op: opHas, field: field, values: values}, nil
	}
	if _, ok := compare(v, v); !ok {
		return Condition{}, fmt.Errorf("%v cannot be compared by %s: want a number or a time", v, sign)
	}
	end := bound{value: v, open: len(sign) == 1}
	if sign[0] == '<' {
		return Condition{op: opWithin, field: field, high: end}, nil
	}
	return Condition{op: opWithin, field: field, low: end}, nil
}

// values parses one value, or several up to the closing parenthesis.
func (p *parser) values(several bool) (all []any, err error) {
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
		switch {
		case !several || p.take(")"):
			return plain(all), nil
		case !p.take(","):
			return nil, errors.New("a value of a list needs a comma or a closing parenthesis after it")
		}
	}
}

func (p *parser) value() (any, error) {
	p.space()
	rest := p.text[p.at:]
	switch {
	case p.take("true"):
		return true, nil
	case p.take("false"):
		return false, nil
	case strings.HasPrefix(rest, `"`):
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, errors.New("a string has no closing quote, or an escape that Go does not have")
		}
		p.at += len(quoted)
		return strconv.Unquote(quoted)
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r == ',' || r == ')' || unicode.IsSpace(r) })
	if end < 0 {
		end = len(rest)
	}
	plainValue := rest[:end]
	if n, err := strconv.ParseFloat(plainValue, 64); err == nil && n-n == 0 {
		p.at += end
		return n, nil
	}
	if t, ok := ParseTime(plainValue); ok {
		p.at += end
		return t, nil
	}
	return nil, fmt.Errorf("%.20q is not a value: want a string in double quotes, a number, true, false or a time such as 2024-05-01", rest)
}
