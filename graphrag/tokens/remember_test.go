// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A text is counted once, and again after too many others were counted.
func TestRemember(t *testing.T) {
	var asked atomic.Int32
	count := tokens.Remember(func(s string) int { asked.Add(1); return len(s) })
	text := strings.Repeat("tides ", 20)
	check.True(t, count(text) == len(text) && count(strings.Clone(text)) == len(text) && asked.Load() == 1, "asked %d times, want 1", asked.Load())
	check.True(t, count("short")+count("short") == 10 && asked.Load() == 3, "a short text was kept: asked %d times, want 3", asked.Load())
	for i := range 5 {
		count(strings.Repeat("x", 4<<20+i))
	}
	count(text)
	check.Equal(t, asked.Load(), 9, "asked %d times, want 9: 20 MB later it is forgotten", asked.Load())
}

func TestRememberConcurrently(t *testing.T) {
	count := tokens.Remember(tokens.Cl100k().Count)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 200 {
				s := strings.Repeat("the tide rises, ", i%20)
				if got, want := count(s), tokens.Cl100k().Count(s); got != want {
					t.Errorf("%d tokens of %q, want %d", got, s, want)
				}
			}
		})
	}
	all.Wait()
}

func Example() {
	s := "How many tokens is this <|endoftext|>?"
	fmt.Println(tokens.Cl100k().Count(s))
	starts, err := tokens.Cl100k().Starts(context.Background(), nil, "How many tokens?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(starts)
	// Output:
	// 11
	// [0 3 8 15]
}
