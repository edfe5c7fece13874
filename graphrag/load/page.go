// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Limits of a page: its tags, and the nesting of elements if the parser refuses the page at first.
const (
	maxTags   = 1 << 20
	maxAround = 2 * maxDepth
)

// tree is a page as the HTML parser returns it. The parser keeps no offsets, so texts are replaced by elements
// <wbr> with a number: the number of a run of texts.
type tree struct {
	root   *html.Node
	texts  []span // texts of the page, in order
	runs   []int  // index in texts of the first text of each run
	layout map[*html.Node]bool
	fields graphrag.Fields
}

// span is a part of the page, by offsets.
type span struct{ start, end int }

// parse parses a page, with less nesting if the parser fails.
func parse(page string) *tree {
	var err error
	for _, around := range []int{maxTags, maxAround, 0} {
		t := &tree{layout: make(map[*html.Node]bool), fields: graphrag.Fields{}}
		o := &outline{tree: t, page: page, around: around, open: make(map[string]int), left: make(map[string]int)}
		o.read()
		if t.root, err = html.Parse(strings.NewReader(o.out.String())); err == nil {
			t.layouts(t.root, nil)
			return t
		}
	}
	return &tree{root: &html.Node{}} // the parser accepts a page without tags
}

// outline writes a shorter page for the parser: tags that structure the page, tags of hidden elements, and
// numbers for texts. Tags that only format words are left out: the parser copies them into every paragraph.
type outline struct {
	*tree
	page   string
	around int // limit of the nesting of tags
	out    strings.Builder
	open   map[string]int // number of tags written and not ended, by name
	left   map[string]int // number of tags left out and not ended, by name
	depth  int
	tags   int
	inRun  bool   // a run was written last
	last   string // name of the last tag written
	link   bool   // the last thing was the start of a link
	body   bool   // the head of the page has ended
}

