// SPDX-License-Identifier: Apache-2.0

package tokens

import "sync"

const (
	// shortest is the length in bytes below which a text is counted as fast as it is found.
	shortest = 32
	// maxRemembered is how many bytes of texts are remembered at most.
	maxRemembered = 16 << 20
)

// Remember returns a counter that counts a text once as long as it is remembered: chunks,
// rows and sentences are measured for every question that they are found for. It keeps up
// to 16 MiB of texts, then begins anew, and is safe for concurrent use if count is.
func Remember(count func(string) int) func(string) int {
	m := memory{lengths: make(map[string]int)}
	return func(s string) int {
		if len(s) < shortest {
			return count(s)
		}
		if n, ok := m.of(s); ok {
			return n
		}
		n := count(s)
		m.keep(s, n)
		return n
	}
}

// memory has the lengths of texts.
type memory struct {
	mu      sync.Mutex
	lengths map[string]int
	bytes   int
}

func (m *memory) of(s string) (n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok = m.lengths[s]
	return n, ok
}

func (m *memory) keep(s string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes += len(s); m.bytes > maxRemembered {
		clear(m.lengths)
		m.bytes = len(s)
	}
	m.lengths[s] = n
}
