package address

import "testing"

func TestNormalise(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"Ada@X.Test", "ada@x.test"},
		{"ada@x.test.", "ada@x.test"},
		{"josÉ@x.test", "josé@x.test"},
		{"jose\u0301@x.test", "josé@x.test"},
		{"JOSE\u0301@x.test", "josé@x.test"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example"},
		{"ada@BÜCHER.example.", "ada@xn--bcher-kva.example"},
		{"ada@bu\u0308cher。example。", "ada@xn--bcher-kva.example"},
		{"ada@XN--BCHER-KVA.example", "ada@xn--bcher-kva.example"},
		{"ada@straße.example", "ada@xn--strae-oqa.example"},
		{"ada@my_host.bücher.example", "ada@my_host.xn--bcher-kva.example"},
		{"ada@[127.0.0.1]", "ada@[127.0.0.1]"},
		{`"a@b"@x.test`, `"a@b"@x.test`},
		{"İ@x.test", "İ@x.test"}, // whose lower case has an i
		{"Quiet-Otter", "quiet-otter"},
		{"", ""},
	} {
		got := Normalise(test.in)
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.in, got, test.want)
		}
		if again := Normalise(got); again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"josÉ@bücher.example.", "@", "a@b@c", "ada@xn--a.example", "K@x.test"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if once := Normalise(s); Normalise(once) != once {
			t.Errorf("%q becomes %q, then %q", s, once, Normalise(once))
		}
	})
}
