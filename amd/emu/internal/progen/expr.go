package progen

import (
	"fmt"
	"strings"
)

// expr is an expression: the text of its operator with the operands' places.
type expr struct {
	typ  typ
	text []string // around the operands: len(kids)+1 pieces
	kids []*expr
}

func (e *expr) write(b *strings.Builder) {
	b.WriteString(e.text[0])
	for i, k := range e.kids {
		k.write(b)
		b.WriteString(e.text[i+1])
	}
}

func (e *expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e *expr) clone() *expr {
	c := &expr{e.typ, e.text, make([]*expr, len(e.kids))}
	for i, k := range e.kids {
		c.kids[i] = k.clone()
	}
	return c
}

// size is the number of operators and leaves.
func (e *expr) size() int {
	n := 1
	for _, k := range e.kids {
		n += k.size()
	}
	return n
}

func leaf(t typ, text string) *expr { return &expr{typ: t, text: []string{text}} }

// template is an operator with its operands as {type}: {T} is the type of the
// result, {int}, {float} and so on any of a class, a plain T in the text the
// result's name. Templates with memory are not uniform: a wave's lanes give
// them different values.
type template struct {
	text   string
	memory bool
}

func templates(memory bool, texts ...string) []template {
	var ts []template
	for _, t := range texts {
		ts = append(ts, template{t, memory})
	}
	return ts
}

var intTemplates = append(templates(
	false,
	"(T)({T} + {T})", "(T)({T} - {T})", "(T)({T} * {T})", "(T)({T} & {T})", "(T)({T} | {T})", "(T)({T} ^ {T})",
	"(T)({T} + {T})", "(T)({T} - {T})", "(T)({T} * {T} + {T})", "(T)-{T}", "(T)NOT({T})", "(T)({T} & NOT({T}))",
	"(T)NOT({T} ^ {T})", "(T)(({T} & {T}) | {T})", "(T)(({T} ^ {T}) + {T})", "(T)({T} + {T} + {T})", "(T)({T} | {T} | {T})",
	"shl<T>({T}, {u32})", "shr<T>({T}, {u32})", "(T)(shl<T>({T}, {u32}) + {T})", "shl<T>((T)({T} + {T}), {u32})",
	"shl<T>({T}, 3)", "shr<T>({T}, 2)", "rotl<T>({T}, {u32})",
	"divs<T>({T}, {T})", "rems<T>({T}, {T})", "(T)({T} / 7)", "(T)({T} % 10)",
	"imin<T>({T}, {T})", "imax<T>({T}, {T})", "imax<T>(imin<T>({T}, {T}), {T})", "iabs<T>({T})",
	"popc<T>({T})", "clz<T>({T})", "ctz<T>({T})", "rev<T>({T})", "swap<T>({T})", "bfe<T>({T}, {u32}, {u32})", "sext<T>({T}, {u32})",
	"addsat<T>({T}, {T})", "subsat<T>({T}, {T})", "carry<T>({T}, {T})", "borrow<T>({T}, {T})", "mulover<T>({T}, {T})",
	"({bool} ? {T} : {T})", "({bool} ? {T} : {T})", "(T){bool}", "(T)({int})", "(T)({int})", "toint<T>({float})",
),
	append(templates(false, "ld<T>(c, {u32})"), templates(true, "ldmem<T>(c, {u32})", "ldown<T>(c, {u32})")...)...)

var floatTemplates = append(templates(
	false,
	"SUM({T} + {T})", "SUM({T} - {T})", "({T} * {T})", "({T} / {T})", "SUM({T} + {T})", "({T} * {T})", "SUM({T} * {T} + {T})",
	"fma_({T}, {T}, {T})", "fma_({T}, {T}, {T})", "fma_(-{T}, {T}, -{T})", "fma_({T}, (T)1.5, {T})", "fma_({T}, {T}, (T)-0.375)",
	"sqrt_(fabs_({T}))", "(-{T})", "fabs_({T})", "(-fabs_({T}))", "fmin_({T}, {T})", "fmax_({T}, {T})", "fmax_(fmin_({T}, {T}), {T})",
	"fmin_(fmax_({T}, (T)0), (T)1)", "csign_({T}, {T})", "rounded({T}, {u32})", "floor_({T})", "rint_({T})", "trunc_({T})", "fract({T})", "mant({T})", "ldexp_({T}, {i32})",
	"({bool} ? {T} : {T})", "({bool} ? {T} : {T})", "(T)({int})", "(T)({int})", "(T)NARROW({float})", "fromw<T>({u64})", "small<T>({u32})",
	"fromw<T>(ld<u64>(c, {u32}))",
),
	templates(true, "small<T>(ldmem<u16>(c, {u32}))")...)

var boolTemplates = templates(
	false,
	"({any} < {=})", "({any} > {=})", "({any} <= {=})", "({any} >= {=})", "({any} == {=})", "({any} != {=})", "!({any} < {=})",
	"(({int} & 1) != 0)", "({word} < 0)", "({word} == 0)", "({bool} && {bool})", "({bool} || {bool})", "({bool} != {bool})", "!{bool}",
	"CLASS({float}, 0x264)", "CLASS({float}, 0x90)", "CLASS({float}, 0x108)", "__builtin_isunordered({float}, {=})", "__builtin_islessgreater({float}, {=})",
)

