package webhook

import (
	"strings"
	"testing"
)

// The example with which the libraries of Standard Webhooks are tested.
func TestSignature(t *testing.T) {
	t.Parallel()
	secret, other := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", NewSecret()
	secrets, err := ParseSecrets(secret + "\r\n" + other + "\n")
	if err != nil || len(secrets) != 2 {
		t.Fatal(secrets, err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	got := sign(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if both := strings.Fields(got); len(both) != 2 || both[0] != want || !strings.HasPrefix(both[1], "v1,") || both[1] == want {
		t.Errorf("the signatures are %q", got)
	}
	if other == NewSecret() {
		t.Error("a secret is not random")
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"whsec_",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa",
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-",
		"whsec_" + strings.Repeat("MfKQ", 22),
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	} {
		if _, err := ParseSecrets(text); err == nil || strings.Contains(err.Error(), "MfKQ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://hooks.example/mayfly?x=1": "",
		"http://localhost:8080":            "",
		"http://[::1]:8080/":               "",
		"":                                 "is not one",
		"hooks.example/secret":             "is not one",
		"localhost:8080":                   "is not one",
		"ftp://hooks.example/":             "is not one",
		"https:///secret":                  "is not one",
		"https://hooks.example/%zz":        "is not one",
		"https://a:secret@hooks.example/":  "has a user",
	} {
		err := CheckURL(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
