module github.com/holdfast-llm/holdfast/model/embedded/train

go 1.26.0

require github.com/holdfast-llm/holdfast v0.0.0

require golang.org/x/sys v0.50.0 // indirect

replace github.com/holdfast-llm/holdfast => ../../..
