package check

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// node evaluates an expression for element i.
type node func(env *environment, i float64) (float64, error)

// environment is what expressions can name: scalars, and the elements of
// buffers as they were before the dispatch.
type environment struct {
	scalars map[string]float64
	buffers map[string]values
}

// values are a buffer's elements.
type values struct {
	elem elem
	data []byte
}

func (v values) len() int { return len(v.data) / v.elem.bytes }

func (v values) at(i int) float64 { return v.elem.get(v.data[i*v.elem.bytes:]) }

// functions of expressions, by their number of arguments.
var (
	functions1 = map[string]func(float64) float64{
		"abs": math.Abs, "floor": math.Floor, "sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "sin": math.Sin, "cos": math.Cos,
	}
	functions2 = map[string]func(a, b float64) float64{
		"min": math.Min, "max": math.Max, "pow": math.Pow,
		"lt": func(a, b float64) float64 {
			if a < b {
				return 1
			}
			return 0
		},
	}
)

// parser reads expressions of numbers, i (the element), scalar arguments, elements
// of buffers x[E], the functions above, sum(x) of a buffer's elements, and
// + - * / % ( ) with the usual precedence; % is of floor division.
type parser struct {
	s     string
	at    int
	depth int
}

// Limits of expressions: how deep parentheses nest, and bytes.
const (
	depthMax     = 100
	exprBytesMax = 1 << 12
)

func parseExpr(s string) (node, error) {
	if len(s) > exprBytesMax {
		return nil, fmt.Errorf("expression of %d bytes, at most %d", len(s), exprBytesMax)
	}
	p := &parser{s: s}
	n, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = errors.New("unexpected")
	}
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w at %q", s, err, s[min(p.at, len(s)):])
	}
	return n, nil
}

// peek is the next character that is no space; 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.s) && p.s[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.s) {
		return 0
	}
	return p.s[p.at]
}

func (p *parser) take(c byte) error {
	if p.peek() != c {
		return fmt.Errorf("want %q", c)
	}
	p.at++
	return nil
}

func (p *parser) sum() (node, error) { return p.chain("+-", p.product) }

func (p *parser) product() (node, error) { return p.chain("*/%", p.unary) }

// chain reads operands and the operators between them, from the left.
func (p *parser) chain(operators string, operand func() (node, error)) (node, error) {
	left, err := operand()
	for err == nil && p.peek() != 0 && strings.IndexByte(operators, p.peek()) >= 0 {
		op := p.s[p.at]
		p.at++
		var right node
		if right, err = operand(); err == nil {
			left = binary2(func(a, b float64) float64 { return operate(op, a, b) }, left, right)
		}
	}
	return left, err
}

func operate(op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	return a - b*math.Floor(a/b)
}

func binary2(f func(a, b float64) float64, left, right node) node {
	return func(env *environment, i float64) (float64, error) {
		a, err := left(env, i)
		if err != nil {
			return 0, err
		}
		b, err := right(env, i)
		return f(a, b), err
	}
}

func unary1(f func(float64) float64, x node) node {
	return func(env *environment, i float64) (float64, error) {
		a, err := x(env, i)
		return f(a), err
	}
}

func (p *parser) unary() (node, error) {
	if p.depth++; p.depth > depthMax {
		return nil, errors.New("nested too deeply")
	}
	defer func() { p.depth-- }()
	switch c := p.peek(); {
	case c == '-':
		p.at++
		x, err := p.unary()
		return unary1(func(a float64) float64 { return -a }, x), err
	case c == '(':
		p.at++
		x, err := p.sum()
		if err != nil {
			return nil, err
		}
		return x, p.take(')')
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case letter(c):
		return p.name()
	}
	return nil, errors.New("want a number or a name")
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func (p *parser) number() (node, error) {
	start := p.at
	for p.at < len(p.s) {
		c := p.s[p.at]
		sign := (c == '+' || c == '-') && (p.s[p.at-1] == 'e' || p.s[p.at-1] == 'E') && !strings.HasPrefix(p.s[start:], "0x")
		if !sign && c != '.' && !letter(c) && (c < '0' || c > '9') {
			break
		}
		p.at++
	}
	text := p.s[start:p.at]
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		var n int64
		if n, err = strconv.ParseInt(text, 0, 64); err != nil {
			return nil, fmt.Errorf("%q is no number", text)
		}
		x = float64(n)
	}
	return func(*environment, float64) (float64, error) { return x, nil }, nil
}

// name reads i, a scalar, an element of a buffer or a call.
func (p *parser) name() (node, error) {
	start := p.at
	for p.at < len(p.s) && (letter(p.s[p.at]) || p.s[p.at] >= '0' && p.s[p.at] <= '9') {
		p.at++
	}
	name := p.s[start:p.at]
	switch p.peek() {
	case '[':
		p.at++
		index, err := p.sum()
		if err != nil {
			return nil, err
		}
		return element(name, index), p.take(']')
	case '(':
		p.at++
		return p.call(name)
	}
	if name == "i" {
		return func(_ *environment, i float64) (float64, error) { return i, nil }, nil
	}
	return func(env *environment, _ float64) (float64, error) {
		x, ok := env.scalars[name]
		if !ok {
			return 0, fmt.Errorf("no scalar %q", name)
		}
		return x, nil
	}, nil
}

func element(name string, index node) node {
	return func(env *environment, i float64) (float64, error) {
		v, ok := env.buffers[name]
		if !ok {
			return 0, fmt.Errorf("no buffer %q", name)
		}
		x, err := index(env, i)
		if err != nil {
			return 0, err
		}
		if !(x >= 0 && x < float64(v.len())) {
			return 0, fmt.Errorf("element %v of %q, which has %d", x, name, v.len())
		}
		return v.at(int(x)), nil
	}
}

// call reads the arguments of a function.
func (p *parser) call(name string) (node, error) {
	if name == "sum" {
		p.peek()
		buffer, after, ok := strings.Cut(p.s[p.at:], ")")
		if !ok {
			return nil, errors.New("want a buffer and )")
		}
		p.at = len(p.s) - len(after)
		return total(strings.TrimSpace(buffer)), nil
	}
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	if f, ok := functions1[name]; ok {
		return unary1(f, x), p.take(')')
	}
	f, ok := functions2[name]
	if !ok {
		return nil, fmt.Errorf("no function %q", name)
	}
	if err := p.take(','); err != nil {
		return nil, err
	}
	y, err := p.sum()
	if err != nil {
		return nil, err
	}
	return binary2(f, x, y), p.take(')')
}

func total(name string) node {
	return func(env *environment, _ float64) (float64, error) {
		v, ok := env.buffers[name]
		if !ok {
			return 0, fmt.Errorf("no buffer %q", name)
		}
		sum := 0.0
		for i := range v.len() {
			sum += v.at(i)
		}
		return sum, nil
	}
}
