//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// data has the pages of WildGraphBench, and the distinct words of each question.
type data struct{ pages, whole []string }

func load(dir string) (d data, err error) {
	pages, questions, err := figure.Pages(dir)
	for _, page := range pages {
		d.pages = append(d.pages, page.Text)
	}
	for _, q := range questions {
		d.whole = append(d.whole, distinct(text.Plain(), q))
	}
	return d, err
}

func distinct(a *text.Standard, question string) string {
	var words []string
	for _, w := range a.Terms(question) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// cut cuts the pages into pieces of size bytes.
func cut(pages []string, size int) (pieces []string) {
	for _, p := range pages {
		for len(p) > 0 {
			n := min(size, len(p))
			pieces, p = append(pieces, strings.ToValidUTF8(p[:n], " ")), p[n:]
		}
	}
	return pieces
}

// writeRecords writes texts, each after its length in four bytes, big-endian.
func writeRecords(path string, texts []string) error {
	var b []byte
	for _, t := range texts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(t)))
		b = append(b, t...)
	}
	return os.WriteFile(path, b, 0o600)
}

// readRecords returns the texts of a file, which stays mapped into memory.
func readRecords(path string) ([]string, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	mapped, err := unix.Mmap(int(in.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(mapped)>>8)
	for all := unsafe.String(&mapped[0], len(mapped)); len(all) >= 4; {
		n := int(binary.BigEndian.Uint32([]byte(all[:4])))
		if n > len(all)-4 {
			return nil, errors.New(path + ": it ends within a text")
		}
		texts, all = append(texts, all[4:4+n]), all[4+n:]
	}
	return texts, nil
}
