package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// digitsOf is a rate in percent with as many digits as are worth reading, and
// percent is it in a sentence.
func digitsOf(x float64) string { return digits(100*x, math.Round) }
func percent(x float64) string  { return strings.TrimSuffix(digitsOf(x), ".0") + " %" }

// percent0 is a confidence: "95 %".
func percent0(x float64) string { return strconv.FormatFloat(100*x, 'g', 6, 64) + " %" }

// percentDown and percentUp are percent, rounded down and up.
func percentDown(x float64) string { return twoDigits(100*x, math.Floor) + " %" }
func percentUp(x float64) string   { return twoDigits(100*x, math.Ceil) + " %" }

// digits has one decimal, and more below 1.
func digits(x float64, round func(float64) float64) string {
	a := math.Abs(x)
	decimals := 1
	if a > 0 && a < 1 {
		decimals = min(8, 1-int(math.Floor(math.Log10(a))))
	}
	return rounded(x, decimals, round)
}

// twoDigits has two digits that count: 19, 4.9, 0.29.
func twoDigits(x float64, round func(float64) float64) string {
	if x <= 0 {
		return "0"
	}
	return rounded(x, min(8, max(0, 1-int(math.Floor(math.Log10(x))))), round)
}

func rounded(x float64, decimals int, round func(float64) float64) string {
	f := math.Pow10(decimals)
	// What is whole but for the last bits stays itself.
	y := x * f
	if near := math.Round(y); math.Abs(y-near) < 1e-9 {
		y = near
	} else {
		y = round(y)
	}
	return strconv.FormatFloat(y/f, 'f', decimals, 64)
}

// between is an interval of rates in percent: "0.7 to 18.2".
func between(lo, hi float64) string {
	return digitsOf(lo) + " to " + digitsOf(hi)
}

// pValue has two digits, and none of it below 1e-99.
func pValue(p float64) string {
	switch {
	case p < 1e-99:
		return "< 1e-99"
	case p < 0.001:
		return strconv.FormatFloat(p, 'e', 1, 64)
	case p >= 0.9995:
		return "1"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// some is a number and what is counted, with an s if there are more or none.
func some(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
