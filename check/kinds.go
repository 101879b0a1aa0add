package check

// KindInfo says what findings of a kind are: a sentence each.
type KindInfo struct {
	Tool    Tool
	Meaning string // "a byte outside of every buffer is read or written"
	Fix     string // "check the index against the buffer's length"
}

// Kinds are all kinds of findings.
func Kinds() map[Kind]KindInfo {
	return map[Kind]KindInfo{}
}
