package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The library renders most templates as written, but not all, and sets no
// limits (the package comment lists what was found). So it is given a rewritten
// template:
//
//   - There is no text outside tags: the lexer has settled whitespace control,
//     and text is printed as a string.
//   - Every printed, assigned, tested or iterated expression passes through a
//     function of guard.go, which notes the line and counts.
//   - Filters, tests, attributes, subscripts, and those methods that the library
//     lacks or gets wrong, are ours (filter.go and its neighbours). x.name,
//     x[key] and x.method(y) become filters, which bind alike; x is test becomes
//     a call.
//   - x * y and its kin become calls: a repeated string can be any size, and the
//     library does not divide as Python does. The operands of +, -, ~, ==,
//     != and in, and whatever is called, pass through functions too.
//   - dict(k=v) and namespace(k=v) become {'k': v}, which keeps the order.
//   - Default arguments of macros are assigned in the macro's body, and a
//     variable that a loop's body sets is put back when the next round starts.
//
// Each tag takes one line, so that lines[n-1] is the line in the template of
// line n of the result.

type rewriter struct {
	segs   []segment
	out    strings.Builder
	lines  []int
	blocks []block
	sets   map[int][]string // index of a for tag to the names that its body sets
	fresh  int              // names made so far
}

// block is a statement that waits for its end.
type block struct {
	kind   string
	line   int
	filter string // of a filter block: what to apply
}

func rewrite(src string) (string, []int, error) {
	segs, err := lex(src)
	if err != nil {
		return "", nil, err
	}
	r := &rewriter{segs: segs, sets: assignedInLoops(segs)}
	for i, seg := range segs {
		switch seg.kind {
		case segText:
			r.print(seg.line, quote(seg.text))
		case segExpr:
			e, err := expression(seg.toks, seg.line)
			if err != nil {
				return "", nil, err
			}
			r.print(seg.line, e)
		case segStmt:
			if err := r.statement(i, seg); err != nil {
				return "", nil, err
			}
		}
	}
	if n := len(r.blocks); n > 0 {
		b := r.blocks[n-1]
		return "", nil, syntaxError(b.line, "{%% %s %%} is never closed", b.kind)
	}
	return r.out.String(), r.lines, nil
}

// assignedInLoops finds the names that each loop's body sets in its own scope:
// not in a loop or macro inside it.
func assignedInLoops(segs []segment) map[int][]string {
	sets, open := map[int][]string{}, []int{} // open scopes: a for tag's index, or -1
	for i, seg := range segs {
		if seg.kind != segStmt {
			continue
		}
		switch seg.toks[0].text {
		case "for":
			open = append(open, i)
		case "macro", "call":
			open = append(open, -1)
		case "endfor", "endmacro", "endcall":
			open = open[:max(0, len(open)-1)]
		case "set":
			plain := len(seg.toks) > 1 && !(len(seg.toks) > 2 && seg.toks[2].is("."))
			if n := len(open); n > 0 && open[n-1] >= 0 && plain {
				sets[open[n-1]] = append(sets[open[n-1]], seg.toks[1].text)
			}
		}
	}
	return sets
}

func (r *rewriter) emit(line int, open, text, closer string) {
	r.out.WriteString(open + " " + text + "\n" + closer)
	r.lines = append(r.lines, line)
}

func (r *rewriter) stmt(line int, format string, args ...any) {
	r.emit(line, "{%", fmt.Sprintf(format, args...), "%}")
}

func (r *rewriter) print(line int, expr string) {
	r.emit(line, "{{", guarded("out", line, expr), "}}")
}

// guarded passes an expression, noting its line first.
func guarded(fn string, line int, expr string) string {
	return fmt.Sprintf("%s%s(%sat(%d), (%s))", reserved, fn, reserved, line, expr)
}

// quote writes a string for the library, on one line.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (r *rewriter) push(kind string, line int) error {
	if len(r.blocks) == nestingMax {
		return syntaxError(line, "blocks nest deeper than %d", nestingMax)
	}
	r.blocks = append(r.blocks, block{kind: kind, line: line})
	return nil
}

// pop closes the innermost block, which must be of the kind.
func (r *rewriter) pop(kind string, line int) (block, error) {
	n := len(r.blocks)
	if n == 0 || r.blocks[n-1].kind != kind {
		return block{}, r.misplaced("end"+kind, line)
	}
	b := r.blocks[n-1]
	r.blocks = r.blocks[:n-1]
	return b, nil
}

