// SPDX-License-Identifier: Apache-2.0

package pdf_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/pdf"
	"github.com/wildgraph/wildgraph/internal/check"
)

// file is a PDF with a line of text, or with what draws it, on each page.
func file(trailer string, pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(body string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	b.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 5+2*i)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(pages)))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	object("<</Title(Router manual)>>")
	for i, text := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>", 6+2*i))
		content := text
		if text != "" && !strings.HasPrefix(text, "BT ") {
			content = "BT /F 12 Tf 72 700 Td (" + text + ") Tj ET"
		}
		object(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R/Info 4 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, trailer, start)
	return b.Bytes()
}

func TestRead(t *testing.T) {
	r := pdf.New(pdf.Options{Slow: true, MaxPages: 3})
	defer r.Close()
	f, err := r.Read("a.pdf", file("", "The light is red.", "", "Owls hunt by ear."))
	check.OK(t, err)
	check.True(t, f.Document.Title == "Router manual" && f.Document.Text == "The light is red.\n\nOwls hunt by ear.\n", "%+v", f.Document)
	check.Equal(t, f.Place(strings.Index(f.Document.Text, "Owls")), "p3", "the owls are on")
	good := file("", "The light is red.")
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"scan.pdf":   {file("", ""), "scan"},
		"many.pdf":   {file("", "a", "b", "c", "d"), "4 pages, want at most 3"},
		"locked.pdf": {file("/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -1/O<"+strings.Repeat("00", 32)+">/U<"+strings.Repeat("00", 32)+">>>/ID[<00><00>]", "x"), "encrypted"},
		"broken.pdf": {[]byte("%PDF-1.4\nnothing"), ""},
		"half.pdf":   {good[:len(good)/3], ""},
		"empty.pdf":  {nil, ""},
		// The only object stream contains itself.
		"circle.pdf": {[]byte("%PDF-1.5\n1 0 obj\n<</Type/ObjStm/N 1/First 4/Length 1 0 R>>stream\n1 0 <<>>\nendstream\nendobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF"), ""},
	} {
		f, err := r.Read(name, tt.data)
		check.True(t, err != nil && strings.Contains(err.Error(), name) && strings.Contains(err.Error(), tt.want), "%s: %v, %v", name, f, err)
	}
	// The parser still works after that.
	f, err = r.Read("b.pdf", good)
	check.True(t, err == nil && f.Document.Text == "The light is red.\n", "%+v, %v", f, err)
}

// Many files draw columns from top to bottom across the page. Tables are read row by row. A case has a name, the
// distance of columns, how much lower each is than the one before, rows, and the text.
func TestColumns(t *testing.T) {
	r := pdf.New(pdf.Options{Slow: true})
	defer r.Close()
	for _, row := range check.Rows(t, "testdata/columns.txt") {
		distance, drop := check.Of(strconv.Atoi(row[1])).OK(t), check.Of(strconv.Atoi(row[2])).OK(t)
		var b strings.Builder
		for i, line := range strings.Split(row[3], "\n") {
			for k, cell := range strings.Split(line, "|") {
				fmt.Fprintf(&b, "BT /F 10 Tf %d %d Td (%s) Tj ET\n", 40+distance*k, 700-12*i-drop*k, cell)
			}
		}
		check.Equal(t, check.Of(r.Read("a.pdf", file("", b.String()))).OK(t).Document.Text, row[4], row[0])
	}
}

// A form that draws itself twice would take unlimited memory; the error is one sentence.
func TestBomb(t *testing.T) {
	check.Long(t)
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Contents 5 0 R>>",
		"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Length 11>>stream\n/X Do /X Do\nendstream",
		"<</Length 5>>stream\n/X Do\nendstream",
	} {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	b.WriteString("trailer\n<</Size 6/Root 1 0 R>>\n%%EOF")
	r := pdf.New(pdf.Options{})
	defer r.Close()
	good := func(data []byte) {
		f, err := r.Read("good.pdf", data)
		check.True(t, err == nil && f.Document.Text == "The light is red.\n", "%+v, %v", f, err)
	}
	good(file("", "The light is red."))
	debug.FreeOSMemory()                                               // returns the memory that compiling the parser took
	reset := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // resets the peak of resident memory
	f, err := r.Read("bomb.pdf", b.Bytes())
	check.True(t, err != nil && len(err.Error()) <= 200 && !strings.Contains(err.Error(), "\n"), "%v, %v", f, err)
	peak := peak()
	check.True(t, reset != nil || peak <= 256<<10, "the process took %d kB", peak)
	good(file("", "The light is red."))
	// The parser does not hold a large file in memory.
	start := []byte("%PDF-1.4\n")
	good(bytes.Replace(file("", "The light is red."), start, append(start, bytes.Repeat([]byte("%"+strings.Repeat(" ", 98)+"\n"), 500_000)...), 1))
}

// peak returns the largest resident memory of the process so far, in kB; 0 if the system does not report it.
func peak() (kB int) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(rest, &kB)
	return kB
}

func TestTimeout(t *testing.T) {
	pages := make([]string, 4000)
	for i := range pages {
		pages[i] = "The light is red."
	}
	r := pdf.New(pdf.Options{Slow: true, Timeout: 700 * time.Millisecond})
	defer r.Close()
	check.Fails(t, check.Err(r.Read("long.pdf", file("", pages...))), "longer than 700ms", "a long file")
}

func Example() {
	files := pdf.New(pdf.Options{Slow: true})
	defer files.Close()
	options := load.Options{Formats: map[string]load.Format{".pdf": files.Read}}
	f, err := options.Read("manual.pdf", file("", "Press the button.", "The light is red."))
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Document.Title, f.Place(strings.Index(f.Document.Text, "The light")))
	// Output: Router manual p2
}