// particular are the templates of one type beyond those of its class.
var particular = map[typ][]template{
	u32: append(templates(
		false,
		"umulhi({u32}, {u32})", "mulu24({u32}, {u32})", "mulhu24({u32}, {u32})", "(mulu24({u32}, {u32}) + {u32})", "funnel({u32}, {u32}, {u32})", "perm({u32}, {u32}, {u32})",
		"alignbyte({u32}, {u32}, {u32})", "ubfe({u32}, {u32}, {u32})", "sadu8({u32}, {u32}, {u32})", "sadhiu8({u32}, {u32}, {u32})",
		"msadu8({u32}, {u32}, {u32})", "sadu16({u32}, {u32}, {u32})", "lerp({u32}, {u32}, {u32})", "signbits({i32})",
		"dotu4({u32}, {u32}, {u32})", "dotu4sat({u32}, {u32}, {u32})", "dotu8({u32}, {u32}, {u32})", "packi16({i32}, {i32})", "packu16({u32}, {u32})",
		"bits({f32})", "bits({h2})", "bits({s2})", "bits({w2})", "(u32)bits({f16})", "pkrtz({f32}, {f32})", "pku8small({u32}, {u32}, {u32})",
	),
		templates(true, "ldwide(c, {u32})", "ldownwide(c)", "s.arr[{u32} & 7]")...),
	i32: templates(
		false,
		"smulhi({i32}, {i32})", "muls24({i32}, {i32})", "sbfe({i32}, {u32}, {u32})", "dotss4({u32}, {u32}, {i32})", "dotsu4({u32}, {u32}, {i32})",
		"dotus4sat({u32}, {u32}, {i32})", "dotss8({u32}, {u32}, {i32})", "dotus8({u32}, {u32}, {i32})", "expo({float})",
	),
	u64: templates(false, "((u64){u32} * {u32})", "((u64){u32} * {u32} + {u64})", "umulhi64({u64}, {u64})", "((u64){u32} << 32 | {u32})", "bits({f64})"),
	i64: templates(false, "((i64){i32} * {i32})", "((i64){i32} * {i32} + {i64})", "smulhi64({i64}, {i64})"),
	u16: templates(false, "bits({f16})", "(u16)(({u16} * {u16}) >> 16)", "(u16){w2}.y"),
	i16: templates(false, "(i16){s2}.x"),
	f16: templates(false, "(f16){h2}.x", "(f16){h2}.y", "med3({f16}, {f16}, {f16})", "(f16)NARROW(fma_((f32){f16}, (f32){f16}, {f32}))"),
	f32: templates(false, "med3({f32}, {f32}, {f32})", "fma_((f32){f16}, (f32){f16}, (f32){f16})", "fma_((f32){f16}, {f32}, {f32})", "dot2small({u32}, {u32}, {i32})", "(f32)({u32} & 255)", "(f32)({u32} >> 8 & 255)"),
	f64: templates(false, "fma_((f64){f32}, (f64){f32}, {f64})"),
	h2: templates(
		false, "pair({f16}, {f16})", "({h2} + {h2})", "({h2} - {h2})", "({h2} * {h2})", "({h2} + {h2}.yx)", "({h2} * (h2)(f16)1.5)", "fma_({h2}, {h2}, {h2})", "fma_({h2}, {h2}.yx, -{h2})", "fma_({h2}, {h2}, {h2})",
		"fmin_({h2}, {h2})", "fmax_({h2}, {h2})", "(-{h2})", "{h2}.yx", "({bool} ? {h2} : {h2})",
	),
	s2: templates(
		false, "spair({i16}, {i16})", "({s2} + {s2})", "({s2} - {s2})", "({s2} * {s2})", "({s2} * {s2} + {s2})", "({s2} << ({s2} & (s2)15))", "({s2} >> ({s2} & (s2)15))",
		"smin({s2}, {s2})", "smax({s2}, {s2})", "({s2} & {s2})", "({s2} ^ {s2}.yx)", "addsat<s2>({s2}, {s2})", "subsat<s2>({s2}, {s2})", "({bool} ? {s2} : {s2})", "({s2} + (s2){7, -3})",
	),
	w2: templates(
		false, "wpair({u16}, {u16})", "({w2} + {w2})", "({w2} - {w2})", "({w2} * {w2})", "({w2} * {w2} + {w2})", "({w2} << ({w2} & (w2)15))", "({w2} >> ({w2} & (w2)15))",
		"wmin({w2}, {w2})", "wmax({w2}, {w2})", "({w2} | {w2})", "({w2} ^ {w2}.yx)", "addsat<w2>({w2}, {w2})", "subsat<w2>({w2}, {w2})", "({bool} ? {w2} : {w2})", "__builtin_bit_cast(w2, {s2})",
	),
	bit: nil,
}

