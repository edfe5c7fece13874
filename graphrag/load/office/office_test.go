// SPDX-License-Identifier: Apache-2.0

package office_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/internal/check"
)

var options = load.Options{Formats: office.Formats()}

func read(t *testing.T, name, data string) *load.File {
	t.Helper()
	return check.Of(options.Read(name, []byte(data))).OK(t)
}

// parts is an archive; the arguments are names and contents in turn.
func parts(t testing.TB, of ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(of); i += 2 {
		check.OK(t, check.Err(io.WriteString(check.Of(z.Create(of[i])).OK(t), of[i+1])))
	}
	check.OK(t, z.Close())
	return b.Bytes()
}

// rels returns the relationships of a part; the arguments are kinds and targets in turn, and the IDs are r1,
// r2, ….
func rels(of ...string) string {
	var b strings.Builder
	b.WriteString("<Relationships>")
	for i := 0; i < len(of); i += 2 {
		mode := ""
		if strings.Contains(of[i+1], "://") {
			mode = ` TargetMode="External"`
		}
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="http://x/relationships/%s" Target="%s"%s/>`, i/2+1, of[i], of[i+1], mode)
	}
	return b.String() + "</Relationships>"
}

// workbook is a workbook of one sheet "Main", with shared strings, formats of cells (1 a date, 2 percent, 3
// hours, 4 a custom format with text), and other parts.
func workbook(t testing.TB, sheet string, more ...string) []byte {
	return parts(t, append([]string{
		"xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="Second" sheetId="9" state="hidden" r:id="r2"/><sheet name="Main" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("worksheet", "/xl/worksheets/sheet7.xml", "worksheet", "worksheets/sheet1.xml", "sharedStrings", "sharedStrings.xml", "styles", "styles.xml"),
		"xl/sharedStrings.xml", `<sst><si><t>Toll</t></si><si><r><t>Ferry </t></r><r><t>&amp; more</t></r><rPh><t>no</t></rPh></si></sst>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="0.0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row><c t="inlineStr"><is><t>hidden</t></is></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet7.xml", `<worksheet><sheetData>` + sheet + `</worksheet>`,
	}, more...)...)
}

func TestMail(t *testing.T) {
	message := "From: =?utf-8?q?Ada_L=C3=B6w?= <Ada@example.org>\r\nTo: bob@example.org, \"C, D\" <c@example.org>\r\nDate: Wed, 1 May 2024 12:00:00 +0200\r\n" +
		"Subject: =?iso-8859-1?q?Stra=DFe?=\r\n =?utf-8?b?IGdlc3BlcnJ0?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n" +
		"--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n--i\r\nContent-Type: text/plain; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
		"Die Br=FCcke ist bis Mai ge=\r\nsperrt.\r\n-- \r\nAda\r\n--i\r\nContent-Type: text/html\r\n\r\n<p>Die Brücke ist bis Mai gesperrt.</p>\r\n--i--\r\n" +
		"--o\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPHRhYmxlPjx0cj48dGg+YTx0aD5iPHRyPjx0ZD4xPHRkPjI8L3RhYmxlPg==\r\n" +
		"--o\r\nContent-Type: application/pdf; name=\"=?utf-8?q?plan=01.pdf?=\"\r\nContent-Disposition: attachment\r\n\r\nsecret\r\n--o--\r\n"
	f := read(t, "a.eml", message)
	want := "# Straße gesperrt\n\n- From: Ada Löw (ada@example.org)\n- To: bob@example.org, C, D (c@example.org)\n- Date: 2024-05-01 12:00 +0200\n- Attached: plan .pdf\n\n" +
		"Die Brücke ist bis Mai gesperrt.\n\nAda\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	fields := graphrag.Fields{"folder": ".", "kind": "eml", "subject": "Straße gesperrt", "from": "ada@example.org", "to": []string{"bob@example.org", "c@example.org"},
		"date": time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)}
	diff := cmp.Diff(want, f.Document.Text) + cmp.Diff(fields, f.Document.Fields)
	check.True(t, diff == "" && f.Document.Title == "Straße gesperrt", "%q (-want +got):\n%s", f.Document.Title, diff)
	check.Equal(t, f.Place(strings.Index(want, "Die")), "¶3", "the text is at")
	check.Contains(t, read(t, "a.eml", message[:strings.Index(message, "PHRhYmxl")+6]).Document.Text, "Die Brücke", "a cut message")
	inline := "Content-Type: text/plain\nContent-Disposition: inline; filename=a.txt\n\nshown\n"
	check.Equal(t, read(t, "a.eml", inline).Document.Text, "shown\n", "a text with a name")
	check.Equal(t, read(t, "a.eml", "Subject: x\n\nplain\n").Document.Text, "# x\n\nplain\n", "a plain message")
}

