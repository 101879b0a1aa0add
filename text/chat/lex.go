package chat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is a template that cannot be parsed.
type SyntaxError struct {
	Line int // 1-based, in the template
	Msg  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("chat: template line %d: %s", e.Line, e.Msg)
}

func syntaxError(line int, format string, args ...any) error {
	return &SyntaxError{line, fmt.Sprintf(format, args...)}
}

// segment is a stretch of template text, or one tag as its tokens.
type segment struct {
	kind segKind
	line int
	text string // of segText, whitespace control already applied
	toks []tok  // of segExpr and segStmt
}

type segKind uint8

const (
	segText segKind = iota
	segExpr         // {{ ... }}
	segStmt         // {% ... %}
)

// tok is one token of an expression or statement.
type tok struct {
	kind tokKind
	text string // as written, but a string's value
}

type tokKind uint8

const (
	tokName tokKind = iota
	tokNumber
	tokString
	tokOp
)

func (t tok) is(op string) bool  { return t.kind == tokOp && t.text == op }
func (t tok) word(w string) bool { return t.kind == tokName && t.text == w }
func op(text string) tok         { return tok{tokOp, text} }
func name(text string) tok       { return tok{tokName, text} }
func isSpace(c byte) bool        { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool        { return c >= '0' && c <= '9' }
func isNameStart(c byte) bool    { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func trimLeftSpace(s string) string {
	return strings.TrimLeft(s, " \t\n\v\f\r")
}

// lexer cuts a template into segments by the rules of Jinja with trim_blocks
// and lstrip_blocks on, as every chat template is written for.
type lexer struct {
	src  string
	pos  int
	line int
	segs []segment

	// lineStart says that the text at pos begins a line: at the start, and
	// after a tag that took its newline along.
	lineStart bool
}

func lex(src string) ([]segment, error) {
	// Jinja normalises newlines, and drops one at the very end.
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	l := &lexer{src: strings.TrimSuffix(src, "\n"), line: 1, lineStart: true}
	for l.pos < len(l.src) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return l.segs, nil
}

// next takes the text up to the next tag, and the tag.
func (l *lexer) next() error {
	rest := l.src[l.pos:]
	at := tagStart(rest)
	if at < 0 {
		l.text(rest)
		l.pos = len(l.src)
		return nil
	}
	text, kind, control := rest[:at], rest[at+1], byte(0)
	if at+2 < len(rest) && (rest[at+2] == '-' || rest[at+2] == '+') {
		control = rest[at+2]
	}
	l.text(l.trimBefore(text, kind, control))
	l.advance(at + 2)
	if control != 0 {
		l.advance(1)
	}
	switch kind {
	case '#':
		return l.comment()
	case '%':
		if strings.HasPrefix(trimLeftSpace(l.src[l.pos:]), "raw") {
			if done, err := l.raw(); done || err != nil {
				return err
			}
		}
		return l.tag(segStmt, "%}")
	}
	return l.tag(segExpr, "}}")
}

// tagStart is the index of the first {{, {% or {#, or -1.
func tagStart(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && (s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#') {
			return i
		}
	}
	return -1
}

// trimBefore applies the left half of whitespace control to the text before a
// tag: a minus takes all whitespace, and lstrip_blocks the indentation of a
// block or comment that is first on its line.
func (l *lexer) trimBefore(text string, kind, control byte) string {
	if control == '-' {
		return strings.TrimRight(text, " \t\n\v\f\r")
	}
	if control == '+' || kind == '{' {
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || l.lineStart) && trimLeftSpace(text[start:]) == "" {
		return text[:start]
	}
	return text
}

// trimAfter applies the right half behind a tag: a minus takes all whitespace,
// trim_blocks one newline.
func (l *lexer) trimAfter(control byte, block bool) {
	rest, n := l.src[l.pos:], 0
	switch {
	case control == '-':
		n = len(rest) - len(trimLeftSpace(rest))
	case control != '+' && block && strings.HasPrefix(rest, "\n"):
		n = 1
	}
	l.lineStart = n > 0 && rest[n-1] == '\n'
	l.advance(n)
}

func (l *lexer) text(s string) {
	if s != "" {
		l.segs = append(l.segs, segment{kind: segText, line: l.line, text: s})
	}
}

func (l *lexer) advance(n int) {
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.pos += n
}

func (l *lexer) comment() error {
	end := strings.Index(l.src[l.pos:], "#}")
	if end < 0 {
		return syntaxError(l.line, "comment is never closed")
	}
	control := byte(0)
	if end > 0 {
		control = l.src[l.pos+end-1]
	}
	l.advance(end + 2)
	l.trimAfter(control, true)
	return nil
}

// raw takes everything up to {% endraw %} as text. It reports false, and takes
// nothing, if the tag only begins like raw.
func (l *lexer) raw() (bool, error) {
	line, rest := l.line, l.src[l.pos:]
	body := trimLeftSpace(trimLeftSpace(rest)[len("raw"):])
	control := byte(0)
	if strings.HasPrefix(body, "-") || strings.HasPrefix(body, "+") {
		control, body = body[0], body[1:]
	}
	if !strings.HasPrefix(body, "%}") {
		return false, nil
	}
	l.advance(len(rest) - len(body) + 2)
	l.trimAfter(control, false)
	for at := 0; ; at += 2 {
		i := strings.Index(l.src[l.pos+at:], "{%")
		if i < 0 {
			return false, syntaxError(line, "{%% raw %%} is never closed")
		}
		at += i
		tag := l.src[l.pos+at+2:]
		open := byte(0)
		if tag != "" && (tag[0] == '-' || tag[0] == '+') {
			open, tag = tag[0], tag[1:]
		}
		tag, ok := strings.CutPrefix(trimLeftSpace(tag), "endraw")
		tag = trimLeftSpace(tag)
		closing := byte(0)
		if tag != "" && (tag[0] == '-' || tag[0] == '+') {
			closing, tag = tag[0], tag[1:]
		}
		if !ok || !strings.HasPrefix(tag, "%}") {
			continue
		}
		l.text(l.trimBefore(l.src[l.pos:l.pos+at], '%', open))
		l.advance(len(l.src) - l.pos - len(tag) + 2)
		l.trimAfter(closing, true)
		return true, nil
	}
}

const (
	// tokensMax bounds a tag. The largest seen has 58 (2026-11).
	tokensMax = 1000
	// nestingMax bounds brackets in a tag and blocks in a template, as the
	// library parses both by recursion.
	nestingMax = 100
)

// tag takes the tokens of a tag up to its closer, which does not count inside
// strings and brackets.
func (l *lexer) tag(kind segKind, closer string) error {
	seg, depth := segment{kind: kind, line: l.line}, 0
	for {
		for l.pos < len(l.src) && isSpace(l.src[l.pos]) {
			l.advance(1)
		}
		rest := l.src[l.pos:]
		if rest == "" {
			return syntaxError(seg.line, "tag is never closed by %s", closer)
		}
		if depth == 0 {
			control := byte(0)
			end := rest
			if rest[0] == '-' || rest[0] == '+' {
				control, end = rest[0], rest[1:]
			}
			if strings.HasPrefix(end, closer) {
				l.advance(len(rest) - len(end) + len(closer))
				l.trimAfter(control, kind == segStmt)
				break
			}
		}
		t, n, err := token(rest, l.line)
		if err != nil {
			return err
		}
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		}
		if depth < 0 || depth > nestingMax {
			return syntaxError(l.line, "brackets do not match or nest deeper than %d", nestingMax)
		}
		l.advance(n)
		// Adjacent strings are one, as in Python.
		if last := len(seg.toks) - 1; t.kind == tokString && last >= 0 && seg.toks[last].kind == tokString {
			seg.toks[last].text += t.text
			continue
		}
		if seg.toks = append(seg.toks, t); len(seg.toks) > tokensMax {
			return syntaxError(seg.line, "tag has more than %d tokens", tokensMax)
		}
	}
	if len(seg.toks) == 0 {
		return syntaxError(seg.line, "empty tag")
	}
	l.segs = append(l.segs, seg)
	return nil
}

