package chat

import (
	"fmt"
	"strings"
	"time"
)

// layouts are the conversions of strftime that templates use, as layouts of
// package time.
var layouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'j': "002", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
}

// strftime formats t like the C function in the C locale, in t's zone.
func strftime(t time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		unpadded := format[i] == '-' && i+1 < len(format)
		if unpadded {
			i++
		}
		layout, ok := layouts[format[i]]
		switch {
		case format[i] == '%':
			b.WriteByte('%')
		case !ok:
			return "", fmt.Errorf("strftime_now: %%%c is not supported", format[i])
		case unpadded:
			s := strings.TrimLeft(t.Format(layout), "0 ")
			if s == "" {
				s = "0"
			}
			b.WriteString(s)
		default:
			b.WriteString(t.Format(layout))
		}
	}
	return b.String(), nil
}
