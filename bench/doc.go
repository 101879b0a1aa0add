// Package bench times prompt processing and generation as llama-bench does: the
// same tests from the same parameters, the same columns in the same formats, so
// that its users' scripts and tables work unchanged. To those columns it adds
// which attention lane ran and what declined.
//
// It times a [Runner]; [Engine] is the real one.
package bench