func TestNotebook(t *testing.T) {
	f := read(t, "a.ipynb", `{"cells":[{"cell_type":"markdown","source":["# Lights\n","\n","A *red* light."]},{"cell_type":"code","source":"print('`+"```"+`')","outputs":[{"output_type":"stream","text":["one\n","two\n"]},`+
		`{"data":{"image/png":"AAAA","text/plain":["<Figure>"]}},{"ename":"KeyError","evalue":"'x'","traceback":["no"]},{"text":"`+strings.Repeat("y", 5000)+`"}]},`+
		`{"cell_type":"raw","source":"no"},{"cell_type":"markdown","source":"`+"```\\nopen"+`"},{"cell_type":"markdown","source":"End."}],"metadata":{"language_info":{"name":"python"}},"nbformat":4}`)
	want := "# Lights\n\nA *red* light.\n\n~~~~~~python\nprint('```')\n~~~~~~\n\n```\none\ntwo\n```\n\n```\n<Figure>\n```\n\n```\nKeyError: 'x'\n```\n\n```\n" +
		strings.Repeat("y", 2000) + "…\n```\n\nno\n\n```\nopen\n```\n\nEnd.\n"
	diff := cmp.Diff(want, f.Document.Text)
	check.True(t, diff == "" && f.Document.Title == "Lights", "%q (-want +got):\n%s", f.Document.Title, diff)
	a, b := f.Place(strings.Index(want, "KeyError")), f.Place(strings.Index(want, "End."))
	check.True(t, a == "cell 2" && b == "cell 5", "places %s, %s", a, b)
}

// A case is a name, the title, the fields, the text, places of words, and the parts of the archive in turn.
func TestArchives(t *testing.T) {
	for _, row := range check.Rows(t, "testdata/archives.txt") {
		f := read(t, row[0], string(parts(t, row[5:]...)))
		check.Equal(t, []string{f.Document.Title, fmt.Sprint(f.Document.Fields), f.Document.Text}, row[1:4], row[0])
		for at := range strings.SplitSeq(row[4], "|") {
			word, place, _ := strings.Cut(at, "=")
			check.Equal(t, f.Place(strings.Index(f.Document.Text, word)), place, "%s: %q is at", row[0], word)
		}
	}
}

func TestHostileWord(t *testing.T) {
	for name, data := range map[string]string{"broken": "PK\x03\x04", "encrypted": "\xd0\xcf\x11\xe0....", "empty": ""} {
		check.Fails(t, check.Err(options.Read(name+".docx", []byte(data))), name)
	}
	check.Fails(t, check.Err(options.Read("bomb.docx", docx(t, "<w:p><w:t>"+strings.Repeat("a", 20<<20)+"</w:t></w:p>"))), "unpacks", "a bomb")
	check.Fails(t, check.Err(options.Read("deep.docx", docx(t, strings.Repeat("<w:p>", 1000)))), "deep", "deep XML")
}

