// Tests the MCP server with public clients: the official TypeScript SDK over standard input and output and over HTTP,
// the inspector's command line, and the conformance suite. Run by ./run, which installs them.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [mayfly, bin, expectedFailures] = process.argv.slice(2);
const exec = promisify(execFile);
const dir = mkdtempSync(path.join(tmpdir(), "mayfly-mcp-"));
const env = { PATH: process.env.PATH, HOME: dir };
let passed = 0;

async function test(name, f) {
  await f();
  passed++;
  console.log(`ok   ${name}`);
}

// serve starts the service and resolves to its addresses.
async function serve() {
  const store = path.join(dir, "store");
  const child = spawn(mayfly, ["serve", "--mcp", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", store, "--domains", "mayfly.test"],
    { env, stdio: ["ignore", "inherit", "pipe"] });
  for await (const line of createInterface({ input: child.stderr })) {
    const addresses = line.match(/127\.0\.0\.1:\d+/g);
    if (addresses?.length >= 2) {
      child.stderr.resume();
      const key = (await exec(mayfly, ["admin", "key", "create", "--plan", "enterprise", "--store", store], { env })).stdout.trim();
      const rest = line.match(/http:\/\/(127\.0\.0\.1:\d+)/i)[1];
      return { child, key, base: `http://${rest}`, smtp: addresses.find((a) => a !== rest) };
    }
  }
  throw new Error("the service ended before it told its addresses");
}

// send delivers a mail by SMTP.
async function send(smtp, to, code) {
  const socket = net.connect(Number(smtp.split(":")[1]), "127.0.0.1");
  const replies = createInterface({ input: socket })[Symbol.asyncIterator]();
  const say = async (line, want) => {
    if (line) socket.write(line + "\r\n");
    let reply;
    do reply = (await replies.next()).value; while (reply?.[3] === "-");
    assert.match(reply, want);
  };
  await say("", /^220/);
  await say("EHLO test", /^250/);
  await say("MAIL FROM:<no-reply@acme.example>", /^250/);
  await say(`RCPT TO:<${to}>`, /^250/);
  await say("DATA", /^354/);
  await say(`From: Acme <no-reply@acme.example>\r\nTo: ${to}\r\nSubject: Your verification code\r\n\r\nYour verification code is ${code}.\r\n.`, /^250/);
  await say("QUIT", /^221/);
}

// flow is what an agent does, over any transport.
async function flow(name, transport, smtp) {
  const client = new Client({ name: "mayfly-test", version: "1" });
  await client.connect(transport);
  const call = async (tool, args, options) => {
    const result = await client.callTool({ name: tool, arguments: args }, undefined, options);
    assert.ok(!result.isError, `${tool}: ${JSON.stringify(result.content)}`);
    return result.structuredContent;
  };
  await test(`${name}: thirteen tools, with schemas and hints`, async () => {
    const { tools } = await client.listTools();
    assert.equal(tools.length, 13);
    for (const t of tools) assert.ok(t.inputSchema && (t.outputSchema || t.name === "get_attachment") && t.annotations, t.name);
  });
  const inbox = await call("create_inbox", {});
  await test(`${name}: progress while waiting, then the code, structured`, async () => {
    let reports = 0;
    const waiting = call("get_code", { inbox: inbox.address, timeout: 30 }, {
      onprogress: async () => { if (++reports === 1) await send(smtp, inbox.address, "482913"); },
    });
    assert.equal((await waiting).code, "482913");
    assert.ok(reports > 0);
  });
  await test(`${name}: a message, marked as untrusted`, async () => {
    const { messages } = await call("list_messages", { inbox: inbox.id });
    const message = await call("read_message", { inbox: inbox.address, message: messages[0].id });
    assert.match(message.text, /482913/);
    assert.equal(message.code, "482913");
    assert.match(message.warning, /untrusted/);
    const raw = await client.readResource({ uri: `mayfly://inbox/${inbox.id}/message/${message.id}/raw` });
    assert.match(Buffer.from(raw.contents[0].blob, "base64").toString(), /Subject: Your verification code/);
  });
  await test(`${name}: a call that is cancelled ends`, async () => {
    const abort = new AbortController();
    const waiting = call("wait_for_message", { inbox: inbox.id, subject: "never", timeout: 60 }, {
      signal: abort.signal, onprogress: () => abort.abort("enough"),
    });
    await assert.rejects(waiting);
  });
  await test(`${name}: errors say what to do`, async () => {
    await call("delete_inbox", { inbox: inbox.address });
    const result = await client.callTool({ name: "get_inbox", arguments: { inbox: inbox.id } });
    assert.ok(result.isError);
    assert.match(result.content[0].text, /404/);
  });
  await client.close();
}

// inspect runs the inspector's command line, which must not warn of anything.
async function inspect(...args) {
  const { stdout, stderr } = await exec(path.join(bin, "mcp-inspector"), ["--cli", ...args], { env: { ...env, ...process.env, HOME: dir } });
  assert.doesNotMatch(stderr, /^(Warning|Error)/m);
  return JSON.parse(stdout);
}

// withKey is a proxy that adds the key, for a client that cannot.
async function withKey(base, key) {
  const { hostname, port } = new URL(base);
  const proxy = http.createServer((request, response) => {
    const onward = http.request({ hostname, port, path: request.url, method: request.method,
      headers: { ...request.headers, "x-api-key": key } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

const service = await serve();
try {
  const agent = { MAYFLY_BASE_URL: service.base, MAYFLY_API_KEY: service.key };
  await flow("stdio", new StdioClientTransport({ command: mayfly, args: ["mcp"], env: { ...env, ...agent } }), service.smtp);
  await flow("http", new StreamableHTTPClientTransport(new URL(`${service.base}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${service.key}` } } }), service.smtp);

  await test("inspector: tools/list without a warning about schemas, and tools/call", async () => {
    const target = [mayfly, "mcp", "-e", `MAYFLY_BASE_URL=${service.base}`, "-e", `MAYFLY_API_KEY=${service.key}`];
    assert.equal((await inspect(...target, "--method", "tools/list", "--strict")).tools.length, 13);
    const made = await inspect(...target, "--method", "tools/call", "--tool-name", "create_inbox", "--tool-arg", "username=inspector");
    assert.equal(made.structuredContent.address, "inspector@mayfly.test");
  });

  const proxy = await withKey(service.base, service.key);
  await test("conformance: the server suite, but for what needs its own fixtures", async () => {
    const { stdout } = await exec(path.join(bin, "conformance"),
      ["server", "--url", `http://127.0.0.1:${proxy.address().port}/mcp`, "--expected-failures", expectedFailures, "-o", path.join(dir, "conformance")],
      { env: process.env, maxBuffer: 1 << 26 });
    console.log(stdout.split("\n").slice(-12).join("\n"));
  }).catch((error) => {
    console.log(error.stdout ?? "");
    throw error;
  }).finally(() => { proxy.closeAllConnections(); proxy.close(); });
} finally {
  service.child.kill("SIGTERM");
  await once(service.child, "exit");
  rmSync(dir, { recursive: true, force: true });
}
console.log(`${passed} passed, 0 failed`);
