package check

import "maps"

// KindInfo says what findings of a kind are: a sentence each.
type KindInfo struct {
	Tool    Tool
	Meaning string // "a byte outside of every buffer is read or written"
	Fix     string // "check the index against the buffer's length"
}

// Kinds are all kinds of findings; each tool's are in its file.
func Kinds() map[Kind]KindInfo {
	all := map[Kind]KindInfo{}
	for _, kinds := range []map[Kind]KindInfo{memcheckKinds, initcheckKinds, racecheckKinds, waitcheckKinds, synccheckKinds, hostcheckKinds} {
		maps.Copy(all, kinds)
	}
	return all
}
