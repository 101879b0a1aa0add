package chat

import (
	"slices"
	"strings"
)

// expression rewrites one expression; see the comment of rewrite.go.
func expression(toks []tok, line int) (string, error) {
	if len(toks) == 0 {
		return "", syntaxError(line, "an expression is missing")
	}
	out, err := rewriteTokens(toks, line)
	if err != nil {
		return "", err
	}
	if n := countJoins(out); n > joinsMax {
		return "", syntaxError(line, "expression joins %d values: at most %d", n, joinsMax)
	}
	words := make([]string, len(out))
	for i, t := range out {
		if words[i] = t.text; t.kind == tokString {
			words[i] = quote(t.text)
		}
	}
	return strings.Join(words, " "), nil
}

// joinsMax bounds the + and ~ of one expression: each can add another value of
// the largest size. The most seen is 26 (2026-11).
const joinsMax = 100

func countJoins(toks []tok) int {
	n := 0
	for _, t := range toks {
		if t.is("+") || t.is("~") {
			n++
		}
	}
	return n
}

// rewriteTokens goes through an expression once. What an operator takes on its
// left is at the end of out already, rewritten; what it takes on its right is
// found in toks and rewritten first.
func rewriteTokens(toks []tok, line int) ([]tok, error) {
	var out []tok
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		next := func(n int) tok {
			if i+n < len(toks) {
				return toks[i+n]
			}
			return tok{tokOp, ""}
		}
		switch {
		case t.is("|"):
			if _, ok := filters[next(1).text]; !ok || next(1).kind != tokName {
				return nil, syntaxError(line, "no filter %q", next(1).text)
			}
			// Unlike the library's, Jinja's filters bind weaker than a sign.
			if start := operandStart(out); start > 0 && signed(out, start) < start {
				term := append([]tok{op("(")}, out[start-1:]...)
				out = append(append(out[:start-1], term...), op(")"))
			}
			out = append(out, t, name(reserved+"filter_"+next(1).text))
			i++
		case t.is(".") && next(1).kind == tokName && next(2).is("(") && methods[next(1).text] != nil:
			out = append(out, op("|"), name(reserved+"method_"+next(1).text))
			i++
		case t.is(".") && next(1).kind == tokName && !next(2).is("("):
			out = append(out, op("|"), name(reserved+"attr"), op("("), tok{tokString, next(1).text}, op(")"))
			i++
		case t.is("[") && i > 0 && ends(toks[i-1]):
			end := closing(toks, i)
			sub, err := subscript(toks[i+1:end], line)
			if err != nil {
				return nil, err
			}
			out = append(out, sub...)
			i = end
		case t.word("is"):
			call, end, err := testCall(toks, i, out, line)
			if err != nil {
				return nil, err
			}
			out, i = call, end-1
		case t.word("in"):
			end := operandEnd(toks, i+1)
			if end < 0 {
				return nil, syntaxError(line, "in without a second operand")
			}
			right, err := rewriteTokens(toks[i+1:end], line)
			if err != nil {
				return nil, err
			}
			out = append(append(out, t), wrap("small", right)...)
			i = end - 1
		case (t.is("~") || t.is("+") || t.is("-") || t.is("==") || t.is("!=")) && operandStart(out) >= 0:
			start, end := operandStart(out), operandEnd(toks, i+1)
			if end < 0 {
				return nil, syntaxError(line, "%s without a second operand", t.text)
			}
			right, err := rewriteTokens(toks[i+1:end], line)
			if err != nil {
				return nil, err
			}
			check := "small"
			if t.is("-") {
				check = "num"
			}
			if out[start].text != reserved+check {
				out = append(out[:start], wrap(check, out[start:])...)
			}
			out = append(append(out, t), wrap(check, right)...)
			i = end - 1
		case (t.word("dict") || t.word("namespace")) && next(1).is("(") && (i == 0 || !toks[i-1].is(".")):
			end := closing(toks, i+1)
			dict, err := dictLiteral(toks[i+2:end], line)
			if err != nil {
				return nil, err
			}
			out = append(out, dict...)
			i = end
		case t.is("(") && called(toks, i):
			start := operandStart(out)
			if start < 0 {
				return nil, syntaxError(line, "nothing is called")
			}
			out = append(append(out[:start], wrap("fn", out[start:])...), t)
		case t.is("*") || t.is("/") || t.is("//") || t.is("%") || t.is("**"):
			start, end := operandStart(out), operandEnd(toks, i+1)
			if start < 0 || end < 0 {
				return nil, syntaxError(line, "%s without two operands", t.text)
			}
			start = signed(out, start)
			for !t.is("**") && end < len(toks) && toks[end].is("**") {
				if end = operandEnd(toks, end+1); end < 0 {
					return nil, syntaxError(line, "** without two operands")
				}
			}
			right, err := rewriteTokens(toks[i+1:end], line)
			if err != nil {
				return nil, err
			}
			args := append([]tok{{tokString, t.text}, op(",")}, out[start:]...)
			args = append(append(args, op(",")), right...)
			out = append(out[:start], wrap("op", args)...)
			i = end - 1
		default:
			out = append(out, t)
		}
	}
	return out, nil
}