func (r *rewriter) misplaced(tag string, line int) error {
	if n := len(r.blocks); n > 0 {
		return syntaxError(line, "{%% %s %%} inside {%% %s %%} of line %d", tag, r.blocks[n-1].kind, r.blocks[n-1].line)
	}
	return syntaxError(line, "{%% %s %%} outside any block", tag)
}

// inside reports whether the innermost block is one of the kinds.
func (r *rewriter) inside(kinds ...string) bool {
	for _, k := range kinds {
		if n := len(r.blocks); n > 0 && r.blocks[n-1].kind == k {
			return true
		}
	}
	return false
}

// inLoop reports whether a break would leave a loop of the same scope.
func (r *rewriter) inLoop() bool {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		switch r.blocks[i].kind {
		case "for":
			return true
		case "macro", "call":
			return false
		}
	}
	return false
}

func (r *rewriter) statement(i int, seg segment) error {
	kw, toks, line := seg.toks[0].text, seg.toks[1:], seg.line
	switch kw {
	case "if", "elif":
		return r.ifStatement(kw, toks, line)
	case "else":
		if !r.inside("if", "for") {
			return r.misplaced(kw, line)
		}
		r.stmt(line, "else")
	case "for":
		return r.forStatement(toks, line, r.sets[i])
	case "break", "continue":
		if !r.inLoop() {
			return r.misplaced(kw, line)
		}
		r.stmt(line, "%s", kw)
	case "set":
		return r.setStatement(toks, line)
	case "macro":
		return r.macroStatement(toks, line)
	case "call":
		return r.callStatement(toks, line)
	case "filter":
		if len(toks) == 0 || toks[0].kind != tokName {
			return syntaxError(line, "{%% filter %%} needs the name of a filter")
		}
		e, err := expression(append([]tok{name(reserved + "block"), op("|")}, toks...), line)
		if err != nil {
			return err
		}
		if err := r.push(kw, line); err != nil {
			return err
		}
		r.blocks[len(r.blocks)-1].filter = e
		r.stmt(line, "set %sblock", reserved)
	case "generation": // marks what the model wrote, for training: no output
		return r.push(kw, line)
	case "endgeneration":
		_, err := r.pop("generation", line)
		return err
	case "endif", "endfor", "endset", "endmacro", "endcall", "endfilter":
		b, err := r.pop(kw[len("end"):], line)
		if err != nil {
			return err
		}
		switch kw {
		case "endmacro":
			r.emit(line, "{{", reserved+"leave()", "}}")
		case "endfilter":
			r.stmt(line, "endset")
			r.print(line, b.filter)
			return nil
		}
		r.stmt(line, "%s", kw)
	default:
		return syntaxError(line, "unsupported statement %q", kw)
	}
	return nil
}

func (r *rewriter) ifStatement(kw string, toks []tok, line int) error {
	cond, err := expression(toks, line)
	if err != nil {
		return err
	}
	if kw == "elif" && !r.inside("if") {
		return r.misplaced(kw, line)
	}
	r.stmt(line, "%s %sat(%d) and (%s)", kw, reserved, line, cond)
	if kw == "if" {
		return r.push(kw, line)
	}
	return nil
}

func (r *rewriter) forStatement(toks []tok, line int, sets []string) error {
	in := findWord(toks, "in")
	if in < 0 {
		return syntaxError(line, "{%% for %%} without in")
	}
	var targets []string
	for _, t := range toks[:in] {
		if t.kind == tokName {
			targets = append(targets, t.text)
		}
	}
	if len(targets) < 1 || len(targets) > 2 {
		return syntaxError(line, "{%% for %%} with %d variables is not supported: want 1 or 2", len(targets))
	}
	iter, cond := toks[in+1:], ""
	if findWord(iter, "recursive") >= 0 {
		return syntaxError(line, "recursive loops are not supported")
	}
	if at := findWord(iter, "if"); at >= 0 {
		c, err := expression(unpacked(iter[at+1:], targets), line)
		if err != nil {
			return err
		}
		iter, cond = iter[:at], " if ("+c+")"
	}
	e, err := expression(iter, line)
	if err != nil {
		return err
	}
	// The library keeps one scope for all rounds of a loop.
	outer := map[string]string{}
	for _, s := range sets {
		if outer[s] == "" && s != targets[0] && s != targets[len(targets)-1] {
			r.fresh++
			outer[s] = fmt.Sprintf("%s%d", reserved, r.fresh)
			r.stmt(line, "set %s = %s", outer[s], s)
		}
	}
	r.stmt(line, "for %s in %s%s", strings.Join(targets, ","), guarded("each", line, e), cond)
	for _, s := range sets {
		if saved := outer[s]; saved != "" {
			r.stmt(line, "set %s = %s", s, saved)
			delete(outer, s)
		}
	}
	return r.push("for", line)
}

