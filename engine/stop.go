package engine

import "strings"

// stopper cuts a stream of text at the first stop string. It holds back the
// end of the text as long as a stop string could begin there.
type stopper struct {
	stops []string
	held  string
}

// push adds text and returns what is certain to be output. When a stop string
// is complete, done is true and nothing after it is ever returned.
func (s *stopper) push(text string) (out string, done bool) {
	s.held += text
	cut := -1
	for _, stop := range s.stops {
		if i := strings.Index(s.held, stop); stop != "" && i >= 0 && (cut < 0 || i < cut) {
			cut = i
		}
	}
	if cut >= 0 {
		out, s.held = s.held[:cut], ""
		return out, true
	}
	keep := 0
	for _, stop := range s.stops {
		keep = max(keep, overlap(s.held, stop))
	}
	out, s.held = s.held[:len(s.held)-keep], s.held[len(s.held)-keep:]
	return out, false
}

// flush returns what was held back.
func (s *stopper) flush() string {
	out := s.held
	s.held = ""
	return out
}

// overlap is the length of the longest end of text that begins stop.
func overlap(text, stop string) int {
	for n := min(len(text), len(stop)-1); n > 0; n-- {
		if strings.HasSuffix(text, stop[:n]) {
			return n
		}
	}
	return 0
}