// dictLiteral makes {'k': v} of the arguments of dict(k=v) and namespace(k=v):
// the library keeps keyword arguments in a map, and so forgets their order.
func dictLiteral(args []tok, line int) ([]tok, error) {
	out := []tok{op("{")}
	for _, arg := range splitCommas(args) {
		if len(arg) < 3 || arg[0].kind != tokName || !arg[1].is("=") {
			return nil, syntaxError(line, "dict and namespace take only keyword arguments here")
		}
		value, err := rewriteTokens(arg[2:], line)
		if err != nil {
			return nil, err
		}
		out = append(out, tok{tokString, arg[0].text}, op(":"))
		out = append(append(out, value...), op(","))
	}
	return append(out, op("}")), nil
}

// subscript rewrites what stands in the brackets of x[key] and x[from:to:step].
func subscript(toks []tok, line int) ([]tok, error) {
	colon := func(t tok) bool { return t.is(":") }
	if find(toks, colon) < 0 {
		key, err := rewriteTokens(toks, line)
		return append([]tok{op("|")}, wrap("item", key)...), err
	}
	var args []tok
	for n := 0; ; n++ {
		end := find(toks, colon)
		part := toks
		if end >= 0 {
			part = toks[:end]
		}
		bound, err := rewriteTokens(part, line)
		if err != nil {
			return nil, err
		}
		if len(bound) == 0 {
			bound = []tok{name("none")}
		}
		if args = append(args, bound...); end < 0 {
			return append([]tok{op("|")}, wrap("slice", args)...), nil
		}
		args, toks = append(args, op(",")), toks[end+1:]
	}
}

// wrap returns a call of one of our functions.
func wrap(fn string, toks []tok) []tok {
	return append(append([]tok{name(reserved + fn), op("(")}, toks...), op(")"))
}

// called reports whether the parenthesis at toks[i] calls what is before it,
// and is not the arguments of a filter or of a method that became one.
func called(toks []tok, i int) bool {
	if i == 0 || !ends(toks[i-1]) {
		return false
	}
	if i == 1 {
		return true
	}
	return !toks[i-2].is("|") && (!toks[i-2].is(".") || methods[toks[i-1].text] == nil)
}

// testCall rewrites "operand is [not] test [arguments]", with the "is" at
// toks[i] and the operand, rewritten, at the end of out. It returns the new out
// and the index behind the test.
func testCall(toks []tok, i int, out []tok, line int) ([]tok, int, error) {
	at := func(i int) tok {
		if i < len(toks) {
			return toks[i]
		}
		return op("")
	}
	start, negated := operandStart(out), at(i+1).word("not")
	if i++; negated {
		i++
	}
	test := at(i)
	if _, ok := tests[test.text]; !ok || test.kind != tokName || start < 0 {
		return nil, 0, syntaxError(line, "no test %q", test.text)
	}
	var args []tok
	i++
	switch next := at(i); {
	case next.is("("):
		end := closing(toks, i)
		args, i = toks[i+1:end], end+1
	case next.is("["), next.is("{"), next.kind != tokOp && ends(next):
		end := operandEnd(toks, i)
		args, i = toks[i:end], end
	}
	args, err := rewriteTokens(args, line)
	if err != nil {
		return nil, 0, err
	}
	operand := out[start:]
	call := append([]tok{}, out[:start]...)
	if call = append(call, op("(")); negated {
		call = append(call, name("not"))
	}
	call = append(append(call, name(reserved+"is"), op("(")), operand...)
	call = append(call, op(","), tok{tokString, test.text})
	if len(args) > 0 {
		call = append(append(call, op(",")), args...)
	}
	return append(call, op(")"), op(")")), i, nil
}