// reserved begins the names of the functions that rewriting adds.
const reserved = "_chat_"

// token returns the first token of s, which is not empty and does not start
// with a space, and its length.
func token(s string, line int) (tok, int, error) {
	switch c := s[0]; {
	case c == '\'' || c == '"':
		return stringToken(s, line)
	case isNameStart(c):
		n := 1
		for n < len(s) && (isNameStart(s[n]) || isDigit(s[n])) {
			n++
		}
		if strings.HasPrefix(s[:n], reserved) {
			return tok{}, 0, syntaxError(line, "names that begin with %s are reserved", reserved)
		}
		return name(s[:n]), n, nil
	case isDigit(c):
		return numberToken(s, line)
	}
	if len(s) > 1 {
		switch s[:2] {
		case "==", "!=", "<=", ">=", "//", "**":
			return op(s[:2]), 2, nil
		}
	}
	if strings.IndexByte("+-*/%~<>=,.:()[]{}|", s[0]) >= 0 {
		return op(s[:1]), 1, nil
	}
	r, _ := utf8.DecodeRuneInString(s)
	return tok{}, 0, syntaxError(line, "unexpected character %q", r)
}

// numberToken writes a float without an exponent, which the library cannot read.
func numberToken(s string, line int) (tok, int, error) {
	n := 0
	for n < len(s) && (isDigit(s[n]) || s[n] == '_') {
		n++
	}
	isFloat := n+1 < len(s) && s[n] == '.' && isDigit(s[n+1])
	if isFloat {
		for n++; n < len(s) && isDigit(s[n]); n++ {
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if m < len(s) && isDigit(s[m]) {
			for isFloat, n = true, m; n < len(s) && isDigit(s[n]); n++ {
			}
		}
	}
	digits := strings.ReplaceAll(s[:n], "_", "")
	if !isFloat {
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			return tok{}, 0, syntaxError(line, "integer %.30s is out of range", digits)
		}
		return tok{tokNumber, digits}, n, nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return tok{}, 0, syntaxError(line, "number %.30s is out of range", digits)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return tok{tokNumber, text}, n, nil
}

// stringToken reads a string with Python's escapes.
func stringToken(s string, line int) (tok, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return tok{tokString, b.String()}, i + 1, nil
		case s[i] != '\\':
			b.WriteByte(s[i])
		default:
			n, err := unescape(&b, s[i+1:])
			if err != nil {
				return tok{}, 0, syntaxError(line, "%v", err)
			}
			i += n
		}
	}
	return tok{}, 0, syntaxError(line, "string is never closed")
}

// unescape writes what the escape at the start of s (behind the backslash)
// stands for, and returns its length. An unknown one is kept, as in Python.
func unescape(b *strings.Builder, s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	const from, to = `nrtbfav\'"`, "\n\r\t\b\f\a\v\\'\""
	if i := strings.IndexByte(from, s[0]); i >= 0 {
		b.WriteByte(to[i])
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	switch {
	case s[0] == '\n':
		return 1, nil
	case digits == 0:
		b.WriteByte('\\')
		return 0, nil
	case len(s) <= digits:
		return 0, fmt.Errorf("escape \\%.9s is cut short", s)
	}
	r, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil || r > utf8.MaxRune {
		return 0, fmt.Errorf("escape \\%s is not a character", s[:1+digits])
	}
	b.WriteRune(rune(r))
	return 1 + digits, nil
}
