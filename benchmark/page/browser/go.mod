module github.com/wildgraph/wildgraph/benchmark/page/browser

go 1.25.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/wildgraph/wildgraph v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/kljensen/snowball v0.10.0 // indirect
	github.com/neurosnap/sentences v1.1.2 // indirect
	golang.org/x/text v0.37.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/wildgraph/wildgraph => ../../..