func templatesOf(t typ) []template {
	switch {
	case isInt(t):
		return append(intTemplates[:len(intTemplates):len(intTemplates)], particular[t]...)
	case isFloat(t):
		return append(floatTemplates[:len(floatTemplates):len(floatTemplates)], particular[t]...)
	case t == bit:
		return boolTemplates
	}
	return particular[t]
}

// expr writes a random expression of type t, at most depth operators deep.
func (g *gen) expr(t typ, depth int) *expr {
	if depth <= 0 || g.rng.IntN(6) == 0 {
		if t != bit {
			return g.leaf(t)
		}
		depth = 1
	}
	all := templatesOf(t)
	tm := all[g.rng.IntN(len(all))]
	if tm.memory && g.uniform {
		return g.leaf(t)
	}
	return g.fill(tm.text, t, depth)
}

// fill makes an expression, or a statement, of a template.
func (g *gen) fill(text string, t typ, depth int) *expr {
	e := &expr{typ: t}
	var last typ // what {=} repeats
	var piece strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "{")
		piece.WriteString(instance(before, t))
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			e.text = append(e.text, piece.String())
			return e
		}
		if strings.ContainsAny(name, " ,;") { // braces of C++, not of ours
			piece.WriteString("{" + name + "}")
			text = after
			continue
		}
		kid := typ(name)
		switch {
		case name == "T":
			kid = t
		case name == "=":
			kid = last
		case classes[name] != nil:
			kid = g.preferred(classes[name])
		}
		last = kid
		e.text = append(e.text, piece.String())
		piece.Reset()
		e.kids = append(e.kids, g.expr(kid, depth-1))
		text = after
	}
}

// instance puts the type's name for each T that stands alone.
func instance(text string, t typ) string {
	for _, at := range []string{"<T>", "(T)"} {
		text = strings.ReplaceAll(text, at, at[:1]+string(t)+at[2:])
	}
	return text
}

// preferred is one of the types, more often than not one of the program's.
func (g *gen) preferred(of []typ) typ {
	if g.rng.IntN(4) != 0 {
		for range 4 {
			if t := g.theme[g.rng.IntN(len(g.theme))]; contains(of, t) {
				return t
			}
		}
	}
	return of[g.rng.IntN(len(of))]
}

// leaf is a variable or a literal, converted when the program has no variable
// of that type.
func (g *gen) leaf(t typ) *expr {
	if g.rng.IntN(4) != 0 {
		var names []variable
		for _, v := range g.scope {
			if v.typ == t && (v.uniform || !g.uniform) {
				names = append(names, v)
			}
		}
		if len(names) > 0 {
			return leaf(t, names[g.rng.IntN(len(names))].name)
		}
		if isInt(t) {
			for range 3 {
				v := g.scope[g.rng.IntN(len(g.scope))]
				if isInt(v.typ) && (v.uniform || !g.uniform) {
					return &expr{typ: t, text: []string{"(" + string(t) + ")", ""}, kids: []*expr{leaf(v.typ, v.name)}}
				}
			}
		}
	}
	return leaf(t, g.literal(t))
}

// literals that make edges.
var (
	intLiterals = []string{
		"0", "1", "2", "3", "5", "7", "8", "16", "31", "32", "33", "63", "64", "65", "100", "127", "128", "255", "256", "1000", "32767", "32768", "65535", "65536",
		"0x7fffffff", "0x80000000", "0xffffffff", "-1", "-2", "-16", "-17", "-128", "0x55555555", "0x12345678", "0x0f0f0f0f", "0x100000000ll", "0x7fffffffffffffffll", "0x8000000000000000ull", "0xfedcba9876543210ull",
	}
	floatLiterals = []string{
		"0.0", "-0.0", "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494", "3.140625", "10.0", "0.1", "-0.3", "255.0", "1e-3", "1e-7", "6e-8", "1e4", "65504.0", "65519.0",
		"2147483648.0", "1e-40", "1e30", "1e300", "4e-310", "-1e-300", "__builtin_inf()", "-__builtin_inf()", "__builtin_nan(\"\")",
	}
)

func (g *gen) literal(t typ) string {
	switch {
	case isInt(t):
		if g.rng.IntN(4) == 0 {
			return fmt.Sprintf("(%s)%#xull", t, g.rng.Uint64()>>g.rng.IntN(64))
		}
		return fmt.Sprintf("(%s)%s", t, intLiterals[g.rng.IntN(len(intLiterals))])
	case isFloat(t):
		return fmt.Sprintf("(%s)%s", t, floatLiterals[g.rng.IntN(len(floatLiterals))])
	case t == h2:
		return fmt.Sprintf("pair(%s, %s)", g.literal(f16), g.literal(f16))
	case t == s2:
		return fmt.Sprintf("spair(%s, %s)", g.literal(i16), g.literal(i16))
	case t == w2:
		return fmt.Sprintf("wpair(%s, %s)", g.literal(u16), g.literal(u16))
	}
	return "true"
}
