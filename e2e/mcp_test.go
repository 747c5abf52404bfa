//go:build unix

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pelletier/go-toml/v2"

	"mayfly/internal/local"
)

// agent is a client of the MCP server.
type agent struct {
	t       *testing.T
	session *sdk.ClientSession
}

func newAgent(t *testing.T, transport sdk.Transport) agent {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	must(t, err)
	t.Cleanup(func() { _ = session.Close() }) // before the machine, which may stop the service first
	return agent{t, session}
}

// mcp starts `mayfly mcp`.
func (m *machine) mcp(t *testing.T) agent {
	t.Helper()
	cmd := exec.Command(program, "mcp")
	cmd.Env, cmd.Dir = m.environ, m.home
	return newAgent(t, &sdk.CommandTransport{Command: cmd})
}

// call calls a tool, which must succeed, and returns the strings in its result. Several goroutines may
// call it.
func (a agent) call(tool string, arguments map[string]any) map[string]string {
	a.t.Helper()
	result, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Errorf("%s %v: %v", tool, arguments, err)
		return nil
	}
	text := result.Content[0].(*sdk.TextContent).Text
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil || result.IsError {
		a.t.Errorf("%s %v: %s", tool, arguments, text)
	}
	found := map[string]string{}
	for name, v := range all {
		if s, ok := v.(string); ok {
			found[name] = s
		}
	}
	return found
}

// signUpTwice goes through a sign-up that asks for a code, and then for another one. Both are mailed at
// some time before or after the agent asks for them.
func (a agent) signUpTwice(smtp string) {
	address := a.call("create_inbox", nil)["address"]
	for step := range 2 {
		want := 100_000 + rand.IntN(900_000)
		var mailed sync.WaitGroup
		mailed.Go(func() {
			if step == 1 {
				send(a.t, smtp, address, "From: Acme <news@acme.example>\nTo: "+address+"\nSubject: Welcome\n\nWelcome to Acme.\n")
			}
			send(a.t, smtp, address, coded(address, fmt.Sprint(want)))
		})
		if rand.IntN(2) == 0 {
			mailed.Wait()
		}
		if got := a.call("get_code", map[string]any{"inbox": address}); got["code"] != fmt.Sprint(want) || got["age"] == "" {
			a.t.Errorf("code %d is %d, and get_code returned %v", step+1, want, got)
		}
		mailed.Wait()
	}
	a.call("delete_inbox", map[string]any{"inbox": address})
}

func TestSignUpsWithTwoCodes(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"), "--mcp")
	key := func() string { return m.key(s.store, "enterprise") } // which allows no more than 1,000 requests a minute
	u := newClient(t, s.rest, key())
	startPacedLoad(t, 100*time.Millisecond, []string{u.createInbox("a"), u.createInbox("b")}, s.smtp)
	for name, start := range map[string]func(*testing.T) agent{
		"stdio": func(t *testing.T) agent { return m.using(s, key()).mcp(t) },
		"http": func(t *testing.T) agent {
			return newAgent(t, &sdk.StreamableClientTransport{
				Endpoint: s.rest + "/mcp", HTTPClient: &http.Client{Transport: bearer(key())},
			})
		},
	} {
		t.Run(name, func(t *testing.T) { manySignUps(start(t), start(t), start(t), s.smtp) })
	}
}

// They are told in the instructions and with each inbox: an address that they reach as they reach MCP, or that of --hostname.
func TestAgentsAreToldWhereToSendMail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		host string
	}{
		"one address":   {[]string{"--smtp", "127.0.0.2:0"}, "127.0.0.2"},
		"all addresses": {[]string{"--smtp", "0.0.0.0:0", "--http", "0.0.0.0:0"}, "127.0.0.1"},
		"a host name":   {[]string{"--smtp", ":0", "--hostname", "mx.mail.test"}, "mx.mail.test"},
		"balancers":     {[]string{"--balancers", "192.0.2.0/24"}, ""},
	} {
		m := newMachine(t)
		s := m.serve(filepath.Join(m.home, "store"), append(c.args, "--mcp")...)
		_, port, err := net.SplitHostPort(s.smtp)
		must(t, err)
		_, restPort, err := net.SplitHostPort(strings.TrimPrefix(s.rest, "http://"))
		must(t, err)
		a := newAgent(t, &sdk.StreamableClientTransport{
			Endpoint: "http://127.0.0.1:" + restPort + "/mcp", HTTPClient: &http.Client{Transport: bearer(m.key(s.store, "dev"))},
		})
		want := ""
		if c.host != "" {
			want = net.JoinHostPort(c.host, port)
		}
		if got := a.call("create_inbox", nil)["smtp"]; got != want {
			t.Errorf("%s: a new inbox gets mail at %q, want %q", name, got, want)
		}
		if told := a.session.InitializeResult().Instructions; strings.Contains(told, "must send its mail") != (want != "") || !strings.Contains(told, want) {
			t.Errorf("%s: the instructions are %q, want %q", name, told, want)
		}
	}
	_, m := newMachine(t).serveUser("dev")
	if got := m.with("MAYFLY_SMTP=mx.mail.test:25").mcp(t).call("create_inbox", nil)["smtp"]; got != "mx.mail.test:25" {
		t.Errorf("with MAYFLY_SMTP a new inbox gets mail at %q", got)
	}
}

