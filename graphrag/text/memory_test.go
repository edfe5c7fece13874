// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Stems are the same whoever asked before, and for what.
func TestStemsAreRemembered(t *testing.T) {
	a := text.Default()
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 30_000 {
				word := fmt.Sprintf("%cun%cingly", 'a'+rune((i*g)%26), 'a'+rune(i/26%26))
				env := snowballstem.NewEnv(word)
				english.Stem(env)
				if got, _ := a.Term(word); got != env.Current() {
					t.Errorf("the stem of %s is %s", word, got)
					return
				}
			}
		})
	}
	wait.Wait()
}
