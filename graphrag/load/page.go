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

// Bounds of the tree of a page: its tags, and the elements around one if the parser refuses the page.
const (
	maxTags   = 1 << 20
	maxAround = 2 * maxDepth
)

// tree is a page as its parser sees it. An element <wbr> with a number is a run of texts: the parser
// keeps no offsets, so it is given those instead of words.
type tree struct {
	root   *html.Node
	texts  []span // pieces of the page, in order
	runs   []int  // the first text of each run
	layout map[*html.Node]bool
	fields graphrag.Fields
}

// span is a piece of the page.
type span struct{ start, end int }

// parse parses a page.
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
	return &tree{root: &html.Node{}} // of no tags there is no error
}

// outline writes a page again for the parser: tags that structure the page, tags of hidden elements, and
// numbers of texts. Other tags mark words, and the parser copies some of them into every paragraph.
type outline struct {
	*tree
	page   string
	around int // tags in tags
	out    strings.Builder
	open   map[string]int // written tags that are not ended, by name
	left   map[string]int // those left out within them
	depth  int
	tags   int
	inRun  bool   // the last thing written is a run
	last   string // the last tag
	link   bool   // a link has begun, and nothing after it
	body   bool   // behind the head
}

func (o *outline) read() {
	z := html.NewTokenizer(strings.NewReader(o.page))
	xml := strings.HasPrefix(strings.TrimSpace(o.page[:min(len(o.page), 64)]), "<?xml")
	z.AllowCDATA(xml)
	skip := false // in a script
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

// Elements by their meaning for the reader of a page.
const (
	unseen = " script style noscript iframe noembed noframes "
	void   = " area base br col embed frame hr img input link meta param source track wbr "
	// furniture belongs to the site rather than to the page.
	furniture = " nav footer button select textarea "
	blocks    = " address article aside blockquote br caption center details dialog div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
		"header hgroup hr legend li listing main menu ol option p pre section summary ul xmp "
	tables = " table tbody tfoot thead tr td th "
	// large ones do not occur in the cells of data tables.
	large = " h1 h2 h3 h4 ul ol dl pre article section table "
	// within are elements within a line that decide its visibility.
	within = " audio canvas del math mphantom rp rt rtc ruby s strike sub sup svg template title video "
	// ended ones end where another begins, formatting ones begin again in the next paragraph.
	ended      = " dd dt li option p rp rt tbody td tfoot th thead tr "
	formatting = " a b big code em font i nobr s small strike strong tt u "
	shown      = furniture + blocks + tables + within
)

func is(name, names string) bool { return strings.Contains(names, " "+name+" ") }

// start writes a tag, if it is shown or hides something.
func (o *outline) start(name string, tag atom.Atom, attrs string) {
	note := tag == atom.Sup && o.link || strings.Contains(attrs, " note")
	if o.link = tag == atom.A; o.link && o.last == "sup" {
		o.tag("<wbr/>", o.last) // a note
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

// written is the name of an element for the parser.
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

// text writes the number of a run of texts, unless the text continues the last run.
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

// Styles that hide words, and those that raise or lower them or number a list.
var (
	hiding  = regexp.MustCompile(`(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|text-decoration[a-z-]*:[^;]*line-through)\b`)
	styling = regexp.MustCompile(`vertical-align:(su[bp])|list-style(?:-type)?:[^;]*((?:lower|upper)-(?:roman|alpha|latin))`)
)

// attributes returns those that decide how an element is shown, hidden first. Behind a formula is its picture.
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

// layouts marks the tables around n that hold what no data table holds.
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

// run returns the texts of a node that is a run, or holds the number of one.
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

// attribute returns the value of an attribute, "" without it.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// intOf returns the number that an attribute has, 1 without it.
func intOf(n *html.Node, key string) int {
	v, err := strconv.Atoi(attribute(n, key))
	if err != nil {
		return 1
	}
	return min(max(v, -999_999), 999_999)
}
