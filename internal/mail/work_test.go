package mail

import (
	"strings"
	"testing"
)

// steps returns how many octets are looked at to read a value as a list of addresses and as one with parameters.
func steps(value string) map[string]int {
	l := addressList{scanner: scanner{s: value}, most: len(value)}
	l.read()
	r := paramReader{mediaType: mediaType{params: map[string]string{}}}
	r.read(value, true)
	return map[string]int{"addresses": l.steps, "parameters": r.steps}
}

// mostSteps is how often each octet may be looked at.
const mostSteps = 16

// Whatever is repeated in a structured field, the work is in proportion to its length.
func TestWork(t *testing.T) {
	const octets = 1 << 9
	chars := []string{`"`, `\`, "(", ")", "<", ">", "[", "]", ",", ";", ":", "@", ".", "=", "?", "*", "'", "%", " ", "\t", "a", "\xff", "=?u?q?", "=?u?b?", "?=", "*0*="}
	tokens := append([]string{""}, chars...)
	for _, a := range chars {
		for _, b := range chars {
			tokens = append(tokens, a+b)
			if strings.Contains(`"\(=`, a) {
				for _, c := range chars {
					tokens = append(tokens, a+b+c)
				}
			}
		}
	}
	for _, start := range []string{"", `"`, "(", "a@b (", "text/plain; name=", `text/plain; name="`} {
		for _, token := range tokens {
			value := start + strings.Repeat(token, octets/max(len(token), 1))
			for reader, n := range steps(value) {
				if n > mostSteps*octets {
					t.Errorf("%s: %q, then %q repeated: %d steps for %d octets", reader, start, token, n, octets)
				}
			}
		}
	}
}

func FuzzStructured(f *testing.F) {
	for _, s := range []string{`"A, B" <"a> b"@c> (d(e)), f: g@h;`, `"\"\"\"\`, "((()(", `a/b; c="d\"e" (f); g*0*=u'v'%41; =?u?q?h=3Di?=`, "=?u?q?a <b@c>?=, =?u?q?d,e?= <f@g>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for reader, n := range steps(value) {
			if n > mostSteps*len(value)+100 {
				t.Errorf("%s: %d steps for %d octets", reader, n, len(value))
			}
		}
	})
}
