// SPDX-License-Identifier: Apache-2.0

package judgetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var update = flag.Bool("judge.update", false, "ask the models again and rewrite the cassettes of judgetest.Model")

// Model is a model for the judge, or for the system under test, that replays
// the cassette in a file (by convention under testdata): no call is made. Under
// go test -judge.update it asks the model that live returns and writes the
// cassette anew, with secrets scrubbed; live is not called otherwise, so it may
// read keys. A test that asks what is not on the cassette fails and says so.
func Model(t testing.TB, file string, live func() (llm.Model, error)) llm.Model {
	t.Helper()
	open := replay
	if *update {
		open = record
	}
	m, err := open(t, file, live)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func replay(_ testing.TB, file string, _ func() (llm.Model, error)) (llm.Model, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("judgetest: replay: %w: run go test -judge.update once to record it", err)
	}
	m, err := llmtest.NewReplay(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("judgetest: replay %s: %w", file, err)
	}
	return m, nil
}

// record writes to a file beside the cassette and replaces it at the end of
// the test, so that a broken recording leaves the old one.
func record(t testing.TB, file string, live func() (llm.Model, error)) (llm.Model, error) {
	m, err := live()
	if err != nil {
		return nil, fmt.Errorf("judgetest: record: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("judgetest: record: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return nil, fmt.Errorf("judgetest: record: %w", err)
	}
	t.Cleanup(func() {
		err := f.Close()
		if err == nil {
			err = os.Rename(f.Name(), file)
		}
		if err != nil {
			t.Errorf("judgetest: record %s: %v", file, err)
		}
	})
	return llmtest.NewRecorder(m, f), nil
}
