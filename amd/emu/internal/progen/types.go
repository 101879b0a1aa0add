package progen

// typ is a type of the generated language, by its name in prelude.h.
type typ string

const (
	u8   typ = "u8"
	u16  typ = "u16"
	u32  typ = "u32"
	u64  typ = "u64"
	i8   typ = "i8"
	i16  typ = "i16"
	i32  typ = "i32"
	i64  typ = "i64"
	f16  typ = "f16"
	f32  typ = "f32"
	f64  typ = "f64"
	h2   typ = "h2" // two halves
	s2   typ = "s2" // two shorts
	w2   typ = "w2" // two unsigned shorts
	bit  typ = "bool"
	void typ = "void"
)

var (
	ints    = []typ{u8, u16, u32, u64, i8, i16, i32, i64}
	floats  = []typ{f16, f32, f64}
	vectors = []typ{h2, s2, w2}
)

// classes are the placeholders of templates that stand for one of several
// types.
var classes = map[string][]typ{
	"int":   ints,
	"float": floats,
	"any":   {u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64},
	"word":  {u32, i32, u32, i32, u64, i64},
	"lane":  {u32, i32},
	"store": {u8, u16, u32, u64, i8, i16, i32, i64},
}

// themes are the types that a program's variables have; a program that had
// all would exercise few combinations of any.
var themes = [][]typ{
	{u32, i32},
	{u32, i32, u64},
	{u32, u64, i64},
	{u8, i8, u16, i16, u32},
	{u16, i16, i32, w2, s2},
	{f32, u32},
	{f32, i32, f16},
	{f32, f64, i32},
	{f64, i64, u32},
	{f16, h2, u16},
	{f16, f32, h2, u32},
	{h2, s2, w2, u32},
	{f64, f32, f16, u64, i16},
	{u8, u16, u32, u64, i8, i16, i32, i64},
}

func isInt(t typ) bool   { return contains(ints, t) }
func isFloat(t typ) bool { return contains(floats, t) }

func contains(ts []typ, t typ) bool {
	for _, x := range ts {
		if x == t {
			return true
		}
	}
	return false
}
