// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

const (
	readers, changes = 3, 300
	readerKey        = "WILDGRAPH_READER" // environment variable: the folder that a child process of this test reads
	questionsKey     = "WILDGRAPH_QUESTIONS"
)

var questions = []string{"Who commanded the Aurora2 in Port3?", "Port1 Person4", "Which ship sailed in 1907?", "Aurora4"}

// entry returns one version of one of 40 documents.
func entry(n, version int) graphrag.Document {
	return graphrag.Document{ID: fmt.Sprintf("page%02d", n), Title: fmt.Sprintf("Ship Aurora%d", n%5), Text: fmt.Sprintf(
		"The Aurora%d sailed to Port%d in 19%02d. Captain Person%d commanded her.", n%5, (n+version)%4, version, (n*3+version)%6)}
}

// digest returns a hash of a system's results for a question.
func digest(ctx context.Context, s *kit.System, question string) (string, error) {
	found, err := s.Retrieve(ctx, graphrag.Question{Text: question, K: 5})
	data, _ := json.Marshal(found.Ranked) // cannot fail for these values
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// Three processes ask while a fourth makes 300 changes: each answer equals that of a system in memory after one
// of the changes.
func TestReaders(t *testing.T) {
	if dir := os.Getenv(readerKey); dir != "" {
		reading(t, dir)
		return
	}
	for system, asked := range map[string]int{"bm25": 8000, "hipporag2": 800} {
		if n, err := strconv.Atoi(os.Getenv(questionsKey)); err == nil && system == "bm25" {
			asked = n
		}
		t.Run(system, func(t *testing.T) {
			dir := t.TempDir()
			m := &measured{corpus: new(corpus), system: system, where: filepath.Join(dir, "store")}
			stored, closed, err := m.open(t.Context(), false)
			check.OK(t, err)
			memory, _, err := (&measured{corpus: new(corpus), system: system, where: "memory"}).open(t.Context(), false)
			check.OK(t, err)
			possible := make(map[string]bool)
			begin := []graphrag.Document{entry(0, 0), entry(1, 0), entry(2, 0)}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range changes + 1 {
				change := func(s *kit.System, n, version int) (err error) {
					switch {
					case i == 0:
						_, err = s.Index(t.Context(), graphrag.Documents(begin...))
					case version < 30:
						_, err = s.Delete(t.Context(), entry(n, 0).ID)
					default:
						_, err = s.Insert(t.Context(), graphrag.Documents(entry(n, version)))
					}
					return err
				}
				n, version := r.IntN(40), r.IntN(100)
				check.OK(t, change(memory, n, version))
				for _, q := range questions {
					possible[check.Of(digest(t.Context(), memory, q)).OK(t)] = true
				}
				check.OK(t, change(stored, n, version))
				if i == 0 {
					defer start(t, dir, system, asked/readers, possible)()
				}
			}
			check.OK(t, closed())
			check.OK(t, os.WriteFile(filepath.Join(dir, "done"), nil, 0o600))
		})
	}
}

// start starts the readers, and returns a function that waits for them and compares what they found.
func start(t *testing.T, dir, system string, asked int, possible map[string]bool) (wait func()) {
	var running []*exec.Cmd
	for i := range readers {
		cmd := exec.Command(os.Args[0], "-test.run=TestReaders$", "-test.timeout=20m")
		cmd.Env = append(os.Environ(), readerKey+"="+dir, questionsKey+"="+strconv.Itoa(asked), "SYSTEM="+system, "NAME="+strconv.Itoa(i))
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		check.OK(t, cmd.Start())
		running = append(running, cmd)
	}
	return func() {
		for i, cmd := range running {
			check.OK(t, cmd.Wait())
			var seen map[string]int
			check.OK(t, json.Unmarshal(check.Of(os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))).OK(t), &seen))
			sum := 0
			for found, times := range seen {
				check.True(t, possible[found], "reader %d: an answer of no state, %d times", i, times)
				sum += times
			}
			check.True(t, sum >= asked && len(seen) > len(questions), "reader %d: %d answers, %d different", i, sum, len(seen))
			t.Logf("%s: reader %d: %d answers, %d of %d different ones", system, i, sum, len(seen), len(possible))
		}
	}
}

// reading is the child process: it asks until the changes are done, and at least the wanted number of times.
func reading(t *testing.T, dir string) {
	asked := check.Of(strconv.Atoi(os.Getenv(questionsKey))).OK(t)
	m := &measured{corpus: new(corpus), system: os.Getenv("SYSTEM"), where: filepath.Join(dir, "store")}
	s, closed, err := m.open(t.Context(), true)
	check.OK(t, err)
	seen := make(map[string]int)
	for i := 0; ; i++ {
		if i%16 == 0 {
			check.OK(t, s.Refresh(t.Context()))
		}
		seen[check.Of(digest(t.Context(), s, questions[i%len(questions)])).OK(t)]++
		if _, err := os.Stat(filepath.Join(dir, "done")); err == nil && i >= asked {
			break
		}
	}
	check.OK(t, closed())
	data, _ := json.Marshal(seen)
	check.OK(t, os.WriteFile(filepath.Join(dir, os.Getenv("NAME")), data, 0o600))
}