// unpacked rewrites a loop's condition for two variables: there, the library
// binds the second one to the pair.
func unpacked(cond []tok, targets []string) []tok {
	if len(targets) == 1 {
		return cond
	}
	var out []tok
	for i, t := range cond {
		attribute := i > 0 && cond[i-1].is(".")
		at := slices.Index(targets, t.text)
		if t.kind != tokName || attribute || at < 0 {
			out = append(out, t)
			continue
		}
		out = append(out, name(targets[1]), op("["), tok{tokNumber, strconv.Itoa(at)}, op("]"))
	}
	return out
}

func (r *rewriter) setStatement(toks []tok, line int) error {
	eq := find(toks, func(t tok) bool { return t.is("=") })
	target := toks
	if eq >= 0 {
		target = toks[:eq]
	}
	named := len(target) > 0 && target[0].kind == tokName
	switch {
	case named && len(target) == 1 && eq < 0:
		r.stmt(line, "set %s", target[0].text)
		return r.push("set", line)
	case eq < 0 || !named:
		return syntaxError(line, "this form of {%% set %%} is not supported")
	}
	value, err := expression(toks[eq+1:], line)
	if err != nil {
		return err
	}
	switch {
	case len(target) == 1:
		r.stmt(line, "set %s = %s", target[0].text, guarded("set", line, value))
	case len(target) == 3 && target[1].is(".") && target[2].kind == tokName:
		r.stmt(line, "set %s.%s = %s", target[0].text, target[2].text, strings.TrimSuffix(guarded("own", line, value), ")")+", "+target[0].text+")")
	default:
		return syntaxError(line, "{%% set %%} of several names is not supported")
	}
	return nil
}

func (r *rewriter) macroStatement(toks []tok, line int) error {
	if len(toks) < 3 || toks[0].kind != tokName || !toks[1].is("(") || !toks[len(toks)-1].is(")") {
		return syntaxError(line, "{%% macro %%} needs a name and parameters in parentheses")
	}
	var params []string
	defaults := map[string]string{}
	for _, p := range splitCommas(toks[2 : len(toks)-1]) {
		if len(p) == 0 || p[0].kind != tokName || len(p) > 1 && !p[1].is("=") {
			return syntaxError(line, "parameter %d of macro %s is not a name", len(params)+1, toks[0].text)
		}
		params = append(params, p[0].text)
		if len(p) > 1 {
			e, err := expression(p[2:], line)
			if err != nil {
				return err
			}
			defaults[p[0].text] = e
		}
	}
	r.stmt(line, "macro %s(%s)", toks[0].text, strings.Join(params, ","))
	r.emit(line, "{{", guarded("enter", line, "["+strings.Join(params, ",")+"]"), "}}")
	for _, p := range params {
		if e := defaults[p]; e != "" {
			r.stmt(line, "if %s is undefined", p)
			r.stmt(line, "set %s = %s", p, guarded("set", line, e))
			r.stmt(line, "endif")
		}
	}
	return r.push("macro", line)
}

func (r *rewriter) callStatement(toks []tok, line int) error {
	args := ""
	if len(toks) > 0 && toks[0].is("(") {
		end := closing(toks, 0)
		for _, a := range splitCommas(toks[1:end]) {
			if len(a) != 1 || a[0].kind != tokName {
				return syntaxError(line, "an argument of {%% call %%} is not a name")
			}
			args += a[0].text + ","
		}
		args, toks = "("+args+")", toks[end+1:]
	}
	e, err := expression(toks, line)
	if err != nil {
		return err
	}
	r.stmt(line, "call%s %s", args, e)
	return r.push("call", line)
}
