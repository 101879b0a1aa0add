module github.com/holdfast-llm/holdfast

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/ardanlabs/jinja v1.7.0
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/sys v0.50.0
)

require golang.org/x/tools v0.44.1-0.20260420230617-19499e7caabc // indirect