// A file that is not read has an error with its name and the reason.
func TestHostileOffice(t *testing.T) {
	bomb := strings.Repeat("<row><c><v>1</v></c></row>", 1<<18) + "</sheetData>"
	slides := func(name, more string) []byte {
		return parts(t, "ppt/presentation.xml", `<p><sldId r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels", rels("slide", name), "ppt/slides/a.xml", more)
	}
	opf := func(spine, page string) []byte {
		return parts(t, "META-INF/container.xml", `<c><rootfile full-path="b.opf"/></c>`, "b.opf", `<p><manifest><item id="a" href="a.xhtml"/></manifest>`+spine+`</p>`, "a.xhtml", page)
	}
	locked := workbook(t, "<row/></sheetData>")
	for at := 0; ; at++ { // sets the flag of an encrypted entry in the central directory
		next := bytes.Index(locked[at:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += next
		locked[at+8] |= 1
	}
	whole := workbook(t, "<row><c><v>1</v></c></row></sheetData>")
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"bomb.xlsx", "unpacks to far more", workbook(t, bomb)},
		{"bomb.pptx", "unpacks to far more", slides("slides/a.xml", strings.Repeat(" ", 8<<20))},
		{"bomb.odt", "unpacks to far more", parts(t, "content.xml", strings.Repeat(" ", 8<<20))},
		{"bomb.epub", "unpacks to far more", opf(strings.Repeat(`<itemref idref="a"/>`, 1<<12), strings.Repeat("<p>x</p>", 1<<12))},
		{"entities.xlsx", "entity", parts(t, "xl/workbook.xml", `<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><workbook>&b;</workbook>`)},
		{"entities.odt", "entity", parts(t, "content.xml", `<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]><d><text:p>&a;</text:p></d>`)},
		{"deep.xlsx", "too deep", workbook(t, strings.Repeat("<row>", 1e4))},
		{"deep.pptx", "too deep", slides("slides/a.xml", strings.Repeat("<sp>", 1e4))},
		{"deep.odt", "too deep", parts(t, "content.xml", strings.Repeat("<list>", 1e4))},
		{"deep.epub", "too deep", parts(t, "META-INF/container.xml", strings.Repeat("<c>", 1e4))},
		{"deep.ipynb", "depth", []byte(`{"cells":` + strings.Repeat("[", 1e5))},
		{"none.xlsx", `no part "xl/workbook.xml"`, parts(t, "x", "y")},
		{"none.pptx", `no part "ppt/slides/gone.xml"`, slides("slides/gone.xml", "")},
		{"none.odt", `no part "content.xml"`, parts(t, "x", "y")},
		{"none.epub", `no part "META-INF/container.xml"`, parts(t, "x", "y")},
		{"none.ipynb", "version 4", []byte(`{"worksheets":[]}`)},
		{"none.eml", "malformed", []byte("no header\n\nx")},
		{"outside.pptx", `the archive has no part`, slides("../../../../etc/passwd", "")},
		{"web.pptx", `the archive has no part ""`, slides("http://127.0.0.1:1/slide.xml", "")},
		{"names.pptx", `the archive has no part "ppt/a\n\u0085b"`, slides("a&#10;&#x85;b", "")},
		{"empty.epub", "no page", opf(`<itemref idref="a"/>`, "")},
		{"locked.xlsx", "without a password", locked},
		{"ole.xlsx", "without a password", []byte("\xd0\xcf\x11\xe0....")},
		{"locked.odt", "without a password", parts(t, "META-INF/manifest.xml", "<m><encryption-data/></m>", "content.xml", "\x01\x02")},
		{"locked.epub", "without a password", parts(t, "META-INF/container.xml", "<c/>", "META-INF/encryption.xml", `<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>`)},
		{"locked.eml", "without a password", []byte("Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx")},
		{"parts.eml", "1000 parts", []byte("Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", 2000))},
		{"long.xlsx", "4 million cells", workbook(t, strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 300)+"</sheetData>")},
		{"deep.eml", "1000 parts", []byte("Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: multipart/mixed; boundary=b\n\n", 1e4) + "x")},
		{"cut.xlsx", "zip", whole[:len(whole)-30]},
		{"cut.odt", "content.xml", parts(t, "content.xml", "<d><p>x</p")},
	} {
		if f, err := options.Read(tt.name, tt.data); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("%s: %+v, %v, want %q", tt.name, f, err, tt.want)
		}
	}
	f := read(t, "names.epub", string(parts(t, "META-INF/container.xml", `<c><rootfile full-path="b.opf"/></c>`,
		"b.opf", `<p><item id="a" href="a%07%0Ab.xhtml"/><itemref idref="a"/></p>`, "a\a\nb.xhtml", "x")))
	check.Equal(t, f.Place(0), "a b.xhtml ¶1", "a name with control characters")
	merged := workbook(t, strings.Repeat("<row><c><v>1</v></c><c><v>2</v></c></row>", 1000)+"</sheetData>"+strings.Repeat(`<mergeCell ref="A1:XFD1048576"/>`, 1e4))
	f = read(t, "merged.xlsx", string(merged))
	check.True(t, len(f.Document.Text) <= 1<<20, "merged cells: %d bytes", len(f.Document.Text))
}

// Many cells take memory of a few times their text.
func TestManyCells(t *testing.T) {
	check.Long(t)
	var rows strings.Builder
	for i := range 30_000 {
		rows.WriteString("<row>")
		for j := range 10 {
			fmt.Fprintf(&rows, `<c s="%d"><v>%d.%d</v></c>`, j%3, i*7919%45000, j*i%1000)
		}
		rows.WriteString("</row>")
	}
	data := workbook(t, rows.String()+"</sheetData>")
	rows.Reset()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f := read(t, "a.xlsx", string(data))
	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	check.True(t, took <= time.Minute && kept <= 5*int64(len(f.Document.Text)), "%v, %d bytes for %d of text", took, kept, len(f.Document.Text))
	check.Equal(t, f.Place(len(f.Document.Text)-4), "Main!30000", "the last row is at")
	t.Log(took, len(data), len(f.Document.Text))
}

func docx(t testing.TB, body string) []byte {
	return parts(t, "word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"docProps/core.xml", `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>The Manual</dc:title><dc:creator>A</dc:creator></cp:coreProperties>`,
		"word/document.xml", `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`)
}

func FuzzRead(f *testing.F) {
	f.Add(".docx", docx(f, "<w:p><w:r><w:t>x</w:t></w:r></w:p>"))
	f.Add(".xlsx", workbook(f, `<row r="1"><c r="A1" t="s"><v>0</v></c><c s="1"><v>45413</v></c></row><row><c/></row></sheetData><mergeCell ref="A1:B2"/>`))
	f.Add(".eml", []byte("From: a@b.c\nSubject: =?utf-8?q?x?=\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\nContent-Type: text/html\n\n<p>y\n--b--\n"))
	f.Add(".ipynb", []byte(`{"cells":[{"cell_type":"markdown","source":["# x"]},{"cell_type":"code","source":"y","outputs":[{"text":"z"}]}]}`))
	f.Add(".odt", parts(f, "content.xml", "<text:h>x</text:h><table><table-row><table-cell><p>y</p></table-cell></table-row></table>"))
	f.Add(".epub", parts(f, "META-INF/container.xml", "<rootfile full-path='b'/>", "b", "<title>x</title><item id='a' href='a'/><itemref idref='a'/>", "a", "<h1>x</h1><p>y"))
	f.Add(".pptx", parts(f, "ppt/presentation.xml", "<sldId r:id='r1'/>", "ppt/_rels/presentation.xml.rels", rels("slide", "a.xml"), "ppt/a.xml", "<sp><ph type='title'/><p><t>x</t></p></sp><p><t>y</t></p>"))
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		file, err := options.Read("a"+ext, data)
		if err != nil {
			return
		}
		for i := range len(file.Document.Text) + 1 {
			check.Must(t, file.Line(i) >= 1 && file.Place(i) != "", "offset %d is in line %d", i, file.Line(i))
		}
		load.Blocks(file.Document.Text)
	})
}

// kind is a case of testdata/kinds.txt: the main part of a file, other parts by name, and the expected text.
type kind struct {
	ext, title, body, want string
	parts                  map[string]string
}

func kinds(t *testing.T) (all []kind) {
	data := check.Of(os.ReadFile("testdata/kinds.txt")).OK(t)
	for _, s := range strings.Split(strings.TrimPrefix(string(data), "== "), "\n== ") {
		head, rest, _ := strings.Cut(s, "\n")
		k := kind{parts: make(map[string]string)}
		k.ext, k.title, _ = strings.Cut(head, ": ")
		for strings.HasPrefix(rest, "@") {
			line, more, _ := strings.Cut(rest[1:], "\n")
			name, content, _ := strings.Cut(line, " ")
			k.parts[name], rest = strings.ReplaceAll(content, "||", "\n\n"), more
		}
		k.body, k.want, _ = strings.Cut(rest, "\n=>\n")
		all = append(all, k)
	}
	return all
}

// data returns the file of a case.
func (k kind) data(t *testing.T) []byte {
	list := []string{}
	for name, content := range k.parts {
		if strings.ContainsAny(name, "/.") {
			list = append(list, name, content)
		}
	}
	switch k.ext {
	case "docx":
		list = append(list, "word/document.xml", `<w:document><w:body>`+k.body+`</w:body></w:document>`)
	case "odt":
		list = append(list, "content.xml", k.body)
	case "pptx":
		list = append(list, "ppt/presentation.xml", `<p><sldId r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels", rels("slide", "a.xml"), "ppt/a.xml", "<p:sld>"+k.body+"</p:sld>")
	case "xlsx":
		return k.sheet(t)
	default:
		return []byte(strings.TrimSuffix(k.body, "\n") + "\n")
	}
	return parts(t, list...)
}

// sheet returns a workbook with a row for each cell, or for each format in turn.
func (k kind) sheet(t *testing.T) []byte {
	formats, xfs, each := "", "<xf/>", `<row><c t="inlineStr"><is><t>a</t></is></c>`
	for i, code := range strings.Split(k.parts["formats"], "|") {
		id := string(rune('A' + i))
		formats += `<numFmt numFmtId="` + id + `" formatCode="` + strings.NewReplacer(`"`, "&quot;", ">", "&gt;").Replace(code) + `"/>`
		xfs += `<xf numFmtId="` + id + `"/>`
		each += `<c s="` + strconv.Itoa(i+1) + `">` + strings.TrimPrefix(k.body, "each ") + `</c>`
	}
	styles := k.parts["styles"]
	if styles == "" {
		styles = "<styleSheet><numFmts>" + formats + "</numFmts><cellXfs>" + xfs + "</cellXfs></styleSheet>"
	}
	body := k.body
	if strings.HasPrefix(body, "each ") {
		body = each + "</row>"
	}
	return parts(t, "xl/workbook.xml", `<workbook><sheets><sheet name="Main" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("worksheet", "a.xml", "styles", "styles.xml"), "xl/styles.xml", styles, "xl/a.xml", "<worksheet><sheetData>"+body+"</sheetData></worksheet>")
}

// Texts of files are read as a person sees them, and parts that are not read are reported.
func TestKinds(t *testing.T) {
	for _, k := range kinds(t) {
		f, err := options.Read("a."+k.ext, k.data(t))
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case f.Problem != nil:
			got = strings.TrimSpace(f.Document.Text) + "\nproblem: " + f.Problem.Error()
		default:
			got = strings.TrimSpace(f.Document.Text)
		}
		check.Equal(t, strings.TrimSpace(got), strings.TrimSpace(k.want), "%s: %s", k.ext, k.title)
	}
}