func (o *outline) read() {
	z := html.NewTokenizer(strings.NewReader(o.page))
	xml := strings.HasPrefix(strings.TrimSpace(o.page[:min(len(o.page), 64)]), "<?xml")
	z.AllowCDATA(xml)
	skip := false // inside a script
	for at := 0; ; {
		kind := z.Next()
		start := at
		at += len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return
		case html.DoctypeToken:
			o.out.WriteString("<!doctype html>")
		case html.TextToken:
			if !skip {
				o.text(start, at)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			if tag == atom.Meta && !o.body {
				addMeta(o.fields, z, more)
				continue
			}
			o.body = o.body || tag == atom.Body
			skip = is(string(name), unseen)
			if !skip {
				o.start(string(name), tag, attributes(string(name), o.last, z, more))
			}
			if kind == html.SelfClosingTagToken && (xml || o.open["math"]+o.open["svg"] > 0) {
				z.NextIsNotRawText()
				if !skip && !is(string(name), void) {
					o.end(string(name))
				}
				skip = false
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			o.body = o.body || string(name) == "head"
			if !skip {
				o.end(string(name))
			}
			skip = false
		}
	}
}

// Lists of elements by their meaning for the reader of a page.
const (
	unseen = " script style noscript iframe noembed noframes "
	void   = " area base br col embed frame hr img input link meta param source track wbr "
	// furniture are elements that belong to the site rather than to the page.
	furniture = " nav footer button select textarea "
	blocks    = " address article aside blockquote br caption center details dialog div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
		"header hgroup hr legend li listing main menu ol option p pre section summary ul xmp "
	tables = " table tbody tfoot thead tr td th "
	// large are elements that do not occur in the cells of data tables.
	large = " h1 h2 h3 h4 ul ol dl pre article section table "
	// within are elements within a line that can hide or raise words.
	within = " audio canvas del math mphantom rp rt rtc ruby s strike sub sup svg template title video "
	// ended are elements that end where the next of the kind begins, formatting those that HTML opens again in
	// the next paragraph.
	ended      = " dd dt li option p rp rt tbody td tfoot th thead tr "
	formatting = " a b big code em font i nobr s small strike strong tt u "
	shown      = furniture + blocks + tables + within
)

func is(name, names string) bool { return strings.Contains(names, " "+name+" ") }

// start writes a tag if its element is displayed or hides its content.
func (o *outline) start(name string, tag atom.Atom, attrs string) {
	note := tag == atom.Sup && o.link || strings.Contains(attrs, " note")
	if o.link = tag == atom.A; o.link && o.last == "sup" {
		o.tag("<wbr/>", o.last) // marks a footnote
	}
	if is(name, void) {
		if tag == atom.Br || tag == atom.Hr {
			o.tag("<"+name+">", name)
		}
		return
	}
	hides := strings.HasPrefix(attrs, " hidden")
	if !hides && !strings.Contains(attrs, " script=") && (tag == 0 || !is(name, shown)) && o.open[name]+o.open["math"]+o.open["svg"] == 0 {
		return
	}
	if o.tags > maxTags || o.depth >= o.around || o.left[name] > 0 {
		o.left[name]++
		return
	}
	o.open[name]++
	if !is(name, ended) {
		o.depth++
	}
	if o.tag("<"+written(name)+attrs+">", name); note {
		o.tag("<wbr/>", name)
	}
}

func (o *outline) end(name string) {
	switch {
	case o.left[name] > 0:
		o.left[name]--
	case o.open[name] > 0:
		o.open[name]--
		if !is(name, ended) {
			o.depth--
		}
		o.tag("</"+written(name)+">", "/"+name)
	case name == "p" || name == "br":
		o.start("br", atom.Br, "")
	}
}

// written returns the name under which an element is written for the parser.
func written(name string) string {
	switch {
	case name == "s" || name == "strike":
		return "del"
	case is(name, formatting):
		return "x-" + name
	}
	return name
}

func (o *outline) tag(s, name string) {
	o.out.WriteString(s)
	o.tags, o.last, o.inRun = o.tags+1, name, false
}

// text writes the number of a new run, unless the text continues the last run.
func (o *outline) text(start, end int) {
	if strings.HasPrefix(o.page[start:end], "<![CDATA[") {
		start += len("<![CDATA[")
		end = max(start, end-len("]]>"))
	}
	if last := strings.TrimPrefix(o.last, "/"); !o.inRun && o.open["pre"] == 0 && (last == "" || is(last, furniture+blocks+tables+" title ")) &&
		strings.TrimSpace(o.page[start:end]) == "" {
		return
	}
	o.texts, o.link = append(o.texts, span{start, end}), false
	if o.inRun {
		return
	}
	o.runs = append(o.runs, len(o.texts)-1)
	n := strconv.Itoa(len(o.runs) - 1)
	if is(o.last, " title textarea xmp ") {
		o.out.WriteString(n)
		return
	}
	o.tag(`<wbr n="`+n+`"/>`, o.last)
	o.inRun = true
}

// hiding matches styles that hide words, styling those that raise or lower words or number a list.
var (
	hiding  = regexp.MustCompile(`(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|text-decoration[a-z-]*:[^;]*line-through)\b`)
	styling = regexp.MustCompile(`vertical-align:(su[bp])|list-style(?:-type)?:[^;]*((?:lower|upper)-(?:roman|alpha|latin))`)
)

// attributes returns the attributes that decide how an element is displayed, hidden first. An element with
// aria-hidden after a formula displays the formula again, and is hidden.
func attributes(name, last string, z *html.Tokenizer, more bool) string {
	hides, rest := name == "dialog", ""
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch k, v := string(key), strings.ToLower(string(value)); k {
		case "hidden", "popover":
			hides = hides || v != "until-found"
		case "style":
			v = strings.ReplaceAll(v, " ", "")
			hides = hides || hiding.MatchString(v)
			for _, m := range styling.FindAllStringSubmatch(v, -1) {
				rest += map[bool]string{true: " script=", false: " type="}[m[1] != ""] + m[1] + m[2]
			}
		case "open":
			hides = hides && name != "dialog"
		case "aria-hidden":
			hides = hides || v == "true" && last == "/math"
		case "role", "epub:type":
			hides = hides || strings.HasSuffix(v, "pagebreak")
			if strings.HasSuffix(v, "noteref") {
				rest += " script=sup note"
			}
		case "colspan", "rowspan", "start", "value":
			n := 0
			if _, err := fmt.Sscan(v, &n); err == nil { // of "2px" too
				rest += " " + k + "=" + strconv.Itoa(n)
			}
		case "type":
			if len(value) == 1 && strings.Contains("aAiI", string(value)) {
				rest += " type=" + string(value)
			}
		case "shadowrootmode", "reversed":
			rest += " " + k + "=open"
		}
	}
	if hides {
		return " hidden=hidden" + rest
	}
	return rest
}

// layouts marks tables as layout if they contain elements that data tables do not have. around are the tables
// that contain n.
func (t *tree) layouts(n *html.Node, around []*html.Node) {
	if n.Type == html.ElementNode && is(n.Data, large) {
		for i := len(around) - 1; i >= 0 && !t.layout[around[i]]; i-- {
			t.layout[around[i]] = true
		}
		if n.DataAtom == atom.Table {
			around = append(around, n)
		}
	}
	for c := range n.ChildNodes() {
		t.layouts(c, around)
	}
}

// run returns the texts of a run. The node has the number of the run in an attribute or as its text.
func (t *tree) run(n *html.Node) []span {
	number := n.Data
	if n.Type == html.ElementNode {
		number = attribute(n, "n")
	}
	i, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || i >= len(t.runs) {
		return nil
	}
	if i+1 == len(t.runs) {
		return t.texts[t.runs[i]:]
	}
	return t.texts[t.runs[i]:t.runs[i+1]]
}

// attribute returns the value of an attribute, "" if the element has none.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// intOf returns the number in an attribute, 1 if the element has none.
func intOf(n *html.Node, key string) int {
	v, err := strconv.Atoi(attribute(n, key))
	if err != nil {
		return 1
	}
	return min(max(v, -999_999), 999_999)
}
