module github.com/wildgraph/wildgraph/docs/performance/peers/text

go 1.26

replace github.com/wildgraph/wildgraph => ../../../..

require (
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/tiktoken-go/tokenizer v0.10.0
	github.com/wildgraph/wildgraph v0.0.0-00010101000000-000000000000
)

require (
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/kljensen/snowball v0.10.0 // indirect
	github.com/neurosnap/sentences v1.1.2 // indirect
	golang.org/x/text v0.37.0 // indirect
)
