module github.com/wildgraph/wildgraph/docs/performance/peers/stores

go 1.25.0

require (
	github.com/wildgraph/wildgraph v0.0.0
	github.com/wildgraph/wildgraph/graphrag/store/opensearch v0.0.0
	github.com/wildgraph/wildgraph/graphrag/store/postgres v0.0.0
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/neurosnap/sentences v1.1.2 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/tidwall/btree v1.8.2 // indirect
	github.com/wlynxg/chardet v1.0.5 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/net v0.55.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace (
	github.com/wildgraph/wildgraph => ../../../..
	github.com/wildgraph/wildgraph/graphrag/store/opensearch => ../../../../graphrag/store/opensearch
	github.com/wildgraph/wildgraph/graphrag/store/postgres => ../../../../graphrag/store/postgres
)