// manySignUps goes through a hundred sign-ups if there is time, by three agents at once.
func manySignUps(a, b, c agent, smtp string) {
	times := 3
	if os.Getenv("MAYFLY_LONG") != "" {
		times = 34
	}
	var all sync.WaitGroup
	for _, one := range []agent{a, b, c} {
		all.Go(func() {
			for range times {
				one.signUpTwice(smtp)
			}
		})
	}
	all.Wait()
}

// bearer sends a key as clients do that can be given nothing but a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Every client is set up as docs/mcp.md says, with a service and a key in place of those in it.
func TestTheLinesForMCPClients(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.useFreePorts()
	s := m.serve(filepath.Join(m.home, "store"), "--mcp")
	key := m.key(s.store, "dev")
	actual := strings.NewReplacer("https://mail.example", s.rest, "YOUR_KEY", key, "${input:mayfly-key}", key)
	var configs []any
	for _, text := range examples(t, "mcp.md", "json") {
		var config any
		if err := json.Unmarshal([]byte(actual.Replace(text)), &config); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		configs = append(configs, config)
	}
	for _, text := range examples(t, "mcp.md", "toml") {
		var config map[string]any
		if err := toml.Unmarshal([]byte(actual.Replace(text)), &config); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		configs = append(configs, config)
	}
	transports := map[string]sdk.Transport{}
	for _, config := range configs {
		collectTransports(m, config, key, transports)
	}
	if len(transports) != 3 { // the local service, another, and that over HTTP
		t.Errorf("docs/mcp.md has %d servers", len(transports))
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) { newAgent(t, transport).call("list_inboxes", nil) })
	}
	answer, err := (&http.Client{Transport: bearer("mf_wrong")}).Post(s.rest+"/mcp", "application/json", strings.NewReader("{}"))
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong key gets %s", answer.Status)
	}
}

// collectTransports adds those that a client's configuration names, by what they do.
func collectTransports(m *machine, config any, key string, to map[string]sdk.Transport) {
	c, ok := config.(map[string]any)
	if !ok {
		return
	}
	if c["command"] == "mayfly" {
		var args, environ []string
		for _, arg := range c["args"].([]any) {
			args = append(args, arg.(string))
		}
		env, _ := c["env"].(map[string]any)
		for name, value := range env {
			environ = append(environ, name+"="+value.(string))
		}
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = m.with(environ...).environ, m.home
		to[fmt.Sprint(args, len(environ))] = &sdk.CommandTransport{Command: cmd}
	}
	if url, ok := cmp.Or(c["url"], c["httpUrl"]).(string); ok {
		headers, _ := c["headers"].(map[string]any)
		authorization, _ := headers["Authorization"].(string)
		if c["bearer_token_env_var"] == "MAYFLY_API_KEY" {
			authorization = "Bearer " + key
		}
		token := bearer(strings.TrimPrefix(authorization, "Bearer "))
		to[url+" with "+authorization] = &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: token}}
	}
	for _, inner := range c {
		collectTransports(m, inner, key, to)
	}
}

// An agent that waits does not notice that the local service ends and comes back, and is not handed what
// it was handed before.
func TestAnAgentOutlivesTheLocalService(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.useFreePorts()
	a := m.mcp(t)
	address := a.call("create_inbox", nil)["address"]
	service := m.localService()
	send(t, service.SMTPAddr, address, coded(address, "111111"))
	if got := a.call("get_code", map[string]any{"inbox": address})["code"]; got != "111111" {
		t.Errorf("the first code is %q", got)
	}
	for want, restart := range map[int]func(){
		222222: func() { // it is started again
			must(t, syscall.Kill(service.PID, syscall.SIGKILL))
		},
		333333: func() { // on other ports, by a user
			m.mustRun("down")
			m.useFreePorts()
			m.mustRun("up")
		},
	} {
		service = m.localService()
		got := make(chan string)
		go func() { got <- a.call("get_code", map[string]any{"inbox": address})["code"] }()
		restart()
		<-service.Done()
		var smtp string
		eventually(t, "it runs again", func() bool {
			s, err := local.Attach(t.Context(), m.localOptions())
			if err != nil {
				return false
			}
			defer s.Close()
			smtp = s.SMTPAddr
			return s.PID != service.PID
		})
		send(t, smtp, address, coded(address, fmt.Sprint(want)))
		if code := <-got; code != fmt.Sprint(want) {
			t.Errorf("the code is %q, want %d", code, want)
		}
	}
	m.mustRun("down")
	eventually(t, "the agent is told", func() bool {
		result, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_inbox"})
		return err == nil && strings.Contains(result.Content[0].(*sdk.TextContent).Text, "stopped by `mayfly down`")
	})
}
