// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/construct"
)

const owlsWiki = `{{Short description|Owl {{small|of barns}}}}
'''Barn owls''' ({{IPA|x}}) hunt by [[ear|their ears]].<ref name="ear">{{cite web |url=https://ear.example/owl |title=The ear of [the] owl |archive-url=https://web.archive.org/web/1/https://ear.example/owl}}</ref> <!-- no -->
[[File:Owl.jpg|thumb|An [[owl]]]]

== Hunting ==
{| class="wikitable"
| a || b
|}
In 1958, [[Roger Payne]] showed that they catch mice in total darkness.<ref name="ear" /><ref>[https://prey.example/p Acoustic location of prey]</ref> Nobody knows<br/> why.<ref>Payne, R. (1971). ''On owls''.</ref>

=== Nests ===
They nest in [https://church.example church towers].<ref name=late/>

== References ==
{{reflist|refs=<ref name="late">https://late.example/x</ref>}}
`

func TestWikitext(t *testing.T) {
	a := construct.Parse(construct.Wikitext(owlsWiki, "Barn owl"), "Barn owl", construct.Options{})
	want := []construct.Reference{
		{Title: "The ear of (the) owl", URL: "https://ear.example/owl", Archive: "https://web.archive.org/web/1/https://ear.example/owl"},
		{Title: "Acoustic location of prey", URL: "https://prey.example/p"},
		{Title: "late.example", URL: "https://late.example/x"},
	}
	if diff := cmp.Diff(want, a.References()); diff != "" {
		t.Error(diff)
	}
	var paths []string
	body := ""
	for _, s := range a.Sections() {
		paths = append(paths, strings.Join(s.Path, " > "))
		body += s.Body + "\n"
	}
	if diff := cmp.Diff([]string{"Barn owl", "Barn owl > Hunting", "Barn owl > Hunting > Nests"}, paths); diff != "" {
		t.Error(diff)
	}
	for _, said := range []string{"Barn owls", "hunt by their ears", "Roger Payne showed that they catch mice", "church towers"} {
		if !strings.Contains(body, said) {
			t.Errorf("no %q in\n%s", said, body)
		}
	}
	for _, gone := range []string{"{{", "[[ear", "wikitable", "Owl.jpg", "'''", "<br", "<ref", "no -->"} {
		if strings.Contains(body, gone) {
			t.Errorf("%q stands in\n%s", gone, body)
		}
	}
	grounds := construct.NewGrounds(a.Citations(), func(string) bool { return true })
	var stated []string
	for _, s := range a.Sections() {
		claims, err := construct.Rules{}.State(t.Context(), a, s)
		if err != nil {
			t.Fatal(err)
		}
		gold, _ := grounds.Ground(a, s, claims)
		for _, g := range gold.Triples {
			stated = append(stated, g.Statement+" "+strings.Join(g.URLs, " "))
		}
	}
	if all := strings.Join(stated, "\n"); !strings.Contains(all, "total darkness. https://ear.example/owl https://prey.example/p") {
		t.Errorf("stated is\n%s", all)
	}
}

// What is never closed, and what is nested deeply, is read to its end, and does not swell.
func TestHostileWikitext(t *testing.T) {
	for name, piece := range map[string]string{
		"templates": "{{a|", "closed": "}}", "links": "[[a|", "references": "<ref name=x>", "named": "<ref name=x/>", "tags": "<b ", "comments": "<!--", "tables": "{|\n",
		"headings": "== a =\n", "addresses": "[https://a ", "fields": "<ref>{{cite|url=https://a|title=", "both": "{{[[",
	} {
		page := strings.Repeat(piece, 10_000)
		if out := construct.Wikitext(page, "a"); len(out) > 3*len(page)+100 {
			t.Errorf("%s: %d bytes become %d", name, len(page), len(out))
		}
	}
}

func FuzzWikitext(f *testing.F) {
	f.Add(owlsWiki)
	f.Fuzz(func(t *testing.T, page string) {
		construct.Parse(construct.Wikitext(page, "a"), "a", construct.Options{}).Sections()
	})
}