var keywords = []string{"and", "or", "not", "in", "is", "if", "else"}

// ends reports whether an operand can end with t, so that a bracket behind it
// is a call or a subscript.
func ends(t tok) bool {
	switch t.kind {
	case tokName:
		return !slices.Contains(keywords, t.text)
	case tokOp:
		return t.is(")") || t.is("]") || t.is("}")
	}
	return true
}

// operandStart returns where the operand at the end of toks starts: an atom
// with its attributes, subscripts, calls and filters. It returns -1 if there is
// none.
func operandStart(toks []tok) int {
	i := len(toks) - 1
	if i < 0 || !ends(toks[i]) {
		return -1
	}
	for {
		if t := toks[i]; t.kind == tokOp {
			depth := 0
			for ; i >= 0; i-- {
				switch toks[i].text {
				case ")", "]", "}":
					depth += b2i(toks[i].kind == tokOp)
				case "(", "[", "{":
					depth -= b2i(toks[i].kind == tokOp)
				}
				if depth == 0 {
					break
				}
			}
			if i < 0 {
				return -1
			}
			if i > 0 && ends(toks[i-1]) && !toks[i].is("{") {
				i--
				continue
			}
		}
		if i < 2 || !toks[i-1].is(".") && !toks[i-1].is("|") {
			return i
		}
		i -= 2
	}
}

// signed moves the start of an operand before its sign, if it has one.
func signed(toks []tok, start int) int {
	if start > 0 && (toks[start-1].is("-") || toks[start-1].is("+")) && (start == 1 || !ends(toks[start-2])) {
		return start - 1
	}
	return start
}

// operandEnd returns the end of the operand that starts at toks[i], or -1.
func operandEnd(toks []tok, i int) int {
	for i < len(toks) && (toks[i].is("+") || toks[i].is("-")) {
		i++
	}
	opens := func(i int) bool { return i < len(toks) && (toks[i].is("(") || toks[i].is("[")) }
	switch {
	case opens(i) || i < len(toks) && toks[i].is("{"):
		i = closing(toks, i) + 1
	case i < len(toks) && toks[i].kind != tokOp && ends(toks[i]):
		i++
	default:
		return -1
	}
	for i < len(toks) {
		switch {
		case opens(i):
			i = closing(toks, i) + 1
		case toks[i].is(".") || toks[i].is("|"):
			i += 2
		default:
			return i
		}
	}
	return min(i, len(toks))
}

// closing returns the index of the bracket that closes the one at toks[i]. The
// lexer has made sure that there is one.
func closing(toks []tok, i int) int {
	for depth := 0; i < len(toks); i++ {
		if toks[i].kind != tokOp {
			continue
		}
		switch toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// find returns the index of the first token outside brackets that f accepts,
// or -1.
func find(toks []tok, f func(tok) bool) int {
	for i := 0; i < len(toks); i++ {
		if toks[i].is("(") || toks[i].is("[") || toks[i].is("{") {
			i = closing(toks, i)
		} else if f(toks[i]) {
			return i
		}
	}
	return -1
}

func findWord(toks []tok, word string) int {
	return find(toks, func(t tok) bool { return t.word(word) })
}

// splitCommas splits at commas outside brackets; one at the end adds nothing.
func splitCommas(toks []tok) [][]tok {
	var parts [][]tok
	for len(toks) > 0 {
		i := find(toks, func(t tok) bool { return t.is(",") })
		if i < 0 {
			return append(parts, toks)
		}
		parts, toks = append(parts, toks[:i]), toks[i+1:]
	}
	return parts
}
