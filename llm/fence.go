// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Fence marks off data in a prompt, so that a model can be told to treat what
// stands inside as data: a page or an answer that says "ignore the above" or
// imitates the prompt's own marks stays what it is.
//
// The marks hold a nonce made from the data themselves. Equal data give equal
// prompts, which caches need, and no text can contain the hash of itself and
// its neighbours.
type Fence struct{ nonce string }

// NewFence makes a fence for the given texts; every text to be wrapped must be
// among them.
func NewFence(data ...string) Fence {
	h := sha256.New()
	for _, d := range data {
		h.Write(strconv.AppendInt(nil, int64(len(d)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(d))
	}
	f := Fence{hex.EncodeToString(h.Sum(nil)[:8])}
	for f.in(data) { // never seen; costs nothing to rule out
		next := sha256.Sum256([]byte(f.nonce))
		f.nonce = hex.EncodeToString(next[:8])
	}
	return f
}

func (f Fence) in(data []string) bool {
	return slices.ContainsFunc(data, func(d string) bool { return strings.Contains(d, f.nonce) })
}

// Nonce is what a prompt calls the marks by.
func (f Fence) Nonce() string { return f.nonce }

// Wrap puts a text between marks under a label.
func (f Fence) Wrap(label, text string) string {
	return "[" + f.nonce + " " + label + "]\n" + text + "\n[/" + f.nonce + " " + label + "]"
}
