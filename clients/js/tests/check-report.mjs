// Checks the report of Playwright: one test has failed, and has its mail attached.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const { stats, suites } = JSON.parse(readFileSync('playwright.json'));
assert.deepEqual([stats.expected, stats.unexpected], [4, 1]);
const failed = suites[0].specs.find((spec) => !spec.ok).tests[0].results[0];
assert.match(failed.error.message, /no mail with a link \(subject “reset”\) came to .* within 0.5 s; 1 message came:\n.*Hello/);
const [text, raw] = failed.attachments.filter((a) => a.body).map((a) => ({ ...a, body: Buffer.from(a.body, 'base64').toString() }));
assert.deepEqual([text.name, text.contentType, raw.name, raw.contentType], ['Hello \uFFFD[31m', 'text/plain', 'Hello \uFFFD[31m.eml', 'message/rfc822']);
assert.match(text.body, /135790/);
assert.match(raw.body, /^Subject: Hello .*\r$/m);
