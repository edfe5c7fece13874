// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// SumsName is the file in the report folder with the SHA-256 of the other files, as
// sha256sum -c reads them, below that of what they were made of. As long as it holds,
// they are not written again.
const SumsName = "report.sha256"

// sums are the digests of the files of a report, in the form of the file.
type sums struct {
	name   string
	files  []string
	inputs string
}

// newSums are those of the files that a run and this very program make in a folder.
// Without a digest of either nothing holds.
func newSums(dir string, run *benchmark.Run, files []file) sums {
	s := sums{name: filepath.Join(dir, SumsName)}
	for _, f := range files {
		s.files = append(s.files, f.name)
	}
	if by := program(); by != "" && run.Digest != "" {
		s.inputs = hexOf(sha256.Sum256([]byte(by + run.Digest)))
	}
	return s
}

// program is the digest of the running program, "" if it cannot be read: another one may
// write other reports.
var program = sync.OnceValue(func() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := sumOf(name)
	if err != nil {
		return ""
	}
	return sum
})

// holds tells whether the files are there, as they were written, and made of the same.
func (s sums) holds() bool {
	have, err := os.ReadFile(s.name)
	if err != nil || s.inputs == "" || !bytes.HasPrefix(have, s.head()) {
		return false
	}
	now, err := s.text()
	return err == nil && bytes.Equal(have, now)
}

// keep writes the sums of the files that are there.
func (s sums) keep() error {
	if s.inputs == "" {
		return nil
	}
	text, err := s.text()
	if err == nil {
		err = journal.WriteFile(s.name, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func (s sums) head() []byte { return fmt.Appendf(nil, "# made of %s\n", s.inputs) }

func (s sums) text() ([]byte, error) {
	found := make([]string, len(s.files))
	var all errgroup.Group
	for i, name := range s.files {
		all.Go(func() (err error) {
			found[i], err = sumOf(filepath.Join(filepath.Dir(s.name), filepath.FromSlash(name)))
			return err
		})
	}
	text := s.head()
	err := all.Wait()
	for i, sum := range found {
		text = fmt.Appendf(text, "%s  %s\n", sum, s.files[i])
	}
	return text, err
}

func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := bufio.NewReaderSize(f, 1<<20).WriteTo(h); err != nil {
		return "", err
	}
	return hexOf([sha256.Size]byte(h.Sum(nil))), nil
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
