// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

func Example() {
	ctx := context.Background()
	texts := []string{
		"Typhoon Bolaven crossed the islands in August.",
		"Few buildings were damaged by the typhoon.",
		"The World Cup was played in Qatar.",
	}
	ix, err := bm25.BuildTexts(ctx, texts, bm25.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range ix.Search("Which building did a typhoon damage?", 2, nil) {
		fmt.Printf("%.2f %s\n", found.Score, texts[found.ID])
	}
	// Output:
	// 2.71 Few buildings were damaged by the typhoon.
	// 0.43 Typhoon Bolaven crossed the islands in August.
}

// syllables is an analyzer of one's own, for a language whose words are written
// with a dot between the syllables.
type syllables struct{}

func (syllables) Words(s string, yield func(word []byte) bool) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == '·' || r == ' ' }) {
		if !yield([]byte(w)) {
			return
		}
	}
}

func (syllables) Term(word string) (term string, ok bool) { return word, word != "na" }

func (syllables) Name() string { return "syllables" }

// Any text.Analyzer makes the words of texts and queries.
func ExampleOptions_analyzer() {
	ix, err := bm25.BuildTexts(context.Background(), []string{"lo·mi·na", "ka·na"}, bm25.Options{Analyzer: syllables{}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range ix.Search("mi·ka·na mi", 2, nil) {
		fmt.Println("document", r.ID)
	}
	// Output:
	// document 0
	// document 1
}

// Indexes that are searched as one give the scores of one index. What is replaced is
// hidden until the indexes are merged.
func ExampleCollection() {
	ctx := context.Background()
	old, err := bm25.BuildTexts(ctx, []string{"The Fram lies in Oslo.", "Oslo has a harbour."}, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fresh, err := bm25.BuildTexts(ctx, []string{"The Fram lies in a museum in Oslo."}, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	all, err := bm25.NewCollection(old, fresh)
	if err != nil {
		log.Fatal(err)
	}
	valid := func(part int, doc int32) bool { return part != 0 || doc != 0 }
	for _, f := range all.Search("Where in Oslo is the Fram?", 3, valid, nil) {
		fmt.Printf("document %d of index %d: %.2f\n", f.Doc, f.Part, f.Score)
	}
	// Output:
	// document 0 of index 1: 0.53
	// document 1 of index 0: 0.15
}
