module github.com/holdfast-llm/holdfast

go 1.26
